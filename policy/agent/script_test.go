package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// told is a result as the rows below write it: only what was said, and the
// kind of failure if it is one.
type told struct {
	verdict  policy.Verdict
	control  policy.Control
	reasons  string
	context  string
	system   string
	feedback string
	stopped  string
	patch    string
	suppress bool
	warned   bool
	err      policy.ErrKind
}

func toldOf(r policy.Result, err error) told {
	out := told{verdict: r.Verdict, control: r.Control, context: strings.Join(r.Context, "|"), system: strings.Join(r.System, "|"),
		feedback: strings.Join(r.Feedback, "|"), stopped: strings.Join(r.StopReasons, "|"), suppress: r.Suppress, warned: len(r.Warnings) > 0}
	var reasons, edits []string
	for _, reason := range r.Reasons {
		reasons = append(reasons, reason.Text)
	}
	for _, e := range r.Patch.Edits() {
		edits = append(edits, e.Path.String()+"="+JSONText(e.Value))
	}
	out.reasons, out.patch = strings.Join(reasons, "|"), strings.Join(edits, "|")
	if err != nil {
		out.err = policy.KindOf(err)
	}
	return out
}

// said makes an answer.
func said(e policy.Event, exit int, stdout, stderr string) output {
	return output{event: e, in: policy.NewContext(e), by: policy.By{Name: "h"},
		Outcome: Outcome{Exit: exit, Stdout: stdout, Stderr: stderr, Head: stderr}}
}

type row struct {
	name   string
	event  policy.Event
	exit   int
	stdout string
	stderr string
	want   told
}

func check(t *testing.T, p policy.Protocol, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if r.event == "" {
				r.event = policy.PreToolExecution
			}
			assert.Equal(t, r.want, toldOf(Speaks(p).judge(said(r.event, r.exit, r.stdout, r.stderr))))
		})
	}
}

func TestAgentHooksAnswers(t *testing.T) {
	check(t, policy.AgentHooksProtocol, []row{
		{name: "B01 silent"},
		{name: "B02 exit 2", exit: 2, stderr: "no\n", want: told{verdict: policy.Deny, reasons: "no"}},
		{name: "B03 silent exit 2", exit: 2, want: told{verdict: policy.Deny, reasons: "Blocked by hook (exit code 2)"}},
		{name: "B04 deny", stdout: `{"decision":"deny","reason":"r"}`, want: told{verdict: policy.Deny, reasons: "r"}},
		{name: "B06 JSON at 2", exit: 2, stdout: `{"decision":"allow","modified_input":{}}`, stderr: "no", want: told{verdict: policy.Deny, reasons: "no"}},
		{name: "B07 JSON at 1", exit: 1, stdout: `{"decision":"deny"}`, want: told{err: policy.ErrExit}},
		{name: "B09 text", stdout: "hello", want: told{err: policy.ErrParse}},
		{name: "B11 array", stdout: "[1]", want: told{err: policy.ErrParse}},
		{name: "B21 modified input replaces", stdout: `{"modified_input":{"a":1}}`, want: told{patch: `tool_input={"a":1}`}},
		{name: "B22 context", stdout: `{"additional_context":"c"}`, want: told{context: "c"}},
		{name: "B28 ask", stdout: `{"decision":"ask","reason":"q"}`, want: told{verdict: policy.Ask, reasons: "q"}},
		{name: "B31 unknown word", stdout: `{"decision":"maybe"}`, want: told{warned: true}},
		{name: "a word that forbids", stdout: `{"decision":"block","reason":"r"}`, want: told{verdict: policy.Deny, reasons: "r", warned: true}},
		{name: "wrong type", stdout: `{"modified_input":[]}`, want: told{err: policy.ErrParse}},
		{name: "wrong type beside a deny", stdout: `{"decision":"deny","additional_context":5}`, want: told{verdict: policy.Deny, warned: true}},
		{name: "log and unknown keys", stdout: `{"log":"x","y":1,"reason":null}`},
		{name: "B38 gate", event: policy.StopEvent, exit: 2, stderr: "tests fail", want: told{verdict: policy.Deny, reasons: "tests fail"}},
		{name: "last of repeated keys", stdout: `{"decision":"deny","decision":"allow"}`, want: told{verdict: policy.Allow}},
	})
}

