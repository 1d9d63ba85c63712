package rego

import (
	"errors"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// topdownDefects are rules that OPA itself evaluates otherwise than Rego means
// them, or not at all, with the code that says so and the rule as it should be
// written, which says x. When OPA mends one, this test says so.
var topdownDefects = []struct{ name, module, code, mended string }{
	{"in an array", `x if input.a in [input.b, "k"]`, "HK116", `x if { all := [input.b, "k"]; input.a in all }`},
	{"in a set", `x if input.a in {input.b, "k"}`, "HK116", `x if { all := {input.b, "k"}; input.a in all }`},
	{"in an object", `x if input.a in {"l": input.b, "m": "k"}`, "HK116", `x if { all := {"l": input.b, "m": "k"}; input.a in all }`},
	{"by another name", `x if { a := input.a; b := a; b in [input.b, "k"] }`, "HK116", `x if { a := input.a; some b in [input.b, "k"]; b == a }`},
	{"an argument", "x if f(input.a)\nf(a) if a in [input.b, \"k\"]", "HK116", "x if f(input.a)\nf(a) if { all := [input.b, \"k\"]; a in all }"},
	{"what is computed", `x if input.a in [lower(input.b), "k"]`, "HK116", `x if { all := [lower(input.b), "k"]; input.a in all }`},
	{"a function of the key", `x if { some k in input.keys; c := [v | upper(k) == "A"; v := input.of[k]]; c == ["v"] }`, "HK088",
		`x if { some k in input.keys; c := [v | v := input.of[k]; upper(k) == "A"]; c == ["v"] }`},
	{"a comparison of the key", `x if { some k in input.keys; c := [v | k != "b"; v := input.of[k]]; c == ["v"] }`, "HK088",
		`x if { some k in input.keys; c := [v | v := input.of[k]; k != "b"]; c == ["v"] }`},
	{"a negated test of the key", `x if { some k in input.keys; c := [v | not startswith(k, "b"); v := input.of[k]]; c == ["v"] }`, "HK088",
		`x if { some k in input.keys; c := [v | v := input.of[k]; not startswith(k, "b")]; c == ["v"] }`},
}

// fineForTopdown are rules that are like those and that OPA evaluates as they
// are meant: nothing is reported.
var fineForTopdown = []string{
	`x if input.a in [input.b, input.a]`,
	`x if input.a in [input.b]`,
	`x if input.a in {"k", "v"}`,
	`x if lower(input.a) in [input.b, "k"]`,
	`x if [1 | input.a in [input.b, "k"]] == [1]`,
	`x if { not y }
y if not input.a in [input.b, "k"]`,
	`x if { some k in input.keys; c := [v | v := input.of[k]]; c == ["v"] }`,
	`x if { some k in input.keys; c := [v | some v in input.keys; v != k]; c == ["b"] }`,
	`x if { some k in input.keys; c := [v | not k == "b"; v := input.of[k]]; c == ["v"] }`,
	`x if { some k in input.keys; c := [v | not input.l[k]; v := input.of[k]]; c == ["v"] }`,
}

const defectInput = `{"a": "v", "b": "v", "keys": ["a", "b"], "of": {"a": "v", "b": "w"}}`

// defectHolds asks OPA whether data.p.x is true.
func defectHolds(t *testing.T, module string) (bool, error) {
	rs, err := opa.New(opa.Compiler(compileDefect(t, module)), opa.Query("data.p.x"), opa.StrictBuiltinErrors(true),
		opa.ParsedInput(ast.MustParseTerm(defectInput).Value)).Eval(t.Context())
	return rs.Allowed(), err
}

func compileDefect(t *testing.T, module string) *ast.Compiler {
	c, err := ast.CompileModulesWithOpt(map[string]string{"p.rego": "package p\n" + module},
		ast.CompileOpts{ParserOptions: ast.ParserOptions{RegoVersion: ast.RegoV1}})
	require.NoError(t, err)
	return c
}

// reportedDefects are the codes that a hook of a module is reported for.
func reportedDefects(t *testing.T, module string) []string {
	u := newUnit(guard("deny contains \"no\" if x\n" + module))
	u.lintTopdown(compileDefect(t, module))
	var out []string
	for _, d := range u.found {
		out = append(out, d.Code.ID)
	}
	return out
}

func TestTopdownDefects(t *testing.T) {
	for _, test := range topdownDefects {
		t.Run(test.name, func(t *testing.T) {
			held, err := defectHolds(t, test.module)
			assert.False(t, held && err == nil, "OPA has mended it")
			assert.Equal(t, []string{test.code}, reportedDefects(t, test.module))
			held, err = defectHolds(t, test.mended)
			require.NoError(t, err)
			assert.True(t, held, "the other way to write it")
			assert.Empty(t, reportedDefects(t, test.mended))
		})
	}
	for _, module := range fineForTopdown {
		held, err := defectHolds(t, module)
		require.NoError(t, err, module)
		assert.True(t, held, module)
		assert.Empty(t, reportedDefects(t, module), module)
	}
}

// endlessModules end the process that evaluates them.
var endlessModules = []string{
	`x if { some k in input.keys; c := [v | k == [k]; v := input.of[k]]; count(c) == 0 }`,
	`x if { some k in input.keys; c := [v | {"k": k} == k; v := input.of[k]]; count(c) == 0 }`,
	"x if { some k in input.keys; c := [v | f(k); v := input.of[k]]; count(c) == 0 }\nf(k) if g(k, k)\ng(a, b) if a == {\"k\": a}",
}

// TestTopdownEndless has a process of its own die of each of them; hookc
// refuses to compile them.
func TestTopdownEndless(t *testing.T) {
	if module := os.Getenv("HOOKC_ENDLESS"); module != "" {
		debug.SetMaxStack(8 << 20) // Without it the same takes a gigabyte.
		_, _ = defectHolds(t, module)
		return
	}
	for _, module := range endlessModules {
		assert.Equal(t, []string{"HK089"}, reportedDefects(t, module), module)
		_, found := (&Compiler{}).Compile(guard("deny contains \"no\" if x\n" + strings.ReplaceAll(strings.ReplaceAll(module, "input.of", "input.tool_input.of"), "input.keys", "input.tool_input.keys")))
		assert.True(t, found.HasErrors(), module)
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTopdownEndless$")
		cmd.Env = append(os.Environ(), "HOOKC_ENDLESS="+module)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		require.True(t, errors.As(err, &exit), "OPA has mended %s", module)
		assert.Contains(t, string(out), "stack overflow")
	}
}
