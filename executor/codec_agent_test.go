package executor

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// TestCodecKeepsAgentAnswers: an answer in an agent's words is remembered
// whole, and so is what of a patch only hooks saw.
func TestCodecKeepsAgentAnswers(t *testing.T) {
	c := newCodec(&dag.Program{})
	input := policy.Path{Field: policy.FieldToolInput}
	a := &Answer{Result: policy.Result{
		Patch: policy.Replace(input, map[string]any{"a": 1}).Transient().Then(policy.Replace(policy.Path{Field: policy.FieldToolInput, Keys: []string{"b"}}, "x")),
		Agent: []policy.AgentAnswer{{Void: true}, {By: policy.By{Name: "h"}, Value: map[string]any{"decision": "deny", "n": 1.5}, Verdict: policy.Deny, Control: policy.Halt}},
	}}
	data, err := c.encode(a)
	require.NoError(t, err)
	got, err := c.decode(data)
	require.NoError(t, err)
	assert.Equal(t, a.Result.Agent, got.Result.Agent)
	assert.Equal(t, a.Result.Patch, got.Result.Patch)
	assert.True(t, got.Result.Void())
	_, err = c.decode([]byte(`{"inject":null,"native":[{"value":[],"verdict":0}]}`))
	assert.ErrorIs(t, err, errDamaged)
}
