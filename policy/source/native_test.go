package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// loadNative lays files out (those that begin with ~/ in the home), discovers
// what an agent would and loads it. Findings are their codes and first words,
// with ! before errors.
func loadNative(t *testing.T, whose string, faithful bool, files map[string]string) (*policy.Policy, []string) {
	t.Helper()
	home, project := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	for name, text := range files {
		path := filepath.Join(project, name)
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			path = filepath.Join(home, rest)
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
	}
	d, err := agent.FindProfile(whose)
	require.NoError(t, err)
	inputs, found := Discover(DiscoverOptions{Trust: AsFound, Dir: project, Profile: d})
	p, more := Load(Options{Inputs: inputs, Dir: project, Profile: d, Faithful: faithful})
	found.Add(more...)
	var codes []string
	for _, f := range found {
		code := f.Code.ID
		if f.Severity == 0 {
			code = "!" + code
		}
		codes = append(codes, code)
	}
	return p, codes
}

// commands are the live hooks of an event, by what they run.
func commands(p *policy.Policy, event policy.Event) []string {
	out := []string{}
	for _, h := range p.Hooks {
		if h.Event == event && !h.Disabled {
			text := h.Body.Command.Value
			if text == "" {
				text = h.Name
			}
			out = append(out, text)
		}
	}
	return out
}

func TestJCLIFiles(t *testing.T) {
	call := policy.PreToolExecution
	p, found := loadNative(t, "jcli", false, map[string]string{
		"~/.jdata/agent/hooks.yaml":              "pre_tool_execution:\n  - {command: u, timeout: 0}\n",
		"~/.jdata/agent/hooks/z/HOOK.yml":        "events: [pre_tool_execution, stop]\ncommand: z\n",
		"~/.jdata/agent/hooks/z/HOOK.yaml":       "events: [pre_tool_execution, stop]\ncommand: z2\non_error: stop\n",
		"~/.jdata/agent/hooks/a/HOOK.yaml":       "events: [stop]\ntype: shell\ncommand: a\nruntime: zsh\n",
		"~/.jdata/agent/hooks/example/HOOK.yaml": "events: [stop]\ncommand: example\n",
		"~/.jdata/agent/data/agent_config.json":  `{"disabled_hooks": ["user:a", "project:off off off off off off off off off off "]}`,
		".jcli/hooks.yaml": "nope: [{command: x}]\npre_tool_execution:\n  - {command: p, name: mine, filter: {tool_name: A, tool_matcher: B}}\n" +
			"  - {command: off off off off off off off off off off off}\n  - {type: llm, prompt: hi}\n  - {type: bash}\n",
	})
	assert.Equal(t, []string{"u", "z2", "p", "project/pre_tool_execution#3"}, commands(p, call))
	assert.Equal(t, []string{"z2"}, commands(p, policy.StopEvent), "the folder a is turned off")
	assert.ElementsMatch(t, []string{"HK034", "HK047", "HK030", "HK047", "HK030", "HK043", "HK043"}, found)
	u, z, llm := p.Hooks[0], p.Hooks[2], p.Hooks[len(p.Hooks)-1]
	assert.Equal(t, []any{time.Nanosecond, policy.OnErrorSkip, 0}, []any{u.Timeout, u.OnError, u.Retry})
	assert.Equal(t, []any{10 * time.Second, policy.OnErrorAbort, policy.OnErrorAbort, "z", "JCLI_HOOK_DIR"}, []any{z.Timeout, z.OnError, z.OnTimeout, z.Description, z.Body.Env[0].Name})
	assert.Equal(t, []any{policy.KindLLM, 30 * time.Second, 1}, []any{llm.Kind, llm.Timeout, llm.Retry})
	mine := p.Hooks[4]
	assert.Equal(t, []policy.FilterKey{policy.FilterToolName}, []policy.FilterKey{mine.Filter.Conditions[0].Key}, "tool_name wins")
	assert.Len(t, mine.Filter.Conditions, 1)
}

