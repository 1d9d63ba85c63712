package executor

import (
	"context"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// realWorld is the World of `hookc run --serial`: the nodes' runners and the
// clock. It lives for one firing, whose context it therefore holds: World's
// methods take none, as the definition knows nothing of cancelling.
type realWorld struct {
	*schedule
	x     *Executor
	ctx   context.Context
	until time.Time
	// took, failed and spared are by node, for the trace and for metrics.
	// spared are attempts that the definition counted and asked for, and for
	// which there was no time, or no caller any more.
	spared map[*dag.Node]int
	took   map[*dag.Node]time.Duration
	failed map[*dag.Node]error
	// cut is the node that was running when the caller gave up; over is true once the
	// clock says that, before ctx does, or a node was not started for that.
	cut  *dag.Node
	over bool
	// fails is why a node cannot be evaluated.
	fails func(*dag.Node) error
}

// serially fires through the definition.
func (x *Executor) serially(ctx context.Context, w *schedule, in *policy.Context, fails func(*dag.Node) error) *policy.Decision {
	x.running.Add()
	defer x.running.Done()
	world := &realWorld{schedule: w, x: x, ctx: ctx, fails: fails,
		spared: map[*dag.Node]int{}, took: map[*dag.Node]time.Duration{}, failed: map[*dag.Node]error{}}
	if w.plan.Deadline > 0 {
		world.until = time.Now().Add(w.plan.Deadline)
	}
	d, calls := Serial(x.prog, w.plan, in, world)
	if ctx.Err() != nil || world.over {
		world.abandon(d)
		return x.cancelled(w.plan.Event, in, d.Hooks)
	}
	if len(calls) > 0 {
		world.account(d)
	}
	return d
}

func (w *realWorld) Call(n *dag.Node, in *policy.Context, attempt int) (policy.Result, error) {
	err := w.ctx.Err()
	if err == nil && (w.over || !n.Exempt() && passed(w.ctx)) {
		err = context.DeadlineExceeded
	}
	if err != nil {
		w.over = true
		w.spared[n]++
		return policy.Result{}, err
	}
	if n.Hook.Async {
		if warning := w.x.async.take(w.ctx, n, in); warning != nil {
			return policy.Result{Warnings: []policy.Warning{*warning}}, nil
		}
		return policy.Result{}, nil
	}
	begun := time.Now()
	out, err := w.once(n, in, attempt)
	w.took[n] += time.Since(begun)
	w.failed[n] = err
	if late := err != nil && !n.Exempt() && passed(w.ctx); late || w.ctx.Err() != nil {
		w.cut, w.over = n, w.over || late
	}
	if out == nil {
		return policy.Result{}, err
	}
	return *out, err
}

func (w *realWorld) once(n *dag.Node, in *policy.Context, attempt int) (*policy.Result, error) {
	if err := w.fails(n); err != nil {
		return nil, err
	}
	if n.Exempt() {
		b := newBudget(w.ctx, clock())
		b.begin(0, n.Timeout, false)
		return step(w.ctx, n, in, attempt, b)
	}
	c := caller{plan: w.plan, n: n, until: w.until}
	if failed := w.failed[n]; attempt > 0 && !c.pause(w.ctx, failed) {
		w.spared[n]++
		return nil, failed
	}
	limit, cause, ok := c.allowance(attempt)
	if !ok {
		w.spared[n]++
		return nil, lateError(w.plan, attempt)
	}
	return c.call(w.ctx, in, attempt, limit, cause)
}

// Late looks at the clock; a deadline that strikes later is the answer of the
// Call it strikes.
func (w *realWorld) Late(n *dag.Node) int {
	if n.Exempt() || n.Hook.Async || w.until.IsZero() || time.Now().Before(w.until) {
		return -1
	}
	return 0
}

func (w *realWorld) Memo(key string) (*Answer, bool) { return w.x.guard.recall(key) }

func (w *realWorld) Store(key string, a *Answer) {
	if w.ctx.Err() == nil && !w.over {
		w.x.guard.keep(key, a)
	}
}

// abandon corrects the trace of a chain whose caller gave up: the definition
// goes on, and takes what was cut short, or not begun any more, for failed.
func (w *realWorld) abandon(d *policy.Decision) {
	for i := range d.Hooks {
		t, n := &d.Hooks[i], &w.plan.Nodes[i]
		t.Attempts -= w.spared[n]
		switch {
		case n == w.cut:
			t.Status = policy.StatusSquashed
		case w.spared[n] > 0 && t.Attempts == 0:
			t.Status = policy.StatusNotStarted
		}
	}
}

// account adds times to a Decision's trace and reports the runs.
func (w *realWorld) account(d *policy.Decision) {
	for i := range d.Hooks {
		t, n := &d.Hooks[i], &w.plan.Nodes[i]
		t.Micros = w.took[n].Microseconds()
		t.Attempts -= w.spared[n]
		if t.Status == policy.StatusNotStarted {
			continue
		}
		w.x.report(w.schedule, i, t.Status, t.Attempts, w.took[n], w.failed[n])
	}
}
