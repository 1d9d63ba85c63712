package rego

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// grammar writes random guardrail Rego. A rule refers to those written before
// it only, so nothing is recursive.
type grammar struct {
	*rand.Rand
	// Names of what is defined so far, by kind.
	complete, sets, objects, functions []string
	vars                               []string
	fresh, depth                       int
}

const fuzzData = `{
	"limits": {"max": 3, "tools": ["Bash", "Write"], "levels": {"Bash": 2, "Read": 1.0, "x": "y"}, "none": null},
	"users": [{"name": "a", "roles": ["admin", "dev"]}, {"name": "b", "roles": []}, {"name": 3}],
	"codes": {"404": "missing", "1": "one", "t": true},
	"words": ["rm -rf", "curl", "", "é"],
	"flag": true,
	"p": {}
}`

func pick[T any](g *grammar, list ...T) T { return list[g.IntN(len(list))] }

func (g *grammar) chance(percent int) bool { return g.IntN(100) < percent }

var fuzzFields = []string{"tool_name", "tool_input", "tool_input.command", "tool_input.path", "tool_input.n", "list",
	"list[0]", "map", "map.a", "map.b.c", "n", "m", "flag", "user", "missing", "tool_input.args"}

var fuzzTexts = []string{`"Bash"`, `"Write"`, `"rm"`, `"rm -rf /"`, `""`, `"a"`, `"b"`, `"/etc/"`, `"é"`, `"1"`, `"git push --force"`}

var fuzzNumbers = []string{"0", "1", "1.0", "2", "-1", "3.5", "10", "1e3", "9007199254740993", "0.1", "100000000000000000000"}

func (g *grammar) text() string { return pick(g, fuzzTexts...) }

func (g *grammar) scalar() string {
	return pick(g, g.text(), g.text(), pick(g, fuzzNumbers...), "true", "false", "null")
}

func (g *grammar) field() string { return "input." + pick(g, fuzzFields...) }

// dataRef reads base documents, some by computed keys.
func (g *grammar) dataRef() string {
	return pick(g, "data.limits.max", "data.limits.tools", "data.limits.levels", "data.limits.none", "data.flag",
		"data.words", "data.users", "data.users[0].name", "data.nothing", "data.codes.t", "data.limits.tools[1]",
		fmt.Sprintf("data.limits.levels[%s]", g.key()), fmt.Sprintf("data.codes[%s]", g.key()),
		fmt.Sprintf("data.limits[%s]", g.key()), fmt.Sprintf("data.words[%s]", g.key()), `data.codes["404"]`)
}

func (g *grammar) key() string {
	if len(g.vars) > 0 && g.chance(50) {
		return pick(g, g.vars...)
	}
	return pick(g, g.field(), g.scalar(), "_", "_")
}

func (g *grammar) newVar() string {
	g.fresh++
	return fmt.Sprintf("v%d", g.fresh)
}

// term is an expression with a value.
func (g *grammar) term() string {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 4 {
		return g.simple()
	}
	switch g.IntN(24) {
	case 0, 1, 2, 3, 4, 5, 6:
		return g.simple()
	case 7:
		return g.collection()
	case 8:
		return g.comprehension()
	case 9:
		return fmt.Sprintf("%s %s %s", g.term(), pick(g, "+", "-", "*", "/", "%"), g.term())
	case 10:
		return fmt.Sprintf("%s %s %s", g.collection(), pick(g, "&", "|", "-"), g.collection())
	case 11, 12:
		return g.textCall()
	case 13:
		return fmt.Sprintf("count(%s)", g.term())
	case 14:
		return fmt.Sprintf("sprintf(%s, [%s, %s])", pick(g, `"%v: %s"`, `"%d %v"`, `"%s"`, `"%q %v"`), g.term(), g.term())
	case 15:
		return fmt.Sprintf("object.get(%s, %s, %s)", g.term(), g.term(), g.scalar())
	case 16:
		return pick(g, fmt.Sprintf("max(%s)", g.term()), fmt.Sprintf("sum(%s)", g.term()), fmt.Sprintf("sort(%s)", g.term()),
			fmt.Sprintf("to_number(%s)", g.term()), fmt.Sprintf("type_name(%s)", g.term()), fmt.Sprintf("abs(%s)", g.term()),
			fmt.Sprintf("json.marshal(%s)", g.term()), fmt.Sprintf("object.keys(%s)", g.term()))
	case 17:
		if len(g.functions) > 0 {
			return fmt.Sprintf("%s(%s)", pick(g, g.functions...), g.term())
		}
	case 18:
		if len(g.objects) > 0 {
			return fmt.Sprintf("%s[%s]", pick(g, g.objects...), g.key())
		}
	case 19:
		return g.dataRef()
	case 20:
		return g.ruleRef()
	case 21:
		return fmt.Sprintf("{%s: %s, %s: %s}", g.simple(), g.term(), g.text(), g.term())
	case 22, 23:
		return g.moreTerm()
	}
	return g.simple()
}

