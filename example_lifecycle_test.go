package hookc_test

import (
	"fmt"

	"github.com/hookc/hookc"
)

func ExampleEngine_SessionStart() {
	eng := open(`
session_start:
  - {name: house-rules, context: '"Answer in French."'}
`)
	defer eng.Close()
	d, _ := eng.SessionStart(ctx, hookc.Turn{Where: hookc.Where{SessionID: "s1"}})
	fmt.Println(d.Action, d.Context)
	// Output: proceed [Answer in French.]
}

func ExampleEngine_SessionEnd() {
	eng := open(`
session_end:
  - {name: bye, use: say, result: {system_message: the transcript is saved}}
`)
	defer eng.Close()
	d, _ := eng.SessionEnd(ctx, hookc.Turn{})
	fmt.Println(d.Action, d.SystemMessages)
	// Output: proceed [the transcript is saved]
}

func ExampleEngine_PreSend() {
	eng := open(`
pre_send_message:
  - {name: secrets, deny: 'user_input matches "sk-[a-z0-9]{6,}"', reason: the message holds an API key}
`)
	defer eng.Close()
	d, _ := eng.PreSend(ctx, hookc.Turn{UserInput: "my key is sk-abc123"})
	fmt.Println(d.Action, d.Scope, d.Reasons)
	// Output: block turn [the message holds an API key]
}

func ExampleEngine_PostSend() {
	eng := open(`
post_send_message:
  - {name: seen, use: say, result: {system_message: sent}}
`)
	defer eng.Close()
	d, _ := eng.PostSend(ctx, hookc.Turn{UserInput: "hi"})
	fmt.Println(d.Action, d.SystemMessages)
	// Output: proceed [sent]
}

func ExampleEngine_PreModel() {
	eng := open(`
pre_llm_request:
  - {name: cool, filter: {model_prefix: gpt-}, set: {request_config.temperature: "0"}}
`)
	defer eng.Close()
	d, _ := eng.PreModel(ctx, hookc.Turn{
		Where:         hookc.Where{Model: "gpt-4o"},
		RequestConfig: map[string]any{"temperature": 1, "top_p": 0.9},
	})
	fmt.Println(d.Action, d.Patch["request_config"])
	// Output: proceed map[temperature:0 top_p:0.9]
}

func ExampleEngine_SelectTools() {
	eng := open(`
tool_selection:
  - {name: read-only, use: say, result: {tool_config: {mode: ANY, names: [Read, Grep]}}}
`)
	defer eng.Close()
	d, _ := eng.SelectTools(ctx, hookc.Turn{ToolConfig: map[string]any{"mode": "AUTO"}})
	fmt.Println(d.Action, d.Patch["tool_config"])
	// Output: proceed map[mode:ANY names:[Grep Read]]
}

func ExampleEngine_PostModel() {
	eng := open(`
post_llm_response:
  - {name: mask, set: {assistant_output: 'text.redact(assistant_output, "sk-[a-z]+", "***")'}}
`)
	defer eng.Close()
	d, _ := eng.PostModel(ctx, hookc.Turn{AssistantOutput: "use sk-abc"})
	fmt.Println(d.Action, d.Patch["assistant_output"])
	// Output: proceed use ***
}

func ExampleEngine_PreTool() {
	eng := open(`
pre_tool_execution:
  - name: guard-shell
    filter: {tool_kind: shell}
    source: |
      package guard
      deny contains "do not push to main" if regex.match(` + "`git\\s+push\\b.*\\bmain\\b`" + `, input.command)
`)
	defer eng.Close()
	d, err := eng.PreTool(ctx, hookc.Call{Tool: "Bash", Input: map[string]any{"command": "git push origin main"}})
	fmt.Println(d.Action, d.By, d.At, d.Reasons, err)
	// Output: block guard-shell hooks.yaml:7:7 [do not push to main] <nil>
}

// The first hook with an opinion answers in the user's place.
func ExampleEngine_Permission() {
	eng := open(`
permission_request:
  - {name: tests, filter: {tool_kind: shell}, allow: 'command == "make test"'}
`)
	defer eng.Close()
	for _, command := range []string{"make test", "make install"} {
		d, _ := eng.Permission(ctx, hookc.Call{Tool: "Bash", Input: map[string]any{"command": command}})
		fmt.Println(d.Action, d.Verdict)
	}
	// Output:
	// proceed allow
	// proceed none
}

func ExampleEngine_PostTool() {
	eng := open(`
post_tool_execution:
  - {name: private, filter: {path: "**/.env"}, deny: "true", reason: the file is private}
`)
	defer eng.Close()
	d, _ := eng.PostTool(ctx, hookc.Call{
		Where: hookc.Where{Cwd: "/project"},
		Tool:  "Read", Input: map[string]any{"file_path": "/project/.env"}, Result: "KEY=1",
	})
	fmt.Println(d.Action, d.Reasons)
	// Output: hide [the file is private]
}

