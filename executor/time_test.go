package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// both fires through the scheduler and through the definition.
func both(t *testing.T, plan *dag.Plan, check func(t *testing.T, d *policy.Decision, took time.Duration)) {
	for name, how := range map[string]func(*Executor) fireHow{
		"scheduled": func(x *Executor) fireHow { return x.Fire },
		"serial":    func(x *Executor) fireHow { return x.FireSerial },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := New(programOf(plan), Options{})
				defer x.Close()
				var d *policy.Decision
				took := elapsed(func() { d = how(x)(t.Context(), plan.Event, bashCall()) })
				check(t, d, took)
			})
		})
	}
}

func TestTimeoutsAndRetries(t *testing.T) {
	plan := planOf(t, policy.PreToolExecution, policy.Chain,
		hook{name: "slow", timeout: 100 * ms, retry: 2, onError: policy.OnErrorSkip, onTimeout: policy.OnErrorDeny, run: takes(time.Hour, policy.Result{})})
	both(t, plan, func(t *testing.T, d *policy.Decision, took time.Duration) {
		assert.Equal(t, 300*ms, took)
		assert.Equal(t, policy.Block, d.Action)
		assert.Equal(t, []policy.Failure{{Hook: "slow", Kind: policy.ErrTimeout, Error: "timed out after 100ms", OnError: policy.OnErrorDeny}}, d.Failed)
		assert.Equal(t, 3, d.Hooks[0].Attempts)
		assert.Equal(t, (300 * ms).Microseconds(), d.Hooks[0].Micros)
	})
}

func TestRetryOnlyOnErrorAndAtOnce(t *testing.T) {
	plan := planOf(t, policy.PreToolExecution, policy.Chain,
		hook{name: "flaky", retry: 3, run: func(_ context.Context, _ *policy.Context, a int) (policy.Result, error) {
			if a < 2 {
				return policy.Result{}, policy.Failf(policy.ErrExit, "exit %d", a)
			}
			return deny("at last"), nil
		}})
	both(t, plan, func(t *testing.T, d *policy.Decision, took time.Duration) {
		assert.Zero(t, took)
		assert.Equal(t, []string{"at last"}, d.Reasons)
		assert.Empty(t, d.Failed)
		assert.Equal(t, 3, d.Hooks[0].Attempts)
	})
}

// TestRetryWaitsAsAsked: between two attempts as long as the failure says, but
// not for what an attempt may not last or the chain has no time for: then the
// failure stands at once.
func TestRetryWaitsAsAsked(t *testing.T) {
	rows := []struct {
		name     string
		after    []time.Duration
		timeout  time.Duration
		deadline time.Duration
		attempts int
		took     time.Duration
		fails    bool
	}{
		{name: "each its own", after: []time.Duration{2 * time.Second, 0, 300 * ms}, attempts: 4, took: 2300 * ms},
		{name: "within the timeout", after: []time.Duration{2 * time.Second}, timeout: 2 * time.Second, attempts: 2, took: 2 * time.Second},
		{name: "longer than an attempt", after: []time.Duration{100 * ms, 2 * time.Second}, timeout: time.Second, attempts: 2, took: 100 * ms, fails: true},
		{name: "within the deadline", after: []time.Duration{time.Second}, deadline: 1050 * ms, attempts: 2, took: time.Second},
		{name: "beyond the deadline", after: []time.Duration{time.Second}, deadline: 1049 * ms, attempts: 1, fails: true},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			plan := planOf(t, policy.PreToolExecution, policy.Chain,
				hook{name: "throttled", retry: 3, timeout: row.timeout, onError: policy.OnErrorDeny, onTimeout: policy.OnErrorSkip, run: func(_ context.Context, _ *policy.Context, a int) (policy.Result, error) {
					if a < len(row.after) {
						return policy.Result{}, &policy.HookError{Kind: policy.ErrNetwork, Text: "later", After: row.after[a]}
					}
					return policy.Result{}, nil
				}})
			plan.Deadline = row.deadline
			both(t, plan, func(t *testing.T, d *policy.Decision, took time.Duration) {
				assert.Equal(t, row.took, took)
				assert.Equal(t, row.attempts, d.Hooks[0].Attempts)
				assert.Equal(t, row.fails, d.Action == policy.Block)
				if row.fails {
					assert.Equal(t, []policy.Failure{{Hook: "throttled", Kind: policy.ErrNetwork, Error: "later", OnError: policy.OnErrorDeny}}, d.Failed)
				}
			})
		})
	}
}

