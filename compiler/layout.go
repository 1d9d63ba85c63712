package compiler

import (
	"github.com/hookc/hookc/dag"
)

// block is an item with its nodes, while items are put in and taken out. Each
// node keeps its old number; -1 is a node that had none.
type block struct {
	item  dag.Item
	nodes []dag.Node
	old   []int
}

// blocks takes a plan apart. It is for passes before edges: what nodes wait
// for is not carried over.
func blocks(plan *dag.Plan) []block {
	out := make([]block, len(plan.Items))
	for i, item := range plan.Items {
		out[i].item = item
		for _, id := range item.Members {
			out[i].nodes = append(out[i].nodes, plan.Nodes[id])
			out[i].old = append(out[i].old, id)
		}
	}
	return out
}

// layout puts a plan together: nodes are numbered in serial order, empty
// items vanish, and copies find their originals again. A copy whose original
// is gone is a bug of the caller.
func layout(plan *dag.Plan, list []block) {
	plan.Items, plan.Nodes = nil, nil
	renumbered := map[int]int{}
	for _, b := range list {
		if len(b.nodes) == 0 {
			continue
		}
		item := b.item
		item.Members = nil
		for i, n := range b.nodes {
			id := len(plan.Nodes)
			if b.old[i] >= 0 {
				renumbered[b.old[i]] = id
			}
			n.Item = len(plan.Items)
			plan.Nodes = append(plan.Nodes, n)
			item.Members = append(item.Members, id)
		}
		plan.Items = append(plan.Items, item)
	}
	for i := range plan.Nodes {
		if n := &plan.Nodes[i]; n.RecheckOf >= 0 {
			of, ok := renumbered[n.RecheckOf]
			if !ok {
				panic("compiler: the original of recheck copy " + n.Hook.Name + " is gone")
			}
			n.RecheckOf = of
		}
	}
	haltItems(plan)
}

// haltItems says which items can end the chain: those with a member that can.
// In a group whose fold lets a later member hide the verdict this errs
// towards yes, which only makes others wait.
//
//go:noinline
func haltItems(plan *dag.Plan) {
	for i := range plan.Items {
		item := &plan.Items[i]
		item.MayHalt = false
		for _, id := range item.Members {
			item.MayHalt = item.MayHalt || plan.Nodes[id].MayHalt
		}
	}
}
