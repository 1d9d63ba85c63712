package expr

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

func exprCall(input map[string]any) *policy.Context {
	return policy.NewContext(policy.PreToolExecution).
		Set(policy.FieldCwd, "/repo").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, input)
}

func exprHookOn(e policy.Event, body policy.Body) *policy.Hook {
	return &policy.Hook{Name: "h", Event: e, Kind: policy.KindExpr, Body: body}
}

func prepareOn(t *testing.T, h *policy.Hook) (dag.Body, diag.List) {
	t.Helper()
	return Kind(testBudget, nil).Prepare(h)
}

// evaluate runs one expression as a formula of pre_tool_execution and returns
// its value, `undefined`, or its failure.
func evaluate(t *testing.T, text string, in *policy.Context) (any, *policy.HookError) {
	t.Helper()
	x, found := compileFormula(exprHookOn(policy.PreToolExecution, policy.Body{}), "test", diag.Literal(text), wantAny)
	require.NotNil(t, x, "%s: %v", text, found)
	return runFormula(x, in)
}

func runFormula(x *formula, in *policy.Context) (v any, err *policy.HookError) {
	f := newFrame(context.Background(), in, testBudget, x.vars, x.scopes)
	defer func() {
		if p := recover(); p != nil {
			err = f.failure(p)
		}
		f.release()
	}()
	return x.run(f), nil
}

