package executor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// toolPlan has a hook on each of the tools and one that asks a filter.
func toolPlan(t *testing.T, tools []string, asked *int) *dag.Plan {
	var hooks []hook
	for _, tool := range tools {
		hooks = append(hooks, hook{name: tool, kind: policy.KindExpr, writes: []string{}})
	}
	hooks = append(hooks, hook{name: "residue", kind: policy.KindExpr, writes: []string{}})
	plan := planOf(t, policy.PreToolExecution, policy.Chain, hooks...)
	plan.Index = dag.Index{Exact: map[string][]int{}, Always: []int{len(tools)}}
	on := func(test func(string) bool) *policy.Matcher {
		return &policy.Matcher{Atoms: []policy.Atom{{Field: policy.FieldToolName, Reads: []policy.Field{policy.FieldToolName},
			Test: func(c *policy.Context) bool { return c.Has(policy.FieldToolName) && test(c.Text(policy.FieldToolName)) }}}}
	}
	for i, tool := range tools {
		plan.Index.Exact[tool] = []int{i}
		plan.Nodes[i].Matcher = on(func(s string) bool { return s == tool })
	}
	plan.Nodes[len(tools)].Matcher = on(func(s string) bool {
		*asked++
		return strings.Contains(s, "x")
	})
	return plan
}

func TestPickAsksFiltersOnceANameAndPicksExactly(t *testing.T) {
	asked := 0
	k := newPicker(toolPlan(t, []string{"Bash", "Edit"}, &asked), nil)
	in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Bash")
	asked = 0
	for range 3 {
		assert.Equal(t, []int{0}, k.pick(in).list)
	}
	assert.Equal(t, 1, asked, "what a filter says of a name is remembered")
	assert.Equal(t, []int{2}, k.tool("x").list)
	assert.Equal(t, []int32{2}, k.tool("x").items)
	assert.Empty(t, k.tool("none").list)
	assert.Same(t, k.rest, k.tool("none"))
	assert.Empty(t, k.pick(policy.NewContext(policy.PreToolExecution)).list, "an event without a tool")
	odd := policy.NewContext(policy.PreToolExecution).With(policy.Replace(policy.Path{Field: policy.FieldToolName}, 7))
	assert.Equal(t, []int{0, 1, 2}, k.pick(odd).list, "no name at all settles nothing")
}

// Names are the agent's, and so an attacker's: however many are sent, what is
// remembered is bounded in number and in size, and stays right.
func TestPickRemembersABoundedNumberOfNames(t *testing.T) {
	asked := 0
	k := newPicker(toolPlan(t, []string{"Bash"}, &asked), nil)
	for i := range 100_000 {
		assert.Same(t, k.rest, k.tool(fmt.Sprint("tool", i)))
	}
	long := strings.Repeat("x", longestTool+1)
	assert.Equal(t, []int{1}, k.tool(long).list)
	for i := range k.known {
		if known := k.known[i].Load(); known != nil {
			assert.LessOrEqual(t, len(known.name), longestTool)
		}
	}
	assert.Equal(t, []int{0}, k.tool("Bash").list)
}

// A filter on the tool's name alone is not asked again of an event whose name
// has been; one without a name, or with something else in its place, is.
func TestFiltersOfANameAreAskedWhereItIsNone(t *testing.T) {
	asked := 0
	plan := toolPlan(t, []string{"Bash"}, &asked)
	x := pipelines(plan)
	for _, c := range []struct {
		tool any
		want []policy.Status
	}{
		{"Bash", []policy.Status{ran, policy.StatusFiltered}},
		{"x", []policy.Status{policy.StatusFiltered, ran}},
		{"none", []policy.Status{policy.StatusFiltered, policy.StatusFiltered}},
		{7, []policy.Status{policy.StatusFiltered, policy.StatusFiltered}},
		{nil, []policy.Status{policy.StatusFiltered, policy.StatusFiltered}},
	} {
		in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, c.tool)
		assert.Equal(t, c.want, statuses(x.Fire(t.Context(), policy.PreToolExecution, in)), "%v", c.tool)
	}
	// Names share places, which chance deals out: another may have taken that of "x".
	in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "x")
	x.Fire(t.Context(), policy.PreToolExecution, in)
	asked = 0
	for range 3 {
		x.Fire(t.Context(), policy.PreToolExecution, in)
	}
	assert.Zero(t, asked)
}
