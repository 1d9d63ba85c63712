package expr

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/conf"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// exprWhole is an event on which every path the exprGenerator uses is there.
func exprWhole() map[string]any {
	return map[string]any{
		"tool_name": "Bash", "cwd": "/repo", "model": "m-1",
		"tool_input": map[string]any{
			"command": "git push origin main", "n": 3, "f": 2.5, "yes": true, "no": false, "text": "Ünïcode", "zero": 0,
			"list": []any{"a", "b", "a"}, "nums": []any{3, 1, 2.5}, "rows": []any{map[string]any{"k": "x", "n": 1, "ok": true}, map[string]any{"k": "y", "n": 2, "ok": false}},
		},
	}
}

// exprOutcome is a value or "error", comparable across the two evaluators.
func exprOutcome(v any, failed bool) string {
	if failed {
		return "error"
	}
	plain, err := jsonValue(v)
	if err != nil {
		return fmt.Sprintf("%T %v", v, v)
	}
	if f, ok := plain.(float64); ok && f == math.Trunc(f) {
		return fmt.Sprint(f)
	}
	return fmt.Sprintf("%v", plain)
}

// exprLibrary evaluates with the expr library's own machine.
func exprLibrary(t *testing.T, text string, env map[string]any) (string, bool) {
	t.Helper()
	config := configs.Get().(*conf.Config)
	defer configs.Put(config)
	program, err := expr.Compile(text, func(c *conf.Config) {
		c.Env, c.EnvObject, c.Strict = config.Env, config.EnvObject, config.Strict
		c.Optimize = false // it drops operands that fail
	})
	if err != nil {
		return "", false
	}
	v, err := expr.Run(program, env)
	return exprOutcome(v, err != nil), true
}

func exprSame(t *testing.T, text string, in *policy.Context, env map[string]any) bool {
	t.Helper()
	want, compiles := exprLibrary(t, text, env)
	x, found := compileFormula(exprHookOn(policy.PreToolExecution, policy.Body{}), "test", diag.Literal(text), wantAny)
	if !compiles {
		return false
	}
	require.NotNil(t, x, "%s: %v", text, found)
	v, err := runFormula(x, in)
	assert.Equal(t, want, exprOutcome(v, err != nil), "%s", text)
	return true
}

