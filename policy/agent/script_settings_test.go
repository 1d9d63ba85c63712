package agent

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// nativeRow is an answer under an agent's own name of an event, and what is
// heard by default and faithfully; "" is nothing, "=" the same.
type nativeRow struct {
	name   string
	native string
	event  policy.Event
	exit   int
	stdout string
	stderr string
	want   string
	exact  string
}

func runNative(t *testing.T, p policy.Protocol, rows []nativeRow, change func(*output)) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.native+" "+row.name, func(t *testing.T) {
			for _, faithful := range []bool{false, true} {
				a := native(row.event, row.exit, row.stdout, row.stderr)
				a.native, a.faithful = row.native, faithful
				if change != nil {
					change(&a)
				}
				want := row.want
				if faithful && row.exact != "=" {
					want = row.exact
				}
				assert.Equal(t, want, saysOf(Speaks(p).judge(a)), "faithful %v", faithful)
			}
		})
	}
}

// own is an answer's hookSpecificOutput for an event.
func own(native, rest string) string {
	return `{"hookSpecificOutput":{"hookEventName":"` + native + `"` + rest + `}}`
}

func TestNativeCodex(t *testing.T) {
	call, after, ending, prompt := policy.PreToolExecution, policy.PostToolExecution, policy.StopEvent, policy.PreSendMessage
	runNative(t, "codex", []nativeRow{
		{"exit 2", "PreToolUse", call, 2, "{}", " why\n", "deny; why", "="},
		{"silent exit 2", "PreToolUse", call, 2, "", "", "deny", "failed"},
		{"exit 1", "PreToolUse", call, 1, own("PreToolUse", `,"permissionDecision":"deny","permissionDecisionReason":"r"`), "x", "failed", "="},
		{"deny", "PreToolUse", call, 0, own("PreToolUse", `,"permissionDecision":"deny","permissionDecisionReason":"r"`), "", "deny; r", "="},
		{"deny without a reason", "PreToolUse", call, 0, own("PreToolUse", `,"permissionDecision":"deny"`), "", "deny", "failed"},
		{"deny without the event", "PreToolUse", call, 0, `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"r"}}`, "", "deny; r", "failed"},
		{"deny with an unknown key", "PreToolUse", call, 0, own("PreToolUse", `,"permissionDecision":"deny","permissionDecisionReason":"r","x":1`), "", "deny; r", "failed"},
		{"block", "PreToolUse", call, 0, `{"decision":"block","reason":"r"}`, "", "deny; r", "="},
		{"rewrite", "PreToolUse", call, 0, own("PreToolUse", `,"permissionDecision":"allow","updatedInput":{"command":"ls"}`), "", `tool_input {"command":"ls"}`, "="},
		{"rewrite without allow", "PreToolUse", call, 0, own("PreToolUse", `,"updatedInput":{"command":"ls"}`), "", "failed", "="},
		{"allow", "PreToolUse", call, 0, own("PreToolUse", `,"permissionDecision":"allow"`), "", "failed", "="},
		{"ask", "PreToolUse", call, 0, own("PreToolUse", `,"permissionDecision":"ask"`), "", "ask", "failed"},
		{"approve", "PreToolUse", call, 0, `{"decision":"approve"}`, "", "failed", "="},
		{"stop", "PreToolUse", call, 0, `{"continue":false}`, "", "halt", "failed"},
		{"context", "PreToolUse", call, 0, own("PreToolUse", `,"additionalContext":"c"`), "", "context c", "="},
		{"text", "PreToolUse", call, 0, "text", "", "", "="},
		{"broken JSON", "PreToolUse", call, 0, `[1`, "", "failed", "="},
		{"wrong type", "PreToolUse", call, 0, `{"decision":7}`, "", "failed", "="},
		{"text", "UserPromptSubmit", prompt, 0, "text", "", "context text", "="},
		{"block without a reason", "UserPromptSubmit", prompt, 0, `{"decision":"block"}`, "", "deny", "failed"},
		{"stop", "PostToolUse", after, 0, `{"continue":false,"stopReason":"s"}`, "", "deny; s", "="},
		{"text", "Stop", ending, 0, "text", "", "failed", "="},
		{"stop beside block", "Stop", ending, 0, `{"continue":false,"decision":"block","reason":"r"}`, "", "deny; halt; r", "="},
		{"stop", "SessionStart", policy.SessionStart, 0, `{"continue":false}`, "", "halt", "="},
		{"exit 2", "SessionEnd", policy.SessionEnd, 2, "", "x", "failed", "="},
		{"a decision", "PermissionRequest", policy.PermissionRequest, 0, own("PermissionRequest", `,"decision":{"behavior":"deny","message":"m"}`), "", "deny; m", "="},
		{"an approval", "PermissionRequest", policy.PermissionRequest, 0, own("PermissionRequest", `,"decision":{"behavior":"allow"}`), "", "allow", "="},
	}, nil)
}

