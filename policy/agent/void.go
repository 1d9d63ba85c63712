package agent

import "github.com/hookc/hookc/policy"

// giveUp is the answer of an agent that gives up on the whole event.
var giveUp = []policy.AgentAnswer{{Void: true}}

// unlessVoid is a conclusion, nil if there is none, of an agent that may give up on an
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
