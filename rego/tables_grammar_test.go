package rego

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// tables writes policies that look things up in documents made of rules: the
// rules of a table have names of one to four parts, variables among them, and
// what reads it does so by computed names, in negations, in every, under with
// and through functions, also in other files. A policy is package p, with the
// packages it imports and base documents.
type tables struct {
	*rand.Rand
	// held says that the classes kept apart are written too.
	held bool
	// refs are the tables, as the rules of p refer to them; functions and helpers
	// are those of p.
	refs, functions, helpers []string
	fresh, depth             int
	// tried and compiled count the modules with one more rule, as they are
	// written.
	tried, compiled int
	modern          bool
}

var (
	tableKeys = []string{"a", "b", "c", "d"}
	tableBase = `{"base": {"a": {"b": 1, "c": {"d": "x"}}, "b": [1, {"a": 2}, "c"], "c": "c", "n": 3, "d": null, "f": false}, "lib": {"base": {"a": 1, "b": {"c": 2}}}}`
)

func (g *tables) one(list ...string) string { return list[g.IntN(len(list))] }

func (g *tables) chance(percent int) bool { return g.IntN(100) < percent }

func (g *tables) key() string { return g.one(tableKeys...) }

func (g *tables) variable() string {
	g.fresh++
	return fmt.Sprintf("v%d", g.fresh)
}

func (g *tables) scalar() string {
	return g.one(`"a"`, `"b"`, `"c"`, "1", "1.0", "2", "true", "false", "null", `"x"`)
}

// constant is a value of a table's entry.
func (g *tables) constant() string {
	return g.one(g.scalar(), g.scalar(), "true", "false", fmt.Sprintf(`{"%s": %s}`, g.key(), g.scalar()),
		fmt.Sprintf(`{"%s": {"%s": %s}, "%s": 1}`, g.key(), g.key(), g.scalar(), g.key()),
		fmt.Sprintf("[%s, %s]", g.scalar(), g.scalar()), fmt.Sprintf("{%s, %s}", g.scalar(), g.scalar()))
}

// name is what a lookup is computed by.
func (g *tables) name() string {
	return g.one("input.k", "input.k", "input.l", "input.m", "input.o.k", "input.list[0]", `"a"`, `"b"`, "lower(input.k)")
}

// test is a condition of the event alone.
func (g *tables) test() string {
	return g.one(fmt.Sprintf(`input.k == "%s"`, g.key()), fmt.Sprintf(`input.l == "%s"`, g.key()), "input.flag", "not input.flag",
		"input.n > 1", `input.k in ["a", "c"]`, `startswith(input.k, "a")`, "input.m", "true", "true")
}

// table writes the rules of a table, whose parts have up to four names.
func (g *tables) table(name string) string {
	var b strings.Builder
	kinds := []func(string) string{g.complete, g.complete, g.partial, g.partialSet, g.defaulted, g.chain}
	switch g.IntN(8) {
	case 0: // One kind of rule, beneath each other.
		kinds = kinds[:1]
	case 5, 6: // Names of one length.
		for range 2 + g.IntN(4) {
			fmt.Fprintf(&b, "%s.%s := %s if %s\n", name, g.key(), g.constant(), g.test())
		}
		return b.String()
	case 1:
		kinds = []func(string) string{g.partial}
	case 2:
		kinds = []func(string) string{g.partialSet, g.complete}
	case 3:
		kinds = []func(string) string{g.complete, g.defaulted, g.chain}
	case 4:
		kinds = append(kinds, g.tableFunction)
	}
	deep := g.IntN(4)
	for range 1 + g.IntN(4) {
		at := name
		for range g.IntN(deep + 1) {
			at += "." + g.key()
		}
		b.WriteString(kinds[g.IntN(len(kinds))](at))
	}
	return b.String()
}

