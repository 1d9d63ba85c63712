package agent

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

func noEnv(string) string { return "" }

func TestRegistry(t *testing.T) {
	var ids []string
	for _, d := range All() {
		ids = append(ids, d.ID)
		require.NotNil(t, readers[d.ID], "%s has no reader in the tests", d.ID)
		for _, p := range d.allPoints() {
			assert.True(t, p.name != "" && p.event != "", "%s has an event without a name", d.ID)
		}
	}
	assert.Equal(t, []string{"agenthooks", "aiagents", "claude", "claude@2.1.240", "clawdcode", "clawdcode@doc", "codex", "copilot", "cursor", "gemini", "jcli", "kimi", "qwen"}, ids)
	assert.True(t, slices.IsSorted(Names()))
	ok := *exact("kimi")
	ok.Aliases = nil
	for name, change := range map[string]func(*Agent){
		"is taken":    func(*Agent) {},
		"incomplete":  func(d *Agent) { d.ID, d.deliver = "x", nil },
		"is without":  func(d *Agent) { d.ID, d.points = "x", nil },
		"no name":     func(d *Agent) { d.ID, d.points = "x", []point{{event: policy.StopEvent}} },
		"alias taken": func(d *Agent) { d.ID, d.Aliases = "x", []string{"claude-code"} },
	} {
		bad := ok
		change(&bad)
		assert.Panics(t, func() { register(bad) }, name)
	}
}

func TestFind(t *testing.T) {
	for name, id := range map[string]string{
		"claude": "claude", "claude-code": "claude", "claude@2.1.296": "claude", "claude@3.0": "claude", "claude@2.1.240": "claude@2.1.240",
		"claude@2.1.241": "claude", "claude@2.0": "claude@2.1.240", "claude-code@2.1.240": "claude@2.1.240",
		"codex@0.1": "codex", "clawd": "clawdcode", "agent-hooks": "agenthooks", "ai_agents": "aiagents", "jcli@agent": "jcli", "gemini@0.61.0": "gemini",
	} {
		d, err := Find(name)
		require.NoError(t, err, name)
		assert.Equal(t, id, d.ID, name)
	}
	for name, want := range map[string]string{
		"claud": `did you mean "claude"?`, "somebodyelse": "hookc list dialect", "claude@new": "not a version",
	} {
		_, err := Find(name)
		assert.ErrorContains(t, err, want, name)
	}
}

func TestCapabilities(t *testing.T) {
	codex, _ := Find("codex")
	rows := codex.Can(policy.PreToolExecution)
	require.Len(t, rows, 1)
	assert.Equal(t, []string{"deny", "context", "system_message"}, rows[0].May.Names())
	assert.Equal(t, []Loss{
		{"allow", "none", "the agent cannot be told that something is approved here"},
		{"ask", "deny", "the agent cannot ask here"},
		{"defer", "deny", "the agent cannot wait for another's approval here"},
		{"stop", "deny", "the agent can leave no more than this step here"},
		{"end_turn", "deny", "a hook cannot end the turn here"},
	}, rows[0].Losses)
	kimi, _ := Find("kimi")
	assert.Contains(t, kimi.Can(policy.PreToolExecution)[0].Losses, Loss{"rewrite of tool_input", "deny", "the agent does not take this change"})
	assert.Empty(t, kimi.Can(policy.PreLLMRequest))
	assert.Contains(t, kimi.Can(policy.SubagentStart)[0].Losses,
		Loss{"deny", "pre_tool_execution", "a hook cannot refuse this; the call of the tool that begins it is refused"})
	gemini, _ := Find("gemini")
	assert.Equal(t, policy.PostToolExecutionFailure, gemini.Can(policy.PostToolExecutionFailure)[0].Event)
	jcli, _ := Find("jcli")
	assert.Contains(t, jcli.Can(policy.PostToolExecution)[0].Losses, Loss{"deny", "rewrite", "the agent cannot hide this; it is replaced by the reason"})
	cursor, _ := Find("cursor")
	assert.Len(t, cursor.Can(policy.PreToolExecution), 5)
	assert.Equal(t, policy.SessionStart, cursor.Events()[0])
}

// A failure of hookc never lets a guarded action through where the agent lets
// a hook refuse, and never keeps an agent working.
func TestFail(t *testing.T) {
	for _, d := range All() {
		w := d.Unread().Fail("boom")
		event := map[string]string{"jcli": "pre_tool_execution", "gemini": "BeforeTool", "agenthooks": "pre-tool-call", "cursor": "preToolUse", "copilot": "preToolUse"}[d.ID]
		if event == "" {
			event = "PreToolUse"
		}
		assert.Equal(t, "deny", readers[d.ID](event, w, nil).verdict, "%s blind", d.ID)
		for i := range d.allPoints() {
			p := &d.allPoints()[i]
			c := &Call{agent: d, point: p}
			w := c.Fail("boom")
			h := readers[d.ID](p.name, w, nil)
			what := fmt.Sprintf("%s %s: %q %q %d: %+v", d.ID, p.name, w.Stdout, w.Stderr, w.Exit, h)
			require.NotContains(t, []int{3, 4, 130}, w.Exit, what)
			switch to, _ := p.settle(deny, p.may); {
			case p.event.Spec().Class != policy.Guard:
				require.False(t, h.refuses(), what)
				if !p.silent {
					require.Contains(t, string(w.Stdout)+w.Stderr, "boom", what)
				}
			case to.refuses():
				require.True(t, h.refuses(), what)
				require.Contains(t, string(w.Stdout)+w.Stderr, "boom", what)
			case to == tell:
				require.Contains(t, h.context, "boom", what)
			}
		}
	}
}

