package executor

import (
	"math/bits"
	"slices"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// set is a set of small ints.
type set []uint64

func newSet(n int) set { return make(set, (n+63)/64) }

func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s set) remove(i int)   { s[i/64] &^= 1 << (i % 64) }
func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// from is the smallest member that is at least i, or -1.
func (s set) from(i int) int {
	for w := i / 64; w < len(s); w++ {
		word := s[w]
		if w == i/64 {
			word &= ^uint64(0) << (i % 64)
		}
		if word != 0 {
			return w*64 + bits.TrailingZeros64(word)
		}
	}
	return -1
}

// wiring is a plan with what the scheduler asks for turned round: who waits
// for a node, not for whom it waits. It is immutable.
type wiring struct {
	plan *dag.Plan
	// left is how many things each node waits for.
	left []int32
	// afterDone, afterStart are the nodes released when a node is done, or has
	// begun; afterGate those released when an item's gate opens.
	afterDone, afterStart, afterGate [][]int32
	// gates are the items that form the chain of gates, ascending.
	gates []int
	// data is each node's Data, ascending: the order in which patches apply.
	data  [][]int
	blank []policy.HookTrace
	// count counts each node's runs.
	count []func(policy.Status, int, time.Duration)
	// absent are the hooks of the event that the plan leaves out.
	absent []absent
	// picks by tool name; rest is for the names no filter lists.
	picks map[string]*pick
	rest  *pick
}

// pick is the nodes that can match a tool.
type pick struct {
	nodes set
	count int
	// inline is true when all of them can be evaluated on the caller's
	// goroutine, one after another.
	inline bool
}

func newWiring(plan *dag.Plan, o *Options) *wiring {
	n := len(plan.Nodes)
	w := &wiring{plan: plan, left: make([]int32, n), data: make([][]int, n),
		afterDone: make([][]int32, n), afterStart: make([][]int32, n), afterGate: make([][]int32, len(plan.Items)),
		blank: blankTrace(plan), count: make([]func(policy.Status, int, time.Duration), n), picks: map[string]*pick{}}
	gate := make([]bool, len(plan.Items))
	for i := range plan.Items {
		gate[i] = plan.Items[i].MayHalt
	}
	for i := range plan.Nodes {
		node := &plan.Nodes[i]
		w.count[i] = o.counting(node)
		w.data[i] = slices.Sorted(slices.Values(node.Data))
		w.left[i] = int32(len(node.Wait) + len(node.Started))
		for _, from := range node.Wait {
			w.afterDone[from] = append(w.afterDone[from], int32(i))
		}
		for _, from := range node.Started {
			w.afterStart[from] = append(w.afterStart[from], int32(i))
		}
		if node.Gate >= 0 {
			w.left[i]++
			w.afterGate[node.Gate] = append(w.afterGate[node.Gate], int32(i))
			gate[node.Gate] = true
		}
	}
	for i, is := range gate {
		if is {
			w.gates = append(w.gates, i)
		}
	}
	w.choose()
	return w
}

// choose prepares a pick for each tool the index names and one for the rest.
// A plan without an index has every node picked.
func (w *wiring) choose() {
	x := &w.plan.Index
	if len(x.Exact) == 0 && len(x.Always) == 0 {
		all := make([]int, len(w.plan.Nodes))
		for i := range all {
			all[i] = i
		}
		w.rest = w.newPick(all, nil)
		return
	}
	w.rest = w.newPick(x.Always, nil)
	for tool, nodes := range x.Exact {
		w.picks[tool] = w.newPick(x.Always, nodes)
	}
}

func (w *wiring) newPick(always, exact []int) *pick {
	p := &pick{nodes: newSet(len(w.plan.Nodes)), inline: true}
	for _, i := range slices.Concat(always, exact) {
		if p.nodes.has(i) {
			continue
		}
		p.nodes.add(i)
		p.count++
		h := w.plan.Nodes[i].Hook
		p.inline = p.inline && h.Kind.InProcess() && !h.Async
	}
	return p
}

func (w *wiring) pick(in *policy.Context) *pick {
	if p, ok := w.picks[in.Text(policy.FieldToolName)]; ok {
		return p
	}
	return w.rest
}
