package rego

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// What native code left to topdown, or took too long for, is no evidence: code
// that decided nothing does not go into a compiled policy, and is not read from
// one.
func TestEvidence(t *testing.T) {
	c := new(Compiler)
	always := inline("h", policy.PreToolExecution, "package p\ndeny contains \"x\" if to_number(concat(\"\", [\"no\", \"number\"])) == 1")
	n, engine := compiled(t, always).Native()
	require.NotNil(t, n, engine)
	require.Empty(t, n.Verify(always).Render())
	assert.Zero(t, n.evidence.answered, "%+v", n.evidence)
	assert.Positive(t, n.evidence.left)
	assert.False(t, n.Compared())
	assert.Nil(t, c.Load(always, n.Append(nil)))

	h := inline("h", policy.PreToolExecution, "package p\ndeny contains \"x\" if input.tool_input.n == \"7\"\nask contains \"y\" if to_number(input.tool_input.n) == 8")
	n, engine = compiled(t, h).Native()
	require.NotNil(t, n, engine)
	require.Empty(t, n.Verify(h).Render())
	assert.Positive(t, n.evidence.answered)
	assert.Positive(t, n.evidence.left, "a text that is no number is topdown's to fail for")
	require.NotNil(t, c.Load(h, n.Append(nil)))
	for name, e := range map[string]evidence{
		"nothing":         {engines: engines()},
		"all left":        {left: 40, engines: engines()},
		"all too long":    {late: 40, engines: engines()},
		"another OPA":     {answered: 40, engines: "OPA 1.0.0, native 0"},
		"left and late":   {left: 20, late: 20, engines: engines()},
		"none, no engine": {answered: 40},
	} {
		n.evidence = e
		assert.False(t, n.Compared(), name)
		assert.Nil(t, c.Load(h, n.Append(nil)), name)
	}
}
