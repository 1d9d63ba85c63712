package hookc_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
)

// least is how many allocations a call of f makes on its own: the writer of a log works
// beside it, so the least of many short rounds counts, each begun when it is idle.
func least(idle, f func()) float64 {
	n := -1.0
	for range 40 {
		idle()
		if got := testing.AllocsPerRun(50, f); n < 0 || got < n {
			n = got
		}
	}
	return n
}

// TestLogTakesNoMemory: a decision that is logged takes as many allocations on its own
// path as one that is not, whatever the host hands over and whatever is decided.
func TestLogTakesNoMemory(t *testing.T) {
	const text = `
pre_tool_execution:
  - {name: no-rm, deny: 'command contains "rm"', reason: no removal}
  - {name: push, ask: 'command contains "push"', reason: others see it}
`
	plain, err := hookc.Open(t.Context(), hookc.Text("hooks.yaml", text))
	require.NoError(t, err)
	logged, err := hookc.Open(t.Context(), hookc.Text("hooks.yaml", text), hookc.Log(filepath.Join(t.TempDir(), "log"), hookc.LogOptions{Agent: "mine"}))
	require.NoError(t, err)
	for _, command := range []string{"ls", "rm x", "git push"} {
		raw := policy.NewContext(hookc.PreToolExecution).Set(policy.FieldToolName, "Bash").Set(policy.FieldCwd, "/").
			Set(policy.FieldToolInput, map[string]any{"command": command})
		for name, in := range map[string]*policy.Context{"frozen": raw.Frozen(hookc.PreToolExecution), "raw": raw} {
			fire := func(eng *hookc.Engine) func() {
				return func() {
					if _, err := eng.Fire(t.Context(), hookc.PreToolExecution, in); err != nil {
						t.Error(err)
					}
				}
			}
			want, got := least(func() {}, fire(plain)), least(fire(logged), fire(logged))
			require.Equal(t, want, got, "%s, %s", command, name)
		}
	}
	require.NoError(t, logged.Close())
	require.NoError(t, plain.Close())
}
