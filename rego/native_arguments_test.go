package rego

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/rego/native"
)

// arguments makes arguments of builtins, in both engines' forms.
type arguments struct{ generator }

// tuple makes one argument for each letter of kinds; now and then of any kind.
func (g arguments) tuple(kinds string) ([]*ast.Term, []native.Value) {
	terms, args := make([]*ast.Term, len(kinds)), make([]native.Value, len(kinds))
	for i := range kinds {
		kind := kinds[i]
		switch {
		case g.IntN(25) > 0:
		case kind == '1': // OPA makes ranges and shifts of any length.
			kind = 's'
		default:
			kind = 'x'
		}
		terms[i] = ast.NewTerm(g.argument(kind))
		args[i] = g.form(terms[i].Value)
	}
	return terms, args
}

// form is a value in one of the forms that native takes it in.
func (g arguments) form(v ast.Value) native.Value {
	switch x := v.(type) {
	case ast.Number:
		switch g.IntN(4) {
		case 0:
			return native.Number(x)
		case 1:
			return json.Number(x)
		}
	case *ast.Array:
		out := []native.Value{}
		x.Foreach(func(t *ast.Term) { out = append(out, g.form(t.Value)) })
		return out
	case ast.Set:
		out := native.NewSet()
		x.Foreach(func(t *ast.Term) { out.Add(g.form(t.Value)) })
		return out
	case ast.Object:
		if g.IntN(2) == 0 {
			break
		}
		out := native.NewObject()
		x.Foreach(func(k, e *ast.Term) { out.Put(g.form(k.Value), g.form(e.Value)) })
		return out
	}
	return toNative(v)
}

func (g arguments) of(list ...string) string { return list[g.IntN(len(list))] }

// join puts a few of some texts behind each other.
func (g arguments) join(most int, list ...string) string {
	var b strings.Builder
	for range g.IntN(most + 1) {
		b.WriteString(g.of(list...))
	}
	return b.String()
}

func (g arguments) text() string {
	if g.IntN(6) == 0 {
		return g.join(8, oddStrings...)
	}
	return g.join(7, "a", "b", "ab", "A", "/", ".", "-", " ", "é", "É", "ß", "日本", "😀", "\t", "x", "foo", "ba", "K", "\u2028", "<&>", "\"", "\\", "\u0301", "%", "+", "1")
}

// argument makes a value of a kind: a small letter for one, a capital for an
// array or a set of them.
func (g arguments) argument(kind byte) ast.Value {
	if kind >= 'A' && kind <= 'Z' {
		return g.list(kind | 0x20)
	}
	switch kind {
	case 's':
		return ast.String(g.text())
	case 'i':
		return ast.Number(g.of("0", "1", "2", "3", "5", "10", "16", "8", "64", "-1", "-2", "1.0", "100", "0.0", "2.5", "1e1", "9223372036854775807"))
	case 'n':
		return g.numeral()
	case 'l':
		return g.composite(func(term *ast.Term) bool { _, ok := term.Value.(*ast.Array); return ok })
	case 't':
		return g.composite(func(term *ast.Term) bool { _, ok := term.Value.(ast.Set); return ok })
	case 'o':
		return g.composite(func(term *ast.Term) bool { _, ok := term.Value.(ast.Object); return ok })
	}
	if f := textArguments[kind]; f != nil {
		return ast.String(f(g))
	}
	if v := g.shaped(kind); v != nil {
		return v
	}
	_, term := g.value(g.IntN(4))
	return term.Value
}

// composite makes values until one is as it should be.
func (g arguments) composite(ok func(t *ast.Term) bool) ast.Value {
	for {
		if _, term := g.value(1 + g.IntN(3)); ok(term) {
			return term.Value
		}
	}
}

func (g arguments) list(kind byte) ast.Value {
	var terms []*ast.Term
	for range g.size() {
		terms = append(terms, ast.NewTerm(g.argument(kind)))
	}
	if g.IntN(2) == 0 {
		return ast.NewSet(terms...)
	}
	return ast.NewArray(terms...)
}

func (g arguments) numeral() ast.Value {
	switch g.IntN(6) {
	case 0:
		return ast.Number(fmt.Sprint(g.Int64() >> g.IntN(64)))
	case 1:
		return ast.Number(fmt.Sprintf("-%d.%d", g.IntN(1000), g.IntN(100000)))
	case 2:
		return ast.Number(fmt.Sprintf("%d.%0*d", g.Int64()>>(24+g.IntN(39)), 1+g.IntN(6), g.IntN(1000)))
	case 3:
		return ast.Number(fmt.Sprintf("%d", g.IntN(200)-100))
	}
	_, term := g.number()
	return term.Value
}

