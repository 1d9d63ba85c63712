package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/format"
)

// guarded is the configuration of an agent with one guard that refuses every
// call of the shell, and the words of it that mistakes change.
type guarded struct {
	profile, file, event, text string
}

const refuses = `"type": "command", "command": "echo no >&2; exit 2"`

func groups(event, tool string) string {
	return fmt.Sprintf(`{"hooks": {"%s": [{"matcher": "%s", "hooks": [{%s}]}]}}`, event, tool, refuses)
}

var configurations = []guarded{
	{"claude", ".claude/settings.json", "PreToolUse", groups("PreToolUse", "Bash")},
	{"qwen", ".qwen/settings.json", "PreToolUse", groups("PreToolUse", "Bash")},
	{"codex", ".codex/hooks.json", "PreToolUse", groups("PreToolUse", "Bash")},
	{"clawdcode", ".clawdcode/settings.json", "PreToolUse", groups("PreToolUse", "Bash")},
	{"aiagents", ".ai_agents/settings.json", "PreToolUse", groups("PreToolUse", "Bash")},
	{"gemini", ".gemini/settings.json", "BeforeTool", groups("BeforeTool", "Bash")},
	{"cursor", ".cursor/hooks.json", "preToolUse", `{"version": 1, "hooks": {"preToolUse": [{"matcher": "Bash", ` + refuses + `}]}}`},
}

// mistakes are what is wrong with a configuration, each with how.
var mistakes = []struct {
	name string
	make func(g guarded) string
	// unreadable is true where the file cannot be read as a whole.
	unreadable bool
}{
	{"trailing comma", func(g guarded) string { return strings.Replace(g.text, "}]", "},]", 1) }, true},
	{"bad regular expression", func(g guarded) string { return strings.Replace(g.text, `"Bash"`, `"Ba(sh"`, 1) }, false},
	{"unknown event", func(g guarded) string { return strings.Replace(g.text, g.event, "PreTolUse", 1) }, false},
	{"unknown type", func(g guarded) string { return strings.Replace(g.text, `"type": "command"`, `"type": "comand"`, 1) }, false},
	{"missing command", func(g guarded) string { return strings.Replace(g.text, `"command": "echo`, `"comand": "echo`, 1) }, false},
	{"empty command", func(g guarded) string { return strings.Replace(g.text, `"echo no >&2; exit 2"`, `""`, 1) }, false},
	{"command of a number", func(g guarded) string { return strings.Replace(g.text, `"echo no >&2; exit 2"`, `7`, 1) }, false},
	{"matcher of a list", func(g guarded) string { return strings.Replace(g.text, `"Bash"`, `["Bash"]`, 1) }, false},
	{"event of a map", func(g guarded) string {
		return strings.Replace(strings.Replace(g.text, `": [{"matcher`, `": {"a": {"matcher`, 1), "}]}}", "}}}}", 1)
	}, false},
	{"hooks of a list", func(g guarded) string { return `{"hooks": [1]}` }, false},
	{"a list", func(g guarded) string { return "[" + g.text + "]" }, false},
	{"truncated", func(g guarded) string { return g.text[:len(g.text)-9] }, true},
	{"empty", func(guarded) string { return "" }, true},
	{"comment", func(g guarded) string { return "// guards\n" + g.text }, false},
	{"byte order mark", func(g guarded) string { return "\ufeff" + g.text }, false},
	{"duplicate key", func(g guarded) string { return strings.Replace(g.text, `"hooks": {`, `"hooks": {}, "hooks": {`, 1) }, false},
	{"duplicate key after", func(g guarded) string { return g.text[:len(g.text)-1] + `, "hooks": {}}` }, false},
}

// TestNoMistakeInSettingsIsSilent tries each mistake in the configuration of
// each agent, hardened and faithful: what no longer refuses says so in the
// Decision. A file that cannot be read at all is an error when hardened, since
// it may have held guards.
func TestNoMistakeInSettingsIsSilent(t *testing.T) {
	for _, g := range configurations {
		whole, _ := decided(t, g, g.text, false)
		require.Equal(t, "refused", whole, "%s: the whole", g.profile)
		for _, m := range mistakes {
			text := m.make(g)
			require.NotEqual(t, g.text, text, m.name)
			for _, faithful := range []bool{false, true} {
				got, said := decided(t, g, text, faithful)
				assert.NotEqual(t, "proceeds", got, "%s, %s, faithful %v: %s", g.profile, m.name, faithful, text)
				for _, w := range said {
					assert.Regexp(t, "^HK[0-9]{3}$", w.Code.ID, "%s, %s", g.profile, m.name)
				}
				if m.unreadable && !faithful {
					assert.Equal(t, "an error", got, "%s, %s", g.profile, m.name)
				}
			}
		}
	}
}

// decided is what a configuration makes of a call of the shell under its agent's
// profile, and what the Decision warns of.
func decided(t *testing.T, g guarded, text string, faithful bool) (string, []policy.Warning) {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.FromSlash(g.file))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	eng, err := hookc.Open(t.Context(), hookc.Profile(g.profile, faithful), hookc.SkipVerify(),
		hookc.Input(format.Input{Path: path, Tier: policy.TierUser, Format: formatOf(g)}))
	if err != nil {
		return "an error", nil
	}
	defer eng.Close()
	d, err := eng.PreTool(t.Context(), shell("rm -rf /"))
	require.NoError(t, err)
	switch {
	case !d.Permits():
		return "refused", d.Warnings
	case len(d.Warnings) > 0:
		return "declared", d.Warnings
	}
	return "proceeds", nil
}

// formatOf is the reader of an agent's configuration.
func formatOf(g guarded) string { return g.profile }

// TestOneBrokenHookMD: a HOOK.md that cannot be read refuses at its own event,
// and other events go on.
func TestOneBrokenHookMD(t *testing.T) {
	for name, text := range map[string]string{
		"timeout":     "---\nname: log\ndescription: d\ntrigger: pre-tool-call\ntimeout: soon\n---\n",
		"not closed":  "---\nname: log\ndescription: d\ntrigger: pre-tool-call\n",
		"matcher":     "---\nname: log\ndescription: d\ntrigger: pre-tool-call\nmatcher: {tool: '('}\n---\n",
		"not YAML":    "---\nname: [log\ntrigger: pre-tool-call\n---\n",
		"bad trigger": "---\nname: log\ndescription: d\ntrigger: pre-tool-cal\n---\n",
		"empty":       "",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			lay(t, dir, map[string]string{"log/HOOK.md": text, "log/scripts/run.sh": "#!/bin/sh\n", "tell/scripts/run.sh": "#!/bin/sh\n",
				"tell/HOOK.md": "---\nname: tell\ndescription: d\ntrigger: post-tool-call\n---\n"})
			_, found := hookc.Load(hookc.Files(dir))
			require.True(t, found.HasErrors(), "check says so")
			eng, err := hookc.Open(t.Context(), hookc.Files(dir), hookc.SkipVerify())
			require.NoError(t, err)
			defer eng.Close()
			d, err := eng.PreTool(t.Context(), shell("ls"))
			require.NoError(t, err)
			require.False(t, d.Permits())
			require.Contains(t, strings.Join(d.Reasons, " "), "HOOK.md")
			for _, event := range []policy.Event{hookc.PostToolExecution, hookc.StopEvent, hookc.SessionStart} {
				in := policy.NewContext(event)
				in.Set(policy.FieldToolName, "Bash")
				d, err := eng.Fire(t.Context(), event, in)
				require.NoError(t, err)
				require.True(t, d.Permits(), "%s", event)
			}
		})
	}
}