// A caller that gives up while a retry waits does not wait for it.
func TestRetryWaitEndsWithTheCaller(t *testing.T) {
	plan := planOf(t, policy.PreToolExecution, policy.Chain,
		hook{name: "throttled", retry: 3, run: func(context.Context, *policy.Context, int) (policy.Result, error) {
			return policy.Result{}, &policy.HookError{Kind: policy.ErrNetwork, Text: "later", After: time.Minute}
		}})
	for _, how := range []func(*Executor) fireHow{func(x *Executor) fireHow { return x.Fire }, func(x *Executor) fireHow { return x.FireSerial }} {
		synctest.Test(t, func(t *testing.T) {
			x := New(programOf(plan), Options{})
			defer x.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			var d *policy.Decision
			assert.Equal(t, time.Second, elapsed(func() { d = how(x)(ctx, plan.Event, bashCall()) }))
			assert.False(t, d.Permits())
		})
	}
}

// The deadline strikes a running hook and one that has not started; each obeys
// its own posture, in item order, and rules are exempt.
func TestChainDeadline(t *testing.T) {
	plan := planOf(t, policy.PreToolExecution, policy.Chain,
		hook{name: "running", timeout: time.Minute, onTimeout: policy.OnErrorSkip, retry: 5, run: takes(time.Hour, policy.Result{})},
		hook{name: "filtered", tool: "Edit", onTimeout: policy.OnErrorDeny},
		hook{name: "rule", kind: policy.KindExpr, run: says(policy.Result{Context: []string{"exempt"}})},
		hook{name: "waiting", onTimeout: policy.OnErrorAsk})
	plan.Deadline = time.Second
	both(t, plan, func(t *testing.T, d *policy.Decision, took time.Duration) {
		assert.Equal(t, time.Second, took)
		assert.Equal(t, policy.AskUser, d.Action)
		assert.Equal(t, []string{"exempt"}, d.Context)
		assert.Equal(t, []policy.Status{failedHook, policy.StatusFiltered, ran, failedHook}, statuses(d))
		assert.Equal(t, []int{1, 0, 1, 0}, []int{d.Hooks[0].Attempts, d.Hooks[1].Attempts, d.Hooks[2].Attempts, d.Hooks[3].Attempts})
		for _, f := range d.Failed {
			assert.Equal(t, policy.ErrDeadline, f.Kind)
			assert.Equal(t, "chain deadline of 1s reached", f.Error)
		}
	})
}

func TestRetryNeedsFiftyMillisecondsOfChainTime(t *testing.T) {
	fails := func(ctx context.Context, in *policy.Context, a int) (policy.Result, error) {
		time.Sleep(960 * ms)
		return policy.Result{}, policy.Failf(policy.ErrExit, "exit 1")
	}
	plan := planOf(t, policy.PreToolExecution, policy.Chain, hook{name: "a", retry: 2, run: fails})
	plan.Deadline = time.Second
	both(t, plan, func(t *testing.T, d *policy.Decision, took time.Duration) {
		assert.Equal(t, 960*ms, took)
		assert.Equal(t, policy.ErrDeadline, d.Failed[0].Kind)
	})
}

// A hook that may have changed the world is waited for by those that look at
// it; a hook that cannot is not.
func TestTimedOutWriterIsDoneWhenItIsGone(t *testing.T) {
	for _, c := range []struct {
		world policy.World
		want  time.Duration
	}{{policy.WorldWrite, 350 * ms}, {policy.WorldRead, 100 * ms}} {
		synctest.Test(t, func(t *testing.T) {
			var second atomic.Int64
			begun := time.Now()
			plan := planOf(t, policy.PreToolExecution, policy.Chain,
				hook{name: "first", timeout: 100 * ms, world: c.world, run: stubborn(250 * ms)},
				hook{name: "second", world: policy.WorldRead, run: func(context.Context, *policy.Context, int) (policy.Result, error) {
					second.Store(int64(time.Since(begun)))
					return policy.Result{}, nil
				}})
			d := fireOnce(t, plan, bashCall())
			assert.Equal(t, []policy.Status{failedHook, ran}, statuses(d))
			assert.Equal(t, int64(c.want), second.Load())
		})
	}
}

func TestAnswerDoesNotWaitForATimedOutWriterNobodyFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := planOf(t, policy.PreToolExecution, policy.Chain, hook{name: "only", timeout: 100 * ms, run: stubborn(250 * ms)})
		x := New(programOf(plan), Options{})
		assert.Equal(t, 100*ms, elapsed(func() { x.Fire(t.Context(), plan.Event, bashCall()) }))
		assert.Equal(t, 250*ms, elapsed(x.Close))
	})
}

// Room is free when a body is gone, not when its answer is no longer awaited.
func TestTimedOutBodyKeepsItsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := planOf(t, policy.PreToolExecution, policy.Chain,
			hook{name: "a", timeout: 100 * ms, world: policy.WorldRead, writes: []string{}, mute: true, run: stubborn(250 * ms)},
			hook{name: "b", world: policy.WorldRead, writes: []string{}, mute: true, run: takes(10*ms, policy.Result{})})
		plan.MaxConcurrent = 1
		assert.Equal(t, 360*ms, elapsed(func() { fireOnce(t, plan, bashCall()) }))
	})
}

