package artifact

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func written(t *testing.T, w *Writer) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy"+Suffix)
	require.NoError(t, w.WriteFile(path))
	f, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func TestAProjectsFolderIsNoArtifact(t *testing.T) {
	for path, want := range map[string]bool{"p.hookc": true, "/a/p.hookc": true, "..hookc": true, ".hookc": false, "/a/.hookc": false, "a/.hookc": false, "./.hookc": false, "p.hookc/": false, "p": false, "": false} {
		assert.Equal(t, want, Named(path), path)
	}
}

func TestSections(t *testing.T) {
	w := &Writer{Build: "b1", Release: "v1"}
	w.Add("a", []byte("one"))
	w.Add("empty", nil)
	w.Add("large", make([]byte, 3*firstRead))
	w.Add("last", []byte("four"))
	f := written(t, w)
	assert.Equal(t, []string{"a", "empty", "large", "last"}, f.Names())
	for name, want := range map[string]string{"a": "one", "empty": "", "large": string(make([]byte, 3*firstRead)), "last": "four"} {
		got, err := f.Section(name)
		require.NoError(t, err)
		assert.Equal(t, want, string(got), name)
	}
	assert.True(t, f.Has("a"))
	assert.False(t, f.Has("b"))
	_, err := f.Section("b")
	assert.Equal(t, Damaged, err.(*Error).Kind)
	assert.NoError(t, f.Verify())
	assert.NoError(t, f.MadeBy("b1", ""))
	assert.NoError(t, f.MadeBy("b2", "v1"))
	assert.Equal(t, OtherBuild, f.MadeBy("b2", "v2").(*Error).Kind)
	assert.Equal(t, OtherBuild, (&File{}).MadeBy("", "").(*Error).Kind, "nothing known is nothing equal")
}

// A file of which any one byte is another, or that is cut or longer, is refused.
func TestCorruption(t *testing.T) {
	w := &Writer{Build: "build", Release: "release"}
	w.Add("a", []byte("one"))
	w.Add("b", []byte("two"))
	good := w.Bytes()
	whole := func(b []byte) error {
		f, err := Parse("policy.hookc", b)
		if err != nil {
			return err
		}
		return f.Verify()
	}
	require.NoError(t, whole(good))
	for i := range good {
		for _, flip := range []byte{1, 0x80, 0xff} {
			bad := append([]byte{}, good...)
			bad[i] ^= flip
			require.Error(t, whole(bad), "byte %d", i)
		}
		require.Error(t, whole(good[:i]), "cut at %d", i)
	}
	require.Error(t, whole(append(append([]byte{}, good...), 0)))
}

func TestReasons(t *testing.T) {
	good := (&Writer{}).Bytes()
	other := append([]byte{}, good...)
	other[len(magic)] = Version + 1
	for text, c := range map[string]struct {
		data []byte
		kind Kind
	}{
		"p.hookc: is not a compiled policy":                                                          {[]byte("pre_tool_execution: []\n"), Foreign},
		"p.hookc: the compiled policy has format 3 and this hookc reads 2: compile it again":         {other, OtherVersion},
		"p.hookc: the compiled policy is damaged (it is cut short): compile it again":                {good[:4], Damaged},
		"p.hookc: the compiled policy is damaged (its header is cut short): compile it again":        {good[:20], Damaged},
		"p.hookc: the compiled policy is damaged (its size is wrong): compile it again":              {append(append([]byte{}, good...), 'x'), Damaged},
		"p.hookc: the compiled policy is damaged (the hash of its header differs): compile it again": {flipped(good, len(good)-1), Damaged},
		"p.hookc: the compiled policy is damaged (it is cut short): compile it again#empty":          {nil, Damaged},
	} {
		_, err := Parse("p.hookc", c.data)
		assert.Equal(t, &Error{c.kind, "p.hookc", strings.TrimSuffix(text, "#empty")}, err)
		assert.False(t, Stale(err))
	}
	_, err := Open("/nowhere/\"é\\.hookc")
	assert.Equal(t, "/nowhere/?????.hookc: no such file or directory", strings.Replace(err.Error(), "??.", "???.", 1))
	_, err = Open(t.TempDir())
	assert.Equal(t, Foreign, err.(*Error).Kind)
}

func flipped(b []byte, i int) []byte {
	b = append([]byte{}, b...)
	b[i] ^= 1
	return b
}

// old makes files look as if they had not been touched for long: nothing can set
// the time of a change, so the snapshot is said to have begun later.
func old() time.Time { return time.Now().Add(time.Hour) }

