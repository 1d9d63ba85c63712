package compiler

import (
	"github.com/hookc/hookc/dag"
)

// estimate says what each node and the whole plan are expected to cost
// (semantics.md §6): measured p50s where there are any, else what the body
// says of itself, else the class of its kind.
func estimate(u *unit) {
	for _, plan := range u.plans {
		for i := range plan.Nodes {
			u.cost(plan, &plan.Nodes[i])
		}
		plan.Estimate = plan.Estimated(nil)
	}
}

func (u *unit) cost(plan *dag.Plan, n *dag.Node) {
	n.Cost, n.Measured = u.kind(n.Hook).Cost, false
	if own := u.bodies[n.Hook].body.Cost; own > 0 {
		n.Cost = own
	}
	if u.cfg.Costs == nil {
		return
	}
	if p50, ok := u.cfg.Costs(plan.Event, n.Hook.Name); ok {
		n.Cost, n.Measured = p50, true
	}
}
