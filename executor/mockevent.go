package executor

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// MockEvent is an event that a plan is validated with, drawn from a seed: what
// its hooks read is there or not, with values that its filters compare with.
// Equal plans and seeds give equal events.
func MockEvent(plan *dag.Plan, seed uint64) *policy.Context { return newMock(plan, seed).event() }