func (g *tables) complete(at string) string {
	at += g.one("", "."+g.key(), "."+g.key()+"."+g.key())
	if g.chance(50) {
		return fmt.Sprintf("%s := %s\n", at, g.constant())
	}
	return fmt.Sprintf("%s := %s if %s\n", at, g.one(g.constant(), "input.n", "input.o"), g.test())
}

func (g *tables) defaulted(at string) string {
	at += g.one("", "."+g.key())
	text := fmt.Sprintf("default %s := %s\n", at, g.constant())
	if g.chance(70) {
		text += fmt.Sprintf("%s := %s if %s\n", at, g.constant(), g.test())
	}
	return text
}

func (g *tables) chain(at string) string {
	return fmt.Sprintf("%s := %s if { %s } else := %s if { %s }\n", at, g.constant(), g.test(), g.constant(), g.test())
}

func (g *tables) tableFunction(at string) string {
	return fmt.Sprintf("%s.f(x) := %s if x == %s\n", at, g.one("x", g.constant()), g.scalar())
}

// over binds k and v to keys and values.
func (g *tables) over() string {
	return g.one(fmt.Sprintf(`some k, v in {"%s": %s, "%s": %s}`, g.key(), g.constant(), g.key(), g.scalar()),
		fmt.Sprintf(`some k in ["%s", "%s"]; v := %s`, g.key(), g.key(), g.constant()),
		"some k, v in input.o", "some k in input.list; v := input.n", "k := input.k; v := input.l",
		"some k, v in data.base.a", "some k, v in input.list")
}

func (g *tables) partial(at string) string {
	head := g.one("[k]", "[k]", "[k]."+g.key(), "."+g.key()+"[k]", "[k][v]", "."+g.key()+"[k]."+g.key(), "[k]."+g.key()+"."+g.key(), "[input.k]", "["+g.scalar()+"]")
	value := g.one("v", "v", "1", g.constant(), "k")
	return fmt.Sprintf("%s%s := %s if { %s }\n", at, head, value, g.and(g.over()))
}

func (g *tables) and(body string) string {
	if g.chance(30) {
		return body + "; " + g.test()
	}
	return body
}

func (g *tables) partialSet(at string) string {
	head := g.one("", "", "[k]", "."+g.key(), "[k]."+g.key(), "."+g.key()+"[k]")
	return fmt.Sprintf("%s%s contains %s if { %s }\n", at, head, g.one("v", "k", "[k, v]", g.scalar()), g.and(g.over()))
}

// lookup reads a table by names, the first of which is mostly computed; vars
// are those that may be used.
func (g *tables) lookup(vars ...string) string {
	ref := g.one(g.refs...)
	for i := range 1 + g.IntN(3) {
		switch {
		case len(vars) > 0 && g.chance(60):
			ref += "[" + g.one(vars...) + "]"
		case i == 0 && g.chance(70), g.chance(35):
			ref += "[" + g.name() + "]"
		default:
			ref += "." + g.key()
		}
	}
	return ref
}

// read is a value that comes of a table: bound ones stand in negations, where
// no variable may be new.
func (g *tables) read(vars ...string) string {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 3 {
		return g.lookup(vars...)
	}
	switch g.IntN(14) {
	case 0:
		return fmt.Sprintf("count(%s)", g.lookup(vars...))
	case 1:
		return fmt.Sprintf("object.get(%s, %s, %s)", g.one(g.refs...), g.name(), g.scalar())
	case 2:
		return fmt.Sprintf("[%s | %s]", g.one("w", "1"), fmt.Sprintf("some w in [\"a\", \"b\", \"z\"]; %s", g.fact("w")))
	case 3:
		return fmt.Sprintf("{w: x | some w in %s; x := %s}", g.one(`["a", "b", "c"]`, "input.list"), g.lookup("w"))
	case 4:
		return g.one(g.refs...)
	case 5:
		if len(g.functions) > 0 {
			return fmt.Sprintf("%s(%s)", g.one(g.functions...), g.one(append(vars, g.name())...))
		}
	case 6:
		if len(g.helpers) > 0 {
			return g.one(g.helpers...)
		}
	case 7:
		return fmt.Sprintf("[%s, %s]", g.lookup(vars...), g.scalar())
	case 8:
		return fmt.Sprintf("{x | some x in %s}", g.lookup(vars...))
	case 9:
		if g.held {
			return g.heldRead(vars...)
		}
	}
	return g.lookup(vars...)
}

