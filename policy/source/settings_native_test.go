package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// loadAgent reads files of an agent's configuration, in order, each at
// TIER:PATH.
func loadAgent(t *testing.T, whose string, files ...string) (*policy.Policy, []string) {
	t.Helper()
	d, err := agent.FindProfile(whose)
	require.NoError(t, err)
	dir := t.TempDir()
	o := Options{Dir: dir, Profile: d}
	for i := 0; i < len(files); i += 2 {
		tier, path, _ := strings.Cut(files[i], ":")
		at, ok := policy.ParseTier(tier)
		require.True(t, ok)
		base, _, _ := strings.Cut(whose, "@")
		o.Inputs = append(o.Inputs, Input{Path: filepath.Join(dir, path), Tier: at, Format: base, Content: []byte(files[i+1])})
	}
	p, found := Load(o)
	return p, lines(found)
}

func TestNativeSettingsFindings(t *testing.T) {
	const guard = `{"type":"command","command":"cat"}`
	for _, c := range []struct {
		name, whose, file, text string
		want                    []string
	}{
		{"claude: nothing wrong", "claude", ".claude/settings.json", `{"hooks":{"PreToolUse":[{"matcher":"Bash|Edit","hooks":[` + guard + `]}]}}`, nil},
		{"claude: names", "claude", ".claude/settings.json", `{"hooks":{"PreToolUse":[{"matcher":"Bash|Edti|mcp__a__b","hooks":[` + guard + `]}]}}`,
			[]string{`1:36 HK033 claude has no tool "Edti": the hooks never run for it; did you mean "Edit"?`}},
		{"claude: a pattern", "claude", ".claude/settings.json", `{"hooks":{"PreToolUse":[{"matcher":"^run_.*","hooks":[` + guard + `]}]}}`,
			[]string{`1:36 HK033 "^run_.*" matches no tool of claude: these hooks never run`}},
		{"claude: a server", "claude", ".claude/settings.json", `{"hooks":{"PreToolUse":[{"matcher":"mcp__a","hooks":[` + guard + `]}]}}`,
			[]string{`1:36 HK030 "mcp__a" is the name of an MCP server and no tool's: these hooks never run for it; write mcp__a__.* for all of its tools`}},
		{"claude: milliseconds", "claude", ".claude/settings.json", `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"cat","timeout":5000}]}]}}`,
			[]string{"1:79 HK034 claude counts seconds: this is 1h23m20s; write 5 for 5s"}},
		{"claude: a race", "claude", ".claude/settings.json", `{"hooks":{"PreToolUse":[{"hooks":[
{"type":"command","command":"echo '{\"hookSpecificOutput\":{\"updatedInput\":{}}}'"},
{"type":"command","command":"echo '{\"hookSpecificOutput\": {\"updatedInput\":{}}}'"}]}]}}`,
			[]string{"3:2 HK035 this hook and the one at .claude/settings.json:2:2 start at once and may both rewrite a call: the agent keeps what finishes last, hookc the later in the files, and neither sees the other's; write one hook that does both"}},
		{"claude: no race apart", "claude", ".claude/settings.json", `{"hooks":{"PreToolUse":[
{"matcher":"Bash","hooks":[{"type":"command","command":"echo '{\"hookSpecificOutput\":{\"updatedInput\":{}}}'"}]},
{"matcher":"Edit","hooks":[{"type":"command","command":"echo '{\"hookSpecificOutput\": {\"updatedInput\":{}}}'"}]}]}}`, nil},
		{"claude: types", "claude", ".claude/settings.json", `{"hooks":{"PreToolUse":[{"hooks":[{"type":"mcp_tool","server":"s","tool":"t"},{"type":"shout"},{"command":"cat"}]}],"SessionStart":[{"hooks":[{"type":"http","url":"u"}]}]}}`,
			[]string{"1:43 HK036 hookc runs no hooks of type mcp_tool: this one fails each time and is in every decision; leave it in Claude Code's own settings, or write it as a command",
				`1:87 HK030 "shout" is no type of hook: it is passed over; types: command, http, mcp_tool, prompt, agent`,
				`1:97 HK030 the hook has no type: it is passed over; write "type": "command"`,
				"1:151 HK030 SessionStart takes no hooks of type http: it is passed over"}},
		{"claude: keys that mean nothing", "claude@2.1.240", ".claude/settings.json", `{"hooks":{"Stop":[{"matcher":"x","hooks":[{"type":"command","command":"cat","once":true,"onFailure":"block"}]}]}}`,
			[]string{"1:30 HK030 Stop has nothing to match: the matcher is passed over and the hooks always run",
				"1:84 HK030 once counts in a skill alone, and hookc does not count there: the hook runs every time",
				"1:101 HK030 Claude Code 2.1.240 does not know onFailure: the action goes on when the hook fails"}},
		{"claude: if", "claude", ".claude/settings.json", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"cat","if":"Bash"}]}],"PreToolUse":[{"hooks":[{"type":"command","command":"cat","if":"Bash("}]}]}}`,
			[]string{"1:68 HK030 a hook with if never runs at Stop, which is about no tool; take if: out; it works at PreToolUse, PostToolUse, PostToolUseFailure, PermissionRequest, PermissionDenied",
				`1:142 HK030 "Bash(" is no permission rule such as Bash(git *): the condition is passed over and the hook runs`}},
		{"claude: switched off", "claude", ".claude/settings.json", `{"disableAllHooks":true,"hooks":{"PreToolUse":[{"hooks":[` + guard + `]}]}}`,
			[]string{"1:20 HK030 disableAllHooks switches off 1 of the 1 hooks"}},
		{"claude: async", "claude", ".claude/settings.json", `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"cat","async":true},{"type":"command","command":"tee x","asyncRewake":true}]}]}}`,
			[]string{"1:77 HK030 an async hook decides nothing at PreToolUse: the action does not wait for it",
				"1:133 HK036 the hook runs, but cannot wake Claude Code through hookc"}},
		{"codex: a pattern of others", "codex", ".codex/hooks.json", `{"hooks":{"PreToolUse":[{"matcher":"^(?!Read)","hooks":[` + guard + `]}]}}`,
			[]string{`1:36 HK030 "^(?!Read)" is no regular expression for Codex (invalid or unsupported Perl syntax: (?!): the group is dropped`}},
		{"codex: the shell's other name", "codex", ".codex/hooks.json", `{"hooks":{"PreToolUse":[{"matcher":"exec_command","hooks":[` + guard + `]}]}}`,
			[]string{`1:36 HK033 codex has no tool "exec_command": the hooks never run for it; names are compared as they are written`}},
		{"codex: patches", "codex", ".codex/hooks.json", `{"hooks":{"PreToolUse":[{"matcher":"apply_patch|Edit","hooks":[` + guard + `]}]}}`,
			[]string{"1:36 HK033 a patch that Codex makes through the shell is a call of Bash: these hooks do not see it; add |Bash, and look at the command"}},
		{"codex: TOML", "codex", ".codex/config.toml", "[[hooks.PreToolUse]]\nmatcher = '['\n[[hooks.PreToolUse.hooks]]\ntype = \"prompt\"\n[hooks.state.x]\ny = 1\n[[hooks.Notification]]\n",
			[]string{`2:11 HK030 "[" is no regular expression for Codex (missing closing ]: [): the group is dropped`,
				`7:9 HK030 codex has no event "Notification": these hooks never run; events: Interrupt, PermissionRequest, PostCompact, PostToolUse, PreCompact, PreToolUse, SessionEnd, SessionStart, Stop, SubagentStart, SubagentStop, UserPromptSubmit`}},
		{"codex: switched off", "codex", ".codex/config.toml", "[features]\nhooks = false\n[[hooks.Stop]]\nhooks = [{type = \"command\", command = \"cat\"}]\n",
			[]string{"2:9 HK030 features.hooks switches off 1 of the 1 hooks"}},
		{"kimi: an event, a matcher, a time", "kimi", ".kimi/config.toml", "[[hooks]]\nevent = \"BeforeTool\"\ncommand = \"cat\"\n[[hooks]]\nevent = \"PreToolUse\"\nmatcher = \"*\"\ncommand = \"cat\"\n[[hooks]]\ncommand = \"cat\"\n[[hooks]]\nevent = \"Stop\"\ncommand = \"cat\"\ntimeout = 5000\n",
			[]string{`2:9 HK030 kimi has no event "BeforeTool": these hooks never run; events: Notification, PostCompact, PostToolUse, PostToolUseFailure, PreCompact, PreToolUse, SessionEnd, SessionStart, Stop, StopFailure, SubagentStart, SubagentStop, UserPromptSubmit`,
				`6:11 HK030 "*" is no regular expression (missing argument to repetition operator in ` + "`*`" + `): the hook never runs`,
				"8:3 HK030 the hook names no event: it is passed over",
				"13:11 HK030 a timeout is 1 to 600 seconds: kimi-cli does not take the file"}},
		{"cursor: an event rejects the file", "cursor", ".cursor/hooks.json", `{"version":1,"hooks":{"stop":[{"command":"cat"}],"beforeShelExecution":[{"command":"cat"}]}}`,
			[]string{`1:50 HK030 cursor has no event "beforeShelExecution" and rejects the whole file: none of its hooks runs; did you mean "beforeShellExecution"?`}},
		{"cursor: a prompt", "cursor", ".cursor/hooks.json", `{"version":1,"hooks":{"stop":[{"type":"prompt","prompt":"x"}]}}`,
			[]string{"1:39 HK036 hookc runs no prompts of Cursor: the hook fails each time and is in every decision; leave it in Cursor's own settings, or write it as a command"}},
		{"copilot: the time's name", "copilot", ".github/hooks/a.json", `{"version":1,"hooks":{"preToolUse":[{"type":"command","bash":"cat","timeout":5},{"type":"command","powershell":"x"}]}}`,
			[]string{"1:78 HK030 the time is called timeoutSec: timeout is passed over",
				"1:82 HK030 the hook has no command for this system: it is passed over"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, found := loadAgent(t, c.whose, "project:"+c.file, c.text)
			assert.Equal(t, c.want, found)
		})
	}
}

func TestClaudeHandlers(t *testing.T) {
	group := func(matcher, hook string) string {
		return `{"hooks":{"PreToolUse":[{"matcher":"` + matcher + `","hooks":[` + hook + `]}]}}`
	}
	const same = `{"type":"command","command":"cat","timeout":5}`
	ran := func(p *policy.Policy, tool string) (names []string) {
		in := policy.NewContext("").Set(policy.FieldToolName, tool).Set(policy.FieldToolInput, map[string]any{}).Frozen(policy.PreToolExecution)
		for _, h := range p.Hooks {
			all := true
			for _, c := range h.Filter.Conditions {
				all = all && c.Atom.Test(in)
			}
			if all {
				names = append(names, h.Name)
			}
		}
		return names
	}
	p, found := loadAgent(t, "claude", "user:.claude/settings.json", group("Edit", same), "project:p/.claude/settings.json", group("Edit|Bash", same),
		"local:p/.claude/settings.local.json", group("", `{"type":"command","command":"cat","if":"Bash"}`))
	require.Empty(t, found)
	assert.Equal(t, []string{"user/pre_tool_execution#1"}, ran(p, "Edit"))
	assert.Equal(t, []string{"project/pre_tool_execution#1", "local/pre_tool_execution#1"}, ran(p, "Bash"))
	p, _ = loadAgent(t, "claude", "user:.claude/settings.json", group("", same), "project:p/.claude/settings.json", group("Bash", same))
	assert.Len(t, p.Hooks, 1, "where the first always runs the second never does")

	h := p.Hooks[0]
	assert.Equal(t, "PreToolUse", h.Body.Agent.Event)
	assert.EqualValues(t, "claude", h.Body.Protocol)
	p, _ = loadAgent(t, "claude@2.1.200", "user:.claude/settings.json", group("", same))
	assert.EqualValues(t, "claude@2.1.240", p.Hooks[0].Body.Protocol, "an older version is read as the variant in force")
}

func TestClaudePlugin(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		".claude-plugin/plugin.json": "{}",
		"hooks/hooks.json":           `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"cat"}]}]}}`,
	} {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	d, err := agent.FindProfile("claude")
	require.NoError(t, err)
	settings := filepath.Join(t.TempDir(), ".claude", "settings.json")
	p, found := Load(Options{Profile: d, Inputs: []Input{
		{Path: settings, Tier: policy.TierUser, Content: []byte(`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"cat"}]}]}}`)},
		{Path: filepath.Join(root, "hooks", "hooks.json"), Tier: policy.TierExtension},
	}})
	require.Empty(t, found)
	require.Len(t, p.Hooks, 2, "a plugin's hook is never the same as another's")
	assert.Equal(t, []policy.EnvVar{{Name: "CLAUDE_PLUGIN_ROOT", Value: root}}, p.Hooks[1].Body.Env)
}

func TestClaudeTimes(t *testing.T) {
	for _, c := range []struct{ whose, native, key, want string }{
		{"claude", "PreToolUse", "", "10m0s"},
		{"claude", "PreToolUse", `,"timeout":2.5`, "2.5s"},
		{"claude", "UserPromptSubmit", "", "30s"},
		{"claude", "PreModelSwitch", "", "30s"},
		{"claude", "MessageDisplay", "", "10s"},
		{"claude", "SessionEnd", "", "1.5s"},
		{"claude", "SessionEnd", `,"timeout":10`, "10s"},
		{"claude", "SessionEnd", `,"timeout":100`, "1m0s"},
	} {
		p, _ := loadAgent(t, c.whose, "user:.claude/settings.json", `{"hooks":{"`+c.native+`":[{"hooks":[{"type":"command","command":"cat"`+c.key+`}]}]}}`)
		require.Len(t, p.Hooks, 1)
		assert.Equal(t, c.want, p.Hooks[0].Timeout.String(), "%s %s", c.native, c.key)
	}
}

func TestClaudeWord(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "''",
		"a b":                           "'a b'",
		"it's $HOME":                    `'it'\''s $HOME'`,
		"${CLAUDE_PROJECT_DIR}/x":       `"${CLAUDE_PROJECT_DIR}"'/x'`,
		"--d=${CLAUDE_PLUGIN_ROOT}":     `'--d='"${CLAUDE_PLUGIN_ROOT}"`,
		"${CLAUDE_PROJECT_DIR}${OTHER}": `"${CLAUDE_PROJECT_DIR}"'${OTHER}'`,
	} {
		assert.Equal(t, want, placedWord(text))
	}
}

