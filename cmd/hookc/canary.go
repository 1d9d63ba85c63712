package main

import (
	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// canary is the refusal that is asked for; nil when none is.
func canary(s *decide.Speaker, cmd *cobra.Command, src *sources) (*policy.Decision, error) {
	nonce, event := decide.CallerOf(cmd.Context()).Getenv(decide.CanaryEnv), s.Call.Event()
	if nonce == "" || event.Spec().Class != policy.Guard {
		return nil, nil
	}
	options, done, err := src.Options(cmd, nil, s.Call.Context.Frozen(event).Text(policy.FieldProjectRoot))
	if err != nil {
		return nil, err
	}
	defer done()
	eng, err := decide.Open(cmd.Context(), append(options, hookc.SkipVerify()))
	if err != nil {
		return nil, err
	}
	live := lists.Some(eng.Program().Hooks, func(e *dag.Entry) bool { return e.Status == dag.Live && !hookc.Own(e.Hook) })
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