func TestClaudeAnswers(t *testing.T) {
	pd := func(v, more string) string {
		return `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"` + v + `"` + more + `}}`
	}
	post := policy.PostToolExecution
	ups := policy.PreSendMessage
	check(t, "claude", []row{
		{name: "K-01"},
		{name: "K-02", exit: 2, stderr: "no\n", want: told{verdict: policy.Deny, reasons: "no"}},
		{name: "K-03", stdout: pd("deny", `,"permissionDecisionReason":"r"`), want: told{verdict: policy.Deny, reasons: "r"}},
		{name: "K-04", stdout: pd("allow", ""), want: told{verdict: policy.Allow}},
		{name: "K-07", stdout: pd("ask", ""), want: told{verdict: policy.Ask}},
		{name: "K-14", exit: 2, stdout: pd("allow", `,"updatedInput":{}`), stderr: "s", want: told{verdict: policy.Deny, reasons: "s"}},
		{name: "K-15", exit: 2, stdout: pd("deny", `,"permissionDecisionReason":"r"`), stderr: "s", want: told{verdict: policy.Deny, reasons: "r"}},
		{name: "K-16", exit: 2, stdout: `{"continue":"x"}`, stderr: "s", want: told{verdict: policy.Deny, reasons: "s"}},
		{name: "exit 2 with a halt", exit: 2, stdout: `{"continue":false,"stopReason":"q"}`, stderr: "s",
			want: told{verdict: policy.Deny, reasons: "s", control: policy.Halt, stopped: "q"}},
		{name: "K-17", exit: 1, stderr: "oops", want: told{err: policy.ErrExit}},
		{name: "K-18", exit: 1, stdout: pd("deny", ""), want: told{verdict: policy.Deny}},
		{name: "K-19", exit: 1, stdout: pd("allow", ""), want: told{verdict: policy.Allow}},
		{name: "K-26", exit: 127, stderr: "sh: x: not found", want: told{err: policy.ErrExit}},
		{name: "K-27", stdout: `{bad}`, want: told{err: policy.ErrParse}},
		{name: "K-28 half JSON is no silence", stdout: `{"a":1`, want: told{err: policy.ErrParse}},
		{name: "K-29", stdout: "{\"x\":1}\n{\"y\":2}"},
		{name: "K-30", stdout: "{\"x\":1}\n{\"continue\":false}", want: told{err: policy.ErrParse}},
		{name: "K-31", stdout: `["a"]`},
		{name: "K-32 no name", stdout: `{"hookSpecificOutput":{"permissionDecision":"allow"}}`, want: told{err: policy.ErrParse}},
		{name: "K-32 a deny holds", stdout: `{"hookSpecificOutput":{"permissionDecision":"deny"}}`, want: told{verdict: policy.Deny, warned: true}},
		{name: "K-33", stdout: `{"decision":"block","reason":"r"}`, want: told{verdict: policy.Deny, reasons: "r"}},
		{name: "K-34", stdout: `{"decision":"approve"}`, want: told{verdict: policy.Allow}},
		{name: "unknown decision", stdout: `{"decision":"perhaps"}`, want: told{err: policy.ErrParse}},
		{name: "K-35", stdout: `{"continue":false,"stopReason":"s","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`,
			want: told{verdict: policy.Allow, control: policy.Halt, stopped: "s"}},
		{name: "continue true is nothing", stdout: `{"continue":true}`},
		{name: "K-36", stdout: pd("allow", `,"updatedInput":{"command":"b"}`), want: told{verdict: policy.Allow, patch: `tool_input={"command":"b"}`}},
		{name: "K-37", stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"b"}}}`, want: told{patch: `tool_input={"command":"b"}`}},
		{name: "K-39", stdout: pd("defer", `,"updatedInput":{"command":"b"},"additionalContext":"c"`), want: told{verdict: policy.Defer}},
		{name: "top level", stdout: `{"permissionDecision":"deny","permissionDecisionReason":"r"}`, want: told{verdict: policy.Deny, reasons: "r"}},
		{name: "both decisions", stdout: `{"decision":"approve","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`, want: told{verdict: policy.Deny}},
		{name: "messages", stdout: `{"systemMessage":"m","suppressOutput":true}`, want: told{system: "m", suppress: true}},
		{name: "K-59", event: ups, stdout: "ctx\n", want: told{context: "ctx"}},
		{name: "session context", event: policy.SessionStart, stdout: "ctx", want: told{context: "ctx"}},
		{name: "K-60", event: ups, stdout: `{"decision":"block","reason":"r"}`, want: told{verdict: policy.Deny, reasons: "r"}},
		{name: "K-63", event: ups, stdout: `{bad}`, want: told{err: policy.ErrParse}},
		{name: "K-64", event: post, exit: 2, stderr: "lint", want: told{verdict: policy.Deny, reasons: "lint"}},
		{name: "K-65", event: post, stdout: `{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"ok":1}}}`, want: told{patch: `tool_result={"ok":1}`}},
		{name: "K-66", event: post, stdout: "plain"},
		{name: "K-67", event: policy.PermissionRequest, exit: 2, stderr: "no", want: told{warned: true}},
		{name: "permission allow", event: policy.PermissionRequest, stdout: `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"a":1}}}}`,
			want: told{verdict: policy.Allow, patch: `tool_input={"a":1}`}},
		{name: "permission deny", event: policy.PermissionRequest, stdout: `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"m","interrupt":true}}}`,
			want: told{verdict: policy.Deny, reasons: "m", control: policy.Halt, stopped: "m"}},
		{name: "K-70", event: policy.StopEvent, stdout: `{"decision":"block","reason":"tests"}`, want: told{verdict: policy.Deny, reasons: "tests"}},
		{name: "K-72", event: policy.StopEvent, stdout: `{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"go on"}}`, want: told{control: policy.Stop, feedback: "go on"}},
		{name: "K-73", event: policy.StopEvent, exit: 2, stderr: "sh: 0: cannot open x: No such file or directory", want: told{err: policy.ErrExit}},
		{name: "an allow elsewhere is no opinion", event: ups, stdout: `{"decision":"approve"}`},
	})
}

