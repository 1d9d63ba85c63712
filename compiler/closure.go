package compiler

import (
	"fmt"
	"slices"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// needs is what a node waits for, in the simplest form: nodes that are done,
// nodes that are started, items that are complete.
type needs struct{ done, started, items []int }

// stored is what the plan says node j waits for.
func stored(plan *dag.Plan, j int) needs {
	n := &plan.Nodes[j]
	out := needs{done: n.Wait, started: n.Started}
	for i := 0; i <= n.Gate; i++ {
		if plan.Items[i].MayHalt {
			out.items = append(out.items, i)
		}
	}
	return out
}

// naive is what the rules of semantics.md §4.2 say node j waits for, pair by
// pair, with no recurrence and no memory.
func naive(plan *dag.Plan, j int, speculated bool) needs {
	var out needs
	n := &plan.Nodes[j]
	gated := !(speculated && n.Effects.Spec && n.Effects.World != policy.WorldWrite && !n.Hook.Async)
	for i := range n.Item {
		if gated && plan.Items[i].MayHalt {
			out.items = append(out.items, i)
		}
		for _, id := range plan.Items[i].Members {
			x := &plan.Nodes[id]
			world := x.Effects.World == policy.WorldWrite && n.Effects.World != policy.WorldNone ||
				x.Effects.World == policy.WorldRead && n.Effects.World == policy.WorldWrite
			switch {
			case x.Effects.Writes.Overlaps(n.Reads), world && !x.Hook.Async:
				out.done = append(out.done, id)
			case world:
				out.started = append(out.started, id)
			}
		}
	}
	return out
}

// closure is, for each node, what is done and what is started before it
// starts, whatever follows from what.
func closure(plan *dag.Plan, of func(j int) needs) (done, started []bits) {
	size := len(plan.Nodes)
	done, started = make([]bits, size), make([]bits, size)
	for j := range plan.Nodes {
		done[j], started[j] = newBits(size), newBits(size)
		n := of(j)
		for _, i := range n.items {
			n.done = append(slices.Clip(n.done), plan.Items[i].Members...)
		}
		for _, x := range n.done {
			done[j].set(x)
			started[j].set(x)
			done[j].join(done[x])
			started[j].join(started[x])
		}
		for _, x := range n.started {
			started[j].set(x)
			done[j].join(done[x])
			started[j].join(started[x])
		}
	}
	return done, started
}

// checkClosure compares what the plan waits for with what it must, both
// closed, and the data of each node with what it must see.
func checkClosure(plan *dag.Plan, speculated bool) error {
	done, started := closure(plan, func(j int) needs { return stored(plan, j) })
	wantDone, wantStarted := closure(plan, func(j int) needs { return naive(plan, j, speculated) })
	for j := range plan.Nodes {
		if !slices.Equal(done[j], wantDone[j]) || !slices.Equal(started[j], wantStarted[j]) {
			return fmt.Errorf("node %d (%s) does not wait for what semantics.md §4.2 says", j, plan.Nodes[j].Hook.Name)
		}
		var data []int
		for x := range j {
			if plan.Nodes[x].Item < plan.Nodes[j].Item && plan.Nodes[x].Effects.Writes.Overlaps(plan.Nodes[j].Reads) {
				data = append(data, x)
			}
		}
		if !slices.Equal(data, plan.Nodes[j].Data) {
			return fmt.Errorf("node %d (%s) takes data of %v, not of %v", j, plan.Nodes[j].Hook.Name, plan.Nodes[j].Data, data)
		}
	}
	return nil
}
