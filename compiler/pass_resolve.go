package compiler

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// resolve turns declarations into one ordered chain an event (semantics.md
// §4.3, P2): total order, settings, disabled and untrusted hooks, overrides,
// groups. Its result depends on no order of enumeration.
func resolve(u *unit) {
	byEvent := map[policy.Event][]*policy.Hook{}
	for _, h := range u.policy.Hooks {
		byEvent[h.Event] = append(byEvent[h.Event], h)
	}
	for _, event := range lists.Order(lists.Keys(byEvent), policy.Event.Compare) {
		u.resolveEvent(event, byEvent[event])
	}
	u.untrustedSources()
}

func (u *unit) resolveEvent(event policy.Event, hooks []*policy.Hook) {
	plan := &dag.Plan{Event: event, Spec: event.Spec()}
	plan.MaxConcurrent, plan.MaxModels = lists.First(u.policy.MaxConcurrent, 8), lists.First(u.policy.MaxModels, 4)
	if p := u.policy.Profile; p != nil {
		plan.MaxConcurrent = lists.First(p.MaxConcurrent, plan.MaxConcurrent)
	}
	u.settle(plan)
	if p := u.policy.Profile; p != nil && p.Flat {
		slices.SortStableFunc(hooks, func(a, b *policy.Hook) int { return cmp.Compare(a.Tier/policy.TierSession, b.Tier/policy.TierSession) })
	} else {
		slices.SortStableFunc(hooks, func(a, b *policy.Hook) int { return order(a, b, plan.ByPriority) })
	}
	var able []*policy.Hook
	for _, h := range hooks {
		u.place[h] = len(u.entries)
		u.entries = append(u.entries, dag.Entry{Hook: h, Status: dag.Live})
		switch {
		case h.Untrusted != "":
			u.drop(h, dag.Untrusted, "", h.Untrusted, nil)
		case h.Disabled:
			u.drop(h, dag.Disabled, "", lists.First(h.Idle, "enabled: false"), nil)
		default:
			able = append(able, h)
		}
	}
	u.overrides(able)
	for _, h := range able {
		if e := &u.entries[u.place[h]]; h.Off && e.Status == dag.Live {
			u.drop(h, dag.Disabled, "", "enabled: false", nil)
		}
	}
	able = lists.DeleteFunc(able, func(h *policy.Hook) bool { return u.entries[u.place[h]].Status != dag.Live })
	arrange(plan, able)
	u.plans = append(u.plans, plan)
}

// order is policy.Compare, except that a hook of the session tier, which an
// agent registers, never comes before one of a lower tier, whatever its
// priority (semantics.md §4.3, P2).
func order(a, b *policy.Hook, byPriority bool) int {
	if registered(a) != registered(b) {
		return cmp.Compare(a.Tier, b.Tier)
	}
	return lists.First(policy.Compare(a, b, byPriority), strings.Compare(a.Name, b.Name))
}

// registered reports whether an agent added the hook at run time.
//
//go:noinline
func registered(h *policy.Hook) bool { return h.Tier == policy.TierSession }

// arrange makes the items: one for each hook, one for each parallel group, or
// one for all under a snapshot strategy. Session hooks then are a group of
// their own: on the snapshot of the others an agent could write back what they
// have just masked.
func arrange(plan *dag.Plan, hooks []*policy.Hook) {
	var list []block
	var group *policy.Group
	for i, h := range hooks {
		node := dag.Node{Hook: h, RecheckOf: -1, Slot: -1, Gate: -1}
		snapshot := plan.Strategy.Snapshot && i > 0 && registered(h) == registered(hooks[i-1])
		joins := i > 0 && (snapshot || h.Group != nil && h.Group == group)
		if !joins {
			list = append(list, block{item: newItem(plan, h)})
		}
		b := &list[len(list)-1]
		b.nodes, b.old = append(b.nodes, node), append(b.old, -1)
		group = h.Group
	}
	layout(plan, list)
}

func newItem(plan *dag.Plan, h *policy.Hook) dag.Item {
	switch {
	case plan.Strategy.Snapshot:
		return dag.Item{Parallel: true, Fold: plan.Strategy.Fold}
	case h.Group != nil:
		return dag.Item{Group: h.Group.Name, Parallel: true, Fold: h.Group.Fold}
	}
	return dag.Item{Fold: policy.FoldMax}
}

var codeUntrusted = diag.Define("HK165", diag.Warning, "source is not trusted, or not as it was").Guarding()

// untrustedSources makes every Decision say which files did not count.
func (u *unit) untrustedSources() {
	for _, s := range u.policy.Sources {
		why := lists.First(s.Untrusted, s.Differs)
		if why == "" {
			continue
		}
		d := codeUntrusted.Report(diag.Span{}, "%s: %s", s.Name, why)
		u.diags.Add(d)
		u.warnings = append(u.warnings, policy.Warning{Code: codeUntrusted, Text: d.Text})
	}
	sort.SliceStable(u.warnings, func(i, j int) bool { return u.warnings[i].Text < u.warnings[j].Text })
}
