package fleet

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
)

// TestVersions: hookcd decides with the OPA, the expr and the YAML reader that
// hookc decides with, so that one policy means the same in both.
func TestVersions(t *testing.T) {
	own, above := versions(t, "go.mod"), versions(t, "../go.mod")
	for _, module := range []string{"github.com/open-policy-agent/opa", "github.com/expr-lang/expr", "gopkg.in/yaml.v3", "mvdan.cc/sh/v3", "github.com/bmatcuk/doublestar/v4"} {
		require.NotEmpty(t, above[module], module)
		assert.Equal(t, above[module], own[module], module)
	}
}

func versions(t *testing.T, path string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	file, err := modfile.Parse(path, text, nil)
	require.NoError(t, err)
	out := map[string]string{}
	for _, r := range file.Require {
		out[r.Mod.Path] = r.Mod.Version
	}
	return out
}

// TestDecides: the module decides by the hookc beside it.
func TestDecides(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hooks.yaml")
	require.NoError(t, os.WriteFile(path, []byte("pre_tool_execution:\n  - {deny: 'command == \"x\"', reason: no}\n"), 0o600))
	eng, err := hookc.Open(t.Context(), hookc.Files(path))
	require.NoError(t, err)
	defer eng.Close()
	d, err := eng.Fire(context.Background(), policy.PreToolExecution, policy.NewContext(policy.PreToolExecution).
		Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "x"}))
	require.NoError(t, err)
	assert.Equal(t, policy.Deny, d.Verdict)
}
