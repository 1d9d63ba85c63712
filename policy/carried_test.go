package policy

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFrozenCarries: what a host sends beyond the event's row is not present,
// however it was sent; an event of the host's own carries everything.
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
		assert.Len(t, c.Frozen("ext.Own").Fields(), 7, name)
		assert.Len(t, c.Whole(PreToolExecution).Fields(), 7, name)
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
	assert.Equal(t, "be kind", got.Text(FieldSystemPrompt))
	v, _ := got.Get(FieldToolInput)
	assert.Equal(t, map[string]any{"a": 2}, v)
}