func ExampleEngine_PostToolFailure() {
	eng := open(`
post_tool_execution_failure:
  - {name: hint, when: tool_error contains "permission denied", context: '"Do not use sudo."'}
`)
	defer eng.Close()
	d, _ := eng.PostToolFailure(ctx, hookc.Call{Tool: "Bash", Error: "open /etc/shadow: permission denied"})
	fmt.Println(d.Action, d.Context)
	// Output: proceed [Do not use sudo.]
}

func ExampleEngine_Stop() {
	eng := open(`
stop:
  - {name: tests-pass, command: 'echo "{\"decision\": \"deny\", \"reason\": \"two tests fail\"}"'}
`)
	defer eng.Close()
	d, _ := eng.Stop(ctx, hookc.Turn{AssistantOutput: "Done."})
	fmt.Println(d.Action, d.By, d.Reasons)
	// Output: keep_working tests-pass [two tests fail]
}

func ExampleEngine_PostStop() {
	eng := open(`
post_stop:
  - {name: bell, use: say, result: {system_message: ding}}
`)
	defer eng.Close()
	d, _ := eng.PostStop(ctx, hookc.Turn{StopReason: "end_turn", Steps: 3})
	fmt.Println(d.Action, d.SystemMessages)
	// Output: proceed [ding]
}

func ExampleEngine_TurnEnd() {
	eng := open(`
turn_end:
  - {name: summary, use: say, result: {system_message: turn over}}
`)
	defer eng.Close()
	d, _ := eng.TurnEnd(ctx, hookc.Turn{})
	fmt.Println(d.Action, d.SystemMessages)
	// Output: proceed [turn over]
}

func ExampleEngine_StopFailure() {
	eng := open(`
stop_failure:
  - {name: tell, use: say, result: {system_message: the model failed}}
`)
	defer eng.Close()
	d, _ := eng.StopFailure(ctx, hookc.Turn{ErrorType: "overloaded"})
	fmt.Println(d.Action, d.SystemMessages)
	// Output: proceed [the model failed]
}

func ExampleEngine_SubagentStart() {
	eng := open(`
subagent_start:
  - {name: no-browsing, deny: 'subagent_type == "browser"', reason: no browsing here}
`)
	defer eng.Close()
	d, _ := eng.SubagentStart(ctx, hookc.Subagent{Name: "web", Type: "browser", Task: "look it up"})
	fmt.Println(d.Action, d.Scope, d.Reasons)
	// Output: block agent [no browsing here]
}

func ExampleEngine_SubagentStop() {
	eng := open(`
subagent_stop:
  - {name: says-something, deny: 'assistant_output == ""', reason: report what you found}
`)
	defer eng.Close()
	d, _ := eng.SubagentStop(ctx, hookc.Subagent{Name: "scout", Output: "three files"})
	fmt.Println(d.Action, d.Verdict)
	// Output: proceed none
}

func ExampleEngine_Notify() {
	eng := open(`
notify:
  - {name: quiet, use: say, result: {suppress_output: true}}
`)
	defer eng.Close()
	d, _ := eng.Notify(ctx, hookc.Notification{Type: "idle", Message: "waiting for you"})
	fmt.Println(d.Action, d.SuppressOutput)
	// Output: proceed true
}

func ExampleEngine_PreMicroCompact() {
	eng := open(`
pre_micro_compact:
  - {name: keep-short, deny: len(messages) < 2}
`)
	defer eng.Close()
	d, _ := eng.PreMicroCompact(ctx, hookc.Compaction{Messages: []any{"one"}})
	fmt.Println(d.Action, d.Scope)
	// Output: block compact.micro
}

func ExampleEngine_PostMicroCompact() {
	eng := open(`
post_micro_compact:
  - {name: last-two, set: {messages: "messages[len(messages) - 2:]"}}
`)
	defer eng.Close()
	d, _ := eng.PostMicroCompact(ctx, hookc.Compaction{Messages: []any{"one", "two", "three"}})
	fmt.Println(d.Action, d.Patch["messages"])
	// Output: proceed [two three]
}

func ExampleEngine_PreAutoCompact() {
	eng := open(`
pre_auto_compact:
  - {name: only-when-full, stop: pre_tokens < 100000}
`)
	defer eng.Close()
	d, _ := eng.PreAutoCompact(ctx, hookc.Compaction{Tokens: 5000})
	fmt.Println(d.Action, d.Scope)
	// Output: abort compact.auto
}

func ExampleEngine_PostAutoCompact() {
	eng := open(`
post_auto_compact:
  - {name: goal, set: {messages: 'concat(["The goal: ship it."], messages)'}}
`)
	defer eng.Close()
	d, _ := eng.PostAutoCompact(ctx, hookc.Compaction{Messages: []any{"summary"}})
	fmt.Println(d.Action, d.Patch["messages"])
	// Output: proceed [The goal: ship it. summary]
}
