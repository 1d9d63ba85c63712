package builtins

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

func TestFuncs(t *testing.T) {
	var names []string
	for _, f := range Funcs() {
		names = append(names, f.Name)
		assert.Equal(t, f.World == policy.WorldRead, slices.Contains([]string{"git.branch", "git.root", "path.real", "path.within_real"}, f.Name), f.Name)
		for _, root := range Roots() {
			field, ok := policy.ParseField(root)
			assert.True(t, !ok || field.Spec().Type == policy.StringType, "a root that is a field is a text, which has no members")
		}
	}
	assert.Equal(t, []string{"git.branch", "git.root", "jsonpath.all", "jsonpath.get", "path.abs", "path.base", "path.dir", "path.ext", "path.glob", "path.real", "path.rel", "path.within", "path.within_real", "secret.find", "secret.redact", "semver.order", "semver.satisfies", "text.redact", "url.host"}, names)
	assert.Equal(t, []string{"git", "jsonpath", "path", "secret", "semver", "text", "url"}, Roots())
}

func TestCalls(t *testing.T) {
	undefined := ErrUndefined
	tests := []struct {
		name string
		args []any
		want any
	}{
		{"path.abs", []any{"", "/repo"}, "/repo"},
		{"path.abs", []any{"a/./b//c/", "/repo/"}, "/repo/a/b/c"},
		{"path.abs", []any{"../../../x", "/repo"}, "/x"},
		{"path.abs", []any{"x", "rel/.."}, "x"},
		{"path.abs", []any{"x", "~/home"}, "~/home/x"},
		{"path.abs", []any{"~", "/repo"}, "~"},
		{"path.abs", []any{"~root/x/../y", "/repo"}, "~root/y"},
		{"path.abs", []any{"~/../etc", "/repo"}, undefined},
		{"path.abs", []any{"//etc/passwd", "/repo"}, "/etc/passwd"},
		{"path.within", []any{"/repo", "/repo/"}, true},
		{"path.within", []any{"/repo/a/../../x", "/repo"}, false},
		{"path.within", []any{"/anything", "/"}, true},
		{"path.within", []any{"a/b", "a"}, true},
		{"path.within", []any{"..x/b", "."}, true},
		{"path.within", []any{"../x", "."}, false},
		{"path.within", []any{"x", ".."}, undefined},
		{"path.within", []any{"a", "/repo"}, undefined},
		{"path.within", []any{"/repo/a", "work"}, undefined},
		{"path.within", []any{"~/a", "~"}, true},
		{"path.within", []any{"~/a", "/home"}, undefined},
		{"path.within", []any{"/Work/a", "/repo"}, false},
		{"path.rel", []any{"/a", "/a"}, "."},
		{"path.rel", []any{"a/b", "a/c/d"}, "../../b"},
		{"path.rel", []any{"x", "/a"}, undefined},
		{"path.glob", []any{"**/.env*", ".env"}, true},
		{"path.glob", []any{"**/.env*", "/.env"}, true},
		{"path.glob", []any{"**/.env*", ""}, false},
		{"path.glob", []any{"**/.env*", "/a/.envrc/x"}, false},
		{"path.glob", []any{"src/*.{go,mod}", "src/./a.go"}, true},
		{"path.glob", []any{"[", "a"}, fmt.Errorf(`"[" is not a glob: %w`, errBadPattern(t))},
		{"path.glob", []any{"**", "~/.."}, undefined},
		{"path.base", []any{""}, "."},
		{"path.dir", []any{"a"}, "."},
		{"path.ext", []any{"Makefile"}, ""},
		{"path.real", []any{"x", "rel"}, undefined},
		{"path.real", []any{"~/x", "/"}, undefined},
		{"text.redact", []any{"aaa", "a", "$1"}, "$1$1$1"},
		{"text.redact", []any{map[string]any{"out": "tok-1", "n": 2, "deep": []any{"tok-2", nil}}, "tok-[0-9]", "*"}, map[string]any{"out": "*", "n": 2, "deep": []any{"*", nil}}},
		{"url.host", []any{"https://EXAMPLE.com./x"}, "example.com"},
		{"url.host", []any{"https://good.com@evil.com/"}, "evil.com"},
		{"url.host", []any{`https://good.com\@evil.com/`}, undefined},
		{"url.host", []any{"example.com/x"}, undefined},
		{"url.host", []any{"http://%zz/"}, undefined},
		{"url.host", []any{""}, undefined},
		{"semver.order", []any{"1.0.0+a", "1.0.0+b"}, 0},
		{"semver.order", []any{"banana", "1.0"}, undefined},
		{"semver.order", []any{"1.0.0-alpha.2", "1.0.0-alpha.10"}, -1},
		{"semver.satisfies", []any{"1.2", "~1.2.0"}, true},
		{"semver.satisfies", []any{"", "*"}, undefined},
		{"semver.order", []any{"v1", "1.0.0"}, 0},
		{"semver.order", []any{"01.2", "1.02"}, 0},
		{"semver.order", []any{"1.0.0-alpha", "1.0.0-1"}, 1},
		{"semver.order", []any{"1.0.0-alpha", "1.0.0-alpha.1"}, -1},
		{"semver.order", []any{"1.0.0-beta", "1.0.0-alpha.1"}, 1},
		{"semver.order", []any{"1.0.0-99999999999999999999", "1.0.0-100000000000000000000"}, -1},
		{"semver.order", []any{"1.0.0-01", "1"}, undefined},
		{"semver.order", []any{"1.0.0-", "1"}, undefined},
		{"semver.order", []any{"1.0.0+", "1"}, undefined},
		{"semver.order", []any{"1.2.3.4", "1"}, undefined},
		{"semver.order", []any{"1.+2", "1"}, undefined},
		{"semver.order", []any{" 1", "1"}, undefined},
		{"semver.order", []any{"vv1", "1"}, undefined},
		{"semver.order", []any{"18446744073709551616", "1"}, undefined},
		{"semver.satisfies", []any{"1.4.2", "1.x"}, true},
		{"semver.satisfies", []any{"2.0.0", "1.x"}, false},
		{"semver.satisfies", []any{"1.4.2", "=1.4"}, true},
		{"semver.satisfies", []any{"1.4.2", "!=1.4"}, false},
		{"semver.satisfies", []any{"1.5.0", "!=1.4.x, !=1.6"}, true},
		{"semver.satisfies", []any{"1.4.2", "!=1.4.1"}, true},
		{"semver.satisfies", []any{"11.1.0", ">11"}, false},
		{"semver.satisfies", []any{"12.0.0", "> 11"}, true},
		{"semver.satisfies", []any{"11.1.1", ">11.1"}, false},
		{"semver.satisfies", []any{"11.2.0", ">11.1"}, true},
		{"semver.satisfies", []any{"11.1.1", "<=11.1"}, true},
		{"semver.satisfies", []any{"11.9.1", "=<11"}, true},
		{"semver.satisfies", []any{"12.0.0", "<=11"}, false},
		{"semver.satisfies", []any{"11.0.0", "<11"}, false},
		{"semver.satisfies", []any{"11.0.0", "=>11"}, true},
		{"semver.satisfies", []any{"1.9.9", "~>1"}, true},
		{"semver.satisfies", []any{"1.3.0", "~1.2"}, false},
		{"semver.satisfies", []any{"1.3.0", "^1.2.3"}, true},
		{"semver.satisfies", []any{"1.2.2", "^1.2.3"}, false},
		{"semver.satisfies", []any{"0.3.0", "^0.2.3"}, false},
		{"semver.satisfies", []any{"0.2.9", "^0.2.3"}, true},
		{"semver.satisfies", []any{"0.0.4", "^0.0.3"}, false},
		{"semver.satisfies", []any{"0.9.0", "^0"}, true},
		{"semver.satisfies", []any{"9.9.9", "*"}, true},
		{"semver.satisfies", []any{"9.9.9-a", "*"}, false},
		{"semver.satisfies", []any{"1.2.3-b", ">=1.2.3-a <2"}, true},
		{"semver.satisfies", []any{"1.2.3-b", ">=1.2.3-a <2 || 3"}, true},
		{"semver.satisfies", []any{"1.2.3-b", ">=1.2.2 || >=3-a"}, false},
		{"semver.satisfies", []any{"2.5.0", "1.2 - 2.4"}, false},
		{"semver.satisfies", []any{"2.4.9", "1.2 - 2.4"}, true},
		{"semver.satisfies", []any{"3.1.0", "1-2||3 - 4, !=3.1.1"}, true},
		{"jsonpath.all", []any{map[string]any{"b": 1, "a": map[string]any{"c": []any{2, 3}}}, "$..*"}, []any{map[string]any{"c": []any{2, 3}}, []any{2, 3}, 2, 3, 1}},
		{"jsonpath.all", []any{[]any{map[string]any{"n": 1}, map[string]any{"n": 5}}, "$[?(@.n > 3)].n"}, []any{5}},
		{"jsonpath.get", []any{map[string]any{"a": nil}, "$.b"}, undefined},
		{"git.branch", []any{"relative"}, undefined},
	}
	for _, tt := range tests {
		got, err := Lookup(tt.name).Call(tt.args)
		if want, fails := tt.want.(error); fails {
			require.Error(t, err, "%s%v", tt.name, tt.args)
			assert.Equal(t, want.Error(), err.Error(), "%s%v", tt.name, tt.args)
			continue
		}
		require.NoError(t, err, "%s%v", tt.name, tt.args)
		assert.Equal(t, tt.want, got, "%s%v", tt.name, tt.args)
	}
}

