package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hookc/hookc/internal/paths"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// open returns the state folder of a fresh project in a fresh home.
func open(t *testing.T) *Dir {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	d, err := Open(t.TempDir())
	require.NoError(t, err)
	return d
}

func set(content string) func([]byte) ([]byte, error) {
	return func([]byte) ([]byte, error) { return []byte(content), nil }
}

func TestReadWhatWasUpdated(t *testing.T) {
	d := open(t)
	_, err := d.Read("counters.json")
	require.ErrorIs(t, err, fs.ErrNotExist)

	require.NoError(t, d.Update("counters.json", func(old []byte) ([]byte, error) {
		assert.Nil(t, old)
		return []byte(`{"n":1}`), nil
	}))
	got, err := d.Read("counters.json")
	require.NoError(t, err)
	assert.Equal(t, `{"n":1}`, string(got))

	require.NoError(t, d.UpdateLazy("counters.json", func(old []byte) ([]byte, error) {
		assert.Equal(t, `{"n":1}`, string(old))
		return []byte{}, nil
	}))
	got, err = d.Read("counters.json")
	require.NoError(t, err)
	assert.Empty(t, got)

	require.NoError(t, d.Update("counters.json", func([]byte) ([]byte, error) { return nil, nil }))
	_, err = d.Read("counters.json")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestUpdateChangesNothingOnError(t *testing.T) {
	d := open(t)
	require.NoError(t, d.Update("trust.json", set("old")))
	boom := errors.New("boom")
	err := d.Update("trust.json", func([]byte) ([]byte, error) { return []byte("new"), boom })
	assert.Equal(t, boom, err)
	err = d.Update("trust.json", set(strings.Repeat("x", MaxSize+1)))
	require.ErrorIs(t, err, ErrTooLarge)
	got, err := d.Read("trust.json")
	require.NoError(t, err)
	assert.Equal(t, "old", string(got))
	require.NoError(t, d.Update("trust.json", set(strings.Repeat("x", MaxSize))))
	got, err = d.Read("trust.json")
	require.NoError(t, err)
	assert.Len(t, got, MaxSize)
}

// A file of another format is another hookc's: it is not read, and it stays.
func TestFileOfAnotherVersionStays(t *testing.T) {
	for _, head := range []string{"hookc-state-2 sha256:", "hookc-state-10 sha512:", "hookc-state-0 "} {
		d := open(t)
		require.NoError(t, d.Update("counts.json", set("counts")))
		path := filepath.Join(d.Path(), "counts.json")
		other := []byte(head + "abc\n{}")
		require.NoError(t, os.WriteFile(path, other, 0o600))
		_, err := d.Read("counts.json")
		require.ErrorIs(t, err, ErrVersion)
		require.ErrorIs(t, d.Update("counts.json", set("again")), ErrVersion)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, other, got)
		assert.NoFileExists(t, path+".bad")
		assert.Empty(t, d.Damaged())
	}
	for _, content := range []string{"hookc-state-x sha256:", "hookc-state-", "hookc-state-2", "hookc-state-99999999999 sha256:"} {
		assert.False(t, otherVersion([]byte(content)), "%s is damage", content)
	}
}

func TestDamagedFileBeginsAnew(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"cut short":    func(b []byte) []byte { return b[:len(b)-1] },
		"empty":        func([]byte) []byte { return nil },
		"one bit":      func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"by hand":      func([]byte) []byte { return []byte(`{"trusted":true}`) },
		"header alone": func(b []byte) []byte { return b[:headerSize] },
		"grown":        func(b []byte) []byte { return append(b, make([]byte, MaxSize)...) },
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			require.NoError(t, d.Update("trust.json", set("consent")))
			path := filepath.Join(d.Path(), "trust.json")
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			bad := damage(data)
			require.NoError(t, os.WriteFile(path, bad, 0o600))

			_, err = d.Read("trust.json")
			require.ErrorIs(t, err, ErrCorrupt)
			assert.Equal(t, []string{"trust.json"}, d.Damaged())
			require.NoError(t, d.Update("trust.json", func(old []byte) ([]byte, error) {
				assert.Nil(t, old, "a damaged file says nothing")
				return []byte("again"), nil
			}))
			got, err := d.Read("trust.json")
			require.NoError(t, err)
			assert.Equal(t, "again", string(got))
			aside, err := os.ReadFile(path + ".bad")
			require.NoError(t, err)
			assert.Len(t, aside, len(bad))
		})
	}
}

