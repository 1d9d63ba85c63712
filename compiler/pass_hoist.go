package compiler

import (
	"slices"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
)

// hoist moves each in-process node to the earliest slot in which all it waits
// for is done (semantics.md §4.3, P7). Slot 0 is the entry, before any
// process; each later slot follows the process, model call or start of an
// async hook that is, in serial order, the last its nodes wait for.
func hoist(u *unit) {
	for _, plan := range u.plans {
		toSlots(plan)
	}
}

func toSlots(plan *dag.Plan) {
	last := make([]int, len(plan.Nodes)) // the last outside node each waits for, on its own or through rules
	gate := make([]int, len(plan.Items)) // the same, for being past each item and every gate before it
	open := -1
	for i := range plan.Items {
		for _, id := range plan.Items[i].Members {
			n := &plan.Nodes[id]
			last[id] = -1
			for _, list := range [2][]int{n.Wait, n.Started} {
				for _, x := range list {
					last[id] = max(last[id], outside(plan, last, x))
				}
			}
			if n.Gate >= 0 {
				last[id] = max(last[id], gate[n.Gate])
			}
		}
		if plan.Items[i].MayHalt {
			for _, id := range plan.Items[i].Members {
				open = max(open, outside(plan, last, id))
			}
		}
		gate[i] = open
	}
	number(plan, last)
}

// outside is x if it runs outside the process, else the last such node that x
// waits for.
func outside(plan *dag.Plan, last []int, x int) int {
	if plan.Nodes[x].Exempt() {
		return last[x]
	}
	return x
}

// atTurn puts each in-process node in the slot of its own turn: after the
// last outside node of an earlier item.
func atTurn(plan *dag.Plan) {
	last := make([]int, len(plan.Nodes))
	before := -1
	for i := range plan.Items {
		for _, id := range plan.Items[i].Members {
			last[id] = before
		}
		for _, id := range plan.Items[i].Members {
			if !plan.Nodes[id].Exempt() {
				before = id
			}
		}
	}
	number(plan, last)
}

// number turns the node each in-process node follows into dense slots. Slot 0
// is the entry even when nothing is in it.
func number(plan *dag.Plan, last []int) {
	points := []int{-1}
	for i := range plan.Nodes {
		if plan.Nodes[i].Exempt() {
			points = append(points, last[i])
		}
	}
	lists.Sort(points)
	points = lists.Compact(points)
	plan.Slots = 0
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		n.Slot = -1
		if n.Exempt() {
			n.Slot, _ = slices.BinarySearch(points, last[i])
			plan.Slots = max(plan.Slots, n.Slot+1)
		}
	}
}
