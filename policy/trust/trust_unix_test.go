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
	kind, _ := standing(root, files)
	assert.Equal(t, Fits, kind, "other bits are the machine's own affair")
}

// TestPipeIsNotOpened would hang if a named pipe were read like a file.
func TestPipeIsNotOpened(t *testing.T) {
	root, files := project(t)
	_, err := Open(root).Trust(files)
	require.NoError(t, err)
	script := filepath.Join(root, "check.sh")
	require.NoError(t, os.Remove(script))
	require.NoError(t, syscall.Mkfifo(script, 0o600))
	kind, changed := standing(root, files)
	assert.Equal(t, Differs, kind)
	assert.Equal(t, []string{"check.sh"}, changed)
	_, err = Open(root).Trust(files)
	require.EqualError(t, err, "recording trust: check.sh cannot be read: it is neither a file nor a folder")
	kind, _ = standing(root, files)
	assert.Equal(t, Differs, kind, "the earlier consent stays")
}
