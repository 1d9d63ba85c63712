package compiler

import "fmt"

// verify asks the executor's serial definition to compare itself with each
// plan (semantics.md §4.3, P12). A difference is a bug of hookc, never of an
// author, so it panics. The invariants, the naive recomputation of what must
// wait among them, are checked after this pass as after every other.
func verify(u *unit) {
	if u.cfg.Validate == nil {
		return
	}
	for _, plan := range u.plans {
		if err := u.cfg.Validate(u.program, plan); err != nil {
			panic(fmt.Sprintf("compiler: pass verify: the plan of %s is not what its policy means: %v", plan.Event, err))
		}
	}
}