func TestExprUndefined(t *testing.T) {
	in := exprCall(map[string]any{
		"command": "ls", "n": 3, "half": 1.5, "none": nil, "list": []any{"a", "b"}, "nested": map[string]any{"k": "v"},
		"rows": []any{map[string]any{"ok": true, "n": 1}, map[string]any{"n": 2}, map[string]any{"ok": false}},
	})
	u := any(undefined)
	tests := []struct {
		text string
		want any
	}{
		// What is not there.
		{`tool_input.missing`, u}, {`tool_input["missing"]`, u}, {`tool_input.missing.deeper`, u}, {`tool_input?.missing?.deeper`, u},
		{`user_input ?? "none"`, "none"}, {`model`, u}, {`tool_input.list[0]`, "a"}, {`tool_input.list[-1]`, "b"}, {`tool_input.list[2]`, u},
		{`tool_input.list[-3]`, u}, {`tool_input.list[tool_input.missing]`, u}, {`tool_input[tool_input.missing]`, u}, {`tool_input.none.x`, u},
		{`$env.tool_name`, "Bash"}, {`$env["tool_name"]`, "Bash"}, {`$env["tool_" + "name"]`, "Bash"}, {`$env["no" + "where"]`, u}, {`$env.model`, u},
		{`get(tool_input, "missing")`, u}, {`get(tool_input, "command")`, "ls"}, {`get(tool_input.list, 9)`, u}, {`first([])`, u}, {`last(tool_input.list)`, "b"},
		{`tool_input.list[0:1]`, []any{"a"}}, {`tool_input.missing[0:1]`, u}, {`tool_input.list[tool_input.missing:]`, u},
		// Tests of it.
		{`tool_input.missing == "x"`, u}, {`tool_input.missing != "x"`, u}, {`"x" != tool_input.missing`, u}, {`tool_input.missing == nil`, u},
		{`tool_input.none == nil`, true}, {`tool_input.missing < 1`, u}, {`tool_input.missing <= 1`, u}, {`1 > tool_input.missing`, u}, {`1 >= tool_input.missing`, u},
		{`tool_input.missing in ["x"]`, u}, {`"x" in tool_input.missing`, u}, {`tool_input.missing not in ["x"]`, true}, {`"missing" in tool_input`, false},
		{`tool_input.missing contains "x"`, u}, {`tool_input.missing matches "x"`, u}, {`tool_input.missing startsWith "x"`, u}, {`"x" endsWith tool_input.missing`, u},
		{`not (tool_input.missing contains "x")`, true}, {`!(tool_input.missing == "x")`, true}, {`!!(tool_input.missing == "x")`, false}, {`!tool_input.missing`, true},
		{`tool_input.missing not contains "x"`, true}, {`1 < tool_input.missing < 3`, u}, {`1 < tool_input.n < 9`, true},
		// Calls.
		{`hasPrefix(tool_input.missing, "x")`, u}, {`!hasPrefix(tool_input.missing, "x")`, true}, {`len(tool_input.missing)`, u}, {`lower(tool_input.missing)`, u},
		{`len(tool_input.missing) > 3`, u}, {`path.abs(tool_input.missing, cwd)`, u}, {`!path.within(path.abs(tool_input.missing, cwd), cwd)`, true},
		{`url.host("nonsense") == "x"`, u}, {`tool_input.missing | lower() | trim()`, u}, {`type(tool_input.missing)`, u}, {`type(tool_input.none)`, "nil"},
		// Defaults.
		{`tool_input.missing ?? "d"`, "d"}, {`tool_input.none ?? "d"`, "d"}, {`tool_input.a.b.c ?? 1`, 1}, {`(tool_input.missing == "x") ?? true`, true},
		{`tool_input.missing ?? tool_input.gone`, u}, {`tool_input.missing ?? tool_input.gone ?? 2`, 2},
		// Three-valued logic, every cell.
		{`true and tool_input.missing == 1`, u}, {`tool_input.missing == 1 and true`, u}, {`false and tool_input.missing == 1`, false},
		{`tool_input.missing == 1 and false`, false}, {`tool_input.missing == 1 && tool_input.missing == 2`, u}, {`true || tool_input.missing == 1`, true},
		{`tool_input.missing == 1 || true`, true}, {`false || tool_input.missing == 1`, u}, {`tool_input.missing == 1 or false`, u}, {`tool_input.missing == 1 or tool_input.missing == 2`, u},
		{`true and true`, true}, {`true and false`, false}, {`false or false`, false}, {`tool_name == "Bash" and tool_input.n == 3`, true},
		// Arithmetic, conditionals, variables, literals.
		{`tool_input.missing + 1`, u}, {`1 - tool_input.missing`, u}, {`-tool_input.missing`, u}, {`+tool_input.missing`, u}, {`tool_input.missing + "x"`, u}, {`2 ** tool_input.missing`, u},
		{`1..tool_input.missing`, u}, {`tool_input.missing == 1 ? "a" : "b"`, u}, {`tool_input.n == 3 ? tool_input.missing : "b"`, u}, {`tool_input.missing ?: "b"`, u},
		{`if tool_input.n == 3 { "a" } else { tool_input.missing }`, "a"}, {`let x = tool_input.missing; x == 1`, u}, {`let x = tool_input.missing; x ?? 5`, 5},
		{`let x = 2; let y = x + 1; x * y`, 6}, {`[1, tool_input.missing]`, u}, {`{"a": tool_input.missing}`, u}, {`{"a": 1}.a`, 1}, {`{"a": 1}.b`, u}, {`1; 2; 3`, 3},
		// Loops: what the body cannot say of an element leaves it out.
		{`any(tool_input.rows, .ok)`, true}, {`all(tool_input.rows, .n > 0)`, u}, {`any(tool_input.rows, .n > 5)`, u}, {`any(tool_input.rows, .gone)`, u}, {`all(tool_input.rows, .ok)`, false},
		{`none(tool_input.rows, .gone == 1)`, true}, {`one(tool_input.rows, .ok)`, true}, {`count(tool_input.rows, .ok)`, 1}, {`filter(tool_input.rows, .n == 2)`, []any{map[string]any{"n": 2}}},
		{`map(tool_input.rows, .n)`, []any{1, 2}}, {`sum(tool_input.rows, .n)`, 3}, {`find(tool_input.rows, .n == 2).n`, 2}, {`find(tool_input.rows, .n == 7)`, u}, {`findIndex(tool_input.rows, .n == 2)`, 1},
		{`findIndex(tool_input.rows, .n == 7)`, u}, {`findLast(tool_input.list, true)`, "b"}, {`findLastIndex(tool_input.list, # == "a")`, 0}, {`any(tool_input.missing, true)`, u}, {`!any(tool_input.missing, true)`, true},
		{`map(tool_input.missing, #)`, u}, {`reduce(tool_input.rows, #acc + .n, 0)`, u}, {`reduce(tool_input.list, #acc + #)`, "ab"}, {`reduce([1,2,3], #acc + # * #index, 0)`, 8},
		{`sortBy(tool_input.rows, .n)`, u}, {`sortBy([3,1,2], -#)`, []any{3, 2, 1}}, {`sortBy([3,1,2], #, "desc")`, []any{3, 2, 1}}, {`len(groupBy(tool_input.rows, .n))`, 2},
		{`map(["x", "y"], let v = #; map(tool_input.list, v + #))`, []any{[]any{"xa", "xb"}, []any{"ya", "yb"}}}, {`any(tool_input.list, {let q = #; q == "b"})`, true},
		{`count([true, false, true])`, 2}, {`sum([1, 2.5])`, 3.5}, {`filter(1..5, # % 2 == 0)`, []any{2, 4}},
		// Order never follows a map.
		{`keys({"b": 1, "a": 2})`, []any{"a", "b"}}, {`values({"b": 1, "a": 2})`, []any{2, 1}}, {`toPairs({"b": 1, "a": 2})[0]`, []any{"a", 2}},
	}
	for _, tt := range tests {
		got, err := evaluate(t, tt.text, in)
		if assert.Nil(t, err, tt.text) {
			assert.Equal(t, tt.want, got, tt.text)
		}
	}
}

