package compiler

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// narrow keeps the plan of one event (architecture.md §4). Hooks of other
// events are not listed; the hash stays that of the whole policy.
func narrow(u *unit) {
	if u.cfg.Event == "" {
		return
	}
	var plans []*dag.Plan
	var entries []dag.Entry
	for _, plan := range u.plans {
		if plan.Event == u.cfg.Event {
			plans = append(plans, plan)
		}
	}
	u.place = map[*policy.Hook]int{}
	for _, e := range u.entries {
		if e.Hook.Event == u.cfg.Event {
			u.place[e.Hook] = len(entries)
			entries = append(entries, e)
		}
	}
	u.plans, u.entries = plans, entries
}
