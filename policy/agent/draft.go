package agent

import (
	"errors"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/policy"
)

// draft is a result while a foreign protocol's answer is read into it.
type draft struct {
	output
	r    policy.Result
	errs []error
}

//go:noinline
func (a output) draft() *draft { return &draft{output: a} }

// done is the result, and what was wrong with the answer as one ErrParse.
func (d *draft) done() (policy.Result, error) {
	if err := errors.Join(d.errs...); err != nil {
		return d.r, policy.Failf(policy.ErrParse, "answer: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return d.r, nil
}

// lenient is the result, and a warning for each thing that was wrong with the answer.
func (d *draft) lenient() policy.Result {
	for _, err := range d.errs {
		d.warn("%v; it has no effect", err)
	}
	return d.r
}

func (d *draft) fail(format string, args ...any) {
	d.errs = append(d.errs, fault.Errorf(format, args...))
}

func (d *draft) warn(format string, args ...any) {
	d.r.Warnings = append(d.r.Warnings, misread(d.by, format, args...))
}

// verdict gives an opinion. Of two in one answer the more restrictive holds,
// with its own reason. An allow where the event knows none is no opinion: to
// these agents it means "go on".
func (d *draft) verdict(v policy.Verdict, reason string) {
	switch {
	case v == policy.Allow && !d.event.Spec().Powers.Has(policy.MayAllow), v < d.r.Verdict && v != policy.None:
		return
	case v > d.r.Verdict:
		if d.r.Verdict != policy.None {
			d.r.Reasons = nil
		}
		d.r.Verdict, d.r.VerdictBy = v, d.by
	}
	d.reason(reason)
}

//go:noinline
func (d *draft) reason(text string) {
	if text != "" {
		d.r.Reasons = append(d.r.Reasons, policy.Reason{Text: text, At: d.by.At})
	}
}

// words are the verdicts a protocol knows.
type words map[string]policy.Verdict

// decide gives the opinion a word means. A word the protocol does not
// know is passed over with a warning, unless it plainly forbids.
func (d *draft) decide(known words, word, reason string) {
	v, ok := known[word]
	switch {
	case word == "":
		d.reason(reason)
	case ok:
		d.verdict(v, reason)
	case forbids(word) && !(d.native != "" && d.faithful):
		d.verdict(policy.Deny, reason)
		d.warn("decision %q is not a word of the protocol at %s; taken as deny", word, d.event)
	default:
		d.warn("decision %q is not a word of the protocol at %s; it has no effect", word, d.event)
	}
}

func forbids(word string) bool {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "deny", "denied", "block", "blocked", "reject", "rejected":
		return true
	}
	return false
}

// halt ends the turn.
//
//go:noinline
func (d *draft) halt(reason string) {
	d.r.Control, d.r.ControlBy = policy.Halt, d.by
	if reason != "" {
		d.r.StopReasons = append(d.r.StopReasons, reason)
	}
}

//go:noinline
func (d *draft) context(text string) {
	if text != "" {
		d.r.Context = append(d.r.Context, text)
	}
}

//go:noinline
func (d *draft) system(text string) {
	if text != "" {
		d.r.System = append(d.r.System, text)
	}
}

func (d *draft) patch(p policy.Patch) { d.r.Patch = d.r.Patch.Then(p) }

func (d *draft) replace(f policy.Field, v any) { d.patch(policy.Replace(policy.Path{Field: f}, v)) }

// universal reads the keys Claude Code, Gemini CLI and ai_agents share.
func (d *draft) universal(o fields) {
	if on, ok := o.flag("continue"); ok && !on {
		d.halt(o.text("stopReason"))
	}
	d.r.Suppress, _ = o.flag("suppressOutput")
}

// fields is a JSON object of an answer. A null is an absent key; a value of
// the wrong type is noted in the draft and absent.
type fields struct {
	m map[string]any
	d *draft
}

func (d *draft) object(m map[string]any) fields { return fields{m, d} }

//go:noinline
func (f fields) has(name string) bool { return f.m[name] != nil }

func take[T any](f fields, name, what string) (T, bool) {
	v, ok := f.m[name].(T)
	if !ok && f.has(name) {
		f.d.fail("%s must be %s", name, policy.Article(what))
	}
	return v, ok
}

//go:noinline
func (f fields) text(name string) string {
	s, _ := take[string](f, name, "string")
	return s
}

func (f fields) flag(name string) (on, ok bool) { return take[bool](f, name, "boolean") }

//go:noinline
func (f fields) sub(name string) fields {
	m, _ := take[map[string]any](f, name, "JSON object")
	return fields{m, f.d}
}

// either is the object that has the name: the first, else the second.
func either(name string, first, second fields) fields {
	if first.has(name) {
		return first
	}
	return second
}
