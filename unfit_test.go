package hookc_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
)

// A guarded call that names no tool, or hides a word behind a NUL, is refused
// with an error on every road, and never one that no hook concerns.
func TestUnfitCallsAreRefused(t *testing.T) {
	eng := engine(t, `
pre_tool_execution: [{name: shell, filter: {tool_name: Bash}, deny: 'command contains "rm -rf"', reason: "no"}]
permission_request: [{name: ask, filter: {tool_name: Bash}, deny: 'command contains "rm -rf"', reason: "no"}]
`)
	for _, event := range []policy.Event{hookc.PreToolExecution, hookc.PermissionRequest} {
		for _, text := range []string{
			`{"tool_input":{"command":"rm -rf /"}}`,
			`{"TOOL_NAME":"Bash","tool_input":{"command":"rm -rf /"}}`,
			`{"tool_name":"","tool_input":{"command":"rm -rf /"}}`,
			`{"tool_calls":[{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}]}`,
			`{"tool_name":"Bash\u0000","tool_input":{"command":"rm -rf /"}}`,
			`{"tool_name":"Bash","tool_input":{"command":"rm \u0000-rf /"}}`,
			`{"tool_name":"Bash","tool_input":{"x":[{"y":"a\u0000b"}]}}`,
			`{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_arguments":"{\"command\":\"rm -rf /\"}"}`,
			`{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_arguments":"no object"}`,
		} {
			d, err := eng.FireJSON(t.Context(), event, []byte(text))
			require.Error(t, err, text)
			assert.Equal(t, policy.Block, d.Action, text)
			in, _, err := policy.DecodeContext([]byte(text))
			if err != nil {
				continue // which the host is told before
			}
			for _, fire := range []func() (*policy.Decision, error){
				func() (*policy.Decision, error) { return eng.Fire(t.Context(), event, in) },
				func() (*policy.Decision, error) { return eng.FireSerial(t.Context(), event, in) },
				func() (*policy.Decision, error) { return eng.FireInto(t.Context(), event, in, new(hookc.Reused)) },
			} {
				d, err := fire()
				var unfit *hookc.UnfitError
				require.ErrorAs(t, err, &unfit, text)
				assert.Equal(t, policy.Block, d.Action, text)
			}
		}
		d, err := eng.FireJSON(t.Context(), event, []byte(`{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_arguments":"{\"command\":\"ls\"}"}`))
		require.NoError(t, err)
		assert.Equal(t, policy.Proceed, d.Action, "the same twice is no conflict")
	}
	d, err := eng.PreTool(t.Context(), hookc.Call{Input: map[string]any{"command": "rm -rf /"}})
	require.Error(t, err)
	assert.Equal(t, policy.Block, d.Action)
	_, err = eng.Run(t.Context(), "tool", nil, policy.NewContext("").Set(policy.FieldToolInput, map[string]any{"command": "rm -rf /"}))
	require.Error(t, err)
}
