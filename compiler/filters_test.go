package compiler

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

func init() {
	// The real provider is in builtins; the tests derive the same fields from
	// the same inputs.
	policy.Provide(policy.FieldToolKind, func(c *policy.Context) (any, bool) {
		kind, ok := map[string]string{"Bash": "shell", "Write": "write"}[c.Text(policy.FieldToolName)]
		return kind, ok
	})
	input := func(key string) policy.Provider {
		return func(c *policy.Context) (any, bool) {
			return c.At(policy.Path{Field: policy.FieldToolInput, Keys: []string{key}})
		}
	}
	policy.Provide(policy.FieldCommand, input("command"))
	policy.Provide(policy.FieldPath, input("file_path"))
}

func call(tool string, input map[string]any) *policy.Context {
	return policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, tool).Set(policy.FieldToolInput, input).
		Set(policy.FieldCwd, "/home/me/project/sub").Set(policy.FieldProjectRoot, "/home/me/project")
}

func TestFilters(t *testing.T) {
	type input = map[string]any
	bash := call("Bash", input{"command": "git push", "env": input{"A": "secret"}, "list": []any{1, "deep"}})
	file := func(path string) *policy.Context { return call("Write", input{"file_path": path}) }
	bare := policy.NewContext(policy.PreToolExecution)
	for _, c := range []struct {
		key   policy.FilterKey
		value string
		in    *policy.Context
		want  bool
	}{
		{policy.FilterToolName, "Bash", bash, true},
		{policy.FilterToolName, "bash", bash, false},
		{policy.FilterToolName, "Bash|Shell", bash, false},
		{policy.FilterToolName, "Bash", bare, false},
		{policy.FilterToolMatcher, "Shell | Bash", bash, true},
		{policy.FilterToolMatcher, "Ba", bash, false},
		{policy.FilterToolMatcher, "", bash, false},
		{policy.FilterToolRegexp, "as", bash, true},
		{policy.FilterToolRegexp, "^as", bash, false},
		{policy.FilterToolRegexp, "", bash, true},
		{policy.FilterToolRegexp, "", bare, false},
		{policy.FilterToolKind, "shell|fetch", bash, true},
		{policy.FilterToolKind, "write", bash, false},
		{policy.FilterModelPrefix, "gpt-4", policy.NewContext(policy.PreToolExecution).Set(policy.FieldModel, "gpt-4o"), true},
		{policy.FilterModelPrefix, "gpt-4", policy.NewContext(policy.PreToolExecution).Set(policy.FieldModel, "o3"), false},
		{policy.FilterModelPrefix, "", bare, false},
		{policy.FilterCommand, `push\b`, bash, true},
		{policy.FilterCommand, "^push", bash, false},
		{policy.FilterCommand, "", file("x"), false},
		{policy.FilterPattern, "^secret$", bash, true},
		{policy.FilterPattern, "^deep$", bash, true},
		{policy.FilterPattern, "command", bash, false},
		{policy.FilterPattern, "1", bash, false},
		{policy.FilterPattern, "", bare, false},
		{policy.FilterLeafPattern, "^secret$", bash, true},
		{policy.FilterLeafPattern, `"command":"git push"`, bash, true},
		{policy.FilterLeafPattern, `^\{"command"`, bash, true},
		{policy.FilterLeafPattern, "", bare, false},
		{policy.FilterPath, "src/**/*.go", file("/home/me/project/src/a/b.go"), true},
		{policy.FilterPath, "src/*.go", file("/home/me/project/src/a/b.go"), false},
		{policy.FilterPath, "sub/x.go", file("x.go"), true},
		{policy.FilterPath, "x.go", file("../x.go"), true},
		{policy.FilterPath, "x.go", file("x.go"), false},
		{policy.FilterPath, "/etc/**", file("/etc/ssh/config"), true},
		{policy.FilterPath, "**/config", file("/etc/ssh/config"), true},
		{policy.FilterPath, "etc/**", file("/etc/ssh/config"), false},
		{policy.FilterPath, "*", file("/home/me/projectile"), false},
		{policy.FilterPath, "src/x", file("/home/me/project/src/../src//x"), true},
		{policy.FilterPath, "**", bash, false},
		{policy.FilterPath, "a/*", policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolInput, input{"file_path": "a/b"}), true},
		{policy.FilterPermissionMode, "plan|default", policy.NewContext(policy.PreToolExecution).Set(policy.FieldPermissionMode, "plan"), true},
		{policy.FilterAgent, "Explore", policy.NewContext(policy.PreToolExecution).Set(policy.FieldAgentType, "Explore"), true},
		{policy.FilterAgent, "Explore", bare, false},
	} {
		b := newBench()
		b.add("h", expr, filter(c.key, c.value))
		plan := b.plan(t, func(cfg *Config) { cfg.Without = []string{"dead"} })
		assert.Equal(t, c.want, plan.Nodes[0].Matcher.Match(c.in), "%s %q on %s", c.key, c.value, c.in.Text(policy.FieldPath))
	}
}

