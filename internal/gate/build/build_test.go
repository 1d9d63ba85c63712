package build

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/gate/table"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/tests/depth"
)

// compile compiles hooks.yaml.
func compile(t testing.TB, text string) *dag.Program {
	t.Helper()
	p, found := source.Load(source.Options{Inputs: []source.Input{{Path: "hooks.yaml", Format: "hooksyaml", Tier: policy.TierUser, Content: []byte(text)}}})
	require.NoError(t, found.Err(), "%s", text)
	program, more := compiler.Compile(p, compiler.Config{Kinds: runner.Kinds(runner.Options{})})
	require.NotNil(t, program, "%s\n%s", more.Render(), text)
	return program
}

// definition answers an event as hookc run does: the dialect and the executor
// themselves. ran is true when a hook did.
type definition struct {
	exec *executor.Executor
	ran  int
}

func define(t testing.TB, program *dag.Program) *definition {
	d := &definition{}
	d.exec = executor.New(program, executor.Options{Observe: func(r executor.Run) {
		if r.Status != policy.StatusFiltered {
			d.ran++
		}
	}})
	t.Cleanup(d.exec.Close)
	return d
}

func (d *definition) answer(t testing.TB, whose *agent.Agent, asked *table.Asked) (w agent.Wire, call *agent.Call) {
	call, err := whose.Decode(asked.Input, asked.Event, asked.Env)
	if err != nil {
		return call.Fail(err.Error()), call
	}
	in := call.Context
	if !in.Has(policy.FieldCwd) {
		in.Set(policy.FieldCwd, "/")
	}
	d.ran = 0
	return call.Encode(d.exec.Fire(context.Background(), call.Event(), in)), call
}

// roll makes random policies and events.
type roll struct{ *rand.Rand }

func (r roll) of(list ...string) string { return list[r.IntN(len(list))] }

var tools = []string{"Bash", "Edit", "Write", "Read", "Shell", "run_shell_command", "write_file", "mcp__github__create_issue", "mcp__db__query", "MCP:deploy",
	"WebFetch", "Task", "Skill", "odd tool", "Bash2", "mybash", "é"}

// condition is a random entry of a filter.
func (r roll) condition() string {
	switch r.IntN(14) {
	case 0, 1, 2:
		return "tool_name: " + strconv.Quote(r.of(tools...))
	case 3, 4:
		return "tool_matcher: " + strconv.Quote(r.of(tools...)+" | "+r.of(tools...))
	case 5:
		return "tool_kind: " + r.of("shell", "write|edit", "mcp", "other", "read|search|fetch", "agent")
	case 6:
		return "tool_pattern: " + strconv.Quote(r.of("^Ba", "^(Edit|Write)$", "(?i)bash", "mcp__.*__query", `_file\b`, "^mcp__(db|fs)__", "x*", "tool$", `^[A-Z][a-z]+$`))
	case 7, 8:
		return "command: " + strconv.Quote(r.of("^git ", "rm", `\brm\b`, "(?i)SUDO", "ls$", `^(ls|cat)( |$)`, "[^a-z ]", "(?m)^x$", "a.c", "x?"))
	case 9:
		return "permission_mode: " + r.of("plan", "default|acceptEdits", "yolo")
	case 10:
		return "not_permission_mode: " + r.of("plan", "bypassPermissions|yolo")
	case 11:
		return "model_prefix: " + r.of("claude", "gpt-", "gemini")
	case 12:
		return r.of("source: startup", "trigger: auto|manual", "notification_type: idle", "agent: main", "reason: clear")
	}
	return r.of("path: '**/*.go'", "pattern: secret", "input_pattern: x")
}

func (r roll) filter() string {
	if r.IntN(12) == 0 {
		return ""
	}
	seen := map[string]bool{}
	var out []string
	for range 1 + r.IntN(3) {
		c := r.condition()
		if key, _, _ := strings.Cut(c, ":"); !seen[key] {
			seen[key] = true
			out = append(out, c)
		}
	}
	if r.IntN(6) == 0 {
		out = append(out, "missing: "+r.of("match", "match-empty", "fail"))
	}
	return ", filter: {" + strings.Join(out, ", ") + "}"
}

