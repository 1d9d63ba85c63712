package dag

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/hookc/hookc/internal/lists"
)

// Graph is "v waits for u" over dense node IDs. Every edge leads from a lower
// ID to a higher one, so a Graph has no cycle. It is immutable.
type Graph struct {
	// in and out are ascending and free of repeats.
	in, out [][]int
}

// NewGraph returns the graph of n nodes with the given edges. An edge that
// does not lead forward is the compiler's bug and panics.
func NewGraph(n int, edges []Edge) *Graph {
	g := &Graph{in: make([][]int, n), out: make([][]int, n)}
	for _, e := range edges {
		if e.From >= e.To || e.From < 0 || e.To >= n {
			panic(fmt.Sprintf("dag: edge %d→%d does not lead forward", e.From, e.To))
		}
		g.in[e.To] = append(g.in[e.To], e.From)
		g.out[e.From] = append(g.out[e.From], e.To)
	}
	for v := range n {
		g.in[v], g.out[v] = ascending(g.in[v]), ascending(g.out[v])
	}
	return g
}

func ascending(ids []int) []int {
	lists.Sort(ids)
	return lists.Compact(ids)
}

// Len is the number of nodes.
func (g *Graph) Len() int { return len(g.in) }

// In lists the nodes v waits for, Out those that wait for v; both ascending.
// The slices must not be changed.
func (g *Graph) In(v int) []int { return g.in[v] }

// Out lists the nodes that wait for v, ascending.
func (g *Graph) Out(v int) []int { return g.out[v] }

// Ranks is each node's distance from the start: the number of edges on the
// longest path that ends in it.
func (g *Graph) Ranks() []int {
	ranks := make([]int, g.Len())
	for v := range ranks {
		for _, u := range g.in[v] {
			ranks[v] = max(ranks[v], ranks[u]+1)
		}
	}
	return ranks
}

// Reduced reports whether the edge u→v says nothing that a longer path from u
// to v does not say already.
func (g *Graph) Reduced() func(u, v int) bool {
	n := g.Len()
	words := (n + 63) / 64
	reach := make([]uint64, n*words) // row u: what u leads to
	row := func(u int) []uint64 { return reach[u*words : (u+1)*words] }
	for u := n - 1; u >= 0; u-- {
		for _, v := range g.out[u] {
			row(u)[v/64] |= 1 << (v % 64)
			for w, bits := range row(v) {
				row(u)[w] |= bits
			}
		}
	}
	return func(u, v int) bool {
		return slices.ContainsFunc(g.out[u], func(w int) bool { return w < v && row(w)[v/64]&(1<<(v%64)) != 0 })
	}
}

