package executor

import (
	"math/bits"
	"slices"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
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

// schedule is a plan as the scheduler needs it: who waits for a node, not for
// whom it waits. It is immutable.
type schedule struct {
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
	// filteredBut counts, as one, that all nodes but some were filtered, until
	// it is done; both are nil when each is counted on its own.
	filteredBut func(nodes []int)
	done        func()
	// fused are the nodes that can be evaluated together, nil if there is none.
	fused    *fusions
	counters batchCounters
	// absent are the hooks of the event that the plan leaves out.
	absent []absent
	// picks finds the nodes that can match a tool; byTool are those whose filters
	// look at nothing but its name.
	picks  *picker
	byTool []bool
	// once are the nodes of one attempt within a budget, on their own; tellers are
	// their bodies.
	once    []bool
	tellers []policy.Teller
	// memoised is Plan.Memoised.
	memoised bool
	// filtered is the trace of a firing in which no filter matches, ran of one in
	// which all nodes ran, took no time and were silent, nil when nothing is fused.
	filtered, ran []policy.HookTrace
}

func newSchedule(plan *dag.Plan, o *Options) *schedule {
	n := len(plan.Nodes)
	w := &schedule{plan: plan, left: make([]int32, n), data: make([][]int, n),
		afterDone: make([][]int32, n), afterStart: make([][]int32, n), afterGate: make([][]int32, len(plan.Items)),
		blank: blankTrace(plan), count: make([]func(policy.Status, int, time.Duration), n),
		byTool: make([]bool, n), once: make([]bool, n), tellers: make([]policy.Teller, n)}
	gate := make([]bool, len(plan.Items))
	for i := range plan.Items {
		gate[i] = plan.Items[i].MayHalt
	}
	for i := range plan.Nodes {
		node := &plan.Nodes[i]
		w.count[i] = o.counting(node)
		w.byTool[i] = node.Matcher == nil || !lists.Some(node.Matcher.Atoms, func(a *policy.Atom) bool { return !aboutTool(a) })
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
	w.fused = newFusions(plan)
	for i := range plan.Nodes {
		node := &plan.Nodes[i]
		w.once[i] = node.Timeout > 0 && node.Retry == 0 && !node.Effects.Project && !w.fused.has(i)
		w.tellers[i] = teller(node.Runner)
	}
	if o.Filtered != nil && n > fewFiltered {
		w.filteredBut, w.done = o.Filtered(plan)
	}
	w.memoised, w.filtered = plan.Memoised(), lists.Copy(w.blank)
	for i := range w.filtered {
		w.filtered[i].Status = policy.StatusFiltered
	}
	if w.fused != nil {
		w.ran = lists.Copy(w.blank)
		for i := range w.ran {
			w.ran[i].Status, w.ran[i].Attempts = policy.StatusRan, 1
		}
	}
	w.counters.make = o.Together
	w.picks = newPicker(plan, w.collect)
	return w
}

// matches reports whether the filter of node i, which p has and which starts no
// process, lets it run in context s.
func (w *schedule) matches(p *pick, i int, s *policy.Context) bool {
	return p.asked && w.byTool[i] || matches(&w.plan.Nodes[i], s, s)
}
