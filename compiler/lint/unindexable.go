package lint

import (
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeUnindexable = diag.Define("HK213", diag.Hint, "Rego rule that no index can leave out")

func unindexable(t *Target) diag.List {
	var out diag.List
	for _, plan := range t.Plans {
		if !plan.Spec.CanRead(policy.FieldToolName) {
			continue // there is no name to begin with
		}
		for i := range plan.Nodes {
			n := &plan.Nodes[i]
			named := lists.Some(n.Matcher.Atoms, func(a *policy.Atom) bool { return a.Op == policy.AtomIn })
			if named || !original(n) {
				continue
			}
			for _, u := range n.Unindexed {
				out.Add(codeUnindexable.Report(u.At, "%s: the rule is evaluated for every call of every tool", n.Hook.Name).
					WithHook(n.Hook.Name).WithHint("%s", u.Hint))
			}
		}
	}
	return out
}
