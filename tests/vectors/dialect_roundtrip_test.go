package vectors

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/tests/depth"
)

// sentTo is what an agent sends at one of its events, in the words of all six.
func sentTo(native string) []byte {
	input := map[string]any{"command": "ls", "timeout": 5}
	messages := []any{map[string]any{"role": "user", "content": "hi"}}
	data, err := policy.EncodeJSON(map[string]any{
		"hook_event_name": native, "session_id": "s", "cwd": "/", "tool_name": "mcp__t__t", "tool_input": input,
		"user_input": "hi", "messages": messages, "system_prompt": "sp", "model": "m", "tool_result": "out", "tool_error": "e",
		"assistant_output": "yo", "llm_request": map[string]any{"model": "m", "messages": messages, "config": map[string]any{"topP": 1}},
		"tool_config": map[string]any{}, "request_config": map[string]any{},
	})
	if err != nil {
		panic(err)
	}
	return data
}

// randomAnswer is a HookResult drawn from what means something somewhere.
func randomAnswer(r *rand.Rand) map[string]any {
	out := map[string]any{}
	pick := func(key string, n int, values ...any) {
		if r.IntN(n) == 0 {
			out[key] = values[r.IntN(len(values))]
		}
	}
	pick("decision", 2, "allow", "ask", "defer", "deny")
	pick("action", 5, "skip", "stop", "halt")
	pick("reason", 2, "because", "No such file or directory", "42", `{"a":1}`)
	pick("retry_feedback", 4, "again")
	pick("stop_reason", 4, "enough")
	pick("additional_context", 3, "context", "7", "{", `"x"`, "null")
	pick("system_message", 4, "to the user")
	pick("suppress_output", 6, true)
	pick("inject_messages", 6, []any{map[string]any{"role": "user", "content": "injected"}})
	pick("modified_input", 4, map[string]any{"command": "pwd", "timeout": 5}, map[string]any{"command": "pwd"}, map[string]any{"command": "ls", "timeout": 5})
	pick("user_input", 4, "new prompt")
	pick("assistant_output", 4, "new reply")
	pick("system_prompt", 6, "new system prompt")
	pick("model", 6, "m2")
	pick("messages", 4, []any{}, []any{map[string]any{"role": "user", "content": "new"}, map[string]any{"role": "model", "content": "more"}})
	pick("tool_result", 4, "new result", map[string]any{"llmContent": "new"}, "")
	pick("tool_error", 4, "new error")
	pick("request_config", 6, map[string]any{"temperature": 0.5})
	pick("tool_config", 4, map[string]any{"mode": "ANY", "names": []any{"a", "b"}})
	return out
}

// decisionOf is what a hook's answer alone comes to at an event.
func decisionOf(t *testing.T, r *rand.Rand, p policy.Protocol, in *policy.Context, e policy.Event) *policy.Decision {
	t.Helper()
	res, err := policy.ParseHookResult(randomAnswer(r), policy.By{Name: "random"})
	require.NoError(t, err)
	spec := e.Spec()
	h := &policy.Hook{Name: "random", Event: e, Body: policy.Body{Protocol: p}}
	res = policy.Mask(spec, h, &policy.Effects{Reads: spec.Readable(), Writes: spec.Writable(), May: policy.AllPowers}, res)
	return policy.Decide(spec, in, in.With(res.Patch), &res)
}

// TestDialectRoundTrip has hookc answer in a dialect, and reads that answer
// back as that of a hook which speaks the same protocol: the decision must be
// the one that was made, up to what the dialect declares it cannot say.
func TestDialectRoundTrip(t *testing.T) {
	t.Parallel()
	for _, p := range []policy.Protocol{policy.JCLIProtocol, "gemini", "clawdcode", policy.AgentHooksProtocol, "aiagents", "claude"} {
		d, err := agent.Find(string(p))
		require.NoError(t, err)
		t.Run(d.ID, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(7, uint64(len(d.ID))))
			for _, e := range d.Events() {
				if strings.HasPrefix(string(e), "ext.") {
					continue
				}
				for _, row := range d.Can(e) {
					roundTrips(t, r, d, p, row)
				}
			}
		})
	}
}

func roundTrips(t *testing.T, r *rand.Rand, d *agent.Agent, p policy.Protocol, row agent.Capabilities) {
	dir := t.TempDir()
	script := filepath.Join(dir, "answer")
	command := ". " + shellWord(script)
	text := fmt.Sprintf("%s:\n  - name: echo\n    protocol: %s\n    on_error: skip\n    command: |\n      %s\n", row.Event, p, command)
	eng, err := hookc.Open(t.Context(), hookc.Text("hooks.yaml", text))
	require.NoError(t, err)
	defer func() { require.NoError(t, eng.Close()) }()
	for i := range depth.Of(25) {
		call, err := d.Decode(sentTo(row.Native), string(row.Event), func(string) string { return "" })
		require.NoError(t, err)
		in := call.Context.Frozen(row.Event)
		call.Context = in
		want := decisionOf(t, r, p, in, row.Event)
		wire := call.Encode(want)
		saying := fmt.Sprintf("printf %%s %s\nprintf %%s %s >&2\nexit %d\n", shellWord(string(wire.Stdout)), shellWord(wire.Stderr), wire.Exit)
		require.NoError(t, os.WriteFile(script, []byte(saying), 0o644))
		again := in.With(policy.Replace(policy.Path{Field: policy.FieldSessionID}, strconv.Itoa(i)))
		got, err := eng.Fire(t.Context(), row.Event, again)
		require.NoError(t, err)
		if wire.Exit == 1 && p == policy.AgentHooksProtocol { // its warning to the user is heard as a failure with that text
			require.Len(t, got.Failed, 1)
			first, _, _ := strings.Cut(want.SystemMessages[0], "\n")
			require.Contains(t, got.Failed[0].Error, first)
			got.Failed = nil
		}
		compareHeard(t, row, want, got, fmt.Sprintf("%s %s\nwanted %+v\nwire %q %q %d\nheard %+v", d.ID, row.Native, *want, wire.Stdout, wire.Stderr, wire.Exit, *got))
	}
}

