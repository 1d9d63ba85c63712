package lint

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy/diag"
)

var codeMovable = diag.Define("HK211", diag.Hint, "rule could refuse before a process is started")

func movable(t *Target) diag.List {
	var out diag.List
	for _, plan := range t.Plans {
		for i := range plan.Nodes {
			if d, ok := movableNode(plan, i); ok {
				out.Add(d)
			}
		}
	}
	return out
}

func movableNode(plan *dag.Plan, i int) (diag.Diagnostic, bool) {
	n := &plan.Nodes[i]
	if !n.Exempt() || n.Slot != 0 || !n.MayHalt || !original(n) || !n.Effects.Writes.Empty() || plan.Items[n.Item].Parallel {
		return diag.Diagnostic{}, false
	}
	for j := range i {
		p := &plan.Nodes[j]
		if p.Exempt() || p.Hook.Async || p.Hook.Tier != n.Hook.Tier || !Meet(plan, p, n) {
			continue
		}
		return codeMovable.Report(n.Hook.Span, "%s stands after %s but needs nothing of it; before it, a refusal would start no process (same verdicts only)",
			n.Hook.Name, p.Hook.Name).WithHook(n.Hook.Name), true
	}
	return diag.Diagnostic{}, false
}
