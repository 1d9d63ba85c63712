package rego

import (
	"fmt"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/rego/native"
)

// planText is a program as text: what each function does, block by block.
func planText(p *native.Program) string {
	var b strings.Builder
	for i, path := range p.Paths {
		fmt.Fprintf(&b, "slot %d: %s\n", i, strings.Join(path, "."))
	}
	for _, f := range p.Funcs {
		name := f.Name[strings.LastIndex(f.Name, ".")+1:]
		fmt.Fprintf(&b, "%s (%d params, %d locals, result %d, memo %t)\n", name, f.Params, f.Locals, f.Return, f.Memo)
		blocksText(&b, p, f.Blocks, "  ")
	}
	return b.String()
}

var opNames = map[native.Op]string{
	native.OpReturn: "return", native.OpCall: "call", native.OpCallBuiltin: "builtin", native.OpBlock: "block",
	native.OpBreak: "break", native.OpDot: "dot", native.OpScan: "scan", native.OpNot: "not", native.OpAssign: "assign",
	native.OpAssignOnce: "once", native.OpReset: "reset", native.OpMakeSet: "set", native.OpEqual: "equal",
	native.OpNotEqual: "differ", native.OpIsDefined: "defined", native.OpIsUndefined: "undefined",
	native.OpSetAdd: "add", native.OpInput: "input", native.OpWith: "with",
}

func blocksText(b *strings.Builder, p *native.Program, blocks []native.Block, indent string) {
	for _, block := range blocks {
		place := ""
		if block.Place >= 0 {
			at := p.Places[block.Place]
			place = fmt.Sprintf(" %d:%d", at.Row, at.Col)
		}
		fmt.Fprintf(b, "%s-%s\n", indent, place)
		for i := range block.Stmts {
			s := &block.Stmts[i]
			fmt.Fprintf(b, "%s  %s", indent, opNames[s.Op])
			switch s.Op {
			case native.OpInput:
				fmt.Fprintf(b, " slot%d", s.Index)
			case native.OpCall:
				fmt.Fprintf(b, " %s", p.Funcs[s.Index].Name)
			case native.OpCallBuiltin:
				fmt.Fprintf(b, " %s", p.Builtins[s.Index])
			}
			for _, o := range s.Operands() {
				if o.Const {
					fmt.Fprintf(b, " %s", native.Text(p.Consts[o.N]))
				} else {
					fmt.Fprintf(b, " $%d", o.N)
				}
			}
			if s.Op.HasTarget() {
				fmt.Fprintf(b, " -> $%d", s.Target)
			}
			b.WriteString("\n")
			blocksText(b, p, s.Blocks, indent+"    ")
		}
	}
}

// A guardrail becomes tests of slots and constants: nothing is left of the
// steps that led there.
func TestPlanGuardrail(t *testing.T) {
	m := compiled(t, guard(`deny contains "no rm" if {
  input.tool_name in {"Bash", "Shell"}
  startswith(input.tool_input.command, "rm")
  not allowed
}
allowed if input.cwd == "/tmp"
allowed := true if {
  input.cwd == "/a"
} else := false if input.cwd == "/b"
`))
	p := planModule(m)
	require.Empty(t, p.why)
	require.NotNil(t, p.code)
	require.Len(t, p.entries, 1)
	assert.Equal(t, 0, p.entries[0].fn)
	assert.Equal(t, "complete rule, partial set, else, term, builtin call, equation, not, reference to a value, reference to a rule, value", p.entries[0].forms.String())
	assert.Equal(t, `slot 0: tool_name
slot 1: tool_input.command
slot 2: cwd
deny (2 params, 8 locals, result 2, memo true)
  -
    set -> $2
  - 2:1
    input slot0 -> $3
    builtin internal.member_2 $3 {"Bash", "Shell"} -> $4
    differ $4 false
    input slot1 -> $5
    builtin startswith $5 "rm" -> $6
    differ $6 false
    not
      -
        call g0.data["hookc hook"]["user/pre_tool_execution/guard"].allowed -> $7
        differ $7 false
    add "no rm" -> $2
  -
    return $2
allowed (2 params, 5 locals, result 2, memo true)
  - 7:1
    input slot2 -> $4
    equal $4 "/tmp"
    once true -> $2
  - 8:1
    reset -> $3
    input slot2 -> $4
    equal $4 "/a"
    once true -> $2
    once true -> $3
  - 10:3
    undefined $3
    input slot2 -> $4
    equal $4 "/b"
    once false -> $2
    once false -> $3
  -
    return $2
`, planText(p.program))
	assert.Nil(t, p.program.Data)
}

