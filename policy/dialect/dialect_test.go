package dialect

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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
	}
	assert.Equal(t, []string{"agenthooks", "aiagents", "claude", "claude@2.1.240", "clawdcode", "codex", "copilot", "cursor", "gemini", "jcli", "kimi", "qwen"}, ids)
	assert.True(t, slices.IsSorted(Names()))
	ok := *exact("kimi")
	ok.Aliases = nil
	for name, change := range map[string]func(*Dialect){
		"is taken":    func(*Dialect) {},
		"incomplete":  func(d *Dialect) { d.ID, d.say = "x", nil },
		"is without":  func(d *Dialect) { d.ID, d.points = "x", nil },
		"no name":     func(d *Dialect) { d.ID, d.points = "x", []point{{event: policy.StopEvent}} },
		"alias taken": func(d *Dialect) { d.ID, d.Aliases = "x", []string{"claude-code"} },
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
	assert.Contains(t, kimi.Can(policy.SubagentStart)[0].Losses, Loss{"deny", "none", "a hook cannot refuse this"})
	gemini, _ := Find("gemini")
	assert.Equal(t, policy.PostToolExecutionFailure, gemini.Can(policy.PostToolExecutionFailure)[0].Event)
	jcli, _ := Find("jcli")
	assert.Contains(t, jcli.Can(policy.PostToolExecution)[0].Losses, Loss{"deny", "rewrite", "the agent cannot hide this; it is replaced by the reason"})
	cursor, _ := Find("cursor")
	assert.Len(t, cursor.Can(policy.PreToolExecution), 5)
	assert.Equal(t, policy.SessionStart, cursor.Events()[0])
}

// sample is what an agent sends at one of its events.
func sample(d *Dialect, p *point) map[string]any {
	input := map[string]any{"command": "ls", "timeout": 5}
	sent := map[string]any{"session_id": "s", d.eventKey: p.name, "cwd": "/w", "tool_name": "Bash", "tool_input": input, "prompt": "hi",
		"tool_response": map[string]any{"llmContent": "out", "stdout": "out"}, "error": "e", "stop_hook_active": false}
	switch d.ID {
	case "jcli":
		delete(sent, "tool_input")
		sent["tool_arguments"], sent["user_input"], sent["tool_result"] = `{"command":"ls","timeout":5}`, "hi", "out"
		sent["messages"], sent["system_prompt"], sent["model"] = []any{map[string]any{"role": "user", "content": "hi"}}, "sp", "m"
	case "gemini":
		sent["llm_request"] = map[string]any{"model": "m", "messages": []any{map[string]any{"role": "user", "content": "hi"}}, "config": map[string]any{"topP": 1}}
		sent["llm_response"] = map[string]any{"candidates": []any{map[string]any{"content": map[string]any{"parts": []any{"yo"}}}}}
		if p.event == policy.PostToolExecutionFailure {
			sent["tool_response"] = map[string]any{"error": map[string]any{"message": "e"}}
		}
	case "clawdcode":
		delete(sent, "cwd")
		sent["project_dir"], sent["prompt_content"], sent["tool_output"] = "/w", "hi", map[string]any{"llmContent": "out"}
	case "agenthooks":
		delete(sent, "cwd")
		sent["work_dir"], sent["tool_output"] = "/w", "out"
	case "cursor":
		if p.name == "beforeShellExecution" {
			sent["command"] = "ls"
		}
		if strings.HasSuffix(p.name, "Read") || p.name == "beforeReadFile" {
			sent["file_path"] = "a"
		}
	case "copilot":
		if p.name[0] >= 'a' {
			delete(sent, "tool_input")
			delete(sent, "tool_name")
			delete(sent, d.eventKey)
			sent["toolName"], sent["toolArgs"] = "bash", `{"command":"ls","timeout":5}`
		}
	}
	return sent
}

func decoded(t *testing.T, d *Dialect, p *point) *Call {
	t.Helper()
	data, err := policy.EncodeJSON(sample(d, p))
	require.NoError(t, err)
	c, err := d.Decode(data, p.name, noEnv)
	require.NoError(t, err, "%s %s", d.ID, p.name)
	require.Equal(t, p.event, c.Event())
	return c
}

