package rego

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

func TestReads(t *testing.T) {
	whole := policy.PreToolExecution.Spec().Readable().Names()
	tests := []struct {
		name, source string
		want         []string
	}{
		{"constant path", `deny contains "x" if input.tool_input.command == "ls"`, []string{"tool_input.command"}},
		{"brackets", `deny contains "x" if input["tool_input"]["command"] == "ls"`, []string{"tool_input.command"}},
		{"two paths", `deny contains input.cwd if input.tool_input.a.b == 1`, []string{"cwd", "tool_input.a.b"}},
		{"dynamic operand", `deny contains k if { some k; input.tool_input[k] == 1 }`, []string{"tool_input"}},
		{"some in", `deny contains v if some v in input.tool_input.list`, []string{"tool_input.list"}},
		{"list index", `deny contains "x" if input.tool_input.list[0].name == "a"`, []string{"tool_input.list"}},
		{"operand of an operand", `deny contains "x" if input.tool_input[input.tool_name] == "a"`, []string{"tool_name", "tool_input"}},
		{"key with a dot", `deny contains "x" if input.tool_input["a.b"] == "a"`, []string{"tool_input"}},
		{"dynamic field", `deny contains k if { some k; input[k] == 1 }`, whole},
		{"object.get of all", `deny contains "x" if object.get(input, "tool_name", "") == "a"`, whole},
		{"walk", `deny contains "x" if { walk(input, [_, v]); v == 1 }`, whole},
		{"helper of all", "deny contains \"x\" if helper(input)\nhelper(i) if i.tool_name == \"a\"", whole},
		{"assigned", `deny contains "x" if { i := input; i.tool_name == "a" }`, whole},
		{"helper of a part", "deny contains \"x\" if helper(input.tool_input)\nhelper(i) if i.command == \"a\"", []string{"tool_input"}},
		{"import", "import input.tool_input as args\ndeny contains \"x\" if args.command == \"a\"", []string{"tool_input.command"}},
		{"with", "deny contains \"x\" if ok with input.tool_name as \"a\"\nok if input.cwd == \"/\"", []string{"cwd", "tool_name"}},
		{"with input", "deny contains \"x\" if ok with input as {}\nok if input.cwd == \"/\"", whole},
		{"helper rule", "deny contains \"x\" if ok\nok if inner == 1\ninner := 1 if input.cwd == \"/\"", []string{"cwd"}},
		{"else", "deny := \"x\" if { input.cwd == \"/\" } else := \"y\" if { input.session_id == \"1\" }", []string{"session_id", "cwd"}},
		{"comprehension", `deny contains "x" if count({v | v := input.tool_input.a}) > 1`, []string{"tool_input.a"}},
		{"every", `deny contains "x" if { every v in input.tool_input.a { v == input.cwd } }`, []string{"cwd", "tool_input.a"}},
		{"head", `deny contains input.tool_name`, []string{"tool_name"}},
		{"unreachable", "deny contains \"x\" if true\nunused if input.cwd == \"/\"", []string{}},
		{"own package by name", "deny contains \"x\" if data.hooks.shell.ok\nok if input.cwd == \"/\"", []string{"cwd"}},
		{"own package, dynamic", "deny contains \"x\" if { some k; data.hooks.shell[k] == 1 }\nok := 1 if input.cwd == \"/\"", []string{"cwd"}},
		{"derived", `deny contains "x" if input.command == "ls"`, []string{"tool_name", "tool_input", "command"}},
		{"arguments", `deny contains "x" if contains(input.tool_arguments, "ls")`, []string{"tool_input", "tool_arguments"}},
		{"raw", `deny contains "x" if input.raw.custom.a == "ls"`, []string{"raw.custom.a"}},
		{"template", "deny contains $\"no {input.tool_name}\" if true", []string{"tool_name"}},
		{"negation", `deny contains "x" if not input.agent_id`, []string{"agent_id"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := guard(test.source)
			if test.name == "own package, dynamic" {
				h = guard("deny contains \"x\" if { some k; shell[k] == 1 }\nshell := {\"a\": data.hooks.shell.ok}\nok := 1 if input.cwd == \"/\"")
			}
			assert.Equal(t, test.want, compiled(t, h).Effects().Reads.Names())
		})
	}
}

func TestWrites(t *testing.T) {
	tests := []struct {
		name, source string
		want         []string
	}{
		{"none", `deny contains "x" if true`, []string{}},
		{"leaf", `patch := {"tool_input": {"command": "x", "cwd": input.cwd}}`, []string{"tool_input.command", "tool_input.cwd"}},
		{"whole value", `patch := {"tool_input": input.tool_input}`, []string{"tool_input"}},
		{"computed inner key", `patch := {"tool_input": {input.tool_name: 1}}`, []string{"tool_input"}},
		{"arguments", `patch := {"tool_arguments": "{}"}`, []string{"tool_input"}},
		{"reference head", `patch.tool_input.command := "x" if true`, []string{"tool_input.command"}},
		{"computed key", `patch := {input.tool_name: 1}`, []string{"tool_input"}},
		{"computed object", `patch := p if p := {"tool_input": {"command": "x"}}`, []string{"tool_input"}},
		{"else", `patch := {"tool_input": {"a": 1}} if { false } else := {"tool_input": {"b": 1}}`, []string{"tool_input.a", "tool_input.b"}},
		{"result", `result := {"decision": "ask", "tool_input": {"a": 1}}`, []string{"tool_input.a"}},
		{"computed result", `result := object.union({}, {"decision": "ask"})`, []string{"tool_input"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, compiled(t, guard(test.source)).Effects().Writes.Names())
		})
	}
}