func TestJCLIDropsAFile(t *testing.T) {
	for text, code := range map[string]string{
		"stop: [{command: x, on_error: deny}]": "HK042", "stop: [{command: x, timeout: -1}]": "HK042", "stop: [{command: x, timeout: 1.5}]": "HK042",
		"stop: [{command: 1}]": "HK042", "stop: {command: x}": "HK042", "stop: [x]": "HK042", "stop: [{command: x, filter: a}]": "HK042",
		"stop: [{command: x, type: http}]": "HK042", "[stop]": "HK042", "stop: [{command: x, command: y}]": "HK003",
	} {
		files := map[string]string{".jcli/hooks.yaml": "pre_tool_execution: [{command: y}]\n" + text, "~/.jdata/agent/hooks.yaml": "stop: [{command: u}]"}
		if text == "[stop]" {
			files[".jcli/hooks.yaml"] = text
		}
		p, found := loadNative(t, "jcli", true, files)
		assert.Equal(t, []string{code}, found, text)
		assert.Equal(t, []string{"u"}, commands(p, policy.StopEvent), text)
		assert.Empty(t, commands(p, policy.PreToolExecution), text)
		_, found = loadNative(t, "jcli", false, files)
		assert.Equal(t, []string{"!" + code}, found, text)
	}
	p, found := loadNative(t, "jcli", true, map[string]string{
		".jcli/hooks/a/HOOK.yaml": "events: [lunch]\ncommand: a\n", ".jcli/hooks/b/HOOK.yaml": "events: [stop]\ncommand: b\n", ".jcli/hooks/c/HOOK.yaml": "command: c\n",
	})
	assert.Equal(t, []string{"HK042", "HK042"}, found, "in folders a mistake costs its own hook alone")
	assert.Equal(t, []string{"b"}, commands(p, policy.StopEvent))
}

// A hooks.yaml without the profile is read by hookc's own schema.
func TestJCLIWithoutProfile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hooks.yaml")
	require.NoError(t, os.WriteFile(path, []byte("stop: [{command: x, on_error: deny, nonsense: 1}]"), 0o644))
	p, found := Load(Options{Inputs: []Input{{Path: path, Tier: policy.TierProject}}})
	assert.Equal(t, []any{"", false, policy.OnErrorDeny}, []any{p.Hooks[0].Body.Agent.Event, p.Hooks[0].Body.Agent.Emulate, p.Hooks[0].OnError})
	require.Len(t, found, 1)
	assert.Equal(t, "HK006", found[0].Code.ID)
}

const clawdHookJSON = `[{"hooks": [{"type": "command", "command": "%"}]}]`

func clawdList(command string) string { return strings.Replace(clawdHookJSON, "%", command, 1) }

