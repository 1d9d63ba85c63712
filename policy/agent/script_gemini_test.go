package agent

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent/js"
)

// heardNative is what a native reader makes of an answer: the object, or nil,
// and how many warnings it gave.
func heardNative(t *testing.T, p *Agent, e policy.Event, faithful bool, o Outcome) (map[string]any, int) {
	t.Helper()
	in := policy.NewContext(e)
	r, err := p.judge(output{event: e, in: in, by: policy.By{Name: "h"}, native: "x", faithful: faithful, Outcome: o})
	require.NoError(t, err)
	if len(r.Agent) == 0 {
		return nil, len(r.Warnings)
	}
	return r.Agent[0].Value, len(r.Warnings)
}

func TestNativeAnswers(t *testing.T) {
	type object = map[string]any
	for _, c := range []struct {
		name           string
		out            Outcome
		gemini, qwen   object // faithful
		gemini2, qwen2 object // the safe side
	}{
		{"silent", Outcome{}, nil, nil, nil, nil},
		{"silent exit 2", Outcome{Exit: 2}, nil, nil, object{"decision": "deny"}, object{"decision": "deny"}},
		{"exit 2 with two texts", Outcome{Exit: 2, Stdout: "out", Stderr: "err", Head: "err"},
			object{"decision": "deny", "reason": "out"}, object{"decision": "deny", "reason": "err"},
			object{"decision": "deny", "reason": "out"}, object{"decision": "deny", "reason": "err"}},
		{"exit 2 with an allow", Outcome{Exit: 2, Stdout: `{"decision":"allow"}`, Stderr: "e", Head: "e"},
			object{"decision": "allow"}, object{"decision": "deny", "reason": "e"}, object{"decision": "deny"}, object{"decision": "deny", "reason": "e"}},
		{"text, exit 3", Outcome{Exit: 3, Stdout: "t"},
			object{"decision": "deny", "reason": "t"}, object{"decision": "allow", "reason": "Non-blocking error: t", "systemMessage": "Warning: t"},
			object{"decision": "deny", "reason": "t"}, object{"decision": "allow", "reason": "Non-blocking error: t", "systemMessage": "Warning: t"}},
		{"text, exit 0", Outcome{Stdout: "\ufeff t \n"}, object{"decision": "allow", "systemMessage": "t"},
			object{"decision": "allow", "reason": "Hook executed successfully", "systemMessage": "t"}, object{"decision": "allow", "systemMessage": "t"},
			object{"decision": "allow", "reason": "Hook executed successfully", "systemMessage": "t"}},
		{"JSON in JSON text", Outcome{Stdout: `"{\"a\":1}"`}, object{"a": 1}, object{"a": 1}, object{"a": 1}, object{"a": 1}},
		{"a number", Outcome{Stdout: "42"}, nil, nil, nil, nil},
		{"a list", Outcome{Stdout: "[1]"}, object{}, object{}, object{}, object{}},
		{"a word that plainly forbids", Outcome{Stdout: `{"decision":"DENY"}`}, object{"decision": "DENY"}, object{"decision": "DENY"},
			object{"decision": "deny"}, object{"decision": "deny"}},
		{"a signal", Outcome{Exit: -1, Signal: "killed", Stdout: "t"}, object{"decision": "allow", "systemMessage": "t"},
			object{"decision": "allow", "reason": "Non-blocking error: t", "systemMessage": "Warning: t"},
			object{"decision": "allow", "systemMessage": "t"}, object{"decision": "allow", "reason": "Non-blocking error: t", "systemMessage": "Warning: t"}},
	} {
		for i, want := range []object{c.gemini, c.qwen, c.gemini2, c.qwen2} {
			p := []*Agent{Speaks("gemini"), Speaks("qwen")}[i%2]
			got, _ := heardNative(t, p, policy.PreToolExecution, i < 2, c.out)
			assert.Equal(t, want, got, "%s: %s, faithful %v", c.name, p.ID, i < 2)
		}
	}
	line := Outcome{Stdout: "log\n{\"decision\":\"deny\",\"reason\":\"r\"}"}
	got, warned := heardNative(t, Speaks("gemini"), policy.PreToolExecution, false, line)
	assert.Equal(t, []any{object{"decision": "deny", "reason": "r"}, 1}, []any{got, warned}, "a line that forbids")
	got, _ = heardNative(t, Speaks("gemini"), policy.Notify, false, Outcome{Exit: 2})
	assert.Nil(t, got, "nothing can be refused there")
	got, _ = heardNative(t, Speaks("qwen"), policy.PermissionRequest, false, Outcome{Exit: 2, Stderr: "no", Head: "no"})
	assert.Equal(t, object{"decision": "deny", "reason": "no", "hookSpecificOutput": object{"decision": object{"behavior": "deny", "message": "no"}}}, got)
}

