package hookc_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy/artifact"
)

// A file that a glob under include would match makes a compiled policy stale,
// wherever it comes to be; the compiled policy itself does not.
func TestArtifactStaleByInclude(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("pre_tool_execution:\n  - {name: '"+name+"', deny: 'command == \"x\"', reason: no}\n"), 0o644))
	}
	source := filepath.Join(dir, "hooks.yaml")
	require.NoError(t, os.WriteFile(source, []byte("include: ['*.inc.yaml', 'more/**/*.yaml']\n"), 0o644))
	write("a.inc.yaml")
	write("more/a.yaml")
	path := filepath.Join(dir, "policy.hookc")
	compile := func() {
		x, found, err := hookc.NewArtifact(hookc.Files(source))
		require.NoError(t, err)
		require.NotNil(t, x, "%s", found.Render())
		require.NoError(t, x.WriteFile(path, nil))
	}
	fresh := func() error {
		_, _, err := hookc.Restore(hookc.Artifact(path))
		return err
	}
	compile()
	require.NoError(t, fresh(), "written beside its sources")
	compile()
	require.NoError(t, fresh(), "written again")
	for _, name := range []string{"b.inc.yaml", "more/b.yaml", "more/deep/er/b.yaml"} {
		write(name)
		assert.True(t, artifact.Stale(fresh()), name)
		compile()
		require.NoError(t, fresh(), name)
	}
}
