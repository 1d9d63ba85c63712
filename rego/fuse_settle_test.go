package rego

import (
	"context"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// What the index has decided is not tested again; what it has not, and what
// authors test, stays.
func TestGuardsTheIndexSettles(t *testing.T) {
	f := fused(t,
		offered(t, "one", tools("Bash"), `deny contains "a" if contains(input.tool_input.command, "x")`),
		offered(t, "several", tools("Bash", "Edit"), `deny contains "b" if contains(input.tool_input.command, "y")`),
		offered(t, "fact", tools("Edit"), `deny contains "c"`),
		offered(t, "unfiltered", nil, `deny contains "d" if input.tool_name == "Bash"`),
		offered(t, "inexact", matching(), `deny contains "e"`),
		offered(t, "twice", tools("Bash"), `deny contains "f" if input.tool_name in {"Edit", "Write"}`),
	)
	var got []string
	for _, r := range f.compiler.Modules[fusedRoot].Rules {
		got = append(got, r.Body.String())
	}
	assert.Equal(t, []string{
		`__local0__ = input.tool_input.command; contains(__local0__, "x")`,
		`__local0__ = input.tool_input.command; contains(__local0__, "y")`,
		`true`,
		`input.tool_name = "Bash"`,
		`input["hookc chosen"]["4"]; true`,
		`__local0__ = input.tool_name; internal.member_2(__local0__, {"Edit", "Write"})`,
	}, got)
}

// The index is asked about one field at a time: it leaves a rule out for what the
// rule demands of that field, in a form that it understands.
func TestUnsettled(t *testing.T) {
	c := ast.MustCompileModules(map[string]string{"x": `package x
out contains 0 if { input.tool_name == "Bash"; input.source in {"a", "b"} }
out contains 1 if { lower(input.tool_name) == "bash"; input.source == "a" }
out contains 2`})
	node := c.RuleTree.Find(ast.MustParseRef("data.x.out"))
	open := func(f policy.Field) (out []string) {
		rules := unsettled(node.Index, f)
		for _, r := range c.Modules["x"].Rules {
			if rules[r] {
				out = append(out, r.Head.Key.String())
			}
		}
		return out
	}
	assert.Equal(t, []string{"1", "2"}, open(policy.FieldToolName))
	assert.Equal(t, []string{"2"}, open(policy.FieldSource))
	assert.Equal(t, []string{"0", "1", "2"}, open(policy.FieldReason))
}

// A rule whose guard is not tested any more is not evaluated where it fails to
// hold: it would fail, and with it the fusion.
func TestSettledGuardsKeepRulesOut(t *testing.T) {
	f := fused(t,
		offered(t, "fails", tools("Edit", "Write"), `deny contains "a" if to_number(input.tool_input.command) == 1`),
		offered(t, "well", tools("Bash"), `deny contains "b" if input.tool_input.command == "x"`),
	)
	run := func(tool string, chosen int) ([]dag.FusedSaid, error) {
		said := make([]dag.FusedSaid, 1)
		err := f.Run(context.Background(), call(tool, map[string]any{"command": "x"}), []int{chosen}, said)
		return said, err
	}
	said, err := run("Bash", 1)
	require.NoError(t, err)
	require.NotNil(t, said[0].Result)
	assert.Equal(t, policy.Deny, said[0].Result.Verdict)
	_, err = run("Edit", 0)
	assert.Error(t, err)
}
