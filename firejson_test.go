package hookc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
)

// A repeated call is told from another one by the whole of its arguments, also
// by those that no hook reads.
func TestFireJSONTellsCallsApart(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	eng := open(fmt.Sprintf(`
pre_tool_execution:
  - {name: note, reads: [tool_input.command], writes: [], may: [], command: 'echo x >> %s'}
`, log))
	defer eng.Close()
	fire := func(more string) {
		d, err := eng.FireJSON(t.Context(), "pre_tool_execution", []byte(`{"session_id":"s","tool_use_id":"1","cwd":"/","tool_name":"Bash","tool_input":{"command":"ls","more":`+more+`}}`))
		require.NoError(t, err)
		require.Empty(t, d.Failed)
	}
	fire("1")
	fire("1")
	fire("2")
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Equal(t, "x\nx\n", string(text))
}

// The hooks of a session read what the engine's do not.
func TestFireJSONOfASession(t *testing.T) {
	eng := open("pre_send_message: [{name: polite, deny: 'user_input == \"no\"', reason: no}]")
	defer eng.Close()
	event := func(id string) []byte {
		return []byte(`{"event":"pre_send_message","user_input":"hi","messages":[1,2,3],"session_id":` + id + `}`)
	}
	_, err := eng.Session("s").Register(hookc.Hook{Event: "pre_send_message", Name: "short", Deny: "len(messages) > 2", Reason: "long"})
	require.NoError(t, err)
	for id, by := range map[string]string{`"s"`: "short", `"other"`: "", `"\u0073"`: "short", "null": ""} {
		d, err := eng.FireJSON(t.Context(), "", event(id))
		require.NoError(t, err)
		assert.Equal(t, by, d.By, id)
	}
	d, err := eng.FireJSON(t.Context(), "", []byte(strings.Replace(string(event(`"s"`)), `"event"`, `"\u0065vent"`, 1)))
	require.NoError(t, err)
	assert.Equal(t, "short", d.By, "an event that cannot be told at a glance")
}

func TestFireJSONRefusesWhatItCannotRead(t *testing.T) {
	eng := open("stop: [{name: gate, deny: 'stop_reason == \"todo\"', reason: no}]")
	for _, c := range []struct{ event, data, err string }{
		{"", `{`, "hookc: the event cannot be read: unexpected EOF"},
		{"stop", `[]`, "hookc: the event cannot be read: not a JSON object"},
		{"stop", `{"stop_reason":"a","stop_reason":"b"}`, `hookc: the event cannot be read: key "stop_reason" appears twice`},
		{"stop", `{"stop_reason":7}`, "hookc: the event cannot be read: stop_reason must be a string"},
		{"", `{"event":"stop","event":"notify"}`, `hookc: the event cannot be read: key "event" appears twice`},
		{"", `{"stop_reason":"todo"}`, `hookc: unknown event ""`},
		{"later", `{}`, `hookc: unknown event "later"`},
	} {
		d, err := eng.FireJSON(t.Context(), policy.Event(c.event), []byte(c.data))
		require.EqualError(t, err, c.err)
		assert.False(t, d.Permits())
		var unread *hookc.DecodeError
		assert.Equal(t, strings.Contains(c.err, "cannot be read"), errors.As(err, &unread))
	}
	// What nobody looks at is checked to be JSON, and no more.
	d, err := eng.FireJSON(t.Context(), "", []byte(`{"event":"stop","stop_reason":"done","of_the_host":{"a":1,"a":2}}`))
	require.NoError(t, err)
	assert.True(t, d.Permits())
	assert.Equal(t, []policy.Field{policy.FieldEvent, policy.FieldStopReason}, d.Final.Fields())
	_, err = eng.FireJSON(t.Context(), "", []byte(`{"event":"stop","of_the_host":{"a":}}`))
	require.Error(t, err)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	d, err = eng.FireJSON(ended, "stop", []byte(`{}`))
	require.NoError(t, err)
	assert.Equal(t, policy.Cancelled, d.Action)
	require.NoError(t, eng.Close())
	d, err = eng.FireJSON(t.Context(), "stop", []byte(`{}`))
	assert.ErrorIs(t, err, hookc.ErrClosed)
	assert.False(t, d.Permits())
}

