//go:build !topdown

package build

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/gate/rules"
	"github.com/hookc/hookc/internal/gate/table"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/artifact"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/tests/depth"
)

// entries are heads of rules; MSG is a message.
var heads = []string{"deny contains MSG", "deny contains MSG", "deny contains MSG", "deny := MSG", "deny", "ask contains MSG", "ask", "allow contains MSG", "allow",
	"context contains MSG", "message contains MSG", "warn contains MSG", "violation contains {\"msg\": MSG}", "deny contains {\"reason\": MSG}", "deny := [MSG, \"more\"]",
	"feedback contains MSG", "skip contains MSG", "stop contains MSG", `patch := {"tool_input": {"command": MSG}}`, `result := {"verdict": "deny", "reason": MSG}`, "deny_more contains MSG", "context := MSG"}

var messages = []string{`"no"`, `"<b> & \"c\"\nd"`, `sprintf("%s at %v", [input.tool_name, input.tool_input])`, `sprintf("%v", [input.tool_input.x])`, `input.command`, `""`, `" blank "`,
	`concat(", ", ["a", "b"])`, `"é 日本"`, `upper(input.tool_name)`, `input.tool_input.x`}

var tests = []string{`input.tool_name == "Bash"`, `contains(input.command, "git")`, `startswith(input.tool_input.command, "ls")`, `regex.match("sudo|rm", input.command)`,
	`input.tool_kind == "shell"`, `input.tool_kind != "mcp"`, `input.event == "pre_tool_execution"`, `input.permission_mode == "plan"`, `not input.permission_mode`,
	`input.user_input == "hello"`, `count(input.tool_input) > 0`, `input.tool_input[_] == "ls"`, `input.tool_input.x == 1`, `input.cwd == "/tmp"`, `input.path == "x"`,
	`every v in input.tool_input { is_string(v) }`, `input.content == "x"`, `input.url`, `to_number(input.tool_input.x) > 0`, `helper`, `input.model == "gpt-6"`,
	`object.get(input, ["tool_input", "x"], "") == ""`, `walk(input.tool_input, [["x"], _])`, `input.tool_input.x.a.b[_] == "secret"`, `json.marshal(input.tool_input) != "{}"`,
	`input.tool_input.x < "a"`, `true`, `true`, `true`, `true`, `false`, `input.tool_name`, `input.command`, `count(input.command) < 5`, `lower(input.tool_kind) != "x"`}

// others are what the gate leaves to hookc.
var others = []string{`time.now_ns() > 0`, `input.session_id == "s"`, `count(input) != 0`, `path.within(input.path, "/")`, `input.shell.dynamic`}

func (r roll) test() string {
	if r.IntN(40) == 0 {
		return r.of(others...)
	}
	return r.of(tests...)
}

func (r roll) module(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package hooks.%s\n", name)
	fmt.Fprintf(&b, "helper if %s\n", r.of(slices.DeleteFunc(slices.Clone(tests), func(s string) bool { return s == "helper" })...))
	kind, closed := "", r.IntN(5) == 0
	if closed {
		fmt.Fprintf(&b, "default allow := false\n")
	}
	for range 1 + r.IntN(3) {
		head := r.of(heads...)
		if head = strings.ReplaceAll(head, "MSG", r.of(messages...)); kind != "" && !strings.Contains(head, "contains") {
			continue // a name is either a set or not
		}
		if !strings.Contains(head, "contains") && b.Len() > 200 || closed && strings.HasPrefix(head, "allow contains") {
			continue
		}
		if kind = head; !strings.Contains(head, "contains") {
			fmt.Fprintf(&b, "%s if {\n  %s\n}\n", head, r.test())
			break
		}
		fmt.Fprintf(&b, "%s if {\n  %s\n  %s\n}\n", head, r.test(), r.test())
	}
	return b.String()
}

// hooks is a random policy of rules in Rego.
func (r roll) hooks() string {
	var b strings.Builder
	for _, e := range policy.Events() {
		if r.IntN(4) > 0 && e != policy.PreToolExecution {
			continue
		}
		fmt.Fprintf(&b, "%s:\n", e)
		for i := range 1 + r.IntN(2) {
			filter := r.filter()
			if r.IntN(3) > 0 {
				filter = ""
			}
			fmt.Fprintf(&b, "  - {name: %s%d, type: rego, source: %s%s}\n", e, i, strconv.Quote(r.module(fmt.Sprintf("h%d", i))), filter)
		}
		if r.IntN(8) == 0 {
			fmt.Fprintf(&b, "  - {name: other, type: expr, deny: \"true\", reason: concerned%s}\n", r.filter())
		}
	}
	return b.String()
}

// gate is hookgate without its files.
type gate struct{ sections map[string][]byte }

func newGate(program *dag.Program) gate {
	g := gate{map[string][]byte{}}
	for _, s := range Sections(program) {
		g.sections[s.Name] = s.Data
	}
	return g
}