// Documents that are the same in every evaluation are constants, unless with
// replaces them somewhere.
func TestPlanData(t *testing.T) {
	const module = "package p\n" +
		"x contains \"a\" if input.tool in data.limits.tools\n" +
		"x contains \"b\" if { n := data.limits.max; input.n > n }\n"
	data := ast.MustParseTerm(`{"limits": {"tools": ["Bash"], "max": 3}, "other": 1}`).Value
	p := planValues(compileFuzz(module), []ast.Value{ast.MustParseRef("data.p.x")}, data)
	require.NotNil(t, p.code)
	assert.Nil(t, p.program.Data)
	assert.ElementsMatch(t, []native.Value{false, []native.Value{"Bash"}, 3, "a", "b"}, p.program.Consts)

	p = planValues(compileFuzz(module+"y if x with data.limits as {}\n"), []ast.Value{ast.MustParseRef("data.p.x")}, data)
	require.NotNil(t, p.code, "what is never asked for changes nothing")
	assert.Nil(t, p.program.Data)

	p = planValues(compileFuzz(module+"y if x with data.fresh as {}\n"), []ast.Value{ast.MustParseRef("data.p.y")}, data)
	require.NotNil(t, p.code, p.why)
	assert.Equal(t, toNative(data), p.program.Data, "with changes the documents as they are")
}

// What cannot be native says why, entry point by entry point.
func TestPlanReasons(t *testing.T) {
	tests := []struct{ name, module, want string }{
		{"the world", `x := http.send({"method": "get", "url": input.u}).status_code`, "uses http.send"},
		{"chance", `x := rand.intn("a", input.n)`, "uses rand.intn"},
		{"on the way", "x if y\ny if z\nz if opa.runtime().env", "uses opa.runtime"},
		{"lengths", "x := r\nr[a] := 1 if a := input.a\nr[a][b] := 2 if { a := input.b; b := input.a }",
			"planner: rules with variables in their names, of different lengths"},
		{"else", "x := r\nr.a := 1 if { input.a } else := 2\nr[b] := 3 if b := input.b",
			"planner: a default or else among rules with variables in their names"},
		{"default", "x := r\ndefault r.a := 1\nr[b] := 3 if b := input.b",
			"planner: a default or else among rules with variables in their names"},
		{"comprehension", "x if { [1 | upper(input.a)] }", "planner: a comprehension stands alone"},
		{"iterated", "x := [k | some k, _ in data.d]\n", ""},
		{"indexed membership", "x if input.a in {input.b, 1}", "topdown: in over a literal with variables is indexed without them"},
		{"indexed comprehension", "x := [n | some a in input.l; n := count({b | upper(a); b := data.d[a]})]",
			"topdown: a comprehension is indexed by a variable it needs before"},
		{"indexed, failing", "x := [n | some a in input.l; n := [b | data.d[b] == a; upper(b) == \"A\"]]",
			"topdown: a comprehension is indexed, and may fail for other keys than those asked for"},
		{"indexed, asking a rule", "x := [n | some a in input.l; n := [b | data.d[b] == a; y]]\ny if input.y",
			"topdown: a comprehension is indexed, and may fail for other keys than those asked for"},
		{"mocked first", "x contains v if { v := y with f as 1 with input.a as 2 }\nf(_) := 3\ny := [f(1), input.a]",
			"planner: with replaces a function before a document"},
		{"a name on both sides", "x contains input[a] if { [a, [b, null]] = [a, [b, b]] }", "planner: variables without values are united"},
		{"mocked builtin first", "x contains v if { v := y with lower as 1 with data.e as 2 }\ny := [lower(\"a\"), data.e]",
			"planner: with replaces a function before a document"},
		{"mocked builtin before input", "x contains v if { v := y with lower as 1 with input.a as 2 }\ny := [lower(\"a\"), input.a]", ""},
		{"mocked last", "x contains v if { v := y with input.a as 2 with f as 1 }\nf(_) := 3\ny := [f(1), input.a]", ""},
		{"not indexed", "x if lower(input.a) in {input.b, 1}", ""},
		{"number", "x := data.d[2]", "planner: data is read by a number as text, or by a text as number"},
		{"merged", "x := v if { v := data.d with data.d.k as input.k }", "planner: with replaces a part of data that is there"},
		{"time", "x := time.now_ns()", ""},
	}
	data := ast.MustParseTerm(`{"d": {"2": "two", "k": {"a": 1}}}`).Value
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := compileFuzz("package p\n" + test.module + "\nfine := input.f\n")
			require.NotNil(t, c)
			p := planValues(c, []ast.Value{ast.MustParseRef("data.p.x"), ast.MustParseRef("data.p.fine")}, data)
			assert.Equal(t, test.want, p.entries[0].why)
			assert.Empty(t, p.entries[1].why, "another entry point is native whatever the first uses")
			got, err := p.eval(&native.Machine{}, 1, ast.MustParseTerm(`{"f": 1.50}`).Value)
			require.NoError(t, err)
			assert.Equal(t, "1.50", got.String())
		})
	}
}

