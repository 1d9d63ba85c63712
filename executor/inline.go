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

// inline is the serial loop for chains whose picked nodes are all evaluated in
// process: no goroutine, no lock, and what says nothing is not joined.
func (x *Executor) inline(ctx context.Context, w *wiring, p *pick, s *policy.Context) (*Answer, *policy.Context, bool) {
	run := inlineRun{x: x, w: w, pick: p, watch: newWatch(), answer: &Answer{Hooks: slices.Clone(w.blank)}}
	run.budget = newBudget(ctx, run.watch.start)
	plan, res := w.plan, &run.answer.Result
	for i := range plan.Items {
		item := &plan.Items[i]
		var block *policy.Result
		for _, m := range item.Members {
			r := run.node(ctx, m, s)
			switch {
			case r == nil:
				continue
			case plan.Nodes[m].RecheckOf >= 0:
				r = new(r.Recheck(res))
			}
			if block == nil {
				block = new(policy.Result)
			}
			*block = policy.Join(item.Fold, *block, *r)
		}
		if ctx.Err() != nil { // what failed for that is no answer
			return run.answer, s, false
		}
		if block != nil {
			s = s.With(block.Patch)
			*res = policy.Join(plan.Strategy.Fold, *res, *block)
			if plan.Strategy.Halt.Halts(block) {
				break
			}
		}
	}
	return run.answer, s, true
}

type inlineRun struct {
	x      *Executor
	w      *wiring
	pick   *pick
	watch  watch
	budget *budget
	answer *Answer
}

// node evaluates node m in context s and returns what it said, nil for nothing.
func (r *inlineRun) node(ctx context.Context, m int, s *policy.Context) *policy.Result {
	n, t := &r.w.plan.Nodes[m], &r.answer.Hooks[m]
	if !r.pick.nodes.has(m) || !matches(n, s) {
		t.Status = policy.StatusFiltered
		r.x.tell(r.w, m, policy.StatusFiltered, 0, 0, nil)
		return nil
	}
	if r.budget.asked() {
		r.budget = newBudget(ctx, r.watch.start)
	}
	out, attempts, err := evaluate(ctx, n, project(n, s), r.watch.last, r.budget)
	took := r.watch.lap()
	t.Attempts, t.Micros, t.Status = attempts, took.Microseconds(), policy.StatusRan
	if out != nil || err != nil {
		out = new(said(r.w.plan, n, out, err))
		record(t, n, out, err)
	}
	r.x.tell(r.w, m, t.Status, attempts, took, err)
	return out
}
