package runner

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

func builtinHook(use string, options ...policy.Option) *policy.Hook {
	return &policy.Hook{Name: "h", Event: policy.PreToolExecution, Kind: policy.KindBuiltin,
		Body: policy.Body{Use: diag.Literal(use), Options: options}}
}

func option(key string, value any) policy.Option {
	return policy.Option{Key: diag.Literal(key), Value: value}
}

func TestBuiltinSay(t *testing.T) {
	for _, value := range []any{`{"decision": "deny", "reason": "no", "tool_input": {"a": 1}}`,
		map[string]any{"decision": "deny", "reason": "no", "tool_input": map[string]any{"a": 1}}} {
		body, found := builtinKind(Options{}).Prepare(builtinHook("say", option("result", value)))
		require.Empty(t, found)
		assert.Equal(t, policy.Effects{
			Writes: policy.NewPaths(policy.Path{Field: policy.FieldToolInput, Keys: []string{"a"}}),
			May:    policy.MayDeny, World: policy.WorldNone, Spec: true,
		}, body.Effects)
		assert.Equal(t, policy.MayDeny, body.Always)
		got, err := body.Runner.Run(context.Background(), bashEvent(), 0)
		require.NoError(t, err)
		assert.Equal(t, policy.Result{Verdict: policy.Deny, VerdictBy: policy.By{Name: "h"}, Reasons: []policy.Reason{{Text: "no"}},
			Patch: policy.Merge(policy.FieldToolInput, map[string]any{"a": 1})}, got)
	}
	// A key HookResult does not know is reported when the hook answers.
	body, found := builtinKind(Options{}).Prepare(builtinHook("say", option("result", `{"permissionDecision": "deny"}`)))
	require.Empty(t, found)
	got, err := body.Runner.Run(context.Background(), bashEvent(), 0)
	require.NoError(t, err)
	require.Len(t, got.Warnings, 1)
	assert.Equal(t, "HK117", got.Warnings[0].Code.ID)
	assert.Zero(t, body.Always)
}

func TestBuiltinToolList(t *testing.T) {
	body, found := builtinKind(Options{}).Prepare(builtinHook("tool-list",
		option("allow", []any{"mcp__github__*", "Read"}), option("ask", "Bash"), option("deny", []any{"mcp__github__delete_*"}), option("otherwise", "deny")))
	require.Empty(t, found)
	assert.Equal(t, policy.Effects{Reads: policy.FieldPaths(policy.FieldToolName), May: policy.MayAllow | policy.MayAsk | policy.MayDeny,
		World: policy.WorldNone, Spec: true}, body.Effects)
	for tool, want := range map[string]policy.Result{
		"mcp__github__list_issues": {Verdict: policy.Allow, Reasons: []policy.Reason{{Text: `the tool "mcp__github__list_issues" is on the allow list (mcp__github__*)`}}},
		"mcp__github__delete_repo": {Verdict: policy.Deny, Reasons: []policy.Reason{{Text: `the tool "mcp__github__delete_repo" is on the deny list (mcp__github__delete_*)`}}},
		"Bash":                     {Verdict: policy.Ask, Reasons: []policy.Reason{{Text: `the tool "Bash" is on the ask list (Bash)`}}},
		"mcp__other__x":            {Verdict: policy.Deny, Reasons: []policy.Reason{{Text: `the tool "mcp__other__x" is on no list`}}},
		"Read":                     {Verdict: policy.Allow, Reasons: []policy.Reason{{Text: `the tool "Read" is on the allow list (Read)`}}},
	} {
		want.VerdictBy = policy.By{Name: "h"}
		got, err := body.Runner.Run(context.Background(), bashEvent().Set(policy.FieldToolName, tool), 0)
		require.NoError(t, err)
		assert.Equal(t, want, got, tool)
	}
	body, found = builtinKind(Options{}).Prepare(builtinHook("tool-list", option("deny", "Bash")))
	require.Empty(t, found)
	got, err := body.Runner.Run(context.Background(), bashEvent().Set(policy.FieldToolName, "Read"), 0)
	require.NoError(t, err)
	assert.Equal(t, policy.Result{}, got)
}

