package agent

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// sink is what an agent's profile makes of folded answers at an event.
func sink(t *testing.T, whose string, faithful bool, before *policy.Context, e policy.Event, r policy.Result) policy.Result {
	t.Helper()
	d, err := FindProfile(whose)
	require.NoError(t, err)
	rules, err := d.Under(faithful)
	require.NoError(t, err)
	s := rules.Strategies[e]
	require.NotNil(t, s, "%s has no strategy at %s", whose, e)
	if s.Rules.Conclude == nil {
		return r
	}
	return s.Rules.Conclude(before.Frozen(e), r)
}

func TestProfileEvents(t *testing.T) {
	for _, whose := range []string{"claude", "claude@2.1.240", "codex", "kimi", "cursor", "copilot"} {
		d, err := FindProfile(whose)
		require.NoError(t, err)
		rules, err := d.Under(false)
		require.NoError(t, err)
		for _, e := range d.Events() {
			s := rules.Strategies[e]
			if !assert.NotNil(t, s, "%s leaves %s to hookc's own rules", whose, e) {
				continue
			}
			// What a profile obeys its dialect can say, so that hookc in front of
			// other hooks loses nothing.
			under := s.Under(e.Spec())
			for _, can := range d.Can(e) {
				if can.May.Has(MayDeny) {
					assert.True(t, under.Powers.Has(policy.MayDeny), "%s says deny at %s, its profile obeys none", whose, can.Native)
				}
			}
			if under.Powers.Has(policy.MayDeny) {
				some := false
				for _, can := range d.Can(e) {
					some = some || can.May.Has(MayDeny|MayEnd|MayStop)
				}
				assert.True(t, some, "%s obeys deny at %s and cannot say it", whose, e)
			}
		}
	}
}

func TestClaudeSinks(t *testing.T) {
	in, by := policy.NewContext(""), policy.By{Name: "h"}
	deny := policy.Result{Verdict: policy.Deny, VerdictBy: by, Context: []string{"c"}}
	assert.Empty(t, sink(t, "claude", false, in, policy.PreSendMessage, deny).Context, "a blocked prompt gets no context")
	assert.Equal(t, []string{"c"}, sink(t, "claude", false, in, policy.PreToolExecution, deny).Context)
	wait := policy.Result{Verdict: policy.Defer, Context: []string{"c"}, Patch: policy.Replace(policy.Path{Field: policy.FieldToolInput}, map[string]any{})}
	assert.Equal(t, policy.Result{Verdict: policy.Defer}, sink(t, "claude", false, in, policy.PreToolExecution, wait))

	on := policy.Result{Control: policy.Stop, ControlBy: by, Feedback: []string{"f"}}
	got := sink(t, "claude", false, in, policy.StopEvent, on)
	assert.Equal(t, []string{"f"}, got.Context)
	assert.Equal(t, policy.Stop, got.Control)
	on.Verdict, on.VerdictBy = policy.Deny, by
	got = sink(t, "claude", false, in, policy.StopEvent, on)
	assert.Equal(t, policy.Result{Verdict: policy.Deny, VerdictBy: by, Context: []string{"f"}}, got, "a block is one although another hook adds context")
	assert.Equal(t, []string{"b"}, sink(t, "claude", false, in, "ext.WorktreeCreate", policy.Result{Context: []string{"a", "b"}}).Context)
}

func TestFirstRefusal(t *testing.T) {
	r := policy.Result{Verdict: policy.Deny, VerdictBy: policy.By{Name: "a"}, Patch: policy.Replace(policy.Path{Field: policy.FieldToolInput}, map[string]any{}),
		Reasons: []policy.Reason{{Text: "one", Hook: "a"}, {Text: "two", Hook: "b"}}}
	for _, whose := range []string{"codex", "kimi"} {
		got := sink(t, whose, false, policy.NewContext(""), policy.PreToolExecution, r)
		assert.Equal(t, []policy.Reason{{Text: "one", Hook: "a"}}, got.Reasons, whose)
		assert.True(t, got.Patch.Empty(), "%s: what is refused is not rewritten", whose)
	}
	assert.Len(t, r.Reasons, 2, "the answer itself is not changed")
}

func TestKimiStop(t *testing.T) {
	silent := policy.Result{Verdict: policy.Deny, VerdictBy: policy.By{Name: "h"}}
	got := sink(t, "kimi", false, policy.NewContext(""), policy.StopEvent, silent)
	assert.Equal(t, policy.Deny, got.Verdict)
	assert.Equal(t, "blocked by h", got.Reasons[0].Text)
	assert.Equal(t, codeSafeSide, got.Warnings[0].Code)
	assert.Equal(t, policy.None, sink(t, "kimi", true, policy.NewContext(""), policy.StopEvent, silent).Verdict)
	again := policy.NewContext("").Set(policy.FieldStopHookActive, true)
	silent.Reasons = []policy.Reason{{Text: "r", Hook: "h"}}
	got = sink(t, "kimi", false, again, policy.StopEvent, silent)
	assert.Equal(t, policy.None, got.Verdict)
	assert.Len(t, got.Warnings, 1)
}
