package executor

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/policy"
)

// TestNextAfterTheCaller: when the caller gave up and a body that failed for
// that has reported it, the two are there at once; the firing is cancelled
// whichever is looked at first.
func TestNextAfterTheCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 64 {
		c := &liveWorkers{reports: make(chan report, 1)}
		c.reports <- report{err: errors.New("timed out"), gone: true}
		_, ok := c.next(ctx)
		assert.False(t, ok)
	}
}

// A body learns from the clock that its caller's deadline has passed, as a connection
// does, and fails before its caller's context is over: the firing is cancelled,
// whatever the hook's posture says.
func TestFailureBeforeTheCallerIsTold(t *testing.T) {
	for name, fire := range map[string]func(*Executor) fireHow{
		"scheduled": func(x *Executor) fireHow { return x.Fire }, "serial": func(x *Executor) fireHow { return x.FireSerial },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				plan := planOf(t, policy.PreToolExecution, policy.Chain,
					hook{name: "model", kind: policy.KindLLM, onError: policy.OnErrorDeny,
						run: func(context.Context, *policy.Context, int) (policy.Result, error) {
							time.Sleep(10 * ms)
							return policy.Result{}, policy.Failf(policy.ErrTimeout, "i/o timeout")
						}})
				x := New(programOf(plan), Options{})
				defer x.Close()
				d := fire(x)(untold{t.Context(), time.Now().Add(5 * ms)}, plan.Event, bashCall())
				assert.Equal(t, policy.Cancelled, d.Action)
				assert.Equal(t, policy.StatusSquashed, d.Hooks[0].Status)
				assert.Empty(t, d.Failed)
			})
		})
	}
}
