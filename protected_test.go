package hookc_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/state"
)

// userFiles are the settings of every agent below a home and hookc's own files there, as
// an environment has them.
func userFiles(t *testing.T, home string, getenv func(string) string) []string {
	t.Helper()
	out := []string{filepath.Join(state.Place(getenv, home), "any", "trust.json")}
	for _, d := range agent.All() {
		place, err := d.Settings()
		if err != nil {
			continue
		}
		for i := range place.Files {
			if f := &place.Files[i]; f.Base == agent.Home && !strings.Contains(f.Path, "*") {
				out = append(out, f.Where(home, "", getenv))
			}
		}
	}
	require.Greater(t, len(out), 10)
	return out
}

// Whatever variables an agent was given, it writes neither the settings that agents read
// without them nor those that they read with them.
func TestRealSettingsStayProtected(t *testing.T) {
	account := paths.Account()
	require.NotEmpty(t, account)
	variables := []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "CLAUDE_PROJECT_DIR"}
	for _, d := range agent.All() {
		for _, f := range d.Files {
			if f.Env != "" && !slices.Contains(variables, f.Env) {
				variables = append(variables, f.Env)
			}
		}
	}
	require.Greater(t, len(variables), 6)
	home, root := t.TempDir(), t.TempDir()
	file := filepath.Join(root, "p.yaml")
	require.NoError(t, os.WriteFile(file, []byte("pre_tool_execution:\n  - {name: no, locked: true, deny: 'tool_name == \"Nothing\"'}\n"), 0o600))
	none := func(string) string { return "" }
	for _, set := range append([][]string{variables, nil}, in1(variables)...) {
		t.Run(strings.Join(set, " "), func(t *testing.T) {
			t.Setenv("HOME", home)
			for _, v := range set {
				t.Setenv(v, filepath.Join(home, "elsewhere"))
			}
			eng, err := hookc.Open(t.Context(), hookc.Files("user="+file), hookc.Dir(root))
			require.NoError(t, err)
			defer eng.Close()
			files := append(userFiles(t, account, none), userFiles(t, os.Getenv("HOME"), os.Getenv)...)
			for _, name := range append(files, filepath.Join(account, ".config", "hookc", "hooks.yaml")) {
				d, err := eng.PreTool(t.Context(), hookc.Call{Tool: "Write", Input: map[string]any{"file_path": name, "content": "{}"}})
				require.NoError(t, err)
				assert.False(t, d.Permits(), name)
			}
		})
	}
}

// in1 is a list of lists of one.
func in1(all []string) [][]string {
	var out [][]string
	for _, s := range all {
		out = append(out, []string{s})
	}
	return out
}