// fact is a condition without new variables.
func (g *tables) fact(vars ...string) string {
	read := g.read(vars...)
	text := ""
	switch g.IntN(9) {
	case 0, 1:
		text = read
	case 2, 3:
		text = fmt.Sprintf("%s %s %s", read, g.one("==", "==", "!=", ">", "<="), g.scalar())
	case 4:
		text = fmt.Sprintf("%s in %s", g.one(g.name(), g.scalar()), read)
	case 5:
		text = fmt.Sprintf("%s in [%s, %s]", read, g.scalar(), g.scalar())
	case 6:
		text = fmt.Sprintf("is_string(%s)", read)
	case 7:
		text = fmt.Sprintf("%s == %s", read, g.lookup(vars...))
	case 8:
		text = fmt.Sprintf("contains(%s, %s)", read, g.scalar())
	}
	if g.chance(45) {
		text = "not " + text
	}
	if g.chance(15) {
		text += g.with()
	}
	return text
}

func (g *tables) with() string {
	target := g.one("input.k", "input.k", "input.l", "input", "input.o", "data.base.a", "data.base", "data.base.new", "data.lib.base", "data.none")
	as := g.one(`"a"`, `"b"`, `"z"`, `{"k": "a", "l": "b"}`, "1", "input.o", "input.l")
	switch {
	case g.chance(25):
		target = "data." + strings.TrimPrefix(absolute(g.one(g.refs...)), "data.")
		target += g.one("", "."+g.key(), "."+g.key()+"."+g.key())
		as = g.one(as, g.constant())
	case len(g.functions) > 0 && g.chance(20):
		target, as = g.one(g.functions...), g.one(g.functions...)
	case g.chance(10):
		target, as = "lower", g.one(append(g.functions, "upper", `"a"`)...)
	}
	text := fmt.Sprintf(" with %s as %s", target, as)
	if g.chance(15) {
		text += fmt.Sprintf(" with input.%s as %s", g.one("l", "m"), g.scalar())
	}
	return text
}

// absolute is a table's whole name.
func absolute(ref string) string {
	if strings.HasPrefix(ref, "data.") {
		return ref
	}
	if strings.HasPrefix(ref, "lib") {
		return "data." + ref
	}
	return "data.p." + ref
}

// plain is a condition that asks for no table: of a function or a helper, also
// where with replaces it.
func (g *tables) plain() string {
	text := g.test()
	switch {
	case len(g.functions) > 0 && g.chance(50):
		text = fmt.Sprintf("%s(%s) == %s", g.one(g.functions...), g.name(), g.one("1", g.name()))
		if g.chance(40) {
			text += fmt.Sprintf(" with %s as %s", g.one(g.functions...), g.one(append(g.functions, "lower", `"a"`)...))
		}
	case len(g.helpers) > 0:
		text = g.one(g.helpers...)
		if g.chance(40) {
			text += fmt.Sprintf(" with data.p.%s as %s", g.one(g.helpers...), g.one("true", "1", "input.flag"))
		}
	}
	if g.chance(40) {
		return "not " + text
	}
	return text
}

