package agent

import "github.com/hookc/hookc/policy"

// What agents do not hear of two answers that follow each other
// (policy.Rules.Supersede).

// reasonsOfVerdict keeps the reasons of the more restrictive verdict alone.
func reasonsOfVerdict(earlier, later *policy.Result) {
	switch {
	case earlier.Verdict < later.Verdict:
		earlier.Reasons = nil
	case earlier.Verdict > later.Verdict:
		later.Reasons = nil
	}
}

// approvesOwn is reasonsOfVerdict, and an approval does not cover what another hook
// has made of the call.
func approvesOwn(earlier, later *policy.Result) {
	reasonsOfVerdict(earlier, later)
	changed := [2]bool{!earlier.Patch.Empty(), !later.Patch.Empty()}
	for i, r := range []*policy.Result{earlier, later} {
		if r.Verdict == policy.Allow && changed[1-i] {
			r.Verdict, r.VerdictBy, r.Reasons = policy.None, policy.By{}, nil
		}
	}
}

// laterChange is reasonsOfVerdict, and of two changes to one field the later
// one stands alone, laid over what the event began with.
func laterChange(earlier, later *policy.Result) {
	reasonsOfVerdict(earlier, later)
	earlier.Patch = earlier.Patch.Without(later.Patch)
}

// refusalReplaces takes back everything that was said before a refusal (ask or
// more, any control, the end of the chain) but failures and warnings.
func refusalReplaces(earlier, later *policy.Result) {
	if later.Verdict >= policy.Ask || later.Control > policy.Go || later.EndChain {
		*earlier = policy.Result{Failed: earlier.Failed, Warnings: earlier.Warnings}
	}
}

// laterText keeps of contexts, feedback and messages to the user the last
// hook's, one by one.
func laterText(earlier, later *policy.Result) {
	if len(later.Context) > 0 {
		earlier.Context = nil
	}
	if len(later.Feedback) > 0 {
		earlier.Feedback = nil
	}
	if len(later.System) > 0 {
		earlier.System = nil
	}
}

// giveUp is the answer of an agent that gives up on the whole event.
var giveUp = []policy.AgentAnswer{{Void: true}}

// void makes the event void.
func (d *draft) void() { d.r.Agent = giveUp }

// unlessVoid is a conclusion, nil for none, of an agent that may give up on an
// event: then failures and warnings are all that is left.
func unlessVoid(conclude func(*policy.Context, policy.Result) policy.Result) func(*policy.Context, policy.Result) policy.Result {
	return func(before *policy.Context, r policy.Result) policy.Result {
		if r.Void() {
			return policy.Result{Failed: r.Failed, Warnings: r.Warnings}
		}
		if conclude == nil {
			return r
		}
		return conclude(before, r)
	}
}
