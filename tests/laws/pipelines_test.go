package laws

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/policy"
)

// pipeline runs a sub-pipeline, as the compiler links it, over a policy of one
// rule, and lists the events fired and the actions run.
func pipeline(t *testing.T, name string, on policy.Event, says policy.Result, in ...*policy.Context) (*executor.Outcome, [][]string) {
	w := emptyWorld(1, policy.PreToolExecution)
	w.insert(0, "h", policy.KindExpr, body{may: policy.AllPowers, fixed: func(in *policy.Context, _ int) (policy.Result, error) {
		if in.Text(policy.FieldToolUseID) == "other" {
			return policy.Result{}, nil
		}
		return says, nil
	}})
	w.policy.Hooks[0].Event = on
	x := executor.New(w.compile(t), calm)
	defer x.Close()
	nothing := func(context.Context, *policy.Context) (map[string]any, error) { return nil, nil }
	out, err := x.Pipeline(t.Context(), name, executor.Actions{"micro_compact": nothing, "auto_compact": nothing, "tool": nothing, "agent": nothing}, in...)
	require.NoError(t, err)
	require.NoError(t, out.Err)
	if out.Calls == nil {
		return out, [][]string{stepNames(out)}
	}
	var all [][]string
	for _, c := range out.Calls {
		all = append(all, stepNames(c))
	}
	return out, all
}

func stepNames(o *executor.Outcome) []string {
	if o == nil {
		return nil
	}
	out := []string{}
	for _, s := range o.Steps {
		if s.Decision != nil {
			out = append(out, string(s.Decision.Event))
			continue
		}
		out = append(out, s.Action)
	}
	return out
}

// Law 31. Killed by a Seq that did not consume its label, and by one that
// consumed every label.
func TestLaw31StopLeavesCompact(t *testing.T) {
	stop := policy.Result{Control: policy.Stop}
	micro := []string{"pre_micro_compact", "micro_compact", "post_micro_compact"}
	auto := []string{"pre_auto_compact", "auto_compact", "post_auto_compact"}
	for _, c := range []struct {
		on   policy.Event
		says policy.Result
		want []string
	}{
		{policy.PreMicroCompact, stop, micro[:1]},
		{policy.PreMicroCompact, denies, append(micro[:1:1], auto...)},
		{policy.PreAutoCompact, stop, append(micro[:3:3], auto[0])},
		{policy.PreAutoCompact, policy.Result{}, append(micro[:3:3], auto...)},
	} {
		out, got := pipeline(t, "compact", c.on, c.says, policy.NewContext(""))
		assert.Equal(t, [][]string{c.want}, got)
		assert.Equal(t, policy.NoLabel, out.Break)
	}
}

// Law 32. Killed by a skip that left the batch.
func TestLaw32SkipLeavesSiblingsAlone(t *testing.T) {
	this, other := policy.NewContext("").Set(policy.FieldToolName, "Bash"), policy.NewContext("").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolUseID, "other")
	whole := []string{"pre_tool_execution", "tool", "post_tool_execution"}
	for _, c := range []struct {
		says   policy.Result
		want   [][]string
		leaves policy.Label
	}{
		{policy.Result{Control: policy.Skip}, [][]string{whole, whole[:1], whole}, ""},
		{denies, [][]string{whole, whole[:1], whole}, ""},
		{policy.Result{Control: policy.Stop}, [][]string{whole, whole[:1], nil}, ""},
		{policy.Result{Control: policy.Halt}, [][]string{whole, whole[:1], nil}, policy.LabelTurn},
	} {
		out, got := pipeline(t, "tool.batch", policy.PreToolExecution, c.says, other, this, other)
		assert.Equal(t, c.want, got)
		assert.Equal(t, c.leaves, out.Break)
	}
}