func TestClawdCodeMerge(t *testing.T) {
	files := map[string]string{
		"~/.clawdcode/config.json":   `{"hooks": {"failureBehavior": "deny", "defaultTimeout": 7, "PreToolUse": ` + clawdList("u0") + `}}`,
		"~/.clawdcode/settings.json": `{"hooks": {"PreToolUse": ` + clawdList("u1") + `, "Stop": ` + clawdList("u2") + `}}`,
		".clawdcode/settings.json": `{"hooks": {"failureBehavior": "ignore", "timeoutBehavior": "ask", "maxConcurrentHooks": 2,
			"PreToolUse": [{"hooks": [{"command": "p1", "timeout": 0.5}, {"type": "http", "command": "x"}]}], "Stop": []}}`,
	}
	p, found := loadNative(t, "clawdcode", false, files)
	assert.Equal(t, []string{"u1", "p1"}, commands(p, policy.PreToolExecution), "a project adds to its user's hooks")
	assert.Equal(t, []string{"u2"}, commands(p, policy.StopEvent))
	assert.ElementsMatch(t, []string{"HK043", "HK043", "HK043", "HK030"}, found)
	byCommand := map[string]*policy.Hook{}
	for _, h := range p.Hooks {
		byCommand[h.Body.Command.Value] = h
	}
	u, own := byCommand["u1"], byCommand["p1"]
	assert.Equal(t, []any{policy.OnErrorDeny, 7 * time.Second, policy.OnErrorSkip}, []any{u.Body.Agent.OnFailure, u.Timeout, u.OnTimeout}, "what the project sets is not the user's")
	assert.Equal(t, []any{policy.OnErrorSkip, 500 * time.Millisecond, policy.OnErrorAsk}, []any{own.Body.Agent.OnFailure, own.Timeout, own.OnTimeout})
	assert.Equal(t, 2, p.MaxConcurrent)

	p, found = loadNative(t, "clawdcode", true, files)
	assert.Equal(t, []string{"p1"}, commands(p, policy.PreToolExecution))
	assert.Empty(t, commands(p, policy.StopEvent), "an empty list takes its place too")
	assert.ElementsMatch(t, []string{"HK043", "HK043", "HK030"}, found)
	assert.Equal(t, "clawdcode", p.Profile.Name)
	assert.Equal(t, 5, func() int { q, _ := loadNative(t, "clawdcode", true, nil); return q.MaxConcurrent }())
}

func TestClawdCodeSwitchedOff(t *testing.T) {
	files := map[string]string{
		"~/.clawdcode/settings.json": `{"hooks": {"Stop": ` + clawdList("u") + `}}`,
		".clawdcode/settings.json":   `{"hooks": {"enabled": false, "PreToolUse": ` + clawdList("p") + `}}`,
	}
	p, found := loadNative(t, "clawdcode", false, files)
	assert.Equal(t, [][]string{{"u"}, {}}, [][]string{commands(p, policy.StopEvent), commands(p, policy.PreToolExecution)})
	assert.Equal(t, []string{"HK043"}, found)
	p, _ = loadNative(t, "clawdcode", true, files)
	assert.Empty(t, commands(p, policy.StopEvent))
}

func TestClawdCodeIgnoredFile(t *testing.T) {
	for _, bad := range []string{`"defaultTimeout": "x"`, `"enabled": 1`, `"failureBehavior": "block"`, `"Stop": {}`, `"maxConcurrentHooks": null`} {
		files := map[string]string{
			"~/.clawdcode/settings.json": `{"hooks": {"PreToolUse": ` + clawdList("u") + `}}`,
			".clawdcode/settings.json":   `{"hooks": {` + bad + `, "PreToolUse": ` + clawdList("p") + `}}`,
		}
		p, found := loadNative(t, "clawdcode", true, files)
		assert.Equal(t, []string{"HK042"}, found, bad)
		assert.Equal(t, []string{"u"}, commands(p, policy.PreToolExecution), bad)
		_, found = loadNative(t, "clawdcode", false, files)
		assert.Equal(t, []string{"!HK042"}, found, bad)
	}
	_, found := loadNative(t, "clawdcode", true, map[string]string{".clawdcode/settings.json": `{"hooks": {`})
	assert.Equal(t, []string{"HK002"}, found)
}

// matching lists which of several events the hooks of a policy match.
func matching(t *testing.T, p *policy.Policy, in ...*policy.Context) []bool {
	t.Helper()
	out := []bool{}
	for _, c := range in {
		for _, h := range p.Hooks {
			ok := true
			for _, cond := range h.Filter.Conditions {
				ok = ok && cond.Atom.Test(c)
			}
			out = append(out, ok)
		}
	}
	return out
}

func callOf(tool string, input map[string]any) *policy.Context {
	return policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, tool).Set(policy.FieldToolInput, input)
}