func TestNativeKimi(t *testing.T) {
	call := policy.PreToolExecution
	runNative(t, "kimi", []nativeRow{
		{"exit 2", "PreToolUse", call, 2, `{"x"`, " no\n", "deny; no", "="},
		{"silent exit 2", "PreToolUse", call, 2, "", "", "deny", "="},
		{"exit 1", "PreToolUse", call, 1, "", "x", "failed", "="},
		{"deny", "PreToolUse", call, 0, `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"r"}}`, "", "deny; r", "="},
		{"ask", "PreToolUse", call, 0, `{"hookSpecificOutput":{"permissionDecision":"ask"}}`, "", "", "="},
		{"block", "PreToolUse", call, 0, `{"decision":"block"}`, "", "", "="},
		{"not JSON", "PreToolUse", call, 0, `{bad`, "", "", "="},
		{"null", "PreToolUse", call, 0, `{"hookSpecificOutput":null}`, "", "failed", "void"},
		{"a list", "PreToolUse", call, 0, `{"hookSpecificOutput":[]}`, "", "failed", "void"},
	}, nil)
}

func TestNativeCursor(t *testing.T) {
	call := policy.PreToolExecution
	runNative(t, "cursor", []nativeRow{
		{"exit 2", "preToolUse", call, 2, "", "no", "deny; no", "="},
		{"exit 1", "preToolUse", call, 1, `{"permission":"deny"}`, "x", "failed", "="},
		{"nothing", "preToolUse", call, 0, "", "", "", "="},
		{"text", "preToolUse", call, 0, "hi", "", "failed", "="},
		{"deny", "preToolUse", call, 0, `{"permission":"deny","user_message":"u","agent_message":"a"}`, "", "deny; a", "="},
		{"a word it does not know", "preToolUse", call, 0, `{"permission":"block"}`, "", "deny", ""},
		{"ask", "preToolUse", call, 0, `{"permission":"ask"}`, "", "ask", ""},
		{"ask", "beforeShellExecution", call, 0, `{"permission":"ask"}`, "", "ask", "deny"},
		{"ask", "beforeMCPExecution", call, 0, `{"permission":"ask"}`, "", "ask", "="},
		{"rewrite", "preToolUse", call, 0, `{"updated_input":{"a":1}}`, "", `tool_input {"a":1}`, "="},
		{"rewrite", "beforeShellExecution", call, 0, `{"updated_input":{"a":1}}`, "", "", "="},
		{"stop", "beforeSubmitPrompt", policy.PreSendMessage, 0, `{"continue":false,"user_message":"u"}`, "", "deny; u", "="},
		{"follow up", "stop", policy.StopEvent, 0, `{"followup_message":"f"}`, "", "deny; f", "="},
		{"context", "sessionStart", policy.SessionStart, 0, `{"additional_context":"c"}`, "", "context c", "="},
		{"message", "preCompact", policy.PreAutoCompact, 0, `{"user_message":"u"}`, "", "system u", "="},
	}, nil)
	runNative(t, "cursor", []nativeRow{
		{"nothing, closed", "preToolUse", call, 0, "", "", "failed", "="},
	}, func(a *output) { a.strict = true })
}

