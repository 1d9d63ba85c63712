package rego

import (
	"fmt"
	"strings"
)

// rareTexts and rareNumbers are constants as few write them. Keys of collections
// made of alikeKeys have one hash in OPA.
var (
	rareTexts = []string{`"é🚀"`, `"e\u0301"`, `"İ"`, `"ß"`, `"\u0000"`, `"a\nb"`, `"\u202e"`, `"%d %v"`, "`\\d+`", `"日本"`, `"1e3"`, `" x "`}

	rareNumbers = []string{"1e400", "10e399", "-1e400", "1e-400", "9007199254740992", "9007199254740993.0", "1.00", "-0", "0.0", "1E2",
		"100", "0.30000000000000004", "123456789012345678901234567890", "-9223372036854775809", "2147483648", "1e19"}

	alikeKeys = []string{"null", "false", "0", "0.5", "[]", "{}", "set()", "-0", "[null]", "[0, 0]"}
)

func (g *grammar) odd() string {
	return pick(g, pick(g, rareTexts...), pick(g, rareNumbers...), pick(g, alikeKeys...))
}

// moreTerm is a term of what guardrails use less.
func (g *grammar) moreTerm() string {
	switch g.IntN(9) {
	case 0:
		return g.odd()
	case 1:
		return g.paths()
	case 2:
		return g.expressions()
	case 3:
		return g.format()
	case 4:
		return g.objects2()
	case 5:
		return g.template()
	case 6:
		return fmt.Sprintf("{%s: %s | %s}", g.keyed(), g.scalar(), "some kk in "+g.listOfKeys())
	case 7:
		return fmt.Sprintf("{%s, %s, %s}", g.simple(), g.simple(), g.odd())
	}
	return fmt.Sprintf("(%s %s %s)", g.collection(), pick(g, "&", "|", "-"), g.moreSet())
}

func (g *grammar) keyed() string { return pick(g, "kk", "[kk]", "{kk}", "{kk: 1}", "[kk, 1]") }

func (g *grammar) listOfKeys() string {
	return fmt.Sprintf("[%s, %s, %s, %s]", pick(g, alikeKeys...), pick(g, alikeKeys...), g.simple(), pick(g, alikeKeys...))
}

func (g *grammar) moreSet() string {
	return pick(g, fmt.Sprintf("{%s, %s}", g.odd(), g.simple()), fmt.Sprintf("{x | some x in %s}", g.collection()),
		fmt.Sprintf("union({%s, {%s}})", g.collection(), g.simple()), fmt.Sprintf("intersection({%s, %s})", g.collection(), g.collection()),
		"set()", fmt.Sprintf("object.keys(%s)", g.collection()))
}

// paths are lookups along paths.
func (g *grammar) paths() string {
	at := pick(g, `["a"]`, `["b", "c"]`, `"a"`, "[]", `["list", 0]`, "[0]", `["a", "b", "c"]`, g.simple())
	text := pick(g, `"a"`, `"b/c"`, `"/b/c"`, `"list/0"`, `"x~1y"`, `""`)
	return pick(g, fmt.Sprintf("object.get(%s, %s, %s)", g.collection(), at, g.simple()),
		fmt.Sprintf("object.get(input, %s, %s)", at, g.scalar()),
		fmt.Sprintf("json.filter(%s, [%s, %s])", g.collection(), text, text),
		fmt.Sprintf("json.remove(%s, [%s])", g.collection(), text),
		fmt.Sprintf(`json.patch(%s, [{"op": %s, "path": %s, "value": %s}])`, g.collection(), pick(g, `"add"`, `"remove"`, `"replace"`, `"test"`), text, g.simple()),
		fmt.Sprintf("[p | walk(%s, [p, _])]", g.collection()), fmt.Sprintf("[v | walk(%s, [[_, \"c\"], v])]", g.collection()),
		fmt.Sprintf("input[%s][%s]", g.key(), g.key()), fmt.Sprintf("input.list[%s]", pick(g, "1.0", "-1", "1e0", "1.5", g.key())))
}

