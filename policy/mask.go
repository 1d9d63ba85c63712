package policy

import (
	"slices"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/diag"
)

var codeIgnored = diag.Define("HK110", diag.Warning, "result ignored here").Guarding()
var codeUndeclared = diag.Define("HK111", diag.Warning, "result outside what the hook declared")

// PowersFor is what the event obeys from a hook that speaks protocol p.
func (s *EventSpec) PowersFor(p Protocol) Powers {
	if lists.Among(s.Refused, p) {
		return s.Powers | MayDeny
	}
	return s.Powers
}

// Mask reduces what a hook said to what the event obeys and the hook
// declared. What is dropped is reported in the result's warnings, once a
// part, and never obeyed (semantics.md §1.1, §3.1, §2.7). Reasons are marked
// with the hook's name and empty texts are dropped.
func Mask(spec *EventSpec, h *Hook, eff *Effects, r Result) Result {
	m := masker{hook: h.Name}
	allowed := spec.PowersFor(h.Body.Protocol)
	decided := r.Verdict != None || r.Control != Go
	own := spec.Event.Spec().PowersFor(h.Body.Protocol) // whatever the strategy obeys
	unheard := (r.Verdict > Allow || r.Control != Go) && !(r.Verdict > Allow && own.Verdict(r.Verdict)) && (r.Control == Go || !own.Control(r.Control))
	drops := func(obeyed, declared bool, alone Result, what string) bool {
		if !obeyed {
			m.drop(codeIgnored, "%s cannot %s", spec.Title(), what)
		} else if !declared {
			m.drop(codeUndeclared, "may does not list %s", what)
			w := &Would{Hook: h.Name, Says: what}
			w.Action, _ = spec.action(&alone)
			for _, reason := range r.Reasons {
				w.Reasons = append(w.Reasons, reason.Text)
			}
			m.warnings[len(m.warnings)-1].Would = w
		}
		return !obeyed || !declared
	}
	if drops(allowed.Verdict(r.Verdict), eff.May.Verdict(r.Verdict), Result{Verdict: r.Verdict}, r.Verdict.String()) {
		r.Verdict, r.VerdictBy = None, By{}
	}
	if drops(allowed.Control(r.Control), eff.May.Control(r.Control), Result{Control: r.Control, Feedback: r.Feedback}, r.Control.String()) {
		r.Control, r.ControlBy = Go, By{}
	}
	if unheard && r.Verdict == None && r.Control == Go { // nobody can obey it: the user is told why
		for _, reason := range r.Reasons {
			r.System = append(slices.Clip(r.System), reason.Text)
		}
	}
	r.Patch = m.patch(spec, eff, r.Patch)
	if r.ToolConfig != nil && !eff.Writes.Overlaps(FieldPaths(FieldToolConfig)) {
		m.drop(codeIgnored, "%s does not take tool_config from this hook", spec.Event)
		r.ToolConfig = nil
	}
	r.Feedback = m.outputs(spec, spec.Feedback, "retry_feedback", texts(r.Feedback))
	r.Context = m.outputs(spec, spec.Context, "additional_context", texts(r.Context))
	if len(r.Inject) > 0 && !spec.Inject {
		m.drop(codeIgnored, "%s takes no inject_messages", spec.Title())
		r.Inject = nil
	}
	r.System = texts(r.System)
	if r.Control != Halt {
		r.StopReasons = nil
	}
	r.StopReasons = texts(r.StopReasons)
	r.Reasons = m.reasons(&r, decided)
	r.Warnings = join(r.Warnings, m.warnings)
	return r
}

type masker struct {
	hook     string
	warnings []Warning
}

func (m *masker) drop(code *diag.Code, format string, args ...any) {
	d := code.Report(diag.Span{}, format, args...)
	m.warnings = append(m.warnings, Warning{Code: code, Hook: m.hook, Text: m.hook + ": " + d.Text})
}