func TestAIAgentsAnswers(t *testing.T) {
	ups := policy.PreSendMessage
	check(t, "aiagents", []row{
		{name: "A-01"},
		{name: "A-02", exit: 2, stderr: "no", want: told{verdict: policy.Deny, reasons: "no"}},
		{name: "A-03", exit: 1, stderr: "warn", want: told{err: policy.ErrExit}},
		{name: "A-04", stdout: "hello\n", want: told{system: "hello"}},
		{name: "A-05", stdout: `{"decision":"deny","reason":"r"}`, want: told{verdict: policy.Deny, reasons: "r"}},
		{name: "A-06", stdout: `{"decision":"allow"}`, want: told{verdict: policy.Allow}},
		{name: "A-07", stdout: `{"decision":"ask","reason":"r"}`, want: told{verdict: policy.Ask, reasons: "r"}},
		{name: "A-10", stdout: `{"continue":false,"stopReason":"s","decision":"allow"}`, want: told{verdict: policy.Allow, control: policy.Halt, stopped: "s"}},
		{name: "A-11", stdout: `{"suppressOutput":true}`, want: told{suppress: true}},
		{name: "A-15", exit: 2, stdout: `{"decision":"allow"}`, stderr: "n", want: told{verdict: policy.Deny, reasons: "n"}},
		{name: "A-16", exit: 1, stdout: `{"decision":"deny"}`, want: told{err: policy.ErrExit}},
		{name: "A-17 half JSON is no silence", stdout: `{"decision":"deny"`, want: told{err: policy.ErrParse}},
		{name: "A-18 a word that forbids", stdout: `{"decision":"block"}`, want: told{verdict: policy.Deny, warned: true}},
		{name: "A-19 nested deny", stdout: `{"hookSpecificOutput":{"permissionDecision":"deny"}}`, want: told{verdict: policy.Deny, warned: true}},
		{name: "nested allow", stdout: `{"hookSpecificOutput":{"permissionDecision":"allow"}}`, want: told{warned: true}},
		{name: "A-29", event: policy.PostToolExecution, stdout: `{"decision":"block","reason":"r"}`, want: told{verdict: policy.Deny, reasons: "r"}},
		{name: "A-31", event: ups, exit: 2, stderr: "bad", want: told{verdict: policy.Deny, reasons: "bad"}},
		{name: "A-33", event: ups, stdout: `{"additionalContext":"c"}`, want: told{context: "c"}},
		{name: "A-34", event: ups, stdout: `{"decision":"block","additionalContext":"c"}`, want: told{verdict: policy.Deny}},
		{name: "A-36", event: ups, stdout: "plain", want: told{system: "plain"}},
	})
}