// statement is an expression of a body; it adds the variables it binds.
func (g *tables) statement(vars *[]string) string {
	switch g.IntN(16) {
	case 0, 1, 2, 3:
		return g.fact(*vars...)
	case 13, 14, 15:
		return g.plain()
	case 4:
		v := g.variable()
		text := fmt.Sprintf("%s := %s", v, g.read(*vars...))
		*vars = append(*vars, v)
		return text
	case 5:
		return fmt.Sprintf("every w in %s { %s }", g.one(`["a", "b"]`, `["c", "z"]`, "input.list", g.read(*vars...)), g.fact(append(*vars, "w")...))
	case 6:
		return fmt.Sprintf("every k, w in %s { %s %s %s }", g.lookup(*vars...), g.one("k", "w"), g.one("==", "!="), g.one(g.scalar(), "input.k"))
	case 7:
		v := g.variable()
		text := fmt.Sprintf("some %s in %s", v, g.one(`["a", "b", "c", "z"]`, "input.list", g.read(*vars...)))
		*vars = append(*vars, v)
		return text
	case 8:
		v := g.variable()
		text := fmt.Sprintf("some %s; %s[%s]%s", v, g.one(g.refs...), v, g.one("", "."+g.key(), " == "+g.scalar(), "["+g.name()+"]", "[_]"))
		*vars = append(*vars, v)
		return text
	case 9:
		v, w := g.variable(), g.variable()
		text := fmt.Sprintf("some %s, %s in %s", v, w, g.read(*vars...))
		*vars = append(*vars, v, w)
		return text
	case 10:
		switch {
		case g.modern && g.chance(50):
			return fmt.Sprintf("not { %s; %s }", g.fact(*vars...), g.fact(*vars...))
		case g.modern:
			return fmt.Sprintf("%s %s %s", g.test(), g.one("and", "or"), g.one(g.test(), "input.k == input.l"))
		}
		v := g.variable()
		text := fmt.Sprintf("walk(%s, [_, %s])", g.one("input.o", "input", "data.base", g.lookup(*vars...)), v)
		*vars = append(*vars, v)
		return text
	case 11:
		if g.held {
			return g.heldStatement(vars)
		}
	}
	return g.test()
}

func (g *tables) body() string {
	var vars, out []string
	for range 1 + g.IntN(3) {
		out = append(out, g.statement(&vars))
	}
	return strings.Join(out, "; ")
}

// reader writes a rule that reads tables.
func (g *tables) reader(i int) string {
	name := fmt.Sprintf("r%d", i)
	var b strings.Builder
	switch g.IntN(9) {
	case 0:
		body := g.one(g.fact("x"), g.test(), `x in ["a", "b", 1]`, `x != "c"`)
		fmt.Fprintf(&b, "%s(x) := %s if { %s }\n", name, g.one("x", "1", g.lookup("x")), body)
		if g.chance(40) {
			fmt.Fprintf(&b, "default %s(_) := %s\n", name, g.scalar())
		}
		g.functions = append(g.functions, name)
		return b.String()
	case 1:
		fmt.Fprintf(&b, "%s if { %s }\n", name, g.one(g.body(), g.test()))
		if g.chance(50) {
			fmt.Fprintf(&b, "default %s := false\n", name)
		}
		g.helpers = append(g.helpers, name)
		return b.String()
	case 2:
		fmt.Fprintf(&b, "%s := %s if { %s } else := %s if { %s }\n", name, g.one("1", g.lookup()), g.body(), g.scalar(), g.body())
		g.helpers = append(g.helpers, name)
		return b.String()
	case 3:
		fmt.Fprintf(&b, "%s := %s\n", name, g.read())
		return b.String()
	case 4:
		fmt.Fprintf(&b, "%s[k] := v if { some k in [\"a\", \"b\", \"z\"]; v := %s }\n", name, g.read("k"))
		return b.String()
	}
	for range 1 + g.IntN(2) {
		fmt.Fprintf(&b, "%s contains %s if { %s }\n", name, g.one(`"x"`, `"y"`, g.lookup()), g.body())
	}
	return b.String()
}