// shellWord is a text as one word of a shell command.
func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// outcome is what becomes of the step, whatever the words for it: at an ending
// a turn that is told to end and one that is not held up are the same.
func outcome(e policy.Event, a policy.Action) string {
	switch a {
	case policy.KeepWorking:
		return "keeps working"
	case policy.AskUser, policy.DeferCall:
		return "asks"
	case policy.RetryTurn:
		return "retries"
	case policy.Block, policy.Hide, policy.Abort, policy.EndTurn:
		if e.Spec().Class == policy.Quality {
			return "goes on"
		}
		return "refuses"
	}
	return "goes on"
}

func compareHeard(t *testing.T, row agent.Capabilities, want, got *policy.Decision, what string) {
	t.Helper()
	require.Empty(t, got.Failed, what)
	wanted, heard := outcome(row.Event, want.Action), outcome(row.Event, got.Action)
	lost := want.Degraded
	unsaid := strings.Contains(lost, "→ none") || strings.Contains(lost, "→ rewrite") || strings.Contains(lost, "→ context") || strings.Contains(lost, "→ dropped")
	switch {
	case wanted == heard:
	case heard == "refuses" && lost != "": // something stricter, and it says so
	case heard == "goes on" && unsaid && wanted != "asks":
	default:
		require.Equal(t, wanted, heard, what)
	}
	if want.Action == policy.EndTurn && lost == "" && row.Event.Spec().Class != policy.Quality {
		require.Equal(t, policy.EndTurn, got.Action, what)
	}
	if heard == "refuses" || heard == "keeps working" || heard == "retries" {
		compareWhy(t, row, want, got, what)
		return
	}
	if want.Action == policy.Proceed && want.Verdict == policy.Allow && !strings.Contains(lost, "allow →") {
		require.Equal(t, policy.Allow, got.Verdict, what)
	}
	if want.Verdict == policy.None && want.Patch["tool_input"] == nil {
		require.NotEqual(t, policy.Allow, got.Verdict, "no opinion is no approval: "+what)
	}
	comparePatch(t, row, want, got, what)
	if want.Action == policy.Proceed && !strings.Contains(lost, "context") && got.Patch["tool_result"] == nil {
		// Feedback without a refusal is context, and so are messages where only a complaint shows them.
		// Agents differ in whether an empty line stands between two texts.
		may := []string{strings.Join(want.Context, "\n")}
		for _, more := range [][]string{want.Feedback, want.SystemMessages} {
			may = append(may, strings.Trim(may[len(may)-1]+"\n"+strings.Join(more, "\n"), "\n"))
		}
		heard := strings.ReplaceAll(strings.Join(got.Context, "\n"), "\n\n", "\n")
		require.Contains(t, may, strings.TrimPrefix(heard, "hookc: "), what)
	}
}

// compareWhy: whoever is refused is told why.
func compareWhy(t *testing.T, row agent.Capabilities, want, got *policy.Decision, what string) {
	t.Helper()
	if want.Action == policy.Proceed || strings.Contains(want.Degraded, "rewrite of") {
		return
	}
	told := strings.Join(slices.Concat(got.Reasons, got.Feedback, got.SystemMessages, []string{got.StopReason}), "\n")
	why := want.Reasons
	if len(want.Feedback) > 0 && (want.Action == policy.KeepWorking || want.Action == policy.RetryTurn) {
		why = want.Feedback
	}
	if want.Action == policy.EndTurn && want.StopReason != "" {
		why = []string{want.StopReason}
	}
	for _, reason := range why {
		require.Contains(t, told, reason, what)
	}
	require.NotEmpty(t, strings.TrimSpace(told), what)
}

// comparePatch: what goes on goes on with what was decided.
func comparePatch(t *testing.T, row agent.Capabilities, want, got *policy.Decision, what string) {
	t.Helper()
	if strings.Contains(want.Degraded, "rewrite") || strings.Contains(want.Degraded, "inject") || want.Action == policy.DeferCall {
		return
	}
	for name, v := range want.Patch {
		f, _ := policy.ParseField(name)
		if !slices.Contains(row.Writes, f) {
			continue
		}
		heard, ok := got.Patch[name]
		if name == "messages" && len(want.Inject) > 0 && !row.May.Has(agent.MayInject) {
			v, _ = want.Final.Get(f) // what joins the conversation is written into it
		}
		switch {
		case name == "tool_result":
			// ClawdCode makes context part of a replaced result.
			text, _, _ := strings.Cut(asText(heard), "\n\n[Hook Context]\n")
			require.Contains(t, []string{asText(v), contentOf(v)}, text, what)
		case row.Native == "BeforeTool":
			// The protocol's older reading merges; a key that is gone stays.
			if m, _ := v.(map[string]any); len(m) < 2 {
				continue
			}
			fallthrough
		default:
			require.True(t, ok && policy.SameValue(v, heard), "%s: %s", name, what)
		}
	}
	if row.Event == policy.PreToolExecution && want.Patch["tool_input"] == nil {
		require.Nil(t, got.Patch["tool_input"], what)
	}
}

func asText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	data, err := policy.EncodeJSON(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// contentOf is the part of a ClawdCode result that the model sees.
func contentOf(v any) string {
	m, _ := v.(map[string]any)
	s, _ := m["llmContent"].(string)
	return s
}