func (g *grammar) ruleRef() string {
	all := slices.Concat(g.complete, g.sets, g.objects)
	if len(all) == 0 {
		return g.simple()
	}
	return pick(g, all...)
}

func (g *grammar) simple() string {
	if len(g.vars) > 0 && g.chance(60) {
		return pick(g, g.vars...)
	}
	return pick(g, g.field(), g.field(), g.field(), g.scalar(), g.dataRef(), fmt.Sprintf("input[%s]", g.key()))
}

func (g *grammar) textCall() string {
	return pick(g, fmt.Sprintf("lower(%s)", g.term()), fmt.Sprintf("concat(\"-\", %s)", g.collection()),
		fmt.Sprintf("split(%s, \" \")", g.term()), fmt.Sprintf("trim_space(%s)", g.term()), fmt.Sprintf("upper(%s)", g.term()),
		fmt.Sprintf("replace(%s, \"a\", %s)", g.term(), g.text()), fmt.Sprintf("substring(%s, 0, 3)", g.term()),
		fmt.Sprintf("format_int(%s, 10)", g.term()), fmt.Sprintf("path.base(%s)", g.term()),
		fmt.Sprintf("trim_prefix(%s, %s)", g.term(), g.text()), fmt.Sprintf("indexof(%s, %s)", g.term(), g.text()))
}

func (g *grammar) collection() string {
	switch g.IntN(9) {
	case 0:
		return fmt.Sprintf("{%s, %s}", g.scalar(), g.scalar())
	case 1:
		return fmt.Sprintf("[%s, %s, %s]", g.scalar(), g.simple(), g.text())
	case 2:
		return fmt.Sprintf("{%s: %s}", g.scalar(), g.simple())
	case 3:
		return pick(g, "data.limits.tools", "data.users", "data.words", "data.limits.levels", "data.codes")
	case 4, 5:
		return pick(g, "input.list", "input.map", "input.tool_input", "input.tool_input.args", "input")
	case 6:
		return g.ruleRef()
	case 7:
		return g.comprehension()
	}
	return fmt.Sprintf("{%s, %s}", g.simple(), g.text())
}

func (g *grammar) comprehension() string {
	defer g.scope()()
	body := g.body(1 + g.IntN(2))
	switch g.IntN(3) {
	case 0:
		return fmt.Sprintf("[%s | %s]", g.term(), body)
	case 1:
		return fmt.Sprintf("{%s | %s}", g.term(), body)
	}
	return fmt.Sprintf("{%s: %s | %s}", g.simple(), g.term(), body)
}

// scope begins a scope and returns what ends it.
func (g *grammar) scope() func() {
	outer := slices.Clone(g.vars)
	g.depth++
	return func() { g.vars = outer; g.depth-- }
}

func (g *grammar) body(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = g.expr()
	}
	return strings.Join(out, "; ")
}