func (r roll) policy() string {
	var b strings.Builder
	for _, e := range policy.Events() {
		if r.IntN(3) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s:\n", e)
		for i := range 1 + r.IntN(4) {
			fmt.Fprintf(&b, "  - {name: h%d, type: expr, deny: \"true\", reason: concerned%s}\n", i, r.filter())
		}
	}
	return b.String()
}

// event is a random event of an agent, mostly as it would send it.
func (r roll) event(d *agent.Agent, reading *agent.WireFormat) (asked *table.Asked) {
	p := &reading.Points[r.IntN(len(reading.Points))]
	members := []string{}
	add := func(key, value string) { members = append(members, strconv.Quote(key)+":"+r.of("", " ", "\n\t")+value) }
	root := r.of("", "", "/", "/tmp", "/tm", "/w", "relative")
	asked = &table.Asked{Dialect: r.of(reading.Names...), Env: func(name string) string {
		if strings.HasSuffix(name, "_PROJECT_DIR") {
			return root
		}
		return ""
	}}
	switch r.IntN(8) {
	case 0:
		asked.Event = p.Native
	case 1:
		asked.Event = string(p.Event)
		add(reading.EventKey, strconv.Quote(p.Native))
	case 2:
		asked.Event = r.of(policy.EventNames()...)
		add(reading.EventKey, strconv.Quote(p.Native))
	case 3:
		add(r.of(agent.EventKeys()...), strconv.Quote(p.Native))
	default:
		add(reading.EventKey, strconv.Quote(p.Native))
	}
	names := map[policy.Field]string{}
	for _, f := range policy.Fields() {
		names[f] = f.String()
	}
	for k, f := range p.Keys {
		if names[f] == f.String() || k < names[f] {
			names[f] = k
		}
	}
	texts := map[policy.Field][]string{
		policy.FieldToolName: tools, policy.FieldPermissionMode: {"plan", "default", "yolo", "bypassPermissions", ""}, policy.FieldModel: {"claude-5", "gpt-6", "", "Claude"},
		policy.FieldSource: {"startup", "resume"}, policy.FieldTrigger: {"auto", "manual", "x"}, policy.FieldNotificationType: {"idle", "other"},
		policy.FieldAgentType: {"main", "sub"}, policy.FieldReason: {"clear", "exit"}, policy.FieldUserInput: {"hello", "", "a \"quoted\" text"},
		policy.FieldCwd: {"/", "/tmp", "relative"}, policy.FieldProjectRoot: {"/", "/tmp"}, policy.FieldSessionID: {"s"}, policy.FieldAssistantOutput: {"done"},
	}
	for _, f := range policy.Fields() {
		values, chance := texts[f], 3
		switch f {
		case policy.FieldToolName, policy.FieldUserInput:
			chance = 9
		}
		if values != nil && r.IntN(10) < chance {
			add(names[f], r.quoted(r.of(values...)))
		}
	}
	if r.IntN(10) < 9 {
		input := r.input()
		switch {
		case p.Text != "" && r.IntN(3) > 0:
			add(p.Text, r.of(strconv.Quote(input), strconv.Quote(input), input, `""`))
		default:
			add(names[policy.FieldToolInput], input)
		}
	}
	for _, key := range p.Moved {
		if r.IntN(2) == 0 {
			add(key, r.of(`"ls -l"`, `"git push"`, `[]`, `null`))
		}
	}
	for range r.IntN(3) {
		add(r.of("extra", "more", "tool_response", "tool_result", "workspace_roots", "output", "status", "loop_count", "timestamp", "raw", "error", "content", "event", "subagent_type", "message"),
			r.of(`1`, `"x"`, `null`, `{"error":"e"}`, `{"error":null,"a":[]}`, `["/w","/v"]`, `[]`, `true`, `-1.5e3`, `[[{}]]`))
	}
	r.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
	asked.Input = []byte("{" + strings.Join(members, ",") + "}" + r.of("", "", "", "\n", " x"))
	if r.IntN(12) == 0 {
		asked.Input[r.IntN(len(asked.Input))] = byte(r.IntN(256))
	}
	return asked
}