// A range is the author's: a mistake in it fails the rule.
func TestRangeThatIsNone(t *testing.T) {
	for _, bad := range []string{"", "||", "1 ||", ",1", "1,", "1,,2", ">", ">>1", "1.2.3.4", "1.", "1x", "x1", "banana", ">=1<2", "1 -2.", "1 - >2", "1 -", "1-", "1-01", "1+", "18446744073709551616"} {
		_, err := Lookup("semver.satisfies").Call([]any{"1.0.0", bad})
		assert.ErrorContains(t, err, "is not a range of versions", "%q", bad)
	}
}

func errBadPattern(t *testing.T) error {
	t.Helper()
	_, err := filepath.Match("[", "a")
	require.Error(t, err)
	return err
}

func TestRedactIsBounded(t *testing.T) {
	value := make([]any, 1000)
	for i := range value {
		value[i] = "aaaaaaaaaa"
	}
	_, err := Lookup("text.redact").Call([]any{value, "a", string(make([]byte, 1<<20))})
	assert.EqualError(t, err, "text.redact: the result is longer than 67108864 bytes")
}

func TestRegexpStoreIsBounded(t *testing.T) {
	for i := range 3 * maxPatterns {
		_, err := Regexp(fmt.Sprint("x", i))
		require.NoError(t, err)
	}
	patterns.RLock()
	assert.LessOrEqual(t, len(patterns.m), maxPatterns)
	patterns.RUnlock()
	_, err := Regexp(string(make([]byte, maxPattern+1)))
	assert.EqualError(t, err, "the pattern is longer than 4096 bytes")
	_, err = Regexp("(")
	assert.Error(t, err)
}

