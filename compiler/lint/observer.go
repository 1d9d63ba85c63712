package lint

import (
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeObserver = diag.Define("HK210", diag.Hint, "undeclared hook makes others wait")

// maxWhatIf bounds the hooks tried one by one: each try plans the event again.
const maxWhatIf = 32

// offers are the declarations to try, the least promise first.
var offers = []struct {
	text   string
	change func(*dag.Node)
}{
	{"writes: []", silent},
	{"writes: [], may: []", func(n *dag.Node) { silent(n); n.Effects.May = 0 }},
	{"writes: [], may: [], world: read", func(n *dag.Node) { silent(n); looks(n); n.Effects.May = 0 }},
	{"writes: [], world: read, speculative: true", func(n *dag.Node) { silent(n); looks(n); n.Effects.Spec = true }},
}

func silent(n *dag.Node) { n.Effects.Writes = policy.Paths{} }

func looks(n *dag.Node) { n.Effects.World = min(n.Effects.World, policy.WorldRead) }

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
	for _, i := range candidates[:min(len(candidates), maxWhatIf)] {
		h := plan.Nodes[i].Hook
		if offer, gain := best(t, plan, map[*policy.Hook]bool{h: true}); gain > 0 {
			out.Add(declared(codeObserver.Report(h.Span, "declaring `%s` on %s, if it is true, takes %s off the critical path of %s",
				offer, h.Name, saved(gain), plan.Event), h))
		}
	}
	return out
}

// allObservers reports hooks that shorten the chain only if all declare.
func allObservers(t *Target, plan *dag.Plan, candidates []int) diag.List {
	hooks := map[*policy.Hook]bool{}
	var list []string
	for _, i := range candidates {
		hooks[plan.Nodes[i].Hook] = true
		list = append(list, plan.Nodes[i].Hook.Name)
	}
	offer, gain := best(t, plan, hooks)
	if gain <= 0 {
		return nil
	}
	h := plan.Nodes[candidates[0]].Hook
	return diag.List{declared(codeObserver.Report(h.Span, "declaring `%s` on each of %s, if it is true, takes %s off the critical path of %s",
		offer, names(list), saved(gain), plan.Event), h)}
}

// declared says where h can declare something, if that is not where it is
// written.
func declared(d diag.Diagnostic, h *policy.Hook) diag.Diagnostic {
	if h.Body.Agent.Event != "" {
		d = d.WithHint("the agent's own configuration has no such declarations: hookc convert writes a hooks.yaml in which %s can declare it", h.Name)
	}
	return d.WithHook(h.Name)
}

// best is the first offer that shortens the critical path if all of hooks
// declare it, and by how much.
func best(t *Target, plan *dag.Plan, hooks map[*policy.Hook]bool) (offer string, gain time.Duration) {
	before := plan.Estimated(nil).Critical
	for _, o := range offers {
		after := t.WhatIf(plan, func(n *dag.Node) {
			if hooks[n.Hook] {
				o.change(n)
			}
		}).Critical
		if after < before {
			return o.text, before - after
		}
	}
	return "", 0
}

// saved is a duration for people: three digits are plenty of an estimate.
func saved(d time.Duration) time.Duration {
	for unit := time.Nanosecond; ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}
