package agent

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// heard is a result in a line, for tables: verdict or control, reasons, and
// what else it says.
func saysOf(r policy.Result, err error) string {
	if err != nil {
		return "failed"
	}
	out := []string{}
	add := func(name, text string) {
		if text != "" {
			out = append(out, strings.TrimPrefix(name+" "+text, " "))
		}
	}
	if r.Void() {
		out = append(out, "void")
	}
	if r.Verdict != policy.None {
		out = append(out, r.Verdict.String())
	}
	if r.Control != policy.Go {
		out = append(out, r.Control.String())
	}
	if r.EndChain && !r.Void() {
		out = append(out, "end")
	}
	for _, reason := range r.Reasons {
		add("", reason.Text)
	}
	add("feedback", strings.Join(r.Feedback, ","))
	add("context", strings.Join(r.Context, ","))
	add("system", strings.Join(r.System, ","))
	for _, e := range r.Patch.Edits() {
		add(e.Path.String(), JSONText(e.Value))
	}
	return strings.Join(out, "; ")
}

// native is an answer of a hook of an agent's own configuration.
func native(event policy.Event, exit int, stdout, stderr string) output {
	in := policy.NewContext(event).Set(policy.FieldPermissionMode, "default")
	return output{event: event, in: in, by: policy.By{Name: "h"}, native: "x", Outcome: Outcome{Exit: exit, Stdout: stdout, Stderr: stderr, Head: stderr}}
}

