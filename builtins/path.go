package builtins

import (
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hookc/hookc/policy"
)

// The path functions are lexical: they look at the text alone and never at
// the disk. Paths use slashes; on Windows backslashes are read as slashes and
// a drive makes a path absolute. A path that begins with `~` is rooted at that
// home, which is left as it is: `~/x` is outside every directory but `~`
// itself, because the home a tool would expand it to is not in the text.

var str = policy.StringType

func param(name string) Param { return Param{Name: name, Type: str} }

var _ = register(Func{
	Name: "path.abs", Params: []Param{param("p"), param("base")}, Result: str, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return defined(lexicalAbs(text(args[0]), text(args[1]))) },
	Doc:  "p without `.` and `..`, from base when p is relative; undefined when it climbs above `~`",
	Examples: []Example{
		{Call: `path.abs("src/../a.go", "/repo")`, Want: "/repo/a.go"},
		{Call: `path.abs("/etc/./passwd", "/repo")`, Want: "/etc/passwd"},
		{Call: `path.abs("../x", "/repo")`, Want: "/x"},
		{Call: `path.abs("~/.ssh/id", "/repo")`, Want: "~/.ssh/id"},
	},
})

var _ = register(Func{
	Name: "path.within", Params: []Param{param("p"), param("root")}, Result: policy.BoolType, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return lexicalWithin(text(args[0]), text(args[1])) },
	Doc:  "whether p is root or lies below it; undefined when only one of the two is absolute",
	Examples: []Example{
		{Call: `path.within("/repo/src/a.go", "/repo")`, Want: true},
		{Call: `path.within("/repo/../etc/passwd", "/repo")`, Want: false},
		{Call: `path.within("/reposhop", "/repo")`, Want: false},
	},
})

var _ = register(Func{
	Name: "path.glob", Params: []Param{param("pattern"), param("p")}, Result: policy.BoolType, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return globMatch(text(args[0]), text(args[1])) },
	Doc:  "whether p, without `.` and `..`, matches a doublestar pattern: `**` crosses directories, `*` does not",
	Examples: []Example{
		{Call: `path.glob("**/.env*", "/repo/app/.env.local")`, Want: true},
		{Call: `path.glob("*.go", "a/b.go")`, Want: false},
		{Call: `path.glob("/etc/**", "/tmp/../etc/passwd")`, Want: true},
	},
})

var _ = register(Func{
	Name: "path.rel", Params: []Param{param("p"), param("base")}, Result: str, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return defined(lexicalRel(text(args[0]), text(args[1]))) },
	Doc:  "the path that leads from base to p; undefined when only one of the two is absolute",
	Examples: []Example{
		{Call: `path.rel("/repo/src/a.go", "/repo")`, Want: "src/a.go"},
		{Call: `path.rel("/etc", "/repo/src")`, Want: "../../etc"},
	},
})

var _ = register(Func{
	Name: "path.base", Params: []Param{param("p")}, Result: str, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return path.Base(slashed(text(args[0]))), nil },
	Doc:  "the last part of p; `.` for the empty path",
	Examples: []Example{
		{Call: `path.base("/repo/src/a.go")`, Want: "a.go"},
	},
})

var _ = register(Func{
	Name: "path.dir", Params: []Param{param("p")}, Result: str, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return path.Dir(slashed(text(args[0]))), nil },
	Doc:  "p without its last part; `.` when nothing is left",
	Examples: []Example{
		{Call: `path.dir("/repo/src/a.go")`, Want: "/repo/src"},
	},
})

var _ = register(Func{
	Name: "path.ext", Params: []Param{param("p")}, Result: str, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return path.Ext(slashed(text(args[0]))), nil },
	Doc:  "the extension of p with its dot, or the empty text",
	Examples: []Example{
		{Call: `path.ext("/repo/src/a.tar.gz")`, Want: ".gz"},
	},
})

// text is an argument whose type the caller has checked.
func text(v any) string { return v.(string) }

// defined turns a pair of value and presence into a function's answer.
func defined[T any](v T, ok bool) (any, error) {
	if !ok {
		return nil, ErrUndefined
	}
	return v, nil
}

func slashed(p string) string {
	if runtime.GOOS == "windows" {
		return strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

// root splits a slash path into what it is rooted at and the rest: "/" or a
// drive for an absolute path, "~name" for a home, "" for a relative path.
func root(p string) (at, rest string) {
	switch {
	case strings.HasPrefix(p, "/"):
		return "/", p[1:]
	case strings.HasPrefix(p, "~"):
		at, rest, _ = strings.Cut(p, "/")
		return at, rest
	}
	if volume := filepath.VolumeName(filepath.FromSlash(p)); volume != "" {
		return slashed(volume) + "/", strings.TrimPrefix(p[len(volume):], "/")
	}
	return "", p
}

// clean resolves `.` and `..` in the text. It reports false for a path that
// climbs above a home: what lies there is not in the text.
func clean(p string) (string, bool) {
	at, rest := root(slashed(p))
	switch {
	case at == "":
		return path.Clean(rest), true
	case !strings.HasPrefix(at, "~"):
		return at + path.Clean("/" + rest)[1:], true
	}
	rest = path.Clean(rest)
	switch {
	case rest == ".":
		return at, true
	case rest == ".." || strings.HasPrefix(rest, "../"):
		return "", false
	}
	return at + "/" + strings.TrimPrefix(rest, "/"), true
}

func lexicalAbs(p, base string) (string, bool) {
	p, base = slashed(p), slashed(base)
	if at, _ := root(p); at == "" {
		p = base + "/" + p
	}
	return clean(p)
}

func lexicalWithin(p, dir string) (any, error) {
	rel, ok := lexicalRel(p, dir)
	if !ok {
		return nil, ErrUndefined
	}
	return below(rel), nil
}

// below reports whether a relative path stays at or below where it starts.
func below(rel string) bool { return rel != ".." && !strings.HasPrefix(rel, "../") }

func lexicalRel(p, base string) (string, bool) {
	p, okP := clean(p)
	base, okBase := clean(base)
	if !okP || !okBase {
		return "", false
	}
	atP, restP := root(p)
	atBase, restBase := root(base)
	if (atP == "") != (atBase == "") {
		return "", false
	}
	if atP != atBase {
		// Another drive or home: no relative path leads there, and a home
		// may be anywhere.
		if strings.HasPrefix(atP, "~") || strings.HasPrefix(atBase, "~") {
			return "", false
		}
		return "../" + p, true
	}
	return climb(parts(restBase), parts(restP))
}

func parts(p string) []string {
	if p == "" || p == "." {
		return nil
	}
	return strings.Split(p, "/")
}

// climb is the relative path from one list of parts to another. It reports
// false when the way leads through a `..` of the start, whose name is unknown.
func climb(from, to []string) (string, bool) {
	i := 0
	for i < len(from) && i < len(to) && from[i] == to[i] {
		i++
	}
	var out []string
	for _, part := range from[i:] {
		if part == ".." {
			return "", false
		}
		out = append(out, "..")
	}
	out = append(out, to[i:]...)
	if len(out) == 0 {
		return ".", true
	}
	return strings.Join(out, "/"), true
}

func globMatch(pattern, p string) (any, error) {
	if p == "" {
		return doublestar.Match(pattern, "")
	}
	cleaned, ok := clean(p)
	if !ok {
		return nil, ErrUndefined
	}
	match, err := doublestar.Match(pattern, cleaned)
	if err != nil {
		return nil, fmt.Errorf("%q is not a glob: %w", pattern, err)
	}
	return match, nil
}