func TestExprTypeErrors(t *testing.T) {
	in := exprCall(map[string]any{"n": 3, "s": "x", "o": map[string]any{}, "none": nil, "list": []any{1, "a"}})
	tests := []struct{ text, want string }{
		{`len(tool_input.n)`, "test: invalid argument for len (type int)"},
		{`tool_input.s.deeper`, "test: only an object has a member deeper"},
		{`tool_input.s > 1`, "test: invalid operation: string > int"},
		{`tool_input.n contains "x"`, "test: contains takes two texts, not a number and a text"},
		{`tool_input.n matches "x"`, "test: matches takes a text, not a number"},
		{`"x" matches tool_input.n`, "test: matches takes a pattern, not a number"},
		{`"x" matches (tool_input.s + "(")`, "test: error parsing regexp: missing closing ): `x(`"},
		{`tool_input.s and true`, "test: a text is neither true nor false"},
		{`true and tool_input.s`, "test: a text is neither true nor false"},
		{`!tool_input.s`, "test: a text is neither true nor false"},
		{`tool_input.s ? 1 : 2`, "test: a text is neither true nor false"},
		{`any(tool_input.list, #)`, "test: a number is neither true nor false"},
		{`any(tool_input.s, true)`, "test: any takes a list, not a text"},
		{`any(tool_input.none, true)`, "test: any takes a list, not null"},
		{`"x" in tool_input.s`, "test: in takes a list or an object, not a text: use contains"},
		{`sort(tool_input.n)`, "test: sort takes a list, not a number"},
		{`tool_input.n % 0`, "test: integer divide by zero"},
		{`-tool_input.s`, "test: invalid operation: - string"},
		{`tool_input.list[tool_input.s]`, "test: only an object has a member x"},
		{`tool_input.o[tool_input.n]`, "test: an object's key is a text, not a number"},
		{`lower(tool_input.n)`, "test: lower takes a text, not a number"},
		{`hasPrefix(tool_input.n, "x")`, "test: hasPrefix takes texts, not a number and a text"},
		{`path.abs(tool_input.n, "/")`, "test: path.abs: p must be a string, not a number"},
		{`path.glob(tool_input.s + "[", "a")`, `test: "x[" is not a glob: syntax error in pattern`},
		{`reduce(filter(tool_input.list, false), #acc)`, "test: reduce of an empty list needs an initial value"},
		{`join(tool_input.list)`, "test: join takes a list of texts, not of a number"},
		{`keys(tool_input.s)`, "test: takes an object, not a text"},
		{`fromJSON(tool_input.s)`, "test: invalid character 'x' looking for beginning of value"},
	}
	for _, tt := range tests {
		got, err := evaluate(t, tt.text, in)
		if assert.NotNil(t, err, "%s gave %v", tt.text, got) {
			assert.Equal(t, policy.ErrEval, err.Kind, tt.text)
			assert.Equal(t, tt.want, err.Text, tt.text)
		}
	}
}

