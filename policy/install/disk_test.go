package install

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy/agent"
)

func TestReplaceKeepsModeAndLink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "link.json")
	require.NoError(t, os.WriteFile(real, []byte("{}"), 0o600))
	require.NoError(t, os.Symlink("real.json", link))
	d, err := Load(link)
	require.NoError(t, err)
	assert.Equal(t, "{}", string(d.Content))
	made, err := d.Replace([]byte("[]"))
	require.NoError(t, err)
	assert.Empty(t, made)
	info, err := os.Lstat(real)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	to, err := os.Readlink(link)
	require.NoError(t, err)
	assert.Equal(t, "real.json", to)
	items, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, items, 2, "no temporary file stays")
}

func TestWhatAKilledInstallLeftIsRemoved(t *testing.T) {
	dir := t.TempDir()
	settings := filepath.Join(dir, "settings.json")
	require.NoError(t, os.WriteFile(settings, []byte("{}"), 0o600))
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{".settings.json.hookc-1", ".settings.json.hookc-2", ".settings.json.hookc-young", ".other.json.hookc-3"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("{"), 0o600))
		if name != ".settings.json.hookc-young" { // another install may be writing it
			require.NoError(t, os.Chtimes(filepath.Join(dir, name), old, old))
		}
	}
	d, err := Load(settings)
	require.NoError(t, err)
	_, err = d.Replace([]byte("[]"))
	require.NoError(t, err)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	assert.Equal(t, []string{".other.json.hookc-3", ".settings.json.hookc-young", "settings.json"}, names)
}

func TestReplaceNeverOverwritesAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "s.json")
	d, err := Load(path)
	require.NoError(t, err)
	assert.Nil(t, d.Content)
	made, err := d.Replace([]byte("1"))
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Dir(filepath.Dir(path)), filepath.Dir(path)}, made)

	_, err = d.Replace([]byte("2")) // it is there now
	require.ErrorContains(t, err, "was changed by another program")
	require.Error(t, d.Remove(made))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "1", string(text))

	now, err := Load(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte("3"), 0o644))
	_, err = now.Replace([]byte("4"))
	require.ErrorContains(t, err, "was changed by another program")
	require.Error(t, now.Remove(made))
	now, err = Load(path)
	require.NoError(t, err)
	assert.Equal(t, "3", string(now.Content))
	require.NoError(t, now.Remove(made))
	assert.NoDirExists(t, made[0])
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink("gone", link))
	_, err := Load(link)
	require.Error(t, err)
	_, err = Load(dir)
	require.ErrorContains(t, err, "not a regular file")
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o644))
	d, err := Load(empty)
	require.NoError(t, err)
	assert.Equal(t, []byte{}, d.Content, "an empty file is one")
}

func TestUndoOnlyWhatIsUnchanged(t *testing.T) {
	before, after := []byte("a\nb\nc\nd\n"), []byte("a\nB\nc\nd\ne")
	r := Remember(before, after)
	back, ok := r.Undo(after)
	assert.True(t, ok)
	assert.Equal(t, string(before), string(back))
	_, ok = r.Undo(append(after, '\n'))
	assert.False(t, ok)
	_, ok = (*Record)(nil).Undo(after)
	assert.False(t, ok)
	r.Hunks[0].Len = 1000 // a damaged record
	_, ok = r.Undo(after)
	assert.False(t, ok)
}

func TestFolders(t *testing.T) {
	to := target(t, "agenthooks", agent.Folders)
	base := t.TempDir()
	e := entry("pre-tool-call", "^(it's)$")
	for _, f := range to.FolderFiles(e) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(base, f.Path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(base, f.Path), []byte(f.Content), f.Mode))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(base, "other"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(base, "other", "HOOK.md"), []byte("---\nname: other\ntrigger: pre-tool-call\n---\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(base, "stray"), nil, 0o644))
	found, err := to.ReadFolders(base)
	require.NoError(t, err)
	want := to.found(e)
	want.Line = 1
	assert.Equal(t, []Found{want, {Event: "pre-tool-call", Line: 1}}, found)
	none, err := to.ReadFolders(filepath.Join(base, "gone"))
	require.NoError(t, err)
	assert.Empty(t, none)
}
