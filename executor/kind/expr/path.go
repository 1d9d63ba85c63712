package expr

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// constantKey is the name a member access uses when it is written out:
// .name or ["name"].
func constantKey(n *ast.MemberNode) (string, bool) {
	key, ok := n.Property.(*ast.StringNode)
	if !ok {
		return "", false
	}
	return key.Value, true
}

// pathRoot is the node that names the field a chain of members starts at, and
// its name: an identifier, or the name after $env.
func pathRoot(n ast.Node, lets []string) (ast.Node, string) {
	switch n := n.(type) {
	case *ast.ChainNode:
		return pathRoot(n.Node, lets)
	case *ast.IdentifierNode:
		if !lists.Has(lets, n.Value) && n.Value != "$env" {
			return n, n.Value
		}
	case *ast.MemberNode:
		if id, ok := n.Node.(*ast.IdentifierNode); ok && id.Value == "$env" {
			if name, ok := constantKey(n); ok {
				return n.Property, name
			}
			return nil, ""
		}
		return pathRoot(n.Node, lets)
	}
	return nil, ""
}

// fieldPath is the path of a chain of members with constant names that starts
// at a field.
func fieldPath(n ast.Node, lets []string) (policy.Path, bool) {
	root, name := pathRoot(n, lets)
	if root == nil {
		return policy.Path{}, false
	}
	field, ok := policy.ParseField(name)
	if !ok {
		return policy.Path{}, false
	}
	keys, ok := pathKeys(n, root)
	return policy.Path{Field: field, Keys: keys}, ok
}

func pathKeys(n, root ast.Node) ([]string, bool) {
	switch n := n.(type) {
	case *ast.ChainNode:
		return pathKeys(n.Node, root)
	case *ast.MemberNode:
		if n.Property == root {
			return nil, true
		}
		keys, ok := pathKeys(n.Node, root)
		if !ok {
			return nil, false
		}
		key, ok := constantKey(n)
		return append(keys, key), ok
	}
	return nil, n == root
}

// readable is a path as effects name it: a key that holds a dot, or nothing,
// cannot be written, and the path ends before it.
func readable(p policy.Path) policy.Path {
	i := slices.IndexFunc(p.Keys, func(k string) bool { return k == "" || strings.Contains(k, ".") })
	if i >= 0 {
		p.Keys = p.Keys[:i]
	}
	return p
}

// dotted is a chain of members as a dotted name: path.abs.
func dotted(n ast.Node, lets []string) (string, bool) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n.Value, !lists.Has(lets, n.Value) && n.Value != "$env"
	case *ast.MemberNode:
		base, ok := dotted(n.Node, lets)
		key, isName := constantKey(n)
		return base + "." + key, ok && isName
	}
	return "", false
}