func TestExprNumbers(t *testing.T) {
	in := exprCall(map[string]any{
		"big": json.Number("12345678901234567890123"), "big2": json.Number("12345678901234567890124"), "odd": json.Number("1.10"), "int": json.Number("7"), "huge": json.Number("1e999"),
		"list": []any{json.Number("1.10"), 2},
	})
	tests := []struct {
		text string
		want any
	}{
		{`tool_input.odd > 1`, true}, {`tool_input.odd == 1.1`, true}, {`1.1 == tool_input.odd`, true}, {`tool_input.odd + 1 > 2`, true}, {`tool_input.int == 7`, true},
		{`tool_input.int + 1`, 8}, {`tool_input.int in [6, 7]`, true}, {`tool_input.odd in [1.1]`, true}, {`tool_input.big == tool_input.big`, true},
		{`tool_input.big == tool_input.big2`, false}, {`tool_input.big == 12345678901234567890123.0`, true}, {`tool_input.big > 5`, true}, {`tool_input.huge > 5`, true}, {`sum(tool_input.list) > 3`, true}, {`max(tool_input.list)`, 2},
		{`tool_input.list == [1.1, 2]`, true}, {`tool_input.big == "x"`, false}, {`tool_input.odd != 1.2`, true}, {`-tool_input.int`, -7}, {`abs(tool_input.odd) < 2`, true},
		{`toJSON(tool_input.big)`, "12345678901234567890123"}, {`1 == 1.0`, true}, {`[1] == [1.0]`, true}, {`{"a": 1} == {"a": 1.0}`, true}, {`tool_input.list[tool_input.int - 6]`, 2},
	}
	for _, tt := range tests {
		got, err := evaluate(t, tt.text, in)
		if assert.Nil(t, err, tt.text) {
			assert.Equal(t, tt.want, got, tt.text)
		}
	}
}

func TestExprBudgets(t *testing.T) {
	in := exprCall(map[string]any{"s": strings.Repeat("x", 1<<20)})
	tests := []struct{ text, want string }{
		{`any(1..1000, any(1..1000, any(1..1000, # < 0)))`, "took longer than 100ms"},
		{`reduce(1..100, #acc + #acc, tool_input.s)`, "needs more than 64 MiB of memory"},
		{`repeat(tool_input.s, 1000000)`, "needs more than 64 MiB of memory"},
		{`replace(tool_input.s, "x", tool_input.s)`, "needs more than 64 MiB of memory"},
		{`1..1000000000`, "needs more than 64 MiB of memory"},
		{`1..9223372036854775807`, "needs more than 64 MiB of memory"},
		{`reduce(1..60, concat(#acc, #acc), [1])`, "needs more than 64 MiB of memory"},
		{`let a = 1..1000; let b = map(a, a); let c = map(a, b); c == c`, ""},
		{`let a = 1..1000; let b = map(a, a); let c = map(a, b); flatten(c)`, ""},
		{`let a = map(1..100000, string(#)); uniq(a)`, "took longer than 100ms"},
		{`join(map(1..1000, tool_input.s))`, "needs more than 64 MiB of memory"},
	}
	for _, tt := range tests {
		_, err := evaluate(t, tt.text, in)
		if assert.NotNil(t, err, tt.text) {
			assert.Equal(t, policy.ErrBudget, err.Kind, tt.text)
			if tt.want != "" {
				assert.Equal(t, "test: "+tt.want, err.Text)
			}
		}
	}
}

