package lint

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeRewrite = diag.Define("HK161", diag.Warning, "checked, then rewritten").Guarding()

func rewrites(t *Target) diag.List {
	var out diag.List
	for _, plan := range t.Plans {
		if plan.Spec.Class != policy.Guard {
			continue
		}
		writers := rewriters(plan, t.Hints)
		for i := range plan.Nodes {
			if d, ok := rewritten(plan, i, writers); ok {
				out.Add(d)
			}
		}
	}
	return out
}

// rewriters are the nodes that may change the event, and the copies that look
// at it again. Hooks that declare no writes may change anything their event
// allows, which most of them do not: they are named only as hints.
func rewriters(plan *dag.Plan, hints bool) []int {
	var out []int
	for j := range plan.Nodes {
		switch w := &plan.Nodes[j]; {
		case !original(w):
			out = append(out, j)
		case !w.Effects.Writes.Empty() && (hints || !opaque(w)):
			out = append(out, j)
		}
	}
	return out
}

// rewritten looks among writers for hooks that may change what guard i read.
func rewritten(plan *dag.Plan, i int, writers []int) (diag.Diagnostic, bool) {
	guard := &plan.Nodes[i]
	if !guard.Effects.May.Has(restrictive) || !original(guard) || guard.Hook.Recheck { // whose HK127 says it
		return diag.Diagnostic{}, false
	}
	var by []string
	var changed policy.Paths
	certain := false
	for _, j := range writers {
		w := &plan.Nodes[j]
		if w.RecheckOf == i && j > i {
			return diag.Diagnostic{}, false
		}
		if j == i || w.Item < guard.Item || !original(w) {
			continue
		}
		if both := w.Effects.Writes.Within(guard.Reads); !both.Empty() && Meet(plan, guard, w) {
			by, changed, certain = append(by, w.Hook.Name), changed.Union(both), certain || !opaque(w)
		}
	}
	if len(by) == 0 {
		return diag.Diagnostic{}, false
	}
	d := codeRewrite.Report(guard.Hook.Span, "%s checks %s, which %s may change afterwards", guard.Hook.Name, changed, names(by)).
		WithHook(guard.Hook.Name)
	if guard.Hook.Body.Agent.Event != "" {
		d = d.WithHint("the agent's own configuration has no recheck: hookc convert writes a hooks.yaml in which %s can say recheck: true", guard.Hook.Name)
	} else {
		d = d.WithHint("add recheck: true to %s, or writes: to what changes nothing it reads", guard.Hook.Name)
	}
	if !certain {
		d.Severity = diag.Hint
	}
	return d, true
}