func (m *masker) patch(spec *EventSpec, eff *Effects, p Patch) Patch {
	if p.Empty() {
		return p
	}
	p, dropped := p.Within(spec.Writable())
	for _, path := range dropped {
		m.drop(codeIgnored, "%s cannot change %s", spec.Title(), path)
	}
	p, dropped = p.Within(eff.Writes)
	for _, path := range dropped {
		m.drop(codeUndeclared, "writes does not list %s", path)
	}
	return p
}

func (m *masker) outputs(spec *EventSpec, ok bool, name string, out []string) []string {
	if len(out) > 0 && !ok {
		m.drop(codeIgnored, "%s takes no %s", spec.Title(), name)
		return nil
	}
	return out
}

// reasons keeps the reasons of a result that decides or still has an effect.
func (m *masker) reasons(r *Result, decided bool) []Reason {
	if len(r.Reasons) == 0 {
		return nil
	}
	all, decides := r.Reasons, r.Verdict != None || r.Control != Go
	r.Reasons = nil
	if !decides && (decided || r.Quiet()) {
		return nil
	}
	out := make([]Reason, 0, len(all))
	for _, reason := range all {
		if reason.Text != "" {
			reason.Hook = m.hook
			out = append(out, reason)
		}
	}
	return out
}

// Recheck is what the copy of a rechecked hook adds to what was said before it: verdict, control,
// patch, failures, and only new reasons and feedback; no other texts (semantics.md §2.7).
func (r Result) Recheck(before *Result) Result {
	r.Context, r.System, r.Inject = nil, nil, nil
	r.Feedback = lists.DeleteFunc(lists.Copy(r.Feedback), func(f string) bool { return lists.Has(before.Feedback, f) })
	r.Reasons = lists.Without(r.Reasons, func(reason *Reason) bool {
		return slices.ContainsFunc(before.Reasons, func(b Reason) bool { return b.Hook == reason.Hook && b.Text == reason.Text })
	})
	r.Agent = lists.Without(r.Agent, func(a *AgentAnswer) bool {
		return !a.Void && a.Verdict <= Allow && a.Control == Go || slices.ContainsFunc(before.Agent, a.same)
	})
	r.Warnings = lists.Without(r.Warnings, func(w *Warning) bool {
		return w.Would != nil && slices.ContainsFunc(before.Warnings, func(b Warning) bool { return b.Would != nil && b.Text == w.Text })
	})
	return r
}

// ErrorResult is what a hook's failure means under a posture (semantics.md
// §5.4): the failure is always recorded; abort leaves the step, else the
// sub-pipeline, else only ends the chain.
func ErrorResult(spec *EventSpec, h *Hook, posture Posture, err error) Result {
	at := h.Span
	if he, ok := err.(*HookError); ok && !he.At.IsZero() {
		at = he.At
	}
	r := Result{Failed: []Failure{{Hook: h.Name, Kind: KindOf(err), Error: err.Error(), OnError: posture, At: at}}}
	by := By{Name: h.Name, At: at}
	powers := spec.PowersFor(h.Body.Protocol)
	switch posture {
	case OnErrorAbort:
		switch {
		case powers.Has(MaySkip):
			r.Control, r.ControlBy = Skip, by
		case powers.Has(MayStop):
			r.Control, r.ControlBy = Stop, by
		default:
			r.EndChain = true
		}
	case OnErrorDeny, OnErrorAsk:
		r.Verdict, r.VerdictBy = Deny, by
		if posture == OnErrorAsk {
			r.Verdict = spec.AskOrDeny()
		}
		if !powers.Verdict(r.Verdict) {
			if spec.Narrowed != "" { // at the event itself it would hold
				m := masker{hook: h.Name}
				m.drop(codeIgnored, "%s cannot %s", spec.Title(), r.Verdict)
				r.Warnings = m.warnings
			}
			r.Verdict, r.VerdictBy = None, By{}
			break
		}
		r.Reasons = []Reason{{Text: h.Name + ": " + err.Error(), Hook: h.Name, At: at}}
	}
	return r
}
