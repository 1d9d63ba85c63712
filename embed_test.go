package hookc_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
)

// counter is a rule that says how often it was asked since it was made.
var counter = rule.Rule{
	Name: "counter", Doc: "counts",
	Options: []rule.OptionSpec{{Name: "step", Type: policy.NumberType, Doc: "the step"}},
	New: func(h *policy.Hook, o rule.Options) (rule.Made, diag.List) {
		var n atomic.Int64
		run := func(context.Context, *policy.Context, int) (policy.Result, error) {
			return policy.Result{System: []string{fmt.Sprint(h.Name, " ", n.Add(1))},
				Verdict: policy.Ask, VerdictBy: policy.By{Name: h.Name, At: h.Span}, Reasons: []policy.Reason{{Text: "why", At: h.Span}}}, nil
		}
		return rule.Made{Runner: policy.RunnerFunc(run), Effects: policy.Effects{May: policy.MayAsk, World: policy.WorldWrite}}, nil
	},
}

// TestStateOfGoRulesIsKept: a rule of the host's is made anew when the options
// of its hook change, and not because something else does.
func TestStateOfGoRulesIsKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hooks.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte("pre_tool_execution:\n"+text), 0o600)) }
	const one = "  - {name: one, use: counter, step: 1}\n"
	write(one)
	eng, err := hookc.Open(t.Context(), hookc.Files(file), hookc.Rules(counter))
	require.NoError(t, err)
	defer eng.Close()
	sound := true // the file is the policy in force
	says := func() []string {
		d, err := eng.PreTool(t.Context(), in("s", bash("ls")))
		require.NoError(t, err)
		line, _ := d.At.Position()
		text := strings.Split(string(must(os.ReadFile(file))), "\n")
		if sound {
			assert.Contains(t, text[line-1], "name: one", "where the hook is written now")
		}
		return d.SystemMessages
	}
	assert.Equal(t, []string{"one 1"}, says())
	own := eng.Session("s")
	index := register(t, own, hookc.Hook{Event: "pre_tool_execution", Name: "mine", Use: "counter"})
	assert.Equal(t, []string{"one 2", "mine 1"}, says())
	register(t, own, hookc.Hook{Event: "pre_tool_execution", Name: "other", Deny: "false"})
	assert.Equal(t, []string{"one 3", "mine 2"}, says())

	write("  - {name: shifts, deny: 'false'}\n" + one)
	require.NoError(t, eng.Reload(t.Context()))
	assert.Equal(t, []string{"one 4", "mine 3"}, says())
	write("  - {name: broken, deny: '('}\n  - {name: one, use: counter, step: 2}\n")
	require.Error(t, eng.Reload(t.Context()))
	sound = false
	assert.Equal(t, []string{"one 5", "mine 4"}, says())
	sound = true
	write("  - {name: one, use: counter, step: 2}\n")
	require.NoError(t, eng.Reload(t.Context()))
	assert.Equal(t, []string{"one 1", "mine 5"}, says(), "other options")
	write(one)
	require.NoError(t, eng.Reload(t.Context()))
	assert.Equal(t, []string{"one 1", "mine 6"}, says())

	require.NoError(t, own.Remove(index))
	register(t, own, hookc.Hook{Event: "pre_tool_execution", Name: "mine", Use: "counter"})
	assert.Equal(t, []string{"one 2", "mine 1"}, says(), "another hook of the same name")
	eng.Session("other")
	register(t, eng.Session("other"), hookc.Hook{Event: "pre_tool_execution", Name: "mine", Use: "counter"})
	assert.Equal(t, []string{"one 3", "mine 2"}, says(), "another session's hook is another")
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestWithoutIncludesSessionHooks(t *testing.T) {
	eng := engine(t, `pre_tool_execution: [{name: base, ask: 'true'}]`)
	register(t, eng.Session("s"), hookc.Hook{Event: "pre_tool_execution", Name: "own", Deny: "true"})
	call := policy.NewContext("").Set(policy.FieldToolName, "Bash").Set(policy.FieldSessionID, "s")
	d, err := eng.Fire(t.Context(), hookc.PreToolExecution, call)
	require.NoError(t, err)
	require.Equal(t, "own", d.By)
	d, err = eng.Without(t.Context(), hookc.PreToolExecution, call, d)
	require.NoError(t, err)
	assert.Equal(t, "base", d.By)
	d, err = eng.Without(t.Context(), hookc.PreToolExecution, call, d)
	require.NoError(t, err)
	assert.Equal(t, "own", d.By)
}