func TestNativeCopilot(t *testing.T) {
	call := policy.PreToolExecution
	runNative(t, "copilot", []nativeRow{
		{"exit 1", "preToolUse", call, 1, `{"permissionDecision":"allow"}`, "x", "deny; x", "="},
		{"silent exit 9", "preToolUse", call, 9, "", "", "deny; h: exit status 9", "="},
		{"deny", "preToolUse", call, 0, `{"permissionDecision":"deny","permissionDecisionReason":"r"}`, "", "deny; r", "="},
		{"ask", "PreToolUse", call, 0, `{"permissionDecision":"ask"}`, "", "ask", "="},
		{"arguments", "preToolUse", call, 0, `{"modifiedArgs":{"a":1}}`, "", `tool_input {"a":1}`, "="},
		{"text", "preToolUse", call, 0, "hi", "", "", "="},
		{"a broken object", "preToolUse", call, 0, "{hi", "", "failed", "="},
		{"exit 1", "postToolUse", policy.PostToolExecution, 1, "", "x", "failed", "="},
		{"result", "postToolUse", policy.PostToolExecution, 0, `{"modifiedResult":{"a":1},"additionalContext":"c"}`, "", `context c; tool_result {"a":1}`, "="},
		{"block", "agentStop", policy.StopEvent, 0, `{"decision":"block","reason":"r"}`, "", "deny; r", "="},
		{"deny", "permissionRequest", policy.PermissionRequest, 0, `{"behavior":"deny","message":"m","interrupt":true}`, "", "deny; halt; m", "="},
	}, nil)
}

