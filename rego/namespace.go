package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// privateRoot is where hooks' packages live; no author writes such a name.
const privateRoot = "hookc hook"

// privatise moves the hook's package to a namespace of its own, so that two
// hooks with one package name never merge (semantics.md §3.3), and makes its
// references to itself follow. What its package holds besides, shared files
// and data, stays where it is.
func (u *unit) privatise() {
	original := u.own.Package.Path
	key := u.hook.Tier.String() + "/" + string(u.hook.Event) + "/" + u.hook.Name
	private := ast.Ref{ast.DefaultRootDocument, ast.StringTerm(privateRoot), ast.StringTerm(key)}
	u.names = renaming{private: private, original: original}

	defined := map[string]bool{}
	for _, r := range u.own.Rules {
		defined[string(r.Head.Ref()[0].Value.(ast.Var))] = true
	}
	move := func(ref ast.Ref) ast.Ref {
		if !ref.HasPrefix(original) {
			return ref
		}
		if len(ref) > len(original) {
			if s, ok := ref[len(original)].Value.(ast.String); ok && !defined[string(s)] {
				return ref
			}
		}
		return private.Concat(ref[len(original):])
	}
	for _, i := range u.own.Imports {
		ref, ok := i.Path.Value.(ast.Ref)
		if !ok {
			continue
		}
		if moved := move(ref); !moved.Equal(ref) {
			i.Alias = i.Name()
			i.Path = &ast.Term{Value: moved, Location: i.Path.Location}
		}
	}
	for _, r := range u.own.Rules {
		if _, err := ast.TransformRefs(r, func(ref ast.Ref) (ast.Value, error) { return move(ref), nil }); err != nil {
			panic("rego: renaming a package failed: " + err.Error())
		}
	}
	u.own.Package.Path = private
}
