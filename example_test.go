package hookc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var ctx = context.Background()

// open compiles one policy text; an example has no use for the error.
func open(text string, options ...hookc.Option) *hookc.Engine {
	eng, err := hookc.Open(ctx, append(options, hookc.Text("hooks.yaml", text))...)
	if err != nil {
		panic(err)
	}
	return eng
}

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "hookc-example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	text := `
pre_tool_execution:
  - name: no-push
    filter: {tool_kind: shell}
    deny: command contains "git push"
    reason: pushing is the user's business
`
	if err := os.WriteFile(filepath.Join(dir, "hooks.yaml"), []byte(text), 0o644); err != nil {
		panic(err)
	}

	eng, err := hookc.Open(ctx, hookc.Dir(dir), hookc.Files("hooks.yaml"))
	if err != nil {
		panic(err)
	}
	defer eng.Close()

	d, err := eng.PreTool(ctx, hookc.Call{Tool: "Bash", Input: map[string]any{"command": "git push origin main"}})
	fmt.Println(d.Permits(), d.Action, d.By, d.Reasons, err)
	// Output: false block no-push [pushing is the user's business] <nil>
}

// The error of a policy that does not compile holds every finding.
func ExampleOpen_findings() {
	_, err := hookc.Open(ctx, hookc.Text("hooks.yaml", `pre_tool_execution:
  - {name: typo, deny: tool_nam == "Bash"}
`))
	var list diag.ListError
	errors.As(err, &list)
	for _, d := range list.List {
		line, col := d.Span.Position()
		fmt.Println(line, col, d.Hint)
	}
	// Output: 2 24 did you mean "tool_name"?
}

func ExampleEngine_Fire() {
	eng := open(`
pre_tool_execution:
  - {name: tidy, filter: {tool_name: Bash}, set: {tool_input.command: '"nice " + tool_input.command'}}
`)
	defer eng.Close()
	d, err := eng.Fire(ctx, hookc.PreToolExecution, policy.NewContext("").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "make"}))
	fmt.Println(d.Action, d.Patch, err)
	// Output: proceed map[tool_input:map[command:nice make]] <nil>
}

// A host that has an event as JSON need not decode it: of the conversation
// nothing is made here, as no hook looks at it.
func ExampleEngine_FireJSON() {
	eng := open(`
