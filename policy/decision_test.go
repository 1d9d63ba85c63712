package policy

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAction(t *testing.T) {
	feedback := []string{"again"}
	for _, c := range []struct {
		name   string
		event  Event
		result Result
		action Action
		scope  Label
	}{
		{"nothing", PreToolExecution, Result{}, Proceed, ""},
		{"allow", PreToolExecution, Result{Verdict: Allow}, Proceed, ""},
		{"deny at G", PreToolExecution, Result{Verdict: Deny}, Block, LabelTool},
		{"skip at G", PreToolExecution, Result{Control: Skip}, Block, LabelTool},
		{"ask", PreToolExecution, Result{Verdict: Ask}, AskUser, ""},
		{"defer", PreToolExecution, Result{Verdict: Defer}, DeferCall, ""},
		{"stop at G", PreToolExecution, Result{Control: Stop}, Abort, LabelBatch},
		{"stop with feedback where there is no retry", PreToolExecution, Result{Control: Stop, Feedback: feedback}, Abort, LabelBatch},
		{"halt beats deny", PreToolExecution, Result{Verdict: Deny, Control: Halt}, EndTurn, LabelTurn},
		{"stop beats deny", PreSendMessage, Result{Verdict: Deny, Control: Stop}, Abort, LabelTurn},
		{"stop with feedback", PreSendMessage, Result{Control: Stop, Feedback: feedback}, RetryTurn, ""},
		{"deny at Q", StopEvent, Result{Verdict: Deny}, KeepWorking, ""},
		{"stop with feedback at Q", StopEvent, Result{Control: Stop, Feedback: feedback}, KeepWorking, ""},
		{"stop without feedback at Q", StopEvent, Result{Control: Stop}, Abort, LabelTurn},
		{"deny at T", PostToolExecution, Result{Verdict: Deny}, Hide, ""},
		{"stop at pre_micro_compact", PreMicroCompact, Result{Control: Stop}, Abort, LabelCompact},
		{"deny at pre_micro_compact", PreMicroCompact, Result{Verdict: Deny}, Block, LabelCompactMicro},
		{"stop at pre_auto_compact", PreAutoCompact, Result{Control: Stop}, Abort, LabelCompactAuto},
		{"a refused session", SessionStart, Result{Verdict: Deny}, Block, LabelSession},
		{"feedback alone decides nothing", StopEvent, Result{Feedback: feedback}, Proceed, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := NewContext(c.event)
			d := Decide(c.event.Spec(), ctx, ctx, &c.result)
			assert.Equal(t, c.action, d.Action)
			assert.Equal(t, c.scope, d.Scope)
		})
	}
}

func TestByIsTheControlsHookBeforeTheVerdicts(t *testing.T) {
	ctx := NewContext(PreToolExecution)
	r := Result{Verdict: Deny, VerdictBy: By{Name: "guard"}, Control: Skip, ControlBy: By{Name: "skipper"}}
	assert.Equal(t, "skipper", Decide(PreToolExecution.Spec(), ctx, ctx, &r).By)
}

func TestDecisionJSON(t *testing.T) {
	in := NewContext(PreLLMRequest).Set(FieldSystemPrompt, "base").Set(FieldMessages, []any{}).Set(FieldModel, "m")
	r := Result{
		Verdict: Deny, VerdictBy: By{Name: "a"}, Reasons: []Reason{{Text: "<no>"}}, Context: []string{"ctx"},
		Inject: []any{map[string]any{"role": "user", "content": "x"}},
		Patch:  Replace(Path{Field: FieldModel}, "n"),
		Failed: []Failure{{Hook: "b", Kind: ErrExit, Error: "exit status 3", OnError: OnErrorSkip}},
	}
	d := Decide(PreLLMRequest.Spec(), in, in.With(r.Patch), &r)
	text, err := json.Marshal(d)
	require.NoError(t, err)
	assert.JSONEq(t, `{"action":"block","additional_context":["ctx"],"by":"a","control":"go","event":"pre_llm_request",
		"failed":[{"error":"exit status 3","hook":"b","kind":"exit","on_error":"skip"}],
		"inject_messages":[{"content":"x","role":"user"}],"patch":{"model":"n"},"reasons":["<no>"],
		"scope":"model","verdict":"deny"}`, string(text))
	assert.Equal(t, "base\n\nctx", d.Final.Text(FieldSystemPrompt))
	messages, _ := d.Final.Get(FieldMessages)
	assert.Len(t, messages, 1)
}

