package compiler

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
)

// speculate lifts the gates of nodes that may be started before it is known
// that they are needed (semantics.md §4.2 D2, §4.3 P10). Whether a node after
// a known halt is started is the executor's business: it is not.
func speculate(u *unit) {
	for _, plan := range u.plans {
		lift(plan)
	}
}

func lift(plan *dag.Plan) {
	for i := range plan.Nodes {
		if n := &plan.Nodes[i]; n.Effects.Spec {
			n.Gate = -1
		}
	}
	plan.Edges = lists.Without(plan.Edges, func(e *dag.Edge) bool {
		return e.Kind == dag.GateEdge && plan.Nodes[e.To].Effects.Spec
	})
}
