package agent

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent/js"
)

// answers are what hooks h1, h2… said.
func answers(t *testing.T, texts ...string) policy.Result {
	t.Helper()
	var r policy.Result
	for i, text := range texts {
		var m map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &m))
		r.Agent = append(r.Agent, policy.AgentAnswer{By: policy.By{Name: "h" + string(rune('1'+i))}, Value: m})
	}
	return r
}

// outcome is what is compared of a merge.
type outcome struct {
	Verdict policy.Verdict
	By      string
	Control policy.Control
	Reasons []string
	Stops   []string
	System  []string
	Context []string
	Patch   map[string]any
	Void    bool
	Codes   []string
}

func outcomeOf(spec *policy.EventSpec, before *policy.Context, r policy.Result) outcome {
	out := outcome{Verdict: r.Verdict, By: r.VerdictBy.Name, Control: r.Control, Reasons: js.ReasonTexts(r.Reasons),
		Stops: r.StopReasons, System: r.System, Context: r.Context, Void: r.Void()}
	for _, w := range r.Warnings {
		out.Codes = append(out.Codes, w.Code.ID)
	}
	d := policy.Decide(spec, before, before.With(r.Patch), &r)
	out.Patch = d.Patch
	return out
}

func TestGeminiMerge(t *testing.T) {
	before := policy.NewContext(policy.PreLLMRequest).
		Set(policy.FieldModel, "m").Set(policy.FieldRequestConfig, map[string]any{"topP": 1.0, "temperature": 0.0}).
		Set(policy.FieldMessages, []any{map[string]any{"role": "user", "content": "a"}, map[string]any{"role": "model", "content": ""}, map[string]any{"role": "user", "content": "b"}})
	for _, c := range []struct {
		name     string
		event    policy.Event
		faithful bool
		said     []string
		want     outcome
	}{
		{"the last blocker's word holds, every reason is kept", policy.PreToolExecution, false,
			[]string{`{"decision":"block","reason":"b"}`, `{"reason":7}`, `{"decision":"deny","reason":""}`},
			outcome{Verdict: policy.Deny, By: "h3", Reasons: []string{"b", "7"}}},
		{"a stop beside a deny", policy.PreToolExecution, false, []string{`{"continue":false,"stopReason":"S"}`, `{"decision":"deny","reason":"R"}`},
			outcome{Verdict: policy.Deny, By: "h2", Control: policy.Halt, Reasons: []string{"R"}, Stops: []string{"S"}}},
		{"a stop without a word", policy.StopEvent, false, []string{`{"continue":false}`},
			outcome{Control: policy.Halt, Stops: []string{"No reason provided"}}},
		{"only false stops", policy.StopEvent, false, []string{`{"continue":0}`, `{"continue":"false"}`}, outcome{}},
		{"ask means nothing after a tool", policy.PostToolExecution, false, []string{`{"decision":"ask"}`}, outcome{}},
		{"nothing is decided at the start", policy.SessionStart, true, []string{`{"decision":"deny","hookSpecificOutput":{"additionalContext":"c"}}`},
			outcome{Context: []string{"c"}, Codes: []string{"HK031"}}},
		{"a later input replaces, whatever it is", policy.PreToolExecution, false,
			[]string{`{"hookSpecificOutput":{"tool_input":{"a":1}}}`, `{"hookSpecificOutput":{"tool_input":[1]}}`}, outcome{}},
		{"an empty input is one", policy.PreToolExecution, false, []string{`{"hookSpecificOutput":{"tool_input":{}}}`},
			outcome{Patch: map[string]any{"tool_input": map[string]any{}}}},
		{"hookSpecificOutput is text: faithful", policy.PreToolExecution, true, []string{`{"hookSpecificOutput":"x"}`, `{"decision":"deny"}`},
			outcome{Codes: []string{"HK031"}}},
		{"hookSpecificOutput is text", policy.PreToolExecution, false, []string{`{"hookSpecificOutput":"x"}`, `{"decision":"deny","reason":"r"}`},
			outcome{Verdict: policy.Deny, By: "h2", Reasons: []string{"r"}, Codes: []string{"HK031"}}},
		{"before the model the last word counts: faithful", policy.PreLLMRequest, true, []string{`{"decision":"deny","reason":"r"}`, `{"decision":"allow"}`},
			outcome{Reasons: []string{"r"}, Codes: []string{"HK031"}}},
		{"before the model a deny holds", policy.PreLLMRequest, false, []string{`{"decision":"deny","reason":"r"}`, `{"decision":"allow","reason":"x"}`},
			outcome{Verdict: policy.Deny, By: "h1", Reasons: []string{"r"}, Codes: []string{"HK031"}}},
		{"after the model it does not", policy.PostLLMResponse, false, []string{`{"continue":false}`, `{"continue":true}`}, outcome{Codes: []string{"HK031"}}},
		{"messages replace those that have text, numbers all four", policy.PreLLMRequest, false,
			[]string{`{"hookSpecificOutput":{"llm_request":{"config":{"topK":3},"messages":[{"role":"user","content":"A"},{"role":"user","content":"B"},{"role":"user","content":"C"}]}}}`},
			outcome{Patch: map[string]any{"request_config": map[string]any{"topK": 3.0}, "messages": []any{
				map[string]any{"role": "user", "content": "A"}, map[string]any{"role": "model", "content": ""},
				map[string]any{"role": "user", "content": "B"}, map[string]any{"role": "user", "content": "C"}}}}},
		{"a deny may bring the answer", policy.PreLLMRequest, false, []string{`{"decision":"deny","hookSpecificOutput":{"llm_response":{"text":"no"}}}`},
			outcome{Verdict: policy.Deny, By: "h1", Reasons: []string{"No reason provided"}, Patch: map[string]any{"assistant_output": "no"}}},
		{"tools: text is its letters", policy.ToolSelection, false, []string{`{"hookSpecificOutput":{"toolConfig":{"mode":"any","allowedFunctionNames":"ba"}}}`},
			outcome{Patch: map[string]any{"tool_config": map[string]any{"mode": "AUTO", "names": []any{"a", "b"}}}}},
		{"tools: a number is no list", policy.ToolSelection, false, []string{`{"hookSpecificOutput":{"toolConfig":{"mode":"NONE","allowedFunctionNames":5}}}`},
			outcome{Patch: map[string]any{"tool_config": map[string]any{"mode": "NONE", "names": []any{}}}, Codes: []string{"HK031"}}},
		{"tools: a number is no list: faithful", policy.ToolSelection, true, []string{`{"hookSpecificOutput":{"toolConfig":{"allowedFunctionNames":5}}}`},
			outcome{Codes: []string{"HK031"}}},
		{"a notification only shows the last message", policy.Notify, false, []string{`{"systemMessage":"a","decision":"deny"}`, `{"systemMessage":"b"}`},
			outcome{System: []string{"b"}}},
		{"what only the agent can do is said", policy.StopEvent, false, []string{`{"hookSpecificOutput":{"clearContext":true}}`}, outcome{Codes: []string{"HK032"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := geminiConclude(c.event, c.faithful)(before, answers(t, c.said...))
			assert.Equal(t, c.want, outcomeOf(c.event.Spec(), before, r))
		})
	}
}

// TestNativeSinkKeepsWhatOthersSaid: hooks of another kind count beside those
// of the settings, the more restrictive first; a failure is never lost.
func TestNativeSinkKeepsWhatOthersSaid(t *testing.T) {
	before := policy.NewContext(policy.PreToolExecution)
	r := answers(t, `{"decision":"allow","systemMessage":"m"}`)
	r.Verdict, r.VerdictBy = policy.Deny, policy.By{Name: "session"}
	r.Failed = []policy.Failure{{Hook: "late"}}
	out := geminiConclude(policy.PreToolExecution, false)(before, r)
	assert.Equal(t, []any{policy.Deny, "session", []string{"m"}}, []any{out.Verdict, out.VerdictBy.Name, out.System})
	assert.Len(t, out.Failed, 1)
	lost := answers(t, `{"hookSpecificOutput":1}`)
	lost.Failed = r.Failed
	assert.Len(t, geminiConclude(policy.PreToolExecution, true)(before, lost).Failed, 1)
	offer := answers(t, `{"hookSpecificOutput":{"toolConfig":{"mode":"ANY","allowedFunctionNames":["a"]}}}`)
	offer.ToolConfig = &policy.ToolConfig{Mode: "NONE"}
	none := geminiConclude(policy.ToolSelection, false)(before, offer)
	assert.Nil(t, none.ToolConfig)
	config, _ := before.With(none.Patch).Get(policy.FieldToolConfig)
	assert.Equal(t, map[string]any{"mode": "NONE", "names": []any{}}, config)
}

func TestQwenAnswer(t *testing.T) {
	before := policy.NewContext(policy.PermissionRequest)
	for _, c := range []struct {
		name     string
		event    policy.Event
		faithful bool
		said     []string
		want     outcome
	}{
		{"a permission that is taken back", policy.PreToolExecution, true,
			[]string{`{"hookSpecificOutput":{"permissionDecision":"deny"}}`, `{"hookSpecificOutput":{"permissionDecision":"allow"}}`}, outcome{Codes: []string{"HK031"}}},
		{"a permission that is not taken back", policy.PreToolExecution, false,
			[]string{`{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"p"}}`, `{"hookSpecificOutput":{"permissionDecision":"allow"}}`},
			outcome{Verdict: policy.Deny, By: "h1", Reasons: []string{"p"}, Codes: []string{"HK031"}}},
		{"a question blocks: there is nobody to ask", policy.PreToolExecution, true, []string{`{"hookSpecificOutput":{"permissionDecision":"ask"}}`},
			outcome{Verdict: policy.Deny, By: "h1", Reasons: []string{"User confirmation required"}}},
		{"a permission hides the decision", policy.PreToolExecution, true, []string{`{"decision":"deny","hookSpecificOutput":{"permissionDecision":"allow"}}`}, outcome{}},
		{"an ending reason is the reason", policy.StopEvent, false, []string{`{"decision":"block","reason":"r","stopReason":"s"}`},
			outcome{Verdict: policy.Deny, By: "h1", Reasons: []string{"s"}}},
		{"several that decide nothing deny a prompt", policy.PermissionRequest, true, []string{`{}`, `{}`}, outcome{Verdict: policy.Deny, By: "h2"}},
		{"one that decides nothing does not", policy.PermissionRequest, true, []string{`{}`}, outcome{}},
		{"a deny that interrupts", policy.PermissionRequest, false, []string{`{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"m","interrupt":true}}}`},
			outcome{Verdict: policy.Deny, By: "h1", Control: policy.Halt, Reasons: []string{"m"}, Stops: []string{"m"}}},
		{"a block of a result: faithful", policy.PostToolExecution, true, []string{`{"decision":"block"}`}, outcome{Codes: []string{"HK031"}}},
		{"after an error nothing counts", policy.StopFailure, false, []string{`{"decision":"deny","systemMessage":"m"}`}, outcome{}},
		{"hookSpecificOutput is text, and nobody looks", policy.StopEvent, true, []string{`{"decision":"block","reason":"r","hookSpecificOutput":"x"}`},
			outcome{Verdict: policy.Deny, By: "h1", Reasons: []string{"r"}}},
		{"hookSpecificOutput is text", policy.PreToolExecution, true, []string{`{"decision":"block","hookSpecificOutput":"x"}`}, outcome{Void: true, Codes: []string{"HK031"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := qwenAnswer(c.event, answers(t, c.said...).Agent, c.faithful)
			assert.Equal(t, c.want, outcomeOf(c.event.Spec(), before, r))
		})
	}
}
