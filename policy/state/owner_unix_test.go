//go:build unix

package state

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFolderIsPrivate(t *testing.T) {
	d := open(t)
	require.NoError(t, d.Update("trust.json", set("x")))
	require.NoError(t, os.Chmod(d.Path(), 0o777))
	require.NoError(t, d.Update("trust.json", set("y")))
	modes := map[string]fs.FileMode{}
	for _, name := range []string{".", "trust.json", "trust.json.lock", ".."} {
		info, err := os.Stat(filepath.Join(d.Path(), name))
		require.NoError(t, err)
		modes[name] = info.Mode().Perm()
	}
	assert.Equal(t, map[string]fs.FileMode{".": 0o700, "..": 0o700, "trust.json": 0o600, "trust.json.lock": 0o600}, modes)
}

// TestFolderOfAnotherUserIsRefused needs root to give a folder away; for
// others it shows that their own folder and root's are accepted.
func TestFolderOfAnotherUserIsRefused(t *testing.T) {
	d := open(t)
	require.NoError(t, d.Update("trust.json", set("x")))
	for _, own := range []string{d.Path(), "/"} {
		info, err := os.Lstat(own)
		require.NoError(t, err)
		assert.True(t, ours(info), own)
	}
	if os.Geteuid() != 0 {
		return
	}
	for _, given := range []string{filepath.Join(d.Path(), "trust.json"), d.Path(), filepath.Dir(d.Path())} {
		require.NoError(t, os.Lchown(given, 12345, 12345))
		_, err := d.Read("trust.json")
		require.ErrorIs(t, err, ErrUnsafe, given)
		require.ErrorIs(t, d.Update("trust.json", set("y")), ErrUnsafe, given)
		require.NoError(t, os.Lchown(given, 0, 0))
	}
}

func TestSymbolicLinksAreRefused(t *testing.T) {
	plant := map[string]func(t *testing.T, d *Dir, elsewhere string){
		"hookc": func(t *testing.T, d *Dir, elsewhere string) {
			require.NoError(t, os.MkdirAll(filepath.Join(elsewhere, filepath.Base(d.Path())), 0o700))
			require.NoError(t, os.Symlink(elsewhere, filepath.Dir(d.Path())))
		},
		"leaf": func(t *testing.T, d *Dir, elsewhere string) {
			require.NoError(t, os.MkdirAll(filepath.Dir(d.Path()), 0o700))
			require.NoError(t, os.Symlink(elsewhere, d.Path()))
		},
		"file": func(t *testing.T, d *Dir, elsewhere string) {
			require.NoError(t, os.MkdirAll(d.Path(), 0o700))
			target := filepath.Join(elsewhere, "f")
			require.NoError(t, os.WriteFile(target, append(header([]byte("x")), 'x'), 0o600))
			require.NoError(t, os.Symlink(target, filepath.Join(d.Path(), "trust.json")))
		},
	}
	for name, plant := range plant {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			elsewhere := t.TempDir()
			plant(t, d, elsewhere)
			_, err := d.Read("trust.json")
			require.Error(t, err)
			require.Error(t, d.Update("trust.json", set("y")))
			assert.NoFileExists(t, filepath.Join(elsewhere, "trust.json"))
		})
	}
	t.Run("lock", func(t *testing.T) {
		d := open(t)
		require.NoError(t, os.MkdirAll(d.Path(), 0o700))
		target := filepath.Join(t.TempDir(), "made")
		require.NoError(t, os.Symlink(target, filepath.Join(d.Path(), "trust.json.lock")))
		require.Error(t, d.Update("trust.json", set("y")))
		assert.NoFileExists(t, target)
	})
}