func TestNativeClawdCode(t *testing.T) {
	call, permission, prompt := policy.PreToolExecution, policy.PermissionRequest, policy.PreSendMessage
	after, ending, compaction := policy.PostToolExecution, policy.StopEvent, policy.PreAutoCompact
	const denies, rewrites = `{"permissionDecision":"deny","permissionDecisionReason":"r"}`, `{"permissionDecision":"allow","updatedInput":{"command":"pwd"}}`
	for _, row := range []struct {
		name           string
		event          policy.Event
		exit           int
		stdout, stderr string
		safe, faithful string
	}{
		{"deny", call, 0, denies, "", "deny; r", "deny; r"},
		{"nested hides the top", call, 0, `{"permissionDecision":"deny","hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"q"}}`, "", "deny", "ask; q"},
		{"null nested does not", call, 0, `{"permissionDecision":"deny","hookSpecificOutput":null}`, "", "deny", "deny"},
		{"exit 2", call, 2, rewrites, "bad\n", "deny; bad\n", "deny; bad\n"},
		{"exit 2 silent", call, 2, "", "", "deny; Blocking error", "deny; Blocking error"},
		{"rewrite", call, 0, rewrites, "", "tool_input.command pwd", "tool_input.command pwd"},
		{"rewrite undecided", call, 0, `{"updatedInput":{"command":"pwd"}}`, "", "", ""},
		{"unknown word", call, 0, `{"permissionDecision":"yes","updatedInput":{"a":1}}`, "", "tool_input.a 1", "tool_input.a 1"},
		{"block is no word", call, 0, `{"permissionDecision":"block","updatedInput":{"a":1}}`, "", "deny", "tool_input.a 1"},
		{"exit 1", call, 1, "", "w", "failed", "failed"},
		{"exit 1 denies", call, 1, denies, "", "deny; r", "failed"},
		{"exit 3 denies", call, 3, denies, "", "deny; r", "failed"},
		{"exit 3 asks", call, 3, `{"permissionDecision":"ask"}`, "", "failed", "failed"},
		{"text", call, 0, "hello", "", "", ""},
		{"nothing said", call, 0, "[]", "", "", ""},
		{"zero", call, 0, "0", "", "", ""},
		{"scalar", call, 0, "true", "", "failed", "void"},
		{"scalar nested", call, 0, `{"hookSpecificOutput":"x"}`, "", "failed", "void"},
		{"scalar at exit 3", call, 3, `1`, "", "failed", "failed"},
		{"approve", permission, 0, `{"decision":"approve"}`, "", "allow", "allow"},
		{"allow is no word", permission, 0, `{"decision":"allow"}`, "", "", ""},
		{"permission denied", permission, 0, `{"decision":"deny","reason":"r"}`, "", "deny; r", "deny; r"},
		{"permission exit 2", permission, 2, "", "e", "deny; e", ""},
		{"continue", ending, 0, `{"continue":1,"reason":"r"}`, "", "deny; r", "deny"},
		{"continue no", ending, 0, `{"continue":""}`, "", "", ""},
		{"ending exit 2", ending, 2, "", "go", "deny; go", ""},
		{"continue at exit 3", ending, 3, `{"continue":true}`, "", "failed", "failed"},
		{"prevent", compaction, 0, `{"hookSpecificOutput":{"prevent":true,"reason":"r"}}`, "", "deny; r", "deny; r"},
		{"prevent at exit 1", compaction, 1, `{"prevent":true}`, "", "deny", "failed"},
		{"after: text", after, 2, "out\n", "err", "context out", "context out"},
		{"after: object", after, 0, `{"additionalContext":"c","updatedOutput":"X"}`, "", `context {"additionalContext":"c","updatedOutput":"X"},c; tool_result X`, `context {"additionalContext":"c","updatedOutput":"X"},c; tool_result X`},
		{"after: object at exit 1", after, 1, `{"additionalContext":"c"}`, "", `context {"additionalContext":"c"}`, `context {"additionalContext":"c"}`},
		{"after: output alone", after, 0, `{"updatedOutput":"X"}`, "", `context {"updatedOutput":"X"}`, `context {"updatedOutput":"X"}`},
		{"after: scalar", after, 3, "1", "", "failed", "void; context 1"},
		{"prompt: text", prompt, 0, " a \n", "", "context a", "context a"},
		{"prompt: exit 1", prompt, 1, "a", "", "context a", "context a"},
		{"prompt: exit 2", prompt, 2, "a", "no", "deny; no", ""},
		{"prompt: exit 3", prompt, 3, "a", "", "failed", "failed"},
		{"prompt: scalar", prompt, 0, "1", "", "context 1", "context 1"},
		{"prompt: block", prompt, 0, `{"decision":"block","reason":"r"}`, "", "deny; r", `context {"decision":"block","reason":"r"}`},
		{"nobody listens", policy.SessionStart, 2, denies, "", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := native(row.event, row.exit, row.stdout, row.stderr)
			assert.Equal(t, row.safe, saysOf(Speaks("clawdcode").judge(a)))
			a.faithful = true
			assert.Equal(t, row.faithful, saysOf(Speaks("clawdcode").judge(a)), "faithfully")
		})
	}
}

func TestNativeClawdCodeSettings(t *testing.T) {
	for posture, want := range map[policy.Posture]string{policy.OnErrorSkip: "failed", policy.OnErrorDeny: "deny", policy.OnErrorAsk: "ask; w\n"} {
		a := native(policy.PreToolExecution, 1, `{"permissionDecision":"deny"}`, "w\n")
		a.onFailure, a.faithful = posture, true
		assert.Equal(t, want, saysOf(Speaks("clawdcode").judge(a)))
	}
	a := native(policy.PreToolExecution, 1, "", "")
	a.onFailure = policy.OnErrorAsk
	assert.Equal(t, "ask; Non-blocking error", saysOf(Speaks("clawdcode").judge(a)))
	a = native(policy.PreSendMessage, 1, "text", "")
	a.onFailure = policy.OnErrorDeny
	assert.Equal(t, "failed", saysOf(Speaks("clawdcode").judge(a)), "it is no success then")

	a = native(policy.PreToolExecution, 0, `{"updatedInput":{"command":"pwd"}}`, "")
	assert.Equal(t, "tool_input.command pwd", saysOf(Speaks("clawdcode@doc").judge(a)), "the document applies it on its own")

	a = native(policy.PreToolExecution, -1, `{"permissionDecision":"deny"}`, "")
	a.Signal = "killed"
	r, err := Speaks("clawdcode").judge(a)
	assert.Equal(t, "deny", saysOf(r, err))
	assert.Len(t, r.Warnings, 1, "what ClawdCode takes for success is said")

	a = native(policy.PreToolExecution, 0, `{"permissionDecision":"ask"}`, "")
	a.in.Set(policy.FieldPermissionMode, "yolo")
	assert.Equal(t, "", saysOf(Speaks("clawdcode").judge(a)), "later hooks are heard")
	a.faithful = true
	assert.Equal(t, "ask", saysOf(Speaks("clawdcode").judge(a)), "the sink makes it an allow")
}

