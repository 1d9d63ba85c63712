package executor

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// band is the nodes of a pick that are evaluated together and about whose
// filters nothing is left to ask. Those of them that say nothing cost nothing by
// themselves: no turn is taken, their traces are those of the pick's template,
// and they are counted at a stroke. It is immutable.
type band struct {
	fusion int32
	// nodes are the members that share no item with any other node; chosen are
	// all members of the fusion that the pick has, nil where some have filters to
	// be asked.
	nodes  []int
	chosen dag.Chosen
	count  *together
}

// stretch is a part of a pick's items, from one on and before another, in which
// there are nodes of one band alone; first is the first of them.
type stretch struct{ from, to, band, first int }

// span is nodes from one on and before another.
type span struct{ from, to int }

// together counts the nodes of a band at a stroke, until it is done.
type together struct {
	nodes []int
	ran   func(first int, took time.Duration, others bool)
	done  func()
}

// maxTogether is how many bands of a plan are counted at a stroke: names of
// tools are an attacker's.
const maxTogether = 64

// counts are a plan's.
type counts struct {
	make func(*dag.Plan, []int) (ran func(int, time.Duration, bool), done func())
	mu   sync.Mutex
	all  []*together
}

// of is what counts nodes, nil where each is counted by itself.
func (c *counts) of(plan *dag.Plan, nodes []int) *together {
	if c.make == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.all {
		if slices.Equal(t.nodes, nodes) {
			return t
		}
	}
	if len(c.all) == maxTogether {
		return nil
	}
	t := &together{nodes: nodes}
	t.ran, t.done = c.make(plan, nodes)
	c.all = append(c.all, t)
	return t
}

// close says that no more is counted.
func (c *counts) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.all {
		t.done()
	}
	c.all = nil
}

// settled reports whether nothing is left to ask of the filter of node i, which
// p has.
func (w *wiring) settled(p *pick, i int) bool {
	m := w.plan.Nodes[i].Matcher
	return m == nil || len(m.Atoms) == 0 || p.asked && w.byTool[i]
}

// muster finds the bands of a pick.
func (w *wiring) muster(p *pick) {
	p.loose = p.list
	if w.fused == nil {
		return
	}
	of, sizes := make([]int32, len(p.items)), make([]int, len(w.fused.list))
	for k, item := range p.items {
		var n int
		of[k], n = w.fusionOf(p, &w.plan.Items[item])
		if of[k] >= 0 {
			sizes[of[k]] += n
		}
	}
	p.loose, p.silent = nil, newSet(len(w.plan.Nodes))
	bands := make([]int, len(sizes))
	for k, item := range p.items {
		at, loose := 0, of[k] < 0 || sizes[of[k]] < fewest
		if !loose {
			if bands[of[k]] == 0 {
				p.bands = append(p.bands, band{fusion: of[k], chosen: dag.Choose(w.places(p, of[k]))})
				bands[of[k]] = len(p.bands)
			}
			at = bands[of[k]] - 1
		}
		for _, i := range w.plan.Items[item].Members {
			switch {
			case !p.nodes.has(i):
			case loose:
				p.loose = append(p.loose, i)
			default:
				p.enlist(k, at, i)
			}
		}
	}
	for b := range p.bands {
		own := &p.bands[b]
		if own.count = w.counts.of(w.plan, own.nodes); own.count != nil {
			own.nodes = own.count.nodes // which picks of other names have as well
		}
	}
}

// fusionOf is the fusion whose members alone a pick has of an item, and how
// many, or -1.
func (w *wiring) fusionOf(p *pick, item *dag.Item) (of int32, n int) {
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
func (w *wiring) places(p *pick, fusion int32) []int {
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

// enlist adds node i, of the k-th item of a pick, to a band.
func (p *pick) enlist(k, to, i int) {
	b := &p.bands[to]
	b.nodes = append(b.nodes, i)
	if n := len(p.stretches); n > 0 && p.stretches[n-1].to >= k && p.stretches[n-1].band == to {
		p.stretches[n-1].to = k + 1
	} else {
		p.stretches = append(p.stretches, stretch{k, k + 1, to, i})
	}
	p.silent.add(i)
	if n := len(p.spans); n > 0 && p.spans[n-1].to == i {
		p.spans[n-1].to++
	} else {
		p.spans = append(p.spans, span{i, i + 1})
	}
}

// pass is the item to go on with, of those that were picked, from the k-th on,
// which is of a stretch: those before it say nothing.
func (r *inlineRun) pass(ctx context.Context, t *stretch, k int, s *policy.Context) int {
	b := &r.pick.bands[t.band]
	run := r.fused.run(r.w, b.fusion)
	if !run.begun {
		r.timed()
		run.evaluate(ctx, r.w, b.fusion, r.pick, t.first, s, &r.watch)
	}
	if len(run.chosen.Places) == 0 {
		return k // each is evaluated by itself
	}
	list, items := r.w.fused.list[b.fusion].Nodes, r.pick.items
	for ; run.heard < len(run.spoke); run.heard++ {
		item := int32(r.w.plan.Nodes[list[run.chosen.Places[run.spoke[run.heard]]]].Item)
		if item >= items[k] {
			at, _ := slices.BinarySearch(items[k:t.to], item)
			return k + at
		}
	}
	return t.to
}

// tellBands counts the nodes of bands that are among the first n of the plan,
// which have had their turn. others says that those that were filtered are to be
// counted at a stroke; it returns the nodes that were not, of which that stroke
// is to be told.
func (r *inlineRun) tellBands(n int, others bool) (but []int) {
	for b := range r.bands {
		others = others && r.atOnce(&r.bands[b])
	}
	for b := range r.bands {
		r.tellBand(&r.bands[b], n, others)
	}
	if others {
		return r.pick.loose
	}
	return r.pick.list
}

// atOnce reports whether a band is counted at a stroke.
func (r *inlineRun) atOnce(b *band) bool {
	run := r.fused.run(r.w, b.fusion)
	return b.count != nil && len(run.chosen.Places) > 0 && !run.apart
}

func (r *inlineRun) tellBand(b *band, n int, others bool) {
	run := r.fused.run(r.w, b.fusion)
	if len(run.chosen.Places) == 0 {
		return // each has been told of
	}
	first := len(b.nodes)
	if n < len(r.w.plan.Nodes) {
		first, _ = slices.BinarySearch(b.nodes, n)
	}
	us, once := run.share.Microseconds(), r.atOnce(b)
	if once {
		b.count.ran(first, run.share, others)
	}
	if once && us == 0 {
		return
	}
	r.dirty = r.dirty || us > 0
	for _, i := range b.nodes[:first] {
		if said := run.find(int(r.w.fused.of[i].place)); said == nil || said.Alone {
			continue
		}
		r.answer.Hooks[i].Micros = us
		if !once {
			r.w.count[i](policy.StatusRan, 1, run.share)
		}
	}
}
