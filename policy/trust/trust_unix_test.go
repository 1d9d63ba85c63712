//go:build unix

package trust

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExecutableBitIsCovered(t *testing.T) {
	root, files := project(t)
	_, err := Open(root).Trust(files)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(filepath.Join(root, "check.sh"), 0o644))
	assert.Equal(t, []string{"check.sh"}, Open(root).Check(files).Changed)
	require.NoError(t, os.Chmod(filepath.Join(root, "check.sh"), 0o700))
	assert.True(t, Open(root).Check(files).Trusted, "other bits are the machine's own affair")
}

// TestPipeIsNotOpened would hang if a named pipe were read like a file.
func TestPipeIsNotOpened(t *testing.T) {
	root, files := project(t)
	_, err := Open(root).Trust(files)
	require.NoError(t, err)
	script := filepath.Join(root, "check.sh")
	require.NoError(t, os.Remove(script))
	require.NoError(t, syscall.Mkfifo(script, 0o600))
	assert.Equal(t, Verdict{Why: "check.sh is neither a file nor a folder" + advice}, Open(root).Check(files))
	_, err = Open(root).Trust(files)
	require.EqualError(t, err, "check.sh is neither a file nor a folder")
}
