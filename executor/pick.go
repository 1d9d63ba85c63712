package executor

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// pick is the nodes that can match a tool. It is immutable.
type pick struct {
	nodes set
	list  []int
	count int
	// items are those that have a node here, ascending.
	items []int32
	// asked is true when each node's conditions on the tool alone have been asked,
	// and hold.
	asked bool
	// inline is true when all nodes can be evaluated on the caller's goroutine,
	// one after another; private when, besides, no body keeps what it is given.
	inline, private bool
	// batch is evaluated together, nil if there is none; loose are the other nodes that
	// were picked.
	batch *batch
	loose []int
}

// picker finds what a tool picks. What filters say of the tool's name alone is
// asked once a name: no hook can change it, so an answer at the entry stays
// true. The last answers are remembered in a table of fixed size, whatever
// names are sent; a name that is not remembered costs a look at the index and
// the filters that the index cannot settle.
type picker struct {
	plan  *dag.Plan
	index *dag.Finder
	// collect makes the batch of a pick, nil if there is none.
	collect func(*pick)
	// every has all nodes; absent is for an event that names no tool, rest for
	// most of the names that no filter knows.
	every, absent, rest *pick
	// fixed is true when the name makes no difference.
	fixed bool
	seed  maphash.Seed
	known [knownTools]atomic.Pointer[knownTool]
}

type knownTool struct {
	name string
	pick *pick
}

// knownTools are how many names a plan remembers, and longestTool is the
// longest.
const (
	knownTools  = 256
	longestTool = 256
)

// newPicker is a picker of a plan; where it has no index, or a hook could
// change the name, every node is picked.
func newPicker(plan *dag.Plan, collect func(*pick)) *picker {
	k := &picker{plan: plan, index: plan.Index.Finder(), collect: collect, seed: maphash.MakeSeed()}
	all := make([]int, len(plan.Nodes))
	for i := range all {
		all[i] = i
	}
	k.every = k.newPick(all, false)
	k.fixed = plan.Index.Empty() || plan.Spec.CanWrite(policy.FieldToolName) ||
		len(plan.Index.Always) == len(all) && !slices.ContainsFunc(all, k.settles)
	k.absent, k.rest = k.every, k.every
	if !k.fixed {
		k.absent = k.newPick(k.matching(all, policy.NewContext(plan.Event)), true)
		k.rest = k.newPick(k.matching(k.index.Nodes(""), policy.NewContext(plan.Event).Set(policy.FieldToolName, "")), true)
	}
	return k
}

// pick is what the tool of an event picks.
func (k *picker) pick(in *policy.Context) *pick {
	if k.fixed {
		return k.every
	}
	v, ok := in.Get(policy.FieldToolName)
	if !ok {
		return k.absent
	}
	tool, ok := v.(string)
	if !ok {
		return k.every
	}
	return k.tool(tool)
}

func (k *picker) tool(name string) *pick {
	if k.fixed {
		return k.every
	}
	place := &k.known[maphash.String(k.seed, name)%knownTools]
	if known := place.Load(); known != nil && known.name == name {
		return known.pick
	}
	nodes := k.index.Nodes(name)
	if len(nodes) == 0 && k.rest.count == 0 {
		return k.rest // not worth the place of a name that has to be asked about
	}
	p, nodes := k.rest, k.matching(nodes, policy.NewContext(k.plan.Event).Set(policy.FieldToolName, name))
	if !lists.Equal(p.list, nodes) {
		p = k.newPick(nodes, true)
	}
	if len(name) <= longestTool {
		place.Store(&knownTool{strings.Clone(name), p})
	}
	return p
}

// matching are the nodes whose conditions on the tool alone hold.
func (k *picker) matching(nodes []int, in *policy.Context) []int {
	return lists.DeleteFunc(lists.Copy(nodes), func(i int) bool {
		m := k.plan.Nodes[i].Matcher
		if m == nil {
			return false
		}
		for a := range m.Atoms {
			if atom := &m.Atoms[a]; aboutTool(atom) && !atom.Test(in) {
				return true
			}
		}
		return false
	})
}

// settles reports whether node i has a condition on the tool alone.
func (k *picker) settles(i int) bool {
	m := k.plan.Nodes[i].Matcher
	return m != nil && lists.Some(m.Atoms, func(a *policy.Atom) bool { return aboutTool(a) })
}

// aboutTool reports whether a condition looks at nothing but the tool's name.
func aboutTool(a *policy.Atom) bool {
	return len(a.Reads) > 0 && !slices.ContainsFunc(a.Reads, func(f policy.Field) bool {
		return f != policy.FieldToolName && f != policy.FieldToolKind
	})
}

// newPick is a pick of nodes, which ascend, and about whose filters nothing is
// left to ask that is about the tool alone, if asked.
func (k *picker) newPick(nodes []int, asked bool) *pick {
	p := &pick{nodes: newSet(len(k.plan.Nodes)), list: nodes, count: len(nodes), asked: asked, inline: true, private: true, loose: nodes}
	for _, i := range nodes {
		n := &k.plan.Nodes[i]
		p.nodes.add(i)
		if last := len(p.items) - 1; last < 0 || p.items[last] != int32(n.Item) {
			p.items = append(p.items, int32(n.Item))
		}
		p.inline = p.inline && n.Hook.Kind.InProcess() && !n.Hook.Async
		p.private = p.private && (n.Hook.Kind == policy.KindExpr || n.Hook.Kind == policy.KindRego && n.Brief)
	}
	if k.collect != nil {
		k.collect(p)
	}
	return p
}
