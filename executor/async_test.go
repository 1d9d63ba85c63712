package executor

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor/durable"
	"github.com/hookc/hookc/policy"
)

func TestAsyncIsStartedAndNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var runs []Run
		plan := planOf(t, policy.PreToolExecution, policy.Chain,
			hook{name: "audit", async: true, timeout: time.Second, run: takes(300*ms, deny("ignored"))},
			hook{name: "stuck", async: true, timeout: 100 * ms, run: takes(time.Hour, policy.Result{})},
			hook{name: "next", world: policy.WorldRead, run: takes(10*ms, policy.Result{})})
		x := New(programOf(plan), Options{Observe: func(r Run) {
			mu.Lock()
			defer mu.Unlock()
			if r.Node.Hook.Async {
				r.Node, r.Err = nil, nil
				runs = append(runs, r)
			}
		}})
		ctx, cancel := context.WithCancel(t.Context())
		var d *policy.Decision
		assert.Equal(t, 10*ms, elapsed(func() { d = x.Fire(ctx, policy.PreToolExecution, bashCall()) }))
		cancel() // what the firing began outlives it
		assert.Equal(t, []policy.Status{policy.StatusAsync, policy.StatusAsync, ran}, statuses(d))
		assert.Equal(t, policy.Proceed, d.Action)
		assert.Equal(t, 290*ms, elapsed(x.Close))
		e := policy.PreToolExecution
		assert.Equal(t, []Run{
			{Event: e, Status: policy.StatusAsync, Attempts: 1}, {Event: e, Status: policy.StatusAsync, Attempts: 1},
			{Event: e, Status: policy.StatusFailed, Attempts: 1, Took: 100 * ms}, {Event: e, Status: ran, Attempts: 1, Took: 300 * ms},
		}, runs)
	})
}

func TestAsyncOverflowIsDroppedCountedAndReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := planOf(t, policy.Notify, policy.Chain,
			hook{name: "a", async: true, run: takes(time.Second, policy.Result{})},
			hook{name: "b", async: true, run: takes(time.Second, policy.Result{})})
		for _, how := range []func(*Executor) fireHow{func(x *Executor) fireHow { return x.Fire }, func(x *Executor) fireHow { return x.FireSerial }} {
			x := New(programOf(plan), Options{MaxAsync: 1})
			d := how(x)(t.Context(), policy.Notify, nil)
			assert.Equal(t, []policy.Warning{*durable.Dropped(&policy.Hook{Name: "b"}, "too many async hooks are running")}, d.Warnings)
			assert.EqualValues(t, 1, x.async.dropped.Load())
			x.Close()
		}
	})
}

func TestCloseEndsAsyncHooksAfterTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := planOf(t, policy.Notify, policy.Chain, hook{name: "a", async: true, run: stubborn(250 * ms)})
		x := New(programOf(plan), Options{})
		x.Fire(t.Context(), policy.Notify, nil)
		assert.Equal(t, 2250*ms, elapsed(x.Close))
		assert.Equal(t, durable.Dropped(&policy.Hook{}, "").Code, x.Fire(t.Context(), policy.Notify, nil).Warnings[0].Code)
	})
}

func TestAsyncIsHandedOver(t *testing.T) {
	var given []string
	plan := planOf(t, policy.Notify, policy.Chain,
		hook{name: "a", async: true, reads: []string{"message"}}, hook{name: "b", async: true})
	x := New(programOf(plan), Options{Async: func(_ context.Context, n *dag.Node, in *policy.Context) error {
		text, err := in.MarshalJSON()
		given = append(given, n.Hook.Name+string(text))
		if n.Hook.Name == "b" {
			return errors.New("no supervisor")
		}
		return err
	}})
	defer x.Close()
	d := x.Fire(t.Context(), policy.Notify, policy.NewContext("").Set(policy.FieldMessage, "hi").Set(policy.FieldLevel, "info"))
	assert.Equal(t, []string{`a{"event":"notify","message":"hi"}`, `b{"event":"notify","level":"info","message":"hi"}`}, given)
	assert.Equal(t, []policy.Warning{*durable.Dropped(&policy.Hook{Name: "b"}, "not handed over: no supervisor")}, d.Warnings)
}

// TestDurable: what a durable hook's promise lacks is in the Decision, and drops nothing.
func TestDurable(t *testing.T) {
	for name, async := range map[string]func(context.Context, *dag.Node, *policy.Context) error{
		"kept": func(context.Context, *dag.Node, *policy.Context) error { return nil },
		"kept here": func(_ context.Context, n *dag.Node, _ *policy.Context) error {
			if n.Hook.Durable {
				return &durable.NotKeptError{Why: "here"}
			}
			return nil
		},
		"no queue":    nil,
		"handed over": func(context.Context, *dag.Node, *policy.Context) error { return errors.New("no supervisor") },
	} {
		plan := planOf(t, policy.Notify, policy.Chain, hook{name: "a", async: true}, hook{name: "b", async: true})
		plan.Nodes[0].Hook.Durable = true
		x := New(programOf(plan), Options{Async: async})
		var texts []string
		for _, w := range x.Fire(t.Context(), policy.Notify, nil).Warnings {
			texts = append(texts, w.Code.ID+" "+w.Text)
		}
		assert.Equal(t, map[string][]string{"kept here": {"HK173 a is durable, and here"}, "no queue": {"HK173 a is durable, and it is started once: this process has no queue"},
			"handed over": {"HK172 a: dropped: not handed over: no supervisor", "HK172 b: dropped: not handed over: no supervisor"}}[name], texts, name)
		x.Close()
	}
}

func TestAsyncBehindAGateIsNotStartedAfterAHalt(t *testing.T) {
	plan := planOf(t, policy.PreToolExecution, policy.Chain,
		hook{name: "guard", kind: policy.KindExpr, run: says(deny("no"))},
		hook{name: "audit", async: true, run: func(context.Context, *policy.Context, int) (policy.Result, error) {
			panic("started")
		}})
	assert.Equal(t, []policy.Status{ran, notStarted}, statuses(fireOnce(t, plan, bashCall())))
}