func TestNativeJCLI(t *testing.T) {
	call, send, failed := policy.PreToolExecution, policy.PreSendMessage, policy.PostToolExecutionFailure
	for _, row := range []struct {
		name           string
		event          policy.Event
		exit           int
		stdout         string
		safe, faithful string
	}{
		{"silence", send, 0, " {} \n", "", ""},
		{"edit", send, 0, `{"user_input":"b","unknown":1}`, "user_input b", "user_input b"},
		{"a status is a failure", send, 2, `{"user_input":"b"}`, "failed", "failed"},
		{"stop takes the rest back", send, 0, `{"action":"stop","retry_feedback":"f","system_message":"m","user_input":"z"}`, "stop; feedback f; system m", "stop; feedback f; system m"},
		{"abort", send, 0, `{"abort":true}`, "stop", "stop"},
		{"skip sends the text", send, 0, `{"action":"skip","user_input":"z"}`, "end", "end"},
		{"skip a call", call, 0, `{"action":"skip"}`, "skip", "skip"},
		{"stop a call", call, 0, `{"action":"stop","tool_arguments":"{}"}`, "skip", "end"},
		{"halt is no word", call, 0, `{"action":"halt"}`, "failed", "failed"},
		{"case", call, 0, `{"action":"Stop"}`, "failed", "failed"},
		{"null", call, 0, "null", "failed", "failed"},
		{"array", call, 0, "[]", "failed", "failed"},
		{"rest", call, 0, "{} x", "failed", "failed"},
		{"arguments", call, 0, `{"tool_arguments":"{\"a\":1}"}`, `tool_input {"a":1}`, `tool_input {"a":1}`},
		{"arguments as an object", call, 0, `{"tool_arguments":{"a":1}}`, "failed", "failed"},
		{"arguments that are none", call, 0, `{"tool_arguments":"rm"}`, "skip", "skip"},
		{"a null is absent", call, 0, `{"tool_arguments":null}`, "", ""},
		{"hookc's own word", call, 0, `{"decision":"deny","reason":"r"}`, "deny; r", ""},
		{"an allow of hookc", call, 0, `{"decision":"allow"}`, "", ""},
		{"messages", policy.PreLLMRequest, 0, `{"messages":[{"role":"user"}]}`, `messages [{"role":"user"}]`, `messages [{"role":"user"}]`},
		{"messages without a role", policy.PreLLMRequest, 0, `{"messages":[{"content":"x"}]}`, "failed", "failed"},
		{"the error travels", failed, 0, `{"tool_error":"e","additional_context":"c"}`, "feedback e; context c", "feedback e; context c"},
		{"stop at a start", policy.SessionStart, 0, `{"action":"stop"}`, "end", "end"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := native(row.event, row.exit, row.stdout, "")
			assert.Equal(t, row.safe, saysOf(Speaks("jcli").judge(a)))
			a.faithful = true
			assert.Equal(t, row.faithful, saysOf(Speaks("jcli").judge(a)), "faithfully")
		})
	}
}