func TestEnvironmentAndRaw(t *testing.T) {
	claude, _ := Find("claude")
	env := func(k string) string { return map[string]string{"CLAUDE_PROJECT_DIR": "/proj"}[k] }
	c, err := claude.Decode([]byte(`{"hook_event_name":"PostToolUse","cwd":"/proj/sub","tool_name":"Bash","tool_input":{},"tool_response":{"stdout":"x"},`+
		`"prompt_id":"7","duration_ms":3,"permission_mode":5,"tool_kind":"sneaky","raw":1}`), "", env)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{
		"event": "post_tool_execution", "cwd": "/proj/sub", "project_root": "/proj", "tool_name": "Bash", "tool_input": map[string]any{},
		"tool_result": map[string]any{"stdout": "x"},
		"raw":         map[string]any{"prompt_id": "7", "duration_ms": 3, "permission_mode": 5, "tool_kind": "sneaky", "raw": 1},
	}, without(c.Context.Map(), "tool_kind"))
	c, err = claude.Decode([]byte(`{"hook_event_name":"SubagentStop","agent_type":"reviewer","last_assistant_message":"done","stop_hook_active":true}`), "", noEnv)
	require.NoError(t, err)
	assert.Equal(t, "reviewer", c.Context.Text(policy.FieldSubagentType))
	assert.Equal(t, "done", c.Context.Text(policy.FieldAssistantOutput))
	c, err = claude.Decode([]byte(`{"hook_event_name":"FileChanged","file_path":"a","event":"change"}`), "", noEnv)
	require.NoError(t, err)
	assert.Equal(t, policy.Event("ext.FileChanged"), c.Event())
	assert.Equal(t, map[string]any{"file_path": "a", "event": "change"}, c.Context.Map()["raw"])
	jcli, _ := Find("jcli")
	c, err = jcli.Decode([]byte(`{"tool_name":"Bash","tool_arguments":""}`), "", func(k string) string {
		return map[string]string{"JCLI_HOOK_EVENT": "pre_tool_execution", "JCLI_CWD": "/w"}[k]
	})
	require.NoError(t, err)
	assert.Equal(t, "/w", c.Context.Text(policy.FieldCwd))
	gemini, _ := Find("gemini")
	c, err = gemini.Decode([]byte(`{"hook_event_name":"AfterTool","tool_name":"t","tool_input":{},"tool_response":{"llmContent":"x","error":{"message":"bad","type":"t"}}}`), "AfterTool", noEnv)
	require.NoError(t, err)
	assert.Equal(t, policy.PostToolExecutionFailure, c.Event())
	assert.Equal(t, "bad", c.Context.Text(policy.FieldToolError))
	cursor, _ := Find("cursor")
	c, err = cursor.Decode([]byte(`{"hook_event_name":"beforeMCPExecution","conversation_id":"c","workspace_roots":["/w"],"tool_name":"get","tool_input":"{\"k\":1}","url":"http://x"}`), "", noEnv)
	require.NoError(t, err)
	m := without(c.Context.Map(), "tool_kind", "tool_arguments", "raw")
	assert.Equal(t, map[string]any{"event": "pre_tool_execution", "session_id": "c", "cwd": "/w", "project_root": "/w", "tool_name": "MCP:get",
		"tool_input": map[string]any{"k": 1}, "mcp": map[string]any{"url": "http://x", "tool": "get"}}, m)
}

func without(m map[string]any, keys ...string) map[string]any {
	for _, k := range keys {
		delete(m, k)
	}
	return m
}

// When the event's name is missing, unknown or disputed, what guards counts.
func TestPlace(t *testing.T) {
	claude, _ := Find("claude")
	for _, row := range []struct{ data, event, native, err string }{
		{`{"hook_event_name":"Stop"}`, "", "Stop", ""},
		{`{"hook_event_name":"Stop"}`, "stop", "Stop", ""},
		{`{}`, "Stop", "Stop", ""},
		{`{}`, "", "", "no event"},
		{`{}`, "PreToolUsed", "", `did you mean "PreToolUse"`},
		{`{}`, "pre_llm_request", "", "claude has no event"},
		{`{"hook_event_name":"Stop"}`, "PreToolUse", "PreToolUse", "the argument says PreToolUse and the input says Stop"},
		{`{"hook_event_name":"PreToolUse"}`, "Stop", "PreToolUse", "the argument says Stop"},
		{`{"hook_event_name":"New"}`, "PreToolUse", "PreToolUse", `no event "New"`},
		{`{"hook_event_name":"PreToolUse"}`, "Nope", "PreToolUse", `no event "Nope"`},
		{`{"hook_event_name":"PreToolUse","tool_name":"Bash"}`, "", "PreToolUse", "no tool_input"},
		{`{"hook_event_name":"PreToolUse","tool_name":"","tool_input":{}}`, "", "PreToolUse", "names no tool"},
		{`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":"x"}`, "", "PreToolUse", "tool_input must be an object"},
		{`{"hook_event_name":"UserPromptSubmit"}`, "", "UserPromptSubmit", "no user_input"},
		{`{"hook_event_name":"Stop","x`, "", "Stop", "not JSON"},
		{`{"tool_input":{"hook_event_name":"Stop"},"x`, "", "", "not JSON"},
		{`[]`, "Stop", "Stop", "not a JSON object"},
		{` `, "Stop", "Stop", "empty"},
		{`{"hook_event_name":"Stop","a":1,"a":2}`, "", "Stop", "twice"},
	} {
		c, err := claude.Decode([]byte(row.data), row.event, noEnv)
		assert.Equal(t, row.native, c.Native(), "%s %s", row.data, row.event)
		if row.err == "" {
			require.NoError(t, err, row.data)
			continue
		}
		require.ErrorContains(t, err, row.err, row.data)
	}
}
