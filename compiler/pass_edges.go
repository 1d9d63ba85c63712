package compiler

import (
	"cmp"
	"sort"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// edges says what each node waits for, by the three rules of semantics.md
// §4.2, on which the equality with serial order rests. Every node is behind
// its gate and every rule in the slot of its own turn; speculate and hoist
// loosen that.
func edges(u *unit) {
	for _, plan := range u.plans {
		join(plan)
	}
}

// join sets Wait, Data, Started, Gate, Slot and Edges from what the nodes
// read, write, may say and do to the world.
func join(plan *dag.Plan) {
	plan.Edges = nil
	meets := newMeetings(plan)
	var w worldOrder
	gate := -1
	for i := range plan.Items {
		for _, id := range plan.Items[i].Members {
			n := &plan.Nodes[id]
			n.Wait, n.Data, n.Started = nil, nil, nil
			n.Gate = gate
			joinData(plan, id, meets)
			w.joinWorld(plan, id)
			joinGate(plan, id)
			lists.Sort(n.Wait)
			n.Wait = lists.Compact(n.Wait)
			lists.Sort(n.Started)
			n.Started = lists.Compact(n.Started)
		}
		w.pass(plan, i)
		meets.pass(plan, i)
		if plan.Items[i].MayHalt {
			gate = i
		}
	}
	sortEdges(plan)
	atTurn(plan)
}

func sortEdges(plan *dag.Plan) {
	sort.Slice(plan.Edges, func(i, j int) bool {
		a, b := &plan.Edges[i], &plan.Edges[j]
		return lists.First(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From), cmp.Compare(a.Kind, b.Kind)) < 0
	})
}

// joinData is D1: j waits for every node of an earlier item that may write
// what j reads. All of them, not only the last: j sees the patches of each.
func joinData(plan *dag.Plan, j int, meets *meetings) {
	n := &plan.Nodes[j]
	for _, x := range meets.writers {
		if why := meets.why(x, j); why != "" {
			n.Data = append(n.Data, x)
			n.Wait = append(n.Wait, x)
			plan.Edges = append(plan.Edges, dag.Edge{From: x, To: j, Kind: dag.DataEdge, Why: why})
		}
	}
}

// joinGate is D2: j waits for the last earlier item that may halt. That item
// waits for no gate before it, but is complete in the order of items, so one
// edge means all of them.
func joinGate(plan *dag.Plan, j int) {
	n := &plan.Nodes[j]
	if n.Gate < 0 {
		return
	}
	for _, g := range plan.Items[n.Gate].Members {
		if plan.Nodes[g].MayHalt {
			plan.Edges = append(plan.Edges, dag.Edge{From: g, To: j, Kind: dag.GateEdge, Why: gateWhy(plan, g, j)})
		}
	}
}

func gateWhy(plan *dag.Plan, g, j int) string {
	gate, n := &plan.Nodes[g], &plan.Nodes[j]
	why := n.Hook.Name + " is not started before it is needed"
	switch {
	case n.Exempt():
		why = n.Hook.Name + " is evaluated at its turn"
	case n.Effects.World == policy.WorldWrite:
		why = n.Hook.Name + " may have side effects"
	case n.Hook.Kind == policy.KindLLM:
		why = "a model call discloses data"
	}
	may := (gate.Effects.May & plan.Strategy.Halt.Powers()).Names()
	if len(may) == 0 {
		return why + "; " + gate.Hook.Name + " may fail, which ends the chain"
	}
	return why + "; " + gate.Hook.Name + " may " + orList(may)
}

func orList(words []string) string {
	out := words[0]
	for i, w := range words[1:] {
		if i == len(words)-2 {
			out += " or " + w
		} else {
			out += ", " + w
		}
	}
	return out
}

// worldOrder is the readers-writer recurrence of D3 over items: the nodes of
// the latest item that writes the world, and the readers whom no later writer
// has waited for.
type worldOrder struct{ writers, readers []int }

// joinWorld is D3 for node j of the item about to pass.
func (w *worldOrder) joinWorld(plan *dag.Plan, j int) {
	use := plan.Nodes[j].Effects.World
	if use == policy.WorldRead || use == policy.WorldWrite {
		for _, x := range w.writers {
			after(plan, x, j, "writes")
		}
	}
	if use == policy.WorldWrite {
		for _, x := range w.readers {
			after(plan, x, j, "reads")
		}
	}
}

// after makes j wait for x. Of an async node only the start is ordered.
//
//go:noinline
func after(plan *dag.Plan, x, j int, does string) {
	from, n := &plan.Nodes[x], &plan.Nodes[j]
	if from.Hook.Async {
		n.Started = append(n.Started, x)
	} else {
		n.Wait = append(n.Wait, x)
	}
	verb := "reads"
	if n.Effects.World == policy.WorldWrite {
		verb = "writes"
	}
	plan.Edges = append(plan.Edges, dag.Edge{From: x, To: j, Kind: dag.OrderEdge, Start: from.Hook.Async,
		Why: from.Hook.Name + " " + does + " the world, " + n.Hook.Name + " " + verb + " it"})
}

// pass takes note of an item. Its members wait for nothing among themselves,
// so the readers beside a writer stay to be waited for.
func (w *worldOrder) pass(plan *dag.Plan, item int) {
	var writers, readers []int
	for _, id := range plan.Items[item].Members {
		switch plan.Nodes[id].Effects.World {
		case policy.WorldWrite:
			writers = append(writers, id)
		case policy.WorldRead:
			readers = append(readers, id)
		}
	}
	if len(writers) > 0 {
		w.writers, w.readers = writers, readers
		return
	}
	w.readers = append(w.readers, readers...)
}

// meetings answers which writers' fields meet which readers'. Hooks of one
// policy have few different sets, so each pair of sets is compared once.
type meetings struct {
	plan          *dag.Plan
	writes, reads []int
	known         map[[2]int]string
	// writers are the nodes, of the items that have passed, that write.
	writers []int
}

func newMeetings(plan *dag.Plan) *meetings {
	m := &meetings{plan: plan, known: map[[2]int]string{}}
	ids := map[string]int{}
	number := func(s policy.Paths) int {
		text := s.String()
		if _, ok := ids[text]; !ok {
			ids[text] = len(ids)
		}
		return ids[text]
	}
	for i := range plan.Nodes {
		m.writes = append(m.writes, number(plan.Nodes[i].Effects.Writes))
		m.reads = append(m.reads, number(plan.Nodes[i].Reads))
	}
	return m
}

// why names the fields through which x reaches j, "" when there are none.
func (m *meetings) why(x, j int) string {
	key := [2]int{m.writes[x], m.reads[j]}
	text, ok := m.known[key]
	if !ok {
		text = m.plan.Nodes[x].Effects.Writes.Within(m.plan.Nodes[j].Reads).String()
		m.known[key] = text
	}
	return text
}

func (m *meetings) pass(plan *dag.Plan, item int) {
	for _, id := range plan.Items[item].Members {
		if !plan.Nodes[id].Effects.Writes.Empty() {
			m.writers = append(m.writers, id)
		}
	}
}
