package expr

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// exprWritten is an expression at line 2, column 10 of a file, after characters
// of more than one byte.
func exprWritten(expr string) diag.Text {
	prefix := "# 规则\n  deny: '"
	src := diag.NewSource("hooks.yaml", prefix+expr+"'\n")
	at := len(prefix)
	return diag.NewText(expr, diag.Span{Source: src, Start: at, End: at + len(expr)}, []diag.Mark{{Body: 0, Source: at}})
}

func TestExprFindings(t *testing.T) {
	tests := []struct {
		event policy.Event
		expr  string
		want  []string
	}{
		{policy.PreToolExecution, `tool_name == "Bash" && tol_input.command == "x"`, []string{`HK081 2:33 no field is called "tol_input" | did you mean "tool_input"?`}},
		{policy.PreToolExecution, `"规则" == tol_name or usr == 1`, []string{
			`HK081 2:18 no field is called "tol_name" | did you mean "tool_name"?`, `HK081 2:30 no field is called "usr" | what the agent sends under another name is in raw.usr; what the host knows is a fact: declare facts: {usr: string} and read facts.usr`}},
		{policy.PreToolExecution, `tool_name ==`, []string{`HK080 2:21 deny: unexpected token EOF | `}},
		{policy.PreToolExecution, `tool_name == "a" )`, []string{`HK080 2:27 deny: unexpected token Bracket(")") | `}},
		{policy.PreToolExecution, `tool_name > 3`, []string{`HK080 2:20 deny: invalid operation: > (mismatched types string and int) | `}},
		{policy.PreToolExecution, `tool_name matches "("`, []string{"HK080 2:20 deny: error parsing regexp: missing closing ): `(` | "}},
		{policy.PreToolExecution, `cwd | path.base() == "x"`, []string{`HK080 2:20 deny: unexpected token Operator(".") | a dotted function does not follow |: give it its first argument`}},
		{policy.PreToolExecution, `tool_name`, []string{`HK084 2:10 deny: a condition is true or false, this is a text | `}},
		{policy.PreToolExecution, `len(tool_input)`, []string{`HK084 2:10 deny: a condition is true or false, this is a number | `}},
		{policy.PreToolExecution, `nil`, []string{`HK084 2:10 deny: a condition is true or false, this is nil | `}},
		{policy.PreToolExecution, `tool_input.flag`, []string{}},
		{policy.PreToolExecution, `path.abz(cwd, "/") == "/"`, []string{`HK086 2:15 no function is called path.abz | did you mean "path.abs"?`}},
		{policy.PreToolExecution, `path.abs == "/"`, []string{`HK086 2:15 path.abs is a function: call it | `}},
		{policy.PreToolExecution, `path.abs(cwd) == "/"`, []string{`HK080 2:15 deny: not enough arguments to call path.abs | `}},
		{policy.PreToolExecution, `path.abs(1, cwd) == "/"`, []string{`HK080 2:19 deny: cannot use int as argument (type string) to call path.abs | `}},
		{policy.PreToolExecution, `path.zzzzzzz(cwd) == path`, []string{`HK086 2:15 no function is called path.zzzzzzz | there are path.abs, path.base, path.dir, path.ext, path.glob, path.real, path.rel, path.within, path.within_real`}},
		{policy.PreToolExecution, `text == "x"`, []string{`HK081 2:10 text begins the names of functions such as text.redact and is no field | `}},
		{policy.PreToolExecution, `len == "x"`, []string{`HK081 2:10 len is a function: call it | `}},
		{policy.PreToolExecution, `hasprefix(cwd, "/")`, []string{`HK086 2:10 no function is called hasprefix | did you mean "hasPrefix"?`}},
		{policy.PreToolExecution, `tool_input.run()`, []string{`HK086 2:21 only a function can be called | `}},
		{policy.PreToolExecution, `now().Year() > 2000`, []string{}},
		{policy.PreToolExecution, `path == "/x" and url.host(url) == "y"`, []string{}},
		{policy.PreToolExecution, `let text = 1; text == 1`, []string{`HK081 2:14 text is reserved: it begins the names of functions | `}},
		{policy.PreToolExecution, `$env.tol_name == "x"`, []string{`HK081 2:15 no field is called "tol_name" | did you mean "tool_name"?`}},
		{policy.PreToolExecution, `tool_input.x == nil`, []string{`HK083 2:23 == nil does not hold for what is missing | test for a key with "key" in object, or give a default with ??`}},
		{policy.PreToolExecution, `(tool_input.x ?? nil) == nil`, []string{}},
		{policy.PreSendMessage, `tool_name == "x" or user_input == "y"`, []string{`HK082 2:10 pre_send_message never carries tool_name | `}},
		{policy.Event("ext.Mine"), `tool_name == "x" or user_input == "y"`, []string{}},
		{policy.PreToolExecution, `tool_name == "x" && tool_input.command != "ls"`, []string{`HK113 2:49 deny does not fire when the value is missing | give it a default: (value ?? "") != …, or write !(value == …)`}},
		{policy.PreToolExecution, `!(tool_input.command == "ls") && tool_name != "x"`, []string{}},
		{policy.PreToolExecution, `tool_input.command != "ls" || tool_name == "x"`, []string{}},
		{policy.PreToolExecution, strings.Repeat("(", maxExpression), []string{`HK080 2:10 deny: unexpected token EOF | `}},
		{policy.PreToolExecution, strings.Repeat(" ", maxExpression+1), []string{`HK080 2:10 deny: longer than 65536 bytes | `}},
	}
	for _, tt := range tests {
		hook := exprHookOn(tt.event, policy.Body{Rules: []policy.Rule{{Says: policy.MayDeny, Condition: exprWritten(tt.expr), Reason: diag.Literal("no")}}})
		_, found := prepareOn(t, hook)
		if len(tt.expr) > 1000 {
			require.NotEmpty(t, found)
			assert.Equal(t, "HK080", found[0].Code.ID)
			continue
		}
		assert.Equal(t, tt.want, exprFindings(found), tt.expr)
		for _, d := range found {
			assert.Equal(t, "h", d.Hook)
		}
	}
}

