package compiler

import (
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/pattern"
)

// validate checks what authors declared against what the event has, so that
// later passes are total (semantics.md §4.3, P3). Bodies and filters report
// their own mistakes when they are compiled.
func validate(u *unit) {
	for _, plan := range u.plans {
		for i := range plan.Nodes {
			h := plan.Nodes[i].Hook
			u.checkFields(plan.Event.Spec(), h)
			u.checkMay(plan.Spec, h)
			u.checkAsync(h)
			u.checkPosture(plan.Spec, h)
			u.checkGlyphs(h)
		}
	}
	for _, glob := range u.policy.Tools.Open {
		if _, err := pattern.Glob(glob); err != nil {
			u.diags.Add(codeGlob.Report(u.policy.Tools.Span, "tools: open: %q: %s", glob, err))
		}
	}
	u.checkCatalogue()
}

var codeField = diag.Define("HK118", diag.Error, "unknown field in reads or writes")
var codeNotHere = diag.Define("HK119", diag.Error, "the event does not have the field, or does not let a hook change it")

// outputs are what hooks add without changing a field.
var outputs = []string{"inject_messages", "additional_context", "retry_feedback", "system_message", "suppress_output"}

func (u *unit) checkFields(spec *policy.EventSpec, h *policy.Hook) {
	readable := named(spec.CanRead)
	for _, t := range h.Declared.Reads {
		if p, ok := u.path(h, t, "reads", readable); ok && !spec.CanRead(p.Field) {
			u.report(h, codeNotHere.Report(t.Span, "%s: %s carries no %s", h.Name, spec.Event, p.Field).
				WithHint("it carries %s", strings.Join(readable, ", ")))
		}
	}
	writable := named(spec.CanWrite)
	for _, t := range h.Declared.Writes {
		p, ok := u.path(h, t, "writes", writable)
		if !ok || spec.CanWrite(p.Field) || spec.Class == policy.Observe && spec.CanRead(p.Field) {
			continue // at an event that only observes, writes are empty whatever is declared
		}
		hint := "no hook can change anything there"
		if len(writable) > 0 {
			hint = "hooks can change " + strings.Join(writable, ", ")
		}
		u.report(h, codeNotHere.Report(t.Span, "%s: %s lets no hook change %s", h.Name, spec.Event, p.Field).WithHint("%s", hint))
	}
}

// path reads a declared path or reports it.
func (u *unit) path(h *policy.Hook, t diag.Text, where string, candidates []string) (policy.Path, bool) {
	p, err := policy.ParsePath(t.Value)
	if err == nil {
		return p, true
	}
	name, _, _ := spell.Cut(t.Value, ".")
	hint := diag.DidYouMean(name, candidates, diag.DidYouMean(name, policy.FieldNames(), "hookc help fields lists them"))
	for _, out := range outputs {
		if name == out {
			hint = name + " is an output, always allowed: leave it out"
		}
	}
	u.report(h, codeField.Report(t.Span, "%s: %s: %s", h.Name, where, err).WithHint("%s", hint))
	return p, false
}

// named lists the fields for which ok holds, by name.
func named(ok func(policy.Field) bool) []string {
	var out []string
	for _, f := range policy.Fields() {
		if ok(f) {
			out = append(out, f.String())
		}
	}
	return out
}

var codeMay = diag.Define("HK124", diag.Error, "may lists what no hook can say here")

func (u *unit) checkMay(spec *policy.EventSpec, h *policy.Hook) {
	obeyed := spec.PowersFor(h.Body.Protocol)
	for _, t := range h.Declared.May {
		p, ok := policy.ParsePower(t.Value)
		switch {
		case !ok:
			u.report(h, codeMay.Report(t.Span, "%s: may: nothing is called %q", h.Name, t.Value).
				WithHint("%s", diag.DidYouMean(t.Value, policy.PowerNames(), "choose among "+strings.Join(policy.PowerNames(), ", "))))
		case !obeyed.Has(p):
			d := codeMay.Report(t.Span, "%s: %s does not obey %s", h.Name, spec.Title(), t.Value)
			d.Severity = diag.Warning
			u.report(h, d.WithHint("it obeys: %s", lists.First(strings.Join(obeyed.Names(), ", "), "nothing")))
		}
	}
}

var codeAsync = diag.Define("HK128", diag.Error, "async hook cannot decide")
var codeDurable = diag.Define("HK138", diag.Error, "durable hook is not async")

func (u *unit) checkAsync(h *policy.Hook) {
	if h.Durable && !h.Async {
		u.report(h, codeDurable.Report(h.Span, "%s: only an async hook can be durable", h.Name).WithHint("add async: true, or take out durable: true"))
	}
	if !h.Async {
		return
	}
	wrong := func(span diag.Span, format string, args ...any) {
		if span.IsZero() {
			span = h.Span
		}
		u.report(h, codeAsync.Report(span, h.Name+": "+format, args...).WithHint("take out async: true, or the declaration"))
	}
	for _, t := range h.Declared.May {
		wrong(t.Span, "an async hook cannot %s", t.Value)
	}
	for _, t := range h.Declared.Writes {
		wrong(t.Span, "an async hook cannot change %s", t.Value)
	}
	for _, p := range []policy.Posture{h.OnError, h.OnTimeout} {
		if p != policy.PostureUnset && p != policy.OnErrorSkip {
			wrong(h.Span, "the failure of an async hook cannot mean %s", p)
			break
		}
	}
	if h.Recheck {
		wrong(h.Span, "an async hook cannot be rechecked")
	}
}

var codePosture = diag.Define("HK129", diag.Warning, "on_error has no effect at this event")

func (u *unit) checkPosture(spec *policy.EventSpec, h *policy.Hook) {
	for _, p := range []policy.Posture{h.OnError, h.OnTimeout} {
		if !postureAllowed(spec, h, p) {
			u.report(h, codePosture.Report(h.Span, "%s: a failure cannot mean %s at %s: nothing is refused there", h.Name, p, spec.Title()))
			return
		}
	}
}

// postureAllowed reports whether a posture means something at the event.
func postureAllowed(spec *policy.EventSpec, h *policy.Hook, p policy.Posture) bool {
	if p != policy.OnErrorDeny && p != policy.OnErrorAsk {
		return true
	}
	return spec.PowersFor(h.Body.Protocol).Has(policy.MayDeny | policy.MayAsk)
}