func TestExprCancelled(t *testing.T) {
	x, _ := compileFormula(exprHookOn(policy.PreToolExecution, policy.Body{}), "test", diag.Literal(`any(1..1000, any(1..1000, # < 0))`), wantTest)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	h := &exprHook{budget: testBudget, rules: []exprRule{{condition: x}}, scopes: x.scopes, vars: x.vars}
	_, err := h.Run(ctx, exprCall(nil), 0)
	require.Error(t, err)
	assert.Equal(t, "test: context canceled", err.Error())
}

func TestExprFunctionExamples(t *testing.T) {
	in := exprCall(nil)
	for _, fn := range builtins.Funcs() {
		for _, ex := range fn.Examples {
			got, err := evaluate(t, ex.Call, in)
			if assert.Nil(t, err, ex.Call) {
				assert.Equal(t, ex.Want, got, ex.Call)
			}
		}
	}
}

func TestExprResults(t *testing.T) {
	src := diag.NewSource("hooks.yaml", "deny: a\nask: b\n")
	span := func(i int) diag.Span { return diag.Span{Source: src, Start: i, End: i + 3} }
	rule := func(says policy.Powers, cond, reason string, at int) policy.Rule {
		return policy.Rule{Says: says, Condition: diag.Literal(cond), Reason: diag.Literal(reason), Span: span(at)}
	}
	in := exprCall(map[string]any{"command": "rm", "keep": 1})
	tests := []struct {
		name string
		body policy.Body
		want policy.Result
	}{
		{"one rule", policy.Body{Rules: []policy.Rule{rule(policy.MayDeny, `tool_name == "Bash"`, "why ${tool_name}", 0)}},
			policy.Result{Verdict: policy.Deny, VerdictBy: policy.By{Name: "h", At: span(0)}, Reasons: []policy.Reason{{Text: "why ${tool_name}", At: span(0)}}}},
		{"not fired", policy.Body{Rules: []policy.Rule{rule(policy.MayDeny, `tool_name == "Read"`, "why", 0)}}, policy.Result{}},
		{"undefined", policy.Body{Rules: []policy.Rule{rule(policy.MayAllow, `tool_input.gone != "x"`, "why", 0)}}, policy.Result{}},
		{"several", policy.Body{Rules: []policy.Rule{
			rule(policy.MayAsk, `true`, "first", 0), rule(policy.MayDeny, `tool_input.command == "rm"`, "second", 8), rule(policy.MayDeny, `true`, "", 8), rule(policy.MaySkip, `true`, "fourth", 8)}},
			policy.Result{Verdict: policy.Deny, VerdictBy: policy.By{Name: "h#2", At: span(8)}, Control: policy.Skip, ControlBy: policy.By{Name: "h#4", At: span(8)},
				Reasons: []policy.Reason{{Text: "first", At: span(0)}, {Text: "second", At: span(8)}, {Text: "fourth", At: span(8)}}}},
		{"when is false", policy.Body{When: diag.Literal(`tool_name == "Read"`), Rules: []policy.Rule{rule(policy.MayDeny, "true", "why", 0)}}, policy.Result{}},
		{"when is undefined", policy.Body{When: diag.Literal(`tool_input.gone == 1`), Rules: []policy.Rule{rule(policy.MayDeny, "true", "why", 0)}}, policy.Result{}},
		{"set leaf, merge, undefined", policy.Body{Set: []policy.Assign{
			{Path: diag.Literal("tool_input.command"), Value: diag.Literal(`tool_input.command + " -i"`)},
			{Path: diag.Literal("tool_input"), Value: diag.Literal(`{"more": [1, 2] | map(# + 1)}`)},
			{Path: diag.Literal("tool_input.gone"), Value: diag.Literal(`tool_input.gone + "x"`)}}},
			policy.Result{Patch: policy.Replace(policy.Path{Field: policy.FieldToolInput, Keys: []string{"command"}}, "rm -i").
				Then(policy.Merge(policy.FieldToolInput, map[string]any{"more": []any{2, 3}}))}},
		{"tool_arguments replaces", policy.Body{Set: []policy.Assign{{Path: diag.Literal("tool_arguments"), Value: diag.Literal(`toJSON({"a": 1})`)}}},
			policy.Result{Patch: policy.Replace(policy.Path{Field: policy.FieldToolInput}, map[string]any{"a": 1})}},
		{"Go values become JSON", policy.Body{Set: []policy.Assign{{Path: diag.Literal("tool_input.words"), Value: diag.Literal(`split("a b", " ")`)}}},
			policy.Result{Patch: policy.Replace(policy.Path{Field: policy.FieldToolInput, Keys: []string{"words"}}, []any{"a", "b"})}},
		{"outputs and context", policy.Body{Context: diag.Literal(`"about " + tool_name`), Set: []policy.Assign{{Path: diag.Literal("system_message"), Value: diag.Literal(`"hi"`)}}},
			policy.Result{Context: []string{"about Bash"}, System: []string{"hi"}}},
		{"no context", policy.Body{Context: diag.Literal(`tool_input.gone`)}, policy.Result{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body, found := prepareOn(t, exprHookOn(policy.PreToolExecution, tt.body))
			require.False(t, found.HasErrors(), found.Render())
			got, err := body.Runner.Run(context.Background(), in, 0)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
			again, err := body.Runner.Run(context.Background(), in, 1)
			require.NoError(t, err)
			assert.Equal(t, tt.want, again, "a second run says the same")
		})
	}
}