// What has not started when the deadline strikes does not wait for room.
func TestOverdueNeedsNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quietHook := func(name string, run bodyFunc) hook {
			return hook{name: name, world: policy.WorldRead, writes: []string{}, mute: true, run: run}
		}
		plan := planOf(t, policy.PreToolExecution, policy.Chain, quietHook("a", stubborn(250*ms)), quietHook("b", quiet))
		plan.Deadline, plan.MaxConcurrent = 100*ms, 1
		x := New(programOf(plan), Options{})
		defer x.Close()
		var d *policy.Decision
		assert.Equal(t, 100*ms, elapsed(func() { d = x.Fire(t.Context(), plan.Event, bashCall()) }))
		assert.Equal(t, []policy.Status{failedHook, failedHook}, statuses(d))
		assert.Equal(t, []int{1, 0}, []int{d.Hooks[0].Attempts, d.Hooks[1].Attempts})
	})
}

func TestStepBudget(t *testing.T) {
	plan := planOf(t, policy.PreToolExecution, policy.Chain,
		hook{name: "rule", kind: policy.KindBuiltin, timeout: 100 * ms, onTimeout: policy.OnErrorDeny, run: takes(time.Hour, policy.Result{})})
	both(t, plan, func(t *testing.T, d *policy.Decision, took time.Duration) {
		assert.Equal(t, 100*ms, took)
		assert.Equal(t, []policy.Failure{{Hook: "rule", Kind: policy.ErrBudget, Error: "used up its budget of 100ms", OnError: policy.OnErrorDeny}}, d.Failed)
	})
}

// On a busy machine a rule's time may pass without its doing. What it fails
// with is then still what it failed with, and on_error decides.
func TestFailureIsNotLateForABusyMachine(t *testing.T) {
	fails := func(wait time.Duration, err error) bodyFunc {
		return func(context.Context, *policy.Context, int) (policy.Result, error) {
			time.Sleep(wait)
			return policy.Result{}, err
		}
	}
	for want, run := range map[policy.ErrKind]bodyFunc{
		policy.ErrEval:   fails(300*ms, errors.New("conflict")),
		policy.ErrParse:  fails(300*ms, policy.Failf(policy.ErrParse, "half an answer")),
		policy.ErrBudget: fails(300*ms, fmt.Errorf("asking: %w", os.ErrDeadlineExceeded)),
	} {
		plan := planOf(t, policy.PreToolExecution, policy.Chain,
			hook{name: "rule", kind: policy.KindBuiltin, timeout: 100 * ms, onError: policy.OnErrorDeny, onTimeout: policy.OnErrorSkip, run: run},
			hook{name: "next", kind: policy.KindBuiltin, timeout: 100 * ms, run: quiet})
		both(t, plan, func(t *testing.T, d *policy.Decision, _ time.Duration) {
			assert.Equal(t, want, d.Failed[0].Kind)
			assert.Equal(t, want == policy.ErrBudget, d.Permits())
		})
	}
}

// What a rule answers after it was told to stop may be half an answer; a rule
// that never asks whether to stop is believed, however long it took.
func TestAnswerOfARuleThatWasToldToStop(t *testing.T) {
	half := policy.Result{Context: []string{"half"}}
	for name, c := range map[string]struct {
		run  bodyFunc
		late bool
	}{
		"asked Err": {func(ctx context.Context, _ *policy.Context, _ int) (policy.Result, error) {
			for ctx.Err() == nil {
				time.Sleep(30 * ms)
			}
			return half, nil
		}, true},
		"waited for Done, says nothing": {func(ctx context.Context, _ *policy.Context, _ int) (policy.Result, error) {
			<-ctx.Done()
			return policy.Result{}, nil
		}, true},
		"asked in time": {func(ctx context.Context, _ *policy.Context, _ int) (policy.Result, error) {
			time.Sleep(30 * ms)
			return half, ctx.Err()
		}, false},
		"asked after a stall": {func(ctx context.Context, _ *policy.Context, _ int) (policy.Result, error) {
			for range 3 { // a busy machine let it work for moments alone
				time.Sleep(300 * ms)
				if err := ctx.Err(); err != nil {
					return policy.Result{}, err
				}
			}
			return half, nil
		}, false},
		"asked after ten budgets": {func(ctx context.Context, _ *policy.Context, _ int) (policy.Result, error) {
			time.Sleep(1001 * ms)
			return half, ctx.Err()
		}, true},
		"never asked": {func(context.Context, *policy.Context, int) (policy.Result, error) {
			time.Sleep(300 * ms)
			return half, nil
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			plan := planOf(t, policy.PreToolExecution, policy.Chain,
				hook{name: "rule", kind: policy.KindBuiltin, timeout: 100 * ms, onError: policy.OnErrorSkip, onTimeout: policy.OnErrorDeny, run: c.run},
				hook{name: "next", kind: policy.KindBuiltin, timeout: 100 * ms, run: quiet})
			both(t, plan, func(t *testing.T, d *policy.Decision, _ time.Duration) {
				if !c.late {
					assert.Equal(t, []any{policy.Proceed, []string{"half"}, 0}, []any{d.Action, d.Context, len(d.Failed)})
					return
				}
				assert.Equal(t, []policy.Failure{{Hook: "rule", Kind: policy.ErrBudget, Error: "used up its budget of 100ms", OnError: policy.OnErrorDeny}}, d.Failed)
				assert.Equal(t, []any{policy.Block, 0}, []any{d.Action, len(d.Context)})
			})
		})
	}
}

