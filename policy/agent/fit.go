package agent

import (
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// answer is a Decision reduced to what the agent can be told at the event.
type answer struct {
	call  *Call
	point *point
	act   act
	// reason is why, for whoever acts on it; never "" when the act refuses.
	reason string
	silent bool // no hook gave a reason
	// feedback is what the hooks want done better, which the reason of a refusal
	// holds too.
	feedback string
	context  []string
	system   []string
	inject   []any
	patch    map[policy.Field]any
	suppress bool
	losses   []Loss
	// notes are for whoever reads the agent's log; open are those of them that
	// tell of a failure that let something through, or of the policy as a whole,
	// or are for the user; other are those of otherPolicy.
	notes, open, other []string
}

func (a *answer) contextText() string { return a.call.agent.contexts(a.context) }
func (a *answer) systemText() string  { return joinLines(a.system) }

//go:noinline
func (a *answer) lose(from, to, why string) { a.losses = append(a.losses, Loss{from, to, why}) }

// otherPolicy are the warnings that what decided is not what lies there now: the
// last whole policy (HK023), or the copy that was trusted (HK165).
var otherPolicy = []string{"HK023", "HK165"}

// fit reduces a Decision to what can be said.
func (c *Call) fit(d *policy.Decision) *answer {
	a := &answer{call: c, point: c.point}
	may := c.may()
	a.decide(d, may)
	a.rewrites(d, may)
	a.outputs(d, may)
	if a.act == tell {
		a.context = append([]string{a.reason}, a.context...)
		a.act = proceed
	}
	for _, w := range d.Warnings {
		text := w.Text
		if w.Code != nil {
			text = w.Code.ID + ": " + text
		}
		a.notes = append(a.notes, text)
		if w.Hook == "" {
			a.open = append(a.open, text)
		}
		if w.Code != nil && lists.Has(otherPolicy, w.Code.ID) {
			a.other = append(a.other, text)
		}
		// What concerns the policy as a whole, and a gate that was overridden,
		// must not hide in a log.
		overridden := d.Action == policy.Proceed && d.Verdict == policy.None && d.By != ""
		if (w.Hook == "" || overridden) && may.Has(MaySystem) {
			a.system = append(a.system, "hookc: "+text)
		}
	}
	a.failures(d, may)
	for _, l := range a.losses {
		a.notes = append(a.notes, l.String())
	}
	return a
}

// failures tells of hooks that failed and, by their posture, let through what
// they were to judge: nobody else would notice.
func (a *answer) failures(d *policy.Decision, may Power) {
	for _, f := range d.Failed {
		if f.OnError != policy.OnErrorSkip {
			continue // the answer has the reason
		}
		text := "the hook " + f.Hook + " failed and decided nothing (" + string(f.Kind) + "): " + f.Error
		a.open = append(a.open, text)
		a.notes = append(a.notes, text)
		if may.Has(MaySystem) {
			a.system = append(a.system, "hookc: "+text)
		}
	}
}

// CanAsk reports whether the agent puts a question to its user here.
func (c *Call) CanAsk() bool {
	act, _ := c.point.settle(ask, c.may())
	return act == ask
}

// may is what the agent would obey now.
func (c *Call) may() Power {
	if c.agent.narrow == nil || c.Context == nil {
		return c.point.may
	}
	return c.agent.narrow(c.Context, c.point.may)
}

// decide settles the act and the reason.
func (a *answer) decide(d *policy.Decision, may Power) {
	reasons, feedback := strings.Join(d.Reasons, "\n"), strings.Join(d.Feedback, "\n")
	by := lists.First(d.By, "the policy")
	wanted := proceed
	a.feedback, a.silent = feedback, reasons+feedback == ""
	switch d.Action {
	case policy.Proceed:
		a.reason = reasons
		if d.Verdict == policy.Allow {
			wanted = allow
		}
	case policy.AskUser, policy.DeferCall:
		a.reason, wanted = reasons, ask
		if d.Action == policy.DeferCall {
			wanted = deferCall
		}
	case policy.Block, policy.Hide:
		a.reason, wanted = some(withFeedback(reasons, feedback), "blocked by "+by), deny
	case policy.KeepWorking:
		a.reason, wanted = some(feedback, reasons, "blocked by "+by), deny
	case policy.RetryTurn:
		a.reason, wanted = some(feedback, reasons, "blocked by "+by), retry
	case policy.Abort:
		a.reason, wanted = some(withFeedback(reasons, feedback), "blocked by "+by), leave
	default: // end_turn, and whatever is not known
		a.reason, wanted = some(d.StopReason, reasons, "stopped by "+by), end
	}
	var lost []Loss
	a.act, lost = a.point.settle(wanted, may)
	a.losses = append(a.losses, lost...)
	if (wanted == ask || wanted == deferCall) && a.act != ask && a.act != deferCall {
		a.reason = some(a.reason, by+" asks for confirmation") + "\n(hookc: nobody can be asked here, so it is refused)"
	}
	if len(lost) > 0 && a.act == proceed && wanted != allow {
		a.undelivered(may)
	}
	if a.act == rewrite {
		f, _ := a.point.product()
		a.patch, a.act = map[policy.Field]any{f: a.reason}, proceed
	}
}

// undelivered shows a refusal that the agent does not let a hook say to whoever
// can still be shown something.
func (a *answer) undelivered(may Power) {
	if may.Has(MaySystem) {
		a.system = append(a.system, "hookc: this should not happen: "+a.reason)
		return
	}
	a.notes = append(a.notes, a.reason)
}

// rewrites takes over the changes the agent takes; one it does not take makes
// the answer stricter.
func (a *answer) rewrites(d *policy.Decision, may Power) {
	class := a.point.event.Spec().Class
	if v := d.Patch["assistant_output"]; a.act == deny && a.point.event == policy.PreLLMRequest && a.takes(policy.FieldAssistantOutput, v, may) {
		a.change(policy.FieldAssistantOutput, v) // in the place of the model
	}
	if a.patch != nil || a.act.refuses() && class != policy.Transform || a.act == tell {
		return // what does not happen needs no change
	}
	for _, f := range policy.Fields() {
		v, changed := d.Patch[f.String()]
		if !changed {
			continue
		}
		if a.takes(f, v, may) {
			a.change(f, v)
			continue
		}
		a.refuseChange(f, v, may)
		if a.act.refuses() && class != policy.Transform {
			a.patch = nil
			return
		}
	}
}

//go:noinline
func (a *answer) change(f policy.Field, v any) {
	if a.patch == nil {
		a.patch = map[policy.Field]any{}
	}
	a.patch[f] = v
}

// takes reports whether a change can be said beside the act.
func (a *answer) takes(f policy.Field, v any, may Power) bool {
	fits := a.call.agent.fits
	switch {
	case !lists.Among(a.point.writes, f) || v == nil:
		return false
	case a.act == ask && !a.point.askKeepsInput:
		return false
	case a.point.allowed && a.act != allow:
		return false
	}
	return fits == nil || fits(a.call, f, v)
}

// refuseChange is what becomes of a change that cannot be said.
func (a *answer) refuseChange(f policy.Field, v any, may Power) {
	loss := a.point.unwritable(f)
	text := JSONText(v)
	switch product, _ := a.point.product(); {
	case a.point.event.Spec().Class == policy.Guard:
		a.act, _ = a.point.settle(deny, may)
		hint := "hookc: " + f.String() + " must be changed first, and hooks cannot change it here. Use this instead: " + text
		if f == policy.FieldToolInput {
			hint = "hookc: the call must be changed before it may run, and hooks cannot change it here. Make this call instead: " +
				a.call.Context.Text(policy.FieldToolName) + " " + text
		}
		a.reason = joined(a.reason, hint)
		loss.To = a.act.String()
	case f != product:
		loss.To = "dropped"
	default:
		loss.To = a.hideProduct(f, text, may)
	}
	a.losses = append(a.losses, loss)
}

// hideProduct is what becomes of a new text for what was produced that cannot
// be said: the old one is hidden behind it, or is not read at all. Where neither
// can be, the new one is not told: it would show what the old one had.
func (a *answer) hideProduct(f policy.Field, text string, may Power) string {
	const why = " must be changed before it is read, and hooks cannot change it here"
	if blank := a.call.agent.blank; blank != nil && lists.Among(a.point.writes, f) {
		if v, ok := blank(a.call, text); ok {
			a.change(f, v)
			return "a plain text"
		}
	}
	switch {
	case a.act.refuses() && !a.point.annotates:
		return "dropped"
	case may.Has(MayDeny) && !a.point.annotates:
		a.act, a.reason = deny, text
	case may.Has(MayEnd):
		a.act, a.reason = end, joined(a.reason, "hookc: "+f.String()+why)
	case may.Has(MayDeny):
		a.act, a.reason = deny, joined(a.reason, "hookc: "+f.String()+why)
	case may.Has(MayContext):
		a.context = append(a.context, "hookc: "+f.String()+why)
		return "context"
	default:
		return "dropped"
	}
	return a.act.String()
}

// outputs takes over what is said beside the decision.
func (a *answer) outputs(d *policy.Decision, may Power) {
	a.context = append(a.context, d.Context...)
	a.injected(d, may)
	messages := d.SystemMessages
	if feedback := lists.DeleteFunc(lists.Copy(d.Feedback), func(s string) bool { return strings.Contains(a.reason, s) }); len(feedback) > 0 {
		switch {
		case a.act == ask || a.act == deferCall || a.act.refuses() && a.act != end:
			a.reason = joined(a.reason, joinLines(feedback))
		case may.Has(MayContext) && a.act != end && !a.point.complains:
			a.context = append(a.context, feedback...)
		default:
			messages = lists.Concat(feedback, messages)
		}
	}
	if len(a.context) > 0 && !may.Has(MayContext) {
		if !a.act.refuses() {
			a.lose("context", "dropped", noContext)
		}
		a.context = nil
	}
	switch {
	case len(messages) == 0:
	case may.Has(MaySystem):
		a.system = append(a.system, messages...)
	case a.act == ask: // the user reads why
		a.reason = joined(a.reason, joinLines(messages))
	case a.point.complains && len(a.context) > 0: // which a complaint would hide
		a.context = append(a.context, messages...)
	case a.point.complains && !a.act.refuses():
		a.act, a.reason = deny, joinLines(messages)
	default:
		if a.call.agent.warns && a.act == proceed && len(a.patch)+len(a.context) == 0 {
			a.open = append(a.open, messages...)
		} else {
			a.lose("system_message", "dropped", "the agent shows no messages of hooks here")
		}
		a.notes = append(a.notes, messages...)
	}
	a.suppress = d.SuppressOutput && may.Has(MaySuppress)
}

// injected finds a place for messages that join the conversation.
func (a *answer) injected(d *policy.Decision, may Power) {
	if len(d.Inject) == 0 || a.act.refuses() {
		return
	}
	if may.Has(MayInject) {
		a.inject = d.Inject
		return
	}
	if all, ok := d.Final.Get(policy.FieldMessages); ok && a.takes(policy.FieldMessages, all, may) {
		a.change(policy.FieldMessages, all)
		return
	}
	if !may.Has(MayContext) {
		a.lose("inject_messages", "dropped", "a hook cannot add messages here")
		return
	}
	a.lose("inject_messages", "context", "a hook cannot add messages here; the model is given their text")
	for _, m := range d.Inject {
		message, _ := m.(map[string]any)
		if text, ok := message["content"].(string); ok && text != "" {
			a.context = append(a.context, text)
		} else {
			a.context = append(a.context, JSONText(m))
		}
	}
}

// some is the first text that says anything: several agents let a refusal
// without a reason pass.
func some(texts ...string) string {
	for _, s := range texts {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

// withFeedback is reasons, with the feedback that they do not hold.
func withFeedback(reasons, feedback string) string {
	if reasons == "" || feedback == "" || strings.Contains(reasons, feedback) {
		return reasons + feedback
	}
	return joined(reasons, feedback)
}

func joinLines(lines []string) string { return strings.Join(lines, "\n") }

// joined is two texts on lines of their own.
func joined(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n" + second
}