func TestNamesStayInTheFolder(t *testing.T) {
	d := open(t)
	for _, name := range []string{"", "..", "../x", "a/b", `a\b`, ".hidden", "x.lock", "x.bad", "x.tmp", "X", "a\x00"} {
		_, err := d.Read(name)
		require.Error(t, err, "%q", name)
		require.Error(t, d.Update(name, set("x")), "%q", name)
	}
	assert.NoDirExists(t, d.Path())
}

func TestOneProjectOneFolder(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	root := filepath.Join(t.TempDir(), "my project")
	require.NoError(t, os.Mkdir(root, 0o755))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(root, link))
	paths := map[string]bool{}
	for _, spelling := range []string{root, root + "/.", link} {
		d, err := Open(spelling)
		require.NoError(t, err)
		paths[d.Path()] = true
		assert.True(t, strings.HasSuffix(d.Path(), "-my_project"), d.Path())
	}
	assert.Len(t, paths, 1)
	other, err := Open(filepath.Dir(root))
	require.NoError(t, err)
	assert.False(t, paths[other.Path()])
}

func TestStateHome(t *testing.T) {
	home := func() (string, error) { return "/home/u", nil }
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	for _, c := range []struct {
		env        func(string) string
		goos, want string
	}{
		{env("XDG_STATE_HOME", "/s"), "linux", "/s"},
		{env("XDG_STATE_HOME", "relative"), "linux", "/home/u/.local/state"},
		{env(), "linux", "/home/u/.local/state"},
		{env(), "darwin", "/home/u/Library/Application Support"},
		{env("XDG_STATE_HOME", "/s"), "darwin", "/s"},
		{env("LocalAppData", "/l"), "linux", "/home/u/.local/state"},
		{env("LocalAppData", "/l"), "windows", "/l"},
		{env(), "windows", "/home/u/AppData/Local"},
	} {
		got, err := stateHome(c.env, home, c.goos)
		require.NoError(t, err)
		assert.Equal(t, c.want, filepath.ToSlash(got))
	}
	_, err := stateHome(env(), func() (string, error) { return "", errors.New("no home") }, "linux")
	require.Error(t, err)
}

func increment(old []byte) ([]byte, error) {
	n := 0
	if old != nil {
		var err error
		if n, err = strconv.Atoi(string(old)); err != nil {
			return nil, err
		}
	}
	return []byte(strconv.Itoa(n + 1)), nil
}

// TestUpdatesExcludeEachOther counts from goroutines and from processes at
// once: no increment may be lost and no reader may see half a file.
func TestUpdatesExcludeEachOther(t *testing.T) {
	if dir := os.Getenv("HOOKC_STATE_TEST_ROOT"); dir != "" {
		d, err := Open(dir)
		require.NoError(t, err)
		for range 20 {
			require.NoError(t, d.UpdateLazy("n", increment))
		}
		return
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	d, err := Open(dir)
	require.NoError(t, err)
	require.NoError(t, d.Update("n", set("0")))
	var work sync.WaitGroup
	failures := make(chan error, 100)
	for range 2 {
		work.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestUpdatesExcludeEachOther$")
			cmd.Env = append(os.Environ(), "HOOKC_STATE_TEST_ROOT="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				failures <- fmt.Errorf("%w: %s", err, out)
			}
		})
		work.Go(func() {
			for range 20 {
				failures <- d.UpdateLazy("n", increment)
				_, err := d.Read("n")
				failures <- err
			}
		})
	}
	work.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
	got, err := d.Read("n")
	require.NoError(t, err)
	assert.Equal(t, "80", string(got))
	assert.Empty(t, d.Damaged())
}