func TestOtherEffects(t *testing.T) {
	tests := []struct {
		name, source string
		want         policy.Effects
		always       policy.Powers
	}{
		{"all powers", "deny if input.cwd == \"/\"\nask if false\nallow if false\nskip if false\nstop if false\ncontext := \"x\" if false",
			policy.Effects{May: policy.MayDeny | policy.MayAsk | policy.MayAllow | policy.MaySkip | policy.MayStop, World: policy.WorldNone, Spec: true, MayFail: true}, 0},
		{"time", `message := "late" if time.now_ns() > 0`,
			policy.Effects{World: policy.WorldNone, Spec: true, MayFail: true, Volatile: true}, 0},
		{"chance in a helper", "message := \"x\" if h\nh if rand.intn(\"a\", 2) == 1",
			policy.Effects{World: policy.WorldNone, Spec: true, MayFail: true, Volatile: true}, 0},
		{"fact", `deny contains "never"`, policy.Effects{May: policy.MayDeny, World: policy.WorldNone, Spec: true}, policy.MayDeny},
		{"fact that says no", `default ask := false`, policy.Effects{May: policy.MayAsk, World: policy.WorldNone, Spec: true, MayFail: true}, 0},
		{"two facts that conflict", "deny := \"a\"\ndeny := \"b\"", policy.Effects{May: policy.MayDeny, World: policy.WorldNone, Spec: true, MayFail: true}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := compiled(t, guard(test.source))
			got := m.Effects()
			got.Reads = policy.Paths{}
			test.want.Writes = got.Writes
			assert.Equal(t, test.want, got)
			assert.Equal(t, test.always, m.Always())
		})
	}
}

// What was inferred is complete: the module answers alike on the whole event
// and on the part it reads.
func TestInputIsEnough(t *testing.T) {
	c := call("Bash", map[string]any{"command": "ls", "n": 1.5, "list": []any{1, "a", nil, true}, "o": map[string]any{"x": map[string]any{"y": 2}}})
	for _, source := range []string{
		`message := sprintf("%v", [input.tool_input])`,
		`message := sprintf("%v %v", [input.tool_input.o.x, input.tool_input.n])`,
		`message := sprintf("%v", [input.tool_input.o.x.y + input.tool_input.n])`,
		`message := input.tool_arguments`,
		`message := sprintf("%v %v", [input.command, input.tool_kind])`,
		`message contains "none" if not input.tool_input.o.z.y`,
		`message contains "not text" if not input.tool_input.command.x`,
		`message := sprintf("%v", [count(input)])`,
	} {
		m := compiled(t, guard(source))
		part, err := m.Eval(context.Background(), m.Input(c))
		require.NoError(t, err)
		all, err := m.Eval(context.Background(), projection{whole: true}.value(c))
		require.NoError(t, err)
		assert.NotEmpty(t, all.System, source)
		assert.Equal(t, all, part, source)
	}
}

func TestInput(t *testing.T) {
	c := call("Bash", map[string]any{"a": map[string]any{"b": 1, "c": 2}, "d": 3})
	path := func(text string) policy.Path {
		p, err := policy.ParsePath(text)
		require.NoError(t, err)
		return p
	}
	tests := []struct {
		paths []policy.Path
		want  string
	}{
		{nil, `{}`},
		{[]policy.Path{path("tool_input.a.b")}, `{"tool_input": {"a": {"b": 1}}}`},
		{[]policy.Path{path("tool_input.a.b"), path("tool_input.d"), path("cwd")}, `{"cwd": "/repo", "tool_input": {"a": {"b": 1}, "d": 3}}`},
		{[]policy.Path{path("tool_input.a.b"), path("tool_input.a")}, `{"tool_input": {"a": {"b": 1, "c": 2}}}`},
		{[]policy.Path{path("tool_input"), path("tool_input.a.b")}, `{"tool_input": {"a": {"b": 1, "c": 2}, "d": 3}}`},
		{[]policy.Path{path("tool_input.d.e"), path("tool_input.x"), path("agent_id")}, `{}`},
		{[]policy.Path{{Field: policy.FieldToolKind}}, `{"tool_kind": "shell"}`},
	}
	for _, test := range tests {
		assert.Equal(t, test.want, newProjection(test.paths).value(c).String())
	}
}