// A busy machine must not look like a plan that differs from its definition.
func TestValidationHasNoClock(t *testing.T) {
	plan := planOf(t, policy.PreToolExecution, policy.Chain,
		hook{name: "a", kind: policy.KindExpr, timeout: 1, onError: policy.OnErrorSkip, onTimeout: policy.OnErrorDeny, run: quiet},
		hook{name: "b", kind: policy.KindBuiltin, timeout: 1, retry: 1, onTimeout: policy.OnErrorAbort, run: quiet},
		hook{name: "c", timeout: 1, onTimeout: policy.OnErrorDeny, run: quiet})
	for i := range plan.Nodes {
		plan.Nodes[i].Effects.MayFail = true
	}
	assert.NoError(t, Validate(programOf(plan), plan))
}

func TestBudgetIsAContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept context.Context
		plan := planOf(t, policy.Notify, policy.Chain, hook{name: "rule", kind: policy.KindBuiltin, timeout: 100 * ms, retry: 1,
			run: func(ctx context.Context, _ *policy.Context, a int) (policy.Result, error) {
				kept = ctx
				until, ok := ctx.Deadline()
				assert.True(t, ok)
				assert.Equal(t, 100*ms, time.Until(until))
				assert.NoError(t, ctx.Err())
				time.Sleep(100 * ms)
				assert.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
				<-ctx.Done()
				<-ctx.Done()
				return policy.Result{}, errors.New("late")
			}})
		d := fireOnce(t, plan, nil)
		assert.Equal(t, policy.ErrBudget, d.Failed[0].Kind)
		<-kept.Done()
		assert.ErrorIs(t, kept.Err(), context.DeadlineExceeded)
	})
}

func TestHostContextWinsOverTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := planOf(t, policy.Notify, policy.Chain, hook{name: "rule", kind: policy.KindBuiltin, timeout: time.Second, run: takes(time.Hour, policy.Result{})})
		x := New(programOf(plan), Options{})
		defer x.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 10*ms)
		defer cancel()
		assert.Equal(t, policy.Cancelled, x.Fire(ctx, policy.Notify, nil).Action)
	})
}

func TestInProcessTimeIsTheNodesOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := planOf(t, policy.PreToolExecution, policy.Chain,
			hook{name: "log", async: true, run: quiet},
			hook{name: "look", kind: policy.KindBuiltin, world: policy.WorldRead, timeout: 100 * ms, run: quiet})
		x := New(programOf(plan), Options{Async: func(context.Context, *dag.Node, *policy.Context) error {
			time.Sleep(300 * ms) // starting a process takes a while
			return nil
		}})
		defer x.Close()
		d := x.Fire(t.Context(), plan.Event, bashCall())
		assert.Equal(t, []policy.Status{policy.StatusAsync, policy.StatusRan}, []policy.Status{d.Hooks[0].Status, d.Hooks[1].Status})
		assert.Zero(t, d.Hooks[1].Micros)
	})
}

// The time of a body is its own, unless it and those before it say that they
// take none to speak of. One that asks how long it has is not among those after.
func TestOnlyBriefBodiesShareTheirTime(t *testing.T) {
	for brief, want := range map[bool][]int64{false: {0, 20_000, 0}, true: {10_000, 10_000, 0}} {
		synctest.Test(t, func(t *testing.T) {
			plan := planOf(t, policy.PreToolExecution, policy.Chain,
				hook{name: "quick", kind: policy.KindBuiltin},
				hook{name: "slow", kind: policy.KindBuiltin, run: takes(20*ms, policy.Result{})},
				hook{name: "last", kind: policy.KindBuiltin})
			for i := range plan.Nodes {
				plan.Nodes[i].Brief, plan.Nodes[i].Timeout = brief, time.Second
			}
			var got []int64
			for _, h := range fireOnce(t, plan, bashCall()).Hooks {
				got = append(got, h.Micros)
			}
			assert.Equal(t, want, got, "brief %v", brief)
		})
	}
}
