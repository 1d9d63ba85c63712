package dialect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hookc/hookc/policy"
)

// act is what the agent is told to do.
type act uint8

const (
	proceed act = iota
	allow
	ask
	deferCall
	deny
	retry
	leave
	end
	// rewrite replaces what was produced by the reason; tell gives the reason
	// to the model as context. Both stand for a deny that cannot be said.
	rewrite
	tell
)

var actNames = [...]string{"none", "allow", "ask", "defer", "deny", "retry", "stop", "end_turn", "rewrite", "context"}

func (a act) String() string { return actNames[a] }

// power is the power that lets an act be said as it is.
var power = [...]Power{allow: MayAllow, ask: MayAsk, deferCall: MayDefer, deny: MayDeny, retry: MayRetry, leave: MayStop, end: MayEnd}

// refuses reports whether the act keeps the step from happening as it is.
func (a act) refuses() bool { return a >= deny && a <= end }

// Loss is something an agent cannot be told at an event and what becomes of
// it: the name of an act or of an output, and "none" or "dropped" where
// nothing can take its place.
type Loss struct{ From, To, Why string }

func (l Loss) String() string { return l.From + " → " + l.To + ": " + l.Why }

// answer is a Decision reduced to what the agent can be told at the event.
type answer struct {
	call  *Call
	point *point
	act   act
	// reason is why, for whoever acts on it; never "" when the act refuses.
	reason   string
	context  []string
	system   []string
	inject   []any
	patch    map[policy.Field]any
	suppress bool
	losses   []Loss
	// notes are for whoever reads the agent's log.
	notes []string
}

func (a *answer) contextText() string { return a.call.dialect.contexts(a.context) }
func (a *answer) systemText() string  { return joinLines(a.system) }

func (a *answer) lose(from, to, why string) { a.losses = append(a.losses, Loss{from, to, why}) }

// settle replaces an act by the nearest one that can be said and is no weaker
// where there is one. A step that changes nothing for the agent is no loss.
func (p *point) settle(a act, may Power) (act, []Loss) {
	var losses []Loss
	for a > proceed && a <= end && !may.Has(power[a]) {
		to, why := p.instead(a, may)
		if why != "" {
			losses = append(losses, Loss{a.String(), to.String(), why})
		}
		a = to
	}
	return a, losses
}

// instead is one step of settle; no reason means that it is the same thing.
func (p *point) instead(a act, may Power) (act, string) {
	spec := p.event.Spec()
	ending := spec.Class == policy.Quality
	switch a {
	case allow:
		return proceed, "the agent cannot be told that something is approved here"
	case deferCall:
		return ask, "the agent cannot wait for another's approval here"
	case ask:
		return deny, "the agent cannot ask here"
	case retry:
		return deny, "the agent cannot try again with feedback here"
	case leave:
		switch {
		case ending:
			return end, ""
		case spec.Scope == spec.Step:
			return deny, ""
		case may.Has(MayEnd):
			return end, "the agent can leave no more than this step, or the whole turn"
		}
		return deny, "the agent can leave no more than this step here"
	case end:
		switch {
		case ending && may.Has(MayStop):
			return leave, ""
		case ending:
			return proceed, "" // the turn ends because nothing keeps it going
		case may.Has(MayStop):
			return leave, "a hook cannot end the turn here"
		}
		return deny, "a hook cannot end the turn here"
	}
	return p.insteadOfDeny(may)
}

func (p *point) insteadOfDeny(may Power) (act, string) {
	spec := p.event.Spec()
	_, produced := p.product()
	switch {
	case may.Has(MayStop) && spec.Class != policy.Quality && spec.Scope == spec.Step:
		return leave, ""
	case may.Has(MayStop) && spec.Class != policy.Quality:
		return leave, "the agent can only leave more than this step"
	case spec.Class == policy.Guard && may.Has(MayEnd):
		return end, "a hook cannot refuse this alone, only end the turn"
	case produced:
		return rewrite, "the agent cannot hide this; it is replaced by the reason"
	case may.Has(MayContext) && spec.Class != policy.Quality:
		return tell, "a hook cannot refuse this; the model is told the reason"
	}
	return proceed, "a hook cannot refuse this"
}

// product is the field that holds what a transforming event delivers, and
// whether a hook may replace it.
func (p *point) product() (policy.Field, bool) {
	var f policy.Field
	switch p.event {
	case policy.PostToolExecution:
		f = policy.FieldToolResult
	case policy.PostToolExecutionFailure:
		f = policy.FieldToolError
	case policy.PostLLMResponse:
		f = policy.FieldAssistantOutput
	default:
		return f, false
	}
	return f, slices.Contains(p.writes, f)
}

// losses lists what becomes of everything the canonical event obeys.
func (p *point) losses() []Loss {
	spec := p.event.Spec()
	var out []Loss
	for _, row := range []struct {
		power policy.Powers
		act   act
	}{
		{policy.MayAllow, allow}, {policy.MayAsk, ask}, {policy.MayDefer, deferCall},
		{policy.MayDeny, deny}, {policy.MayStop, leave}, {policy.MayHalt, end},
	} {
		if !spec.Powers.Has(row.power) {
			continue
		}
		last, steps := p.settle(row.act, p.may)
		if len(steps) > 0 {
			out = append(out, Loss{row.act.String(), last.String(), steps[0].Why})
		}
	}
	for _, f := range spec.Writes {
		if !slices.Contains(p.writes, f) {
			out = append(out, p.unwritable(f))
		}
	}
	if spec.Context && !p.may.Has(MayContext) {
		out = append(out, Loss{"context", "dropped", noContext})
	}
	return out
}

