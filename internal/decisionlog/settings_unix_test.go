//go:build unix

package decisionlog

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is no settings file is none that was read: a pipe holds no decision up, a
// device and a file that is too large take no memory, and nothing guarded goes ahead
// unlogged.
func TestSettingsThatAreNoFile(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"large": func(path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 1<<40)
		},
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		home := t.TempDir()
		require.NoError(t, make(SettingsFile(home)))
		s, err := ReadSettings(home)
		assert.ErrorContains(t, err, SettingsFile(home), name)
		assert.Equal(t, "deny", s.OnError, name)
	}
}

// A pipe in the place of a lock is no reason to wait for who would write to it.
func TestLocksThatArePipes(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "w0.lock"), 0o600))
	i, lock, err := claim(dir, 0)
	if err == nil {
		assert.Zero(t, i)
		assert.NoError(t, lock.Unlock())
	}
}
