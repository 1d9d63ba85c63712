//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/state"
)

// TestPlaces: the project and its state folder are those that hookc finds, or
// are left to it.
func TestPlaces(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Setenv("HOME", home)
	inner := filepath.Join(home, "project", "a", "b")
	require.NoError(t, os.MkdirAll(inner, 0o755))
	assert.Equal(t, inner, projectRoot(inner))
	require.NoError(t, os.Mkdir(filepath.Join(home, "project", ".git"), 0o755))
	root := filepath.Join(home, "project")
	assert.Equal(t, policy.ProjectRoot(inner), projectRoot(inner))
	for _, unclean := range []string{inner + "/", inner + "/../b", "a/b", "", "//" + inner, inner + "/."} {
		assert.Empty(t, projectRoot(unclean), unclean)
	}
	for _, xdg := range []string{filepath.Join(home, "xdg"), "relative", ""} {
		t.Setenv("XDG_STATE_HOME", xdg)
		d, err := state.Open(root)
		require.NoError(t, err)
		require.NoError(t, os.RemoveAll(d.Path()))
		assert.Empty(t, stateDir(root), "it is not there yet")
		require.NoError(t, os.MkdirAll(d.Path(), 0o700))
		assert.Equal(t, d.Path(), stateDir(root), xdg)
	}
	link := filepath.Join(home, "link")
	require.NoError(t, os.Symlink(root, link))
	assert.Empty(t, stateDir(link))
}

// TestPlainAddress: what is taken for an address is one for hookc too.
func TestPlainAddress(t *testing.T) {
	for text, want := range map[string]bool{
		"https://api.example.com": true, "http://localhost:8080/v1": true, "https://a-b.c/d_e/f.g": true,
		"https://": false, "http:///x": false, "https://a:b": false, "https://a:1x": false, "ftp://a": false, "a.b": false, "https://u@h": false, "https://a b": false, "http://%zz": false,
	} {
		assert.Equal(t, want, plainAddress(text), text)
	}
}
