//go:build unix

package gate

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const selfPolicy = `rego: {data: [limits.json]}
pre_tool_execution:
  - {name: guard, locked: true, type: rego, file: guard.rego}
`

// TestGateColdGuardsItself: with the compiled policy alone, where no server runs,
// the gate refuses calls that would change the policy, what it consists of, or
// hookc's part in the agent, and lets others pass.
func TestGateColdGuardsItself(t *testing.T) {
	h := newGateHouse(t)
	h.write("guard.rego", "package hooks.guard\ndeny contains \"too long\" if count(input.command) > data.most\n")
	h.write("limits.json", `{"most": 1000}`)
	h.copyHookc()
	h.write("hooks.yaml", selfPolicy)
	h.compile()
	call := func(tool string, input map[string]any) string {
		text, err := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "session_id": "s", "cwd": h.project, "tool_name": tool, "tool_input": input})
		require.NoError(t, err)
		return string(text)
	}
	write := func(path string) string { return call("Write", map[string]any{"file_path": path, "content": "x"}) }
	bash := func(command string) string { return call("Bash", map[string]any{"command": command}) }
	at := func(name string) string { return filepath.Join(h.project, name) }
	for _, stdin := range []string{write(at("hooks.yaml")), write("hooks.yaml"), write(at("limits.json")), write(at("sub/../limits.json")), write(at("guard.rego")),
		write(at("policy.hookc")), write(at(".claude/settings.json")), write(filepath.Join(h.home, ".claude/settings.json")), write(h.hookc),
		write(filepath.Join(h.home, "state/hookc/trust/x")),
		bash("echo '{}' > limits.json"), bash("rm -f policy.hookc"), bash("mv guard.rego g"), bash("hookc uninstall claude"), bash("hookc trust --forget"),
		bash("cd sub && " + h.hookc + " trust --forget"), bash("hookc serve stop")} {
		got := h.cold(stdin, nil, "PreToolUse", "--dialect", "claude")
		assert.Equal(t, 2, got.Exit, "%s: %+v", stdin, got)
		assert.Contains(t, got.Stdout, `"permissionDecision":"deny"`, stdin)
		assert.NotContains(t, got.Stdout, "could not decide", stdin)
	}
	for _, stdin := range []string{write(at("main.go")), bash("ls"), bash("cat limits.json"), bash("hookc check"), call("Read", map[string]any{"file_path": at("limits.json")})} {
		assert.Equal(t, passed, h.cold(stdin, nil, "PreToolUse", "--dialect", "claude"), stdin)
	}
	_, err := h.status()
	assert.Error(t, err, "a server runs")
}
