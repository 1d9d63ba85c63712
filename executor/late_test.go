package executor

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// untold is a context whose deadline has passed before it is told, as on a
// machine that has too much to do.
type untold struct {
	context.Context
	until time.Time
}

func (u untold) Deadline() (time.Time, bool) { return u.until, true }

// A caller whose deadline passes while a rule is evaluated has given up: the
// rule's failure is no answer that a hook might follow, whenever the context is
// told. Killed by an executor that asked the context alone.
func TestNothingBeginsAfterTheCallersDeadline(t *testing.T) {
	for _, async := range []bool{false, true} {
		for name, fire := range map[string]func(*Executor) fireHow{
			"scheduled": func(x *Executor) fireHow { return x.Fire }, "serial": func(x *Executor) fireHow { return x.FireSerial },
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					followed := false
					plan := planOf(t, policy.PostToolExecution, policy.Chain,
						hook{name: "rule", kind: policy.KindExpr, writes: []string{}, onError: policy.OnErrorSkip,
							run: func(context.Context, *policy.Context, int) (policy.Result, error) {
								time.Sleep(10 * ms)
								return policy.Result{}, errors.New("no time left")
							}},
						hook{name: "follower", async: async, run: func(context.Context, *policy.Context, int) (policy.Result, error) {
							followed = true
							return policy.Result{}, nil
						}})
					prog := programOf(plan)
					prog.Pipelines = []*dag.Pipeline{{Name: "p", Steps: []dag.Step{{Event: plan.Event}}}}
					x := New(prog, Options{})
					ctx := untold{t.Context(), time.Now().Add(5 * ms)}
					d := fire(x)(ctx, plan.Event, bashCall())
					assert.Equal(t, policy.Cancelled, d.Action)
					assert.Equal(t, policy.StatusNotStarted, d.Hooks[1].Status)
					assert.Empty(t, d.Failed)
					out, err := x.Pipeline(ctx, "p", nil, bashCall())
					assert.NoError(t, err)
					assert.ErrorIs(t, out.Err, context.DeadlineExceeded)
					x.Close()
					assert.False(t, followed)
				})
			})
		}
	}
}
