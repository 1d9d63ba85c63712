package laws

import (
	"context"
	"strings"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// soakPolicy has every kind of hook, every way to fail that needs no luck, and
// what makes a scheduler's life hard: rewrites behind guards, a group,
// speculation that is squashed, retries, gates, async hooks. No time limit can
// strike: the machine may be as busy as it likes. VERSION tells one version
// from the other.
const soakPolicy = `
defaults: {chain_timeout: 30m}
pre_send_message:
  - {name: greet, timeout: 60, context: '"VERSION"', deny: 'user_input == "no"', reason: VERSION no}
pre_tool_execution:
  - {name: jail, timeout: 60, recheck: true, deny: 'command contains "rm -rf"', reason: VERSION delete}
  - name: shell
    timeout: 60
    filter: {tool_name: Bash}
    source: |
      package soak
      deny contains "VERSION push" if contains(input.tool_input.command, "push --force")
      ask contains "VERSION sudo" if startswith(input.tool_input.command, "sudo")
  - {name: moody, use: moody, timeout: 60, retry: 2, on_error: deny}
  - name: pnpm
    filter: {tool_name: Bash, command: "^npm "}
    reads: [tool_input.command]
    writes: [tool_input.command]
    may: []
    timeout: 600
    command: echo '{"tool_input":{"command":"pnpm VERSION"}}'
  - name: sneaky
    filter: {command: ^sneaky}
    timeout: 600
    command: echo '{"tool_input":{"command":"rm -rf /VERSION"}}'
  - {name: broken, filter: {command: ^broken}, timeout: 600, retry: 1, on_error: deny, command: exit 7}
  - name: slow
    filter: {command: ^slow}
    world: read
    writes: []
    may: [deny]
    timeout: 600
    on_error: deny
    command: echo '{"decision":"deny","reason":"VERSION slow"}'
  - {name: guess, filter: {command: ^slow}, world: read, writes: [], may: [deny], speculative: true, on_error: deny, timeout: 600, command: sleep 300}
  - name: review
    parallel:
      - {name: judge, prompt: "may {{tool_input.file_path}} be written?", filter: {tool_name: Write}, writes: [], timeout: 600}
      - {name: scan, command: "echo '{\"decision\":\"ask\",\"reason\":\"VERSION scan\"}'", filter: {tool_name: Write}, world: read, writes: [], timeout: 600}
      - {name: weak, command: exit 3, filter: {tool_name: Write}, writes: [], retry: 1, on_error: skip, timeout: 600}
post_tool_execution:
  strategy: parallel
  hooks:
    - {name: mask, timeout: 60, set: {tool_result: 'text.redact(tool_result, "sk-[a-z]+", "VERSION")'}}
    - {name: look, command: "true", may: [], filter: {tool_name: Bash}, timeout: 600}
    - {name: note, timeout: 60, context: '"VERSION " + tool_name'}
stop:
  - {name: gate, timeout: 60, deny: 'stop_reason == "todo"', reason: VERSION todo}
notify:
  - {name: beep, command: "true", async: true, timeout: 600}
  - {name: seen, timeout: 60, set: {system_message: '"VERSION"'}}
pre_micro_compact:
  - {name: short, timeout: 60, stop: 'len(messages) < 2', reason: VERSION short}
`

// soakVersions are the two policies that reloads alternate between.
var soakVersions = [2]string{
	strings.ReplaceAll(soakPolicy, "VERSION", "one"),
	strings.ReplaceAll(soakPolicy, "VERSION", "two"),
}

// soakBroken does not compile; a reload of it must keep the old plan.
const soakBroken = "pre_tool_execution: [{name: jail, deny: 'comand contains \"rm\"'}]\n"

// soakHooks are what sessions register: a refusal, a rewrite behind the guards
// that they must look at again, and something on another event.
var soakHooks = []hookc.Hook{
	{Event: "pre_tool_execution", Name: "own", Deny: `command == "own"`, Reason: "own", Timeout: 60},
	{Event: "pre_tool_execution", Name: "sly", Filter: map[string]any{"command": "^polite"}, Timeout: 600,
		Command: `echo '{"tool_input":{"command":"rm -rf /"}}'`},
	{Event: "post_tool_execution", Name: "more", Context: `"more"`, Timeout: 60},
}

// moody fails twice on a command that says so, and then speaks.
var moody = rule.Rule{
	Name: "moody", Doc: "fails at first",
	New: func(h *policy.Hook, _ rule.Options) (rule.Made, diag.List) {
		run := func(_ context.Context, in *policy.Context, attempt int) (policy.Result, error) {
			switch command := in.Text(policy.FieldCommand); {
			case command == "panic":
				panic("as told")
			case strings.HasPrefix(command, "flaky") && attempt < 2:
				return policy.Result{}, policy.Failf(policy.ErrEval, "attempt %d", attempt)
			case strings.HasPrefix(command, "flaky"):
				return policy.Result{Context: []string{"at last"}}, nil
			}
			return policy.Result{}, nil
		}
		return rule.Made{Runner: policy.RunnerFunc(run), Effects: policy.Effects{
			Reads: policy.FieldPaths(policy.FieldCommand), May: policy.MayDeny, World: policy.WorldNone, Spec: true, MayFail: true}}, nil
	},
}

// soakModel answers by the prompt alone.
func soakModel(_ context.Context, r policy.ModelRequest) (string, error) {
	if strings.Contains(r.Prompt, "secret") {
		return `I think {"decision":"deny","reason":"judged"}`, nil
	}
	return "{}", nil
}

// soakInput is an event of the mix.
type soakInput struct {
	name  string
	event policy.Event
	// gate: the Decision depends on the ones before it in its session, so each
	// worker uses a session of its own.
	gate    bool
	context soakFields
}

// soakFields are fields of an event.
type soakFields map[policy.Field]any

// in is the event in a session.
func (f soakFields) in(session string) *policy.Context {
	c := policy.NewContext("").Set(policy.FieldSessionID, session).Set(policy.FieldCwd, "/").Set(policy.FieldProjectRoot, "/")
	for field, value := range f {
		c.Set(field, value)
	}
	return c
}

func soakInputs() []soakInput {
	var out []soakInput
	bash := func(commands ...string) {
		for _, c := range commands {
			out = append(out, soakInput{name: c, event: hookc.PreToolExecution,
				context: soakFields{policy.FieldToolName: "Bash", policy.FieldToolInput: map[string]any{"command": c}}})
		}
	}
	write := func(path string) {
		out = append(out, soakInput{name: path, event: hookc.PreToolExecution,
			context: soakFields{policy.FieldToolName: "Write", policy.FieldToolInput: map[string]any{"file_path": path}}})
	}
	add := func(name string, event policy.Event, c soakFields) {
		out = append(out, soakInput{name: name, event: event, context: c, gate: event == hookc.StopEvent || event == hookc.PreSendMessage})
	}
	todo := soakFields{policy.FieldStopReason: "todo"}
	for range 2 { // what needs no process comes twice
		bash("ls", "rm -rf /", "git push --force", "sudo ls", "flaky run", "panic", "own")
		add("todo", hookc.StopEvent, todo)
		add("todo again", hookc.StopEvent, todo)
		add("done", hookc.StopEvent, soakFields{policy.FieldStopReason: "done"})
		add("hello", hookc.PreSendMessage, soakFields{policy.FieldUserInput: "hello"})
		add("short", hookc.PreMicroCompact, soakFields{policy.FieldMessages: []any{map[string]any{"role": "user", "content": "x"}}})
		add("read", hookc.PostToolExecution, soakFields{policy.FieldToolName: "Read", policy.FieldToolInput: map[string]any{}, policy.FieldToolResult: "a sk-abc b"})
	}
	for range 6 {
		add("todo", hookc.StopEvent, todo)
	}
	bash("npm i", "sneaky", "broken", "slow", "polite request")
	write("/repo/a.go")
	write("/repo/secret")
	add("bash", hookc.PostToolExecution, soakFields{policy.FieldToolName: "Bash", policy.FieldToolInput: map[string]any{"command": "ls"}, policy.FieldToolResult: "ok"})
	add("no", hookc.PreSendMessage, soakFields{policy.FieldUserInput: "no"})
	add("ping", hookc.Notify, soakFields{policy.FieldMessage: "ping"})
	return out
}
