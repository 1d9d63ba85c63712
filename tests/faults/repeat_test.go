package faults

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// faultCall is one call of a tool; with an id the duplicate guard knows it.
func faultCall(dir, id string) *policy.Context {
	return policy.NewContext("").
		Set(policy.FieldSessionID, "s").
		Set(policy.FieldCwd, dir).
		Set(policy.FieldToolUseID, id).
		Set(policy.FieldToolName, "Bash").
		Set(policy.FieldToolInput, map[string]any{"command": "ls"})
}

// What failed or was cancelled is not what the duplicate guard gives again.
func TestFaultsAreNotRemembered(t *testing.T) {
	for name, broken := range map[string]string{"failed": "exit 3", "timed out": "exec sleep 30", "cancelled": "exec sleep 20"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			mended := filepath.Join(dir, "mended")
			eng := openText(t, `
pre_tool_execution:
  - {name: scan, command: '[ -e "`+mended+`" ] || `+broken+`; echo "{\"decision\": \"deny\", \"reason\": \"scanned\"}"', timeout: 1, on_error: skip}
`)
			ctx, want := t.Context(), policy.Proceed
			if name == "cancelled" {
				short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
				defer cancel()
				ctx, want = short, policy.Cancelled
			}
			d, err := eng.Fire(ctx, hookc.PreToolExecution, faultCall(dir, "c"))
			require.NoError(t, err)
			require.Equal(t, want, d.Action)
			require.NoError(t, os.WriteFile(mended, nil, 0o644))
			for range 2 {
				d = fired(t, eng, hookc.PreToolExecution, faultCall(dir, "c"))
				require.Equal(t, policy.Block, d.Action)
				require.Equal(t, []string{"scanned"}, d.Reasons)
			}
		})
	}
}

// A Go rule of the embedder's that says it cannot fail, and panics, is still a
// rule that may end the chain: no later process is started before it is known.
func TestFaultPanicOfARuleThatCannotFail(t *testing.T) {
	dir := t.TempDir()
	liar := rule.Rule{Name: "liar", Doc: "panics", New: func(*policy.Hook, rule.Options) (rule.Made, diag.List) {
		run := func(context.Context, *policy.Context, int) (policy.Result, error) { panic("impossible") }
		command := policy.NewPaths(policy.Path{Field: policy.FieldToolInput, Keys: []string{"command"}})
		return rule.Made{Runner: policy.RunnerFunc(run), Effects: policy.Effects{Reads: command, World: policy.WorldNone, Spec: true}}, nil
	}}
	started := filepath.Join(dir, "started")
	eng, err := hookc.Open(t.Context(), hookc.Rules(liar), hookc.Text("hooks.yaml", `
pre_tool_execution:
  - {name: rewrite, command: "sleep 0.2", world: read, writes: [tool_input.command], may: []}
  - {name: liar, type: builtin, use: liar}
  - {name: later, command: ': >"`+started+`"', world: read, reads: [], writes: [], may: []}
`))
	require.NoError(t, err)
	d, err := eng.Fire(t.Context(), hookc.PreToolExecution, faultCall(dir, ""))
	require.NoError(t, err)
	require.NoError(t, eng.Close())
	assert.Equal(t, policy.Block, d.Action)
	assert.Equal(t, []string{"liar: panic in liar: impossible"}, d.Reasons)
	assert.NoFileExists(t, started, "serially the chain ends before this hook")
}

// Concurrent callers with one id share one run, also when it fails.
func TestFaultSharedByDuplicates(t *testing.T) {
	dir := t.TempDir()
	count := filepath.Join(dir, "count")
	eng, err := hookc.Open(t.Context(), hookc.Text("hooks.yaml", `
pre_tool_execution:
  - {name: scan, command: 'echo called >>"`+count+`"; sleep 0.3; exit 3', on_error: deny}
`))
	require.NoError(t, err)
	defer eng.Close()
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			d, err := eng.Fire(t.Context(), hookc.PreToolExecution, faultCall(dir, "c"))
			assert.NoError(t, err)
			assert.Equal(t, policy.Block, d.Action)
			assert.Equal(t, []string{"scan: exit status 3"}, d.Reasons)
		})
	}
	all.Wait()
	text, err := os.ReadFile(count)
	require.NoError(t, err)
	assert.Equal(t, "called\n", string(text))
}