// Sub returns the edges among the nodes that keep holds for. Dropping a node
// does not drop order: where a→b→c and b is not kept, c still waits for a. A
// dropped gate hands its gate edges back to the last kept item before it that
// may halt. A nil keep keeps every node.
func (p *Plan) Sub(keep func(node int) bool) []Edge {
	if keep == nil {
		return p.Edges
	}
	var out []Edge
	have := map[[2]int]bool{}
	add := func(e Edge) {
		if at := [2]int{e.From, e.To}; !have[at] {
			have[at] = true
			out = append(out, e)
		}
	}
	into := make([][]Edge, len(p.Nodes))
	for _, e := range p.Edges {
		into[e.To] = append(into[e.To], e)
		if keep(e.From) && keep(e.To) {
			out, have[[2]int{e.From, e.To}] = append(out, e), true
		}
	}
	for v := range p.Nodes {
		if !keep(v) {
			continue
		}
		for _, e := range into[v] {
			switch {
			case keep(e.From):
			case e.Kind == GateEdge:
				p.regate(e, keep, add)
			default:
				p.through(e, e.From, into, keep, add)
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return CompareEdges(out[i], out[j]) < 0 })
	return out
}

// regate replaces gate edge e, whose gate is not kept, by the gate before it.
func (p *Plan) regate(e Edge, keep func(int) bool, add func(Edge)) {
	for item := p.Nodes[e.From].Item; item >= 0; item-- {
		found := false
		for _, u := range p.Items[item].Members {
			if p.Items[item].MayHalt && keep(u) && u < e.To {
				add(Edge{From: u, To: e.To, Kind: GateEdge, Why: p.Nodes[u].Hook.Name + " may end the chain"})
				found = true
			}
		}
		if found {
			return
		}
	}
}

// through adds the edges that lead to e.To by way of the dropped node.
func (p *Plan) through(e Edge, dropped int, into [][]Edge, keep func(int) bool, add func(Edge)) {
	for _, before := range into[dropped] {
		switch {
		case before.Kind == GateEdge:
		case keep(before.From):
			add(Edge{From: before.From, To: e.To, Kind: OrderEdge, Start: before.Start,
				Why: "by way of " + p.Nodes[e.From].Hook.Name + ", which does not run"})
		default:
			p.through(e, before.From, into, keep, add)
		}
	}
}

// CompareEdges orders edges by To, From and kind.
func CompareEdges(a, b Edge) int {
	if a.To != b.To {
		return a.To - b.To
	}
	return a.From - b.From
}

// Estimated is what the nodes that keep holds for are expected to cost, from
// their Cost, with as many workers as there are nodes (semantics.md §6). A nil
// keep is the whole plan. Async hooks cost nothing: no one waits for them.
func (p *Plan) Estimated(keep func(node int) bool) Estimate {
	s := p.Timeline(keep)
	var e Estimate
	last := -1
	for v := range p.Nodes {
		if !s.keep[v] || p.Nodes[v].Hook.Async {
			continue
		}
		e.Serial += p.Nodes[v].Cost
		if s.finish[v] > e.Critical || last < 0 {
			e.Critical, last = s.finish[v], v
		}
	}
	for v := last; v >= 0; v = s.binding(p, v, last) {
		if v != last && s.finish[v]*negligible < e.Critical {
			break
		}
		e.Path = append(e.Path, p.Label(v))
	}
	slices.Reverse(e.Path)
	e.FirstDeny = s.firstDeny(p)
	return e
}

// negligible is how many times longer than the way to a node the whole path
// must be for the path to be told without that way.
const negligible = 1000

// Label is the name of a node's hook, with a prime for each recheck copy it
// is away from the original.
//
//go:noinline
func (p *Plan) Label(node int) string { return p.Nodes[node].Hook.Name + p.Primes(node) }

// Primes tells the copies of a rechecked hook apart.
func (p *Plan) Primes(node int) string {
	of := p.Nodes[node].RecheckOf
	if of < 0 {
		return ""
	}
	out := "'"
	for v := of + 1; v < node; v++ {
		if p.Nodes[v].RecheckOf == of {
			out += "'"
		}
	}
	return out
}

// schedule is when each node of a plan is expected to start and finish.
// Schedule is when the kept nodes of a plan run, if each may start as early as
// it can.
type Timeline struct {
	keep          []bool
	start, finish []time.Duration
	// bind is the node whose finish lets v start, -1 if there is none; before is the
	// node evaluated right before v in v's slot.
	bind, before []int
	// slots maps a slot to when its evaluation begins and ends.
	slots []span
}

type span struct {
	used       bool
	start, end time.Duration
}

// Start is when a node starts.
func (s *Timeline) Start(node int) time.Duration { return s.start[node] }

// Slot is how long the evaluation of a slot takes.
func (s *Timeline) Slot(slot int) time.Duration { return s.slots[slot].end - s.slots[slot].start }

// Schedule starts every kept node as early as the rules of semantics.md §4.2
// and §6 allow: slot 0 before any process, the nodes of a slot one after
// another on the caller's goroutine, all else when what it waits for is done.
func (p *Plan) Timeline(keep func(int) bool) *Timeline {
	n := len(p.Nodes)
	s := &Timeline{keep: make([]bool, n), start: make([]time.Duration, n), finish: make([]time.Duration, n),
		bind: make([]int, n), before: make([]int, n)}
	slots := p.Slots
	for v := range n {
		s.keep[v], s.bind[v], s.before[v] = keep == nil || keep(v), -1, -1
		slots = max(slots, p.Nodes[v].Slot+1)
	}
	s.slots = make([]span, slots)
	tail := make([]int, slots)
	for k := range tail {
		tail[k] = -1
	}
	gates := newGates(p)
	for v := range n {
		if s.keep[v] && p.Nodes[v].Slot == 0 {
			s.place(p, v, tail, gates)
		}
	}
	for v := range n {
		if !s.keep[v] || p.Nodes[v].Slot != 0 {
			s.place(p, v, tail, gates)
		}
		gates.done(p, s, v)
	}
	return s
}

// place computes when v starts and finishes; all it waits for is placed.
func (s *Timeline) place(p *Plan, v int, tail []int, gates *gates) {
	node := &p.Nodes[v]
	at := time.Duration(0)
	after := func(u int, t time.Duration) {
		if u < v && (t > at || s.bind[v] < 0 && s.keep[u]) {
			at, s.bind[v] = max(at, t), u
		}
	}
	for _, u := range node.Wait {
		after(u, s.finish[u])
	}
	for _, u := range node.Started {
		after(u, s.start[u])
	}
	if !s.keep[v] {
		s.start[v], s.finish[v] = at, at
		return
	}
	if u := gates.last(node.Gate); u >= 0 {
		after(u, s.finish[u])
	}
	switch k := node.Slot; {
	case k >= 0:
		s.before[v] = tail[k]
		if u := tail[k]; u >= 0 {
			at = max(at, s.finish[u])
		}
		if !s.slots[k].used {
			s.slots[k] = span{used: true, start: at}
		}
		s.slots[k].end, tail[k] = at+node.Cost, v
	case !node.Exempt() && len(s.slots) > 0:
		at = max(at, s.slots[0].end)
	}
	s.start[v], s.finish[v] = at, at+node.Cost
	if node.Hook.Async {
		s.finish[v] = at
	}
}

// binding is the node before v on the critical path that ends in last: the
// one v waited for or, on a path evaluated in process only, the one before it
// in its slot.
func (s *Timeline) binding(p *Plan, v, last int) int {
	u := s.bind[v]
	for u >= 0 && !s.keep[u] {
		u = s.bind[u]
	}
	if u < 0 && p.Nodes[last].Exempt() {
		return s.before[v]
	}
	return u
}

// firstDeny is when the first slot with a node that can deny is evaluated.
func (s *Timeline) firstDeny(p *Plan) time.Duration {
	var first time.Duration
	for v := range p.Nodes {
		node := &p.Nodes[v]
		if !s.keep[v] || !node.Exempt() || !node.CanDeny() {
			continue
		}
		end := s.finish[v]
		if node.Slot >= 0 {
			end = s.slots[node.Slot].end
		}
		if first == 0 || end < first {
			first = end
		}
	}
	return first
}

// gates remembers, for each item, the node among the members of it and of
// every earlier item that may halt which is done last.
type gates struct{ latest []int }

func newGates(p *Plan) *gates {
	g := &gates{latest: make([]int, len(p.Items))}
	for i := range g.latest {
		g.latest[i] = -1
	}
	return g
}

func (g *gates) last(item int) int {
	if item < 0 || item >= len(g.latest) {
		return -1
	}
	return g.latest[item]
}

// done takes note that v, the nodes before it and slot 0 are placed.
func (g *gates) done(p *Plan, s *Timeline, v int) {
	i := p.Nodes[v].Item
	if g.latest[i] < 0 && i > 0 {
		g.latest[i] = g.latest[i-1]
	}
	if !s.keep[v] || !p.Items[i].MayHalt {
		return
	}
	if u := g.latest[i]; u < 0 || s.finish[v] >= s.finish[u] {
		g.latest[i] = v
	}
}