// policy is a policy that compiles, by the names of its files, with its rules.
func (g *tables) policy() (*ast.Compiler, map[string]string, []string) {
	var wants []string
	g.modern = g.chance(20)
	files := map[string]string{}
	head := "package p\n"
	if g.modern {
		head += "import future.keywords.not\nimport future.keywords.and\nimport future.keywords.or\n"
	}
	libs := []string{"lib", "lib.a", "lib.b.c"}
	if g.chance(60) {
		head += "import data.lib\n"
		for _, lib := range libs[:1+g.IntN(len(libs))] {
			g.grow(files, lib+".rego", "package "+lib+"\n", func() string { return g.table(g.one("t", "c", "a")) })
		}
		g.refs = append(g.refs, g.one("lib", "lib.t", "lib.a"), "lib", "lib.a.t", g.one("data.lib", "data.lib.base", "data.lib.c"))
	}
	g.refs = append(g.refs, "data.base")
	files["p.rego"] = head
	for i := range 1 + g.IntN(3) {
		name := fmt.Sprintf("t%d", i)
		if g.grow(files, "p.rego", "", func() string { return g.table(name) }) {
			g.refs = append(g.refs, name, name, name)
			wants = append(wants, "data.p."+name)
		}
	}
	for i := range 3 + g.IntN(4) {
		if g.grow(files, "p.rego", "", func() string { return g.reader(i) }) {
			wants = append(wants, fmt.Sprintf("data.p.r%d", i))
		}
	}
	wants = slices.DeleteFunc(wants, func(w string) bool { return slices.Contains(g.functions, strings.TrimPrefix(w, "data.p.")) })
	return compileFiles(files), files, append(wants, "data.p", "data.lib")
}

// grow adds rules to a file when it then compiles still.
func (g *tables) grow(files map[string]string, name, head string, write func() string) bool {
	for range 6 {
		g.tried++
		functions, helpers := slices.Clone(g.functions), slices.Clone(g.helpers)
		next := maps.Clone(files)
		if next[name] == "" {
			next[name] = head
		}
		next[name] += write()
		if compileFiles(next) != nil {
			maps.Copy(files, next)
			g.compiled++
			return true
		}
		g.functions, g.helpers = functions, helpers
	}
	return false
}

// compileFiles compiles modules, or returns nil: OPA's compiler panics over some
// names of rules.
func compileFiles(files map[string]string) *ast.Compiler { return compileFilesAs(ast.RegoV1, files) }

func compileFilesAs(version ast.RegoVersion, files map[string]string) (c *ast.Compiler) {
	defer func() {
		if recover() != nil {
			c = nil
		}
	}()
	modules := map[string]*ast.Module{}
	for name, text := range files {
		m, err := ast.ParseModuleWithOpts(name, text, ast.ParserOptions{RegoVersion: version})
		if err != nil {
			return nil
		}
		modules[name] = m
	}
	c = newOPACompiler(version, nil)
	c.Compile(modules)
	if c.Failed() {
		return nil
	}
	return c
}

// input is an event: what lookups are computed by is a key of some table, or of
// none, or is something else, or is not there.
func (g *tables) input() string {
	var fields []string
	add := func(name string, usual ...string) {
		switch {
		case g.chance(10):
		case g.chance(12):
			fields = append(fields, fmt.Sprintf("%q: %s", name, g.one("null", "1", "1.0", "false", "[]", `["a"]`, `{"a": 1}`, `"zz"`, "9007199254740993")))
		default:
			fields = append(fields, fmt.Sprintf("%q: %s", name, g.one(usual...)))
		}
	}
	keys := []string{`"a"`, `"b"`, `"c"`, `"d"`, `"f"`, `"t"`}
	add("k", keys...)
	add("l", keys...)
	add("m", keys...)
	add("n", "0", "1", "2", "3", "1.5")
	add("flag", "true", "false")
	add("o", `{"k": "a", "a": 1}`, `{"k": "b", "b": {"c": 2}}`, `{"a": {"b": 1}, "b": "a"}`, "{}")
	add("list", `["a", "b"]`, `["c"]`, `["z", "a"]`, "[]", `[1, "d"]`)
	return "{" + strings.Join(fields, ", ") + "}"
}
