package disk

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// A change of the same size, with the old times put back, and one that takes
// another file's place show.
func TestPrintsTellFilesApart(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files there do not say when they were changed")
	}
	path := filepath.Join(t.TempDir(), "a")
	assert.True(t, Look(path).Missing())
	assert.Equal(t, Look(path), Look(path))
	put(t, path, "one")
	first := Look(path)
	assert.Equal(t, first, Look(path))
	assert.False(t, first.Missing())
	info, err := os.Stat(path)
	require.NoError(t, err)
	time.Sleep(20 * time.Millisecond)
	put(t, path, "two")
	require.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	second := Look(path)
	assert.NotEqual(t, first, second)
	put(t, path+"b", "six")
	require.NoError(t, os.Rename(path+"b", path))
	assert.NotEqual(t, second, Look(path))
	require.NoError(t, os.Symlink(path, path+"l"))
	assert.NotEqual(t, Look(path), Look(path+"l"), "a link is not what it leads to")
	assert.True(t, Look(path).SameKind(Look(path+"l")))
	assert.False(t, Look(path).SameKind(Look(filepath.Dir(path))))
	assert.False(t, Look(path).SameKind(Look(path+"none")))
}

func TestSettled(t *testing.T) {
	now := time.Unix(1_000_000, 500)
	at := func(d time.Duration) Print {
		when := now.Add(-d)
		return Print{sec: when.Unix(), nsec: int64(when.Nanosecond()), state: there}
	}
	assert.False(t, at(0).Settled(now))
	assert.False(t, at(50*time.Millisecond).Settled(now))
	assert.True(t, at(time.Second).Settled(now))
	assert.False(t, Print{sec: 999_999, state: there}.Settled(now), "a file system that counts whole seconds may count two")
	assert.True(t, Print{sec: 999_990, state: there}.Settled(now))
	assert.True(t, Print{state: missing}.Settled(now))
	assert.False(t, Print{state: bad}.Settled(now))
	assert.False(t, Print{}.Settled(now))
}

func TestFilesAreReadOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	put(t, path, "one")
	var f Files
	reads := 0
	read := func(path string) (string, error) {
		reads++
		text, err := os.ReadFile(path)
		return string(text), err
	}
	f.Begin()
	assert.Equal(t, "one", f.Read(path, read).Content)
	put(t, path, "two")
	assert.Equal(t, "one", f.Read(path, read).Content, "within a round a file is one")
	f.Begin()
	assert.Equal(t, "two", f.Read(path, read).Content, "a change of the same size, at once")
	assert.Equal(t, 2, reads)
	f.used[path] = &File{Content: "two", print: Look(path), settled: true}
	f.Begin()
	assert.Equal(t, "two", f.Read(path, read).Content)
	assert.Equal(t, 2, reads, "nothing shows a change")
	f.Begin()
	f.Begin()
	assert.Equal(t, "two", f.Read(path, read).Content)
	assert.Equal(t, 3, reads, "what a round did not ask for is forgotten")
	require.NoError(t, os.Remove(path))
	f.Begin()
	assert.True(t, errors.Is(f.Read(path, read).Err, os.ErrNotExist))
	put(t, path, "again")
	f.Begin()
	assert.Equal(t, "again", f.Read(path, read).Content)
}
