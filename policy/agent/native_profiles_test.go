package agent

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// decided folds answers under a profile's rules for an event and decides.
func decided(t *testing.T, whose string, faithful bool, before *policy.Context, event policy.Event, said ...policy.Result) *policy.Decision {
	t.Helper()
	d, err := FindProfile(whose)
	require.NoError(t, err)
	rules, err := d.Under(faithful)
	require.NoError(t, err)
	s := rules.Strategies[event]
	require.NotNil(t, s)
	spec, all, after := s.Under(event.Spec()), policy.Result{}, before
	for _, r := range said {
		h := &policy.Hook{Name: "h", Event: event, Body: policy.Body{Protocol: policy.Protocol(d.ID)}}
		r = policy.Mask(spec, h, &policy.Effects{May: policy.AllPowers, Writes: policy.FieldPaths(policy.Fields()...)}, r)
		all, after = s.Join(all, r), after.With(r.Patch)
		if s.Halt.Halts(&r) {
			break
		}
	}
	after, last := s.Conclude(before, after, &all)
	return policy.Decide(spec, before, after, last)
}

func verdict(v policy.Verdict, reason string) policy.Result {
	r := policy.Result{Verdict: v, VerdictBy: policy.By{Name: "h"}}
	if reason != "" {
		r.Reasons = []policy.Reason{{Text: reason}}
	}
	return r
}

func TestNativeProfiles(t *testing.T) {
	call, send, failed := policy.PreToolExecution, policy.PreSendMessage, policy.PostToolExecutionFailure
	at := func(e policy.Event) *policy.Context { return policy.NewContext(e) }
	edit := policy.Result{Patch: policy.Replace(policy.Path{Field: policy.FieldUserInput}, "b")}
	stop := policy.Result{Control: policy.Stop, ControlBy: policy.By{Name: "h"}}

	d := decided(t, "jcli", false, at(send).Set(policy.FieldUserInput, "a"), send, edit, stop)
	assert.Equal(t, policy.Abort, d.Action)
	assert.Empty(t, d.Patch, "a hook that stops takes back what those before it changed")
	assert.Equal(t, "a", d.Final.Text(policy.FieldUserInput))
	d = decided(t, "jcli", false, at(failed).Set(policy.FieldToolError, "e"), failed, policy.Result{Feedback: []string{"one"}}, policy.Result{Feedback: []string{"two"}})
	assert.Equal(t, []any{policy.Proceed, map[string]any{"tool_error": "two"}, 0}, []any{d.Action, d.Patch, len(d.Feedback)})
	d = decided(t, "jcli", false, at(policy.StopEvent), policy.StopEvent, policy.Result{Feedback: []string{"more"}})
	assert.Equal(t, policy.KeepWorking, d.Action, "feedback alone keeps the agent working")
	abort := policy.Result{Control: policy.Skip, ControlBy: policy.By{Name: "h"}, Failed: []policy.Failure{{Hook: "h", OnError: policy.OnErrorAbort}}}
	assert.Equal(t, policy.Block, decided(t, "jcli", false, at(call), call, abort).Action)
	assert.Equal(t, policy.Proceed, decided(t, "jcli", true, at(call), call, abort).Action, "natively the tool runs")
	assert.Equal(t, policy.Block, decided(t, "jcli", false, at(call), call, verdict(policy.Deny, "r")).Action, "hookc's own word")
	assert.Equal(t, policy.Proceed, decided(t, "jcli", true, at(call), call, verdict(policy.Deny, "r")).Action)

	yolo := at(call).Set(policy.FieldPermissionMode, "yolo")
	assert.Equal(t, policy.Proceed, decided(t, "clawdcode", false, yolo, call, verdict(policy.Ask, "q")).Action)
	assert.Equal(t, policy.Block, decided(t, "clawdcode", false, yolo, call, verdict(policy.Deny, "no")).Action)
	late := verdict(policy.Ask, "h: timed out after 1s")
	late.Failed = []policy.Failure{{Hook: "h", Kind: policy.ErrTimeout, OnError: policy.OnErrorAsk}}
	assert.Equal(t, []string{"Hook timed out"}, decided(t, "clawdcode", false, at(call), call, late).Reasons)
	assert.Equal(t, policy.Block, decided(t, "clawdcode", false, at(send), send, verdict(policy.Deny, "r")).Action)
	assert.Equal(t, policy.Proceed, decided(t, "clawdcode", true, at(send), send, verdict(policy.Deny, "r")).Action, "natively no prompt is blocked")

	d = decided(t, "aiagents", false, at(call), call, verdict(policy.Ask, "q"), verdict(policy.Deny, "d1"), verdict(policy.Deny, "d2"))
	assert.Equal(t, []any{policy.Block, []string{"d1"}}, []any{d.Action, d.Reasons})
	d = decided(t, "aiagents", false, at(send), send, policy.Result{Context: []string{"c"}}, verdict(policy.Deny, "r"))
	assert.Equal(t, []any{policy.Block, 0}, []any{d.Action, len(d.Context)})
	d = decided(t, "agenthooks", false, at(call), call, policy.Result{Context: []string{"c"}}, verdict(policy.Ask, "q"), verdict(policy.Deny, "no"))
	assert.Equal(t, []any{policy.Block, []string{"no"}, []string{"c"}}, []any{d.Action, d.Reasons, d.Context})
	d = decided(t, "agenthooks", false, at(policy.SubagentStop), policy.SubagentStop, policy.Result{Feedback: []string{"late"}, EndChain: true}, verdict(policy.Deny, "x"))
	assert.Equal(t, []any{policy.Proceed, []string{"late"}}, []any{d.Action, d.Feedback})
}
