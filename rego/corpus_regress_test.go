package rego

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/rego/native"
)

// nativeRegressions are modules on which native evaluation was, or could easily
// be, other than topdown's. bails says that native may leave it to topdown,
// which fails there or whose answer is odd.
var nativeRegressions = []struct {
	name, module, input string
	bails               bool
}{
	{"a negation of a negation", "import future.keywords.not\nx if { not (not input.a == 1) }", `{"a": 1}`, false},
	{"a negated body of a negation", "import future.keywords.not\nx if { not { not \"staff\" in input.roles } }", `{}`, false},
	{"a function of two values, not called", "x contains 1 if input.n > f(input.a)\nf(a) := 1 if a == \"Bash\"\nf(a) := 2 if startswith(a, \"B\")", `{"a": "Bash"}`, true},
	{"the same, of one", "x contains 1 if input.n > f(input.a)\nf(a) := 1 if a == \"Bash\"\nf(a) := 2 if startswith(a, \"B\")", `{"a": "Build", "n": 3}`, false},
	{"a fraction's verb and a whole number", `x := sprintf("%.2f", [input.n])`, `{"n": 1}`, true},
	{"a null input", "x if not y\ny := object.get(input, [\"a\", \"b\"], 1) == 2", `null`, true},
	{"a test of a text on something else", `x contains "no" if startswith(input.a, "b")`, `{"a": true}`, true},
	{"a value that is nowhere", "x := {k: v | some k, v in input.a; not v.ok}", `{"a": {"b": {}, "c": {"ok": true}, "d": 1}}`, false},
	{"a key with the hash of another, again", `x := o[false] if { o := {k: 1 | some k in input.l} }`, `{"l": [null, false, null]}`, true},
	{"the same, asked for by a set", `x if { o := {k: 1 | some k in input.l}; {null: 1, false: 1, "a": 1} in {o} }`, `{"l": [null, false, "a", "a"]}`, true},
	{"keys of sums", `x := o[[2, 1]] if { o := {k: 1 | some k in input.l} }`, `{"l": [[1, 2], [2, 1], [1, 2]]}`, true},
	{"a fraction and null", `x := o[0.5] if { o := {k: 1 | some k in input.l} }`, `{"l": [null, 0.5, null]}`, true},
	{"keys of hashes apart, again", `x := {k: 1 | some k in input.l}`, `{"l": [null, 1, "a", 2, null, 1, "a"]}`, false},
	{"keys of one hash, once", `x := {k: 1 | some k in input.l}`, `{"l": [null, false, 0, 0.5, [], {}]}`, false},
	{"a written set gone through twice", `x := count([1 | some _ in {input.a, input.b}])`, `{"a": 1, "b": 1}`, true},
	{"a written set in the order of its variables", `x := [v | a := input.a; b := input.b; some v in {a, b}]`, `{"a": 2, "b": 1}`, true},
	{"the same, as it comes", `x := [v | a := input.a; b := input.b; some v in {a, b}]`, `{"a": 1, "b": 2}`, false},
	{"a written set as it is", `x := {input.a, input.b}`, `{"a": 1, "b": 1}`, false},
	{"a written set of equals, counted", `x := [count({input.a, input.b}), {input.a, input.b} & {1}, input.c in [{input.a, input.b}]]`, `{"a": 1, "b": 1}`, false},
	{"a written set of constants that are equal", `x := count([1 | a := 1; b := 1; some _ in {a, b}])`, `{}`, true},
	{"written keys that are equal", `x := {input.a: 1, input.b: 2}`, `{"a": "k", "b": "k"}`, true},
	{"written keys in the order of their variables", `x := [k | a := input.a; b := input.b; some k, _ in {a: 1, b: 2}]`, `{"a": "z", "b": "k"}`, true},
	{"written keys", `x := {input.a: 1, "c": 2}[input.b]`, `{"a": "z", "b": "z"}`, false},
	{"an object that is changed in place, in a set", `x := object.union_n([input.a, input.b]) in {input.c}`,
		`{"a": {"k": {"m": 1}}, "b": {"k": {"n": 2}}, "c": {"k": {"m": 1, "n": 2}}}`, true},
	{"sets of an object, in a set", "x := r in {{\"a\": {1, 2}}}\nr[k] contains v if { some k in [\"a\"]; some v in [1, 2] }", `{}`, true},
	{"sets of an object", "x := r == {\"a\": {1, 2}}\nr[k] contains v if { some k in [\"a\"]; some v in [1, 2] }", `{}`, false},
	{"objects of an object, in a set", "x := {r, {\"a\": {\"b\": 1}}}\nr[k][m] := v if { some k in [\"a\"]; some m, v in {\"b\": 1} }", `{}`, true},
	{"more rules than an index needs, one of which fails", `x contains 1 if contains(input.a, "1")
x contains 2 if contains(input.a, "2")
x contains 3 if contains(input.a, "3")
x contains 4 if contains(input.a, "4")
x contains 5 if contains(input.a, "5")
x contains 6 if contains(input.a, "6")
x contains 7 if { input.b == "x"; to_number(input.a) > 1 }
`, `{"a": "13", "b": "x"}`, false},
	{"the same, failing", `x contains 1 if contains(input.a, "1")
x contains 2 if contains(input.a, "2")
x contains 3 if contains(input.a, "3")
x contains 4 if contains(input.a, "4")
x contains 5 if contains(input.a, "5")
x contains 6 if contains(input.a, "6")
x contains 7 if { input.b == "x"; to_number(input.a) > 1 }
`, `{"a": "1e", "b": "x"}`, true},
}