func TestNativeClaude(t *testing.T) {
	call, ending := policy.PreToolExecution, policy.StopEvent
	rows := []nativeRow{
		{"exit 2", "PreToolUse", call, 2, "", "no", "deny; no", "="},
		{"exit 2 in silence", "PreToolUse", call, 2, "", "", "deny; blocked by h (exit status 2 without a message)", "="},
		{"exit 2 over allow", "PreToolUse", call, 2, own("PreToolUse", `,"permissionDecision":"allow","updatedInput":{}`), "no", "deny; no", "="},
		{"exit 2 beside a broken answer", "PreToolUse", call, 2, `{"decision":7}`, "no", "deny; no", "="},
		{"exit 1 and an answer", "PreToolUse", call, 1, own("PreToolUse", `,"permissionDecision":"deny","permissionDecisionReason":"r"`), "", "deny; r", "="},
		{"another event", "PreToolUse", call, 0, own("PostToolUse", `,"permissionDecision":"deny"`), "", "failed", "="},
		{"no event", "PreToolUse", call, 0, `{"hookSpecificOutput":{"permissionDecision":"deny"}}`, "", "failed", "="},
		{"an unclosed brace", "PreToolUse", call, 0, `{"a":1`, "", "", "="},
		{"lines", "PreToolUse", call, 0, "{\"x\":1}\n{\"y\":2}", "", "", "="},
		{"a list", "PreToolUse", call, 0, `["a"]`, "", "", "="},
		{"the more restrictive decision wins", "PreToolUse", call, 0, `{"decision":"block","reason":"r","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`, "", "deny; r", "="},
		{"a top-level permissionDecision is none", "PreToolUse", call, 0, `{"permissionDecision":"deny"}`, "", "", "="},
		{"exit 2", "PermissionRequest", policy.PermissionRequest, 2, "", "no", "", "="},
		{"interrupt", "PermissionRequest", policy.PermissionRequest, 0, own("PermissionRequest", `,"decision":{"behavior":"deny","message":"m","interrupt":true}`), "", "deny; halt; m", "="},
		{"context goes on", "Stop", ending, 0, own("Stop", `,"additionalContext":"c"`), "", "stop; feedback c", "="},
		{"exit 2", "SubagentStart", policy.SubagentStart, 2, "", "no", "system no", "="},
		{"stop", "TaskCreated", "ext.TaskCreated", 0, `{"continue":false}`, "", "", "="},
		{"stop", "TaskCompleted", "ext.TaskCompleted", 0, `{"continue":false}`, "", "halt", "="},
		{"nothing is heard", "Notification", policy.Notify, 0, `{"decision":7}`, "", "", "="},
		{"defer", "PreModelSwitch", "ext.PreModelSwitch", 0, own("PreModelSwitch", `,"permissionDecision":"defer"`), "", "failed", "="},
		{"ask", "PreModelSwitch", "ext.PreModelSwitch", 0, own("PreModelSwitch", `,"permissionDecision":"ask"`), "", "ask", "="},
		{"colours", "WorktreeCreate", "ext.WorktreeCreate", 0, "banner\n\x1b[32m/tmp/w\x1b[0m\n", "", "context /tmp/w", "="},
	}
	only := []nativeRow{ // of the newest
		{"braces", "UserPromptSubmit", policy.PreSendMessage, 0, "{bad}", "", "failed", "="},
		{"a missing script", "Stop", ending, 2, "", "x: No such file or directory", "failed", "="},
		{"context", "Setup", "ext.Setup", 0, own("Setup", `,"additionalContext":"c"`), "", "", "="},
		{"block", "Elicitation", "ext.Elicitation", 0, `{"decision":"block","reason":"r"}`, "", "deny; r", "="},
		{"exit 1", "WorktreeRemove", "ext.WorktreeRemove", 1, "", "x", "deny; x", "="},
	}
	older := []nativeRow{
		{"braces", "UserPromptSubmit", policy.PreSendMessage, 0, "{bad}", "", "context {bad}", "="},
		{"a missing script", "Stop", ending, 2, "", "x: No such file or directory", "deny; x: No such file or directory", "="},
		{"context", "Setup", "ext.Setup", 0, own("Setup", `,"additionalContext":"c"`), "", "context c", "="},
		{"block", "Elicitation", "ext.Elicitation", 0, `{"decision":"block","reason":"r"}`, "", "", "="},
		{"exit 1", "WorktreeRemove", "ext.WorktreeRemove", 1, "", "x", "failed", "="},
	}
	runNative(t, "claude", append(rows, only...), nil)
	runNative(t, "claude@2.1.240", append(rows, older...), nil)
	runNative(t, "claude", []nativeRow{
		{"exit 1 and an answer", "PreToolUse", call, 1, own("PreToolUse", `,"permissionDecision":"allow"`), "", "failed", "="},
		{"exit 1 and a denial", "PreToolUse", call, 1, own("PreToolUse", `,"permissionDecision":"deny","permissionDecisionReason":"r"`), "e", "deny; r", "="},
		{"exit 1 and an end", "PreToolUse", call, 1, `{"continue":false,"stopReason":"s"}`, "", "deny; halt; blocked by h (exit status 1 without a message)", "="},
		{"text", "PreToolUse", call, 0, "fine", "", "", "="},
	}, func(a *output) { a.strict = true })
	runNative(t, "claude", []nativeRow{
		{"killed after it allowed", "PreToolUse", call, -1, own("PreToolUse", `,"permissionDecision":"allow"`), "", "failed", "allow"},
		{"killed after it denied", "PreToolUse", call, -1, own("PreToolUse", `,"permissionDecision":"deny"`), "", "deny", "="},
		{"killed", "PreToolUse", call, -1, "", "", "failed", "="},
	}, func(a *output) { a.Signal = "killed" })
}

