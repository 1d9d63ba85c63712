package compiler

import (
	"fmt"
	"slices"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
)

// verify asks the executor's serial definition to compare itself with each
// plan (semantics.md §4.3, P12). A difference is a bug of hookc, never of an
// author, so it panics. It looks at everything in a plan but its bodies, and
// depends on nothing else: a plan that differs from one it has seen by its
// bodies alone has been seen. The invariants, the naive recomputation of what must
// wait among them, are checked after this pass as after every other.
func verify(u *unit) {
	if u.cfg.Validate == nil {
		return
	}
	for _, plan := range u.plans {
		if u.reused && u.verified(plan) {
			continue
		}
		if err := u.cfg.Validate(u.program, plan); err != nil {
			panic(fmt.Sprintf("compiler: pass verify: the plan of %s is not what its policy means: %v", plan.Event, err))
		}
	}
}

// verified reports whether the last compilation verified a plan of this shape.
func (u *unit) verified(plan *dag.Plan) bool {
	return u.untouched[plan] || slices.ContainsFunc(u.earlier.unit.plans, func(old *dag.Plan) bool {
		return plan.SameShape(old) && slices.EqualFunc(plan.Fused, old.Fused, func(a, b dag.Fusion) bool {
			return a.Kind == b.Kind && a.Slot == b.Slot && (a.Run == nil) == (b.Run == nil) && lists.Equal(a.Nodes, b.Nodes)
		})
	})
}