// A plan leaves the local of a negated body as an earlier element set it, and
// OPA's own engines on it are wrong here; topdown is not.
func TestPlanNegatedBodies(t *testing.T) {
	caps := ast.CapabilitiesForThisVersion(ast.CapabilitiesExperimentalKeywords(true))
	module, err := ast.ParseModuleWithOpts("p.rego", `package p
import future.keywords.not
x contains a if { some a in input.list; not { some b in a; b == 1 } }
`, ast.ParserOptions{RegoVersion: ast.RegoV1, Capabilities: caps})
	require.NoError(t, err)
	c := ast.NewCompiler().WithCapabilities(caps)
	c.Compile(map[string]*ast.Module{"p.rego": module})
	require.Empty(t, c.Errors)
	p := planValues(c, []ast.Value{ast.MustParseRef("data.p.x")}, ast.NewObject())
	require.NotNil(t, p.code, p.why)
	got, err := p.eval(&native.Machine{}, 0, ast.MustParseTerm(`{"list": [[1], [2, 3], [], [3, 1]]}`).Value)
	require.NoError(t, err)
	assert.Equal(t, "{[], [2, 3]}", got.String())
}

// What was read of the input stays what it was where with replaces the input.
func TestPlanWith(t *testing.T) {
	c := compileFuzz(`package p
x := [a, b, c] if {
	m := input.map
	a := m.k with input as {"map": {"k": 2}}
	b := input.map.k with input as {"map": {"k": 2}}
	c := y with input.map.k as 3
}
y := input.map.k
`)
	p := planValues(c, []ast.Value{ast.MustParseRef("data.p.x")}, ast.NewObject())
	require.NotNil(t, p.code, p.why)
	got, err := p.eval(&native.Machine{}, 0, ast.MustParseTerm(`{"map": {"k": 1}}`).Value)
	require.NoError(t, err)
	assert.Equal(t, "[1, 2, 3]", got.String())
}

// A module's entry points are evaluated as they are asked for.
func TestPlanModule(t *testing.T) {
	m := compiled(t, guard(`deny contains sprintf("%v at %v", [input.tool_input.n, path.base(input.cwd)]) if input.tool_name == "Bash"
context := "both" if input.session_id == "s"
`))
	p := planModule(m)
	require.NotNil(t, p.code, p.why)
	input := m.Input(call("Bash", map[string]any{"n": 1.5}))
	var values []string
	for i := range p.entries {
		v, err := p.eval(&native.Machine{Context: &evaluation{}}, i, input)
		require.NoError(t, err)
		values = append(values, v.String())
	}
	assert.Equal(t, []string{`{"1.5 at repo"}`, `"both"`}, values)
}
