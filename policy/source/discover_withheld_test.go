//go:build unix

package source

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What was never trusted is not opened: a pipe that nobody writes to would hold
// the reader for ever. Its places are listed, and the user's policy is whole.
func TestWithheldProjectIsNotOpened(t *testing.T) {
	p := freshPlaces(t)
	lay(t, p.config, map[string]string{"hookc/hooks.yaml": one("mine")})
	for _, dir := range []string{".hookc", ".agents/hooks/a"} {
		require.NoError(t, os.MkdirAll(filepath.Join(p.project, dir), 0o755))
	}
	for _, pipe := range []string{".hookc/hooks.yaml", ".hookc/hooks.local.yaml", ".agents/hooks/a/HOOK.md"} {
		require.NoError(t, syscall.Mkfifo(filepath.Join(p.project, pipe), 0o600))
	}
	loaded, found := LoadDiscovered(p.options(), Options{Dir: p.project})
	assert.False(t, found.HasErrors(), found.Render())
	require.Len(t, loaded.Hooks, 1)
	assert.Equal(t, "mine", loaded.Hooks[0].Name)
	var listed []string
	for _, s := range loaded.Sources {
		if s.Untrusted != "" {
			listed = append(listed, s.Name)
		}
	}
	assert.Equal(t, []string{".hookc/hooks.yaml", ".agents/hooks", ".hookc/hooks.local.yaml"}, listed)
}