func TestExprBodyFindings(t *testing.T) {
	tests := []struct {
		event policy.Event
		body  policy.Body
		want  []string
	}{
		{policy.PreToolExecution, policy.Body{Rules: []policy.Rule{{Says: policy.MayAsk, Condition: exprWritten("true")}}}, []string{"HK114 2:10 ask gives no reason | add reason:"}},
		{policy.PreToolExecution, policy.Body{Rules: []policy.Rule{{Says: policy.MayAllow, Condition: exprWritten("true")}}}, []string{}},
		{policy.PreToolExecution, policy.Body{When: exprWritten("true")}, []string{"HK087 0:0 h has no rule, no set and no context | write a condition such as deny:, rules:, set: or context:"}},
		{policy.PreToolExecution, policy.Body{Context: exprWritten("len(cwd)")}, []string{"HK084 2:10 context: must be a text, this is a number | "}},
		{policy.PostSendMessage, policy.Body{Context: exprWritten("cwd")}, []string{"HK085 2:10 post_send_message takes no additional_context | "}},
		{policy.PreToolExecution, policy.Body{Set: []policy.Assign{{Path: exprWritten("tool_name"), Value: exprWritten("cwd")}}},
			[]string{"HK085 2:10 pre_tool_execution does not let a hook change tool_name | here a hook may set additional_context, retry_feedback, stop_reason, suppress_output, system_message, tool_input"}},
		{policy.PreToolExecution, policy.Body{Set: []policy.Assign{{Path: exprWritten("tol_input.x"), Value: exprWritten("cwd")}}},
			[]string{`HK085 2:10 set: no field is called "tol_input" | did you mean "tool_input"?`}},
		{policy.StopEvent, policy.Body{Set: []policy.Assign{{Path: exprWritten("retry_feedback"), Value: exprWritten("cwd")}, {Path: exprWritten("inject_messages"), Value: exprWritten("[]")}}},
			[]string{"HK085 2:10 stop takes no inject_messages | "}},
		// What is wrong in several expressions is reported for each.
		{policy.PreToolExecution, policy.Body{When: exprWritten("a1"), Context: exprWritten("b1"), Rules: []policy.Rule{{Says: policy.MayAllow, Condition: exprWritten("c1")}}},
			[]string{`HK081 2:10 no field is called "a1" | what the agent sends under another name is in raw.a1; what the host knows is a fact: declare facts: {a1: string} and read facts.a1`, `HK081 2:10 no field is called "c1" | what the agent sends under another name is in raw.c1; what the host knows is a fact: declare facts: {c1: string} and read facts.c1`,
				`HK081 2:10 no field is called "b1" | what the agent sends under another name is in raw.b1; what the host knows is a fact: declare facts: {b1: string} and read facts.b1`}},
	}
	for _, tt := range tests {
		_, found := prepareOn(t, exprHookOn(tt.event, tt.body))
		assert.Equal(t, tt.want, exprFindings(found))
	}
}

