package agents_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// part is a skill, a command or an agent with a hook at each of some events, which leaves
// a word with the event and the type of the agent at work.
func part(name, word string, events ...string) string {
	text := "---\nname: " + name + "\ndescription: does things\nhooks:\n"
	for _, e := range events {
		text += "  " + e + ":\n    - matcher: '" + map[bool]string{true: "Bash"}[e == "PreToolUse"] + "'\n      hooks:\n        - type: command\n          command: |\n" +
			`            who=$(sed -n 's/.*"agent_type":"\([^"]*\)".*/\1/p'); echo "` + word + `:` + e + `:$who" >> $PROJECT/ran.txt` + "\n"
	}
	return text + "---\nDo the thing.\n"
}

// TestClaudeParts: of the hooks in the frontmatter of skills, commands and agents, and of
// plugins among the skills, those run under the profile that run in the program once the
// skill is invoked, for the same agents.
func TestClaudeParts(t *testing.T) {
	const (
		skill    = ".claude/skills/s/SKILL.md"
		rev      = ".claude/agents/rev.md"
		manifest = ".claude/skills/pl/.claude-plugin/plugin.json"
		standard = ".claude/skills/pl/hooks/hooks.json"
		settings = "home/.claude/settings.json"
	)
	both := []string{"PreToolUse", "Stop"}
	plugin := strings.ReplaceAll(pluginHooks("plugin"), "$CLAUDE_PROJECT_DIR", "$PROJECT")
	for name, files := range map[string]map[string]string{
		"the user's":      {"home/" + skill: part("s", "skill", both...), "home/" + rev: part("rev", "agent", both...)},
		"the project's":   {"project/" + skill: part("s", "skill", both...), "project/" + rev: part("rev", "agent", both...)},
		"below":           {"project/" + skill: part("s", "skill", both...), "project/" + rev: part("rev", "agent", both...), "project/below/x": "", "project/.git/HEAD": ""},
		"deep":            {"home/.claude/skills/deep/s/SKILL.md": part("s", "deep", both...), "home/" + skill: part("s", "skill"), "home/.claude/agents/deep/rev.md": part("rev", "agent", both...)},
		"a command":       {"home/.claude/commands/s.md": part("s", "command", both...)},
		"no plain text":   {"home/" + skill: strings.Replace(part("s", "skill", both...), "does things", "Use when: [it", 1), "home/" + rev: strings.Replace(part("rev", "agent", both...), "does things", "Use when: it", 1)},
		"not to be read":  {"home/" + skill: strings.Replace(part("s", "skill", both...), "'Bash'", "[Bash", 1), "home/" + rev: strings.Replace(part("rev", "agent", both...), "'Bash'", "[Bash", 1)},
		"not described":   {"home/" + rev: strings.Replace(part("rev", "agent", both...), "description: does things\n", "", 1)},
		"both agents":     {"home/" + rev: part("rev", "user", both...), "project/" + rev: part("rev", "project", both...)},
		"both skills":     {"home/" + skill: part("s", "user", both...), "project/" + skill: part("s", "project", both...)},
		"switched off":    {"home/" + skill: part("s", "skill", both...), "home/" + rev: part("rev", "agent", both...), settings: `{"disableAllHooks":true}`},
		"a plugin":        {"home/" + manifest: `{"name":"pl"}`, "home/" + standard: plugin, "home/.claude/skills/pl/agents/x.md": part("x", "none", both...)},
		"its skill":       {"home/" + manifest: `{"name":"other"}`, "home/.claude/skills/pl/skills/s/SKILL.md": part("s", "skill", both...)},
		"inline":          {"home/" + manifest: `{"name":"pl",` + strings.TrimPrefix(plugin, "{")},
		"its name off":    {"home/" + manifest: `{"name":"other"}`, "home/" + standard: plugin, settings: `{"enabledPlugins":{"other@skills-dir":false}}`},
		"its folder off":  {"home/" + manifest: `{"name":"other"}`, "home/" + standard: plugin, settings: `{"enabledPlugins":{"pl@skills-dir":false}}`},
		"project plugin":  {"project/" + manifest: `{"name":"pl"}`, "project/" + standard: plugin},
		"managed alone":   {"etc/claude-code/managed-settings.json": `{"allowManagedHooksOnly":true}`, "home/" + skill: part("s", "skill", both...), "home/" + rev: part("rev", "agent", both...), "home/" + manifest: `{"name":"pl"}`, "home/" + standard: plugin},
		"nothing matters": {"home/" + skill: part("s", "skill"), "home/" + rev: part("rev", "agent")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t, claude)
			s.bare = true
			root := filepath.Dir(s.home)
			put(t, filepath.Join(s.home, ".claude.json"), `{"projects":{"`+s.project+`":{"hasTrustDialogAccepted":true}}}`)
			for path, text := range files {
				put(t, filepath.Join(root, path), strings.ReplaceAll(text, "$PROJECT", s.project))
			}
			if files["etc/claude-code/managed-settings.json"] != "" {
				s.before = withEtc(t, filepath.Join(root, "etc"))
			}
			if _, err := os.Stat(filepath.Join(s.project, "below")); err == nil {
				s.start = filepath.Join(s.project, "below")
			}
			ran := func() []string {
				words := s.ran(t)
				return slices.Compact(words)
			}
			for _, event := range []string{
				`"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"true"}`,
				`"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"true"},"agent_id":"a1","agent_type":"rev"`,
				`"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"true"},"agent_id":"a2","agent_type":"general-purpose"`,
				`"hook_event_name":"SubagentStop","agent_id":"a1","agent_type":"rev"`, `"hook_event_name":"SubagentStop","agent_id":"a2","agent_type":"general-purpose"`,
				`"hook_event_name":"Stop"`,
			} {
				argv := append(slices.Clone(s.before), s.hookc, "run", "--profile", "claude", "--json", "--faithful="+strconv.FormatBool(name == "both agents"))
				run := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
				run.Dir, run.Env = s.start, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "HOOKC_TRUST=all"}
				run.Stdin = strings.NewReader(`{` + event + `,"cwd":"` + s.start + `"}`)
				out, err := run.CombinedOutput()
				require.NoError(t, err, "%s", out)
			}
			profile := ran()
			shell := claude.shell("true")
			s.play(t, func(*session) []turn {
				invoke := turn{tool: "Skill", args: map[string]any{"skill": "s"}}
				if name == "its skill" {
					invoke.args["skill"] = "other:s"
				}
				return []turn{invoke, shell, delegate("rev"), shell, {text: "looked"}, delegate("general-purpose"), shell, {text: "looked"}, {text: "done"}}
			})
			assert.Equal(t, ran(), profile)
		})
	}
}
