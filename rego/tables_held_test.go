package rego

import "fmt"

// heldRead and heldStatement are the classes that were kept apart: they were
// written with the others, and nobody looked at what came of them until the
// compiler's part was done. docs/rego.md has the figure.
func (g *tables) heldRead(vars ...string) string {
	switch g.IntN(7) {
	case 0:
		return fmt.Sprintf("object.union(%s, %s)", g.one(g.refs...), g.lookup(vars...))
	case 1:
		return fmt.Sprintf("json.marshal(%s)", g.lookup(vars...))
	case 2:
		return fmt.Sprintf("%s[%s][%s]", g.one(g.refs...), g.lookup(vars...), g.name())
	case 3:
		return fmt.Sprintf("object.keys(%s)", g.lookup(vars...))
	case 4:
		return fmt.Sprintf("%s[[%s, %s]]", g.one(g.refs...), g.scalar(), g.scalar())
	case 5:
		return fmt.Sprintf("[p | walk(%s, [p, _])]", g.lookup(vars...))
	}
	return fmt.Sprintf("$\"{%s}-{%s}\"", g.lookup(vars...), g.name())
}

func (g *tables) heldStatement(vars *[]string) string {
	v := g.variable()
	defer func() { *vars = append(*vars, v) }()
	switch g.IntN(7) {
	case 0:
		return fmt.Sprintf(`{"%s": %s} = %s`, g.key(), v, g.lookup(*vars...))
	case 1:
		return fmt.Sprintf("[%s, _] = %s", v, g.read(*vars...))
	case 2:
		return fmt.Sprintf("%s = %s[%s][%s]", v, g.one(g.refs...), g.name(), g.name())
	case 3:
		return fmt.Sprintf("walk(%s, [_, %s])", g.lookup(*vars...), v)
	case 4:
		return fmt.Sprintf("%s := {w | some w, _ in %s; not %s}", v, g.one(g.refs...), g.lookup("w"))
	case 5:
		return fmt.Sprintf("%s := [every_one | every_one := {w | every w in [\"a\", \"b\"] { not %s == %s }}]", v, g.lookup("w"), g.scalar())
	}
	return fmt.Sprintf("%s := %s%s%s", v, g.lookup(*vars...), g.with(), g.with())
}