func TestLockedForTooLong(t *testing.T) {
	d := open(t)
	require.NoError(t, d.Update("n", func([]byte) ([]byte, error) {
		assert.ErrorIs(t, d.Update("n", set("x")), ErrLocked)
		return []byte("y"), nil
	}))
	got, err := d.Read("n")
	require.NoError(t, err)
	assert.Equal(t, "y", string(got))
}

func TestReadOnlyPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	t.Setenv("XDG_STATE_HOME", filepath.Join(file, "state"))
	d, err := Open(t.TempDir())
	require.NoError(t, err)
	require.Error(t, d.Update("n", set("x")))
	_, err = d.Read("n")
	require.Error(t, err)
}

// TestHomeInTheProject: HOME may be the word of who wrote the project. What a checkout
// brings as state, which others may read as all of it, is none; what hookc wrote there is.
func TestHomeInTheProject(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	for _, marked := range []bool{false, true} {
		root := t.TempDir()
		if marked {
			require.NoError(t, os.Mkdir(filepath.Join(root, ".git"), 0o755))
		}
		t.Setenv("XDG_STATE_HOME", "")
		t.Setenv("HOME", filepath.Join(root, ".h"))
		open := func() *Dir {
			d, err := Open(root)
			require.NoError(t, err)
			return d
		}
		require.NoError(t, open().Update("trust.json", set("yes")))
		text, err := open().Read("trust.json")
		require.NoError(t, err, "hookc wrote it")
		require.Equal(t, "yes", string(text))
		dir := open().Path()
		for name, mode := range map[string]fs.FileMode{filepath.Join(dir, "trust.json"): 0o644, dir: 0o755, filepath.Dir(dir): 0o711} {
			info, err := os.Stat(name)
			require.NoError(t, err)
			require.NoError(t, os.Chmod(name, mode))
			_, err = open().Read("trust.json")
			assert.ErrorIs(t, err, ErrUnsafe, name)
			assert.ErrorIs(t, open().Update("trust.json", set("no")), ErrUnsafe, name)
			if marked {
				home, err := Home()
				require.NoError(t, err)
				_, err = Within(home, filepath.Base(dir)).Read("trust.json")
				assert.ErrorIs(t, err, ErrUnsafe, name)
			}
			require.NoError(t, os.Chmod(name, info.Mode().Perm()))
		}
	}
}

// TestStateInTheProject: who wrote a project does not say by XDG_STATE_HOME that it is
// trusted: state that lies in the project, behind links too, is none.
func TestStateInTheProject(t *testing.T) {
	root := t.TempDir()
	elsewhere := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "inner", "state"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(root, ".git"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(root, "inner"), filepath.Join(elsewhere, "link")))
	for _, in := range []string{root, filepath.Join(root, ".s"), filepath.Join(root, "inner", "state", "new"), filepath.Join(elsewhere, "link", "state"), filepath.Join(elsewhere, "..", filepath.Base(root))} {
		t.Setenv("XDG_STATE_HOME", in)
		_, err := Open(root)
		assert.ErrorContains(t, err, "XDG_STATE_HOME", in)
		_, err = Home()
		assert.ErrorContains(t, err, "XDG_STATE_HOME", "what is for all projects, in %s", in)
	}
	account := paths.Account()
	require.NotEmpty(t, account)
	t.Setenv("HOME", account)
	t.Setenv("XDG_STATE_HOME", "")
	d, err := Open(account)
	require.NoError(t, err)
	assert.False(t, d.doubted, "the project is the user's home")
	t.Setenv("HOME", elsewhere)
	for _, out := range []string{elsewhere, root + "-state", filepath.Dir(root)} {
		t.Setenv("XDG_STATE_HOME", out)
		_, err := Open(root)
		assert.NoError(t, err, out)
	}
}
