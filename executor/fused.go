package executor

import (
	"context"
	"math/bits"
	"slices"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor/tally"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/policy"
)

// fewest is how many members of a fusion must be chosen for it to pay: one
// alone is evaluated faster on its own.
const fewest = 2

// fusions is a plan's fused nodes turned round: where each node is a member.
type fusions struct {
	list []fusion
	of   []membership // by node
}

// membership is a node's place in a fusion; in is negative for none.
type membership struct{ in, place int32 }

// fusion is one dag.Fusion with its members as a set.
type fusion struct {
	*dag.Fusion
	nodes   set
	backoff *tally.Backoff
}

// newFusions is nil for a plan in which nothing is fused.
func newFusions(plan *dag.Plan) *fusions {
	f := &fusions{}
	for i := range plan.Fused {
		x := &plan.Fused[i]
		if x.Run == nil {
			continue
		}
		if f.of == nil {
			f.of = slices.Repeat([]membership{{in: -1}}, len(plan.Nodes))
		}
		members := newSet(len(plan.Nodes))
		for place, id := range x.Nodes {
			f.of[id] = membership{int32(len(f.list)), int32(place)}
			members.add(id)
		}
		f.list = append(f.list, fusion{x, members, &tally.Backoff{}})
	}
	if f.list == nil {
		return nil
	}
	return f
}

// has reports whether node i is a member.
func (f *fusions) has(i int) bool { return f != nil && f.of[i].in >= 0 }

// fusing is what is known of the fusions of a plan in one firing. A fusion is
// evaluated when the first of its members has its turn, for all of them whose
// filters match the event as it is then: they read the same version of it.
// What one says is used at its own turn, if it comes. The zero value is ready.
type fusing []fusedRun

type fusedRun struct {
	begun bool
	// chosen are the members evaluated, by place; answers are what each answered,
	// and speaking those of them, as indices into both, that said something or must
	// be evaluated alone. chosen is empty when each must be.
	chosen   dag.Chosen
	answers  []dag.FusedAnswer
	speaking []int32
	// next is where in chosen the member is expected that is asked for next, passed
	// how many of speaking have had their turn.
	next, passed int
	// share is what each member took.
	share time.Duration
	// apart is true once a member has been evaluated on its own.
	apart bool
	// own is chosen's memory when it is the run's.
	own []int
}

// run is what is known of one fusion.
func (f *fusing) run(w *schedule, in int32) *fusedRun {
	if len(*f) == 0 {
		*f = slices.Grow(*f, len(w.fused.list))[:len(w.fused.list)]
	}
	return &(*f)[in]
}

// answer is what node i, whose filter matches, says in context s, and its
// share of the time that all members took. ok is false when the node must be
// evaluated on its own.
func (f *fusing) answer(ctx context.Context, w *schedule, p *pick, i int, s *policy.Context, clock *watch) (out *policy.Result, took time.Duration, ok bool) {
	if !w.fused.has(i) {
		return nil, 0, false
	}
	m := w.fused.of[i]
	run := f.run(w, m.in)
	if !run.begun {
		run.evaluate(ctx, w, m.in, p, i, s, clock)
	}
	contributed := run.find(int(m.place))
	if contributed == nil || contributed.Alone {
		run.apart = true
		return nil, 0, false
	}
	if out = contributed.Result; out != nil && silent(out) {
		out = nil
	}
	return out, run.share, true
}

// forget makes f what the zero value is, with the memory it has taken.
func (f fusing) forget() fusing {
	for i := range f {
		r := &f[i]
		for _, k := range r.speaking {
			r.answers[k] = dag.FusedAnswer{}
		}
		*r = fusedRun{answers: r.answers[:0], speaking: r.speaking[:0], own: r.own[:0]}
	}
	return f[:0]
}

// find is what a member answered, nil for one that was not asked.
func (r *fusedRun) find(place int) *dag.FusedAnswer {
	at, known := r.next, r.next < len(r.chosen.Places) && r.chosen.Places[r.next] == place
	if !known {
		if at, known = slices.BinarySearch(r.chosen.Places, place); !known {
			return nil
		}
	}
	r.next = at + 1
	return &r.answers[at]
}

// evaluate asks all members that may have their turn, from node i on. The time
// of what failed is left to node i; its members are asked one by one.
func (r *fusedRun) evaluate(ctx context.Context, w *schedule, in int32, p *pick, i int, s *policy.Context, clock *watch) {
	x := &w.fused.list[in]
	r.begun = true
	chosen := r.choose(w, x, p, in, i, s)
	if len(chosen.Places) < fewest || x.backoff.Pausing() {
		return
	}
	r.answers = slices.Grow(r.answers, len(chosen.Places))[:len(chosen.Places)]
	err := protectFused(ctx, x, s, chosen, r.answers)
	if ctx.Err() == nil {
		x.backoff.Note(err != nil)
	}
	if err != nil {
		clear(r.answers)
		return
	}
	for k := range r.answers {
		if s := &r.answers[k]; s.Result != nil || s.Alone {
			r.speaking = append(r.speaking, int32(k))
		}
	}
	r.chosen, r.share = chosen, clock.lap()/time.Duration(len(chosen.Places))
}

// choose are the places of the members that are evaluated: those a pick knows
// when nothing is to be asked of any.
func (r *fusedRun) choose(w *schedule, x *fusion, p *pick, in int32, i int, s *policy.Context) dag.Chosen {
	if b := p.batch; b != nil && b.fusion == in && len(b.chosen.Places) > 0 && x.Nodes[b.chosen.Places[0]] == i {
		return b.chosen
	}
	r.own = slices.Grow(r.own[:0], min(len(x.Nodes), p.count))
	for id := range x.nodes.both(p.nodes, i) {
		if id == i || w.matches(p, id, s) {
			r.own = append(r.own, int(w.fused.of[id].place))
		}
	}
	return dag.Chosen{Places: r.own}
}

// both yields the members of s and t from i on, ascending.
func (s set) both(t set, i int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for w := i / 64; w < len(s); w++ {
			word := s[w] & t[w]
			if w == i/64 {
				word &= ^uint64(0) << (i % 64)
			}
			for ; word != 0; word &= word - 1 {
				if !yield(w*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// protectFused turns a panic into an error: the member that panics does so
// again on its own, and fails alone.
func protectFused(ctx context.Context, x *fusion, s *policy.Context, chosen dag.Chosen, contributed []dag.FusedAnswer) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.Errorf("panic in a fused evaluation: %v", p)
		}
	}()
	return x.Run(ctx, s, chosen, contributed)
}
