package hookc_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/policy"
)

// TestLog: an engine with a log keeps every decision of Fire, FireInto and FireJSON, masked as its
// options and its policy say, and refuses what it must log and cannot.
func TestLog(t *testing.T) {
	const text = `
log: {enabled: false, mask: [/input/tool_input/body]}
pre_tool_execution:
  - {name: no-rm, deny: 'command contains "rm"', reason: no removal}
`
	call := func() *policy.Context {
		return policy.NewContext(hookc.PreToolExecution).Set(policy.FieldToolName, "Bash").
			Set(policy.FieldToolInput, map[string]any{"command": "rm x", "note": "words", "body": "text"}).Frozen(hookc.PreToolExecution)
	}
	dir := filepath.Join(t.TempDir(), "log")
	eng, err := hookc.Open(t.Context(), hookc.Text("hooks.yaml", text), hookc.Log(dir, hookc.LogOptions{Durable: true, Deny: true, Agent: "mine", Mask: []string{"/input/tool_input/note"}}))
	require.NoError(t, err)
	for range 2 {
		d, err := eng.Fire(t.Context(), hookc.PreToolExecution, call())
		require.NoError(t, err)
		require.Equal(t, "no-rm", d.By)
		require.Empty(t, d.Warnings)
	}
	var m hookc.Reused
	_, err = eng.FireInto(t.Context(), hookc.PreToolExecution, call(), &m)
	require.NoError(t, err)
	_, err = eng.FireJSON(t.Context(), hookc.PreToolExecution, []byte(`{"tool_name":"Bash","tool_input":{"command":"rm x","note":"words","body":"text"}}`))
	require.NoError(t, err)
	require.NoError(t, eng.Close())
	n := 0
	for e, err := range decisionlog.Entries(dir) {
		require.NoError(t, err)
		if e.Type != "decision" {
			continue
		}
		n++
		require.Equal(t, "mine", e.Labels["agent"])
		require.Equal(t, "block", e.Result["action"])
		require.Equal(t, []string{"/input/tool_input/body", "/input/tool_input/note"}, e.Masked)
	}
	require.Equal(t, 4, n)

	blocked := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	for _, deny := range []bool{true, false} {
		eng, err := hookc.Open(t.Context(), hookc.Text("hooks.yaml", "pre_tool_execution: []"), hookc.Log(blocked, hookc.LogOptions{Deny: deny}))
		require.NoError(t, err)
		d, err := eng.Fire(t.Context(), hookc.PreToolExecution, call())
		require.NoError(t, err)
		require.Equal(t, deny, !d.Permits())
		require.Equal(t, "HK183", d.Warnings[0].Code.ID)
		require.NoError(t, eng.Close())
	}
	_, err = hookc.Open(t.Context(), hookc.NoPolicy(), hookc.Log("here", hookc.LogOptions{Mask: []string{"x"}}))
	require.ErrorContains(t, err, "absolute path")
	require.ErrorContains(t, err, "mask has")
}
