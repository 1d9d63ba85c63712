//go:build unix

package paths

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestProgramOfNoProject: a program of the folders, or of a project around one, is never
// the one that PATH names, however it is written; one from elsewhere is.
func TestProgramOfNoProject(t *testing.T) {
	outer, other := t.TempDir(), t.TempDir()
	folder := filepath.Join(outer, "middle", "folder")
	link := filepath.Join(t.TempDir(), "link")
	for _, dir := range []string{filepath.Join(outer, ".git"), filepath.Join(folder, "bin"), filepath.Join(outer, "bin")} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	require.NoError(t, os.Symlink(outer, link))
	for _, dir := range []string{filepath.Join(folder, "bin"), filepath.Join(outer, "bin"), other} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\n"), 0o755))
	}
	t.Chdir(outer)
	for _, from := range []string{folder, folder + "/.", filepath.Join(link, "middle", "folder")} {
		for _, in := range []string{filepath.Join(folder, "bin"), filepath.Join(outer, "bin"), filepath.Join(link, "bin"), outer + "/x/../bin", "bin", "./bin", ""} {
			t.Setenv("PATH", in)
			_, err := Program("tool", from)
			assert.Error(t, err, "%s from %s", in, from)
			t.Setenv("PATH", strings.Join([]string{in, other}, ":"))
			got, err := Program("tool", from)
			require.NoError(t, err)
			assert.Equal(t, filepath.Join(other, "tool"), got)
		}
	}
	t.Setenv("PATH", "/usr/bin:/bin")
	_, err := Program("sh", "/usr", "/")
	assert.NoError(t, err, "the system is no project")
}