// TestGeminiHandsOn: what the next hook of a sequential event sees.
func TestGeminiHandsOn(t *testing.T) {
	in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolInput, map[string]any{"a": 1, "b": 2}).
		Set(policy.FieldUserInput, "P").Set(policy.FieldModel, "m").Set(policy.FieldRequestConfig, map[string]any{"topP": 1})
	for _, c := range []struct {
		event policy.Event
		said  string
		field policy.Field
		want  any
	}{
		{policy.PreToolExecution, `{"hookSpecificOutput":{"tool_input":{"b":3}}}`, policy.FieldToolInput, map[string]any{"a": 1, "b": 3}},
		{policy.PreToolExecution, `{"hookSpecificOutput":{"tool_input":["x"]}}`, policy.FieldToolInput, map[string]any{"a": 1, "b": 2, "0": "x"}},
		{policy.PreSendMessage, `{"hookSpecificOutput":{"additionalContext":"C"}}`, policy.FieldUserInput, "P\n\nC"},
		{policy.PreLLMRequest, `{"hookSpecificOutput":{"llm_request":{"config":{"temperature":0}}}}`, policy.FieldRequestConfig, map[string]any{"temperature": 0}},
		{policy.PostToolExecution, `{"hookSpecificOutput":{"tool_input":{"b":3}}}`, policy.FieldToolInput, map[string]any{"a": 1, "b": 2}},
	} {
		for exit, passes := range map[int]bool{0: true, 1: false} {
			a := output{event: c.event, in: in, by: policy.By{Name: "h"}, native: "x", sequential: true, Outcome: Outcome{Exit: exit, Stdout: c.said}}
			r, err := Speaks("gemini").judge(a)
			require.NoError(t, err)
			want, _ := in.Get(c.field)
			if passes {
				want = c.want
			}
			got, _ := in.With(r.Patch).Get(c.field)
			assert.Equal(t, want, got, "%s exit %d", c.said, exit)
			assert.True(t, r.Patch.Lasting().Empty(), "it is no part of the answer")
		}
	}
}

// TestGeminiSendsWhatItGot: what the agent sent and hookc has no field for
// reaches the script, and a change made on the way too.
func TestGeminiSendsWhatItGot(t *testing.T) {
	reply := map[string]any{"candidates": []any{map[string]any{"content": map[string]any{"parts": []any{"hi"}}, "finishReason": "STOP"}}}
	in := policy.NewContext(policy.PostLLMResponse).Set(policy.FieldAssistantOutput, "hi").Set(policy.FieldModel, "m").
		Set(policy.FieldRaw, map[string]any{"llm_response": reply, "llm_request": map[string]any{"toolConfig": 1}})
	got, err := Speaks("gemini").Input(policy.PostLLMResponse, "AfterModel", in)
	require.NoError(t, err)
	assert.JSONEq(t, `{"hook_event_name":"AfterModel","llm_request":{"model":"m","toolConfig":1},
		"llm_response":{"candidates":[{"content":{"parts":["hi"]},"finishReason":"STOP"}]}}`, string(got))
	got, err = Speaks("gemini").Input(policy.PostLLMResponse, "AfterModel", in.With(policy.Replace(policy.Path{Field: policy.FieldAssistantOutput}, "other")))
	require.NoError(t, err)
	assert.Contains(t, string(got), `"text":"other"`)
	failure := policy.NewContext(policy.PostToolExecutionFailure).Set(policy.FieldToolError, "boom").
		Set(policy.FieldRaw, map[string]any{"tool_response": map[string]any{"llmContent": "c", "error": map[string]any{"message": "boom", "type": "t"}}})
	got, err = Speaks("gemini").Input(policy.PostToolExecutionFailure, "AfterTool", failure)
	require.NoError(t, err)
	assert.JSONEq(t, `{"hook_event_name":"AfterTool","tool_response":{"llmContent":"c","error":{"message":"boom","type":"t"}}}`, string(got))
}

// TestShellQuoteAsJavaScript: recorded from the package the agents use.
func TestShellQuoteAsJavaScript(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "/tmp/a": "/tmp/a", "/a b": "'/a b'", "/it's": `"/it's"`, `/a "b' c`: `"/a \"b' c"`, "/a$b": `/a\$b`, "C:/x": `C\:/x`,
		`a\b`: `'a\b'`, "a(b)": `a\(b\)`, "é": "é",
	} {
		assert.Equal(t, want, js.ShellQuote(in), in)
	}
	in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldCwd, "/a b").Set(policy.FieldSessionID, "s")
	assert.Equal(t, "'/a b'X/${GEMINI_PROJECT_DIR}|s", expandGemini("$GEMINI_PROJECT_DIRX/${GEMINI_PROJECT_DIR}|$GEMINI_SESSION_ID", in))
	assert.Equal(t, "'/a b'|$QWEN_PROJECT_DIR|$GEMINI_SESSION_ID", expandQwen("$CLAUDE_PROJECT_DIR|$QWEN_PROJECT_DIR|$GEMINI_SESSION_ID", in))
}