pre_tool_execution:
  - {name: no-push, filter: {tool_name: Bash}, deny: tool_input.command contains "git push", reason: pushing is the user's business}
`)
	defer eng.Close()
	d, err := eng.FireJSON(ctx, "", []byte(`{"hook_event_name": "PreToolUse", "tool_name": "Bash",
		"tool_input": {"command": "git push origin main"}, "messages": [{"role": "user", "content": "publish it"}]}`))
	fmt.Println(d.Action, d.By, d.Reasons, err)
	_, err = eng.FireJSON(ctx, "", []byte(`{"hook_event_name": "PreToolUse", "tool_input": {"command": "ls", "command": "git push"}}`))
	fmt.Println(err)
	// Output:
	// block no-push [pushing is the user's business] <nil>
	// hookc: the event cannot be read: key "command" appears twice
}

// A stop at pre_micro_compact leaves the whole pipeline: neither compaction
// runs.
func ExampleEngine_Run() {
	eng := open(`
pre_micro_compact:
  - {name: keep-short, stop: len(messages) < 20, reason: nothing to compact}
`)
	defer eng.Close()
	compact := func(context.Context, *policy.Context) (map[string]any, error) {
		fmt.Println("compacting")
		return nil, nil
	}
	out, err := eng.Run(ctx, "compact",
		hookc.Actions{"micro_compact": compact, "auto_compact": compact},
		policy.NewContext("").Set(policy.FieldMessages, []any{map[string]any{"role": "user", "content": "hi"}}))
	for _, step := range out.Steps {
		fmt.Println(step.Decision.Event, step.Decision.Action, step.Decision.Scope, step.Decision.Reasons)
	}
	fmt.Printf("%q %v\n", out.Break, err)
	// Output:
	// pre_micro_compact abort compact [nothing to compact]
	// "" <nil>
}

// The tool pipeline fires the events around a call and runs the call itself
// only when the guards let it.
func ExampleEngine_Run_tool() {
	eng := open(`
pre_tool_execution:
  - {name: no-push, deny: command contains "git push"}
post_tool_execution:
  - {name: mask, set: {tool_result: 'text.redact(tool_result, "sk-[a-z]+", "***")'}}
`)
	defer eng.Close()
	tool := func(_ context.Context, in *policy.Context) (map[string]any, error) {
		return map[string]any{"tool_result": "the key is sk-abc"}, nil
	}
	for _, command := range []string{"cat .env", "git push"} {
		out, err := eng.Run(ctx, "tool", hookc.Actions{"tool": tool},
			policy.NewContext("").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": command}))
		if err != nil {
			panic(err)
		}
		fmt.Println(len(out.Steps), out.Context.Text(policy.FieldToolResult))
	}
	// Output:
	// 3 the key is ***
	// 1
}

func ExampleEngine_Available() {
	eng := open(`
pre_tool_execution:
  - {name: no-push, filter: {tool_name: Bash}, deny: command contains "git push"}
`)
	defer eng.Close()
	fmt.Println(eng.Available(hookc.PreToolExecution, "Bash"))
	fmt.Println(eng.Available(hookc.PreToolExecution, "Read"))
	fmt.Println(eng.Available(hookc.PostToolExecution, "Bash"))
	// Output:
	// true
	// false
	// false
}

func ExampleEngine_Session() {
	eng := open(`{}`)
	defer eng.Close()
	own := eng.Session("s1")
	index, err := own.Register(hookc.Hook{
		Event: "pre_tool_execution", Name: "no-docs", Deny: `path contains "docs/"`, Reason: "the user said so",
	})
	fmt.Println(index, err)

	call := hookc.Call{Tool: "Write", Input: map[string]any{"file_path": "docs/a.md"}}
	for _, session := range []string{"s1", "s2"} {
		call.SessionID = session
		d, _ := eng.PreTool(ctx, call)
		fmt.Println(session, d.Action)
	}
	// Output:
	// 0 <nil>
	// s1 block
	// s2 proceed
}

func ExampleSession_Register() {
	eng := open(`{}`)
	defer eng.Close()
	_, err := eng.Session("s1").Register(hookc.Hook{Event: "pre_tool_use", Deny: "true"})
	fmt.Println(err)
	// Output: hookc: unknown event "pre_tool_use": did you mean "PreToolUse"?
}

// Indices stay the same when another hook is removed.
func ExampleSession_Remove() {
	eng := open(`{}`)
	defer eng.Close()
	own := eng.Session("s1")
	for _, name := range []string{"a", "b"} {
		if _, err := own.Register(hookc.Hook{Event: "notify", Name: name, Command: "cat"}); err != nil {
			panic(err)
		}
	}
	fmt.Println(own.Remove(0))
	fmt.Println(own.Remove(0))
	for _, h := range own.List() {
		fmt.Println(h.Index, h.Name)
	}
	// Output:
	// <nil>
	// hookc: no session hook has index 0
	// 1 b
}

func ExampleSession_List() {
	eng := open(`{}`)
	defer eng.Close()
	own := eng.Session("s1")
	if _, err := own.Register(hookc.Hook{Event: "stop", Name: "tested", Command: "make test"}); err != nil {
		panic(err)
	}
	for _, h := range own.List() {
		fmt.Println(h.Index, h.Event, h.Name, h.Command)
	}
	// Output: 0 stop tested make test
}

// Tool is what a host offers its model so that the model can register hooks.
func ExampleSession_Tool() {
	eng := open(`{}`)
	defer eng.Close()
	tool := eng.Session("s1").Tool()
	schema := tool["input_schema"].(map[string]any)
	fmt.Println(tool["name"], schema["required"])
	// Output: register_hook [action]
}

func ExampleSession_Call() {
	eng := open(`{}`)
	defer eng.Close()
	own := eng.Session("s1")
	for _, request := range []string{
		`{"action": "register", "event": "pre_tool_execution", "name": "slow-down", "ask": "true"}`,
		`{"action": "list"}`,
		`{"action": "remove", "index": 0}`,
		`{"action": "forget"}`,
	} {
		fmt.Printf("%s\n", own.Call(ctx, []byte(request)))
	}
	// Output:
	// {"session_idx":0}
	// {"hooks":[{"event":"pre_tool_execution","name":"slow-down","ask":"true","session_idx":0}]}
	// {"removed":0}
	// {"error":"unknown action \"forget\": register, list or remove"}
}

// A policy that does not compile leaves the one in force.
func ExampleEngine_Reload() {
	dir, err := os.MkdirTemp("", "hookc-example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "hooks.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			panic(err)
		}
	}
	write(`pre_tool_execution: [{name: one, deny: "true"}]`)
	eng, err := hookc.Open(ctx, hookc.Files(file))
	if err != nil {
		panic(err)
	}
	defer eng.Close()

	for _, text := range []string{`pre_tool_execution: [{name: two, deny: "true"}]`, `pre_tool_execution: [{name: three, deny: "tru"}]`} {
		write(text)
		failed := eng.Reload(ctx) != nil
		d, _ := eng.PreTool(ctx, hookc.Call{Tool: "Read"})
		fmt.Println(failed, d.By)
	}
	// Output:
	// false two
	// true two
}

func ExampleEngine_Close() {
	eng := open(`{}`)
	fmt.Println(eng.Close())
	d, err := eng.PreTool(ctx, hookc.Call{Tool: "Read"})
	fmt.Println(d.Permits(), err)
	fmt.Println(eng.Close())
	// Output:
	// <nil>
	// false hookc: the engine is closed
	// hookc: the engine is closed
}

// An agent passes the model it already talks to.
func ExampleModel() {
	model := func(_ context.Context, r policy.ModelRequest) (string, error) {
		return `{"decision": "ask", "reason": "` + r.Model + ` is not sure"}`, nil
	}
	eng := open(`
pre_tool_execution:
  - {name: review, prompt: "Is {{tool_name}} safe?", on_error: deny}
`, hookc.Model(model), hookc.DefaultModel("small"))
	defer eng.Close()
	d, _ := eng.PreTool(ctx, hookc.Call{Tool: "Bash"})
	fmt.Println(d.Action, d.By, d.Reasons)
	// Output: ask review [small is not sure]
}

// A rule in Go, which policies use by name.
func ExampleRules() {
	night := rule.Rule{
		Name: "at-night", Doc: "denies every call",
		New: func(h *policy.Hook, _ rule.Options) (rule.Made, diag.List) {
			by := policy.By{Name: h.Name, At: h.Span}
			run := func(context.Context, *policy.Context, int) (policy.Result, error) {
				return policy.Result{Verdict: policy.Deny, VerdictBy: by, Reasons: []policy.Reason{{Text: "come back tomorrow", At: h.Span}}}, nil
			}
			return rule.Made{
				Runner:  policy.RunnerFunc(run),
				Effects: policy.Effects{May: policy.MayDeny, World: policy.WorldNone, Spec: true},
			}, nil
		},
	}
	eng := open(`
pre_tool_execution:
  - {name: curfew, use: at-night}
`, hookc.Rules(night))
	defer eng.Close()
	d, _ := eng.PreTool(ctx, hookc.Call{Tool: "Bash"})
	fmt.Println(d.Action, d.By, d.Reasons)
	// Output: block curfew [come back tomorrow]
}

// Answers stand in for hooks when a policy is tested.
func ExampleAnswers() {
	eng := open(`
pre_tool_execution:
  - {name: scan, command: ./scan.sh, on_error: deny}
`, hookc.Answers(map[string]map[string]any{"scan": {"decision": "deny", "reason": "a secret"}}))
	defer eng.Close()
	d, _ := eng.PreTool(ctx, hookc.Call{Tool: "Write"})
	fmt.Println(d.Action, d.By, d.Reasons)
	// Output: block scan [a secret]
}

// What the host knows of who calls is declared under facts:, and every rule may read
// it.
func ExampleWhere() {
	eng, err := hookc.Open(context.Background(), hookc.Text("hooks.yaml", `
facts:
  roles: {list: string}
pre_tool_execution:
  - {name: operators, filter: {tool_name: Deploy}, deny: 'not ("operator" in (facts.roles ?? []))', reason: "operators deploy"}
`))
	if err != nil {
		panic(err)
	}
	defer eng.Close()
	for _, roles := range [][]string{{"reader"}, {"operator"}} {
		d, err := eng.PreTool(context.Background(), hookc.Call{Tool: "Deploy", Where: hookc.Where{Facts: map[string]any{"roles": roles}}})
		if err != nil {
			panic(err)
		}
		fmt.Println(d.Action, d.Reasons)
	}
	// Output:
	// block [operators deploy]
	// proceed []
}
