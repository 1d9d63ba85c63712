package compiler

import (
	"fmt"
	"slices"

	"github.com/hookc/hookc/dag"
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
			u.fuseNodes(plan, key, nodes[key])
		}
		slices.SortFunc(plan.Fused, func(a, b dag.Fusion) int { return a.Nodes[0] - b.Nodes[0] })
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
	if len(nodes) < 2 {
		return
	}
	parts := make([]dag.FusePart, len(nodes))
	for i, id := range nodes {
		parts[i] = dag.FusePart{Runner: plan.Nodes[id].Runner, Filter: plan.Nodes[id].Matcher}
	}
	members, makes := u.kinds[key.kind].Fuse(parts)
	if len(members) < 2 {
		return
	}
	fusion := dag.Fusion{Kind: key.kind, Slot: key.slot}
	own := make([]dag.FusePart, len(members))
	for i, at := range members {
		own[i], fusion.Nodes = parts[at], append(fusion.Nodes, nodes[at])
	}
	u.fusion(&fusion, own, makes)
	plan.Fused = append(plan.Fused, fusion)
}

// fusion makes a fusion, unless an earlier program has it, or one like it that
// stands for it until it is made in the background.
func (u *unit) fusion(f *dag.Fusion, parts []dag.FusePart, makes func() dag.FusedRun) {
	older := u.older(parts)
	switch m := older(); {
	case m != nil && m.Run != nil && m.SameParts(parts):
		f.Run, f.Made = m.Run, m
	case u.earlier != nil:
		f.Late = dag.NewLate(parts, makes, older)
		f.Run = f.Late.Run
	default:
		f.Made = &dag.Made{Parts: parts, Run: makes()}
		f.Run = f.Made.Run
	}
}

// older is the fusion of the last program that has the most of the parts. One
// that only borrows has what that program has later as well.
func (u *unit) older(parts []dag.FusePart) func() *dag.Made {
	newest := func() *dag.Made { return nil }
	if u.earlier == nil {
		return newest
	}
	most := 1 // one alone is no gain
	for _, plan := range u.earlier.unit.plans {
		for i := range plan.Fused {
			f := &plan.Fused[i]
			if m := f.Newest(); m != nil && m.Overlap(parts) > most {
				most = m.Overlap(parts)
				newest = f.Newest
			}
		}
	}
	if u.cfg.Borrow {
		return newest
	}
	now := newest()
	return func() *dag.Made { return now } // not the chain of all programs before
}

// checkFused: what is evaluated together may be, and sees the same version of
// the event.
func checkFused(plan *dag.Plan) error {
	seen := map[int]bool{}
	for _, f := range plan.Fused {
		if len(f.Nodes) < 2 || !slices.IsSorted(f.Nodes) || f.Run == nil {
			return fmt.Errorf("nodes %v are no fusion", f.Nodes)
		}
		first := &plan.Nodes[f.Nodes[0]]
		for _, id := range f.Nodes {
			n := &plan.Nodes[id]
			if seen[id] || !fusable(n) || n.Hook.Kind != f.Kind || n.Slot != f.Slot || !slices.Equal(n.Data, first.Data) {
				return fmt.Errorf("node %d cannot be fused with node %d", id, f.Nodes[0])
			}
			seen[id] = true
		}
	}
	return nil
}
