package compiler

import (
	"github.com/hookc/hookc/compiler/lint"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// dead takes out hooks that provably never run: those whose filter no event
// satisfies, and those after a hook that always ends the chain first
// (semantics.md §4.3, P9). They stay listed with the reason.
//
// A hook all of whose answers are masked is not taken out, even one without
// side effects: that an answer was ignored is itself reported (HK110), and so
// is its failure. Nor is a copy made by recheck: recheck makes none without a
// hook that may rewrite.
func dead(u *unit) {
	for _, plan := range u.plans {
		gone := make([]bool, len(plan.Nodes))
		halters := lint.Halters(plan)
		for id := range plan.Nodes {
			n := &plan.Nodes[id]
			if n.RecheckOf >= 0 {
				gone[id] = gone[n.RecheckOf] || unreachable(plan, id, halters)
				continue
			}
			gone[id] = u.kill(plan, id, halters)
		}
		if !lists.Among(gone, true) {
			continue
		}
		list := blocks(plan)
		for i := range list {
			b := &list[i]
			var nodes []dag.Node
			var old []int
			for k, id := range b.old {
				if !gone[id] {
					nodes, old = append(nodes, b.nodes[k]), append(old, id)
				}
			}
			b.nodes, b.old = nodes, old
		}
		layout(plan, list)
	}
}

// kill marks the hook of a node that never runs.
func (u *unit) kill(plan *dag.Plan, id int, halters []int) bool {
	h := plan.Nodes[id].Hook
	d, never := lint.NeverMatches(plan, id)
	by := ""
	if !never {
		d, by, never = lint.Unreachable(plan, id, halters)
	}
	if never {
		u.report(h, d)
		u.drop(h, dag.Dead, by, lint.Because(d), d.Code)
	}
	return never
}

func unreachable(plan *dag.Plan, id int, halters []int) bool {
	_, _, never := lint.Unreachable(plan, id, halters)
	return never
}

// live counts the originals in a plan, for the invariants.
func live(plan *dag.Plan) map[*policy.Hook]bool {
	out := map[*policy.Hook]bool{}
	for i := range plan.Nodes {
		if plan.Nodes[i].RecheckOf < 0 {
			out[plan.Nodes[i].Hook] = true
		}
	}
	return out
}