func TestMask(t *testing.T) {
	hook := &Hook{Name: "h"}
	all := &Effects{May: AllPowers, Writes: PreToolExecution.Spec().Writable()}
	codes := func(r Result) (out []string) {
		for _, w := range r.Warnings {
			out = append(out, w.Code.ID)
		}
		return out
	}
	deny := Result{Verdict: Deny, VerdictBy: By{Name: "h"}, Reasons: []Reason{{Text: "r"}}}

	kept := Mask(PreToolExecution.Spec(), hook, all, deny)
	assert.Equal(t, []Reason{{Text: "r", Hook: "h"}}, kept.Reasons)
	assert.Empty(t, kept.Warnings)

	ignored := Mask(PostSendMessage.Spec(), hook, all, deny)
	assert.Equal(t, None, ignored.Verdict)
	assert.Empty(t, ignored.Reasons)
	assert.Equal(t, []string{"HK110"}, codes(ignored))

	undeclared := Mask(PreToolExecution.Spec(), hook, &Effects{May: MayAsk}, deny)
	assert.Equal(t, None, undeclared.Verdict)
	assert.Equal(t, []string{"HK111"}, codes(undeclared))

	refused := Mask(SessionStart.Spec(), &Hook{Name: "h", Body: Body{Protocol: AgentHooksProtocol}}, all, deny)
	assert.Equal(t, Deny, refused.Verdict)

	alone := Mask(PreToolExecution.Spec(), hook, all, Result{Reasons: []Reason{{Text: "r"}}})
	assert.Empty(t, alone.Reasons)
	effect := Mask(PreToolExecution.Spec(), hook, all, Result{Reasons: []Reason{{Text: "r"}}, Context: []string{"", "c"}})
	assert.Len(t, effect.Reasons, 1)
	assert.Equal(t, []string{"c"}, effect.Context)
}

func TestErrorResult(t *testing.T) {
	h, err := &Hook{Name: "h"}, Failf(ErrExit, "exit status 3")
	for _, c := range []struct {
		event   Event
		posture Posture
		verdict Verdict
		control Control
		end     bool
	}{
		{PreToolExecution, OnErrorSkip, None, Go, false},
		{PreToolExecution, OnErrorAbort, None, Skip, false},
		{PreToolExecution, OnErrorDeny, Deny, Go, false},
		{PreToolExecution, OnErrorAsk, Ask, Go, false},
		{PreSendMessage, OnErrorAbort, None, Stop, false},
		{PreSendMessage, OnErrorAsk, Deny, Go, false},
		{Notify, OnErrorAbort, None, Go, true},
		{Notify, OnErrorDeny, None, Go, false},
	} {
		r := ErrorResult(c.event.Spec(), h, c.posture, err)
		assert.Equal(t, c.verdict, r.Verdict, "%s %s", c.event, c.posture)
		assert.Equal(t, c.control, r.Control, "%s %s", c.event, c.posture)
		assert.Equal(t, c.end, r.EndChain, "%s %s", c.event, c.posture)
		assert.Equal(t, []Failure{{Hook: "h", Kind: ErrExit, Error: "exit status 3", OnError: c.posture}}, r.Failed)
	}
}

