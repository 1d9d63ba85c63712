package executor

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// watch times nodes that run one after another with one look at the clock
// each.
type watch struct{ start, last time.Duration }

func newWatch() watch { return watch{start: clock()} }

// lap is the time since the lap before.
func (w *watch) lap() time.Duration {
	now := clock() - w.start
	took := now - w.last
	w.last = now
	return took
}

// inline is the serial loop for chains whose picked nodes are all evaluated in
// process: no goroutine, no lock, and what says nothing is not joined.
func (x *Executor) inline(ctx context.Context, w *schedule, p *pick, s *policy.Context) (*Answer, *policy.Context, bool) {
	r := x.newInline(ctx, w, p, new(Reused))
	defer r.release()
	after, ok := r.run(ctx, s)
	return &Answer{Result: r.answer.Result, Hooks: r.answer.Hooks}, after, ok
}

// directly decides an event that nothing remembers.
func (x *Executor) directly(ctx context.Context, w *schedule, p *pick, in *policy.Context, m *Reused) *policy.Decision {
	d := &m.decision
	r := x.newInline(ctx, w, p, m)
	defer r.release()
	after, ok := r.run(ctx, in)
	r.keep(m)
	if !ok {
		*d = *x.cancelled(w.plan.Event, in, w.listed(r.answer.Hooks))
		return d
	}
	decideInto(d, x.prog, w.plan, in, after, &r.answer)
	d.Hooks = w.listed(d.Hooks)
	x.judge(d, w.plan.Spec, in)
	return d
}

// inlineRun is one firing on the caller's goroutine.
type inlineRun struct {
	x      *Executor
	w      *schedule
	pick   *pick
	entry  *policy.Context
	watch  watch
	budget *budget
	// own is the budget of bodies that do not keep it.
	own    budget
	fused  fusing
	answer Answer
	// brief are the nodes that have answered since the watch's last lap, which
	// they share.
	brief   [maxBrief]int32
	untimed int
	// batch is the pick's, unless each node is told of. loud are nodes of it that
	// have had a turn of their own, ascending.
	batch *batch
	loud  []int32
	// blank is the node from which on the trace says that nothing has been started;
	// dirty is true when the template of the pick is not what the others had.
	blank int
	dirty bool
}

var inlineRuns = sync.Pool{New: func() any { return new(inlineRun) }}

// newInline begins a firing whose trace takes the memory of m's.
func (x *Executor) newInline(ctx context.Context, w *schedule, p *pick, m *Reused) *inlineRun {
	r := inlineRuns.Get().(*inlineRun)
	r.x, r.w, r.pick, r.watch = x, w, p, newWatch()
	if x.options.Observe == nil {
		r.batch = p.batch
	}
	r.lay(m)
	if p.private {
		r.own.Context, r.own.start = ctx, r.watch.start
		r.budget = &r.own
	} else {
		r.budget, m.made = newBudget(ctx, r.watch.start), nil
	}
	return r
}

// release gives the run back without anything that belongs to the event.
func (r *inlineRun) release() {
	*r = inlineRun{fused: r.fused.forget()}
	inlineRuns.Put(r)
}

// checkEvery is how many items that say nothing pass between looks at whether
// the caller still waits.
const checkEvery = 16

// maxBrief is how many brief bodies are timed together.
const maxBrief = 16

// share takes the time since the watch's last lap and shares it among the brief
// nodes that have answered since, and one that has just answered.
func (r *inlineRun) share() time.Duration {
	if r.untimed == 0 {
		return r.watch.lap()
	}
	took := r.watch.lap() / time.Duration(r.untimed+1)
	r.countBrief(took)
	return took
}

// timed is share with nobody else to share with.
func (r *inlineRun) timed() {
	if r.untimed > 0 {
		r.countBrief(r.watch.lap() / time.Duration(r.untimed))
	}
}

func (r *inlineRun) countBrief(took time.Duration) {
	us := took.Microseconds()
	for _, m := range r.brief[:r.untimed] {
		r.answer.Hooks[m].Micros = us
		r.w.count[m](policy.StatusRan, 1, took)
	}
	r.untimed = 0
}

// run evaluates the picked nodes in order; ok is false when ctx ended first.
func (r *inlineRun) run(ctx context.Context, s *policy.Context) (after *policy.Context, ok bool) {
	plan, items := r.w.plan, r.pick.items
	r.entry = s
	var together []batchRun
	if b := r.batch; b != nil {
		together = b.runs
	}
	if r.x.options.Observe != nil {
		items = r.w.picks.every.items // it is told of every node, in order
	}
	for k := 0; k < len(items); k++ {
		i := int(items[k])
		for len(together) > 0 && k >= together[0].to {
			together = together[1:]
		}
		if len(together) > 0 && k >= together[0].from {
			if next := r.pass(ctx, &together[0], k, s); next > k {
				if ctx.Err() != nil {
					r.stop(int(items[next-1]) + 1)
					return s, false
				}
				k = next - 1
				continue
			}
		}
		block := r.item(ctx, &plan.Items[i], s)
		if block == nil && k%checkEvery != 0 {
			continue
		}
		if ctx.Err() != nil { // what failed for that is no answer
			r.stop(i + 1)
			return s, false
		}
		if block == nil {
			continue
		}
		s = r.answer.advance(plan, s, block)
		if plan.Strategy.Halt.Halts(block) {
			r.stop(i + 1)
			r.answer.finish(plan, s)
			return s, true
		}
	}
	r.timed()
	r.skip(len(plan.Nodes))
	r.answer.finish(plan, s)
	return s, ctx.Err() == nil
}