// expr is a statement of a body.
func (g *grammar) expr() string {
	g.depth++
	defer func() { g.depth-- }()
	choice := g.IntN(27)
	if g.depth > 4 {
		choice = g.IntN(8)
	}
	switch choice {
	case 0, 1, 2:
		return fmt.Sprintf("%s %s %s", g.term(), pick(g, "==", "==", "!=", "<", "<=", ">", ">="), g.term())
	case 3, 4:
		return g.textTest()
	case 5:
		return fmt.Sprintf("%s in %s", g.simple(), g.collection())
	case 6:
		return g.term()
	case 7:
		return g.field()
	case 8, 9:
		return g.bind(fmt.Sprintf(" := %s", g.term()))
	case 10, 11:
		return "some " + g.bind(" in "+g.collection())
	case 12:
		in := " in " + g.collection()
		k := g.newVar()
		text := fmt.Sprintf("some %s, %s", k, g.bind(in))
		g.vars = append(g.vars, k)
		return text
	case 13, 14, 15:
		return g.negation()
	case 16:
		return g.every()
	case 17, 18:
		return g.with()
	case 19:
		return fmt.Sprintf("[%s, %s] = %s", g.bind(""), g.scalar(), pick(g, g.field(), g.ruleRef()))
	case 20:
		return fmt.Sprintf("{\"a\": %s} = %s", g.bind(""), pick(g, g.field(), g.ruleRef()))
	case 21:
		return fmt.Sprintf("%s = %s[%s]", g.bind(""), pick(g, "input.list", "input.map", g.ruleRef(), "data.limits.levels"), g.bind(""))
	case 22:
		if len(g.sets) > 0 {
			return fmt.Sprintf("%s[%s]", pick(g, g.sets...), pick(g, g.simple(), g.bind("")))
		}
	case 23:
		return fmt.Sprintf("walk(%s, [_, %s])", g.collection(), g.bind(""))
	case 24, 25, 26:
		return g.moreExpr()
	}
	return fmt.Sprintf("%s == %s", g.field(), g.scalar())
}

// bind is a new variable with what binds it.
func (g *grammar) bind(how string) string {
	v := g.newVar()
	g.vars = append(g.vars, v)
	return v + how
}

func (g *grammar) textTest() string {
	return pick(g, fmt.Sprintf("contains(%s, %s)", g.term(), g.text()), fmt.Sprintf("startswith(%s, %s)", g.term(), g.text()),
		fmt.Sprintf("endswith(%s, %s)", g.term(), g.text()),
		fmt.Sprintf("regex.match(%s, %s)", pick(g, "`^rm\\b`", "`a.*b`", "`(?i)bash`", "`[0-9]+`", "`(`"), g.term()),
		fmt.Sprintf("glob.match(%s, %s, %s)", pick(g, `"*.go"`, `"/etc/**"`, `"B*"`), pick(g, `["/"]`, "[]", "null"), g.term()),
		fmt.Sprintf("strings.any_prefix_match(%s, %s)", g.term(), g.collection()),
		fmt.Sprintf("path.within(%s, %s)", g.term(), g.text()))
}

func (g *grammar) negation() string {
	defer g.scope()()
	return "not " + pick(g, g.textTest(), fmt.Sprintf("%s == %s", g.term(), g.term()), g.term(),
		fmt.Sprintf("%s in %s", g.simple(), g.collection()), g.ruleRef())
}

func (g *grammar) every() string {
	defer g.scope()()
	in := g.collection()
	v := g.bind("")
	if g.chance(30) {
		v = fmt.Sprintf("%s, %s", g.bind(""), v)
	}
	return fmt.Sprintf("every %s in %s { %s }", v, in, g.body(1+g.IntN(2)))
}