func TestUnchanged(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) { require.NoError(t, os.WriteFile(at(name), []byte(text), 0o644)) }
	start := func() *File {
		for _, name := range []string{"policy.yaml", "link", "late.yaml", "folder", "gone"} {
			os.RemoveAll(at(name))
		}
		write("policy.yaml", "one")
		require.NoError(t, os.Symlink("policy.yaml", at("link")))
		require.NoError(t, os.Mkdir(at("folder"), 0o755))
		write("folder/a", "a")
		list, settled, err := Snapshot([]string{at("policy.yaml"), at("link"), at("folder"), at("late.yaml"), at("gone/deep/file"), at("gone/other"), at("policy.yaml")}, old())
		require.NoError(t, err)
		require.True(t, settled)
		require.Len(t, list, 6, "each once, what is not there too")
		w := &Writer{}
		w.AddSources(list)
		return written(t, w)
	}
	changedTo := func(f *File, want string) {
		t.Helper()
		err := f.Unchanged()
		if want == "" {
			require.NoError(t, err)
			return
		}
		require.Error(t, err)
		assert.Equal(t, &Error{Changed, at(strings.Fields(want)[0]), "the compiled policy is stale: " + dir + "/" + want + ": compile it again"}, err)
		assert.True(t, Stale(err))
	}
	changedTo(start(), "")

	f := start()
	write("policy.yaml", "two")
	changedTo(f, "policy.yaml has changed")
	write("policy.yaml", "one")
	changedTo(f, "")
	require.NoError(t, os.Remove(at("policy.yaml")))
	changedTo(f, "policy.yaml is missing now")
	write("policy.yaml", "one")
	changedTo(f, "") // a file of the same content in its place, as after a checkout
	require.NoError(t, os.Chmod(at("policy.yaml"), 0o600))
	changedTo(f, "")
	require.NoError(t, os.Chmod(at("policy.yaml"), 0o700))
	changedTo(f, "policy.yaml has changed")

	f = start()
	write("late.yaml", "")
	changedTo(f, "late.yaml is there now")
	f = start()
	require.NoError(t, os.Mkdir(at("gone"), 0o755))
	changedTo(f, "") // as of hookc's own folder of state
	write("gone/other", "")
	changedTo(f, "gone/other is there now")
	f = start()
	write("folder/b", "")
	changedTo(f, "folder has changed")
	require.NoError(t, os.Remove(at("folder/b")))
	changedTo(f, "")
	f = start()
	write("other.yaml", "two")
	require.NoError(t, os.Remove(at("link")))
	require.NoError(t, os.Symlink("other.yaml", at("link")))
	changedTo(f, "link has changed")
}

// A file that was changed just before the snapshot is compared by its content,
// and Settle waits until that need not be.
func TestUnsure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(path, []byte("one"), 0o644))
	list, settled, err := Snapshot([]string{path}, time.Now())
	require.NoError(t, err)
	assert.False(t, settled)
	assert.True(t, list[0].Unsure)
	Settle(list)
	again, settled, err := Snapshot([]string{path}, time.Now())
	require.NoError(t, err)
	assert.True(t, settled)
	assert.Equal(t, !exact, again[0].Unsure)
	w := &Writer{}
	w.AddSources(list)
	f := written(t, w)
	require.NoError(t, f.Unchanged())
	got, err := f.Sources()
	require.NoError(t, err)
	assert.Equal(t, list, got)
	require.NoError(t, os.WriteFile(path, []byte("two"), 0o644))
	require.Error(t, f.Unchanged())
}

func TestEnvironment(t *testing.T) {
	w := &Writer{}
	c := Take([]string{"HOOKC_ENABLED=0", "HOOKC_DEFAULTS_RETRY=1", "HOOKC_DEFAULTS_EMPTY=", "OTHER=x", "TWICE=1", "TWICE=2"},
		[]string{"HOOKC_ENABLED", "HOOKC_TRUST", "TWICE"}, []string{"HOOKC_DEFAULTS_"})
	c.Flags = []Condition{{Name: "profile", Value: "jcli", Set: true}}
	w.AddEnvironment(c)
	f := written(t, w)
	got, err := f.Conditions()
	require.NoError(t, err)
	assert.Equal(t, Conditions{
		Vars:     []Condition{{Name: "HOOKC_DEFAULTS_RETRY", Value: "1", Set: true}, {Name: "HOOKC_ENABLED", Value: "0", Set: true}, {Name: "HOOKC_TRUST"}, {Name: "TWICE", Value: "2", Set: true}},
		Prefixes: []string{"HOOKC_DEFAULTS_"},
		Flags:    []Condition{{Name: "profile", Value: "jcli", Set: true}},
	}, got)
	assert.Equal(t, "jcli", got.Flag("profile"))
	assert.Equal(t, "", got.Flag("faithful"))
	same := []string{"HOOKC_DEFAULTS_RETRY=1", "HOOKC_ENABLED=0", "TWICE=2", "HOOKC_TRUST="}
	assert.NoError(t, f.Fits(same))
	for want, environ := range map[string][]string{
		"$HOOKC_ENABLED is another one":        {"HOOKC_DEFAULTS_RETRY=1", "TWICE=2"},
		"$HOOKC_TRUST is another one":          append([]string{"HOOKC_TRUST=all"}, same[:3]...),
		"$HOOKC_DEFAULTS_RETRY is another one": {"HOOKC_DEFAULTS_RETRY=2", "HOOKC_ENABLED=0", "TWICE=2"},
		"$HOOKC_DEFAULTS_X is set":             append([]string{"HOOKC_DEFAULTS_X=1"}, same...),
	} {
		err := f.Fits(environ)
		require.Error(t, err)
		assert.Equal(t, &Error{OtherEnvironment, f.Path, f.Path + ": the policy was compiled in another environment: " + want + ": compile it again"}, err)
		assert.True(t, Stale(err))
	}
}

// An artifact is put in its place whole, where a link leads, with the mode that
// was there.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "real.hookc"), filepath.Join(dir, "p.hookc")
	require.NoError(t, os.Symlink("real.hookc", link))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, (&Writer{Build: "x"}).WriteFile(link))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.Equal(t, os.ModeSymlink, info.Mode().Type())
	info, err = os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 2)
	require.Error(t, (&Writer{}).WriteFile(filepath.Join(dir, "none", "p.hookc")))
}