// Hooks of other tools are counted as filtered, together or one by one, and
// what was counted together outlives the policy it was counted for.
func TestMetricsOfManyFilteredHooks(t *testing.T) {
	var text strings.Builder
	text.WriteString("pre_tool_execution:\n")
	for i := range 100 {
		fmt.Fprintf(&text, "  - {name: r%d, filter: {tool_name: Tool%d}, deny: 'tool_input.command == \"no\"', reason: no}\n", i, i)
	}
	file := filepath.Join(t.TempDir(), "hooks.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o644))
	eng, err := hookc.Open(t.Context(), hookc.Files(file))
	require.NoError(t, err)
	fire := func(tool int, command string) {
		_, err := eng.PreTool(t.Context(), hookc.Call{Tool: fmt.Sprint("Tool", tool), Input: map[string]any{"command": command}})
		require.NoError(t, err)
	}
	want := func(runs map[int]int64, filtered func(i int) int64) {
		t.Helper()
		for _, m := range eng.Metrics().List() {
			var i int
			_, err := fmt.Sscanf(m.Hook, "r%d", &i)
			require.NoError(t, err)
			require.Equal(t, runs[i], m.Runs, m.Hook)
			require.Equal(t, filtered(i), m.Filtered, m.Hook)
		}
	}
	fire(3, "ls")
	fire(3, "ls")
	fire(50, "ls")
	fire(1000, "ls")
	fire(40, "no") // ends the chain: those after it are not reached
	runs := map[int]int64{3: 2, 50: 1, 40: 1}
	filtered := func(i int) int64 {
		n := 4 - runs[i]
		switch {
		case i == 40:
			n = 4
		case i < 40:
			n++
		}
		return n
	}
	want(runs, filtered)
	require.NoError(t, os.WriteFile(file, []byte(text.String()+"stop: [{name: s, deny: 'stop_reason == \"x\"', reason: no}]\n"), 0o644))
	require.NoError(t, eng.Reload(t.Context()))
	fire(3, "ls")
	runs[3]++
	later := func(i int) int64 { return filtered(i) + 1 } // of 3, one less and one more
	want(runs, later)
	require.NoError(t, eng.Close())
	want(runs, later)
}

// What FireJSONInto says is what FireJSON says, whatever the memory held before:
// other tools, refusals, text that is no event.
func TestFireJSONIntoUsedMemory(t *testing.T) {
	eng := open(`
pre_tool_execution:
  - {name: shell, filter: {tool_name: Bash}, deny: 'tool_input.command contains "rm"', reason: no}
  - {name: any, ask: 'tool_input.command == "odd"', reason: sure}
`)
	defer eng.Close()
	var memory hookc.Reused
	for _, text := range []string{
		`{"tool_name":"Bash","tool_input":{"command":"ls"}}`,
		`{"tool_name":"Bash","tool_input":{"command":"rm x"}}`,
		`{"tool_name":"Edit","tool_input":{"command":"odd"}}`,
		`{"tool_name":"Bash",`,
		`{"tool_name":"Bash","tool_input":{"command":"odd"}}`,
		`{"tool_name":"Edit","tool_input":{}}`,
	} {
		want, wantErr := eng.FireJSON(t.Context(), hookc.PreToolExecution, []byte(text))
		got, err := eng.FireJSONInto(t.Context(), hookc.PreToolExecution, []byte(text), &memory)
		assert.Equal(t, wantErr, err, text)
		for _, d := range []*policy.Decision{want, got} {
			for i := range d.Hooks {
				d.Hooks[i].Micros = 0
			}
		}
		wantText, err := json.Marshal(want)
		require.NoError(t, err)
		gotText, err := json.Marshal(got)
		require.NoError(t, err)
		assert.Equal(t, string(wantText), string(gotText), text)
	}
}

// An event whose memory is the next one's is held by nobody: not where the host did not
// say that nothing keeps one, not where a hook that is no rule was given it, and not where the Decision's Final is another than the one decoded.
func TestFireJSONIntoOwnMemory(t *testing.T) {
	for _, c := range []struct {
		hook string
		own  bool
	}{
		{`{name: a, deny: 'tool_input.command contains "rm"', reason: no}`, true},
		{`{name: a, type: bash, command: "true"}`, false},
		{`{name: a, set: {tool_input.command: '"pwd"'}}`, false},
	} {
		for _, spare := range []bool{true, false} {
			eng := open("pre_tool_execution:\n  - "+c.hook+"\n", host.Execution[hookc.Option](func(o *executor.Options) { o.SpareEvents = spare }))
			var memory hookc.Reused
			final := func() *policy.Context {
				d, err := eng.FireJSONInto(t.Context(), hookc.PreToolExecution, []byte(`{"cwd":"/","tool_name":"Bash","tool_input":{"command":"ls"}}`), &memory)
				require.NoError(t, err, c.hook)
				return d.Final
			}
			first, again := final(), final()
			assert.Equal(t, c.own && spare, first == again, c.hook)
			in := policy.NewContext(hookc.PreToolExecution).Set(policy.FieldCwd, "/").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "ls"}).Frozen(hookc.PreToolExecution)
			_, err := eng.FireInto(t.Context(), hookc.PreToolExecution, in, &memory)
			require.NoError(t, err)
			assert.NotSame(t, in, final(), "the caller holds it")
			require.NoError(t, eng.Close())
		}
	}
}
