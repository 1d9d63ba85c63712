package programs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPrograms: both programs run, and a second build is the same folder with the
// same files.
func TestPrograms(t *testing.T) {
	out, err := exec.Command(Hookc(t), "version").Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "hookc")
	assert.FileExists(t, Hookgate(t))
	before, err := os.Stat(Hookc(t))
	require.NoError(t, err)
	again, err := build()
	require.NoError(t, err)
	assert.Equal(t, Dir(t), again)
	after, err := os.Stat(Hookc(t))
	require.NoError(t, err)
	assert.Equal(t, before.ModTime(), after.ModTime())
}

// TestKept: a path keeps its program while the workshop gets the next one, and
// what was not used for days is deleted.
func TestKept(t *testing.T) {
	root := t.TempDir()
	workshop := filepath.Join(root, "build-x")
	require.NoError(t, os.Mkdir(workshop, 0o755))
	fill := func(from string) {
		for _, name := range names {
			text, err := os.ReadFile(from)
			require.NoError(t, err)
			_ = os.Remove(filepath.Join(workshop, name)) // as go build does
			require.NoError(t, Write(filepath.Join(workshop, name), text))
		}
	}
	fill(Hookc(t))
	first, err := keep(root, workshop)
	require.NoError(t, err)
	fill(Hookgate(t))
	second, err := keep(root, workshop)
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	for dir, from := range map[string]string{first: Hookc(t), second: Hookgate(t)} {
		want, err := os.Stat(from)
		require.NoError(t, err)
		got, err := os.Stat(filepath.Join(dir, "hookc"))
		require.NoError(t, err)
		assert.Equal(t, want.Size(), got.Size())
	}
	old := time.Now().Add(-2 * unusedFor)
	require.NoError(t, os.Chtimes(first, old, old))
	_, err = keep(root, workshop)
	require.NoError(t, err)
	assert.NoDirExists(t, first)
	assert.DirExists(t, second)
}
