//go:build unix

package rego

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A file that is too large, or none, is refused before it is read.
func TestSharedFilesAreBounded(t *testing.T) {
	dir := t.TempDir()
	large, pipe := filepath.Join(dir, "large.json"), filepath.Join(dir, "pipe.json")
	f, err := os.Create(large)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(50<<30))
	require.NoError(t, f.Close())
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, err = readText(large)
	assert.ErrorContains(t, err, "is the most")
	_, err = readText(pipe)
	assert.ErrorContains(t, err, "not a regular file")
}
