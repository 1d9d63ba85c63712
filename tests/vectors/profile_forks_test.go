package vectors

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/tests/depth"
)

// forkEvents are events of Gemini CLI and Qwen Code, each with what it carries.
var forkEvents = map[string][]struct {
	native string
	event  policy.Event
	fields map[policy.Field]any
}{
	"gemini": {
		{"BeforeTool", policy.PreToolExecution, map[policy.Field]any{policy.FieldToolInput: map[string]any{"a": "b"}}},
		{"AfterTool", policy.PostToolExecution, map[policy.Field]any{policy.FieldToolInput: map[string]any{}, policy.FieldToolResult: "r"}},
		{"BeforeAgent", policy.PreSendMessage, map[policy.Field]any{policy.FieldUserInput: "hello"}},
		{"BeforeModel", policy.PreLLMRequest, map[policy.Field]any{policy.FieldModel: "m", policy.FieldMessages: []any{}}},
		{"BeforeToolSelection", policy.ToolSelection, nil},
		{"AfterAgent", policy.StopEvent, map[policy.Field]any{policy.FieldUserInput: "hello"}},
	},
	"qwen": {
		{"PreToolUse", policy.PreToolExecution, map[policy.Field]any{policy.FieldToolInput: map[string]any{"a": "b"}}},
		{"UserPromptSubmit", policy.PreSendMessage, map[policy.Field]any{policy.FieldUserInput: "hello"}},
		{"PermissionRequest", policy.PermissionRequest, map[policy.Field]any{policy.FieldToolInput: map[string]any{}}},
		{"Stop", policy.StopEvent, nil},
	},
}

// forkAnswers are commands; %d makes them differ.
var forkAnswers = []string{
	`echo '{"decision":"deny","reason":"no %d"}'`,
	`echo '{"decision":"allow","systemMessage":"m%d"}'`,
	`echo '{"continue":false,"stopReason":"s%d"}'`,
	`echo '{"hookSpecificOutput":{"tool_input":{"k%d":1},"additionalContext":"c","llm_request":{"model":"n"}}}'`,
	`echo '{"hookSpecificOutput":"x%d"}'`,
	`if grep -q '"k1"\|model":"n"'; then echo '{"decision":"block","reason":"seen %d"}'; fi`,
	`echo '{"hookSpecificOutput":{"toolConfig":{"mode":"ANY","allowedFunctionNames":["t%d"]},"permissionDecision":"ask"}}'`,
	`echo text %d; exit 3`,
	`exit 2 # %d`,
}

// forkSettings is a random configuration of one event.
func forkSettings(rng *rand.Rand, native string) []byte {
	var groups []any
	matchers := []any{nil, "write_file", "^(write_file|read_file)$", "read", "*", "(?i)x", "^(?!read)"}
	for range 1 + rng.IntN(3) {
		group := map[string]any{}
		if m := matchers[rng.IntN(len(matchers))]; m != nil {
			group["matcher"] = m
		}
		if rng.IntN(3) == 0 {
			group["sequential"] = true
		}
		var hooks []any
		for range 1 + rng.IntN(2) {
			hooks = append(hooks, map[string]any{"type": "command",
				"command": fmt.Sprintf(forkAnswers[rng.IntN(len(forkAnswers))], rng.IntN(3))})
		}
		group["hooks"] = hooks
		groups = append(groups, group)
	}
	text, err := json.Marshal(map[string]any{"hooks": map[string]any{native: groups}})
	if err != nil {
		panic(err)
	}
	return text
}

// TestForksAreAsIfSerial runs random configurations of Gemini CLI and Qwen
// Code: their plans are validated against the definition when compiled, and
// what the scheduler decides with real processes is what the definition does.
func TestForksAreAsIfSerial(t *testing.T) {
	t.Parallel()
	for id, events := range forkEvents {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			for seed := range depth.Of(uint64(24)) {
				rng := rand.New(rand.NewPCG(seed, 7))
				e := events[int(seed)%len(events)]
				settings := forkSettings(rng, e.native)
				engine, err := hookc.Open(t.Context(), hookc.Dir(t.TempDir()), hookc.Profile(id, seed%2 == 0),
					host.Input[hookc.Option](source.Input{Path: "settings.json", Tier: policy.TierProject, Format: id, Content: settings}))
				require.NoError(t, err, "%s", settings)
				in := policy.NewContext(e.event).Set(policy.FieldCwd, t.TempDir()).Set(policy.FieldToolName, []string{"write_file", "read_file", "x"}[rng.IntN(3)])
				for f, v := range e.fields {
					in = in.Set(f, v)
				}
				got, err := engine.Fire(t.Context(), e.event, in)
				require.NoError(t, err)
				want, err := engine.FireSerial(t.Context(), e.event, in)
				require.NoError(t, err)
				assert.Equal(t, withoutTimes(t, want), withoutTimes(t, got), "seed %d: %s", seed, settings)
				require.NoError(t, engine.Close())
			}
		})
	}
}

func withoutTimes(t *testing.T, d *policy.Decision) any {
	t.Helper()
	for i := range d.Hooks {
		d.Hooks[i].Micros = 0
	}
	text, err := d.MarshalJSON()
	require.NoError(t, err)
	v, err := policy.DecodeJSON(text)
	require.NoError(t, err)
	return v
}

// TestForkSessionHooksCount: what an agent registers at run time counts beside
// the hooks of the agent's own settings, and its change of the input is not
// lost.
func TestForkSessionHooksCount(t *testing.T) {
	settings := `{"hooks": {"BeforeTool": [{"sequential": true, "hooks": [{"type": "command", "command": "echo '{\"hookSpecificOutput\":{\"tool_input\":{\"a\":1}}}'"}]}]}}`
	engine, err := hookc.Open(t.Context(), hookc.Dir(t.TempDir()), hookc.Profile("gemini", false),
		host.Input[hookc.Option](source.Input{Path: "settings.json", Tier: policy.TierProject, Format: "gemini", Content: []byte(settings)}),
		host.Input[hookc.Option](source.Input{Path: "session.yaml", Tier: policy.TierSession, Content: []byte("pre_tool_execution:\n  - {name: mask, type: expr, set: {tool_input.b: '2'}}\n")}))
	require.NoError(t, err)
	defer engine.Close()
	d, err := engine.Fire(t.Context(), policy.PreToolExecution, policy.NewContext("").
		Set(policy.FieldToolName, "write_file").
		Set(policy.FieldToolInput, map[string]any{"old": true}).
		Set(policy.FieldCwd, t.TempDir()))
	require.NoError(t, err)
	assert.Equal(t, policy.Proceed, d.Action)
	assert.True(t, policy.SameValue(map[string]any{"tool_input": map[string]any{"a": 1, "b": 2}}, d.Patch), "%v", d.Patch)
}