func TestNativeRegressions(t *testing.T) {
	for _, test := range nativeRegressions {
		t.Run(test.name, func(t *testing.T) {
			module, err := parseModule("p.rego", "package p\n"+test.module, ast.RegoV1)
			require.NoError(t, err)
			m := &corpusModule{name: "p", version: ast.RegoV1, data: ast.NewObject()}
			r := m.open(module)
			require.NotNil(t, r)
			require.Empty(t, r.plan.reason(0))
			input := ast.MustParseTerm(test.input).Value
			assert.Empty(t, newCorpusOutcome().compare(r, &native.Machine{}, 0, input))
			_, err = r.plan.eval(&native.Machine{Context: &evaluation{start: time.Now()}}, 0, input)
			if !test.bails {
				assert.NoError(t, err)
			}
		})
	}
}

// agreesOn compares a document of a module with topdown's on inputs.
func agreesOn(t *testing.T, text string, inputs ...string) {
	t.Helper()
	module, err := parseModule("p.rego", "package p\n"+text, ast.RegoV1)
	require.NoError(t, err)
	r := (&corpusModule{name: "p", version: ast.RegoV1, data: ast.NewObject()}).open(module)
	require.NotNil(t, r, text)
	for i := range r.wants {
		if r.plan.reason(i) != "" {
			continue
		}
		for _, text := range inputs {
			input := ast.MustParseTerm(text).Value
			if differs := newCorpusOutcome().compare(r, &native.Machine{}, i, input); differs != "" {
				t.Fatal(r.shrink(i, input).describe(r.wants[i], input, differs))
			}
		}
	}
}

// TestGlobsInRules: a glob that OPA's index of rules knows is also what the index
// takes it for, which cuts patterns and texts where the glob does not.
func TestGlobsInRules(t *testing.T) {
	var rules strings.Builder
	for _, delimiters := range []string{`["/"]`, `[]`, `["é"]`, `[":", "/"]`, `["\\"]`, `null`} {
		for _, pattern := range []string{"*", "*/*", "a/*", "*.go", "a", "a/b", `a\*b`, `*/\*`, `a\/b`, `\*`, "*:*", "*é*", "**", "a?", "*/[ab]", "*]"} {
			fmt.Fprintf(&rules, "deny contains [`%s`, %q] if glob.match(`%s`, %s, input.p)\n", pattern, delimiters, pattern, delimiters)
		}
	}
	rules.WriteString("g(x) if glob.match(\"*/*\", [\"/\"], x)\nallow if g(input.p)\nask if not g(input.p)\nelse_ := 1 if glob.match(\"*/*\", [\"/\"], input.p) else := 2")
	var inputs []string
	parts := []string{"a", `\\`, "/", "*", ".go", "é", "鐵", ":", "b", "]"}
	for _, a := range parts {
		for _, b := range parts {
			for _, c := range parts {
				inputs = append(inputs, fmt.Sprintf(`{"p": "%s"}`, a+b+c), fmt.Sprintf(`{"p": "%s/%s"}`, a+b, c))
			}
		}
	}
	agreesOn(t, rules.String(), inputs...)
}

