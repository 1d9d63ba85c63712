package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExplainRules: with --rules nothing is started, whatever of it the policy has.
func TestExplainRules(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	path := filepath.Join(dir, "hooks.yaml")
	require.NoError(t, os.WriteFile(path, []byte("pre_tool_execution:\n  - {name: first, command: 'touch "+ran+"'}\n  - {name: beside, async: true, command: 'touch "+ran+"'}\n"+
		"  - {name: last, type: expr, deny: 'command contains \"x\"', reason: no}\n"), 0o600))
	for _, flags := range [][]string{{"--rules"}, {"--rules", "--json"}} {
		root := newRoot()
		var out strings.Builder
		root.SetOut(&out)
		root.SetErr(&out)
		root.SetIn(strings.NewReader(`{"event":"pre_tool_execution","tool_name":"Bash","tool_input":{"command":"x"}}`))
		root.SetArgs(append([]string{"explain", "-f", path, "--input=-"}, flags...))
		require.NoError(t, root.Execute())
		assert.Contains(t, out.String(), "last")
		assert.NoFileExists(t, ran)
	}
}
