package agent

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// Each agent's syntax says exactly the tools it is given, or says that it
// cannot.
func TestMatchersHoldForTheirTools(t *testing.T) {
	sets := [][]string{{"Bash"}, {"Bash", "Write"}, {"mcp__a__b", "read-file"}, {"a.b"}, {"a|b", "c"}, {"x y"}, {"MCP:x", "a+b", "(c)"}}
	others := []string{"Bas", "BashX", "xBash", "axb", "a", "b", "x", "", "Bash|Write"}
	for _, whose := range Installable() {
		d, err := Find(whose)
		require.NoError(t, err)
		p, err := d.Settings()
		require.NoError(t, err)
		m := p.Matchers
		for _, tools := range sets {
			if m.Join == nil {
				hit, known := m.Covers("anything", "Bash")
				assert.True(t, hit && known)
				continue
			}
			text, ok := m.Join(tools)
			if !ok {
				continue
			}
			require.False(t, m.All(text), "%s: %s", whose, text)
			for _, tool := range tools {
				hit, known := m.Covers(text, tool)
				assert.True(t, hit && known, "%s: %q must hold for %q", whose, text, tool)
			}
			for _, tool := range others {
				hit, known := m.Covers(text, tool)
				assert.False(t, hit, "%s: %q must not hold for %q", whose, text, tool)
				assert.True(t, known)
			}
		}
	}
}

// The forms of one list of names, by agent.
func TestMatcherForms(t *testing.T) {
	for whose, want := range map[string][3]string{
		"gemini":     {"^(Bash|Write)$", "^(read-file)$", `^(a\.b)$`},
		"claude":     {"Bash|Write", "read-file", `^(a\.b)$`},
		"codex":      {"Bash|Write", "^(read-file)$", `^(a\.b)$`},
		"aiagents":   {"Bash|Write", "read-file", `^(a\.b)$`},
		"copilot":    {"Bash|Write", "read-file", `a\.b`},
		"clawdcode":  {"Bash|Write", "read-file", ""},
		"jcli":       {"Bash|Write", "read-file", "a.b"},
		"kimi":       {"^(Bash|Write)$", "^(read-file)$", `^(a\.b)$`},
		"agenthooks": {"^(Bash|Write)$", "^(read-file)$", `^(a\.b)$`},
	} {
		d, err := Find(whose)
		require.NoError(t, err)
		p, err := d.Settings()
		require.NoError(t, err)
		for i, tools := range [][]string{{"Bash", "Write"}, {"read-file"}, {"a.b"}} {
			text, _ := p.Matchers.Join(tools)
			assert.Equal(t, want[i], text, whose)
		}
	}
}

// A sample is an event the dialect itself reads, and refusing it is heard.
func TestSamplesAreRead(t *testing.T) {
	tried := 0
	for _, whose := range Installable() {
		d, err := Find(whose)
		require.NoError(t, err)
		p, err := d.Settings()
		require.NoError(t, err)
		require.NotEmpty(t, p.Scopes(), whose)
		for _, e := range d.Entries(p) {
			call, err := d.Decode(d.Sample(e.Native, "Bash", "/work"), e.Native, func(string) string { return "" })
			require.NoError(t, err, "%s %s", whose, e.Native)
			assert.Equal(t, e.Native, call.Native())
			if !e.Refusable() {
				continue
			}
			tried++
			said := call.Encode(&policy.Decision{Event: call.Event(), Action: policy.Block, Verdict: policy.Deny, Reasons: []string{"the canary"}})
			silent := call.Encode(&policy.Decision{Event: call.Event(), Action: policy.Proceed})
			assert.Contains(t, string(said.Stdout)+said.Stderr, "the canary", "%s %s", whose, e.Native)
			assert.NotEqual(t, silent, said, "%s %s", whose, e.Native)
		}
	}
	assert.Greater(t, tried, 20)
}

func TestPlacesAreDialects(t *testing.T) {
	var ids []string
	for _, d := range All() {
		if !strings.Contains(d.ID, "@") {
			ids = append(ids, d.ID)
		}
	}
	assert.Equal(t, ids, Installable())
	old, err := Find("claude@2.1.240")
	require.NoError(t, err)
	p, err := old.Settings()
	require.NoError(t, err)
	assert.Equal(t, "onFailure", p.Handler.Closed)
}

func TestWhereAFileIs(t *testing.T) {
	env := map[string]string{"CODEX_HOME": "/c", "GEMINI_CLI_HOME": "/g", "XDG_CONFIG_HOME": "/x", "QWEN_HOME": "relative"}
	getenv := func(name string) string { return env[name] }
	where := func(whose string, scope Scope) string {
		d, err := Find(whose)
		require.NoError(t, err)
		p, err := d.Settings()
		require.NoError(t, err)
		return p.In(scope)[0].Where("/home/u", "/p", getenv)
	}
	assert.Equal(t, "/c/hooks.json", where("codex", UserScope))
	assert.Equal(t, "/p/.codex/hooks.json", where("codex", ProjectScope))
	assert.Equal(t, "/g/.gemini/settings.json", where("gemini", UserScope))
	assert.Equal(t, "/etc/gemini-cli/settings.json", where("gemini", ManagedScope))
	assert.Equal(t, "/x/agents/hooks", where("agenthooks", UserScope))
	assert.Equal(t, "/home/u/.qwen/settings.json", where("qwen", UserScope))
	assert.Equal(t, "/p/.github/hooks/hookc.json", where("copilot", ProjectScope))
	assert.Equal(t, "/home/u/.claude/settings.json", where("claude", UserScope))
}
