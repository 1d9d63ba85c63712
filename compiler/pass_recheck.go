package compiler

import (
	"slices"

	"github.com/hookc/hookc/compiler/lint"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeRecheck = diag.Define("HK127", diag.Warning, "recheck of a hook with side effects")

// recheck puts a copy of a guard right after the last item in which some
// other hook may rewrite what the guard reads (semantics.md §2.8, §4.3 P2). A
// guard that says recheck: true is copied whoever rewrites; any other only when
// a hook of the session tier does and the guard's tier is lower. Copies behind
// one item keep the order of their originals. A copy is no reason for another:
// it repeats what a guard of equal trust said before.
func recheck(u *unit) {
	for _, plan := range u.plans {
		list := blocks(plan)
		behind := make([][]int, len(list)) // item → originals to repeat after it
		writers := writersOf(plan)
		for id := range plan.Nodes {
			n := &plan.Nodes[id]
			by := lastRewriter(plan, id, writers)
			if by < 0 {
				continue
			}
			if n.Hook.Recheck && n.Effects.World == policy.WorldWrite {
				what := "%s may write the world, so it is not asked again about what %s may rewrite"
				if repeatable(n) {
					what = "%s writes the world, and runs twice: %s may rewrite what it read"
				}
				u.report(n.Hook, codeRecheck.Report(n.Hook.Span, what, n.Hook.Name, plan.Nodes[by].Hook.Name).
					WithHint("declare world: read or none if it changes nothing"))
			}
			if repeatable(n) {
				at := plan.Nodes[by].Item
				behind[at] = append(behind[at], id)
			}
		}
		var out []block
		for i, b := range list {
			out = append(out, b)
			for _, id := range behind[i] {
				out = append(out, copyOf(plan, id))
			}
		}
		layout(plan, out)
	}
}

func copyOf(plan *dag.Plan, id int) block {
	n := plan.Nodes[id]
	n.RecheckOf = id
	return block{item: dag.Item{Fold: policy.FoldMax}, nodes: []dag.Node{n}, old: []int{-1}}
}

// repeatable reports whether a guard may be evaluated twice: a builtin, a rule
// without patches, a rule that asks for it, and a process or a model that asks
// for it and changes nothing (semantics.md §2.8).
func repeatable(n *dag.Node) bool {
	if !n.Hook.Kind.InProcess() {
		return n.Hook.Recheck && n.Effects.World != policy.WorldWrite
	}
	return n.Hook.Recheck || n.Hook.Kind == policy.KindBuiltin || n.Effects.Writes.Empty()
}

// lastRewriter is the last hook, from the guard's own item on, for whose
// changes the guard is to be repeated, or -1.
func lastRewriter(plan *dag.Plan, id int, writers []int) int {
	guard := &plan.Nodes[id]
	if guard.Hook.Async || !guard.Hook.Recheck && !guard.Guards() {
		return -1
	}
	for _, w := range slices.Backward(writers) {
		switch item := plan.Nodes[w].Item; {
		case item < guard.Item:
			return -1
		case w != id && rewrites(plan, w, guard):
			return w
		}
	}
	return -1
}

// writersOf are the nodes that may change the event, ascending.
func writersOf(plan *dag.Plan) []int {
	var out []int
	for id := range plan.Nodes {
		if !plan.Nodes[id].Effects.Writes.Empty() {
			out = append(out, id)
		}
	}
	return out
}

// rewrites reports whether node w may change what the guard reads, and the
// guard is to be repeated for it.
func rewrites(plan *dag.Plan, w int, guard *dag.Node) bool {
	writer := &plan.Nodes[w]
	agent := writer.Hook.Tier == policy.TierSession && guard.Hook.Tier < policy.TierSession
	if !guard.Hook.Recheck && !agent || !writer.Effects.Writes.Overlaps(guard.Reads) {
		return false
	}
	if _, never := lint.NeverMatches(plan, w); never {
		return false
	}
	return lint.Meet(plan, writer, guard)
}
