package compiler

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// needs is what a node waits for, in the simplest form: nodes that are done,
// nodes that are started, and the item up to which every item that may halt
// is complete, -1 if there is none.
type needs struct {
	done, started []int
	gate          int
}

// stored is what the plan says each node waits for.
func stored(plan *dag.Plan) []needs {
	out := make([]needs, len(plan.Nodes))
	for j := range plan.Nodes {
		n := &plan.Nodes[j]
		out[j] = needs{n.Wait, n.Started, n.Gate}
	}
	return out
}

// naive is what the rules of semantics.md §4.2 say each node waits for, and
// whose data it takes: pair by pair, with no recurrence.
func naive(plan *dag.Plan, speculated bool) (waits []needs, data [][]int) {
	waits, data = make([]needs, len(plan.Nodes)), make([][]int, len(plan.Nodes))
	meets := newMeetings(plan)
	var felt []int // nodes that others can tell have run
	for id := range plan.Nodes {
		if e := &plan.Nodes[id].Effects; !e.Writes.Empty() || e.World != policy.WorldNone {
			felt = append(felt, id)
		}
	}
	for j := range plan.Nodes {
		n, w := &plan.Nodes[j], &waits[j]
		w.gate = n.Item - 1
		if speculated && n.Effects.Spec && n.Effects.World != policy.WorldWrite && !n.Hook.Async {
			w.gate = -1
		}
		for _, id := range felt {
			x := &plan.Nodes[id]
			if x.Item >= n.Item {
				break
			}
			world := x.Effects.World == policy.WorldWrite && n.Effects.World != policy.WorldNone ||
				x.Effects.World == policy.WorldRead && n.Effects.World == policy.WorldWrite
			writes := !x.Effects.Writes.Empty() && meets.why(id, j) != ""
			if writes {
				data[j] = append(data[j], id)
			}
			switch {
			case writes, world && !x.Hook.Async:
				w.done = append(w.done, id)
			case world:
				w.started = append(w.started, id)
			}
		}
	}
	return waits, data
}

// closure is, for each node, what is done and what is started before it
// starts, whatever follows from what.
func closure(plan *dag.Plan, waits []needs) (done, started []bits) {
	size := len(plan.Nodes)
	done, started = make([]bits, size), make([]bits, size)
	open := make([][2]bits, len(plan.Items)) // done and started once every gate up to the item is passed
	for i := range plan.Items {
		open[i] = [2]bits{newBits(size), newBits(size)}
		if i > 0 {
			open[i][0].join(open[i-1][0])
			open[i][1].join(open[i-1][1])
		}
		for _, j := range plan.Items[i].Members {
			done[j], started[j] = newBits(size), newBits(size)
			if g := waits[j].gate; g >= 0 {
				done[j].join(open[g][0])
				started[j].join(open[g][1])
			}
			for _, x := range waits[j].done {
				done[j].follow(x, done[x])
				started[j].follow(x, started[x])
			}
			for _, x := range waits[j].started {
				done[j].join(done[x])
				started[j].follow(x, started[x])
			}
		}
		if !plan.Items[i].MayHalt {
			continue
		}
		for _, j := range plan.Items[i].Members {
			open[i][0].follow(j, done[j])
			open[i][1].follow(j, started[j])
		}
	}
	return done, started
}

// follow adds x and what comes before it.
//
//go:noinline
func (b bits) follow(x int, before bits) {
	b.set(x)
	b.join(before)
}

// checkClosure compares what the plan waits for with what it must, both
// closed, and the data of each node with what it must see.
func checkClosure(plan *dag.Plan, speculated bool) error {
	done, started := closure(plan, stored(plan))
	must, data := naive(plan, speculated)
	wantDone, wantStarted := closure(plan, must)
	for j := range plan.Nodes {
		n := &plan.Nodes[j]
		if !lists.Equal(done[j], wantDone[j]) || !lists.Equal(started[j], wantStarted[j]) {
			return fault.Errorf("node %d (%s) does not wait for what semantics.md §4.2 says", j, n.Hook.Name)
		}
		if !lists.Equal(data[j], n.Data) {
			return fault.Errorf("node %d (%s) takes data of %v, not of %v", j, n.Hook.Name, n.Data, data[j])
		}
	}
	return nil
}