// TestNativeAtoms: two conditions that read alike and are not the same must
// not be taken for one (policy.Matcher.Implies goes by their values).
func TestNativeAtoms(t *testing.T) {
	atoms := func(p *policy.Policy) []policy.Matcher {
		var out []policy.Matcher
		for _, h := range p.Hooks {
			var m policy.Matcher
			for _, c := range h.Filter.Conditions {
				a := *c.Atom
				a.Key = c.Key
				m.Atoms = append(m.Atoms, a)
			}
			out = append(out, m)
		}
		return out
	}
	differ := func(whose, file, text string) {
		t.Helper()
		p, _ := loadAgent(t, whose, "project:"+file, text)
		m := atoms(p)
		require.Len(t, m, 2)
		assert.False(t, m[0].Implies(&m[1]) && m[1].Implies(&m[0]), "%s", text)
	}
	differ("claude", ".claude/settings.json", `{"hooks":{"PreToolUse":[{"matcher":"Bash(x)","hooks":[{"type":"command","command":"cat"}]},{"hooks":[{"type":"command","command":"tee x","if":"Bash(x)"}]}]}}`)
	differ("cursor", ".cursor/hooks.json", `{"hooks":{"stop":[{"command":"cat","loop_limit":2},{"command":"tee x","loop_limit":3}]}}`)
	differ("cursor", ".cursor/hooks.json", `{"hooks":{"preToolUse":[{"command":"cat"}],"beforeReadFile":[{"command":"cat"}]}}`)
	differ("copilot", ".github/hooks/a.json", `{"hooks":{"preToolUse":[{"type":"command","bash":"cat","matcher":"B.*"}],"PreToolUse":[{"type":"command","bash":"cat","matcher":"B.*"}]}}`)
}

