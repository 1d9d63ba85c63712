package lint

import (
	"slices"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeUnindexable = diag.Define(diag.Code{
	ID: "HK213", Severity: diag.Hint,
	Title: "Rego rule that no index can leave out",
	Help: `The rules that can hold for an event are found by an index over the tests they begin
with: of a field with a constant by ==, in, startswith or endswith, not negated. Rules that
are native code may also begin with contains, a pattern or a glob with some fixed text. The
test may be in a helper rule, and of what lower, trim or split make of a field. A rule with no such test,
of a hook with no filter on a name, is evaluated for every event, and so is every rule like
it. Test the tool's name first, or give the hook filter: {tool_name: ...}.`,
	Bad: `pre_tool_execution:
  - name: guard
    type: rego
    source: |
      package hooks.guard
      deny contains "no" if {
        not input.tool_name in {"Read", "Glob"}
        count(input.tool_input.command) > 2000
      }
`,
	Good: `pre_tool_execution:
  - name: guard
    type: rego
    source: |
      package hooks.guard
      deny contains "no" if {
        input.tool_name in {"Bash", "bash"}
        count(input.tool_input.command) > 2000
      }
`,
})

func unindexable(t *Target) diag.List {
	var out diag.List
	for _, plan := range t.Plans {
		if !plan.Spec.CanRead(policy.FieldToolName) {
			continue // there is no name to begin with
		}
		for i := range plan.Nodes {
			n := &plan.Nodes[i]
			named := slices.ContainsFunc(n.Matcher.Atoms, func(a policy.Atom) bool { return a.Op == policy.AtomIn })
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