// randomDecision is what a random result of a chain comes to at an event.
func randomDecision(r *rand.Rand, in *policy.Context, e policy.Event) *policy.Decision {
	spec := e.Spec()
	by := policy.By{Name: "h"}
	res := policy.Result{}
	if v := policy.Verdict(r.IntN(5)); spec.Powers.Verdict(v) && r.IntN(4) > 0 {
		res.Verdict, res.VerdictBy = v, by
	}
	if c := policy.Control(r.IntN(4)); spec.Powers.Control(c) && r.IntN(4) == 0 {
		res.Control, res.ControlBy = c, by
	}
	text := func(s string) []string {
		if r.IntN(2) == 0 {
			return nil
		}
		return []string{s, s + " 2"}[:1+r.IntN(2)]
	}
	for _, s := range text("because") {
		res.Reasons = append(res.Reasons, policy.Reason{Text: s})
	}
	res.System = text("to the user")
	if spec.Context {
		res.Context = text("context")
	}
	if spec.Feedback {
		res.Feedback = text("again")
	}
	if spec.Inject && r.IntN(4) == 0 {
		res.Inject = []any{map[string]any{"role": "user", "content": "injected"}}
	}
	if res.Control == policy.Halt {
		res.StopReasons = text("enough")
	}
	for _, f := range spec.Writes {
		if r.IntN(3) == 0 {
			res.Patch = res.Patch.Then(policy.Replace(policy.Path{Field: f}, randomValue(r, f)))
		}
	}
	return policy.Decide(spec, in, in.With(res.Patch), &res)
}

func randomValue(r *rand.Rand, f policy.Field) any {
	switch f.Spec().Type {
	case policy.ObjectType:
		return []any{map[string]any{"command": "pwd", "timeout": 5}, map[string]any{"command": "pwd"}, map[string]any{"mode": "ANY", "names": []any{"a"}}}[r.IntN(3)]
	case policy.ListType:
		return []any{[]any{}, []any{map[string]any{"role": "user", "content": "new"}}}[r.IntN(2)]
	}
	return []any{"new text", `{"llmContent":"x"}`, "42"}[r.IntN(3)]
}

// What an agent hears of a random Decision is what was decided: exactly, or as
// the dialect declares, and never something that lets more through.
func TestHeard(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, d := range All() {
		for i := range d.points {
			p := &d.points[i]
			for range 150 {
				c := decoded(t, d, p)
				in := c.Context.Frozen(p.event)
				c.Context = in
				dec := randomDecision(r, in, p.event)
				w := c.Encode(dec)
				before, _ := in.Get(policy.FieldToolInput)
				input, _ := before.(map[string]any)
				h := readers[d.ID](p.name, w, input)
				what := fmt.Sprintf("%s %s\ndecision %+v\nwire %q %q %d\nheard %+v", d.ID, p.name, *dec, w.Stdout, w.Stderr, w.Exit, h)
				require.Empty(t, h.broken, what)
				checkHeard(t, p, dec, h, what)
			}
		}
	}
}

func checkHeard(t *testing.T, p *point, dec *policy.Decision, h heard, what string) {
	t.Helper()
	class := p.event.Spec().Class
	harmless := strings.Contains(dec.Degraded, "deny → none") || strings.Contains(dec.Degraded, "deny → context") ||
		strings.Contains(dec.Degraded, "deny → rewrite") || strings.Contains(dec.Degraded, "→ dropped")
	switch dec.Action {
	case policy.Block, policy.Hide, policy.RetryTurn:
		if !harmless {
			require.True(t, h.refuses() || h.result != nil, what)
		}
	case policy.KeepWorking:
		if !harmless {
			require.Equal(t, "deny", h.verdict, what)
			require.NotEmpty(t, strings.TrimSpace(h.reason), what)
		}
	case policy.AskUser, policy.DeferCall:
		require.Contains(t, []string{"ask", "deny"}, h.verdict, what)
	case policy.Abort, policy.EndTurn:
		if class == policy.Quality {
			require.NotEqual(t, "deny", h.verdict, what)
		} else if !harmless {
			require.True(t, h.refuses() || h.result != nil, what)
		}
	case policy.Proceed:
		if dec.Verdict == policy.None {
			require.NotContains(t, []string{"allow", "ask"}, h.verdict, what)
		}
	}
	told := h.reason + "\n" + h.context + "\n" + h.retry + "\n" + fmt.Sprint(h.result)
	if h.refuses() && dec.Action != policy.EndTurn && dec.Action != policy.Proceed && len(dec.Feedback) == 0 {
		for _, reason := range dec.Reasons {
			require.Contains(t, told, reason, what)
		}
	}
	if dec.Action == policy.Proceed && !h.refuses() && !strings.Contains(dec.Degraded, "context → dropped") {
		for _, context := range dec.Context {
			require.Contains(t, told, context, what)
		}
	}
	if dec.Degraded != "" {
		checkRewrite(t, p, dec, h, what)
		return
	}
	verdict := map[policy.Action]string{policy.Block: "deny", policy.Hide: "deny", policy.KeepWorking: "deny", policy.AskUser: "ask"}[dec.Action]
	if dec.Action == policy.Proceed && dec.Verdict == policy.Allow {
		verdict = "allow"
	}
	if !h.stops && !h.ends && h.retry == "" && h.result == nil {
		if dec.Action == policy.Abort && class != policy.Quality {
			verdict = "deny" // leaving the step is all there is
		}
		require.Equal(t, verdict, h.verdict, what)
	}
	checkRewrite(t, p, dec, h, what)
}

