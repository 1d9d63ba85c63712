package executor

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// batch is the nodes of a pick that are evaluated together and about whose
// filters nothing is left to ask. Those of them that say nothing take no turn
// of their own: their traces are those of the pick's template, and one counter
// counts all of them. It is immutable.
type batch struct {
	fusion int32
	// nodes are the members that share no item with any other node; set and spans
	// hold them as well. chosen are all members of the fusion that the pick has,
	// none where some have filters to be asked.
	nodes  []int
	set    set
	spans  []span
	chosen dag.Chosen
	// runs are the parts of the pick's items in which there are only nodes of the
	// batch.
	runs    []batchRun
	counter *batchCounter
}

// batchRun is a part of a pick's items, from one on and before another; first
// is its first node.
type batchRun struct{ from, to, first int }

// span is nodes from one on and before another.
type span struct{ from, to int }

// batchCounter counts the nodes of a batch with one addition, until it is done.
type batchCounter struct {
	nodes []int
	ran   func(first int, took time.Duration, others bool)
	done  func()
}

// maxCounters bounds the batches of a plan that have a counter: an attacker
// chooses the names of tools.
const maxCounters = 64

// batchCounters are a plan's.
type batchCounters struct {
	make func(*dag.Plan, []int) (ran func(int, time.Duration, bool), done func())
	mu   sync.Mutex
	all  []*batchCounter
}

// of is the counter of nodes, nil where each is counted alone.
func (c *batchCounters) of(plan *dag.Plan, nodes []int) *batchCounter {
	if c.make == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.all {
		if lists.Equal(t.nodes, nodes) {
			return t
		}
	}
	if len(c.all) == maxCounters {
		return nil
	}
	t := &batchCounter{nodes: nodes}
	t.ran, t.done = c.make(plan, nodes)
	c.all = append(c.all, t)
	return t
}

// close ends the counting.
func (c *batchCounters) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.all {
		t.done()
	}
	c.all = nil
}

// settled reports whether nothing is left to ask of the filter of node i, which
// p has.
func (w *schedule) settled(p *pick, i int) bool {
	m := w.plan.Nodes[i].Matcher
	return m == nil || len(m.Atoms) == 0 || p.asked && w.byTool[i]
}

// collect makes the batch of a pick: of the fusion with the most members that
// can be in one.
func (w *schedule) collect(p *pick) {
	p.loose = p.list
	if w.fused == nil {
		return
	}
	of, sizes, most := make([]int32, len(p.items)), make([]int, len(w.fused.list)), 0
	for k, item := range p.items {
		var n int
		if of[k], n = w.fusionOf(p, &w.plan.Items[item]); n == 0 {
			continue
		}
		if sizes[of[k]] += n; sizes[of[k]] > sizes[most] {
			most = int(of[k])
		}
	}
	if sizes[most] < fewest {
		return
	}
	b := &batch{fusion: int32(most), set: newSet(len(w.plan.Nodes)), chosen: dag.Choose(w.places(p, int32(most)))}
	p.batch, p.loose = b, nil
	for k, item := range p.items {
		for _, i := range w.plan.Items[item].Members {
			switch {
			case !p.nodes.has(i):
			case of[k] == b.fusion:
				b.add(k, i)
			default:
				p.loose = append(p.loose, i)
			}
		}
	}
	if b.counter = w.counters.of(w.plan, b.nodes); b.counter != nil {
		b.nodes = b.counter.nodes // which picks of other names have as well
	}
}

// fusionOf is the fusion whose members alone a pick has of an item, and how
// many; 0 of -1 if there is none.
func (w *schedule) fusionOf(p *pick, item *dag.Item) (of int32, n int) {
	of = -1
	for _, i := range item.Members {
		if !p.nodes.has(i) {
			continue
		}
		in := w.fused.of[i].in
		if in < 0 || n > 0 && in != of || !w.settled(p, i) {
			return -1, 0
		}
		of, n = in, n+1
	}
	return of, n
}

// places are the members of a fusion that a pick has, nil when the filter of one
// is yet to be asked.
func (w *schedule) places(p *pick, fusion int32) []int {
	var out []int
	for _, i := range p.list {
		if m := w.fused.of[i]; m.in == fusion {
			if !w.settled(p, i) {
				return nil
			}
			out = append(out, int(m.place))
		}
	}
	return out
}

// add adds node i, of the k-th item of the pick.
func (b *batch) add(k, i int) {
	b.nodes = append(b.nodes, i)
	b.set.add(i)
	if n := len(b.runs); n > 0 && b.runs[n-1].to >= k {
		b.runs[n-1].to = k + 1
	} else {
		b.runs = append(b.runs, batchRun{k, k + 1, i})
	}
	if n := len(b.spans); n > 0 && b.spans[n-1].to == i {
		b.spans[n-1].to++
	} else {
		b.spans = append(b.spans, span{i, i + 1})
	}
}

// lay copies what another trace has of the nodes of the batch, from one on.
func (b *batch) lay(to, from []policy.HookTrace, first int) {
	if b == nil {
		return
	}
	for _, s := range b.spans {
		if s.to > first {
			n := max(s.from, first)
			copy(to[n:s.to], from[n:s.to])
		}
	}
}

// pass is the item to go on with, of those that were picked, from the k-th on,
// which is of a batchRun: those before it say nothing.
func (r *inlineRun) pass(ctx context.Context, t *batchRun, k int, s *policy.Context) int {
	b := r.pick.batch
	run := r.fused.run(r.w, b.fusion)
	if !run.begun {
		r.timed()
		run.evaluate(ctx, r.w, b.fusion, r.pick, t.first, s, &r.watch)
	}
	if len(run.chosen.Places) == 0 {
		return k // each is evaluated alone
	}
	list, items := r.w.fused.list[b.fusion].Nodes, r.pick.items
	for ; run.passed < len(run.speaking); run.passed++ {
		item := int32(r.w.plan.Nodes[list[run.chosen.Places[run.speaking[run.passed]]]].Item)
		if item >= items[k] {
			at, _ := slices.BinarySearch(items[k:t.to], item)
			return k + at
		}
	}
	return t.to
}

// countBatch counts the nodes of the batch that are among the first n of the
// plan, which have had their turn. others says that one counter is to count the
// nodes that were filtered; it returns those that this counter leaves out.
func (r *inlineRun) countBatch(n int, others bool) (except []int) {
	b := r.batch
	if b == nil {
		return r.pick.list
	}
	run := r.fused.run(r.w, b.fusion)
	if len(run.chosen.Places) == 0 {
		return r.pick.list // each has been counted
	}
	first := len(b.nodes)
	if n < len(r.w.plan.Nodes) {
		first, _ = slices.BinarySearch(b.nodes, n)
	}
	together := b.counter != nil && !run.apart
	if together {
		b.counter.ran(first, run.share, others)
	}
	if us := run.share.Microseconds(); !together || us > 0 {
		r.dirty = r.dirty || us > 0
		r.countEach(b.nodes[:first], run, together)
	}
	if together {
		return r.pick.loose
	}
	return r.pick.list
}

// countEach notes the time of nodes that were evaluated together, and counts
// those that no other counter does.
func (r *inlineRun) countEach(nodes []int, run *fusedRun, counted bool) {
	for _, i := range nodes {
		if contributed := run.find(int(r.w.fused.of[i].place)); contributed == nil || contributed.Alone {
			continue
		}
		r.answer.Hooks[i].Micros = run.share.Microseconds()
		if !counted {
			r.w.count[i](policy.StatusRan, 1, run.share)
		}
	}
}
