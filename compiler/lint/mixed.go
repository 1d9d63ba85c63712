package lint

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeMixed = diag.Define("HK163", diag.Warning, "strategy also governs hooks of a more trusted tier").Guarding()

func mixed(t *Target) diag.List {
	var out diag.List
	for _, plan := range t.Plans {
		if plan.Strategy.Strategy == plan.Spec.Strategy {
			continue
		}
		set, ok := setter(t.Policy.Settings, plan)
		above := lists.At(plan.Nodes, func(n *dag.Node) bool { return n.Hook.Tier < set.Tier })
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