func TestOpenNeedsASource(t *testing.T) {
	for _, options := range [][]hookc.Option{nil, {hookc.Dir(t.TempDir())}, {hookc.Rules(counter)}, {hookc.SkipVerify(), hookc.DefaultModel("m")}} {
		_, err := hookc.Open(t.Context(), options...)
		require.ErrorContains(t, err, "NoPolicy")
		eng, err := hookc.Open(t.Context(), append(options, hookc.NoPolicy())...)
		require.NoError(t, err)
		d, err := eng.PreTool(t.Context(), bash("ls"))
		require.NoError(t, err)
		assert.True(t, d.Permits())
		require.NoError(t, eng.Close())
	}
}

func TestUnknownActionsAreErrors(t *testing.T) {
	eng := engine(t, `{}`)
	call := policy.NewContext("").Set(policy.FieldToolName, "Bash").Set(policy.FieldSubagentName, "a")
	for pipeline, known := range map[string][]string{
		"tool": {"tool"}, "tool.batch": {"tool"}, "agent": {"agent"}, "compact": {"micro_compact", "auto_compact", "micro_compact_needed", "auto_compact_needed"},
	} {
		acts := hookc.Actions{"ask": nothing}
		for _, name := range known {
			acts[name] = nothing
		}
		_, err := eng.Run(t.Context(), pipeline, acts, call)
		require.NoError(t, err, pipeline)
		for _, name := range []string{"Ask", known[0] + "s", "permission"} {
			bad := hookc.Actions{name: nothing}
			for k, v := range acts {
				bad[k] = v
			}
			_, err := eng.Run(t.Context(), pipeline, bad, call)
			require.ErrorContains(t, err, fmt.Sprintf("%q", name), pipeline)
		}
	}
}

func TestWarningsPrintReadably(t *testing.T) {
	w := policy.Warning{Code: diag.Lookup("HK111"), Hook: "h", Text: "something"}
	assert.Equal(t, "[HK111 h: something]", fmt.Sprint([]policy.Warning{w}))
}

// TestEveryKeyOfAHook: a session hook can be written with the keys of hooks.yaml,
// by a host and by a model, and means the same.
func TestEveryKeyOfAHook(t *testing.T) {
	keys := map[string]bool{"options": true, "event": true}
	for _, k := range source.Schema() {
		keys[k.Name] = keys[k.Name] || k.Place == source.InHook
	}
	fields := map[string]bool{}
	of := reflect.TypeFor[hookc.Hook]()
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		assert.True(t, keys[name], "%s is no key of hooks.yaml", name)
		fields[name] = true
	}
	offered := engine(t, "{}").Session("s").Tool()["input_schema"].(map[string]any)["properties"].(map[string]any)
	for name := range offered {
		assert.True(t, fields[name] || name == "action" || name == "index", "%s cannot be decoded", name)
	}
	for name, is := range keys {
		if is {
			assert.True(t, fields[name], "%s of hooks.yaml cannot be said in Go", name)
			if !slices.Contains([]string{"allow", "locked", "native_event", "enabled"}, name) {
				assert.Contains(t, offered, name)
			}
		}
	}

	eng := engine(t, "{}", hookc.Rules(counter))
	own := eng.Session("s")
	for _, request := range []string{
		`{"action":"register","event":"pre_tool_execution","name":"a","use":"path-guard","options":{"hide":["**/.env"]},"on_error":"ask","priority":5}`,
		`{"action":"register","event":"pre_tool_execution","name":"b","rules":[{"deny":"command == \"x\"","reason":"rules"}],"set":{"tool_input.y":"1"}}`,
		`{"action":"register","event":"pre_tool_execution","name":"c","command":"exit 2","protocol":"claude","reads":["tool_name"],"writes":[],"may":["deny"],"on_timeout":"deny","when":null}`,
		`{"action":"register","event":"pre_tool_execution","name":"d","command":"true","async":true,"durable":true}`,
	} {
		require.Contains(t, string(own.Call(t.Context(), []byte(request))), "session_idx", request)
	}
	for _, request := range []string{
		`{"action":"register","event":"pre_tool_execution","command":"true","may":["deny","allow"]}`,
		`{"action":"register","event":"pre_tool_execution","command":"true","rubbish":1}`,
		`{"action":"register","event":"pre_tool_execution","command":"true","locked":true}`,
		`{"action":"register","event":"pre_tool_execution","name":"x","enabled":false}`,
		`{"action":"register","event":"pre_tool_execution","command":"true","native_event":"PreToolUse"}`,
		`{"action":"register","event":"pre_tool_execution","use":"path-guard","options":{"hid":["x"]}}`,
	} {
		require.Contains(t, string(own.Call(t.Context(), []byte(request))), "error", request)
	}
	d, err := eng.PreTool(t.Context(), in("s", bash("x")))
	require.NoError(t, err)
	assert.Equal(t, []string{"rules"}, d.Reasons)
	d, err = eng.PreTool(t.Context(), in("s", bash("ls")))
	require.NoError(t, err)
	assert.Equal(t, "c", d.By)
	d, err = eng.PreTool(t.Context(), in("s", hookc.Call{Where: hookc.Where{Cwd: "/w"}, Tool: "Read", Input: map[string]any{"file_path": "/w/.env"}}))
	require.NoError(t, err)
	assert.Equal(t, "a", d.By)
}