func TestRecheckAddsNoSecondCopy(t *testing.T) {
	before := Result{Reasons: []Reason{{Text: "a", Hook: "g"}, {Text: "b", Hook: "other"}}, Feedback: []string{"said"}}
	again := Result{Verdict: Deny, Reasons: []Reason{{Text: "a", Hook: "g"}, {Text: "b", Hook: "g"}}, Context: []string{"c"}, Feedback: []string{"said", "new"}}.Recheck(&before)
	assert.Equal(t, []string{"new"}, again.Feedback, "a stop without its feedback would end the turn")
	assert.Equal(t, []Reason{{Text: "b", Hook: "g"}}, again.Reasons)
	assert.Empty(t, again.Context)
	assert.Equal(t, Deny, again.Verdict)
}

func TestParseHookResult(t *testing.T) {
	by := By{Name: "h"}
	for text, want := range map[string]Result{
		`{}`:                                                   {},
		`{"action":null,"decision":null}`:                      {},
		`{"action":"skip"}`:                                    {Control: Skip, ControlBy: by},
		`{"action":"stop","retry_feedback":"f"}`:               {Control: Stop, ControlBy: by, Feedback: []string{"f"}},
		`{"decision":"block","reason":"r"}`:                    {Verdict: Deny, VerdictBy: by, Reasons: []Reason{{Text: "r"}}},
		`{"tool_arguments":"{\"a\":1}"}`:                       {Patch: Replace(Path{Field: FieldToolInput}, map[string]any{"a": 1})},
		`{"tool_input":{"a":1}}`:                               {Patch: Merge(FieldToolInput, map[string]any{"a": 1})},
		`{"tool_config":{"mode":"ANY","names":["b","a","b"]}}`: {ToolConfig: &ToolConfig{Mode: "ANY", Names: []string{"a", "b"}}},
	} {
		got, err := ParseHookResultText([]byte(text), by)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{
		`[]`, `null`, `"x"`, `{`, `{} {}`, `{"action":"block"}`, `{"action":"Stop"}`, `{"decision":"maybe"}`, `{"user_input":1}`,
		`{"tool_arguments":"[1]"}`, `{"tool_arguments":"not json"}`, `{"messages":{}}`, `{"inject_messages":["x"]}`,
		`{"action":"stop","action":"skip"}`, `{"suppress_output":"yes"}`,
	} {
		_, err := ParseHookResultText([]byte(text), by)
		assert.Equal(t, ErrParse, KindOf(err), text)
	}
	unknown, err := ParseHookResultText([]byte(`{"permissionDecision":"deny"}`), by)
	require.NoError(t, err)
	require.Len(t, unknown.Warnings, 1)
	assert.Equal(t, "HK117", unknown.Warnings[0].Code.ID)
}

// TestInputByAnotherSpelling: a call whose input is by a name that differs in its
// spelling alone is no call without input, which every guard would let pass.
func TestInputByAnotherSpelling(t *testing.T) {
	for _, name := range []string{"toolInput", "ToolInput", "TOOL_INPUT", "tool-input", "toolinput", "tool_Input_", "toolArguments", "Tool_Arguments"} {
		for _, beside := range []string{"", `,"tool_input":null`} {
			text := []byte(`{"event":"pre_tool_execution","tool_name":"Bash","` + name + `":{"command":"rm -rf /"}` + beside + `}`)
			_, _, err := DecodeContext(text)
			require.ErrorContains(t, err, name)
			for _, p := range projections {
				_, _, err = p.DecodeFor(PreToolExecution, text, nil)
				require.ErrorContains(t, err, name)
			}
		}
		_, _, err := DecodeContext([]byte(`{"event":"pre_tool_execution","tool_name":"Bash","tool_input":{},"` + name + `":"beside"}`))
		require.NoError(t, err, name)
	}
	for _, name := range []string{"tool", "input", "tool_inputs", "my_tool_input", "toolArgs"} {
		_, _, err := DecodeContext([]byte(`{"event":"pre_tool_execution","tool_name":"Bash","` + name + `":1}`))
		require.NoError(t, err, name)
	}
}

func TestDecodeContext(t *testing.T) {
	c, event, err := DecodeContext([]byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_arguments":"{\"command\":\"ls\"}",
		"work_dir":"/w","favourite":7,"tool_error":null,"messages":[]}`))
	require.NoError(t, err)
	assert.Equal(t, "PreToolUse", event)
	assert.Equal(t, "/w", c.Text(FieldCwd))
	input, _ := c.Get(FieldToolInput)
	assert.Equal(t, map[string]any{"command": "ls"}, input)
	raw, _ := c.Get(FieldRaw)
	assert.Equal(t, map[string]any{"favourite": 7}, raw)
	assert.False(t, c.Has(FieldToolError))
	assert.True(t, c.Has(FieldMessages), "empty is not absent")

	_, event, err = DecodeContext([]byte(`{"event":"pre_tool_execution","hook_event_name":"PreToolUse"}`))
	require.NoError(t, err)
	assert.Equal(t, "pre_tool_execution", event)

	for _, bad := range []string{``, `[]`, `{"tool_name":1}`, `{"a":1,"a":2}`, `{"tool_arguments":"x"}`, `{} x`,
		`{"event":"stop","hook_event_name":"PreToolUse"}`} {
		_, _, err := DecodeContext([]byte(bad))
		assert.Error(t, err, bad)
	}
}

func TestNumbersSurviveARoundTrip(t *testing.T) {
	text := `{"a":1,"b":1.5,"c":12345678901234567890,"d":1.0,"e":1e3,"f":0.1}`
	v, err := DecodeJSON([]byte(text))
	require.NoError(t, err)
	out, err := EncodeJSON(v)
	require.NoError(t, err)
	assert.Equal(t, text, string(out))
}

func FuzzDecodeContext(f *testing.F) {
	f.Add([]byte(`{"event":"stop","tool_input":{"a":[1,2.5,null,true,"x"]},"raw":{"b":1}}`))
	f.Add([]byte(`{"tool_arguments":"{}","prompt":"x","user_input":"y"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, _, err := DecodeContext(data)
		if err != nil {
			return
		}
		text, err := json.Marshal(c)
		require.NoError(t, err)
		again, _, err := DecodeContext(text)
		require.NoError(t, err)
		require.True(t, SameValue(c.Map(), again.Map()), "%s", text)
	})
}

// TestMapShowsWhatWasGiven: a context is the same text whichever derived
// fields were looked at before, and a projected one holds what was asked for.
func TestMapShowsWhatWasGiven(t *testing.T) {
	fresh := NewContext(PreToolExecution).Set(FieldToolName, "Bash").Set(FieldToolInput, map[string]any{"command": "ls"})
	used := NewContext(PreToolExecution).Set(FieldToolName, "Bash").Set(FieldToolInput, map[string]any{"command": "ls"})
	used.done[FieldCommand], used.values[FieldCommand], used.has[FieldCommand] = true, "ls", true
	assert.Equal(t, fresh.Map(), used.Map())

	given := used.Project(ExactPaths(Path{Field: FieldCommand}))
	assert.Equal(t, map[string]any{"event": "pre_tool_execution", "command": "ls"}, given.Map())
	assert.Equal(t, "tool_name, tool_input, command", FieldPaths(FieldCommand).String())
}

// TestTraceKeysAreSorted: the entries of hooks[] keep the order of their keys.
func TestTraceKeysAreSorted(t *testing.T) {
	text, err := json.Marshal(HookTrace{TracedHook: &TracedHook{Name: "h", Recheck: true}, Status: StatusRan, Verdict: Deny, Control: Stop, Micros: 1, Attempts: 1})
	require.NoError(t, err)
	assert.Equal(t, `{"attempts":1,"control":"stop","name":"h","recheck":true,"status":"ran","us":1,"verdict":"deny"}`, string(text))
}