func TestGeminiAnswers(t *testing.T) {
	deny := told{verdict: policy.Deny}
	check(t, "gemini", []row{
		{name: "G01", stdout: `{"decision":"deny","reason":"r"}`, want: told{verdict: policy.Deny, reasons: "r"}},
		{name: "G02", stdout: `{"decision":"block","reason":"r"}`, want: told{verdict: policy.Deny, reasons: "r"}},
		{name: "X7", stdout: `{"decision":"deny","reason":7}`, want: told{verdict: policy.Deny, reasons: "7"}},
		{name: "G03", exit: 2, stderr: "no", want: told{verdict: policy.Deny, reasons: "no"}},
		{name: "G04", exit: 2, stdout: "out", stderr: "err", want: told{verdict: policy.Deny, reasons: "out"}},
		{name: "G05 silent exit 2 blocks", exit: 2, want: deny},
		{name: "G06 exit 2 blocks", exit: 2, stdout: `{"decision":"allow"}`, want: told{verdict: policy.Deny, warned: true}},
		{name: "G07 exit 2 blocks", exit: 2, stdout: `{"reason":"x"}`, want: told{verdict: policy.Deny, reasons: "x", warned: true}},
		{name: "G08", exit: 2, stderr: `{"decision":"deny","reason":"q"}`, want: told{verdict: policy.Deny, reasons: "q"}},
		{name: "G09", exit: 1, stderr: "oops", want: told{err: policy.ErrExit}},
		{name: "G10", exit: 1, stdout: `{"decision":"deny","reason":"r"}`, want: told{verdict: policy.Deny, reasons: "r"}},
		{name: "G11", exit: 3, stdout: "bad", want: told{verdict: policy.Deny, reasons: "bad"}},
		{name: "G12", exit: 127, stderr: "sh: x: not found", want: told{verdict: policy.Deny, reasons: "sh: x: not found"}},
		{name: "exit 3, silent", exit: 3, want: told{err: policy.ErrExit}},
		{name: "G13", stdout: "hello", want: told{system: "hello"}},
		{name: "G14", stdout: "Pollution\n{\"decision\":\"deny\"}", want: told{system: "Pollution\n{\"decision\":\"deny\"}"}},
		{name: "G15"},
		{name: "G16", stderr: "dbg", want: told{system: "dbg"}},
		{name: "G17", stderr: `{"decision":"deny"}`, want: deny},
		{name: "G18", stdout: "42", want: told{err: policy.ErrParse}},
		{name: "G19", stdout: "[1]", want: told{err: policy.ErrParse}},
		{name: "G21", stdout: `"hi"`, want: told{system: `"hi"`}},
		{name: "G22", stdout: `"{\"decision\":\"deny\",\"reason\":\"d\"}"`, want: told{verdict: policy.Deny, reasons: "d"}},
		{name: "X15", stdout: "\uFEFF{\"decision\":\"deny\"}", want: deny},
		{name: "X17", stdout: `{"decision":"deny","decision":"allow"}`, want: told{verdict: policy.Allow}},
		{name: "half JSON is no silence", stdout: `{"decision":"deny"`, want: told{err: policy.ErrParse}},
		{name: "G33 a word that forbids", stdout: `{"decision":"DENY"}`, want: told{verdict: policy.Deny, warned: true}},
		{name: "G32", stdout: `{"decision":"approve"}`, want: told{warned: true}},
		{name: "G55", stdout: `{"continue":"false"}`, want: told{err: policy.ErrParse}},
		{name: "halt", stdout: `{"continue":false,"stopReason":"s"}`, want: told{control: policy.Halt, stopped: "s"}},
		{name: "G75 merge", stdout: `{"hookSpecificOutput":{"hookEventName":"AfterTool","tool_input":{"z":1}}}`, want: told{patch: "tool_input.z=1"}},
		{name: "G76", stdout: `{"hookSpecificOutput":{"tool_input":[1]}}`, want: told{err: policy.ErrParse}},
		{name: "ask", stdout: `{"decision":"ask","systemMessage":"m"}`, want: told{verdict: policy.Ask, system: "m"}},
		{name: "ask elsewhere", event: policy.PostToolExecution, stdout: `{"decision":"ask"}`, want: told{warned: true}},
		{name: "AfterAgent", event: policy.StopEvent, stdout: `{"decision":"deny","reason":"more"}`, want: told{verdict: policy.Deny, reasons: "more"}},
		{name: "context", event: policy.PreSendMessage, stdout: `{"hookSpecificOutput":{"additionalContext":"c"}}`, want: told{context: "c"}},
		{name: "BeforeModel", event: policy.PreLLMRequest, stdout: `{"hookSpecificOutput":{"llm_request":{"model":"m","config":{"topP":1}}}}`, want: told{patch: "model=m|request_config.topP=1"}},
		{name: "AfterModel", event: policy.PostLLMResponse, stdout: `{"hookSpecificOutput":{"llm_response":{"candidates":[{"content":{"role":"model","parts":["a",{"text":"b"}]}}]}}}`,
			want: told{patch: "assistant_output=ab"}},
	})
	r, err := Speaks("gemini").judge(said(policy.ToolSelection, 0, `{"hookSpecificOutput":{"toolConfig":{"mode":"ANY","allowedFunctionNames":["b","a"]}}}`, ""))
	require.NoError(t, err)
	assert.Equal(t, &policy.ToolConfig{Mode: "ANY", Names: []string{"a", "b"}}, r.ToolConfig)

	a := said(policy.PreLLMRequest, 0, `{"hookSpecificOutput":{"llm_request":{"messages":[{"role":"user","content":"x"},{"role":"user","content":"y"}]}}}`, "")
	call := map[string]any{"role": "model", "tool_calls": []any{}}
	a.in = policy.NewContext(a.event).Set(policy.FieldMessages, []any{call, map[string]any{"role": "user", "content": "old"}})
	r, err = Speaks("gemini").judge(a)
	require.NoError(t, err)
	assert.Equal(t, policy.Replace(policy.Path{Field: policy.FieldMessages}, []any{call,
		map[string]any{"role": "user", "content": "x"}, map[string]any{"role": "user", "content": "y"}}), r.Patch)
}