// quoted is a text in one of the ways JSON has for it.
func (r roll) quoted(s string) string {
	if s != "" && r.IntN(20) == 0 {
		return fmt.Sprintf(`"\u%04x%s"`, s[0], strings.Trim(strconv.Quote(s[1:]), `"`))
	}
	return strconv.Quote(s)
}

func (r roll) input() string {
	var parts []string
	for range r.IntN(3) {
		parts = append(parts, strconv.Quote(r.of("command", "cmd", "script", "file_path", "x", "edits"))+":"+
			r.of(`"ls"`, `"git push"`, `"sudo rm -rf /"`, `"x\ny"`, `"a\nx\nc"`, `""`, `["git","push"]`, `[]`, `1`, `{"a":{"b":["secret"]}}`, `"\u0067it x"`, `"caf`+"é"+`"`, `null`))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// TestTableIsDefinition: whatever the table answers is what the executor and
// the dialect answer, and no hook ran for it.
func TestTableIsDefinition(t *testing.T) {
	r := roll{rand.New(rand.NewPCG(1, 2))}
	answered, asked := map[string]int{}, 0
	for range depth.Daily(40) {
		text := r.policy()
		program := compile(t, text)
		made := Table(program)
		for _, name := range []string{"claude", "claude@2.1.240", "codex", "copilot", "cursor", "gemini", "qwen", "kimi", "jcli", "clawdcode", "agenthooks", "aiagents"} {
			whose, err := agent.Find(name)
			require.NoError(t, err)
			reading, def := whose.WireFormat(), define(t, program)
			for range 50 {
				a := r.event(whose, reading)
				opened, ok := table.Open(made)
				require.True(t, ok)
				asked++
				got, ok := opened.Decide(a)
				if !ok {
					continue
				}
				answered[name]++
				want, call := def.answer(t, whose, a)
				where := fmt.Sprintf("%s %q %s\n%s", name, a.Event, a.Input, text)
				require.Equal(t, agent.Wire{Stdout: nonNil(got.Stdout), Stderr: string(got.Stderr), Exit: got.Exit},
					agent.Wire{Stdout: nonNil(want.Stdout), Stderr: want.Stderr, Exit: want.Exit}, where)
				require.Zero(t, def.ran, where)
				require.Equal(t, []string{call.Agent(), call.Native()}, []string{string(got.Agent), string(got.Native)}, where)
				in := call.Context.Frozen(call.Event())
				require.Equal(t, in.Text(policy.FieldCwd), or(got.Cwd, "/"), where)
				if got.Root != "" {
					require.Equal(t, in.Text(policy.FieldProjectRoot), got.Root, where)
				}
			}
		}
	}
	for name, n := range answered {
		assert.Greater(t, n, depth.Daily(80), "%s is hardly answered", name)
	}
	assert.Len(t, answered, 12)
	t.Logf("%d of %d asked: %v", sum(answered), asked, answered)
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

func nonNil(b []byte) []byte { return append([]byte{}, b...) }

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// TestLoggedIsNotAnswered: hookgate writes no log, so that of a policy that wants one it
// answers no agent and no event, whatever the rules are.
func TestLoggedIsNotAnswered(t *testing.T) {
	r := roll{rand.New(rand.NewPCG(5, 6))}
	answered := map[string]int{}
	for range depth.Daily(20) {
		text := r.policy()
		for _, log := range []string{"", "log: {enabled: true}\n", "log: {enabled: false}\n"} {
			program := compile(t, log+text)
			require.Equal(t, log != "", len(program.Log) > 0)
			sections := Sections(program)
			if log == "log: {enabled: true}\n" {
				require.Len(t, sections, 1, "rules without a table decide nothing")
			}
			for _, whose := range agent.All() {
				opened, ok := table.Open(sections[0].Data)
				require.True(t, ok)
				for range 5 {
					if _, ok := opened.Decide(r.event(whose, whose.WireFormat())); ok {
						answered[log]++
					}
				}
			}
		}
	}
	require.Positive(t, answered[""])
	require.Positive(t, answered["log: {enabled: false}\n"])
	require.Zero(t, answered["log: {enabled: true}\n"])
}