// item evaluates the members of an item, which all see s, and returns what they
// contribute together, nil for nothing.
func (r *inlineRun) item(ctx context.Context, item *dag.Item, s *policy.Context) *policy.Result {
	var block *policy.Result
	if r.blank < len(r.w.blank) {
		r.reach(slices.Max(item.Members))
	}
	for _, m := range item.Members {
		contributed := r.node(ctx, m, s)
		switch {
		case contributed == nil:
			continue
		case r.w.plan.Nodes[m].RecheckOf >= 0:
			contributed = new(contributed.Recheck(&r.answer.Result))
		}
		if block == nil {
			block = new(policy.Result)
		}
		*block = r.w.plan.Join(item, *block, *contributed)
	}
	return block
}

// stop ends the chain before an item: what is there and after it has not been
// started.
func (r *inlineRun) stop(item int) {
	r.timed()
	n := len(r.w.plan.Nodes)
	if item < len(r.w.plan.Items) {
		n = r.w.plan.Items[item].Members[0]
	}
	r.skip(n)
	r.clip(n)
}

// fewFiltered is how many filtered nodes are counted one by one.
const fewFiltered = 32

// skip counts those of the first n nodes that have not been told of: nodes of
// a batch that said nothing, and those that were not picked, as filtered.
func (r *inlineRun) skip(n int) {
	r.reach(n - 1)
	all := len(r.w.plan.Nodes)
	others := r.x.options.Observe == nil && n == all && all-r.pick.count > fewFiltered && r.w.filteredBut != nil
	except := r.countBatch(n, others)
	switch {
	case r.x.options.Observe != nil, r.pick.count == all:
		return // each has been told of, or there is none
	case others:
		r.w.filteredBut(except)
		return
	}
	for i := range n {
		if !r.pick.nodes.has(i) {
			r.w.count[i](policy.StatusFiltered, 0, 0)
		}
	}
}

// node evaluates node m in context s and returns what it contributes, nil for nothing.
func (r *inlineRun) node(ctx context.Context, m int, s *policy.Context) *policy.Result {
	switch {
	case !r.pick.nodes.has(m):
		if r.x.options.Observe != nil {
			r.x.report(r.w, m, policy.StatusFiltered, 0, 0, nil)
		}
		return nil
	case !r.w.matches(r.pick, m, s):
		r.x.report(r.w, m, policy.StatusFiltered, 0, 0, nil)
		return nil
	case r.w.once[m]:
		return r.once(ctx, m, s)
	}
	r.timed()
	n := &r.w.plan.Nodes[m]
	attempts, err := 1, error(nil)
	out, took, ok := r.fused.answer(ctx, r.w, r.pick, m, s, &r.watch)
	if !ok {
		out, attempts, err = evaluate(ctx, n, project(n, s), r.watch.last, r.unasked(ctx))
		took = r.watch.lap()
	}
	if b := r.pick.batch; b != nil && b.set.has(m) {
		r.loud = append(r.loud, int32(m))
		if ok && r.batch != nil {
			return r.noted(m, out, attempts, took, err) // and counted with its batch
		}
	}
	return r.answered(m, out, attempts, took, err)
}

// unasked is a budget for the next body: the one there is, unless one asked it
// when to stop and may still hold on to it.
func (r *inlineRun) unasked(ctx context.Context) *budget {
	if r.budget.asked() {
		r.budget = newBudget(ctx, r.watch.start)
	}
	return r.budget
}

// once is node for a body that is on its own and has one attempt. One that is
// brief and says nothing is timed with those around it: a look at the clock takes
// longer than it does.
func (r *inlineRun) once(ctx context.Context, m int, s *policy.Context) *policy.Result {
	n := &r.w.plan.Nodes[m]
	brief := n.Brief && r.x.options.Observe == nil
	if !brief || r.untimed == maxBrief {
		r.timed()
	}
	b := r.unasked(ctx)
	b.begin(r.watch.last, n.Timeout, r.untimed > 0)
	out, err := protectTeller(b, n, r.w.tellers[m], s)
	b.unread = false
	switch {
	case err != nil || b.asked():
		out, err = b.finish(ctx, n, out, err)
	case out == nil && brief:
		t := &r.answer.Hooks[m]
		t.Attempts, t.Status = 1, policy.StatusRan
		r.brief[r.untimed] = int32(m)
		r.untimed++
		return nil
	}
	return r.answered(m, out, 1, r.share(), err)
}

// answered is noted, and tells of it.
func (r *inlineRun) answered(m int, out *policy.Result, attempts int, took time.Duration, err error) *policy.Result {
	out = r.noted(m, out, attempts, took, err)
	r.x.report(r.w, m, r.answer.Hooks[m].Status, attempts, took, err)
	return out
}

// noted notes what node m did and returns what it contributes, nil for nothing.
func (r *inlineRun) noted(m int, out *policy.Result, attempts int, took time.Duration, err error) *policy.Result {
	n, t := &r.w.plan.Nodes[m], &r.answer.Hooks[m]
	t.Attempts, t.Micros, t.Status = attempts, took.Microseconds(), policy.StatusRan
	if out != nil || err != nil {
		said, failed := contribution(r.w.plan, n, r.entry, out, err)
		out = &said
		r.answer.record(m, n, out, failed)
	}
	return out
}
