package rego

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// module is a package of rules, all of which compile, with the names of those
// that are documents.
func (g *grammar) module() (c *ast.Compiler, text string, rules []string) {
	text = "package p\n\n"
	for i := range 2 + g.IntN(6) {
		for range 12 {
			before := *g
			added := g.rule(i)
			if linked := compileFuzz(text + added); linked != nil {
				c, text = linked, text+added
				break
			}
			g.complete, g.sets, g.objects, g.functions = before.complete, before.sets, before.objects, before.functions
		}
	}
	return c, text, slices.Concat(g.complete, g.sets, g.objects)
}

// compileFuzz compiles a module, or returns nil.
func compileFuzz(text string) *ast.Compiler {
	module, err := ast.ParseModuleWithOpts("p.rego", text, ast.ParserOptions{RegoVersion: ast.RegoV1})
	if err != nil {
		return nil
	}
	c := newOPACompiler(ast.RegoV1, nil)
	c.Compile(map[string]*ast.Module{"p.rego": module})
	if c.Failed() {
		return nil
	}
	return c
}

// value is an input's value, of any kind.
func (g *grammar) value(depth int) string {
	switch n := g.IntN(12); {
	case n < 3:
		return g.text()
	case n < 6:
		return pick(g, fuzzNumbers...)
	case n == 6:
		return pick(g, "true", "false", "null")
	case n < 9 && depth < 3:
		return fmt.Sprintf("[%s, %s]", g.value(depth+1), g.value(depth+1))
	case depth < 3:
		return fmt.Sprintf(`{"a": %s, "b": {"c": %s}}`, g.value(depth+1), g.value(depth+1))
	}
	return `"rm -rf /tmp/a"`
}

// input is an event, with wrong types and missing fields here and there.
func (g *grammar) input() string {
	fields := []string{}
	add := func(name, usual string) {
		switch {
		case g.chance(15):
		case g.chance(20):
			fields = append(fields, fmt.Sprintf("%q: %s", name, g.value(0)))
		default:
			fields = append(fields, fmt.Sprintf("%q: %s", name, usual))
		}
	}
	add("tool_name", g.text())
	add("tool_input", fmt.Sprintf(`{"command": %s, "path": %s, "n": %s, "args": [%s, %s]}`,
		pick(g, g.text(), `"rm -rf /etc/a"`), g.text(), pick(g, fuzzNumbers...), g.text(), g.scalar()))
	add("list", fmt.Sprintf("[%s, %s, %s]", g.scalar(), g.scalar(), g.value(1)))
	add("map", fmt.Sprintf(`{"a": %s, "b": {"c": %s}}`, g.scalar(), g.scalar()))
	add("n", pick(g, fuzzNumbers...))
	add("m", g.scalar())
	add("flag", pick(g, "true", "false"))
	add("user", pick(g, `"a"`, `"b"`, `{"name": "a"}`))
	return "{" + strings.Join(fields, ", ") + "}"
}
