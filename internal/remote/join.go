package remote

import (
	"errors"
	"slices"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// severity orders what a Decision can be; what is not in it is no answer of a server.
var severity = []policy.Action{policy.Proceed, policy.DeferCall, policy.AskUser, policy.Hide, policy.KeepWorking, policy.RetryTurn, policy.Block, policy.Abort, policy.EndTurn}

func severe(a policy.Action) int { return slices.Index(severity, a) }

// join adds the Decision that a server wrote to that of this machine. It is read whole
// before anything is added.
func join(own *policy.Decision, event policy.Event, in *policy.Context, text []byte) error {
	v, err := policy.DecodeJSON(text)
	if err != nil {
		return fault.Errorf("its answer cannot be read: %v", err)
	}
	m, _ := v.(map[string]any)
	r := reading{m: m}
	action := policy.Action(r.text("action"))
	if said := r.text("event"); said != string(event) || severe(action) < 0 {
		return fault.Errorf("its answer is no decision on %s", event)
	}
	verdict, fine := policy.ParseVerdict(r.text("verdict"))
	control, known := policy.ParseControl(r.text("control"))
	by, stop, scope := r.text("by"), r.text("stop_reason"), r.text("scope")
	reasons, feedback, context, system := r.texts("reasons"), r.texts("feedback"), r.texts("additional_context"), r.texts("system_messages")
	inject, suppress, patch, warnings := r.list("inject_messages"), r.flag("suppress_output"), r.object("patch"), r.list("warnings")
	guards := event.Spec().Class == policy.Guard
	switch {
	case r.wrong || !fine || !known:
		return errors.New("its answer cannot be read: a member has a value that it cannot have")
	case action == policy.Proceed && (guards && verdict > policy.Allow || control != policy.Go), guards && (action == policy.Hide || action == policy.KeepWorking):
		return errors.New("its answer contradicts itself")
	}
	after, set := in, map[string]any{}
	for name, value := range patch {
		f, known := policy.ParseField(name)
		at := policy.Path{Field: f}
		switch {
		case !known:
			return fault.Errorf("its answer changes %q, of which this hookc knows nothing", name)
		case value == nil:
			after = after.With(policy.Remove(at))
		default:
			after, set[name] = after.With(policy.Replace(at, value)), value
		}
	}
	if _, _, err := policy.ContextFromMap(set); err != nil {
		return fault.Errorf("its answer changes a field to what it cannot be: %v", err)
	}
	for name, value := range patch {
		if own.Patch == nil {
			own.Patch = map[string]any{}
		}
		own.Patch[name] = value
	}
	own.Final = after
	own.Reasons, own.Feedback = append(own.Reasons, reasons...), append(own.Feedback, feedback...)
	own.Context, own.SystemMessages = append(own.Context, context...), append(own.SystemMessages, system...)
	own.Inject, own.SuppressOutput = append(own.Inject, inject...), own.SuppressOutput || suppress
	for _, w := range warnings {
		one, _ := w.(map[string]any)
		said := reading{m: one}
		if text := said.text("text"); text != "" {
			code := diag.Lookup(said.text("code"))
			if code == nil {
				code = codeUnreachable
			}
			own.Warnings = append(own.Warnings, policy.Warning{Code: code, Hook: said.text("hook"), Text: "the policy server says: " + text})
		}
	}
	if severe(action) > severe(own.Action) || action == own.Action && verdict > own.Verdict {
		own.Action, own.Verdict, own.Control, own.By, own.At = action, verdict, control, by, diag.Span{}
		own.StopReason, own.Scope = stop, policy.Label(scope)
	}
	return nil
}

// reading reads the members of an object; wrong is set by one of another type.
type reading struct {
	m     map[string]any
	wrong bool
}

//go:noinline
func read[T any](r *reading, key string) T {
	v, ok := r.m[key].(T)
	r.wrong = r.wrong || !ok && r.m[key] != nil
	return v
}

func (r *reading) text(key string) string           { return read[string](r, key) }
func (r *reading) flag(key string) bool             { return read[bool](r, key) }
func (r *reading) list(key string) []any            { return read[[]any](r, key) }
func (r *reading) object(key string) map[string]any { return read[map[string]any](r, key) }

func (r *reading) texts(key string) (out []string) {
	for _, v := range r.list(key) {
		s, ok := v.(string)
		r.wrong = r.wrong || !ok
		out = append(out, s)
	}
	return out
}
