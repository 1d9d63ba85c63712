package vectors

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/tests/depth"
)

// nativeConfig writes a random configuration of one agent: an event and the
// hooks on it.
type nativeConfig struct {
	agent, format, file string
	// events are names of events, each with the one canonical event it is.
	events map[string]policy.Event
	// says are answers its hooks give.
	says []string
	// write is the file.
	write func(rng *rand.Rand, event string, commands []string) string
}

var nativeMatchers = []string{"", "*", "Bash", "Bash|Edit", "Ba.*", "^Read$", "Edit"}

// grouped writes groups of hooks as Claude Code and Codex have them.
func grouped(rng *rand.Rand, event string, commands []string) string {
	var groups []any
	for _, c := range commands {
		hook := map[string]any{"type": "command", "command": c}
		if rng.IntN(4) == 0 {
			hook["timeout"] = 20
		}
		groups = append(groups, map[string]any{"matcher": nativeMatchers[rng.IntN(len(nativeMatchers))], "hooks": []any{hook}})
	}
	return inJSON(map[string]any{"hooks": map[string]any{event: groups}})
}

// flat writes hooks in a list, the command under a key.
func flat(key string) func(*rand.Rand, string, []string) string {
	return func(_ *rand.Rand, event string, commands []string) string {
		var hooks []any
		for _, c := range commands {
			hooks = append(hooks, map[string]any{"type": "command", key: c})
		}
		return inJSON(map[string]any{"version": 1, "hooks": map[string]any{event: hooks}})
	}
}

var claudeSays = []string{
	"printf '%s' '{\"decision\":\"block\",\"reason\":\"r\"}'", "echo no >&2; exit 2", "exit 1", "echo text", "printf '{bad}'",
	"printf '%s' '{\"continue\":false,\"stopReason\":\"s\"}'", "printf '%s' '{\"systemMessage\":\"m\"}'",
	"printf '%s' '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\",\"updatedInput\":{\"command\":\"b\"}}}'",
	"printf '%s' '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"ask\",\"permissionDecisionReason\":\"q\",\"updatedInput\":{\"x\":1}}}'",
	"printf '%s' '{\"hookSpecificOutput\":{\"hookEventName\":\"Stop\",\"additionalContext\":\"c\"}}'",
	"printf '%s' '{\"hookSpecificOutput\":{\"hookEventName\":\"UserPromptSubmit\",\"additionalContext\":\"c\"}}'",
}

var nativeConfigs = []nativeConfig{
	{"claude", "claude", ".claude/settings.json", map[string]policy.Event{"PreToolUse": policy.PreToolExecution, "Stop": policy.StopEvent,
		"UserPromptSubmit": policy.PreSendMessage, "PostToolUse": policy.PostToolExecution}, claudeSays, grouped},
	{"claude@2.1.240", "claude", ".claude/settings.json", map[string]policy.Event{"PreToolUse": policy.PreToolExecution, "Stop": policy.StopEvent}, claudeSays, grouped},
	{"codex", "codex", ".codex/hooks.json", map[string]policy.Event{"PreToolUse": policy.PreToolExecution, "Stop": policy.StopEvent,
		"UserPromptSubmit": policy.PreSendMessage, "PostToolUse": policy.PostToolExecution}, claudeSays, grouped},
	{"kimi", "kimi", ".kimi/config.toml", map[string]policy.Event{"PreToolUse": policy.PreToolExecution, "Stop": policy.StopEvent},
		append([]string{`printf '{"hookSpecificOutput":null}'`, `printf '{"hookSpecificOutput":{"permissionDecision":"deny"}}'`}, claudeSays...),
		func(rng *rand.Rand, event string, commands []string) string {
			var b strings.Builder
			for _, c := range commands {
				fmt.Fprintf(&b, "[[hooks]]\nevent = %q\nmatcher = %q\ncommand = '''%s'''\n", event, []string{"", "Bash", "a", "Z"}[rng.IntN(4)], c)
			}
			return b.String()
		}},
	{"cursor", "cursor", ".cursor/hooks.json", map[string]policy.Event{"preToolUse": policy.PreToolExecution, "stop": policy.StopEvent},
		[]string{`printf '{"permission":"deny","user_message":"u"}'`, `printf '{"permission":"ask"}'`, `printf '{"updated_input":{"a":1}}'`,
			`printf '{"followup_message":"f"}'`, "exit 2", "exit 1", "echo x"}, flat("command")},
	{"copilot", "copilot", ".github/hooks/a.json", map[string]policy.Event{"preToolUse": policy.PreToolExecution, "agentStop": policy.StopEvent},
		[]string{`printf '{"permissionDecision":"deny","permissionDecisionReason":"r"}'`, `printf '{"permissionDecision":"ask"}'`,
			`printf '{"modifiedArgs":{"a":1}}'`, `printf '{"decision":"block","reason":"r"}'`, "exit 2", "echo x"}, flat("bash")},
}

// TestNativeAsIfSerial compiles random configurations of agents, which
// validates each plan against the serial definition, and fires some of them
// both ways.
func TestNativeAsIfSerial(t *testing.T) {
	t.Parallel()
	for _, c := range nativeConfigs {
		t.Run(c.agent, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(5, uint64(len(c.agent))))
			for i := range depth.Daily(6) {
				for _, native := range sorted(anyKeys(c.events)) {
					c.compare(t, rng, native, i < 3)
				}
			}
		})
	}
}

func anyKeys(m map[string]policy.Event) map[string]any {
	out := map[string]any{}
	for k := range m {
		out[k] = nil
	}
	return out
}

func (c *nativeConfig) compare(t *testing.T, rng *rand.Rand, native string, fire bool) {
	t.Helper()
	var commands []string
	for i := range 2 + rng.IntN(3) {
		commands = append(commands, fmt.Sprintf(": %d; %s", i, c.says[rng.IntN(len(c.says))]))
	}
	text := c.write(rng, native, commands)
	dir := t.TempDir()
	options := []hookc.Option{hookc.Profile(c.agent, rng.IntN(2) == 0), hookc.Dir(dir),
		host.Input[hookc.Option](source.Input{Path: filepath.Join(dir, c.file), Tier: policy.TierProject, Format: c.format, Content: []byte(text)})}
	if !fire {
		_, found := hookc.Compile(options...)
		require.False(t, found.HasErrors(), "%s\n%s", text, found.Render())
		return
	}
	eng, err := hookc.Open(t.Context(), options...)
	require.NoError(t, err, text)
	defer func() { assert.NoError(t, eng.Close()) }()
	event := c.events[native]
	in := policy.NewContext("").
		Set(policy.FieldCwd, dir).
		Set(policy.FieldToolName, "Bash").
		Set(policy.FieldToolInput, map[string]any{"command": "a"}).
		Set(policy.FieldToolResult, "out").
		Set(policy.FieldUserInput, "p").Frozen(event)
	one, err := eng.Fire(t.Context(), event, in)
	require.NoError(t, err)
	two, err := eng.FireSerial(t.Context(), event, in)
	require.NoError(t, err)
	assert.Equal(t, untimed(t, two), untimed(t, one), text)
}

// untimed is a Decision without how long its hooks took.
func untimed(t *testing.T, d *policy.Decision) map[string]any {
	t.Helper()
	text, err := d.MarshalJSON()
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(text, &out))
	hooks, _ := out["hooks"].([]any)
	for _, h := range hooks {
		delete(h.(map[string]any), "us")
	}
	return out
}