// expressions are of regular expressions, globs and splitting.
func (g *grammar) expressions() string {
	re := pick(g, "`\\w+`", "`(a)(b)?`", "`^$`", "`[é-ü]`", "`rm\\s+-(\\w+)`", "`x*`", "`(`", "`(?P<n>[0-9]+)`")
	return pick(g, fmt.Sprintf("regex.find_n(%s, %s, %s)", re, g.term(), pick(g, "-1", "1", "0")),
		fmt.Sprintf("regex.find_all_string_submatch_n(%s, %s, -1)", re, g.term()),
		fmt.Sprintf("regex.replace(%s, %s, %s)", g.term(), re, pick(g, `"-$1"`, `"${1}x"`, `""`, g.text())),
		fmt.Sprintf("regex.split(%s, %s)", re, g.term()), fmt.Sprintf("regex.is_valid(%s)", g.term()),
		fmt.Sprintf("glob.quote_meta(%s)", g.term()), fmt.Sprintf("trim(%s, %s)", g.term(), g.text()),
		fmt.Sprintf("strings.replace_n({%s: %s}, %s)", g.text(), g.text(), g.term()), fmt.Sprintf("indexof_n(%s, %s)", g.term(), g.text()),
		fmt.Sprintf("substring(%s, %s, %s)", pick(g, g.term(), `"é🚀x"`), pick(g, "0", "1", "2", "-1"), pick(g, "-1", "0", "2", "1.0")),
		fmt.Sprintf("strings.reverse(%s)", g.term()), fmt.Sprintf("sprintf(\"%%s\", [%s])", g.term()))
}

func (g *grammar) format() string {
	verb := pick(g, "%v", "%d", "%s", "%q", "%x", "%5d", "%-5s|", "%05.1f", "%.2f", "%t", "%T", "%c", "%U", "%%", "%e", "%g", "%+d", "%o", "%b", "%08v", "%[2]v", "%!", "%")
	return fmt.Sprintf("sprintf(\"%s %s\", [%s, %s])", verb, pick(g, "%v", "%d", "x"), pick(g, g.term(), g.odd()), g.simple())
}

// objects2 are functions of objects, arrays and numbers.
func (g *grammar) objects2() string {
	return pick(g, fmt.Sprintf("object.union(%s, %s)", g.collection(), g.collection()),
		fmt.Sprintf("object.union_n([%s, {%s: %s}])", g.collection(), g.scalar(), g.simple()),
		fmt.Sprintf("object.remove(%s, [%s])", g.collection(), g.simple()), fmt.Sprintf("object.filter(%s, {%s})", g.collection(), g.odd()),
		fmt.Sprintf("object.subset(%s, %s)", g.collection(), g.collection()), fmt.Sprintf("array.concat(%s, %s)", g.collection(), g.collection()),
		fmt.Sprintf("array.slice(%s, %s, 2)", g.collection(), pick(g, "0", "1", "-1", "5")), fmt.Sprintf("array.reverse(%s)", g.collection()),
		fmt.Sprintf("numbers.range(%s, 3)", pick(g, "0", "3", "-1", "1.0", "input.n")), fmt.Sprintf("round(%s)", pick(g, g.odd(), g.term())),
		fmt.Sprintf("floor(%s)", pick(g, g.odd(), g.term())), fmt.Sprintf("product(%s)", g.collection()), fmt.Sprintf("min(%s)", g.collection()),
		fmt.Sprintf("base64.encode(%s)", g.term()), fmt.Sprintf("json.unmarshal(%s)", pick(g, g.term(), "`[1.0, 1e400]`", "`{\"a\": -0}`")),
		fmt.Sprintf("to_number(%s)", pick(g, g.odd(), `"1.0"`, `"0x1"`, `" 1"`, `"-0"`)), fmt.Sprintf("bits.and(%s, %s)", g.term(), pick(g, rareNumbers...)),
		fmt.Sprintf("%s %% %s", pick(g, rareNumbers...), g.simple()), fmt.Sprintf("%s * %s", pick(g, rareNumbers...), pick(g, g.simple(), pick(g, rareNumbers...))))
}

func (g *grammar) template() string {
	return fmt.Sprintf("$\"%s{%s} is {%s}\"", pick(g, "", "a ", "é "), g.simple(), pick(g, g.simple(), g.term()))
}