func TestNativeAIAgents(t *testing.T) {
	call, after, prompt := policy.PreToolExecution, policy.PostToolExecution, policy.PreSendMessage
	for _, row := range []struct {
		name           string
		event          policy.Event
		exit           int
		stdout, stderr string
		want           string
	}{
		{"exit 2 over JSON", call, 2, `{"decision":"allow"}`, "n\n", "deny; n"},
		{"exit 2 silent", call, 2, "", "", "deny"},
		{"exit 1", call, 1, `{"decision":"deny"}`, "w", "system w"},
		{"ask", call, 0, `{"decision":"ask","reason":"q"}`, "", "ask; q"},
		{"block is no word here", call, 0, `{"decision":"block"}`, "", ""},
		{"broken JSON is text", call, 0, `{"decision":"deny"`, "", `system {"decision":"deny"`},
		{"halt", call, 0, `{"continue":false,"decision":"allow"}`, "", "allow; halt"},
		{"claude's words", call, 0, `{"hookSpecificOutput":{"permissionDecision":"deny"}}`, "", ""},
		{"a wrong type", call, 0, `{"decision":1,"continue":"no"}`, "", ""},
		{"block after", after, 0, `{"decision":"block"}`, "", "deny"},
		{"deny is no word after", after, 0, `{"decision":"deny"}`, "", ""},
		{"context", prompt, 0, `{"additionalContext":"c"}`, "", "context c"},
		{"none where blocked", prompt, 0, `{"decision":"block","reason":"r","additionalContext":"c"}`, "", "deny; r"},
		{"text is shown", prompt, 0, "plain", "", "system plain"},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, saysOf(Speaks("aiagents").judge(native(row.event, row.exit, row.stdout, row.stderr))))
		})
	}
}

func TestNativeAgentHooks(t *testing.T) {
	for _, row := range []struct {
		event          policy.Event
		exit           int
		stdout, stderr string
		want           string
	}{
		{policy.PreToolExecution, 2, "", "", "deny; Blocked by hook (exit code 2)"},
		{policy.PreToolExecution, 0, `{"decision":"deny"}`, "", "deny; Blocked by hook"},
		{policy.PreToolExecution, 0, `{"decision":"ask","reason":"q"}`, "", "ask; q"},
		{policy.PreSendMessage, 0, `{"decision":"ask","reason":"q"}`, "", ""},
		{policy.SubagentStop, 2, "", "late", "end; feedback late"},
		{policy.TurnEnd, 0, `{"decision":"deny","reason":"r"}`, "", "end; feedback r"},
		{policy.PreToolExecution, 0, "hello", "", "failed"},
		{policy.PreToolExecution, 1, `{"decision":"deny"}`, "", "failed"},
	} {
		assert.Equal(t, row.want, saysOf(Speaks("agenthooks").judge(native(row.event, row.exit, row.stdout, row.stderr))), "%s %s", row.event, row.stdout)
	}
}

// No answer makes a reader panic, and none of them is an approval by accident.
func FuzzNative(f *testing.F) {
	for _, seed := range []string{"", "{}", "[]", "null", "1", `{"decision":"deny"}`, `{"permissionDecision":"ask","updatedInput":[1]}`, `{"tool_arguments":"["}`, "{\xff"} {
		f.Add(seed, 0, uint8(3), true)
		f.Add(seed, 1, uint8(5), false)
		f.Add(seed, 2, uint8(7), false)
	}
	events := policy.Events()
	readers := []*Agent{Speaks("clawdcode"), Speaks("jcli"), Speaks("aiagents"), Speaks("agenthooks")}
	f.Fuzz(func(t *testing.T, stdout string, exit int, pick uint8, faithful bool) {
		for _, p := range readers {
			a := native(events[int(pick)%len(events)], exit, strings.ToValidUTF8(stdout, "\uFFFD"), "err")
			a.faithful = faithful
			r, err := p.judge(a)
			if err != nil {
				require.Equal(t, policy.Result{}, r, p.ID)
			}
			if exit == 2 && a.event == policy.PreToolExecution && p != Speaks("jcli") {
				require.Equal(t, policy.Deny, r.Verdict, p.ID)
			}
		}
	})
}
