package executor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// fewest is how many members of a fusion must be chosen for it to pay: one
// alone is evaluated faster by itself.
const fewest = 2

// fusions is a plan's fused nodes turned round: where each node is a member.
type fusions struct {
	list []fusion
	// of is, by node, its fusion's index or -1.
	of []int32
}

// fusion is one dag.Fusion with its members as a set.
type fusion struct {
	*dag.Fusion
	nodes set
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
			f.of = slices.Repeat([]int32{-1}, len(plan.Nodes))
		}
		members := newSet(len(plan.Nodes))
		for _, id := range x.Nodes {
			f.of[id] = int32(len(f.list))
			members.add(id)
		}
		f.list = append(f.list, fusion{x, members})
	}
	if f.list == nil {
		return nil
	}
	return f
}

// fusing is what is known of the fusions of a plan in one firing. A fusion is
// evaluated when the first of its members has its turn, for all of them whose
// filters match the event as it is then: they read the same version of it.
// What one says is used at its own turn, if it comes. The zero value is ready.
type fusing []fusedRun

type fusedRun struct {
	begun bool
	// chosen are the members evaluated, by place; said is what each said. Both
	// are nil when each must be evaluated by itself.
	chosen []int
	said   []dag.FusedSaid
	// share is what each member took.
	share time.Duration
}

// answer is what node i, whose filter matches, says in context s. ok is false
// when the node must be evaluated by itself; took is then nothing, else the
// node's share less what has passed on the watch since its last lap.
func (f *fusing) answer(ctx context.Context, w *wiring, p *pick, i int, s *policy.Context, clock *watch) (out *policy.Result, took time.Duration, ok bool) {
	if w.fused == nil || w.fused.of[i] < 0 {
		return nil, 0, false
	}
	if *f == nil {
		*f = make(fusing, len(w.fused.list))
	}
	k := w.fused.of[i]
	run, x := &(*f)[k], &w.fused.list[k]
	if !run.begun {
		run.begun = true
		took = -run.evaluate(ctx, w.plan, x, p, i, s, clock)
	}
	place, _ := slices.BinarySearch(x.Nodes, i)
	at, known := slices.BinarySearch(run.chosen, place)
	if !known || run.said[at].Alone {
		return nil, 0, false
	}
	if out = run.said[at].Result; out != nil && silent(out) {
		out = nil
	}
	return out, took + run.share, true
}

// evaluate asks all members that may have their turn, from node i on, and
// returns how long that took. What failed is asked again one by one.
func (r *fusedRun) evaluate(ctx context.Context, plan *dag.Plan, x *fusion, p *pick, i int, s *policy.Context, clock *watch) time.Duration {
	for id := x.nodes.from(i); id >= 0; id = x.nodes.from(id + 1) {
		if p.nodes.has(id) && (id == i || matches(&plan.Nodes[id], s)) {
			place, _ := slices.BinarySearch(x.Nodes, id)
			r.chosen = append(r.chosen, place)
		}
	}
	if len(r.chosen) < fewest {
		r.chosen = nil
		return 0
	}
	r.said = make([]dag.FusedSaid, len(r.chosen))
	begun := clock.last
	if err := protectFused(ctx, x, s, r.chosen, r.said); err != nil {
		r.chosen, r.said = nil, nil
		return 0
	}
	spent := time.Since(clock.start) - begun
	r.share = spent / time.Duration(len(r.chosen))
	return spent
}

// protectFused turns a panic into an error: the member that panics does so
// again by itself, and fails alone.
func protectFused(ctx context.Context, x *fusion, s *policy.Context, chosen []int, said []dag.FusedSaid) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a fused evaluation: %v", p)
		}
	}()
	return x.Run(ctx, s, chosen, said)
}
