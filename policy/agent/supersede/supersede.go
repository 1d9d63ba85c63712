// Package supersede is what agents do not hear of two answers that follow each other
// (policy.Rules.Supersede).
package supersede

import "github.com/hookc/hookc/policy"

// ReasonsOfVerdict keeps the reasons of the more restrictive verdict alone.
func ReasonsOfVerdict(earlier, later *policy.Result) {
	switch {
	case earlier.Verdict < later.Verdict:
		earlier.Reasons = nil
	case earlier.Verdict > later.Verdict:
		later.Reasons = nil
	}
}

// FirstHalt is ReasonsOfVerdict, and of hooks that end the turn the first alone says why.
func FirstHalt(earlier, later *policy.Result) {
	ReasonsOfVerdict(earlier, later)
	if earlier.Control == policy.Halt {
		later.StopReasons = nil
	}
}

// Unchanged is a last Result (policy.Rules.Conclude): what is refused has no other input.
func Unchanged(_ *policy.Context, r policy.Result) policy.Result {
	if r.Verdict == policy.Deny {
		r.Patch = policy.Patch{}
	}
	return r
}

// ApprovesOwn is ReasonsOfVerdict, and an approval does not cover what another hook
// has made of the call.
func ApprovesOwn(earlier, later *policy.Result) {
	ReasonsOfVerdict(earlier, later)
	changed := [2]bool{!earlier.Patch.Empty(), !later.Patch.Empty()}
	for i, r := range []*policy.Result{earlier, later} {
		if r.Verdict == policy.Allow && changed[1-i] {
			r.Verdict, r.VerdictBy, r.Reasons = policy.None, policy.By{}, nil
		}
	}
}

// LaterChange is ReasonsOfVerdict, and of two changes to one field the later
// one stands alone, laid over what the event began with.
func LaterChange(earlier, later *policy.Result) {
	ReasonsOfVerdict(earlier, later)
	earlier.Patch = earlier.Patch.Without(later.Patch)
}

// RefusalReplaces takes back everything that was said before a refusal (ask or
// more, any control, the end of the chain) but failures and warnings.
func RefusalReplaces(earlier, later *policy.Result) {
	if later.Verdict >= policy.Ask || later.Control > policy.Go || later.EndChain {
		*earlier = policy.Result{Failed: earlier.Failed, Warnings: earlier.Warnings}
	}
}

// LaterText keeps of contexts, feedback and messages to the user the last
// hook's, one by one.
func LaterText(earlier, later *policy.Result) {
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