func TestBuiltinFindings(t *testing.T) {
	observer := builtinHook("tool-list", option("deny", "x"))
	observer.Event = policy.Notify
	tests := []struct {
		hook *policy.Hook
		want []string
	}{
		{builtinHook("tool-lsit"), []string{`HK100 0:0 no builtin is called "tool-lsit" | did you mean "tool-list"?`}},
		{builtinHook("zzzzzzzz"), []string{`HK100 0:0 no builtin is called "zzzzzzzz" | there are budget-guard, loop-guard, mcp-guard, path-guard, say, secret-guard, self-guard, shell-guard, tool-list`}},
		{builtinHook("tool-list", option("dney", "x"), option("allow", "y")), []string{`HK101 0:0 tool-list has no option "dney" | did you mean "deny"?`}},
		{builtinHook("tool-list", option("deny", []any{1})), []string{`HK102 0:0 deny must be a list of strings | `}},
		{builtinHook("tool-list", option("deny", "[")), []string{`HK102 0:0 "[" is not a glob | `}},
		{builtinHook("tool-list", option("otherwise", "maybe")), []string{`HK102 0:0 otherwise must be allow, ask or deny, not "maybe" | `}},
		{builtinHook("tool-list", option("otherwise", 1)), []string{`HK102 0:0 otherwise must be a string | `}},
		{builtinHook("tool-list"), []string{`HK103 0:0 tool-list needs at least one of deny, ask, allow and otherwise | `}},
		{observer, []string{`HK104 0:0 notify carries no tool_name | `}},
		{builtinHook("say"), []string{`HK103 0:0 say needs the option result: the answer: the JSON text of a HookResult, or the object itself | `}},
		{builtinHook("say", option("result", `{"decision": "perhaps"}`)), []string{`HK102 0:0 result: decision must be allow, ask, defer or deny, not "perhaps" | `}},
		{builtinHook("say", option("result", "deny")), []string{"HK102 0:0 result: answer is not JSON: invalid character 'd' looking for beginning of value | "}},
		{builtinHook("say", option("result", 3)), []string{`HK102 0:0 result: must be a HookResult: JSON text or an object | `}},
	}
	for _, tt := range tests {
		body, found := builtinKind(Options{}).Prepare(tt.hook)
		assert.Equal(t, tt.want, findingTexts(found))
		_, err := body.Runner.Run(context.Background(), bashEvent(), 0)
		assert.Error(t, err, "a hook that does not compile fails")
		assert.True(t, body.Effects.MayFail)
		for _, d := range found {
			assert.Equal(t, "h", d.Hook)
		}
	}
}

func TestBuiltinRulesOfTheEmbedder(t *testing.T) {
	mine := rule.Rule{Name: "mine", Doc: "says nothing", New: func(*policy.Hook, rule.Options) (rule.Made, diag.List) {
		return rule.Made{Runner: policy.RunnerFunc(func(context.Context, *policy.Context, int) (policy.Result, error) {
			return policy.Result{Context: []string{"mine"}}, nil
		}), Effects: policy.Effects{World: policy.WorldNone}}, nil
	}}
	body, found := builtinKind(Options{Rules: []rule.Rule{mine}}).Prepare(builtinHook("mine"))
	require.Empty(t, found)
	got, err := body.Runner.Run(context.Background(), bashEvent(), 0)
	require.NoError(t, err)
	assert.Equal(t, policy.Result{Context: []string{"mine"}}, got)
	mine.Name = "say"
	assert.PanicsWithValue(t, rule.Misuse{Rule: "say", Text: "is listed twice"}, func() { builtinKind(Options{Rules: []rule.Rule{mine}}) })
}

// TestBuiltinCost: a guard that parses is estimated to take as long as that
// does, not as long as a comparison.
func TestBuiltinCost(t *testing.T) {
	for use, cost := range map[string]time.Duration{"shell-guard": 6 * time.Microsecond, "secret-guard": 6 * time.Microsecond, "path-guard": 7 * time.Microsecond} {
		body, found := builtinKind(Options{}).Prepare(builtinHook(use))
		require.Empty(t, found, use)
		assert.Equal(t, cost, body.Cost, use)
	}
}

func bashEvent() *policy.Context {
	return policy.NewContext(policy.PreToolExecution).Set(policy.FieldCwd, "/repo").Set(policy.FieldToolName, "Bash")
}

func findingTexts(list diag.List) (out []string) {
	for _, d := range list {
		line, col := d.Span.Position()
		out = append(out, fmt.Sprintf("%s %d:%d %s | %s", d.Code.ID, line, col, d.Text, d.Hint))
	}
	return out
}