func TestExprIsSafeForConcurrentUse(t *testing.T) {
	body, found := prepareOn(t, exprHookOn(policy.PreToolExecution, policy.Body{
		Rules: []policy.Rule{{Says: policy.MayDeny, Condition: diag.Literal(`let x = tool_input.n; any(1..9, # == x)`), Reason: diag.Literal("in range")}},
		Set:   []policy.Assign{{Path: diag.Literal("tool_input.m"), Value: diag.Literal(`map(1..3, # * tool_input.n)`)}}}))
	require.Empty(t, found)
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for range 200 {
				got, err := body.Runner.Run(context.Background(), exprCall(map[string]any{"n": n + 4}), 0)
				want := policy.Replace(policy.Path{Field: policy.FieldToolInput, Keys: []string{"m"}}, []any{n + 4, 2 * (n + 4), 3 * (n + 4)})
				if !assert.NoError(t, err) || !assert.Equal(t, want, got.Patch) || !assert.Equal(t, n+4 <= 9, got.Verdict == policy.Deny) {
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestExprToolConfig(t *testing.T) {
	body, found := prepareOn(t, exprHookOn(policy.ToolSelection, policy.Body{Set: []policy.Assign{
		{Path: diag.Literal("tool_config.mode"), Value: diag.Literal(`"ANY"`)}, {Path: diag.Literal("tool_config"), Value: diag.Literal(`{names: ["b", "a"]}`)}}}))
	require.Empty(t, found)
	got, err := body.Runner.Run(context.Background(), policy.NewContext(policy.ToolSelection), 0)
	require.NoError(t, err)
	assert.Equal(t, policy.Result{ToolConfig: &policy.ToolConfig{Mode: "ANY", Names: []string{"a", "b"}}}, got)
	assert.Equal(t, "tool_config", body.Effects.Writes.String())
}

func TestExprRunFailures(t *testing.T) {
	in := exprCall(map[string]any{"n": 3, "s": "x"})
	tests := []struct {
		body policy.Body
		want string
	}{
		{policy.Body{Rules: []policy.Rule{{Says: policy.MayDeny, Condition: diag.Literal("tool_input.n")}}}, "deny: a number is neither true nor false"},
		{policy.Body{When: diag.Literal("tool_input.s"), Context: diag.Literal(`"x"`)}, "when: a text is neither true nor false"},
		{policy.Body{Context: diag.Literal("tool_input.n")}, "context: must be a text, not a number"},
		{policy.Body{Set: []policy.Assign{{Path: diag.Literal("tool_input"), Value: diag.Literal(`"x"`)}}}, "set tool_input: tool_input must be a JSON object"},
		{policy.Body{Set: []policy.Assign{{Path: diag.Literal("tool_input.at"), Value: diag.Literal(`now()`)}}}, "set tool_input.at: a time.Time is not a JSON value"},
		{policy.Body{Set: []policy.Assign{{Path: diag.Literal("tool_input.at"), Value: diag.Literal(`[1 / 0]`)}}}, "set tool_input.at: +Inf is not a number JSON can hold"},
		// An error in one of several rules is an error of the whole hook.
		{policy.Body{Rules: []policy.Rule{{Says: policy.MayAsk, Condition: diag.Literal("true")}, {Says: policy.MayDeny, Condition: diag.Literal("len(tool_input.n) > 1")}}},
			"deny: invalid argument for len (type int)"},
	}
	for _, tt := range tests {
		body, found := prepareOn(t, exprHookOn(policy.PreToolExecution, tt.body))
		require.False(t, found.HasErrors(), found.Render())
		got, err := body.Runner.Run(context.Background(), in, 0)
		assert.Equal(t, policy.Result{}, got)
		assert.EqualError(t, err, tt.want)
		assert.True(t, body.Effects.MayFail)
	}
}

func TestExprBrokenBodyFails(t *testing.T) {
	body, found := prepareOn(t, exprHookOn(policy.PreToolExecution, policy.Body{Rules: []policy.Rule{{Says: policy.MayDeny, Condition: diag.Literal("tool_name ==")}}}))
	require.True(t, found.HasErrors())
	_, err := body.Runner.Run(context.Background(), exprCall(nil), 0)
	require.Error(t, err)
	assert.Equal(t, policy.ErrParse, policy.KindOf(err))
	assert.Equal(t, policy.MayDeny, body.Effects.May)
	assert.True(t, body.Effects.MayFail)
	assert.Zero(t, body.Always)
}

func exprFindings(list diag.List) []string {
	out := []string{}
	for _, d := range list {
		line, col := d.Span.Position()
		out = append(out, fmt.Sprintf("%s %d:%d %s | %s", d.Code.ID, line, col, d.Text, d.Hint))
	}
	return out
}

// Numbers beyond a float's range keep their sign, and what is no number is none.
func TestExprNumbersBeyondRange(t *testing.T) {
	body, found := prepareOn(t, exprHookOn(policy.PreToolExecution, policy.Body{Rules: []policy.Rule{{Says: policy.MayDeny, Condition: diag.Literal("tool_input.n < 0")}}}))
	require.False(t, found.HasErrors(), found.Render())
	for text, want := range map[json.Number]policy.Verdict{"-1e400": policy.Deny, "1e400": policy.None, "-1": policy.Deny, "1e-400": policy.None} {
		got, err := body.Runner.Run(context.Background(), exprCall(map[string]any{"n": text}), 0)
		require.NoError(t, err, text)
		assert.Equal(t, want, got.Verdict, text)
	}
	_, err := body.Runner.Run(context.Background(), exprCall(nil).With(policy.Merge(policy.FieldToolInput, map[string]any{"n": json.Number("x")})), 0)
	assert.Error(t, err)
}

// testBudget is the budget of the rules of tests.
const testBudget = 100 * time.Millisecond
