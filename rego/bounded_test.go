package rego

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/rego/bounds"
	"github.com/hookc/hookc/rego/native"
	"github.com/hookc/hookc/tests/depth"
)

// Every function that a rule could call has a class of cost, and what can be
// called at all is bound where its class is one of those that need it.
func TestEveryFunctionHasABound(t *testing.T) {
	names := map[string]bool{}
	for _, b := range ast.CapabilitiesForThisVersion().Builtins {
		names[b.Name] = true
	}
	for _, b := range ast.Builtins {
		names[b.Name] = true
	}
	for _, name := range native.Names() {
		names[name] = true
	}
	set := boundFunctions()
	for name := range names {
		b, known := bounds.Of(name)
		if !assert.True(t, known, "%s has no class of cost: say in rego/bounds what a call may take", name) {
			continue
		}
		switch b.Class {
		case bounds.Grows, bounds.Counts, bounds.Numbers, bounds.Parses, bounds.Keys:
			assert.NotNil(t, b.Need, "%s says nothing of what it needs", name)
		case bounds.World:
			continue
		}
		if topdown.GetBuiltin(name) != nil && (b.Need != nil || b.Class != bounds.Fixed) {
			assert.NotNil(t, set.refs[name], "%s is called without its bounds", name)
		}
	}
	for _, f := range builtins.Funcs() {
		assert.NotNil(t, set.refs[f.Name], "%s is called without its bounds", f.Name)
	}
}

// What strings.render_template would take is known before the call.
func TestTemplateNeed(t *testing.T) {
	b, known := bounds.Of("strings.render_template")
	require.True(t, known)
	need := func(text, values string) int64 {
		return b.Need(termArgs{ast.StringTerm(text), ast.MustParseTerm(values)})
	}
	list := `{"a": [` + strings.Repeat(`"", `, 399) + `""]}`
	for text, values := range map[string]string{
		`{{range .a}}{{range $.a}}{{range $.a}}x{{end}}{{end}}{{end}}`: list,
		`{{range 1000000000}}x{{end}}`:                                 `{}`,
		`{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`:        `{}`,
		`{{$n := 1000000000}}{{range $n}}{{end}}`:                      `{}`,
		strings.Repeat(`{{printf "%999999d" 1}}`, 20):                  `{}`,
	} {
		assert.Greater(t, need(text, values), int64(bounds.Memory), text)
	}
	assert.LessOrEqual(t, need(`Dear {{.name}}, {{range .list}}{{.}}, {{end}}`, `{"name": "x", "list": ["y", "y", "y", "y", "y", "y", "y", "y"]}`), int64(bounds.Memory))
}

// bombs are conditions that take more memory than an evaluation may hold,
// whatever the input.
var bombs = []string{
	`count(d(d(d(d(d(d(d(d(d(input.command)))))))))) == 3`,
	`count(r(r(r(r(r(r("a"))))))) == 3`,
	`bits.lsh(1, 20000000000) == input.tool_input.n`,
	`bits.lsh(1, 10000000) == input.tool_input.n`,
	`count(numbers.range(1, 2000000000)) == 3`,
	`count(numbers.range_step(1, 2000000000, 3)) == 3`,
	`count(net.cidr_expand("10.0.0.0/8")) == 3`,
	`count(net.cidr_expand("2001:db8::/64")) == 3`,
	`count(sprintf("%999999d%999999d%999999d%999999d%999999d%999999d%999999d%999999d%999999d", [1, 2, 3, 4, 5, 6, 7, 8, 9])) == 3`,
	`count(strings.render_template("{{range .l}}{{range $.l}}{{range $.l}}{{range $.l}}x{{end}}{{end}}{{end}}{{end}}", {"l": numbers.range(1, 1000)})) == 3`,
	`count(strings.render_template("{{range 2000000000}}{{end}}", {})) == 3`,
	`count(strings.replace_n({"a": d(d(d("x")))}, d(d(d(d(d("a"))))))) == 3`,
	`count(regex.replace(d(d(d(d(d("a"))))), "a", d(d(d("x"))))) == 3`,
	`count(concat(d(d(d(d("x")))), numbers_as_texts)) == 3`,
	`count(split(d(d(d(d(d(d("a")))))), "")) == 3`,
	`count(regex.find_n("a", d(d(d(d(d(d("a")))))), -1)) == 3`,
	`count(json.marshal_with_options([[[[[1, 2, 3]]]]], {"indent": d(d(d(d(d(d("x"))))))})) == 3`,
	`count(a2(a2(a2(a2(a2(a2([1])))))))  == 3`,
	`count(json.unmarshal(concat("", ["[", d6("0,"), "0]"]))) == 3`,
	`count(graph.reachable_paths({x: nodes | some x in nodes}, {"a"})) == 3`,
	`count([x | some i in numbers.range(1, 90000); x := [i, i, i, i, i, i, i, i]]) == 3`,
	`count({x | some i in numbers.range(1, 90000); x := [i, i, i, i, i, i, i, i]}) == 3`,
	`count({i: x | some i in numbers.range(1, 90000); x := [i, i, i, i, i, i, i, i]}) == 3`,
	`count(partial) == 3`,
	`to_number("1e100000000") < 100`,
	`product([p | some i in numbers.range(1, 2000); p := 1e300]) == 3`,
	`count([s | some i in numbers.range(1, 5000); s := concat("", [d(d(d(d("x")))), format_int(i, 10)])]) == 3`,
}

