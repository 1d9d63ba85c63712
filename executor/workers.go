package executor

import (
	"context"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// liveWorkers are the workers of a real firing: one goroutine a process or
// model node.
// The Executor owns the goroutines, so that an answer need not wait for those
// it no longer wants.
type liveWorkers struct {
	x       *Executor
	plan    *dag.Plan
	until   time.Time
	overdue <-chan time.Time
	// reports has room for every report there can be: a goroutine never waits
	// for a firing that has its answer.
	reports chan report
	stops   map[int]context.CancelFunc
}

// scheduled fires a plan that needs goroutines; ok is false when ctx ended
// first.
func (x *Executor) scheduled(ctx context.Context, w *schedule, p *pick, in *policy.Context) (a *Answer, after *policy.Context, ok bool) {
	x.running.Add()
	defer x.running.Done()
	run, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &liveWorkers{x: x, plan: w.plan, reports: make(chan report, 2*p.count), stops: make(map[int]context.CancelFunc, p.count)}
	if w.plan.Deadline > 0 {
		c.until = time.Now().Add(w.plan.Deadline)
	}
	if w.plan.Deadline > 0 && cuts(w.plan) {
		timer := time.NewTimer(w.plan.Deadline)
		defer timer.Stop()
		c.overdue = timer.C
	}
	f := newRun(x, w, p, in, c)
	ok = f.run(run)
	return f.answer, f.after, ok
}

func (c *liveWorkers) start(ctx context.Context, i int, in *policy.Context) {
	ctx, cancel := context.WithCancel(ctx)
	c.stops[i] = cancel
	c.x.running.Add()
	go func() {
		defer c.x.running.Done()
		defer cancel()
		begun := time.Now()
		call := caller{plan: c.plan, n: &c.plan.Nodes[i], until: c.until}
		call.expired = func(err error, attempts int) {
			c.reports <- report{node: i, err: err, attempts: attempts, took: time.Since(begun)}
		}
		out, attempts, err := call.calls(ctx, in)
		c.reports <- report{node: i, out: out, err: err, attempts: attempts, took: time.Since(begun), gone: true}
	}()
}

func (c *liveWorkers) stop(i int) { c.stops[i]() }

func (c *liveWorkers) detach(ctx context.Context, i int, in *policy.Context) *policy.Warning {
	return c.x.async.take(ctx, &c.plan.Nodes[i], in)
}

func (c *liveWorkers) next(ctx context.Context) (report, bool) {
	select {
	case r := <-c.reports:
		return r, r.err == nil || ctx.Err() == nil && !passed(ctx) // what failed because the caller gave up is no answer
	case <-c.overdue:
		return report{overdue: true}, true
	case <-ctx.Done():
		return report{}, false
	}
}
