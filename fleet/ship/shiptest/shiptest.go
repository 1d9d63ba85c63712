// Package shiptest writes records of decisions for tests of what ships them.
package shiptest

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/policy"
)

// Record writes decisions to the record in dir: those of the sessions from…to-1, each on
// the command that command names for it.
func Record(t testing.TB, dir string, from, to int, command func(i int) string) {
	t.Helper()
	w, err := decisionlog.Open(dir, decisionlog.Options{MaxSize: 16 << 10})
	require.NoError(t, err)
	for i := from; i < to; i++ {
		in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Bash").Set(policy.FieldSessionID, strconv.Itoa(i)).
			Set(policy.FieldToolInput, map[string]any{"command": command(i)})
		require.NoError(t, w.Add(t.Context(), decisionlog.Decided{Event: policy.PreToolExecution, In: in.Frozen(policy.PreToolExecution), Agent: "claude",
			Decision: &policy.Decision{Event: policy.PreToolExecution, Action: policy.Block, Verdict: policy.Deny, Reasons: []string{"no"}}}))
	}
	require.NoError(t, w.Close())
}

// Until runs a shipper until something holds.
func Until(t testing.TB, shipper interface {
	Run(context.Context, time.Duration)
}, what string, ok func() bool) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { shipper.Run(ctx, 0) })
	defer running.Wait()
	defer stop()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "%s did not happen", what)
	}
}