// TestNumbersBeyondFloat: of numbers that no float64 is OPA finds each by how it is
// written, and compares them by what they are.
func TestNumbersBeyondFloat(t *testing.T) {
	numbers := []string{"1e400", "10e399", "1E400", "-1e400", "1e-400", "1e308", "10e307"}
	var rules strings.Builder
	for i, n := range numbers {
		fmt.Fprintf(&rules, `
deny%[1]d contains "equal" if input.a == %[2]s
deny%[1]d contains "one" if input.a in [%[2]s, 1]
deny%[1]d contains "in" if %[2]s in input.l
deny%[1]d contains "any" if input.l[_] == %[2]s
deny%[1]d contains "list" if input.l == [%[2]s, 1]
deny%[1]d contains f%[1]d(input.a)
f%[1]d(%[2]s) := "argument"
deny%[1]d contains "key" if {%[2]s: 1, input.b: 2}[input.a]
deny%[1]d contains "not" if not input.a == %[2]s
`, i, n)
	}
	rules.WriteString(`
ask contains "equal" if input.a == input.b
ask contains {input.a: 1, "x": 2}[input.b]
ask contains "set" if {input.a, "x"}[input.b]
ask contains count({input.a, input.b})
ask contains "some" if { some x in input.l; x == input.a }
ask contains "most" if input.a <= input.b
`)
	var inputs []string
	for _, a := range append(numbers, "0") {
		for _, b := range numbers {
			inputs = append(inputs, fmt.Sprintf(`{"a": %s, "b": %s, "l": [%s, 1]}`, a, b, a), fmt.Sprintf(`{"a": [%s], "b": [%s], "l": {"k": %s}}`, a, b, a))
		}
	}
	agreesOn(t, rules.String(), inputs...)
}

// TestNumbersWrittenApart: of numbers that are one but written apart, topdown takes
// the one that it met first where it knows a call, a lookup or a comprehension by
// them.
func TestNumbersWrittenApart(t *testing.T) {
	const rules = `
s contains x if some x in input.s
o[x] := x if some x in input.s
n[x] contains x if some x in input.s
deep[x][x] := x if some x in input.s
f(x) := x
text(x) := sprintf("%v", [[x]])
pair([x, y]) := x if y == 1
calls := [f(k) | some k in input.l]
texts := [text(k) | some k in input.l]
pairs := [pair([k, 1]) | some k in input.l]
twice := [f(input.l[0]), f(input.l[1])]
made := [f(k) | some k in json.unmarshal(input.json)]
summed := [text(k + input.half) | some k in input.l]
constant := [text(1), text(1.0), text(1e0)]
in_set := [y | some k in input.l; y := s[k]]
in_object := [y | some k in input.l; y := o[k]]
in_sets := [y | some k in input.l; y := n[k][k]]
in_objects := [y | some k in input.l; y := deep[k][k]]
of_literal := [y | some k in input.l; y := {1: "a", 2: "b"}[k]]
listed := [[x, ys] | x := input.l[_]; ys := [[x, y] | y := input.m[_]; y == x]]
keyed := [[x, ys] | x := input.l[_]; ys := {x: y | y := input.m[i]; input.m[i] == x}]
apart := [[x, ys] | x := input.l[_]; ys := [y | y := input.m[_]; y == x]]
deny contains text(k) if some k in input.l
`
	var inputs []string
	for _, n := range [][]string{{"1", "1.0", "1e0"}, {"100", "1e2", "1E+2"}, {"0", "-0", "0.0"}, {"[1]", "[1.0]", "[1]"}, {`{"a": 1}`, `{"a": 10e-1}`, `{"a": 1}`},
		{"1000000000000000000000", "1e21", "1e+21"}, {"0.1", "0.10", "0.10000000000000001"}, {"9007199254740993", "9007199254740993.0", "9007199254740993"}} {
		for _, at := range [][3]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}} {
			a, b, c := n[at[0]], n[at[1]], n[at[2]]
			inputs = append(inputs, fmt.Sprintf(`{"l": [%s, %s], "m": [%s, %s], "s": [%s], "half": 0.0, "json": %q}`, a, b, b, c, c, "["+a+","+b+"]"),
				fmt.Sprintf(`{"l": [%s], "m": [%s], "s": [%s], "half": 0.5, "json": "[1, 1.0]"}`, a, b, b))
		}
	}
	agreesOn(t, rules, inputs...)
}