// checkRewrite: a call runs with the input that was decided, or does not run.
func checkRewrite(t *testing.T, p *point, dec *policy.Decision, h heard, what string) {
	t.Helper()
	if p.event != policy.PreToolExecution && p.event != policy.PermissionRequest || h.refuses() {
		return
	}
	if dec.Verdict == policy.Defer && dec.Action == policy.DeferCall {
		return
	}
	want, changed := dec.Patch["tool_input"]
	if !changed {
		require.Nil(t, h.input, what)
		return
	}
	require.True(t, policy.SameValue(want, any(h.input)), what)
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
		for i := range d.points {
			p := &d.points[i]
			c := &Call{dialect: d, point: p}
			w := c.Fail("boom")
			h := readers[d.ID](p.name, w, nil)
			what := fmt.Sprintf("%s %s: %q %q %d: %+v", d.ID, p.name, w.Stdout, w.Stderr, w.Exit, h)
			require.NotContains(t, []int{3, 4, 130}, w.Exit, what)
			switch to, _ := p.settle(deny, p.may); {
			case p.event.Spec().Class != policy.Guard:
				require.False(t, h.refuses(), what)
				if !p.mute {
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
		"tool_input": map[string]any{"k": 1}, "mcp": map[string]any{"url": "http://x"}}, m)
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

// Any bytes get an answer in the agent's protocol; what cannot be read never
// lets a guarded action through.
func FuzzDecode(f *testing.F) {
	for _, d := range All() {
		for i := range d.points {
			data, err := policy.EncodeJSON(sample(d, &d.points[i]))
			require.NoError(f, err)
			f.Add(data, uint8(i), true)
			f.Add(data[:len(data)/2], uint8(i), false)
		}
	}
	for _, s := range []string{"", "null", "[]", "{", `{"hook_event_name":1}`, "\xff\xfe", `{"tool_name":"x","tool_input":null}`} {
		f.Add([]byte(s), uint8(3), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, pick uint8, named bool) {
		for _, d := range All() {
			name := ""
			if named {
				name = d.points[int(pick)%len(d.points)].name
			}
			c, err := d.Decode(data, name, noEnv)
			if err != nil {
				w := c.Fail(err.Error())
				h := readers[d.ID](c.Native(), w, nil)
				require.NotContains(t, []int{3, 4, 130}, w.Exit)
				if c.point != nil && c.point.event.Spec().Class == policy.Guard {
					if to, _ := c.point.settle(deny, c.point.may); to.refuses() {
						require.True(t, h.refuses(), "%s %s %q: %q", d.ID, c.Native(), data, w.Stdout)
					}
				}
				continue
			}
			in := c.Context.Frozen(c.Event())
			spec := c.Event().Spec()
			for _, r := range []policy.Result{{}, {Verdict: policy.Deny}, {Verdict: policy.Ask}} {
				if !spec.Powers.Verdict(r.Verdict) {
					continue
				}
				dec := policy.Decide(spec, in, in, &r)
				w := c.Encode(dec)
				before, _ := in.Get(policy.FieldToolInput)
				input, _ := before.(map[string]any)
				h := readers[d.ID](c.Native(), w, input)
				require.Empty(t, h.broken, "%s %s %q: %q", d.ID, c.Native(), data, w.Stdout)
				if r.Verdict == policy.None {
					require.Empty(t, h.verdict, "%s %s", d.ID, c.Native())
				}
			}
		}
	})
}
