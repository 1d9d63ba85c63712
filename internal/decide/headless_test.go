package decide

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy/agent"
)

func TestHeadless(t *testing.T) {
	call := func(name string) *agent.Call {
		d, err := agent.Find(name)
		require.NoError(t, err)
		c, err := d.Decode([]byte(`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"x"}}`), "PreToolUse", func(string) string { return "" })
		require.NoError(t, err)
		return c
	}
	for _, c := range []struct {
		agent, environ string
		want           bool
	}{
		{"claude", "CLAUDE_CODE_ENTRYPOINT=sdk-cli", true}, {"claude", "CLAUDE_CODE_ENTRYPOINT=claude-code-github-action", true},
		{"claude", "CLAUDE_CODE_ENTRYPOINT=cli", false}, {"claude", "CLAUDE_CODE_ENTRYPOINT=claude-vscode", false}, {"claude", "", false},
		{"claude", "HOOKC_HEADLESS=1", true}, {"codex", "HOOKC_HEADLESS=1", true}, {"codex", "CLAUDE_CODE_ENTRYPOINT=sdk-cli", false},
		{"claude", "HOOKC_HEADLESS=0 CLAUDE_CODE_ENTRYPOINT=sdk-cli", false},
	} {
		var environ []string
		if c.environ != "" {
			environ = strings.Fields(c.environ)
		}
		assert.Equal(t, c.want, headless(&Caller{Environ: environ}, call(c.agent)), "%s %s", c.agent, c.environ)
	}
	assert.False(t, headless(&Caller{Environ: []string{"CLAUDE_CODE_ENTRYPOINT=sdk-cli"}}, nil))
	assert.True(t, headless(&Caller{Environ: []string{"HOOKC_HEADLESS=1"}}, nil))
}