// moreExpr is a statement of what guardrails use less.
func (g *grammar) moreExpr() string {
	switch g.IntN(8) {
	case 0:
		return fmt.Sprintf("%s %s %s", pick(g, g.odd(), g.simple()), pick(g, "==", "!=", "<", "<=", ">", ">="), pick(g, g.odd(), g.simple()))
	case 1:
		return fmt.Sprintf("%s, %s in %s", g.simple(), g.simple(), g.collection())
	case 2:
		return fmt.Sprintf("%s in {%s, %s}", g.field(), g.simple(), pick(g, g.odd(), g.simple()))
	case 3:
		return "some " + g.bind(" in "+g.moreTerm())
	case 4:
		return fmt.Sprintf("count(%s) > %s", g.nested(), pick(g, "0", "1"))
	case 5:
		return fmt.Sprintf("[%s, [%s, %s]] = %s", g.bind(""), g.bind(""), g.scalar(), fmt.Sprintf("[%s, [%s, %s]]", g.simple(), g.simple(), g.simple()))
	case 6:
		return fmt.Sprintf("not %s in %s", g.simple(), g.moreSet())
	}
	return g.bind(" := " + g.moreTerm())
}

// nested is a comprehension in a comprehension, often one that OPA indexes.
func (g *grammar) nested() string {
	defer g.scope()()
	in := g.collection()
	k, v := g.newVar(), g.newVar()
	inner := pick(g, fmt.Sprintf("%s[%s] == %s", g.collection(), v, k), fmt.Sprintf("some %s, _ in %s; %s == %s", v, g.collection(), v, k),
		fmt.Sprintf("%s != %s; %s := input.map[%s]", k, g.scalar(), v, k), fmt.Sprintf("some %s in input.list; %s == %s", v, k, v))
	if g.chance(40) {
		inner += "; " + pick(g, fmt.Sprintf("startswith(%s, \"a\")", v), fmt.Sprintf("%s != %s", v, g.simple()), g.ruleRef())
	}
	return fmt.Sprintf("[%s | some %s in %s; c%s := %s]", pick(g, "c"+k, fmt.Sprintf("count(c%s)", k)), k, in, k,
		pick(g, fmt.Sprintf("[%s | %s]", v, inner), fmt.Sprintf("{%s | %s}", v, inner), fmt.Sprintf("{%s: %s | %s}", v, pick(g, "1", k), inner)))
}

// clauses is a function of several clauses, with patterns for arguments.
func (g *grammar) clauses(name string) string {
	var b strings.Builder
	two := g.chance(50)
	if g.chance(40) {
		fmt.Fprintf(&b, "default %s(%s) := %s\n", name, map[bool]string{true: "_, _", false: "_"}[two], g.odd())
	}
	for i := range 2 + g.IntN(3) {
		g.vars, g.depth = nil, 2
		pattern := func(v string) string {
			switch g.IntN(6) {
			case 0:
				return g.scalar()
			case 1:
				g.vars = append(g.vars, v)
				return fmt.Sprintf("[%s, %s]", v, g.scalar())
			case 2:
				g.vars = append(g.vars, v)
				return fmt.Sprintf("{\"a\": %s}", v)
			}
			g.vars = append(g.vars, v)
			return v
		}
		args := pattern(fmt.Sprintf("p%d", i))
		if two {
			args += ", " + pattern(fmt.Sprintf("q%d", i))
		}
		kept := append([]string(nil), g.vars...)
		fmt.Fprintf(&b, "%s(%s) := %s if { %s }", name, args, pick(g, g.scalar(), g.simple(), fmt.Sprint(i)), g.body(1+g.IntN(2)))
		for g.chance(25) {
			g.vars = append([]string(nil), kept...)
			fmt.Fprintf(&b, " else := %s if { %s }", g.simple(), g.body(1))
		}
		b.WriteString("\n")
	}
	if two {
		g.vars = nil
		fmt.Fprintf(&b, "%sx(arg) := %s(arg, %s)\n", name, name, g.simple())
	}
	return b.String()
}
