package hookc_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
)

// TestNarrowedEngine: an engine of one event keeps the hooks of that event,
// also for what is compiled later, and refuses to add to an event whose hooks
// it has not kept: the rest of that event's chain would be missing.
func TestNarrowedEngine(t *testing.T) {
	text := "pre_tool_execution:\n  - {name: guard, deny: 'command contains \"rm\"', reason: \"no\"}\n" +
		"stop:\n  - {name: gate, deny: 'assistant_output contains \"todo\"', reason: \"go on\"}\n"
	whole, err := hookc.Open(t.Context(), hookc.Text("hooks.yaml", text))
	require.NoError(t, err)
	defer whole.Close()
	eng, err := hookc.Open(t.Context(), hookc.Text("hooks.yaml", text), host.Compiler[hookc.Option](func(c *compiler.Config) { c.Event = hookc.PreToolExecution }))
	require.NoError(t, err)
	defer eng.Close()
	decide := func(eng *hookc.Engine, command string) []string {
		t.Helper()
		d, err := eng.Fire(context.Background(), hookc.PreToolExecution, policy.NewContext("").Set(policy.FieldSessionID, "s").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": command}))
		require.NoError(t, err)
		return d.Reasons
	}
	assert.Equal(t, whole.Program().Hash, eng.Program().Hash)
	assert.Equal(t, []string{"no"}, decide(eng, "rm x"))

	own := eng.Session("s")
	index, err := own.Register(hookc.Hook{Name: "own", Event: "pre_tool_execution", Deny: `command contains "ls"`, Reason: "nor that"})
	require.NoError(t, err)
	assert.Equal(t, [][]string{{"no"}, {"nor that"}}, [][]string{decide(eng, "rm x"), decide(eng, "ls")})
	_, err = own.Register(hookc.Hook{Event: "stop", Deny: `true`})
	assert.EqualError(t, err, "hookc: the engine decides pre_tool_execution alone, and keeps no hooks of stop")
	require.NoError(t, eng.Reload(t.Context()))
	assert.Equal(t, [][]string{{"no"}, {"nor that"}}, [][]string{decide(eng, "rm x"), decide(eng, "ls")})
	require.NoError(t, own.Remove(index))
	assert.Equal(t, [][]string{{"no"}, nil}, [][]string{decide(eng, "rm x"), decide(eng, "ls")})
}
