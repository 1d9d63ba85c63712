package hostile

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/source"
)

// guarded is the configuration of an agent with one guard that refuses every
// call of the shell, and the words of it that mistakes change.
type guarded struct {
	profile, file, event, text string
}

// settingsSay is what the guard of each project's settings says, and says how it
// does: by its exit code, or in the words of agents that do not take that one.
const (
	settingsSay = "the settings say no"
	byCode      = "cat > /dev/null; echo '" + settingsSay + "' >&2; exit 2"
	byAction    = `cat > /dev/null; echo '{\"action\": \"stop\", \"system_message\": \"` + settingsSay + `\"}'`
	byDecision  = `cat > /dev/null; echo '{\"permissionDecision\": \"deny\", \"permissionDecisionReason\": \"` + settingsSay + `\"}'`
)

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
	{"copilot", ".github/hooks/guards.json", "PreToolUse", `{"version": 1, "hooks": {"PreToolUse": [{"matcher": "Bash", ` + refuses + `}]}}`},
}

// mistake is a text in a configuration and what stands there instead; "*" is the
// whole text. unreadable is true where the file cannot
// be read as a whole.
type mistake struct {
	name, right, wrong string
	unreadable         bool
}

// otherNotations are the configurations that are no JSON, each with its own
// mistakes. none are the kinds of mistake that the format has no place for.
var otherNotations = []struct {
	profile, file string
	files         map[string]string
	mistakes      []mistake
	none          map[string]string
}{
	{"kimi", ".kimi/config.toml", map[string]string{".kimi/config.toml": "[[hooks]]\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\ncommand = \"echo no >&2; exit 2\"\n"}, []mistake{
		{"not TOML", `= "Bash"`, `= "Bash`, true},
		{"truncated", "exit 2\"\n", "ex", true},
		{"empty", "*", "", false},
		{"bad regular expression", `"Bash"`, `"Ba(sh"`, false},
		{"unknown event", "PreToolUse", "PreTolUse", false},
		{"missing command", "command =", "comand =", false},
		{"empty command", `"echo no >&2; exit 2"`, `""`, false},
		{"command of a number", `"echo no >&2; exit 2"`, "7", false},
		{"matcher of a list", `"Bash"`, `["Bash"]`, false},
		{"missing event", "event =", "evnt =", false},
		{"event of a number", `"PreToolUse"`, "7", false},
		{"one table", "[[hooks]]", "[hooks]", false},
		{"a value before", "[[hooks]]", "hooks = true\n[[hooks]]", true},
	}, map[string]string{"unknown type": "kimi-cli runs commands and nothing else"}},
	{"jcli", ".jcli/hooks.yaml", map[string]string{".jcli/hooks.yaml": "pre_tool_execution:\n  - type: bash\n    command: " + `"` + byAction + `"` + "\n    filter: {tool_matcher: Bash}\n"}, []mistake{
		{"not YAML", "{tool_matcher: Bash}", "{tool_matcher: Bash", true},
		{"truncated", "{tool_matcher: Bash}", "{too", true},
		{"empty", "*", "", true},
		{"unknown event", "pre_tool_execution", "pre_tol_execution", false},
		{"unknown type", "type: bash", "type: bsh", false},
		{"missing command", "command:", "comand:", false},
		{"empty command", `"` + byAction + `"`, `""`, false},
		{"command of a number", `"` + byAction + `"`, "[7]", false},
		{"matcher of a list", "Bash}", "[Bash]}", false},
		{"pattern for names", "Bash}", "Ba.*}", false},
		{"event of a map", "  - type", "    type", false},
		{"hooks of a list", "*", "- 1\n", false},
		{"unknown on_error", "    filter", "    on_error: deny\n    filter", false},
		{"filter of text", "{tool_matcher: Bash}", "Bash", false},
	}, map[string]string{"bad regular expression": "tool_matcher is a list of names"}},
	{"agenthooks", ".agents/hooks/g/HOOK.md", map[string]string{
		".agents/hooks/g/HOOK.md":        "---\nname: g\ndescription: d\ntrigger: pre-tool-call\nmatcher: {tool: Bash}\n---\n",
		".agents/hooks/g/scripts/run.sh": "#!/bin/sh\necho no >&2\nexit 2\n",
	}, []mistake{
		{"not YAML", "{tool: Bash}", "{tool: Bash", false},
		{"truncated", "{tool: Bash}\n---\n", "{to", false},
		{"empty", "*", "", false},
		{"bad regular expression", "Bash", "'Ba(sh'", false},
		{"unknown event", "pre-tool-call", "pre-tol-call", false},
		{"missing event", "trigger:", "triger:", false},
		{"matcher of a list", "{tool: Bash}", "[Bash]", false},
		{"tool of a list", "tool: Bash", "tool: [Bash]", false},
		{"event of a list", "pre-tool-call", "[pre-tool-call]", false},
		{"missing name", "name: g\n", "", false},
	}, map[string]string{"unknown type": "a folder holds scripts and nothing else", "missing command": "it is the file scripts/run, which TestOneBrokenHookMD leaves out"}},
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

// kindsOfMistake are tried with every agent, or have no place in its format.
var kindsOfMistake = []string{"bad regular expression", "unknown event", "unknown type", "missing command", "empty", "truncated"}

// TestNoMistakeInSettingsIsSilent tries each mistake in the configuration of
// each agent, hardened and faithful: what no longer refuses says so in the
// Decision. A file that cannot be read at all is an error when hardened, since
// it may have held guards.
func TestNoMistakeInSettingsIsSilent(t *testing.T) {
	for _, g := range configurations {
		whole, _ := decided(t, g.profile, g.file, map[string]string{g.file: g.text}, false)
		require.Equal(t, "refused", whole, "%s: the whole", g.profile)
		for _, m := range mistakes {
			text := m.make(g)
			require.NotEqual(t, g.text, text, m.name)
			saysMistake(t, g.profile, m.name, g.file, map[string]string{g.file: text}, m.unreadable)
		}
	}
	for _, g := range otherNotations {
		whole, _ := decided(t, g.profile, g.file, g.files, false)
		require.Equal(t, "refused", whole, "%s: the whole", g.profile)
		for _, m := range g.mistakes {
			files, text := maps.Clone(g.files), m.wrong
			if m.right != "*" {
				text = strings.Replace(g.files[g.file], m.right, m.wrong, 1)
			}
			require.NotEqual(t, g.files[g.file], text, m.name)
			files[g.file] = text
			saysMistake(t, g.profile, m.name, g.file, files, m.unreadable)
		}
	}
}

// TestMistakesOfEveryAgent: the tables leave out no agent, and no kind of mistake
// without a reason.
func TestMistakesOfEveryAgent(t *testing.T) {
	tried := map[string][]string{}
	for _, g := range configurations {
		for _, m := range mistakes {
			tried[g.profile] = append(tried[g.profile], m.name)
		}
	}
	for _, g := range otherNotations {
		for _, m := range g.mistakes {
			tried[g.profile] = append(tried[g.profile], m.name)
		}
		tried[g.profile] = append(tried[g.profile], slices.Sorted(maps.Keys(g.none))...)
	}
	for _, a := range agent.All() {
		if name, _, _ := strings.Cut(a.ID, "@"); a.Profile != nil {
			assert.Subset(t, tried[name], kindsOfMistake, a.ID)
		}
	}
}

// saysMistake tries one mistake, hardened and faithful.
func saysMistake(t *testing.T, profile, name, file string, files map[string]string, unreadable bool) {
	t.Helper()
	for _, faithful := range []bool{false, true} {
		got, said := decided(t, profile, file, files, faithful)
		assert.NotEqual(t, "proceeds", got, "%s, %s, faithful %v: %s", profile, name, faithful, files[file])
		for _, w := range said {
			assert.Regexp(t, "^HK[0-9]{3}$", w.Code.ID, "%s, %s", profile, name)
		}
		if unreadable && !faithful {
			assert.Equal(t, "an error", got, "%s, %s", profile, name)
		}
	}
}

// readers are those of configurations that are not called as their agents.
var readers = map[string]string{"jcli": "hooksyaml", "agenthooks": "hookmd"}

// decided is what a configuration makes of a call of the shell under its agent's
// profile, and what the Decision warns of.
func decided(t *testing.T, profile, file string, files map[string]string, faithful bool) (string, []policy.Warning) {
	t.Helper()
	dir := t.TempDir()
	lay(t, dir, files)
	in := source.Input{Path: filepath.Join(dir, filepath.FromSlash(file)), Tier: policy.TierUser, Format: cmp.Or(readers[profile], profile)}
	if profile == "agenthooks" {
		in.Path = filepath.Dir(filepath.Dir(in.Path))
	}
	eng, err := hookc.Open(t.Context(), hookc.Profile(profile, faithful), hookc.SkipVerify(), host.Input[hookc.Option](in))
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