// textArguments are the kinds of texts.
var textArguments = map[byte]func(g arguments) string{
	'p': func(g arguments) string {
		return g.join(5, "a", "b", ".", "*", "+", "?", "(", ")", "[a-c]", "^", "$", "|", `\d`, `\b`, "(?i)", "x{1,2}", "(a)", "foo", `\.`, "[^/]*", "é")
	},
	'r': func(g arguments) string { return g.join(3, "a", "$1", "${1}x", "$$", "$0", "X", "") },
	'g': func(g arguments) string {
		return g.join(6, "a", "b", "ab", "*", "**", "?", "[ab]", "[!a]", "[a-c]", "{a,b}", "{a*,}", "{", "}", ",", ".", "/", `\*`, `\`, "é", "日", "]", "[-a]", "[!!]", "!", "-", "{a,{b,c?}}", "***", "\n")
	},
	'm': func(g arguments) string {
		return g.join(7, "a", "b", "ab", ".", "/", "c", "é", "日", "*", "{", "}", ",", "]", "-", "!", "\n", "\xff", `\`)
	},
	'f': func(g arguments) string {
		return g.join(6, "%s", "%d", "%v", "%q", "%f", "%x", "%t", "%%", "%5d", "%-5s|", "%05d", "%.2f", "%8.3f", "%.1s", "%X", "%e", "%g", "%o", "%b", "%c", "%U", "%+d", "%z", "a", " ", "é", "%", "%[1]d", "%*d", "%5v", "%05s", "%.2d", "%-8.2f|", "%06.1f", "%.3v", "%T")
	},
	'j': func(g arguments) string {
		switch g.IntN(3) {
		case 0:
			return g.json(3)
		case 1:
			return g.json(2) + g.of("", " ", "x", "]", ",", "1", "\n")
		}
		return g.join(6, "{", "}", "[", "]", ",", ":", `"a"`, "1", "1.50", "-0", "01", "1e5", "1e99999", "true", "nul", "null", " ", `"\u00e9"`, `"\ud83d\ude00"`, `"\ud800"`, `"\ud800\u0041"`, `"\x"`, "\"\xff\"", "\"\n\"", `"\""`, "-", "1.", ".5")
	},
	'b': func(g arguments) string {
		return g.join(5, "YQ==", "YWI=", "YWJj", "_-8=", "+/8=", "YQ", "\n", "=", "!", "AAAA")
	},
	'h': func(g arguments) string { return g.join(5, "00", "ff", "FF", "aB", "6", "zz", "e9") },
	'q': func(g arguments) string { return g.join(6, "a", "+", "%20", "%e9", "%", "%zz", "%C3%A9", "=", "&") },
	'u': func(g arguments) string {
		return g.of("", "1", "10", "1.5", "0.25", "1.1", "100", "2.50", ".5", "1.", "1e3", "-1", "1 ", "007", "1.2.3") +
			g.of("", "k", "K", "kb", "KiB", "ki", "m", "M", "MB", "mi", "g", "GB", "Gi", "GiB", "t", "TIB", "p", "e", "E", "eb", "ei", "x", "\"", " ", "e5", "e+1")
	},
	'v': func(g arguments) string {
		return g.of("", "v") + g.of("1.2.3", "1.2.4", "1.10.3", "0.0.1", "1.2", "01.2.3", "1.2.3.4", "99999999999999999999.0.0", "1.2.x", "-1.2.3") +
			g.of("", "", "-a", "-a.1", "-a.2", "-a.10", "-1", "-01", "-", "-a..b", "-99999999999999999999", "-A-b", "-a.b.c") + g.of("", "", "+m", "+", "+1.2")
	},
	'c': func(g arguments) string {
		return g.of("10.0.0.0", "10.1.2.3", "192.168.1.1", "0.0.0.0", "::", "::1", "2001:db8::", "fe80::1", "::ffff:10.0.0.1", "1.2.3", "01.2.3.4", "fe80::1%eth0") +
			g.of("", "/8", "/16", "/32", "/0", "/64", "/128", "/24", "/33", "/08", "/x", "/96")
	},
	'd': func(g arguments) string {
		return g.of("", "-", "+") + g.join(3, "1h", "30m", "1.5d", "2w", "1y", "10s", "5ms", "7us", "7µs", "9ns", "1", "d", "1x", "0.5y", "300y", "1..2d", " ", ".d")
	},
	'z': func(g arguments) string {
		return g.of("2020-01-02T03:04:05", "2262-04-11T23:47:16", "2300-01-01T00:00:00", "1600-01-01T00:00:00", "2020-02-30T00:00:00", "2020-1-2T03:04:05", "1970-01-01T00:00:00") +
			g.of("Z", "+01:00", "-07:30", ".5Z", ".123456789Z", "", ",5Z", "z")
	},
}

// json makes a JSON text of numbers, texts and what is made of them.
func (g arguments) json(depth int) string {
	switch n := g.IntN(8); {
	case n == 0 && depth > 0:
		return "[" + g.json(depth-1) + ", " + g.json(depth-1) + "]"
	case n == 1 && depth > 0:
		return `{"a": ` + g.json(depth-1) + `, "b":` + g.json(depth-1) + "}"
	case n == 2 && depth > 0:
		return `{"a":` + g.json(depth-1) + `,"a":` + g.json(depth-1) + "}"
	case n == 3:
		return g.of("true", "false", "null", "[]", "{}")
	case n < 6:
		return g.of(oddNumbers...)
	}
	text, err := json.Marshal(g.text())
	if err != nil {
		panic(err)
	}
	return string(text)
}

// shaped makes arguments that are not one text; nil for other kinds.
func (g arguments) shaped(kind byte) ast.Value {
	switch kind {
	// Delimiters of globs.
	case 'e':
		return ast.MustParseTerm(g.of("null", "[]", `["."]`, `["/"]`, `["/", "."]`, `["é"]`, `["ab"]`, `["-", "]"]`)).Value
	// Arguments of sprintf.
	case 'k':
		var terms []*ast.Term
		for range g.IntN(5) {
			terms = append(terms, ast.NewTerm(g.argument("snnix"[g.IntN(5)])))
		}
		return ast.NewArray(terms...)
	// Paths into objects.
	case 'y':
		if g.IntN(3) == 0 {
			return ast.String(g.of(oddStrings...))
		}
		var terms []*ast.Term
		for range g.IntN(3) {
			_, term := g.value(0)
			terms = append(terms, term)
		}
		return ast.NewArray(terms...)
	// Two objects of which many keys are the same.
	case 'w':
		return g.nestedObject(3)
	// Objects of texts.
	case '-':
		o := ast.NewObject()
		for range g.IntN(4) {
			o.Insert(ast.StringTerm(g.of("a", "ab", "b", "", "é", "foo")), ast.StringTerm(g.text()))
		}
		return o
	// Graphs.
	case '+':
		o := ast.NewObject()
		for range g.IntN(6) {
			o.Insert(g.node(), ast.NewTerm(g.list('_')))
		}
		return o
	case '@':
		return g.list('_')
	case '_':
		return g.node().Value
	// Small integers, and sets of sets of them.
	case '1':
		return ast.Number(g.of("0", "1", "3", "-4", "300", "7.0"))
	case '6':
		out := ast.NewSet()
		for range g.IntN(4) {
			inner := ast.NewSet()
			for range g.IntN(4) {
				inner.Add(ast.NewTerm(g.argument('i')))
			}
			out.Add(ast.NewTerm(inner))
		}
		return out
	}
	return g.parts(kind)
}

// parts makes times, parts of template strings and of objects.
func (g arguments) parts(kind byte) ast.Value {
	switch kind {
	// Times.
	case '.':
		return ast.MustParseTerm(g.of("0", "1700000000000000000", "[1700000000000000000]", `[1, "UTC"]`, `[-5, ""]`, `[1, "Europe/Berlin"]`, "1.5", "[]", "9223372036854775807", "1e18")).Value
	// Parts of template strings.
	case '=':
		var terms []*ast.Term
		for range g.IntN(4) {
			_, part := g.value(g.IntN(2))
			if g.IntN(3) > 0 {
				part = ast.SetTerm(part)
			}
			terms = append(terms, part)
		}
		return ast.NewArray(terms...)
	// Parts of objects.
	case '&':
		return ast.MustParseTerm(g.of(`{"a": 1}`, `{"a": {"b": 1, "c": [1, 2, 3]}}`, `{"a": {"c": [2, 3]}}`, `{"a": {1, 2}}`, `{"a": {1}}`, "{1, 2, 3}", "{1, 2}", "[1, 2, 3, 2]", "[2, 3]", "[]", "set()", "{}", "[1, 1]", `{"a": {"c": []}, "d": 1.0}`, `{"d": 1}`)).Value
	}
	return nil
}

func (g arguments) node() *ast.Term { return ast.StringTerm(g.of("a", "b", "c", "d", "e")) }

func (g arguments) nestedObject(depth int) ast.Value {
	o := ast.NewObject()
	for range g.IntN(4) {
		key := ast.StringTerm(g.of("a", "b", "c"))
		if g.IntN(12) == 0 {
			key = ast.NewTerm(g.numeral())
		}
		if o.Get(key) != nil {
			continue
		}
		if depth > 0 && g.IntN(2) == 0 {
			o.Insert(key, ast.NewTerm(g.nestedObject(depth-1)))
			continue
		}
		_, v := g.value(g.IntN(2))
		o.Insert(key, v)
	}
	return o
}
