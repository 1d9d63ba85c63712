package lint

import (
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeObserver = diag.Define(diag.Code{
	ID: "HK210", Severity: diag.Hint,
	Title: "undeclared hook makes others wait",
	Help: `A hook that declares nothing may rewrite anything, refuse anything and change any
file, so later hooks wait for it. If it does not, say so: writes: [] (it rewrites
nothing), may: [] (it decides nothing), world: read or none (it changes no files).`,
	Bad: `pre_tool_execution:
  - {name: audit, command: "true", filter: {tool_name: Bash}, on_error: deny}
  - {name: scan, command: "true", filter: {tool_name: Bash}, world: read, writes: [], on_error: deny}
`,
	Good: `pre_tool_execution:
  - {name: audit, command: "true", filter: {tool_name: Bash}, world: read, writes: [], may: [], on_error: deny}
  - {name: scan, command: "true", filter: {tool_name: Bash}, world: read, writes: [], on_error: deny}
`,
})

// maxWhatIf bounds the hooks tried one by one: each try plans the event anew.
const maxWhatIf = 32

// offers are the declarations to try, the least promise first.
var offers = []struct {
	text   string
	change func(*dag.Node)
}{
	{"writes: []", func(n *dag.Node) { n.Effects.Writes = policy.Paths{} }},
	{"writes: [], may: []", func(n *dag.Node) { n.Effects.Writes, n.Effects.May = policy.Paths{}, 0 }},
	{"writes: [], may: [], world: read", func(n *dag.Node) {
		n.Effects.Writes, n.Effects.May = policy.Paths{}, 0
		n.Effects.World = min(n.Effects.World, policy.WorldRead)
	}},
}

func observers(t *Target) diag.List {
	var out diag.List
	for _, plan := range t.Plans {
		var candidates []int
		for i := range plan.Nodes {
			if n := &plan.Nodes[i]; original(n) && opaque(n) && !n.Hook.Async {
				candidates = append(candidates, i)
			}
		}
		found := eachObserver(t, plan, candidates)
		if len(found) == 0 && len(candidates) > 1 {
			found = allObservers(t, plan, candidates)
		}
		out.Add(found...)
	}
	return out
}

// eachObserver reports hooks whose declaration alone shortens the chain.
func eachObserver(t *Target, plan *dag.Plan, candidates []int) diag.List {
	var out diag.List
	before := plan.Estimated(nil).Critical
	for _, i := range candidates[:min(len(candidates), maxWhatIf)] {
		h := plan.Nodes[i].Hook
		for _, offer := range offers {
			after := t.WhatIf(plan, func(n *dag.Node) {
				if n.Hook == h {
					offer.change(n)
				}
			}).Critical
			if after < before {
				out.Add(codeObserver.Report(h.Span, "declaring `%s` on %s, if it is true, takes %s off the critical path of %s",
					offer.text, h.Name, saved(before-after), plan.Event).WithHook(h.Name))
				break
			}
		}
	}
	return out
}

// allObservers reports hooks that shorten the chain only if all declare.
func allObservers(t *Target, plan *dag.Plan, candidates []int) diag.List {
	offer := offers[len(offers)-1]
	opaques := map[*policy.Hook]bool{}
	var list []string
	for _, i := range candidates {
		opaques[plan.Nodes[i].Hook] = true
		list = append(list, plan.Nodes[i].Hook.Name)
	}
	before := plan.Estimated(nil).Critical
	after := t.WhatIf(plan, func(n *dag.Node) {
		if opaques[n.Hook] {
			offer.change(n)
		}
	}).Critical
	if after >= before {
		return nil
	}
	h := plan.Nodes[candidates[0]].Hook
	return diag.List{codeObserver.Report(h.Span, "declaring `%s` on each of %s, if it is true, takes %s off the critical path of %s",
		offer.text, names(list), saved(before-after), plan.Event).WithHook(h.Name)}
}

// saved is a duration for people: three digits are plenty of an estimate.
func saved(d time.Duration) time.Duration {
	for unit := time.Nanosecond; ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}