func TestFiltersConjoin(t *testing.T) {
	b := newBench()
	b.add("h", expr, filter(policy.FilterToolName, "Bash"), filter(policy.FilterToolMatcher, "Write"), filter(policy.FilterCommand, "rm"), sees("cwd"))
	n := find(b.plan(t), "h")
	assert.Len(t, n.Matcher.Atoms, 2, "tool_matcher is ignored beside tool_name")
	assert.True(t, n.Matcher.Match(call("Bash", map[string]any{"command": "rm x"})))
	assert.False(t, n.Matcher.Match(call("Bash", map[string]any{"command": "ls"})))
	assert.Equal(t, "cwd, tool_name, tool_input, command", n.Reads.String(), "what the filter reads is read")
	assert.Equal(t, "cwd", n.Effects.Reads.String())
}

func TestFilterOnAnEventWithoutTheField(t *testing.T) {
	b := newBench()
	b.add("h", expr, event(policy.Notify), filter(policy.FilterToolName, "Bash"))
	p := b.compile(t, func(c *Config) { c.Without = []string{"dead"} })
	sent := policy.NewContext(policy.Notify).Set(policy.FieldToolName, "Bash")
	assert.False(t, p.Plans[0].Nodes[0].Matcher.Match(sent), "even if the host sends it")
}

func TestFilterErrors(t *testing.T) {
	src := diag.NewSource("hooks.yaml", `command: ^(?!git)`)
	value := diag.NewText("^(?!git)", diag.Span{Source: src, Start: 9, End: 17}, []diag.Mark{{Body: 0, Source: 9}})
	b := newBench()
	h := b.add("h", expr, filter(policy.FilterPath, "a/[b"), filter(policy.FilterToolKind, "shel"))
	h.Filter.Conditions = append(h.Filter.Conditions, policy.Condition{Key: policy.FilterCommand, Value: value})
	p, found := b.try()
	assert.Nil(t, p)
	require.Equal(t, []string{"HK122 error h", "HK126 error h", "HK125 error h"}, codes(found), "all at once")
	assert.Equal(t, `did you mean "shell"?`, found[0].Hint)
	assert.Equal(t, "hooks.yaml:1:11", found[2].Span.String(), "at the look-ahead itself")
}

func TestIndex(t *testing.T) {
	b := newBench()
	b.add("bash", expr, filter(policy.FilterToolName, "Bash"))
	b.add("both", expr, filter(policy.FilterToolMatcher, "Write|Bash|Bash"))
	b.add("kind", expr, filter(policy.FilterToolKind, "shell"))
	b.add("all", expr)
	x := b.plan(t).Index
	assert.Equal(t, map[string][]int{"Bash": {0, 1}, "Write": {1}}, x.Exact)
	assert.Equal(t, []int{2, 3}, x.Always)
	assert.True(t, x.Any("Read"))
}