func TestClawdAnswers(t *testing.T) {
	post, ups := policy.PostToolExecution, policy.PreSendMessage
	check(t, "clawdcode", []row{
		{name: "C-01", stdout: `{"permissionDecision":"deny","permissionDecisionReason":"no"}`, want: told{verdict: policy.Deny, reasons: "no"}},
		{name: "C-02", stdout: `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}`, want: told{verdict: policy.Deny, reasons: "no"}},
		{name: "C-03 the rewrite is kept", stdout: `{"updatedInput":{"command":"pwd"}}`, want: told{patch: "tool_input.command=pwd", warned: true}},
		{name: "C-04 merge", stdout: `{"permissionDecision":"allow","updatedInput":{"command":"pwd"}}`, want: told{verdict: policy.Allow, patch: "tool_input.command=pwd"}},
		{name: "C-10", exit: 2, stderr: "bad\n", want: told{verdict: policy.Deny, reasons: "bad\n"}},
		{name: "C-11", exit: 2, want: told{verdict: policy.Deny, reasons: "Blocking error"}},
		{name: "C-12", exit: 2, stdout: `{"permissionDecision":"allow"}`, want: told{verdict: policy.Deny, reasons: "Blocking error"}},
		{name: "C-13", exit: 1, stderr: "w", want: told{err: policy.ErrExit}},
		{name: "C-18", exit: 3, stdout: `{"permissionDecision":"deny"}`, want: told{err: policy.ErrExit}},
		{name: "C-24", stdout: "true", want: told{err: policy.ErrParse}},
		{name: "C-26", stdout: "text"},
		{name: "C-27 a word that forbids", stdout: `{"permissionDecision":"block"}`, want: told{verdict: policy.Deny, warned: true}},
		{name: "half JSON is no silence", stdout: `{"permissionDecision":"deny"`, want: told{err: policy.ErrParse}},
		{name: "a denial that nested hides", stdout: `{"permissionDecision":"deny","hookSpecificOutput":{"x":1}}`, want: told{verdict: policy.Deny, warned: true}},
		{name: "nested hides the top", stdout: `{"permissionDecision":"allow","hookSpecificOutput":{"x":1}}`},
		{name: "C-43", event: post, stdout: "a\n", want: told{context: "a"}},
		{name: "C-44", event: post, stdout: `{"additionalContext":"ctx"}`, want: told{context: "ctx"}},
		{name: "C-46", event: post, stdout: `{"additionalContext":"","updatedOutput":"X"}`, want: told{patch: "tool_result=X"}},
		{name: "C-48", event: post, exit: 2, stdout: "out", stderr: "err", want: told{context: "out"}},
		{name: "C-52", event: ups, stdout: "a", want: told{context: "a"}},
		{name: "C-53 exit 2 blocks", event: ups, exit: 2, stdout: "a", stderr: "no", want: told{verdict: policy.Deny, reasons: "no", warned: true}},
		{name: "C-55 a word that forbids", event: ups, stdout: `{"decision":"block","reason":"r"}`, want: told{verdict: policy.Deny, reasons: "r", warned: true}},
		{name: "other JSON at the prompt", event: ups, stdout: `{"x":1}`, want: told{context: `{"x":1}`}},
		{name: "C-56 top", event: policy.StopEvent, stdout: `{"continue":true,"reason":"r"}`, want: told{verdict: policy.Deny, reasons: "r"}},
		{name: "C-56 nested", event: policy.StopEvent, stdout: `{"hookSpecificOutput":{"continue":true}}`, want: told{verdict: policy.Deny}},
		{name: "C-58 continue false ends", event: policy.StopEvent, stdout: `{"continue":false}`},
		{name: "C-59 approve", event: policy.PermissionRequest, stdout: `{"decision":"approve"}`, want: told{verdict: policy.Allow}},
		{name: "C-59 allow is no word", event: policy.PermissionRequest, stdout: `{"decision":"allow"}`, want: told{warned: true}},
		{name: "C-59 ask is the prompt", event: policy.PermissionRequest, stdout: `{"decision":"ask"}`},
		{name: "C-60", event: policy.PreAutoCompact, stdout: `{"prevent":true}`, want: told{verdict: policy.Deny}},
		{name: "prevent false", event: policy.PreAutoCompact, stdout: `{"prevent":false}`},
	})
}

