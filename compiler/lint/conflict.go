package lint

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy/diag"
)

var codeConflict = diag.Define("HK160", diag.Warning, "two hooks write one field")

func conflicts(t *Target) diag.List {
	var out diag.List
	for _, plan := range t.Plans {
		for j := range plan.Nodes {
			if d, ok := conflict(plan, j); ok {
				out.Add(d)
			}
		}
	}
	return out
}

// conflict looks for the nearest earlier hook whose changes node j loses.
func conflict(plan *dag.Plan, j int) (diag.Diagnostic, bool) {
	later := &plan.Nodes[j]
	if later.Effects.Writes.Empty() || opaque(later) || !original(later) {
		return diag.Diagnostic{}, false
	}
	for i := j - 1; i >= 0; i-- {
		earlier := &plan.Nodes[i]
		both := earlier.Effects.Writes.Overlap(later.Effects.Writes)
		if both.Empty() || opaque(earlier) || !original(earlier) || !Meet(plan, earlier, later) {
			continue
		}
		if later.Item != earlier.Item && later.Reads.Overlaps(both) {
			continue // it builds on what it was given
		}
		return codeConflict.Report(later.Hook.Span, "%s and %s both change %s; %s, the later, wins", earlier.Hook.Name, later.Hook.Name, both, later.Hook.Name).
			WithHook(later.Hook.Name), true
	}
	return diag.Diagnostic{}, false
}