func TestClawdCodeMatchers(t *testing.T) {
	bash := func(command string) *policy.Context { return callOf("Bash", map[string]any{"command": command}) }
	write := func(path string) *policy.Context { return callOf("Write", map[string]any{"file_path": path}) }
	for _, row := range []struct {
		matcher string
		in      *policy.Context
		want    bool
	}{
		{`{"tools": "Edit"}`, callOf("NotebookEdit", nil), false},
		{`{"tools": ".*Edit"}`, callOf("NotebookEdit", nil), true},
		{`{"tools": "Read | Write"}`, write("a"), true},
		{`{"tools": "["}`, bash("ls"), false},
		{`{"tools": "["}`, callOf("[", nil), true},
		{`{"tools": "*"}`, bash("ls"), false},
		{`{"tools": ""}`, bash("ls"), true},
		{`{"commands": "rm"}`, bash("rm -rf x"), false},
		{`{"commands": "rm.*"}`, bash("rm -rf x\nls"), false},
		{`{"commands": "rm.*"}`, write("a"), true},
		{`{"commands": "git .*"}`, callOf("Shell", map[string]any{"cmd": "git push"}), true},
		{`{"paths": "*.ts|*.go"}`, write("/p/a.go"), true},
		{`{"paths": "*.ts"}`, callOf("Write", map[string]any{"file_path": "", "target": "a.ts"}), true},
		{`{"paths": "*.ts"}`, bash("ls"), true},
		{`{"tools": "Write", "paths": "*.md"}`, write("a.ts"), false},
		{`{}`, write("a.ts").Set(policy.FieldPermissionMode, "plan"), false},
	} {
		p, _ := loadNative(t, "clawdcode", false, map[string]string{".clawdcode/settings.json": `{"hooks": {"PreToolUse": [{"matcher": ` + row.matcher + `, "hooks": [{"type": "command", "command": "x"}]}]}}`})
		assert.Equal(t, []bool{row.want}, matching(t, p, row.in), row.matcher)
	}
}

// Faithfully, a group without hooks makes the agent forget the event where it
// matches.
func TestClawdCodeGroupWithoutHooks(t *testing.T) {
	files := map[string]string{".clawdcode/settings.json": `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}, {"matcher": {"tools": "Bash"}}]}}`}
	in := []*policy.Context{callOf("Bash", nil), callOf("Write", nil)}
	p, found := loadNative(t, "clawdcode", true, files)
	assert.Equal(t, []bool{false, true}, matching(t, p, in...))
	assert.Equal(t, []string{"HK030"}, found)
	p, _ = loadNative(t, "clawdcode", false, files)
	assert.Equal(t, []bool{true, true}, matching(t, p, in...))
}

func TestAIAgentsSettings(t *testing.T) {
	group := func(matcher, command string) string {
		return `{"matcher": "` + matcher + `", "hooks": [{"type": "command", "command": "` + command + `"}]}`
	}
	p, found := loadNative(t, "aiagents", false, map[string]string{
		"~/.ai_agents/settings.json":     `{"hooks": {"PreToolUse": [` + group("FileWriter", "a") + `]}}`,
		".ai_agents/settings.json":       `{"hooks": {"PreToolUse": [` + group("FileWriter", "a") + `, ` + group("File.*", "a") + `, ` + group("File(", "c") + `], "Lunch": []}}`,
		".ai_agents/settings.local.json": `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "wc ${EDITED_FILE}"}, {"type": "http"}]}], "UserPromptSubmit": [` + group("X", "d") + `]}}`,
	})
	assert.Equal(t, []string{"a", "a", "wc ${EDITED_FILE}"}, commands(p, policy.PreToolExecution))
	assert.Equal(t, []string{"d"}, commands(p, policy.PreSendMessage))
	assert.ElementsMatch(t, []string{"HK043", "HK030", "HK030", "HK045", "HK030", "HK030"}, found)
	pre := &policy.Policy{Hooks: p.Hooks[:2]}
	assert.Equal(t, []bool{true, false, false, true, false, false}, matching(t, pre, callOf("FileWriter", nil), callOf("FileReader", nil), callOf("MyFile", nil)),
		"the same command runs once, whichever matcher matches")

	p, found = loadNative(t, "aiagents", false, map[string]string{
		"~/.ai_agents/settings.json": `{"hooks": {"PreToolUse": [` + group("*", "u") + `]}}`, ".ai_agents/settings.json": `{"hooks": `,
	})
	assert.Equal(t, []any{[]string{"u"}, []string{"!HK002"}}, []any{commands(p, policy.PreToolExecution), found}, "a file that is broken fails, hardened")
	_, found = loadNative(t, "aiagents", true, map[string]string{".ai_agents/settings.json": `{"hooks": `})
	assert.Equal(t, []string{"HK002"}, found, "the agent goes on without it")
}

