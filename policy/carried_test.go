package policy

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFrozenCarries: what a host sends beyond the event's row is in raw, however it
// was sent; an event of the host's own carries everything.
func TestFrozenCarries(t *testing.T) {
	sent := `{"event": "pre_tool_execution", "tool_name": "Bash", "user_input": "x", "messages": [], "level": "l", "step_count": 1, "other": 2}`
	in, _, err := DecodeContext([]byte(sent))
	require.NoError(t, err)
	filled := NewContext("").
		Set(FieldToolName, "Bash").
		Set(FieldUserInput, "x").
		Set(FieldMessages, []any{}).
		Set(FieldLevel, "l").
		Set(FieldStepCount, 1).
		Set(FieldRaw, map[string]any{"other": 2})
	for name, c := range map[string]*Context{"sent": in, "filled in": filled} {
		assert.Equal(t, []Field{FieldEvent, FieldToolName, FieldRaw}, c.Frozen(PreToolExecution).Fields(), name)
		raw, _ := c.Frozen(PreToolExecution).Get(FieldRaw)
		assert.Equal(t, map[string]any{"other": 2, "user_input": "x", "messages": []any{}, "level": "l", "step_count": 1}, raw, name)
		assert.Len(t, c.Frozen("ext.Own").Fields(), 7, name)
		assert.Len(t, c.Whole(PreToolExecution).Fields(), 7, name)
	}
	for text, want := range map[string]map[string]any{
		`{"tool_name":"a","prompt":"x"}`:                            {"prompt": "x"},
		`{"tool_name":"a","prompt":"x","user_input":"y"}`:           {"prompt": "x", "user_input": "y"},
		`{"tool_name":"a","raw":{"user_input":1},"user_input":"y"}`: {"raw": map[string]any{"user_input": 1}, "user_input": "y"},
		`{"tool_name":"a","raw":{"b":1},"user_input":"y"}`:          {"b": 1, "user_input": "y"},
		`{"tool_name":"a","user_input":null}`:                       nil,
	} {
		c, _, err := DecodeContext([]byte(text))
		require.NoError(t, err)
		raw, _ := c.Frozen(PreToolExecution).Get(FieldRaw)
		got, _ := raw.(map[string]any)
		assert.Equal(t, want, got, text)
	}
	own := in.Frozen(PreToolExecution)
	assert.Same(t, own, own.Frozen(PreToolExecution), "nothing to take away")
}

// TestCarry: what an event does not carry is there again for the next one,
// what it changed stays changed.
func TestCarry(t *testing.T) {
	before := NewContext("").Set(FieldToolName, "Bash").Set(FieldSystemPrompt, "be kind").Set(FieldToolInput, map[string]any{"a": 1}).Whole(PreToolExecution)
	after := before.Frozen(PreToolExecution).With(Merge(FieldToolInput, map[string]any{"a": 2}))
	assert.False(t, after.Has(FieldSystemPrompt))
	got := after.Carry(before, PreToolExecution)
	assert.False(t, got.Has(FieldRaw))
	assert.Equal(t, "be kind", got.Text(FieldSystemPrompt))
	v, _ := got.Get(FieldToolInput)
	assert.Equal(t, map[string]any{"a": 2}, v)
}
