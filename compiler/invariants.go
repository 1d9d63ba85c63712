package compiler

import (
	"fmt"
	"slices"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/policy"
)

// check panics when the working state is not what every pass promises to
// leave. A violation is a bug of the pass it names.
func (u *unit) check(p *pass) {
	fail := func(format string, args ...any) {
		panic(fmt.Sprintf("compiler: after pass %s: %s", p.Name, fmt.Sprintf(format, args...)))
	}
	if err := u.checkEntries(); err != nil {
		fail("%v", err)
	}
	for _, plan := range u.plans {
		if err := checkItems(plan); err != nil {
			fail("%s: %v", plan.Event, err)
		}
		if err := u.checkNodes(plan); err != nil {
			fail("%s: %v", plan.Event, err)
		}
		if u.done["edges"] {
			if err := checkWaits(plan); err != nil {
				fail("%s: %v", plan.Event, err)
			}
		}
		if err := checkFused(plan); err != nil {
			fail("%s: %v", plan.Event, err)
		}
		if p.graph {
			if err := checkClosure(plan, u.done["speculate"]); err != nil {
				fail("%s: %v", plan.Event, err)
			}
		}
	}
}

// checkReused panics when a compilation that reused another left something
// undone. What nodes are and wait for has been checked before, and is shared.
func (u *unit) checkReused() {
	if !u.reused {
		return
	}
	for _, plan := range u.plans {
		err := u.checkNodes(plan)
		if err == nil {
			err = checkFused(plan)
		}
		if err != nil {
			panic(fmt.Sprintf("compiler: after pass recall: %s: %v", plan.Event, err))
		}
	}
}

// checkEntries: every loaded hook is listed exactly once, and is in a plan
// exactly when it is live.
func (u *unit) checkEntries() error {
	if len(u.place) != len(u.entries) {
		return fault.Errorf("%d hooks in %d entries", len(u.place), len(u.entries))
	}
	if u.done["resolve"] && !u.done["narrow"] && len(u.entries) != len(u.policy.Hooks) {
		return fault.Errorf("%d entries for %d hooks", len(u.entries), len(u.policy.Hooks))
	}
	planned := map[*policy.Hook]bool{}
	for _, plan := range u.plans {
		for h := range live(plan) {
			planned[h] = true
		}
	}
	for i := range u.entries {
		e := &u.entries[i]
		if u.place[e.Hook] != i {
			return fault.Errorf("hook %s is not where it is listed", e.Hook.Name)
		}
		if planned[e.Hook] != (e.Status == dag.Live) {
			return fault.Errorf("hook %s is %s, in a plan: %v", e.Hook.Name, e.Status, planned[e.Hook])
		}
	}
	return nil
}

// checkItems: items partition the nodes in serial order, and a copy comes
// after its original.
func checkItems(plan *dag.Plan) error {
	next := 0
	for i, item := range plan.Items {
		if len(item.Members) == 0 {
			return fault.Errorf("item %d is empty", i)
		}
		for _, id := range item.Members {
			if id != next || plan.Nodes[id].Item != i {
				return fault.Errorf("node %d is out of place in item %d", id, i)
			}
			next++
		}
		if len(item.Members) > 1 && !item.Parallel {
			return fault.Errorf("item %d is no group and has %d members", i, len(item.Members))
		}
	}
	if next != len(plan.Nodes) {
		return fault.Errorf("%d nodes in items, %d in the plan", next, len(plan.Nodes))
	}
	for id := range plan.Nodes {
		n := &plan.Nodes[id]
		if n.RecheckOf >= 0 && (n.RecheckOf >= id || plan.Nodes[n.RecheckOf].Hook != n.Hook) {
			return fault.Errorf("node %d is no copy of node %d", id, n.RecheckOf)
		}
	}
	return nil
}

// checkNodes: what a pass fills in is filled in once it has run.
func (u *unit) checkNodes(plan *dag.Plan) error {
	for id := range plan.Nodes {
		n := &plan.Nodes[id]
		switch {
		case u.done["prepare"] && n.Runner == nil:
			return fault.Errorf("node %d has no runner", id)
		case u.done["filters"] && n.Matcher == nil:
			return fault.Errorf("node %d has no matcher", id)
		case u.done["effects"] && (n.OnError == policy.PostureUnset || n.OnTimeout == policy.PostureUnset || n.Effects.World == policy.WorldUnset):
			return fault.Errorf("node %d has no settled effects", id)
		case u.done["effects"] && n.Hook.Async && (n.MayHalt || !n.Effects.Writes.Empty() || n.Effects.May != 0):
			return fault.Errorf("node %d is async and has a say", id)
		case u.done["effects"] && n.Effects.Spec && (n.Hook.Async || n.Effects.World == policy.WorldWrite):
			return fault.Errorf("node %d is speculative and has side effects", id)
		case u.done["effects"] && n.MayHalt && !plan.Items[n.Item].MayHalt:
			return fault.Errorf("node %d may halt, its item may not", id)
		case u.done["edges"] && (n.Slot >= 0) != n.Exempt():
			return fault.Errorf("node %d is in slot %d", id, n.Slot)
		}
	}
	return nil
}

// checkWaits: nodes wait for nodes of earlier items only, so there is no
// cycle; the edges shown are among what is waited for.
func checkWaits(plan *dag.Plan) error {
	for id := range plan.Nodes {
		n := &plan.Nodes[id]
		for _, list := range [][]int{n.Wait, n.Started} {
			if !slices.IsSorted(list) {
				return fault.Errorf("node %d waits in disorder", id)
			}
			for _, x := range list {
				if x < 0 || plan.Nodes[x].Item >= n.Item {
					return fault.Errorf("node %d waits for node %d, which is not earlier", id, x)
				}
			}
		}
		for _, x := range n.Data {
			if !has(n.Wait, x) {
				return fault.Errorf("node %d takes data of node %d without waiting", id, x)
			}
		}
		if n.Gate >= n.Item || n.Gate >= 0 && !plan.Items[n.Gate].MayHalt {
			return fault.Errorf("node %d is behind gate %d", id, n.Gate)
		}
	}
	for _, e := range plan.Edges {
		to := &plan.Nodes[e.To]
		waits := has(to.Wait, e.From)
		switch {
		case e.Kind == dag.GateEdge:
			waits = to.Gate >= 0 && plan.Nodes[e.From].Item == to.Gate
		case e.Start:
			waits = has(to.Started, e.From)
		}
		if !waits {
			return fault.Errorf("edge %d→%d (%s) is shown and not waited for", e.From, e.To, e.Kind)
		}
	}
	return nil
}

// has reports whether an ascending list holds x.
//
//go:noinline
func has(list []int, x int) bool {
	_, ok := slices.BinarySearch(list, x)
	return ok
}
