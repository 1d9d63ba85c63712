package builtins

import (
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/policy"
)

// The `_real` functions look at the disk: they follow symbolic links, which
// the lexical functions cannot. A path that does not exist yet is resolved as
// far as it exists, a dangling link to where it points, so that the answer is
// where a write would land.

var _ = register(Func{
	Name: "path.real", Params: []Param{{Name: "p", Type: str}, {Name: "base", Type: str}}, Result: str, World: policy.WorldRead,
	Call: func(args []any) (any, error) { return paths.Real(text(args[0]), text(args[1])) },
	Doc:  "p, from base when relative, with every symbolic link followed; parts that do not exist are kept",
	Examples: []Example{
		{Call: `path.real("/", "/")`, Want: "/"},
	},
})

var _ = register(Func{
	Name: "path.within_real", Params: []Param{{Name: "p", Type: str}, {Name: "root", Type: str}}, Result: policy.BoolType, World: policy.WorldRead,
	Call: func(args []any) (any, error) { return withinReal(text(args[0]), text(args[1])) },
	Doc:  "whether p, from root when relative, is root or lies below it once every symbolic link is followed",
	Examples: []Example{
		{Call: `path.within_real("/", "/")`, Want: true},
	},
})

func withinReal(p, dir string) (bool, error) {
	resolved, err := paths.Real(p, dir)
	if err != nil {
		return false, err
	}
	resolvedDir, err := paths.Real(dir, dir)
	if err != nil {
		return false, err
	}
	return paths.Within(resolved, resolvedDir)
}
