package agent

import (
	"github.com/hookc/hookc/internal/lists"
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
	// to the model as context. Both mean a deny that cannot be said.
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
	return f, lists.Among(p.writes, f)
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
		switch {
		case len(steps) > 0:
			out = append(out, Loss{row.act.String(), last.String(), steps[0].Why})
		case last == deny && p.annotates:
			out = append(out, Loss{row.act.String(), "feedback", "the model reads the original, and the reason beside it"})
		}
	}
	for _, f := range spec.Writes {
		if !lists.Among(p.writes, f) {
			out = append(out, p.unwritable(f))
		}
	}
	if spec.Context && !p.may.Has(MayContext) {
		out = append(out, Loss{"context", "dropped", noContext})
	}
	if spec.Feedback && !p.may.Has(MayContext) && !p.may.Has(MaySystem) && !p.complains {
		out = append(out, Loss{"feedback", "dropped", "the agent hears it beside a refusal alone"})
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
	case spec.Class == policy.Transform && p.may.Has(MayDeny) && !p.annotates:
		return Loss{from, "deny", "the agent does not take this change; the reason holds the new text"}
	case spec.Class == policy.Transform && p.may.Has(MayEnd):
		return Loss{from, "end_turn", "the agent does not take this change, and would show the original"}
	case p.may.Has(MayContext):
		return Loss{from, "context", "the agent does not take this change; the model reads the original, and is told so"}
	}
	return Loss{from, "dropped", "the agent does not take this change"}
}
