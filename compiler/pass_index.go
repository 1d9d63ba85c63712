package compiler

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// index finds which nodes can match a tool, and what a plan needs at all
// (semantics.md §4.3, P4). Only the tool's name is indexed: no hook can change
// it, so an answer at the entry stays true.
func index(u *unit) {
	for _, plan := range u.plans {
		plan.Index = dag.Index{Exact: map[string][]int{}}
		plan.Reads, plan.Inline, plan.Volatile = policy.Paths{}, true, false
		for id := range plan.Nodes {
			n := &plan.Nodes[id]
			plan.Reads = plan.Reads.Union(n.Reads)
			plan.Inline = plan.Inline && n.Exempt() && !n.Hook.Async
			plan.Volatile = plan.Volatile || n.Effects.Volatile
			place(&plan.Index, id, n.Matcher)
		}
	}
}

// place files a node under what its filter demands of the tool's name: one of
// a few names, else a beginning, else an end.
func place(x *dag.Index, id int, m *policy.Matcher) {
	tools, named := toolNames(m)
	if named {
		for _, tool := range tools {
			x.Exact[tool] = append(x.Exact[tool], id)
		}
		return
	}
	for _, part := range []struct {
		texts func(*policy.Literals) []string
		file  func(text string, id int)
	}{
		{func(l *policy.Literals) []string { return l.Prefixes }, x.Begin},
		{func(l *policy.Literals) []string { return l.Suffixes }, x.End},
	} {
		for i := range m.Atoms {
			a := &m.Atoms[i]
			texts := part.texts(&a.Literals)
			if a.Field != policy.FieldToolName || len(texts) == 0 {
				continue
			}
			for _, text := range texts {
				part.file(text, id)
			}
			return
		}
	}
	x.Always = append(x.Always, id)
}

// toolNames are the names a filter lets in, if it names them.
func toolNames(m *policy.Matcher) (tools []string, named bool) {
	for i := range m.Atoms {
		a := &m.Atoms[i]
		names := a.Literals.Exact
		if a.Op == policy.AtomIn {
			names = a.Values
		}
		if a.Field != policy.FieldToolName || a.Op != policy.AtomIn && len(names) == 0 {
			continue
		}
		if !named {
			tools, named = lists.Copy(names), true
			continue
		}
		tools = lists.DeleteFunc(tools, func(t string) bool { return !lists.Has(names, t) })
	}
	return lists.Distinct(tools), named
}
