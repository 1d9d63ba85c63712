package builtins

import (
	"path"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/policy"
)

// The path functions are lexical: they look at the text alone and never at
// the disk. Paths use slashes; on Windows backslashes are read as slashes and
// a drive makes a path absolute. A path that begins with `~` is rooted at that
// home, which is left as it is: `~/x` is outside every directory but `~`
// itself, because the home a tool would expand it to is not in the text.

const str = policy.StringType

var _ = register(Func{
	Name: "path.abs", Params: []Param{{Name: "p", Type: str}, {Name: "base", Type: str}}, Result: str, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return defined(paths.Abs(text(args[0]), text(args[1]))) },
	Doc:  "p without `.` and `..`, from base when p is relative; undefined when it climbs above `~`",
	Examples: []Example{
		{Call: `path.abs("src/../a.go", "/repo")`, Want: "/repo/a.go"},
		{Call: `path.abs("/etc/./passwd", "/repo")`, Want: "/etc/passwd"},
		{Call: `path.abs("../x", "/repo")`, Want: "/x"},
		{Call: `path.abs("~/.ssh/id", "/repo")`, Want: "~/.ssh/id"},
	},
})

var _ = register(Func{
	Name: "path.within", Params: []Param{{Name: "p", Type: str}, {Name: "root", Type: str}}, Result: policy.BoolType, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return paths.Within(text(args[0]), text(args[1])) },
	Doc:  "whether p is root or lies below it; undefined when only one of the two is absolute",
	Examples: []Example{
		{Call: `path.within("/repo/src/a.go", "/repo")`, Want: true},
		{Call: `path.within("/repo/../etc/passwd", "/repo")`, Want: false},
		{Call: `path.within("/reposhop", "/repo")`, Want: false},
	},
})

var _ = register(Func{
	Name: "path.glob", Params: []Param{{Name: "pattern", Type: str}, {Name: "p", Type: str}}, Result: policy.BoolType, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return globMatch(text(args[0]), text(args[1])) },
	Doc:  "whether p, without `.` and `..`, matches a doublestar pattern: `**` crosses directories, `*` does not",
	Examples: []Example{
		{Call: `path.glob("**/.env*", "/repo/app/.env.local")`, Want: true},
		{Call: `path.glob("*.go", "a/b.go")`, Want: false},
		{Call: `path.glob("/etc/**", "/tmp/../etc/passwd")`, Want: true},
	},
})

var _ = register(Func{
	Name: "path.rel", Params: []Param{{Name: "p", Type: str}, {Name: "base", Type: str}}, Result: str, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return defined(paths.Rel(text(args[0]), text(args[1]))) },
	Doc:  "the path that leads from base to p; undefined when only one of the two is absolute",
	Examples: []Example{
		{Call: `path.rel("/repo/src/a.go", "/repo")`, Want: "src/a.go"},
		{Call: `path.rel("/etc", "/repo/src")`, Want: "../../etc"},
	},
})

var _ = register(Func{
	Name: "path.base", Params: []Param{{Name: "p", Type: str}}, Result: str, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return path.Base(paths.Slash(text(args[0]))), nil },
	Doc:  "the last part of p; `.` for the empty path",
	Examples: []Example{
		{Call: `path.base("/repo/src/a.go")`, Want: "a.go"},
	},
})

var _ = register(Func{
	Name: "path.dir", Params: []Param{{Name: "p", Type: str}}, Result: str, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return path.Dir(paths.Slash(text(args[0]))), nil },
	Doc:  "p without its last part; `.` when nothing is left",
	Examples: []Example{
		{Call: `path.dir("/repo/src/a.go")`, Want: "/repo/src"},
	},
})

var _ = register(Func{
	Name: "path.ext", Params: []Param{{Name: "p", Type: str}}, Result: str, World: policy.WorldNone,
	Call: func(args []any) (any, error) { return path.Ext(paths.Slash(text(args[0]))), nil },
	Doc:  "the extension of p with its dot, or the empty text",
	Examples: []Example{
		{Call: `path.ext("/repo/src/a.tar.gz")`, Want: ".gz"},
	},
})

// text is an argument whose type the caller has checked.
//
//go:noinline
func text(v any) string { return v.(string) }

// defined turns a pair of value and presence into a function's answer.
func defined[T any](v T, ok bool) (any, error) {
	if !ok {
		return nil, ErrUndefined
	}
	return v, nil
}

func globMatch(pattern, p string) (any, error) {
	if p == "" {
		return doublestar.Match(pattern, "")
	}
	cleaned, ok := paths.Clean(p)
	if !ok {
		return nil, ErrUndefined
	}
	match, err := doublestar.Match(pattern, cleaned)
	if err != nil {
		return nil, fault.Errorf("%q is not a glob: %w", pattern, err)
	}
	return match, nil
}
