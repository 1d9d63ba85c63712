package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// canaryEnv is the variable by which doctor tries an agent's hook: when it is
// set, `run --dialect` refuses whatever is guarded, with the variable's value
// in the reason, once a policy with hooks in force is found and compiled and
// before any hook runs. Whoever sets it can make hookc stricter and nothing else.
const canaryEnv = "HOOKC_CANARY"

// canary is the refusal that is asked for; nil when none is.
func (s *speaker) canary(cmd *cobra.Command, src *sources) (*policy.Decision, error) {
	nonce, event := callerOf(cmd.Context()).getenv(canaryEnv), s.call.Event()
	if nonce == "" || event.Spec().Class != policy.Guard {
		return nil, nil
	}
	options, done, err := src.options(cmd, nil, s.call.Context.Frozen(event).Text(policy.FieldProjectRoot))
	if err != nil {
		return nil, err
	}
	defer done()
	eng, err := open(cmd.Context(), append(options, hookc.SkipVerify()))
	if err != nil {
		return nil, err
	}
	live := slices.ContainsFunc(eng.Program().Hooks, func(e dag.Entry) bool { return e.Status == dag.Live && !hookc.Own(e.Hook) })
	if err := eng.Close(); err != nil {
		return nil, cannot("%v", err)
	}
	if !live { // nothing would be refused
		return nil, nil
	}
	return refusal(event, nonce), nil
}

// refusal is the Decision of a canary.
func refusal(event policy.Event, nonce string) *policy.Decision {
	return &policy.Decision{Event: event, Action: policy.Block, Verdict: policy.Deny, By: "hookc-doctor",
		Reasons: []string{"hookc doctor: canary " + nonce}}
}
