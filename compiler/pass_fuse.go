package compiler

import (
	"fmt"
	"slices"
	"sort"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// fuse makes one evaluation of the rules of a slot that see the same version
// of the event (semantics.md §4.3, P8), where their kind can: it has one index
// over the rules of all. Nodes that take the same data see the same version of
// what they read, for whoever else may write it would be among that data.
func fuse(u *unit) {
	for _, plan := range u.plans {
		if u.untouched[plan] {
			continue
		}
		plan.Fused = nil
		if u.cfg.Once {
			continue
		}
		var keys []fuseKey
		nodes := map[fuseKey][]int{}
		for id := range plan.Nodes {
			n := &plan.Nodes[id]
			if u.kind(n.Hook).Fuse == nil || !fusable(n) {
				continue
			}
			key := fuseKey{n.Hook.Kind, n.Slot, fmt.Sprint(n.Data)}
			if nodes[key] == nil {
				keys = append(keys, key)
			}
			nodes[key] = append(nodes[key], id)
		}
		for _, key := range keys {
			if len(nodes[key]) > 1 {
				u.fuseNodes(plan, key, nodes[key])
			}
		}
		sort.Slice(plan.Fused, func(i, j int) bool { return plan.Fused[i].Nodes[0] < plan.Fused[j].Nodes[0] })
	}
}

// fuseKey is what the members of a fusion have in common: data is the text of
// the nodes whose patches they see.
type fuseKey struct {
	kind policy.Kind
	slot int
	data string
}

// fusable reports whether a node may be evaluated early, twice and for
// nothing. One that looks at the disk or at a clock would show it; one with
// declared reads is given an event of its own.
func fusable(n *dag.Node) bool {
	return n.Exempt() && !n.Hook.Async && n.Effects.Spec && n.Effects.World == policy.WorldNone &&
		!n.Effects.Volatile && !n.Effects.Project
}

func (u *unit) fuseNodes(plan *dag.Plan, key fuseKey, nodes []int) {
	parts := make([]dag.FusePart, len(nodes))
	for i, id := range nodes {
		parts[i] = dag.FusePart{Runner: plan.Nodes[id].Runner, Filter: plan.Nodes[id].Matcher}
	}
	members, build := u.kinds[key.kind].Fuse(parts)
	if len(members) < 2 {
		return
	}
	fusion := dag.Fusion{Kind: key.kind, Slot: key.slot}
	for _, at := range members {
		fusion.Nodes, fusion.Parts = append(fusion.Nodes, nodes[at]), append(fusion.Parts, parts[at])
	}
	switch {
	case u.earlier == nil:
		fusion.Run = build()
	case !u.reuse(&fusion): // the program need not wait for it
		fusion.Lazy = dag.NewLazyFusion(build, u.cfg.Background)
		fusion.Run = fusion.Lazy.Run
	}
	plan.Fused = append(plan.Fused, fusion)
}

// reuse takes over a fusion of the last program that has the same members. A
// program that only borrows takes one that has fewer as well, and leaves the
// others alone: there may be many such programs.
func (u *unit) reuse(f *dag.Fusion) bool {
	for _, plan := range u.earlier.unit.plans {
		for i := range plan.Fused {
			old := &plan.Fused[i]
			nodes := nodesOf(old.Parts, f)
			if nodes == nil || len(nodes) < len(f.Nodes) && !u.cfg.Borrow {
				continue
			}
			f.Nodes, f.Parts, f.Run, f.Lazy = nodes, old.Parts, old.Run, old.Lazy
			return true
		}
	}
	return false
}

// nodesOf are the nodes of a fusion that have these parts, in this order; nil
// when one is missing.
func nodesOf(parts []dag.FusePart, f *dag.Fusion) []int {
	var out []int
	for i, p := range f.Parts {
		if len(out) < len(parts) && parts[len(out)] == p {
			out = append(out, f.Nodes[i])
		}
	}
	if len(out) < len(parts) {
		return nil
	}
	return out
}

// checkFused: what is evaluated together may be, and sees the same version of
// the event.
func checkFused(plan *dag.Plan) error {
	seen := map[int]bool{}
	for _, f := range plan.Fused {
		if len(f.Nodes) < 2 || !slices.IsSorted(f.Nodes) || f.Run == nil {
			return fault.Errorf("nodes %v are no fusion", f.Nodes)
		}
		first := &plan.Nodes[f.Nodes[0]]
		for _, id := range f.Nodes {
			n := &plan.Nodes[id]
			if seen[id] || !fusable(n) || n.Hook.Kind != f.Kind || n.Slot != f.Slot || !lists.Equal(n.Data, first.Data) {
				return fault.Errorf("node %d cannot be fused with node %d", id, f.Nodes[0])
			}
			seen[id] = true
		}
	}
	return nil
}