func TestNativeSettingsInput(t *testing.T) {
	in := policy.NewContext("").
		Set(policy.FieldCwd, "/w").
		Set(policy.FieldProjectRoot, "/w").
		Set(policy.FieldSessionID, "s").
		Set(policy.FieldToolName, "Shell").
		Set(policy.FieldToolInput, map[string]any{"command": "ls"}).
		Set(policy.FieldTimestamp, "2026-01-02T03:04:05.000Z").
		Set(policy.FieldRaw, map[string]any{"cursor_event": "beforeShellExecution", "generation_id": "g"}).Frozen(policy.PreToolExecution)
	mcp := policy.NewContext("").
		Set(policy.FieldCwd, "/w").
		Set(policy.FieldProjectRoot, "/w").
		Set(policy.FieldSessionID, "s").
		Set(policy.FieldToolName, "MCP:get").
		Set(policy.FieldToolInput, map[string]any{"k": "v"}).
		Set(policy.FieldToolResult, "out").
		Set(policy.FieldMCP, map[string]any{"url": "u"}).Frozen(policy.PostToolExecution)
	bash := policy.NewContext("").
		Set(policy.FieldCwd, "/w").
		Set(policy.FieldSessionID, "s").
		Set(policy.FieldToolName, "bash").
		Set(policy.FieldToolInput, map[string]any{"command": "ls"}).
		Set(policy.FieldTimestamp, "2026-01-02T03:04:05.000Z").Frozen(policy.PreToolExecution)
	long := policy.NewContext("").
		Set(policy.FieldCwd, "/w").
		Set(policy.FieldSessionID, "s").
		Set(policy.FieldToolName, "Shell").
		Set(policy.FieldToolResult, strings.Repeat("é", 3000)).Frozen(policy.PostToolExecution)
	expansion := policy.NewContext("").
		Set(policy.FieldCwd, "/w").
		Set(policy.FieldProjectRoot, "/w").
		Set(policy.FieldUserInput, "/x").
		Set(policy.FieldRaw, map[string]any{"command_name": "x"}).Frozen("ext.UserPromptExpansion")
	for _, row := range []struct {
		protocol policy.Protocol
		native   string
		event    policy.Event
		in       *policy.Context
		want     string
	}{
		{"cursor", "beforeShellExecution", policy.PreToolExecution, in,
			`{"command":"ls","conversation_id":"s","cwd":"/w","generation_id":"g","hook_event_name":"beforeShellExecution","session_id":"s","workspace_roots":["/w"]}`},
		{"cursor", "preToolUse", policy.PreToolExecution, in,
			`{"conversation_id":"s","cwd":"/w","generation_id":"g","hook_event_name":"preToolUse","session_id":"s","tool_input":{"command":"ls"},"tool_name":"Shell","workspace_roots":["/w"]}`},
		{"cursor", "afterMCPExecution", policy.PostToolExecution, mcp,
			`{"conversation_id":"s","cwd":"/w","hook_event_name":"afterMCPExecution","result_json":"out","session_id":"s","tool_input":"{\"k\":\"v\"}","tool_name":"get","url":"u","workspace_roots":["/w"]}`},
		{"copilot", "preToolUse", policy.PreToolExecution, bash,
			`{"cwd":"/w","sessionId":"s","timestamp":1767323045000,"toolArgs":{"command":"ls"},"toolName":"bash"}`},
		{"copilot", "PreToolUse", policy.PreToolExecution, bash,
			`{"cwd":"/w","hook_event_name":"PreToolUse","session_id":"s","timestamp":"2026-01-02T03:04:05.000Z","tool_input":{"command":"ls"},"tool_name":"Bash"}`},
		{"kimi", "PostToolUse", policy.PostToolExecution, long,
			`{"cwd":"/w","hook_event_name":"PostToolUse","session_id":"s","tool_name":"Shell","tool_output":"` + strings.Repeat("é", 2000) + `"}`},
		{"codex", "PreToolUse", policy.PreToolExecution, bash,
			`{"cwd":"/w","hook_event_name":"PreToolUse","session_id":"s","tool_input":{"command":"ls"},"tool_name":"bash","transcript_path":null}`},
		{"claude", "UserPromptExpansion", "ext.UserPromptExpansion", expansion,
			`{"command_name":"x","cwd":"/w","hook_event_name":"UserPromptExpansion","prompt":"/x"}`},
	} {
		got, err := Speaks(row.protocol).Input(row.event, row.native, row.in)
		require.NoError(t, err)
		assert.Equal(t, row.want, string(got), "%s %s", row.protocol, row.native)
	}
}