// A script that dies after it has forbidden something has still forbidden it,
// under the protocols whose agents read its answer then.
func TestSignals(t *testing.T) {
	answers := map[policy.Protocol]string{
		"claude": `{"decision":"block","reason":"r"}`, "gemini": `{"decision":"deny","reason":"r"}`,
		"clawdcode": `{"permissionDecision":"deny","permissionDecisionReason":"r"}`,
	}
	for _, p := range All() {
		id := policy.Protocol(p.ID)
		a := said(policy.PreToolExecution, -1, "", "")
		a.Signal = "killed"
		assert.Equal(t, told{err: policy.ErrSignal}, toldOf(p.judge(a)), id)
		a.Stdout = `{"decision":"allow","permissionDecision":"allow"}`
		_, err := p.judge(a)
		assert.Error(t, err, id)
		if text, ok := answers[id]; ok {
			a.Stdout = text
			assert.Equal(t, told{verdict: policy.Deny, reasons: "r", warned: true}, toldOf(p.judge(a)), id)
		}
	}
}

func TestInputShapes(t *testing.T) {
	tool := policy.NewContext("").
		Set(policy.FieldCwd, "/w").
		Set(policy.FieldProjectRoot, "/w").
		Set(policy.FieldSessionID, "s").
		Set(policy.FieldTimestamp, "t").
		Set(policy.FieldTranscriptPath, "p").
		Set(policy.FieldPermissionMode, "plan").
		Set(policy.FieldHookExecutionID, "x").
		Set(policy.FieldToolName, "Bash").
		Set(policy.FieldToolUseID, "u").
		Set(policy.FieldToolInput, map[string]any{"command": "ls"}).
		Set(policy.FieldToolResult, "out").
		Set(policy.FieldRaw, map[string]any{"prompt_id": "7"}).Frozen(policy.PostToolExecution)
	prompt := policy.NewContext("").
		Set(policy.FieldCwd, "/w").
		Set(policy.FieldProjectRoot, "/w").
		Set(policy.FieldUserInput, "hi").
		Set(policy.FieldMessages, []any{}).Frozen(policy.PreSendMessage)
	stop := policy.NewContext("").
		Set(policy.FieldCwd, "/w").
		Set(policy.FieldProjectRoot, "/w").
		Set(policy.FieldAssistantOutput, "bye").
		Set(policy.FieldStopReason, "end").
		Set(policy.FieldStepCount, 3).
		Set(policy.FieldStopHookActive, true).
		Set(policy.FieldUserInput, "hi").Frozen(policy.StopEvent)
	model := policy.NewContext("").
		Set(policy.FieldProjectRoot, "/w").
		Set(policy.FieldModel, "m").
		Set(policy.FieldMessages, []any{"x"}).
		Set(policy.FieldSystemPrompt, "sp").Frozen(policy.PreLLMRequest)
	reply := policy.NewContext("").Set(policy.FieldAssistantOutput, "yo").Frozen(policy.PostLLMResponse)
	failed := policy.NewContext("").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolError, "e").Frozen(policy.PostToolExecutionFailure)
	rows := []struct {
		protocol policy.Protocol
		in       *policy.Context
		want     string
	}{
		{"claude", tool, `{"hook_event_name":"PostToolUse","session_id":"s","transcript_path":"p","cwd":"/w","permission_mode":"plan","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"u","tool_response":"out","prompt_id":"7"}`},
		{"claude", prompt, `{"hook_event_name":"UserPromptSubmit","cwd":"/w","prompt":"hi"}`},
		{"claude", stop, `{"hook_event_name":"Stop","cwd":"/w","stop_hook_active":true,"last_assistant_message":"bye"}`},
		{"claude", model, `{"hook_event_name":"pre_llm_request","project_root":"/w","model":"m","messages":["x"],"system_prompt":"sp"}`},
		{"claude", failed, `{"hook_event_name":"PostToolUseFailure","tool_name":"Bash","error":"e"}`},
		{policy.AgentHooksProtocol, tool, `{"event_type":"post-tool-call","timestamp":"t","session_id":"s","work_dir":"/w","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"u","tool_output":"out","prompt_id":"7"}`},
		{policy.AgentHooksProtocol, stop, `{"event_type":"pre-agent-turn-stop","work_dir":"/w","stop_reason":"end","step_count":3,"final_message":"bye"}`},
		{policy.AgentHooksProtocol, prompt, `{"event_type":"pre-agent-turn","work_dir":"/w","prompt":"hi"}`},
		{"gemini", tool, `{"hook_event_name":"AfterTool","timestamp":"t","session_id":"s","transcript_path":"p","cwd":"/w","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"llmContent":"out"},"prompt_id":"7"}`},
		{"gemini", stop, `{"hook_event_name":"AfterAgent","cwd":"/w","prompt":"hi","prompt_response":"bye","stop_hook_active":true}`},
		{"gemini", model, `{"hook_event_name":"BeforeModel","llm_request":{"model":"m","messages":["x"]}}`},
		{"gemini", reply, `{"hook_event_name":"AfterModel","llm_response":{"text":"yo","candidates":[{"content":{"role":"model","parts":["yo"]}}]}}`},
		{"gemini", failed, `{"hook_event_name":"AfterTool","tool_name":"Bash","tool_response":{"llmContent":"e","error":{"message":"e"}}}`},
		{"clawdcode", tool, `{"hook_event_name":"PostToolUse","hook_execution_id":"x","timestamp":"t","session_id":"s","project_dir":"/w","tool_name":"Bash","tool_use_id":"u","tool_input":{"command":"ls"},"tool_output":"out","prompt_id":"7"}`},
		{"clawdcode", prompt, `{"hook_event_name":"UserPromptSubmit","project_dir":"/w","prompt_content":"hi"}`},
		{"aiagents", tool, `{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/w","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":"out","prompt_id":"7"}`},
	}
	for _, row := range rows {
		event := policy.Event(row.in.Text(policy.FieldEvent))
		t.Run(string(row.protocol)+" "+string(event), func(t *testing.T) {
			got, err := Speaks(row.protocol).Input(event, "", row.in)
			require.NoError(t, err)
			assert.JSONEq(t, row.want, string(got))
		})
	}
	bare, err := Speaks("claude").Input(policy.PostToolExecution, "", tool.Project(policy.Paths{}))
	require.NoError(t, err)
	assert.JSONEq(t, `{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/w","tool_use_id":"u"}`, string(bare), "only what the hook may read is sent")
}