// TestExprAgreesWithLibrary checks that where nothing is missing every feature
// means what the expr library says it means.
func TestExprAgreesWithLibrary(t *testing.T) {
	env := exprWhole()
	in, _, err := policy.ContextFromMap(env)
	require.NoError(t, err)
	fixed := []string{
		`1 + 2 * 3 - 4 / 2`, `7 % 3`, `2 ** 10`, `2 ^ 3`, `-tool_input.n`, `+tool_input.f`, `"a" + "b"`, `1 == 1.0`, `1 != "1" ? 1 : 2`, `0x10 + 0b11 + 0o7 + 1_000`, `1e3`, `b"abc"`,
		`tool_input.n > 2 && tool_input.f < 3`, `tool_input.n in [1, 2, 3]`, `"n" in tool_input`, `2 in 1..3`, `nil == nil`, `not (1 in [2])`, `tool_name not in ["x"]`,
		`tool_input.command matches "git\\s+push"`, `tool_input.command contains "push"`, `tool_input.command startsWith "git"`, `tool_input.command endsWith "main"`, `"x" matches tool_input.list[0]`,
		`tool_input.text[0]`, `tool_input.text[1:3]`, `tool_input.list[1:]`, `tool_input.list[:-1]`, `tool_input.list[-1]`, `tool_input.nums[1:9]`, `[1, 2, 3][tool_input.zero]`,
		`tool_input.yes ? "y" : "n"`, `tool_input.no ?: false`, `if tool_input.yes { 1 } else if tool_input.no { 2 } else { 3 }`, `let a = 1; let b = a + 1; a + b`, `1; "last"`,
		`tool_input.rows | filter(.ok) | map(.k)`, `tool_input.rows | map({"z": .n * #index})`, `all(tool_input.rows, .n > 0)`, `any(tool_input.rows, .ok)`, `none(tool_input.rows, .n > 5)`, `one(tool_input.rows, .ok)`,
		`count(tool_input.list, # == "a")`, `sum(tool_input.nums)`, `sum(tool_input.rows, .n * 2)`, `find(tool_input.rows, .n == 2)`, `findIndex(tool_input.list, # == "b")`, `findLast(tool_input.list, # == "a")`,
		`findLastIndex(tool_input.list, # == "a")`, `groupBy(tool_input.rows, .k)`, `sortBy(tool_input.rows, .n, "desc")`, `sort(tool_input.nums)`, `sort(tool_input.list, "desc")`, `reduce(tool_input.nums, #acc + #)`, `reduce(tool_input.nums, #acc + #index, 10)`,
		`len(tool_input.text)`, `len(tool_input.list)`, `upper(tool_input.text)`, `lower("ABC")`, `trim("  x ")`, `trim("xxaxx", "x")`, `trimPrefix("abc", "a")`, `trimSuffix("abc", "c")`, `split("a,b,c", ",")`, `split("a,b,c", ",", 2)`,
		`splitAfter("a,b", ",")`, `replace("aaa", "a", "b")`, `replace("aaa", "a", "b", 2)`, `repeat("ab", 3)`, `join(["a", "b"], "-")`, `join(tool_input.list)`, `join(split("a b", " "), "+")`, `indexOf("abc", "c")`, `lastIndexOf("abca", "a")`,
		`hasPrefix(tool_name, "B")`, `hasSuffix(tool_name, "h")`, `max(1, 5, 3)`, `min(tool_input.nums)`, `mean(tool_input.nums)`, `median(tool_input.nums)`, `abs(-3)`, `ceil(1.2)`, `floor(1.8)`, `round(1.5)`, `int("7")`, `float("1.5")`, `string(7)`, `type(tool_input.f)`, `type([])`,
		`toJSON({"a": [1, "x"]})`, `fromJSON("{\"a\": 1}").a`, `toBase64("hi")`, `fromBase64("aGk=")`, `first(tool_input.list)`, `last(tool_input.list)`, `get(tool_input, "n")`, `get(tool_input.list, 1)`, `take(tool_input.list, 2)`, `reverse(tool_input.list)`, `uniq(tool_input.list)`,
		`concat(tool_input.list, [1])`, `flatten([1, [2, [3]]])`, `fromPairs([["a", 1]])["a"]`, `len(toPairs({"a": 1}))`, `sort(keys({"b": 1, "a": 2}))`, `bitand(6, 3)`, `bitor(6, 3)`, `bitxor(6, 3)`, `bitnand(6, 3)`, `bitshl(1, 4)`, `bitshr(16, 2)`, `bitushr(16, 2)`, `bitnot(5)`,
		`duration("1h").Minutes()`, `date("2024-01-02").Year()`, `date("2024-01-02") < date("2024-02-01")`, `(date("2024-01-02") - date("2024-01-01")).Hours()`, `date("2024-01-02", "2006-01-02").Weekday().String()`, `timezone("UTC").String()`, `date("2024-01-31").AddDate(0, 0, 1).Day()`,
		`any(tool_input.rows, any(tool_input.list, # == "b"))`, `map(tool_input.list, map(tool_input.nums, # + 1))`, `filter(tool_input.rows, {let z = .n; z > 1})`, `tool_input?.command`, `tool_input?.["command"]`, `$env.tool_name`, `$env["cwd"]`, `tool_name ?? "x"`,
		`tool_input.command > 3`, `len(tool_input.n)`, `tool_input.n.x`, `1 % tool_input.zero`, `int("x")`, `tool_input.list + 1`, `"a" < "b"`, `"a" <= tool_name`, `[1, 2] == [1, 2]`, `{"a": 1} == {"a": 1}`, `tool_input.list == ["a", "b", "a"]`, `1 < 2 < 3`, `tool_input.nums[0] / 2`,
	}
	for _, text := range fixed {
		exprSame(t, text, in, env)
	}
	random := rand.New(rand.NewPCG(7, 11))
	compared := 0
	for range 4000 {
		g := exprGenerator{r: random, depth: 4}
		if exprSame(t, g.node(), in, env) {
			compared++
		}
	}
	assert.Greater(t, compared, 1000, "enough of the random expressions compile")
}

// exprGenerator makes random expressions over the fields of exprWhole.
type exprGenerator struct {
	r     *rand.Rand
	depth int
}

func (g *exprGenerator) pick(list ...string) string { return list[g.r.IntN(len(list))] }

