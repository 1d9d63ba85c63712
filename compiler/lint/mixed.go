package lint

import (
	"slices"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeMixed = diag.Define(diag.Code{
	ID: "HK163", Severity: diag.Warning, Security: true,
	Title: "strategy also governs hooks of a more trusted tier",
	Help: `A strategy holds for the whole event. Here a tier sets one for hooks that a more
trusted tier wrote without it, and whose verdicts may now count differently. Set the
strategy in the most trusted tier that has hooks on the event.`,
	Bad: `-- .config/hookc/hooks.yaml --
pre_tool_execution:
  - {name: guard, type: expr, deny: '(tool_input.command ?? "") contains "rm -rf"', reason: "no"}
-- hooks.yaml --
pre_tool_execution:
  strategy: chain-all
  hooks:
    - {name: etc, type: expr, deny: '(path ?? "") contains "/etc/"', reason: "not /etc"}
`,
	Good: `-- .config/hookc/hooks.yaml --
pre_tool_execution:
  strategy: chain-all
  hooks:
    - {name: guard, type: expr, deny: '(tool_input.command ?? "") contains "rm -rf"', reason: "no"}
-- hooks.yaml --
pre_tool_execution:
  - {name: etc, type: expr, deny: '(path ?? "") contains "/etc/"', reason: "not /etc"}
`,
})

func mixed(t *Target) diag.List {
	var out diag.List
	for _, plan := range t.Plans {
		if plan.Strategy.Strategy == plan.Spec.Strategy {
			continue
		}
		set, ok := setter(t.Policy.Settings, plan)
		above := slices.IndexFunc(plan.Nodes, func(n dag.Node) bool { return n.Hook.Tier < set.Tier })
		if !ok || above < 0 {
			continue
		}
		h := plan.Nodes[above].Hook
		out.Add(codeMixed.Report(set.StrategySpan, "strategy %s, set by the %s tier, also governs %s of the %s tier",
			plan.Strategy.Strategy, set.Tier, h.Name, h.Tier).WithHook(h.Name))
	}
	return out
}

// setter is the setting whose strategy holds: the most trusted.
func setter(settings []policy.Setting, plan *dag.Plan) (policy.Setting, bool) {
	var out policy.Setting
	found := false
	for _, s := range settings {
		if s.Event == plan.Event && s.Strategy == plan.Strategy.Strategy && (!found || s.Tier < out.Tier) {
			out, found = s, true
		}
	}
	return out, found
}