// Every protocol turns any bytes into a result or a HookError, and what it
// returns can be written down.
func FuzzProtocols(f *testing.F) {
	for _, seed := range []string{"", "{}", "[]", "null", `"x"`, `{"decision":"deny","hookSpecificOutput":{"permissionDecision":"ask","updatedInput":{}}}`,
		`{"continue":false,"prevent":1,"hookSpecificOutput":{"llm_request":{"messages":[1]},"toolConfig":{"mode":"ANY"}}}`, "\xff\xfe{", `{"a":1}` + "\n{"} {
		for _, exit := range []int{0, 1, 2, 3, -1} {
			f.Add(seed, "err", exit, uint8(exit+3))
		}
	}
	events := policy.Events()
	f.Fuzz(func(t *testing.T, stdout, stderr string, exit int, pick uint8) {
		event := events[int(pick)%len(events)]
		for _, p := range All() {
			id := policy.Protocol(p.ID)
			a := said(event, exit, strings.ToValidUTF8(stdout, "\uFFFD"), strings.ToValidUTF8(stderr, "\uFFFD"))
			if exit < 0 {
				a.Signal = "killed"
			}
			r, err := p.judge(a)
			if err != nil {
				var failed *policy.HookError
				require.ErrorAs(t, err, &failed, id)
				require.NotEmpty(t, failed.Text)
				require.Equal(t, policy.Result{}, r)
				continue
			}
			for _, e := range r.Patch.Edits() {
				_, err := json.Marshal(e.Value)
				require.NoError(t, err)
			}
			if exit == 2 && event == policy.PreToolExecution && id != "jcli" {
				require.Equal(t, policy.Deny, r.Verdict, "exit 2 denies under %s", id)
			}
		}
	})
}
