package policy

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/approval"
	"github.com/hookc/hookc/policy/diag"
)

// Action is what the host does now (semantics.md §2.4).
type Action string

// The actions.
const (
	Proceed     Action = "proceed"
	Block       Action = "block"
	Abort       Action = "abort"
	RetryTurn   Action = "retry"
	KeepWorking Action = "keep_working"
	Hide        Action = "hide"
	AskUser     Action = "ask"
	DeferCall   Action = "defer"
	EndTurn     Action = "end_turn"
	Cancelled   Action = "cancelled"
)

// Status is what became of one hook when an event fired.
type Status string

// The statuses.
const (
	StatusRan        Status = "ran"
	StatusFiltered   Status = "filtered"
	StatusNotStarted Status = "not_started"
	StatusSquashed   Status = "squashed"
	StatusFailed     Status = "failed"
	StatusAsync      Status = "async"
	StatusDisabled   Status = "disabled"
)

// HookTrace is what one hook did when an event fired.
//
// The fields of its JSON are in the order of their keys.
type HookTrace struct {
	// Attempts counts the calls made.
	Attempts int     `json:"attempts,omitempty"`
	Control  Control `json:"control,omitempty"`
	*TracedHook
	Status Status `json:"status"`
	// Micros is how long it took, in microseconds, retries included. An
	// in-process rule's time is what passed since the rule before it had
	// answered, its filter included; rules that only compare share the time of
	// up to 16 of them.
	Micros  int64   `json:"us,omitempty"`
	Verdict Verdict `json:"verdict,omitempty"`
}

// TracedHook is the hook a HookTrace is about and what it said. The traces of
// a hook that says nothing share one, so that a trace is small: it is not to
// be changed, and a HookTrace must have one.
type TracedHook struct {
	Name string `json:"name"`
	// Recheck marks the second evaluation of a rechecked hook.
	Recheck bool `json:"recheck,omitempty"`

	// At is where the rule that spoke, or the hook, is written.
	At diag.Span `json:"-"`
	// Reasons are the hook's own.
	Reasons []string `json:"-"`
	// Kind and Node identify the hook in its plan.
	Kind Kind `json:"-"`
	Node int  `json:"-"`
}

// Decision is what the agent is told: a pure function of the event, the
// context it began with and the Result of its chain, together with who
// decided and what failed.
type Decision struct {
	Event   Event
	Action  Action
	Verdict Verdict
	Control Control
	// By is the hook, or hook#rule, that decides the action; At is where it
	// is written.
	By string
	At diag.Span

	Reasons        []string
	Feedback       []string
	Context        []string
	SystemMessages []string
	Inject         []any
	SuppressOutput bool
	StopReason     string
	// Scope is the label a break leaves.
	Scope Label
	// Patch holds the whole final values of exactly the fields that differ
	// from the input; a deleted field is nil.
	Patch map[string]any
	// Degraded says what the agent could not express.
	Degraded string

	Failed   []Failure
	Hooks    []HookTrace
	Warnings []Warning
	// Policy is the hash of the program that decided.
	Policy string
	Grant  *approval.Grant // what a question was approved by

	// Final is the context after the chain, outputs materialised.
	Final *Context
}

// Permits reports whether the action the event guards may happen as it is.
func (d *Decision) Permits() bool { return d.Action == Proceed }

// Decide turns the result of a chain into a Decision (semantics.md §2.4).
// before is the context the chain began with, after the one with its patches.
func Decide(spec *EventSpec, before, after *Context, r *Result) *Decision {
	d := new(Decision)
	DecideInto(d, spec, before, after, r)
	return d
}

// DecideInto is Decide into memory there is already; all of d is written.
func DecideInto(d *Decision, spec *EventSpec, before, after *Context, r *Result) {
	*d = Decision{
		Event: spec.Event, Verdict: r.Verdict, Control: r.Control,
		Feedback: r.Feedback, Context: r.Context, SystemMessages: r.System, Inject: r.Inject,
		SuppressOutput: r.Suppress, StopReason: strings.Join(r.StopReasons, "\n"),
		Failed: r.Failed, Warnings: join(r.Warnings, ending(spec, r)),
	}
	for _, reason := range r.Reasons {
		d.Reasons = append(d.Reasons, reason.Text)
	}
	by := r.VerdictBy
	if r.Control != Go {
		by = r.ControlBy
	}
	d.By, d.At = by.Name, by.At
	d.Action, d.Scope = spec.action(r)
	if r.ToolConfig != nil {
		after = after.With(Replace(Path{Field: FieldToolConfig}, r.ToolConfig.value()))
	}
	d.Patch = changes(before, after)
	d.Final = materialise(spec, after, r)
}

func (s *EventSpec) action(r *Result) (Action, Label) {
	switch {
	case r.Control == Halt:
		return EndTurn, LabelTurn
	case r.Control == Stop && len(r.Feedback) > 0 && s.Retry:
		if s.Class == Quality {
			return KeepWorking, NoLabel
		}
		return RetryTurn, NoLabel
	case r.Control == Stop:
		return Abort, s.Scope
	case r.Control == Skip || r.Verdict == Deny:
		switch s.Class {
		case Quality:
			return KeepWorking, NoLabel
		case Transform:
			return Hide, NoLabel
		}
		return Block, s.Step
	case r.Verdict == Defer:
		return DeferCall, NoLabel
	case r.Verdict == Ask:
		return AskUser, NoLabel
	}
	return Proceed, NoLabel
}