func (g gate) answer(t testing.TB, asked *table.Asked) *rules.Reply {
	table, ok := table.Open(g.sections[artifact.Gate])
	require.True(t, ok)
	answer, ok := table.Decide(asked)
	switch {
	case !ok:
		return nil
	case len(answer.Rules) == 0:
		return &rules.Reply{Stdout: answer.Stdout, Stderr: answer.Stderr, Exit: answer.Exit}
	}
	return rules.Evaluate(answer, func(name string) []byte { return g.sections[name] }, func() {})
}

// definitionOfRules compiles a policy and makes hooks of OPA's evaluation alone.
func definitionOfRules(t testing.TB, text string) (gate, *definition, *[]string, bool) {
	load := func() (*policy.Policy, diag.List) {
		return source.Load(source.Options{Inputs: []source.Input{{Path: "hooks.yaml", Format: "hooksyaml", Tier: policy.TierUser, Content: []byte(text)}}})
	}
	p, found := load()
	if found.Err() != nil {
		return gate{}, nil, nil, false
	}
	program, _ := compiler.Compile(p, compiler.Config{Kinds: runner.Kinds(runner.Options{})})
	if program == nil {
		return gate{}, nil, nil, false
	}
	patient, _ := load()
	for _, h := range patient.Hooks {
		h.Timeout = time.Minute // OPA on a busy machine
	}
	slow, _ := compiler.Compile(patient, compiler.Config{Kinds: runner.Kinds(runner.Options{}), Without: []string{"native"}})
	require.NotNil(t, slow)
	ran := &[]string{}
	def := &definition{exec: executor.New(slow, executor.Options{Observe: func(r executor.Run) {
		if r.Status == policy.StatusRan {
			*ran = append(*ran, r.Node.Hook.Name)
		} else if r.Status != policy.StatusFiltered {
			*ran = append(*ran, string(r.Status))
		}
	}})}
	t.Cleanup(def.exec.Close)
	return newGate(program), def, ran, true
}

// tally counts what the gate answered by itself.
type tally struct {
	asked, own, ruled, spoke, refused int
}

// same demands that what the gate answers is what the dialect and the executor,
// with OPA, answer.
func (c *tally) same(t testing.TB, g gate, def *definition, ran *[]string, whose *agent.Agent, a *table.Asked, text string) {
	c.asked++
	got := g.answer(t, a)
	if got == nil {
		return
	}
	*ran = nil
	want, call := def.answer(t, whose, a)
	where := fmt.Sprintf("%s %q %s\n%s", whose.ID, a.Event, a.Input, text)
	require.Equal(t, agent.Wire{Stdout: nonNil(want.Stdout), Stderr: want.Stderr, Exit: want.Exit},
		agent.Wire{Stdout: nonNil(got.Stdout), Stderr: string(got.Stderr), Exit: got.Exit}, where)
	var names []string
	for _, r := range got.Ran {
		names = append(names, r.Hook)
	}
	require.Equal(t, *ran, names, where)
	c.own++
	if len(names) == 0 {
		return
	}
	c.ruled++
	silent := call.Encode(&policy.Decision{Event: call.Event(), Action: policy.Proceed})
	if string(silent.Stdout) != string(want.Stdout) || silent.Stderr != want.Stderr || silent.Exit != want.Exit {
		c.spoke++
	}
	if want.Exit == 2 {
		c.refused++
	}
}

var agents = []string{"claude", "claude@2.1.240", "codex", "copilot", "cursor", "gemini", "qwen", "kimi", "jcli", "clawdcode", "agenthooks", "aiagents"}

// rounds is how many random policies are tried: HOOKC_GATE_ROUNDS, else
// what the depth of the run leaves of n.
func rounds(n int) int {
	if v, err := strconv.Atoi(os.Getenv("HOOKC_GATE_ROUNDS")); err == nil {
		return v
	}
	return depth.Judged(n)
}

// TestRulesAreDefinition: whatever the gate answers by rules is what the dialect
// and the executor answer by OPA, and as many hooks ran.
func TestRulesAreDefinition(t *testing.T) {
	seed := uint64(7)
	if v, err := strconv.ParseUint(os.Getenv("HOOKC_GATE_SEED"), 10, 64); err == nil {
		seed = v
	}
	r := roll{rand.New(rand.NewPCG(seed, 8))}
	c, made := tally{}, 0
	for range rounds(40) {
		text := r.hooks()
		g, def, ran, ok := definitionOfRules(t, text)
		if !ok {
			continue
		}
		made++
		for _, name := range agents {
			whose, err := agent.Find(name)
			require.NoError(t, err)
			reading := whose.WireFormat()
			for range 40 {
				c.same(t, g, def, ran, whose, r.event(whose, reading), text)
			}
		}
	}
	t.Logf("%d policies: %+v", made, c)
	assert.Greater(t, made, depth.Least(8))
	assert.Greater(t, c.ruled, depth.Least(c.asked/60))
	assert.Greater(t, c.spoke, depth.Least(c.asked/400))
}

