package hookc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// What a project sets for a whole event, or for a whole policy, weakens no firm guard
// of its user: whatever the strategy, the order and the limits, the guard's refusal
// refuses, also of what a hook of the project made of a call.
func TestProjectsWeakenNoFirmGuard(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	guards := map[string]string{
		"rule":   `{name: mine, locked: true, recheck: true, deny: 'command contains "rm -rf"', reason: "no"}`,
		"script": `{name: mine, locked: true, recheck: true, pure: true, writes: [], command: 'if grep -q "rm -rf"; then echo "{\"decision\":\"deny\"}"; fi'}`,
	}
	hooks := map[string]string{
		"allows":  `{name: x, priority: 999999999, allow: "true"}`,
		"changes": `{name: x, set: {tool_input.command: '"rm -rf /"'}, allow: "true"}`,
	}
	strategies := append(policy.StrategyNames(), "")
	for _, d := range agent.All() {
		strategies = append(strategies, string(d.ID))
	}
	for kind, guard := range guards {
		strategies := strategies
		if kind == "script" { // takes a process a call
			strategies = []string{"", "first", "observe"}
		}
		user := put(kind+".yaml", "pre_tool_execution:\n  - "+guard+"\n")
		for what, hook := range hooks {
			for i, strategy := range strategies {
				for order, limit := range map[string]string{"priority": "", "": "chain_timeout: 1ms"} {
					event := slices.DeleteFunc([]string{"strategy: " + strategy, "order: " + order, limit, "hooks: [" + hook + "]"},
						func(s string) bool { return s == "" || strings.HasSuffix(s, ": ") })
					text := "pre_tool_execution: {" + strings.Join(event, ", ") + "}\n"
					if limit != "" {
						text = "defaults: {chain_timeout: 1ms, max_concurrent: 1, max_models: 1}\n" + text
					}
					project := put(fmt.Sprintf("%s-%s-%d-%s-%d.yaml", kind, what, i, order, len(limit)), text)
					eng, err := hookc.Open(t.Context(), hookc.Files("user="+user, project))
					require.NoError(t, err, text)
					d, err := eng.PreTool(t.Context(), hookc.Call{Tool: "Bash", Input: map[string]any{"command": "rm -rf /"}})
					require.NoError(t, err)
					assert.False(t, d.Permits(), "%s, %s: %+v", kind, text, d)
					d, err = eng.PreTool(t.Context(), hookc.Call{Tool: "Bash", Input: map[string]any{"command": "ls"}})
					require.NoError(t, err)
					assert.False(t, d.Permits() && strings.Contains(fmt.Sprint(d.Patch), "rm -rf"), "%s, %s: %+v", kind, text, d)
					require.NoError(t, eng.Close())
				}
			}
		}
	}
}

// Where the first answer counts, that of the guard of hookc itself comes first, by
// whatever the hooks are ordered.
func TestSelfGuardComesFirst(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"tier", "priority"} {
		path := filepath.Join(t.TempDir(), "hooks.yaml")
		require.NoError(t, os.WriteFile(path, []byte("pre_tool_execution:\n  strategy: first\n  order: "+order+"\n  hooks:\n"+
			"    - {name: x, priority: 2147483647, locked: true, allow: \"true\"}\n"), 0o600))
		eng, err := hookc.Open(t.Context(), hookc.Files(path))
		require.NoError(t, err)
		d, err := eng.PreTool(t.Context(), hookc.Call{Tool: "Write", Input: map[string]any{"file_path": path, "content": "{}"}})
		require.NoError(t, err)
		assert.False(t, d.Permits(), "%s: %+v", order, d)
		require.NoError(t, eng.Close())
	}
}