func TestExprEffects(t *testing.T) {
	tests := []struct {
		expr     string
		reads    string
		world    policy.World
		volatile bool
	}{
		{`tool_input.a.b == 1`, "tool_input.a.b", policy.WorldNone, false},
		{`tool_input["a"].b == 1 and tool_input.c == 2`, "tool_input.a.b, tool_input.c", policy.WorldNone, false},
		{`tool_input?.a?.b == 1`, "tool_input.a.b", policy.WorldNone, false},
		{`tool_input["a.b"].c == 1`, "tool_input", policy.WorldNone, false},
		{`tool_input.rows[0].x == 1`, "tool_input.rows", policy.WorldNone, false},
		{`tool_input[tool_name] == 1`, "tool_name, tool_input", policy.WorldNone, false},
		{`tool_input.x[cwd].z == 1`, "cwd, tool_input.x", policy.WorldNone, false},
		{`$env.tool_input.a == 1`, "tool_input.a", policy.WorldNone, false},
		{`any(tool_input.rows, .x == cwd)`, "cwd, tool_input.rows", policy.WorldNone, false},
		{`let x = tool_input; x.a == 1`, "tool_input", policy.WorldNone, false},
		{`let cwd2 = cwd; cwd2 == "x"`, "cwd", policy.WorldNone, false},
		{`command == "x"`, "tool_name, tool_input, command", policy.WorldNone, false},
		{`tool_arguments contains "x"`, "tool_input, tool_arguments", policy.WorldNone, false},
		{`path.real(cwd, "/") == "x"`, "cwd", policy.WorldRead, false},
		{`now() > date("2020-01-01")`, "", policy.WorldNone, true},
		{`"model" in $env`, policy.PreToolExecution.Spec().Readable().String(), policy.WorldNone, false},
		{`$env[tool_name] == 1`, policy.PreToolExecution.Spec().Readable().String(), policy.WorldNone, false},
	}
	for _, tt := range tests {
		body, found := prepareOn(t, exprHookOn(policy.PreToolExecution, policy.Body{Rules: []policy.Rule{{Says: policy.MayDeny, Condition: diag.Literal(tt.expr), Reason: diag.Literal("r")}}}))
		require.Empty(t, found, tt.expr)
		assert.Equal(t, tt.reads, body.Effects.Reads.String(), tt.expr)
		assert.Equal(t, tt.world, body.Effects.World, tt.expr)
		assert.Equal(t, tt.volatile, body.Effects.Volatile, tt.expr)
		assert.Equal(t, policy.MayDeny, body.Effects.May)
		assert.True(t, body.Effects.Spec)
	}
}

func TestExprSureAndAlways(t *testing.T) {
	deny, ask := policy.MayDeny, policy.MayAsk
	tests := []struct {
		when   string
		rules  map[policy.Powers]string
		sure   bool
		always policy.Powers
	}{
		{"", map[policy.Powers]string{deny: `true`}, true, deny},
		{"", map[policy.Powers]string{deny: `1 + 1 == 2 and "a" in ["a"]`}, true, deny},
		{"true", map[policy.Powers]string{deny: `true`}, true, deny},
		{`tool_name == "x"`, map[policy.Powers]string{deny: `true`}, true, 0},
		{"", map[policy.Powers]string{deny: `tool_name == "Bash"`}, true, 0},
		{"", map[policy.Powers]string{deny: `tool_name != "Bash" and not (tool_kind in ["shell", "write"])`}, true, 0},
		{"", map[policy.Powers]string{deny: `tool_name == cwd`}, false, 0},
		{"", map[policy.Powers]string{deny: `tool_input.x == 1`}, false, 0},
		{"", map[policy.Powers]string{deny: `tool_name contains "x"`}, false, 0},
		{"", map[policy.Powers]string{deny: `tool_input.flag`}, false, 0},
		{"", map[policy.Powers]string{ask: `true`, deny: `tool_name == "x"`}, true, 0},
		{"", map[policy.Powers]string{ask: `tool_name == "x"`, deny: `true`}, true, deny},
		{"", map[policy.Powers]string{policy.MayStop: `true`, deny: `true`}, true, deny | policy.MayStop},
		{"", map[policy.Powers]string{ask: `true`, deny: `len(cwd) > 3`}, false, 0},
	}
	for _, tt := range tests {
		b := policy.Body{When: diag.Literal(tt.when)}
		for _, p := range []policy.Powers{ask, deny, policy.MayStop} {
			if cond := tt.rules[p]; cond != "" {
				b.Rules = append(b.Rules, policy.Rule{Says: p, Condition: diag.Literal(cond), Reason: diag.Literal("r")})
			}
		}
		body, found := prepareOn(t, exprHookOn(policy.PreToolExecution, b))
		require.False(t, found.HasErrors(), found.Render())
		assert.Equal(t, !tt.sure, body.Effects.MayFail, tt.rules)
		assert.Equal(t, tt.always, body.Always, tt.rules)
	}
}

