package executor

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/executor/durable"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// FuzzCodec: a remembered answer that somebody wrote is refused, or becomes a
// Decision that can be printed, and is written as it was read.
func FuzzCodec(f *testing.F) {
	plan := planOf(nil, policy.PreToolExecution, policy.Chain, hook{name: "a", run: quiet})
	source := diag.NewSource("hooks.yaml", "pre_tool_execution:\n  - {name: a}\n")
	plan.Nodes[0].Hook.Span = diag.Span{Source: source, Start: 24, End: 33}
	prog := programOf(plan)
	c := newCodec(prog)
	full, err := c.encode(&Answer{
		Result: policy.Result{Verdict: policy.Deny, VerdictBy: policy.By{Name: "a", At: plan.Nodes[0].Hook.Span}, Context: []string{"c"}, Inject: []any{map[string]any{"role": "user"}},
			Reasons: []policy.Reason{{Text: "no", Hook: "a", At: plan.Nodes[0].Hook.Span}}, ToolConfig: &policy.ToolConfig{Mode: "ANY", Names: []string{"x"}},
			Patch:    policy.Replace(policy.Path{Field: policy.FieldToolInput, Keys: []string{"command"}}, "ls"),
			Warnings: []policy.Warning{*durable.Dropped(&policy.Hook{Name: "a"}, "t")}},
		Hooks: []policy.HookTrace{{TracedHook: &policy.TracedHook{Name: "a", At: plan.Nodes[0].Hook.Span}, Status: policy.StatusRan, Verdict: policy.Deny, Attempts: 1}},
	})
	require.NoError(f, err)
	f.Add(full)
	for _, s := range []string{"{}", "null", `{"verdict":9}`, `{"inject":1,"edits":[{"field":"tool_name","keys":["a"],"value":1}]}`,
		`{"inject":null,"hooks":[{"verdict":77,"control":9,"hook":{"file":"hooks.yaml","start":-5,"end":999}}],"verdict_by":{"file":"hooks.yaml","start":99,"end":1}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := c.decode(data)
		if err != nil {
			return
		}
		in := call("t1", "ls").Frozen(plan.Event)
		d := decide(prog, plan, in, in.With(a.Result.Patch), a)
		_, err = d.MarshalJSON()
		require.NoError(t, err)
		written, err := c.encode(a)
		require.NoError(t, err)
		again, err := c.decode(written)
		require.NoError(t, err)
		require.Equal(t, a, again)
	})
}