// TestRulesConcern: a hook is evaluated for those tools and modes that its filter
// lets through, whether their names are known or not, and an agent that nobody asks
// in some mode is not told to ask.
func TestRulesConcern(t *testing.T) {
	var c tally
	for _, filter := range []string{"tool_kind: mcp", "tool_kind: other", "tool_kind: mcp|other", "tool_kind: shell", "tool_pattern: '^mcp__'", "tool_pattern: 'x$'", "tool_pattern: '(?i)bash'",
		"tool_matcher: 'mcp__*'", "tool_matcher: '*x|Bash'", "tool_matcher: 'mcp__.*|Edit'", "tool_name: Bash", "tool_name: odd", "command: ls", "{tool_kind: mcp, command: '^ls'}",
		"permission_mode: plan", "not_permission_mode: plan", "{tool_pattern: x, permission_mode: yolo|plan}", "{}"} {
		if filter[0] != '{' {
			filter = "{" + filter + "}"
		}
		text := "pre_tool_execution:\n  - {name: a, type: rego, filter: " + filter + ", source: 'package a\n\n    ask contains input.tool_name'}\n"
		g, def, ran, ok := definitionOfRules(t, text)
		require.True(t, ok, text)
		for _, name := range []string{"Bash", "Edit", "mcp__a__x", "mcp__a", "MCP:x", "@x/y", "odd", "oddx", "bashful", "Bash2", "x"} {
			for _, mode := range []string{"", "plan", "default", "bypassPermissions", "yolo"} {
				for _, whose := range []string{"claude", "clawdcode", "cursor"} {
					d, err := agent.Find(whose)
					require.NoError(t, err)
					event := fmt.Sprintf(`{"tool_name":%q,"permission_mode":%q,"tool_input":{"command":"ls"}}`, name, mode)
					c.same(t, g, def, ran, d, claudeEvent(d, strings.Replace(event, `"permission_mode":"",`, "", 1)), text)
				}
			}
		}
	}
	t.Logf("%+v", c)
	assert.Greater(t, c.own, c.asked*3/4)
	assert.Greater(t, c.ruled, c.asked/5)
}

// TestCold: why a hook is left to hookc.
func TestCold(t *testing.T) {
	program := compile(t, `pre_tool_execution:
  - {name: a, type: rego, source: 'package a

deny contains "no" if input.command == "x"'}
  - {name: b, type: rego, source: 'package b

deny contains "no" if path.within(input.path, "/etc")'}
  - {name: c, type: rego, source: 'package c

deny contains "no" if input.session_id == "x"'}
  - {name: d, type: rego, filter: {path: "**/*.go"}, source: 'package d

deny contains "no" if input.command == "x"'}
  - {name: e, deny: 'command == "y"', reason: "no"}
  - {name: f, type: rego, source: 'package f

deny contains "no" if count(input) == 1'}
`)
	got := map[string]string{}
	plan := program.Plan(policy.PreToolExecution)
	for i, why := range Cold(program, plan) {
		got[plan.Nodes[i].Hook.Name] = why
	}
	assert.Equal(t, map[string]string{"a": "", "b": "uses path.within", "c": "reads session_id", "d": "its filter on path", "e": "is no Rego", "f": "reads the whole input"}, got)
	assert.Equal(t, []string{"a", "b", "c", "d", "e", "f"}, slices.Sorted(maps.Keys(got)))
}

// TestForgedRules: whatever is in the sections of rules and answers, nothing panics
// and evaluating ends.
func TestForgedRules(t *testing.T) {
	r := roll{rand.New(rand.NewPCG(5, 6))}
	g := newGate(compile(t, `pre_tool_execution:
  - name: a
    type: rego
    source: |
      package hooks.a
      words := split(input.command, " ")
      risky(w) if w in {"rm", "curl", "push"}
      risky(w) if regex.match("^-+f", w)
      deny contains sprintf("%v is risky (%d words)", [w, count(words)]) if { some w in words; risky(w) }
      deny contains "all" if { every w in words { not risky(w) }; object.get(input.tool_input, "x", 1) == 2 }
`))
	whole := maps.Clone(g.sections)
	asked := &table.Asked{Dialect: "claude", Event: "PreToolUse", Env: func(string) string { return "" },
		Input: []byte(`{"hook_event_name":"PreToolUse","cwd":"/","tool_name":"Bash","tool_input":{"command":"ls; git push --force"}}`)}
	require.NotNil(t, g.answer(t, asked))
	for range 4000 {
		for _, name := range []string{rules.Section + "pre_tool_execution", rules.Answers + "pre_tool_execution"} {
			b := slices.Clone(whole[name])
			for range 1 + r.IntN(3) {
				b[r.IntN(len(b))] ^= byte(1 << r.IntN(8))
			}
			g.sections[name] = b
			g.answer(t, asked)
			g.sections[name] = whole[name]
		}
	}
}