// The expr hooks of the annotated example of semantics.md §10.
func TestExprAnnotatedExample(t *testing.T) {
	jail := policy.Body{Rules: []policy.Rule{{Says: policy.MayDeny, Reason: diag.Literal("path is outside the workspace"),
		Condition: diag.Literal(`!hasPrefix(path.abs(tool_input.file_path, cwd), cwd + "/")`)}}}
	secrets := policy.Body{Rules: []policy.Rule{
		{Says: policy.MayDeny, Condition: diag.Literal(`path.glob("**/.env*", tool_input.file_path ?? "")`), Reason: diag.Literal("dotenv files are off limits")},
		{Says: policy.MayAsk, Condition: diag.Literal(`tool_name == "Read" && (tool_input.file_path ?? "") startsWith "/etc/"`), Reason: diag.Literal("reads system configuration")}}}
	mask := policy.Body{Set: []policy.Assign{{Path: diag.Literal("tool_result"), Value: diag.Literal(`text.redact(tool_result, "sk-[A-Za-z0-9]{20,}", "***")`)}}}
	short := policy.Body{Rules: []policy.Rule{{Says: policy.MayStop, Condition: diag.Literal(`len(messages) < 20`), Reason: diag.Literal("nothing to compact")}}}
	says := func(event policy.Event, b policy.Body, c *policy.Context) policy.Result {
		body, found := prepareOn(t, exprHookOn(event, b))
		require.Empty(t, found)
		r, err := body.Runner.Run(context.Background(), c, 0)
		require.NoError(t, err)
		return r
	}
	tool := func(name string, input map[string]any) *policy.Context {
		return exprCall(input).Set(policy.FieldToolName, name)
	}
	for path, want := range map[string]policy.Verdict{
		"a.go": policy.None, "/repo/b/c.go": policy.None, "../x": policy.Deny, "/repo/../etc/passwd": policy.Deny, "/reposhop/x": policy.Deny, "~/x": policy.Deny, "/repo": policy.Deny,
	} {
		assert.Equal(t, want, says(policy.PreToolExecution, jail, tool("Write", map[string]any{"file_path": path})).Verdict, path)
	}
	assert.Equal(t, policy.Deny, says(policy.PreToolExecution, jail, tool("Write", map[string]any{})).Verdict, "without a path the jail holds")

	denied := says(policy.PreToolExecution, secrets, tool("Read", map[string]any{"file_path": "/etc/.env"}))
	assert.Equal(t, policy.Result{Verdict: policy.Deny, VerdictBy: policy.By{Name: "h#1"},
		Reasons: []policy.Reason{{Text: "dotenv files are off limits"}, {Text: "reads system configuration"}}}, denied)
	assert.Equal(t, policy.Result{Verdict: policy.Ask, VerdictBy: policy.By{Name: "h#2"}, Reasons: []policy.Reason{{Text: "reads system configuration"}}},
		says(policy.PreToolExecution, secrets, tool("Read", map[string]any{"file_path": "/etc/passwd"})))
	assert.Equal(t, policy.Result{}, says(policy.PreToolExecution, secrets, tool("Read", map[string]any{})))

	result := policy.NewContext(policy.PostToolExecution).Set(policy.FieldToolResult, "key sk-abcdefghijklmnopqrst1 end")
	assert.Equal(t, policy.Result{Patch: policy.Replace(policy.Path{Field: policy.FieldToolResult}, "key *** end")}, says(policy.PostToolExecution, mask, result))
	assert.Equal(t, policy.Result{}, says(policy.PostToolExecution, mask, policy.NewContext(policy.PostToolExecution)))

	few := policy.NewContext(policy.PreMicroCompact).Set(policy.FieldMessages, []any{1, 2})
	assert.Equal(t, policy.Result{Control: policy.Stop, ControlBy: policy.By{Name: "h"}, Reasons: []policy.Reason{{Text: "nothing to compact"}}}, says(policy.PreMicroCompact, short, few))
	assert.Equal(t, policy.Result{}, says(policy.PreMicroCompact, short, policy.NewContext(policy.PreMicroCompact)))
}
