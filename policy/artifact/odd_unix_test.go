//go:build unix

package artifact

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whatever is in the place of a source, a snapshot of it ends: without the fixes
// this test does not.
func TestSnapshotsEnd(t *testing.T) {
	dir := t.TempDir()
	made := map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"large": func(path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 1<<40)
		},
	}
	for name, make := range made {
		path := filepath.Join(dir, name)
		require.NoError(t, make(path))
		list, _, err := Snapshot([]string{path}, old())
		require.NoError(t, err, name)
		require.Len(t, list, 1)
		assert.Empty(t, list[0].differs(), name)
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.WriteFile(path, []byte("a file"), 0o600))
		assert.NotEmpty(t, list[0].differs(), "%s is a file now", name)
	}
}