// Break is the label a Decision breaks out of in a sub-pipeline, NoLabel for
// none (semantics.md §1.2).
func (s *EventSpec) Break(r *Result) Label {
	switch {
	case r.Control == Halt:
		return LabelTurn
	case r.Control == Stop:
		return s.Scope
	case r.Control == Skip, r.Verdict == Deny && (s.Class == Guard || len(s.Refused) > 0):
		return s.Step
	}
	return NoLabel
}

// changes lists the final values of the fields that differ.
func changes(before, after *Context) map[string]any {
	if before == after {
		return nil
	}
	var out map[string]any
	for f := range numFields {
		if f.Derived() {
			continue
		}
		old, had := before.Get(f)
		now, has := after.Get(f)
		if had == has && SameValue(old, now) {
			continue
		}
		if out == nil {
			out = map[string]any{}
		}
		out[f.String()] = now
	}
	return out
}

// materialise adds the appended outputs to the fields they extend: context to
// the system prompt, injected messages to the conversation (semantics.md
// §1.3). Only events that carry those fields have them extended.
func materialise(spec *EventSpec, c *Context, r *Result) *Context {
	var p Patch
	if len(r.Context) > 0 && spec.CanRead(FieldSystemPrompt) {
		parts := lists.Copy(r.Context)
		if prompt := c.Text(FieldSystemPrompt); prompt != "" {
			parts = lists.Insert(parts, 0, prompt)
		}
		p = p.Then(Replace(Path{Field: FieldSystemPrompt}, strings.Join(parts, "\n\n")))
	}
	if len(r.Inject) > 0 && spec.CanRead(FieldMessages) {
		old, _ := c.Get(FieldMessages)
		list, _ := old.([]any)
		p = p.Then(Replace(Path{Field: FieldMessages}, lists.Concat(list, r.Inject)))
	}
	return c.With(p)
}

type failureJSON struct {
	Error   string  `json:"error"`
	Hook    string  `json:"hook"`
	Kind    ErrKind `json:"kind"`
	OnError Posture `json:"on_error"`
}

type warningJSON struct {
	Code string `json:"code"`
	Hook string `json:"hook,omitempty"`
	Text string `json:"text"`
}

// decisionJSON is a Decision as the world sees it.
type decisionJSON struct {
	Action         Action          `json:"action"`
	Context        []string        `json:"additional_context,omitempty"`
	At             string          `json:"at,omitempty"`
	By             string          `json:"by,omitempty"`
	Control        Control         `json:"control"`
	Degraded       string          `json:"degraded,omitempty"`
	Event          Event           `json:"event"`
	Failed         []failureJSON   `json:"failed,omitempty"`
	Feedback       []string        `json:"feedback,omitempty"`
	Grant          *approval.Grant `json:"grant,omitempty"`
	Hooks          []HookTrace     `json:"hooks,omitempty"`
	Inject         []any           `json:"inject_messages,omitempty"`
	Patch          map[string]any  `json:"patch,omitempty"`
	Policy         string          `json:"policy,omitempty"`
	Reasons        []string        `json:"reasons,omitempty"`
	Scope          Label           `json:"scope,omitempty"`
	StopReason     string          `json:"stop_reason,omitempty"`
	SuppressOutput bool            `json:"suppress_output,omitempty"`
	SystemMessages []string        `json:"system_messages,omitempty"`
	Verdict        Verdict         `json:"verdict"`
	Warnings       []warningJSON   `json:"warnings,omitempty"`
	Would          []*Would        `json:"would,omitempty"`
}

// DecisionShape is the type that a Decision is written as.
var DecisionShape = reflect.TypeFor[decisionJSON]()

// DecisionKeys are the keys of the canonical Decision, sorted.
func DecisionKeys() []string {
	out := make([]string, DecisionShape.NumField())
	for i := range out {
		out[i], _, _ = spell.Cut(DecisionShape.Field(i).Tag.Get("json"), ",")
	}
	return out
}

// MarshalJSON is the canonical Decision of cli.md: keys sorted, absent fields
// omitted, no HTML escapes.
func (d *Decision) MarshalJSON() ([]byte, error) {
	failed := make([]failureJSON, len(d.Failed))
	for i, f := range d.Failed {
		failed[i] = failureJSON{f.Error, f.Hook, f.Kind, f.OnError}
	}
	warnings := make([]warningJSON, len(d.Warnings))
	for i, w := range d.Warnings {
		warnings[i] = warningJSON{w.Code.ID, w.Hook, w.Text}
	}
	return EncodeJSON(&decisionJSON{d.Action, d.Context, d.At.String(), d.By, d.Control, d.Degraded, d.Event, failed, d.Feedback, d.Grant, d.Hooks,
		d.Inject, d.Patch, d.Policy, d.Reasons, d.Scope, d.StopReason, d.SuppressOutput, d.SystemMessages, d.Verdict, warnings, d.Would()})
}

var _ json.Marshaler = (*Decision)(nil)
