package compiler

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// short is what ends a chain under some strategy and forbids nothing.
const short = policy.MayAllow | policy.MayAsk | policy.MayDefer

// restrict keeps an agent's hook from rewriting what a guard of a lower tier
// passed and then ending the chain, short of a denial, before the guard looks
// again (semantics.md §4.3, P2): such a hook may not allow, and if it may
// still ask or defer it may not rewrite.
func restrict(plan *dag.Plan) {
	ends := plan.Strategy.Halt.Powers() & short
	for id := range plan.Nodes {
		n := &plan.Nodes[id]
		if !registered(n.Hook) || !n.Effects.May.Has(ends) || !mayMislead(plan, id) {
			continue
		}
		n.Effects.May &^= ends & policy.MayAllow
		if n.Effects.May.Has(ends) {
			n.Effects.Writes = policy.Paths{}
		}
		n.MayHalt = mayHalt(plan, n)
	}
}

// mayMislead reports whether node w may rewrite what a guard of a lower tier
// reads.
func mayMislead(plan *dag.Plan, w int) bool {
	return lists.Some(plan.Nodes, func(guard *dag.Node) bool {
		return !registered(guard.Hook) && !guard.Hook.Async && guard.Guards() && rewrites(plan, w, guard)
	})
}