const bombLibrary = `
d(s) := concat("", [s, s, s, s, s, s, s, s])
d6(s) := d(d(d(d(d(d(s))))))
r(s) := replace(s, "a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
a2(l) := array.concat(array.concat(array.concat(l, l), array.concat(l, l)), array.concat(array.concat(l, l), array.concat(array.concat(l, l), array.concat(array.concat(l, l), array.concat(l, l)))))
numbers_as_texts := [format_int(i, 10) | some i in numbers.range(1, 3000)]
nodes := ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"]
partial[i] := x if { some i in numbers.range(1, 90000); x := [i, i, i, i, i, i, i, i] }
`

// Whatever a rule makes, it is over before it holds much: with the same failure
// in both engines, however long it may take.
func TestBombs(t *testing.T) {
	for i, condition := range bombs {
		if depth.Skips(i) {
			continue
		}
		h := guard(fmt.Sprintf("deny contains \"x\" if %s\n%s", condition, bombLibrary))
		h.Timeout = 10 * time.Minute // memory ends them, however busy the machine is
		m := compiled(t, h)
		n, engine := m.Native()
		require.NotNil(t, n, "%s: %s", condition, engine)
		in := call("Bash", map[string]any{"command": "rm -rf /", "n": 5})
		for name, r := range map[string]policy.Runner{"topdown": m, "native": n} {
			_, err := r.Run(t.Context(), in, 0)
			assert.Equal(t, policy.ErrBudget, policy.KindOf(err), "%s by %s: %v", condition, name, err)
			assert.NotContains(t, fmt.Sprint(err), "took longer", "%s by %s", condition, name)
		}
	}
}

// What rules do with what they are given is no bomb, in either engine.
func TestBigInputsAreNoBombs(t *testing.T) {
	content := strings.Repeat("a line of text, as files have them\n", 20_000)
	for _, condition := range []string{
		`count(split(input.content, "\n")) > 1000`,
		`count([l | some l in split(input.content, "\n"); contains(upper(l), "TEXT")]) > 1000`,
		`count({l | some l in split(lower(input.content), "\n")}) == 2`,
		`regex.match("(text|b), as (.*)have them\\n$", input.content)`,
		`count(regex.find_n("text", input.content, -1)) > 1000`,
		`count(replace(input.content, "text", "words")) > 1000`,
		`count(json.unmarshal(json.marshal({"c": input.content})).c) > 1000`,
		`count(base64.decode(base64.encode(input.content))) > 1000`,
		`count(strings.replace_n({"text": "word", "line": "row"}, input.content)) > 1000`,
		`every l in split(input.content, "\n") { count(l) < 100 }`,
	} {
		h := guard("deny contains \"x\" if " + condition)
		h.Timeout = time.Minute
		m := compiled(t, h)
		n, engine := m.Native()
		require.NotNil(t, n, "%s: %s", condition, engine)
		in := call("Write", map[string]any{"content": content})
		for name, r := range map[string]policy.Runner{"topdown": m, "native": n} {
			contribution, err := r.Run(t.Context(), in, 0)
			require.NoError(t, err, "%s by %s", condition, name)
			assert.Equal(t, policy.Deny, contribution.Verdict, "%s by %s", condition, name)
		}
	}
}
