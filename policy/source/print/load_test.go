package print

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
)

// realDir is a folder of a test without symbolic links.
func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

// loadTree lays out files of a txtar text, or one hooks.yaml, and loads
// hooks.yaml from disk.
func loadTree(t *testing.T, text string) (string, *policy.Policy, diag.List) {
	t.Helper()
	dir := realDir(t)
	archive := txtar.Parse([]byte(text))
	if len(archive.Files) == 0 {
		archive.Files = []txtar.File{{Name: "hooks.yaml", Data: []byte(text)}}
	}
	for _, f := range archive.Files {
		path := filepath.Join(dir, f.Name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, f.Data, 0o600))
	}
	p, found := source.Load(source.Options{Inputs: []source.Input{{Path: filepath.Join(dir, "hooks.yaml"), Tier: policy.TierProject}}, Dir: dir})
	return dir, p, found
}