func TestRealPaths(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	work, out := filepath.Join(top, "work"), filepath.Join(top, "out")
	require.NoError(t, os.MkdirAll(filepath.Join(work, "dir"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(out, "deep"), 0o755))
	link := func(target, name string) { require.NoError(t, os.Symlink(target, filepath.Join(work, name))) }
	link("../out", "away")
	link(filepath.Join(out, "deep"), "far")
	link(filepath.Join(out, "not-yet"), "dangling")
	link("dir", "near")
	link("loop2", "loop1")
	link("loop1", "loop2")
	real := func(p string) any {
		v, err := Lookup("path.real").Call([]any{p, work})
		require.NoError(t, err, p)
		return v
	}
	assert.Equal(t, filepath.Join(out, "x"), real("away/x"))
	assert.Equal(t, filepath.Join(out, "not-yet"), real("dangling"), "a dangling link leads where a write would land")
	assert.Equal(t, filepath.Join(work, "new", "file"), real("new/file"))
	assert.Equal(t, filepath.Join(out, "x"), real("far/../x"), "`..` is taken after the link is followed")
	assert.Equal(t, filepath.Join(work, "dir"), real("near"))
	assert.Equal(t, "/", real("/.."))
	_, err = Lookup("path.real").Call([]any{"loop1/x", work})
	assert.EqualError(t, err, filepath.ToSlash(work)+"/loop1/x: too many symbolic links")
	for p, want := range map[string]bool{
		"dir/x": true, ".": true, "near/x": true, "away/x": false, "far": false, "dangling": false, "far/../x": false, work + "/dir": true, top: false, "dir/../../out": false,
	} {
		got, err := Lookup("path.within_real").Call([]any{p, work})
		require.NoError(t, err)
		assert.Equal(t, want, got, p)
	}
	within, err := Lookup("path.within_real").Call([]any{filepath.Join(out, "deep", "x"), filepath.Join(work, "away")})
	require.NoError(t, err)
	assert.Equal(t, true, within, "the root's links are followed too")
}

func TestGitBranch(t *testing.T) {
	dir := t.TempDir()
	put := func(name, content string) {
		t.Helper()
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	branch := func(at string) any {
		got, err := Lookup("git.branch").Call([]any{filepath.Join(dir, at)})
		require.NoError(t, err)
		return got
	}
	put("repo/.git/HEAD", "ref: refs/heads/feature/x\n")
	put("repo/src/a.go", "")
	put("detached/.git/HEAD", "0123456789012345678901234567890123456789\n")
	put("tree/.git", "gitdir: ../repo/.git/worktrees/tree\n")
	put("repo/.git/worktrees/tree/HEAD", "ref: refs/heads/other\r\n")
	assert.Equal(t, "feature/x", branch("repo"))
	assert.Equal(t, "feature/x", branch("repo/src/not/there"))
	assert.Equal(t, "", branch("detached"))
	assert.Equal(t, "other", branch("tree"))
	put("odd/.git", "what is this\n")
	_, err := Lookup("git.branch").Call([]any{filepath.Join(dir, "odd")})
	require.ErrorContains(t, err, "is no git folder and names none")
	put("gone/.git", "gitdir: nowhere\n")
	_, err = Lookup("git.branch").Call([]any{filepath.Join(dir, "gone")})
	require.Error(t, err)
	root, err := Lookup("git.root").Call([]any{filepath.Join(dir, "repo/src")})
	require.NoError(t, err)
	assert.Equal(t, filepath.ToSlash(filepath.Join(dir, "repo")), root)
}
