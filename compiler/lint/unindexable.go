package lint

import (
	"slices"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeUnindexable = diag.Define(diag.Code{
	ID: "HK213", Severity: diag.Hint,
	Title: "Rego rule that no index can leave out",
	Help: `OPA finds the rules that can hold for an event by an index over their tests: of a field
with a constant by ==, in, startswith or endswith, not negated. A rule with no such
test, of a hook with no filter on a name, is evaluated for every event, and so is every
rule like it. Test the tool's name first, as it is written and not what a function makes
of it, or give the hook filter: {tool_name: ...}.`,
	Bad: `pre_tool_execution:
  - name: guard
    type: rego
    source: |
      package hooks.guard
      deny contains "no" if {
        lower(input.tool_name) == "bash"
        contains(input.tool_input.command, "rm -rf")
      }
`,
	Good: `pre_tool_execution:
  - name: guard
    type: rego
    source: |
      package hooks.guard
      deny contains "no" if {
        input.tool_name in {"Bash", "bash"}
        contains(input.tool_input.command, "rm -rf")
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