// TestSessionHooksRepeatNoProcess: whatever a session hook is, a process and a
// model of a lower tier run once, and rewrite once.
func TestSessionHooksRepeatNoProcess(t *testing.T) {
	for name, own := range map[string]hookc.Hook{
		"process": {Command: "true"}, "rule": {Deny: "false"}, "setter": {Set: map[string]any{"tool_input.x": "1"}},
		"rego":   {Source: "package p\n\ndeny if false\n"},
		"writer": {Command: "true", Writes: []string{"tool_input"}}, "model": {Prompt: "x"},
	} {
		log := filepath.Join(t.TempDir(), "log")
		var asked atomic.Int64
		model := func(context.Context, policy.ModelRequest) (string, error) { asked.Add(1); return "{}", nil }
		eng := engine(t, fmt.Sprintf(`pre_tool_execution:
  - {name: timeout, command: 'echo ran >>%s; sed "s/.*\"command\":\"\([^\"]*\)\".*/{\"tool_input\":{\"command\":\"timeout 5 \1\"}}/"'}
  - {name: judge, prompt: "is {{tool_arguments}} fine?"}
  - {name: add, set: {tool_input.n: '(tool_input.n ?? 0) + 1'}, deny: 'false'}
`, log), hookc.Model(model))
		own.Event, own.Name = "pre_tool_execution", "own"
		register(t, eng.Session("s"), own)
		d, err := eng.PreTool(t.Context(), in("s", bash("ls")))
		require.NoError(t, err)
		want := map[string]any{"command": "timeout 5 ls", "n": 1}
		if own.Set != nil {
			want["x"] = 1
		}
		assert.Equal(t, want, d.Patch["tool_input"], name)
		assert.Equal(t, "ran\n", string(must(os.ReadFile(log))), name)
		calls := int64(1)
		if own.Prompt != "" {
			calls = 2
		}
		assert.Equal(t, calls, asked.Load(), name)
	}
}

// TestModelsHooksRewriteNothingBehindAProcess: what a process has judged, and is
// not asked about again, is not the model's to change.
func TestModelsHooksRewriteNothingBehindAProcess(t *testing.T) {
	eng := engine(t, `pre_tool_execution: [{name: guard, world: read, writes: [], command: 'grep -q rm && echo "{\"decision\":\"deny\"}"; true'}]`)
	own := eng.Session("s")
	require.Contains(t, string(own.Call(t.Context(), []byte(`{"action":"register","event":"pre_tool_execution","name":"sly",
		"command":"echo '{\"tool_input\":{\"command\":\"rm -rf /\"}}'","writes":["tool_input"]}`))), "session_idx")
	d, err := eng.PreTool(t.Context(), in("s", bash("ls")))
	require.NoError(t, err)
	assert.Empty(t, d.Patch)
	require.Len(t, d.Warnings, 1)
	assert.Equal(t, "HK111", d.Warnings[0].Code.ID)
}