func (g *grammar) with() string {
	what := pick(g, g.term(), g.ruleRef(), fmt.Sprintf("%s == %s", g.ruleRef(), g.term()), fmt.Sprintf("%s := %s", g.newVar(), g.ruleRef()))
	if v, _, ok := strings.Cut(what, " := "); ok {
		g.vars = append(g.vars, v)
	}
	target := pick(g, "input", "input.tool_name", "input.tool_input.command", "input.list", "input.map.a", "data.limits.max",
		"data.fresh", "data.limits", "data.fresh.a")
	if len(g.complete) > 0 && g.chance(20) {
		target = "data.p." + pick(g, g.complete...)
	}
	if len(g.functions) > 0 && g.chance(20) {
		target = pick(g, g.functions...)
	}
	text := fmt.Sprintf("%s with %s as %s", what, target, g.simple())
	if g.chance(20) {
		text += fmt.Sprintf(" with input.user as %s", g.term())
	}
	return text
}

// rule writes one rule, which those after it may use.
func (g *grammar) rule(i int) string {
	g.vars, g.depth = nil, 0
	name := fmt.Sprintf("r%d", i)
	switch g.IntN(10) {
	case 0, 1:
		text := g.completeRule(name)
		g.complete = append(g.complete, name)
		return text
	case 2:
		text := g.function(name)
		if g.chance(50) {
			text = g.clauses(name)
			if strings.Contains(text, name+"x(arg)") {
				name += "x"
			}
		}
		g.functions = append(g.functions, name)
		return text
	case 3, 4:
		text := g.object(name)
		g.objects = append(g.objects, name)
		return text
	}
	var b strings.Builder
	for range 1 + g.IntN(3) {
		g.vars, g.depth = nil, 0
		body := g.body(1 + g.IntN(4))
		fmt.Fprintf(&b, "%s contains %s if { %s }\n", name, g.term(), body)
	}
	g.sets = append(g.sets, name)
	return b.String()
}

func (g *grammar) completeRule(name string) string {
	var b strings.Builder
	if g.chance(50) {
		fmt.Fprintf(&b, "default %s := %s\n", name, g.scalar())
	}
	for range 1 + g.IntN(2) {
		g.vars, g.depth = nil, 0
		body := g.body(1 + g.IntN(3))
		value := pick(g, "true", "true", g.scalar(), g.term())
		fmt.Fprintf(&b, "%s := %s if { %s }", name, value, body)
		for g.chance(30) {
			g.vars, g.depth = nil, 0
			body := g.body(1 + g.IntN(2))
			fmt.Fprintf(&b, " else := %s if { %s }", g.term(), body)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (g *grammar) function(name string) string {
	var b strings.Builder
	if g.chance(30) {
		fmt.Fprintf(&b, "default %s(_) := %s\n", name, g.scalar())
	}
	for range 1 + g.IntN(2) {
		g.vars, g.depth = []string{"arg"}, 0
		if g.chance(20) {
			fmt.Fprintf(&b, "%s(%s) := %s\n", name, g.scalar(), g.scalar())
			continue
		}
		body := g.body(1 + g.IntN(3))
		fmt.Fprintf(&b, "%s(arg) := %s if { %s }", name, pick(g, "true", g.scalar(), g.term()), body)
		if g.chance(30) {
			g.vars = []string{"arg"}
			fmt.Fprintf(&b, " else := %s", g.simple())
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (g *grammar) object(name string) string {
	var b strings.Builder
	shape := g.IntN(4)
	for range 1 + g.IntN(2) {
		g.vars, g.depth = nil, 0
		body := g.body(1 + g.IntN(3))
		switch shape {
		case 0, 1:
			fmt.Fprintf(&b, "%s[%s] := %s if { %s }\n", name, g.index(), g.term(), body)
		case 2:
			fmt.Fprintf(&b, "%s[%s] contains %s if { %s }\n", name, g.index(), g.term(), body)
		case 3:
			fmt.Fprintf(&b, "%s[%s][%s] := %s if { %s }\n", name, g.index(), g.index(), g.term(), body)
		}
	}
	return b.String()
}

func (g *grammar) index() string {
	if len(g.vars) > 0 && g.chance(70) {
		return pick(g, g.vars...)
	}
	return g.text()
}