// TestManagedHooksOnly: where the managed settings let only their own hooks run, or
// somebody else switches all off, those of the plugins that they enable run as well.
func TestManagedHooksOnly(t *testing.T) {
	const hooks = `"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"cat"}]}]}`
	for _, c := range []struct {
		name, managed, user string
		want                int
	}{
		{"managed only", `"allowManagedHooksOnly":true,` + hooks, `"enabledPlugins":{"p@m":true},` + hooks, 1},
		{"and its plugins", `"allowManagedHooksOnly":true,"enabledPlugins":{"p@m":true},` + hooks, hooks, 2},
		{"all off by the user", `"enabledPlugins":{"p@m":true},` + hooks, `"disableAllHooks":true,` + hooks, 2},
		{"all off by the managed", `"disableAllHooks":true,"enabledPlugins":{"p@m":true},` + hooks, hooks, 0},
		{"nothing off", `"enabledPlugins":{"p@m":true}`, hooks, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{
				"managed-settings.json": "{" + c.managed + "}", ".claude/settings.json": "{" + c.user + "}",
				".claude/plugins/installed_plugins.json":  `{"version":2,"plugins":{}}`,
				".claude/plugins/known_marketplaces.json": `{"m":{"source":{"source":"directory"},"installLocation":"` + filepath.ToSlash(dir) + `/m"}}`,
				"m/.claude-plugin/marketplace.json":       `{"name":"m","plugins":[{"name":"p","source":"./p"}]}`, "m/p/hooks/hooks.json": "{" + strings.Replace(hooks, "cat", "head", 1) + "}",
			}
			for path, text := range files {
				path = filepath.Join(dir, path)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
			}
			d, err := agent.FindProfile("claude")
			require.NoError(t, err)
			p, _ := Load(Options{Dir: dir, Profile: d, Inputs: []Input{
				{Path: filepath.Join(dir, "managed-settings.json"), Tier: policy.TierManaged, Format: "claude"},
				{Path: filepath.Join(dir, ".claude/settings.json"), Tier: policy.TierUser, Format: "claude"},
				{Path: filepath.Join(dir, ".claude/plugins/installed_plugins.json"), Tier: policy.TierExtension, Format: "claudeplugins"},
			}})
			assert.Len(t, p.Hooks, c.want)
		})
	}
}
