package agent

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// sample is what an agent sends at one of its events.
func sample(d *Agent, p *point) map[string]any {
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
	case "clawdcode", "clawdcode@doc":
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

func decoded(t *testing.T, d *Agent, p *point) *Call {
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
		for i := range d.allPoints() {
			p := &d.allPoints()[i]
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
				checkHeard(t, p, dec, h, w.Stderr, what)
			}
		}
	}
}

func checkHeard(t *testing.T, p *point, dec *policy.Decision, h heard, log, what string) {
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
	if !strings.Contains(dec.Degraded, "system_message → dropped") && !p.silent {
		for _, feedback := range dec.Feedback {
			require.Contains(t, told+h.system+log, feedback, what)
		}
		for _, message := range dec.SystemMessages {
			if h.refuses() && h.system == "" && !p.complains {
				continue // a refusal by exit code says why, and nothing else
			}
			require.Contains(t, told+h.system, message, what)
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
	if p.complains && h.verdict == "deny" {
		verdict = "deny" // it refuses nothing, and shows what is said to the user
		require.Equal(t, strings.Join(append(append([]string{}, dec.Feedback...), dec.SystemMessages...), "\n"), h.reason, what)
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

// Any bytes get an answer in the agent's protocol; what cannot be read never
// lets a guarded action through.
func FuzzDecode(f *testing.F) {
	for _, d := range All() {
		for i := range d.allPoints() {
			data, err := policy.EncodeJSON(sample(d, &d.allPoints()[i]))
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
				name = d.allPoints()[int(pick)%len(d.allPoints())].name
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

// TestClaudeOwnEvents: an event that hookc has no name for has Claude Code's behind ext., and a
// matcher there that looks at no field looks at nothing.
func TestClaudeOwnEvents(t *testing.T) {
	for _, e := range claudeEvents {
		if !strings.HasPrefix(string(e.event), "ext.") {
			assert.False(t, e.at.Nothing, e.name)
			continue
		}
		assert.Equal(t, "ext."+e.name, string(e.event))
		assert.Equal(t, e.at.Field == policy.FieldEvent && e.at.Raw == "", e.at.Nothing, e.name)
	}
}
