//go:build unix

package runner

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// unsaid reports whether a call goes ahead with no word about what a hook answered.
func unsaid(r policy.Result, err error) bool {
	verdict, control := r.Alone()
	return err == nil && verdict <= policy.Allow && control == policy.Go && len(r.Warnings) == 0
}

// TestRefusalsAreHeard: an answer that refuses, in the words of whatever agent, refuses,
// fails, or is said to be without effect, whatever protocol the hook speaks.
func TestRefusalsAreHeard(t *testing.T) {
	answers := []string{`{"Decision": "deny"}`, `{"verdict": "deny"}`, `{"action": "abort"}`, `{"permission": "deny"}`, `{"permissionDecision": "ask"}`,
		`{"permission_decision": "BLOCK"}`, `{"hookSpecificOutput": {"Decision": "deny"}}`, `{"hookSpecificOutput": {"hookEventName": "PreToolUse", "decision": "block"}}`,
		`{"output": [{"decision": "deny"}]}`, `{"decision": "Denied"}`, `[{"decision": "deny"}]`, `{"allow": false}`, `{"block": true}`,
		"checking\n{\"decision\": \"deny\"}", "[1]\n{\"decision\": \"block\"}\nok", "\ufeff{\"decision\": \"deny\"}", "\ufeff{\"decision\": \"block\"}"}
	file := filepath.Join(t.TempDir(), "answer")
	for _, protocol := range agent.Protocols() {
		for _, answer := range answers {
			require.NoError(t, os.WriteFile(file, []byte(answer), 0o644))
			r, err := run(t, shell("cat "+file, policy.Protocol(protocol)), call(t))
			assert.False(t, unsaid(r, err), "%s: %q", protocol, answer)
		}
		for _, answer := range []string{"", "{}", "formatted 3 files", `{"continue": true}`, `{"count": 3, "skipped": ["a"]}`} {
			require.NoError(t, os.WriteFile(file, []byte(answer), 0o644))
			r, _ := run(t, shell("cat "+file, policy.Protocol(protocol)), call(t))
			for _, w := range r.Warnings {
				assert.NotEqual(t, codeUnheard, w.Code, "%s: %q", protocol, answer)
			}
		}
	}
}

// TestMarkOfEncoding: a byte order mark before an answer takes nothing from it.
func TestMarkOfEncoding(t *testing.T) {
	for protocol, answer := range map[policy.Protocol]string{"": `{"decision": "deny"}`, "claude": `{"decision": "block"}`, "codex": `{"decision": "block"}`,
		"agenthooks": `{"decision": "deny"}`, "cursor": `{"permission": "deny"}`} {
		r, err := run(t, shell(`printf '\357\273\277`+answer+`'`, protocol), call(t))
		require.NoError(t, err, protocol)
		assert.Equal(t, policy.Deny, r.Verdict, protocol)
	}
}

// TestLateAnswerIsTold: what a process that a script left behind would have answered is
// lost, and said to be.
func TestLateAnswerIsTold(t *testing.T) {
	for _, protocol := range []policy.Protocol{"", "claude", "gemini"} {
		r, err := run(t, shell(`(sleep 5; echo '{"decision": "deny"}') & exit 0`, protocol), call(t))
		require.NoError(t, err)
		require.Len(t, r.Warnings, 1, protocol)
		assert.Equal(t, codeUnheard, r.Warnings[0].Code)
	}
	r, err := run(t, shell(`(sleep 0.1; echo '{}') & exit 0`, ""), call(t))
	require.NoError(t, err)
	assert.Empty(t, r.Warnings, "it came in time")
}