func (g *exprGenerator) node() string {
	if g.depth--; g.depth <= 0 {
		g.depth++
		return g.leaf()
	}
	defer func() { g.depth++ }()
	switch g.r.IntN(11) {
	case 0, 1, 2:
		op := g.pick("==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "in", "contains", "startsWith", "matches", "..", "not in")
		return "(" + g.node() + " " + op + " " + g.node() + ")"
	case 3:
		return "(" + "-" + g.node() + ")"
	case 4:
		return "(" + g.node() + " ? " + g.node() + " : " + g.node() + ")"
	case 5:
		return g.pick("len", "lower", "upper", "trim", "string", "type", "abs", "int", "reverse", "uniq", "flatten", "toJSON", "max") + "(" + g.node() + ")"
	case 6:
		return g.pick("any", "all", "none", "one", "filter", "map", "count", "sum", "sortBy") + "(" + g.pick("tool_input.list", "tool_input.nums", "tool_input.rows", "[1, 2]", "sort(tool_input.nums)", "filter(tool_input.list, "+g.body()+")") + ", " + g.body() + ")"
	case 7:
		return "[" + g.node() + ", " + g.node() + "]"
	case 8:
		return "(" + g.node() + " ?? " + g.leaf() + ")"
	}
	return g.test()
}

// test is an expression that is true or false, or fails. Operands of and, or
// and not are tests: the library lets some others pass, hookc none.
func (g *exprGenerator) test() string {
	if g.depth--; g.depth <= 0 {
		g.depth++
		return g.pick("true", "false", "tool_input.yes", "tool_input.no")
	}
	defer func() { g.depth++ }()
	switch g.r.IntN(4) {
	case 0:
		return "(" + g.test() + g.pick(" and ", " or ", " && ", " || ") + g.test() + ")"
	case 1:
		return "not " + g.test()
	}
	return "(" + g.node() + g.pick(" == ", " != ", " < ", " >= ", " in ", " contains ") + g.node() + ")"
}

func (g *exprGenerator) body() string {
	return g.pick("# == 1", ".ok", ".n > 1", "# != nil", "true", "# contains \"a\"", "#", "# in [1, \"a\"]", g.node())
}

func (g *exprGenerator) leaf() string {
	return g.pick("1", "0", "2.5", `"a"`, `"x"`, "true", "false", "tool_name", "cwd", "tool_input.n", "tool_input.f", "tool_input.yes", "tool_input.no", "tool_input.text",
		"tool_input.list", "tool_input.nums", "tool_input.rows", "tool_input.zero", "tool_input", `tool_input.rows[0].k`, "[1, \"a\"]", `{"a": 1}`)
}

// FuzzExpr: no text makes the compiler panic, and nothing that compiles panics
// out of an evaluation or takes more than its budget allows.
func FuzzExpr(f *testing.F) {
	for _, seed := range []string{
		`tool_name == "Bash" && tool_input.command matches "rm"`, `any(tool_input.list, # == $env.cwd)`, `path.abs(path, cwd) | hasPrefix("/")`, `let a = 1; a ?? b`,
		`{"a": [1, nil][5]}.a?.b`, `reduce(1..9, #acc + #, 0)`, `now().Year()`, "\xff\xfe", `"` + strings.Repeat("(", 50), `if true { 1 } else { 2 }`, `map(1..3, {let x = #; x})`,
	} {
		f.Add(seed, byte(0))
	}
	f.Fuzz(func(t *testing.T, text string, pick byte) {
		h := exprHookOn(policy.PreToolExecution, policy.Body{Rules: []policy.Rule{{Says: policy.MayDeny, Condition: diag.Literal(text)}},
			Set: []policy.Assign{{Path: diag.Literal("tool_input.x"), Value: diag.Literal(text)}}})
		body, found := Kind(testBudget, nil).Prepare(h)
		for _, d := range found {
			_ = d.Render()
		}
		env := exprWhole()
		if pick%2 == 1 {
			delete(env, "tool_input")
		}
		in, _, err := policy.ContextFromMap(env)
		require.NoError(t, err)
		_, err = body.Runner.Run(context.Background(), in, 0)
		var failure *policy.HookError
		if err != nil {
			require.ErrorAs(t, err, &failure)
		}
	})
}