const mdText = "---\nname: %n\ndescription: d\ntrigger: pre-tool-call\n%x---\n"

func hookText(name, extra string) string {
	return strings.NewReplacer("%n", name, "%x", extra).Replace(mdText)
}

func liveNames(p *policy.Policy) []string {
	out := []string{}
	for _, h := range p.Hooks {
		text := h.Name
		if h.Disabled {
			text = "-" + text
		}
		if h.Async {
			text += "&"
		}
		out = append(out, text)
	}
	return out
}

func TestAgentHooksOrder(t *testing.T) {
	files := map[string]string{
		"~/.config/agents/hooks/u1/HOOK.md": hookText("u1", ""), "~/.config/agents/hooks/u2/HOOK.md": hookText("u2", "priority: 500\n"),
		"~/.config/agents/hooks/shared/HOOK.md": hookText("shared", "priority: 900\n"),
		".agents/hooks/a1/HOOK.md":              hookText("a1", ""), ".agents/hooks/shared/HOOK.md": hookText("shared", "priority: 1\n"),
		".agents/hooks/mis/HOOK.md": hookText("other", "async: true\npriority: 999\n"),
	}
	p, _ := loadNative(t, "agenthooks", false, files)
	assert.Equal(t, []string{"u2", "u1", "a1", "shared", "other&"}, liveNames(p))
	assert.Equal(t, "pre-tool-call", p.Hooks[0].Body.Agent.Event)
	assert.True(t, p.Profile.Flat)

	files["~/.config/agents/hooks.toml"] = "[hooks.defaults]\ntimeout = 200\n[[hooks.override]]\nname = \"u1\"\npriority = 1000\nasync = false\n"
	files[".agents/hooks.toml"] = "[hooks.defaults]\nasync = true\n[[hooks.disable]]\nname = \"u2\"\n[[hooks.disable]]\nname = \"a1\"\n[[hooks.disable]]\nname = \"nobody\"\n[hooks.extra]\n"
	p, found := loadNative(t, "agenthooks", false, files)
	assert.Equal(t, []string{"u1", "u2", "other&", "-a1&", "shared&"}, liveNames(p), "a project does not turn off its user's hooks")
	assert.Equal(t, 200*time.Millisecond, p.Hooks[0].Timeout)
	assert.Subset(t, found, []string{"HK043", "HK030", "HK047"})
	p, _ = loadNative(t, "agenthooks", true, files)
	assert.Equal(t, []string{"u1", "other&", "-u2&", "-a1&", "shared&"}, liveNames(p))
}

func TestAgentHooksBadFolder(t *testing.T) {
	files := map[string]string{".agents/hooks/a/HOOK.md": hookText("a", "timeout: 5s\n"), ".agents/hooks/b/HOOK.md": hookText("b", "")}
	p, found := loadNative(t, "agenthooks", true, files)
	assert.Equal(t, []any{[]string{"b"}, []string{"HK053"}}, []any{liveNames(p), found}, "passed over, but not in silence")
	_, found = loadNative(t, "agenthooks", false, files)
	assert.Equal(t, []string{"!HK053"}, found)
}
