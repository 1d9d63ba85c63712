package compiler

import (
	"slices"

	"github.com/hookc/hookc/dag"
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
			tools, named := toolNames(n.Matcher)
			if !named {
				plan.Index.Always = append(plan.Index.Always, id)
			}
			for _, tool := range tools {
				plan.Index.Exact[tool] = append(plan.Index.Exact[tool], id)
			}
		}
	}
}

// toolNames are the names a filter lets in, if it names them.
func toolNames(m *policy.Matcher) (tools []string, named bool) {
	for i := range m.Atoms {
		a := &m.Atoms[i]
		if a.Field != policy.FieldToolName || a.Op != policy.AtomIn {
			continue
		}
		if !named {
			tools, named = slices.Clone(a.Values), true
			continue
		}
		tools = slices.DeleteFunc(tools, func(t string) bool { return !slices.Contains(a.Values, t) })
	}
	slices.Sort(tools)
	return slices.Compact(tools), named
}
