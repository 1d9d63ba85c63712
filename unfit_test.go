package hookc_test

import (
	"encoding/json"
	"strings"
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

// A hook hides no word behind a NUL from the rules after it: such a change is a failure
// of the hook, whatever its kind and wherever in the call it is, and is not made.
func TestHooksMakeNoUnfitCalls(t *testing.T) {
	t.Parallel()
	says := func(text string) string { return "cat <<'END'\n" + text + "\nEND\n" }
	for kind, hook := range map[string]map[string]any{
		"script":      {"command": says(`{"tool_input":INPUT}`)},
		"replacement": {"command": says(`{"modified_input":INPUT}`)},
		"another's":   {"protocol": "claude", "command": says(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":INPUT}}`)},
		"expr":        {"set": map[string]any{"tool_input": `INPUT`}},
		"rego":        {"source": "package x\n\npatch := {\"tool_input\": INPUT}\n"},
		"result":      {"source": "package x\n\nresult := {\"modified_input\": INPUT}\n"},
	} {
		for _, input := range []string{`{"command":"rm -r\u0000f /"}`, `{"command":"ls","a\u0000b":"rm -rf /"}`, `{"command":"ls","x":["y",{"z":"\u0000"}]}`} {
			hook["name"] = "x"
			list, err := json.Marshal([]any{hook, map[string]any{"name": "rm", "recheck": true, "deny": `command contains "rm -rf"`, "reason": "no"}})
			require.NoError(t, err)
			quoted, err := json.Marshal(input)
			require.NoError(t, err)
			text := `{"pre_tool_execution":` + strings.ReplaceAll(string(list), "INPUT", string(quoted[1:len(quoted)-1])) + "}"
			eng := engine(t, text)
			event := []byte(`{"tool_name":"Bash","tool_input":{"command":"ls"}}`)
			in, _, err := policy.DecodeContext(event)
			require.NoError(t, err)
			for road, fire := range map[string]func() (*policy.Decision, error){
				"Fire":       func() (*policy.Decision, error) { return eng.Fire(t.Context(), hookc.PreToolExecution, in) },
				"FireSerial": func() (*policy.Decision, error) { return eng.FireSerial(t.Context(), hookc.PreToolExecution, in) },
				"FireJSON":   func() (*policy.Decision, error) { return eng.FireJSON(t.Context(), hookc.PreToolExecution, event) },
			} {
				d, err := fire()
				require.NoError(t, err)
				assert.Empty(t, d.Patch, "%s by %s: %s", kind, road, text)
				if assert.Len(t, d.Failed, 1, "%s by %s: %+v", kind, road, d) {
					assert.Contains(t, d.Failed[0].Error, "NUL", "%s by %s", kind, road)
					assert.Equal(t, policy.StatusFailed, d.Hooks[0].Status, "%s by %s", kind, road)
				}
			}
		}
	}
}