func TestClaudePrompt(t *testing.T) {
	var asked string
	hook := func(prompt, native string, event policy.Event, onward bool) *policy.Hook {
		return &policy.Hook{Name: "h", Event: event, Kind: policy.KindLLM,
			Body: policy.Body{Prompt: diag.Literal(prompt), Protocol: "claude", Agent: policy.AgentBody{Event: native, ContinueTurn: onward}}}
	}
	ask := func(h *policy.Hook, reply string) string {
		a := Speaks(h.Body.Protocol)
		require.True(t, a.Asks(h))
		in := policy.NewContext("").Set(policy.FieldCwd, "/w").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "ls"}).Frozen(h.Event)
		var err error
		asked, err = a.Prompt(h, in)
		require.NoError(t, err)
		return saysOf(a.Reply(h, reply))
	}
	call := policy.PreToolExecution
	assert.Equal(t, "deny; halt; r", ask(hook(`cost \$5: $ARGUMENTS {{tool_name}}`, "PreToolUse", call, false), `{"ok": false, "reason": "r"}`))
	event := `{"cwd":"/w","hook_event_name":"PreToolUse","tool_input":{"command":"ls"},"tool_name":"Bash"}`
	assert.Equal(t, "cost $5: "+event+" {{tool_name}}"+claudeInstruction, asked)
	assert.Equal(t, "deny; r", ask(hook("x", "PreToolUse", call, true), `so: {"ok": false, "reason": "r"}.`))
	assert.Equal(t, "x\n\n"+event+claudeInstruction, asked)
	assert.Equal(t, "", ask(hook("x", "PreToolUse", call, false), `{"ok": true}`))
	assert.Equal(t, "failed", ask(hook("x", "PreToolUse", call, false), "I cannot say"))
	assert.Equal(t, "failed", ask(hook("x", "PreToolUse", call, false), `{"reason": "r"}`))
	assert.Equal(t, "deny; r", ask(hook("x", "Stop", policy.StopEvent, false), `{"ok": false, "reason": "r"}`))
	assert.Equal(t, "", ask(hook("x", "Stop", policy.StopEvent, false), `{"ok": false, "reason": "r", "impossible": true}`))
	assert.Equal(t, "", ask(hook("x", "PermissionRequest", policy.PermissionRequest, false), `{"ok": false}`))
}

// FuzzNativeAnswers: whatever a hook prints, exit status 2 refuses a call in
// every agent, and no reader approves what a hook did not.
func FuzzNativeAnswers(f *testing.F) {
	for _, seed := range []string{"", "text", "{}", "[1]", "{bad}", `{"hookSpecificOutput":null}`, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`,
		`{"decision":"approve"}`, `{"continue":false}`, `{"permission":"allow","updated_input":{}}`, `{"permissionDecision":"allow"}`, "{\"a\":1}\n{\"b\":2}"} {
		f.Add(seed, 0)
		f.Add(seed, 2)
	}
	agents := map[policy.Protocol]string{"claude": "PreToolUse", "claude@2.1.240": "PreToolUse", "codex": "PreToolUse",
		"kimi": "PreToolUse", "cursor": "preToolUse", "copilot": "preToolUse"}
	f.Fuzz(func(t *testing.T, stdout string, exit int) {
		for p, name := range agents {
			a := native(policy.PreToolExecution, exit&3, stdout, "")
			a.native = name
			r, err := Speaks(p).judge(a)
			if a.Exit == 2 && (err != nil || r.Verdict != policy.Deny) {
				t.Fatalf("%s: exit 2 on %q is %s", p, stdout, saysOf(r, err))
			}
			if err != nil && !r.Quiet() {
				t.Fatalf("%s: a failure that speaks on %q", p, stdout)
			}
			if r.Verdict == policy.Allow && !strings.Contains(stdout, "a") {
				t.Fatalf("%s: %q approves", p, stdout)
			}
		}
	})
}
