//go:build unix

package hostile

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/tests/programs"
)

func grouped(event, matcher string) string {
	return fmt.Sprintf(`{"hooks": {"%s": [{"matcher": "%s", "hooks": [{"type": "command", "command": "%s"}]}]}}`, event, matcher, byCode)
}

// projectSettings are the files of a project in which agents look for hooks, each
// with one guard in the agent's own format, and what such a file is without it.
var projectSettings = map[string]map[string]struct{ guard, empty string }{
	"claude": {".claude/settings.json": {grouped("PreToolUse", "Bash"), "{}"}, ".claude/settings.local.json": {grouped("PreToolUse", "Bash"), "{}"}},
	"gemini": {".gemini/settings.json": {grouped("BeforeTool", ".*"), "{}"}},
	"qwen":   {".qwen/settings.json": {grouped("PreToolUse", "Bash"), "{}"}},
	"clawdcode": {
		".clawdcode/settings.json": {grouped("PreToolUse", "Bash"), "{}"}, ".clawdcode/settings.local.json": {grouped("PreToolUse", "Bash"), "{}"},
		".clawdcode/config.json": {grouped("PreToolUse", "Bash"), "{}"}},
	"aiagents": {".ai_agents/settings.json": {grouped("PreToolUse", "Bash"), "{}"}, ".ai_agents/settings.local.json": {grouped("PreToolUse", "Bash"), "{}"}},
	"codex": {".codex/hooks.json": {grouped("PreToolUse", "Bash"), "{}"},
		".codex/config.toml": {"[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = '''\n" + byCode + "'''\n", "\n"}},
	"cursor":  {".cursor/hooks.json": {`{"version": 1, "hooks": {"preToolUse": [{"matcher": "Bash", "command": "` + byCode + `"}]}}`, `{"version": 1, "hooks": {}}`}},
	"copilot": {".github/hooks/a.json": {`{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "` + byDecision + `"}]}}`, `{"version": 1, "hooks": {}}`}},
	"jcli": {".jcli/hooks.yaml": {"pre_tool_execution:\n  - {command: \"" + byAction + "\"}\n", "pre_tool_execution: []\n"},
		".jcli/hooks/g/HOOK.yaml": {"events: [pre_tool_execution]\ncommand: \"" + byAction + "\"\n", "events: [stop]\ncommand: cat\n"}},
	"agenthooks": {".agents/hooks/g/HOOK.md": {"---\nname: g\ndescription: d\ntrigger: pre-tool-call\n---\n", "---\nname: g\ndescription: d\ntrigger: post-tool-call\n---\n"}},
}

// TestEverySettingsFileIsTried: the table names each place of a project where an
// agent looks, so that none is left out.
func TestEverySettingsFileIsTried(t *testing.T) {
	for _, a := range agent.All() {
		if a.Profile == nil || strings.Contains(a.ID, "@") {
			continue
		}
		for _, f := range a.Files {
			if f.Tier < policy.TierProject || f.Format == "hookstoml" { // which holds no hooks
				continue
			}
			assert.True(t, slices.ContainsFunc(slices.Sorted(maps.Keys(projectSettings[a.ID])), func(name string) bool {
				tried, err := filepath.Match(f.Path, name)
				return err == nil && tried || strings.HasPrefix(name, f.Path+"/")
			}), "%s: %s", a.ID, f.Path)
		}
	}
}

// TestTrustOfAgentsSettings: the guards in a project's settings for an agent run
// under its profile after `hookc trust` and not before; once a file is edited or
// gone, the kept copy decides and the answer names the file; and no more once the
// consent is withdrawn.
func TestTrustOfAgentsSettings(t *testing.T) {
	for _, a := range agent.All() {
		i := slices.IndexFunc(a.Natives(), func(native string) bool {
			return slices.Contains(a.EventsOf(native), policy.PreToolExecution) && (a.ID != "cursor" || native == "preToolUse")
		})
		for _, file := range slices.Sorted(maps.Keys(projectSettings[a.ID])) {
			t.Run(a.ID+" "+file, func(t *testing.T) {
				t.Parallel()
				native, texts := a.Natives()[i], projectSettings[a.ID][file]
				h := newHouse(t)
				require.NoError(t, os.RemoveAll(filepath.Join(h.home, ".config")))
				require.NoError(t, put(h.project, file, texts.guard))
				if a.ID == "agenthooks" {
					require.NoError(t, put(h.project, ".agents/hooks/g/scripts/run.sh", "#!/bin/sh\n"+byCode+"\n"))
					require.NoError(t, os.Chmod(filepath.Join(h.project, ".agents/hooks/g/scripts/run.sh"), 0o755))
				}
				tool := "Bash"
				if a.ID == "gemini" {
					tool = "run_shell_command"
				}
				ask := func() string {
					a := h.ask(t, string(a.Sample(native, tool, h.project)), programs.Hookc(t), "run", native, "--profile", a.ID, "--dialect", a.ID, "--deadline", "100s")
					return a.stdout + a.stderr
				}
				trust := func(args ...string) answer {
					return h.ask(t, "", append([]string{programs.Hookc(t), "trust"}, args...)...)
				}
				assert.NotContains(t, ask(), settingsSay, "before consent")
				assert.Contains(t, ask(), "never trusted")
				said := trust("--yes")
				require.Equal(t, 0, said.code, "%s%s", said.stdout, said.stderr)
				assert.Contains(t, said.stdout, filepath.Base(file))
				require.Equal(t, 0, trust("--check").code)
				assert.Contains(t, ask(), settingsSay, "with consent")
				require.NoError(t, put(h.project, file, texts.empty))
				for _, how := range []string{"emptied", "broken", "gone"} {
					switch how {
					case "broken":
						require.NoError(t, put(h.project, file, texts.guard[:len(texts.guard)/2]))
					case "gone":
						require.NoError(t, os.Remove(filepath.Join(h.project, file)))
					}
					said := ask()
					assert.Contains(t, said, settingsSay, how)
					assert.Contains(t, said, file, how)
					assert.Equal(t, 1, trust("--check").code, how)
				}
				require.NoError(t, put(h.project, file, texts.guard))
				require.Equal(t, 0, trust("--forget").code)
				assert.NotContains(t, ask(), settingsSay, "withdrawn")
			})
		}
	}
}