const noContext = "the agent takes no context here"

// unwritable is what becomes of a rewrite the agent does not take.
func (p *point) unwritable(f policy.Field) Loss {
	from := "rewrite of " + f.String()
	spec := p.event.Spec()
	switch {
	case spec.Class == policy.Guard:
		to, _ := p.settle(deny, p.may)
		return Loss{from, to.String(), "the agent does not take this change"}
	case spec.Class == policy.Transform && p.may.Has(MayDeny):
		return Loss{from, "deny", "the agent does not take this change; the reason holds the new text"}
	case p.may.Has(MayContext):
		return Loss{from, "context", "the agent does not take this change; the model is told"}
	}
	return Loss{from, "dropped", "the agent does not take this change"}
}

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
		// What concerns the policy as a whole, and a gate that was overridden,
		// must not hide in a log.
		overridden := d.Action == policy.Proceed && d.Verdict == policy.None && d.By != ""
		if (w.Hook == "" || overridden) && may.Has(MaySystem) {
			a.system = append(a.system, "hookc: "+text)
		}
	}
	for _, l := range a.losses {
		a.notes = append(a.notes, l.String())
	}
	return a
}

// may is what the agent would obey now.
func (c *Call) may() Power {
	if c.dialect.narrow == nil || c.Context == nil {
		return c.point.may
	}
	return c.dialect.narrow(c.Context, c.point.may)
}

// decide settles the act and the reason.
func (a *answer) decide(d *policy.Decision, may Power) {
	reasons, feedback := strings.Join(d.Reasons, "\n"), strings.Join(d.Feedback, "\n")
	by := cmp.Or(d.By, "the policy")
	wanted := proceed
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
		a.reason, wanted = some(reasons, feedback, "blocked by "+by), deny
	case policy.KeepWorking:
		a.reason, wanted = some(feedback, reasons, "blocked by "+by), deny
	case policy.RetryTurn:
		a.reason, wanted = some(feedback, reasons, "blocked by "+by), retry
	case policy.Abort:
		a.reason, wanted = some(reasons, feedback, "blocked by "+by), leave
	default: // end_turn, and whatever is not known
		a.reason, wanted = some(d.StopReason, reasons, "stopped by "+by), end
	}
	var lost []Loss
	a.act, lost = a.point.settle(wanted, may)
	a.losses = append(a.losses, lost...)
	if (wanted == ask || wanted == deferCall) && a.act != ask && a.act != deferCall {
		a.reason = some(a.reason, by+" asks for confirmation") + "\n(hookc: nobody can be asked here, so it is refused)"
	}
	if a.act == rewrite {
		f, _ := a.point.product()
		a.patch, a.act = map[policy.Field]any{f: a.reason}, proceed
	}
}

// rewrites takes over the changes the agent takes; one it does not take makes
// the answer stricter.
func (a *answer) rewrites(d *policy.Decision, may Power) {
	class := a.point.event.Spec().Class
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

func (a *answer) change(f policy.Field, v any) {
	if a.patch == nil {
		a.patch = map[policy.Field]any{}
	}
	a.patch[f] = v
}

// takes reports whether a change can be said beside the act.
func (a *answer) takes(f policy.Field, v any, may Power) bool {
	fits := a.call.dialect.fits
	switch {
	case !slices.Contains(a.point.writes, f) || v == nil:
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
	text := jsonText(v)
	product, _ := a.point.product()
	switch {
	case a.point.event.Spec().Class == policy.Guard:
		a.act, _ = a.point.settle(deny, may)
		hint := "hookc: " + f.String() + " must be changed first, and hooks cannot change it here. Use this instead: " + text
		if f == policy.FieldToolInput {
			hint = "hookc: the call must be changed before it may run, and hooks cannot change it here. Make this call instead: " +
				a.call.Context.Text(policy.FieldToolName) + " " + text
		}
		a.reason = joined(a.reason, hint)
		loss.To = a.act.String()
	case f != product || a.act.refuses():
		loss.To = "dropped"
	case may.Has(MayDeny):
		a.act, a.reason = deny, text
		loss.To = "deny"
	case may.Has(MayContext):
		a.context = append(a.context, "hookc: read the result as this instead: "+text)
		loss.To = "context"
	default:
		loss.To = "dropped"
	}
	a.losses = append(a.losses, loss)
}

// outputs takes over what is said beside the decision.
func (a *answer) outputs(d *policy.Decision, may Power) {
	a.context = append(a.context, d.Context...)
	a.injected(d, may)
	if len(a.context) > 0 && !may.Has(MayContext) {
		if !a.act.refuses() {
			a.lose("context", "dropped", noContext)
		}
		a.context = nil
	}
	switch {
	case len(d.SystemMessages) == 0:
	case may.Has(MaySystem):
		a.system = append(a.system, d.SystemMessages...)
	default:
		a.lose("system_message", "dropped", "the agent shows no messages of hooks here")
		a.notes = append(a.notes, d.SystemMessages...)
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
			a.context = append(a.context, jsonText(m))
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

func joinLines(lines []string) string { return strings.Join(lines, "\n") }

// joined is two texts on lines of their own.
func joined(first, second string) string {
	if first == "" {
		return second
	}
	return first + "\n" + second
}
