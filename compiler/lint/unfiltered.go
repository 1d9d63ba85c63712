package lint

import (
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeUnfiltered = diag.Define("HK212", diag.Hint, "process for every tool call")

func unfiltered(t *Target) diag.List {
	var out diag.List
	for _, plan := range t.Plans {
		if plan.Spec.Class == policy.Observe || !plan.Spec.CanRead(policy.FieldToolName) {
			continue // an event of the host's own may carry anything and be about no tool
		}
		for i := range plan.Nodes {
			n := &plan.Nodes[i]
			if n.Exempt() || n.Hook.Async || len(n.Matcher.Atoms) > 0 || !original(n) {
				continue
			}
			what := "a process"
			if n.Hook.Kind == policy.KindLLM {
				what = "a model call"
			}
			out.Add(codeUnfiltered.Report(n.Hook.Span, "%s has no filter: %s for every tool call", n.Hook.Name, what).WithHook(n.Hook.Name).
				WithHint("add filter: {tool_kind: …} or filter: {tool_name: …}"))
		}
	}
	return out
}
