package compiler

import (
	"github.com/hookc/hookc/compiler/lint"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
)

// lintPass reports what an author would want to know (semantics.md §9). What
// dead takes out, dead has reported.
func lintPass(u *unit) {
	t := &lint.Target{Policy: u.policy, Plans: u.plans, Tools: u.policy.Tools, Hints: u.cfg.Hints, WhatIf: whatIf}
	if !u.reused {
		found := lint.RunPlans(t)
		u.diags.Add(found...)
		u.fixed.Add(found...)
	}
	u.diags.Add(lint.RunBodies(t)...)
}

// whatIf plans a changed copy of a plan again, as edges, speculate and hoist
// do, and estimates it.
func whatIf(plan *dag.Plan, change func(*dag.Node)) dag.Estimate {
	other := *plan
	other.Nodes = lists.Copy(plan.Nodes)
	other.Items = lists.Copy(plan.Items)
	for i := range other.Nodes {
		n := &other.Nodes[i]
		change(n)
		n.MayHalt = mayHalt(&other, n)
	}
	haltItems(&other)
	join(&other)
	lift(&other)
	toSlots(&other)
	return other.Estimated(nil)
}
