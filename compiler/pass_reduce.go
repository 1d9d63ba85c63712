package compiler

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
)

// reduce drops, from the edges that are shown, each data edge that a path of
// data edges implies: of a chain of rewriting hooks only neighbours stay
// joined. What nodes wait for does not change.
func reduce(u *unit) {
	for _, plan := range u.plans {
		implied := impliedData(plan)
		plan.Edges = lists.Without(plan.Edges, func(e *dag.Edge) bool {
			return e.Kind == dag.DataEdge && implied(e.From, e.To)
		})
	}
}

// impliedData reports whether a longer path of data edges leads from x to j.
func impliedData(plan *dag.Plan) func(x, j int) bool {
	above := make([]bits, len(plan.Nodes))   // all a node's data comes from
	through := make([]bits, len(plan.Nodes)) // what comes by way of another
	for j := range plan.Nodes {
		above[j], through[j] = newBits(len(plan.Nodes)), newBits(len(plan.Nodes))
		for _, x := range plan.Nodes[j].Data {
			above[j].set(x)
			above[j].join(above[x])
			through[j].join(above[x])
		}
	}
	return func(x, j int) bool { return through[j].has(x) }
}

// bits is a set of node IDs.
type bits []uint64

//go:noinline
func newBits(n int) bits { return make(bits, (n+63)/64) }

//go:noinline
func (b bits) set(i int) { b[i/64] |= 1 << (i % 64) }

func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

//go:noinline
func (b bits) join(c bits) {
	for i := range c {
		b[i] |= c[i]
	}
}
