package executor

import (
	"context"
	"slices"
	"time"

	"github.com/hookc/hookc/policy"
)

// watch times nodes that run one after another with one look at the clock
// each.
type watch struct {
	start time.Time
	last  time.Duration
}

func newWatch() watch { return watch{start: time.Now()} }

// lap is the time since the lap before.
func (w *watch) lap() time.Duration {
	now := time.Since(w.start)
	took := now - w.last
	w.last = now
	return took
}

func (w *watch) now() time.Time { return w.start.Add(w.last) }

// inline is the serial loop for chains whose picked nodes are all evaluated in
// process: no goroutine, no lock, and results that say nothing are not joined.
func (x *Executor) inline(ctx context.Context, w *wiring, p *pick, s *policy.Context) (*Answer, *policy.Context, bool) {
	run := inlineRun{x: x, w: w, pick: p, watch: newWatch(), budgets: make([]budget, p.count),
		answer: &Answer{Hooks: slices.Clone(w.blank)}}
	plan, res := w.plan, &run.answer.Result
	for i := range plan.Items {
		item := &plan.Items[i]
		var block *policy.Result
		for _, m := range item.Members {
			r, spoke := run.node(ctx, m, s)
			if !spoke {
				continue
			}
			if plan.Nodes[m].RecheckOf >= 0 {
				r = r.Recheck(res)
			}
			if block == nil {
				block = new(policy.Result)
			}
			*block = policy.Join(item.Fold, *block, r)
		}
		if block != nil {
			s = s.With(block.Patch)
			*res = policy.Join(plan.Strategy.Fold, *res, *block)
			if plan.Strategy.Halt.Halts(block) {
				break
			}
		}
		if ctx.Err() != nil {
			return run.answer, s, false
		}
	}
	return run.answer, s, true
}

type inlineRun struct {
	x       *Executor
	w       *wiring
	pick    *pick
	watch   watch
	budgets []budget
	answer  *Answer
}

// node is what node m says in context s; spoke is false for nothing.
func (r *inlineRun) node(ctx context.Context, m int, s *policy.Context) (out policy.Result, spoke bool) {
	n, t := &r.w.plan.Nodes[m], &r.answer.Hooks[m]
	if !r.pick.nodes.has(m) || !matches(n, s) {
		t.Status = policy.StatusFiltered
		r.x.observe(Run{Event: r.w.plan.Event, Node: n, Status: policy.StatusFiltered})
		return policy.Result{}, false
	}
	b := &r.budgets[0]
	r.budgets = r.budgets[1:]
	out, attempts, err := evaluate(ctx, n, project(n, s), b, r.watch.now())
	took := r.watch.lap()
	t.Attempts, t.Micros = attempts, took.Microseconds()
	if err == nil && silent(&out) {
		t.Status = policy.StatusRan
	} else {
		out, spoke = said(r.w.plan, n, out, err), true
		record(t, n, &out, err)
	}
	r.x.observe(Run{Event: r.w.plan.Event, Node: n, Status: t.Status, Err: err, Attempts: attempts, Took: took})
	return out, spoke
}
