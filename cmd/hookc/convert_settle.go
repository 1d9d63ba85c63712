package main

import (
	"fmt"
	"sort"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/print"
)

// settle makes of a policy one of the project tier alone that means the same:
// what is in force, in the order in which it is. A policy of one tier under
// hookc's own rules is left as it is.
func settle(p *policy.Policy, program *dag.Program) *conversion {
	out := *p
	v := &conversion{policy: &out, events: map[policy.Event][]string{}, hooks: map[*policy.Hook][]string{}}
	out.Hooks = nil
	merged := p.Profile != nil
	for _, e := range program.Hooks {
		out.Hooks = append(out.Hooks, e.Hook)
		merged = merged || e.Hook.Tier != policy.TierProject
	}
	if !merged {
		v.origins(p)
		v.ownWords()
		return v
	}
	out.Hooks, out.Settings, out.Profile = nil, nil, nil
	if p.Profile != nil {
		v.header = append(v.header, fmt.Sprintf("What the configuration of %s means, in hookc's own words.", p.Profile.Name))
		out.MaxConcurrent = lists.First(p.MaxConcurrent, p.Profile.MaxConcurrent)
	}
	if names := tiers(program); len(names) > 1 {
		v.header = append(v.header, "The tiers "+strings.Join(names, ", ")+" in one file, in the order in which their hooks run. In a project's",
			"file they are less trusted than where they come from: put it into the tier that is to own it.")
	}
	for _, plan := range program.Plans {
		out.Settings = append(out.Settings, v.setting(p, plan)...)
	}
	places, groups := map[policy.Event]int{}, map[*policy.Group]*policy.Group{}
	for _, e := range inForce(program) {
		if e.Status == dag.Overridden || e.Status == dag.Rejected {
			v.events[e.Hook.Event] = append(v.events[e.Hook.Event], fmt.Sprintf("left out: %s (%s): %s", e.Hook.Name, e.Hook.Span, e.Reason))
			continue
		}
		h := *e.Hook
		h.Tier, h.Priority, h.Order = policy.TierProject, policy.DefaultPriority, places[h.Event]
		places[h.Event]++
		if g := h.Group; g != nil {
			if groups[g] == nil {
				copied := *g
				copied.Priority, copied.Order = policy.DefaultPriority, h.Order
				groups[g] = &copied
			}
			h.Group = groups[g]
		}
		v.explain(p, e.Hook, &h)
		out.Hooks = append(out.Hooks, &h)
	}
	return v
}

// origins says where each hook was written, when there is more than one file.
func (v *conversion) origins(p *policy.Policy) {
	if len(p.Sources) < 2 {
		return
	}
	for _, h := range v.policy.Hooks {
		v.hooks[h] = []string{"from " + h.Span.String()}
	}
}

// ownWords puts a hooks.yaml's words in the place of an agent's matchers.
func (v *conversion) ownWords() {
	for i, h := range v.policy.Hooks {
		if filter, notes := canonical(h.Filter); len(notes) > 0 {
			own := *h
			own.Filter, v.hooks[&own] = filter, append(v.hooks[h], notes...)
			v.policy.Hooks[i] = &own
		}
	}
}

// tiers are those that hooks come from, most trusted first.
func tiers(program *dag.Program) []string {
	var out []policy.Tier
	for _, e := range program.Hooks {
		out = append(out, e.Hook.Tier)
	}
	lists.Sort(out)
	var names []string
	for _, t := range lists.Compact(out) {
		names = append(names, t.String())
	}
	return names
}

// inForce lists every hook of a program: those of a plan in the order of its
// nodes, and each that is in no plan where it was listed, before the next that
// is.
func inForce(program *dag.Program) []dag.Entry {
	at := map[*policy.Hook]int{}
	for _, plan := range program.Plans {
		for i := range plan.Nodes {
			if n := &plan.Nodes[i]; n.RecheckOf < 0 {
				at[n.Hook] = i
			}
		}
	}
	out := lists.Copy(program.Hooks)
	sort.SliceStable(out, func(a, b int) bool {
		i, live := at[out[a].Hook]
		j, other := at[out[b].Hook]
		return out[a].Hook.Event == out[b].Hook.Event && live && other && i < j
	})
	return out
}

// setting is what one event is set to: by the most trusted tier that says so,
// or by an agent's own rules.
func (v *conversion) setting(p *policy.Policy, plan *dag.Plan) []policy.Setting {
	s := policy.Setting{Event: plan.Event, Tier: policy.TierProject}
	written := lists.Copy(p.Settings)
	sort.SliceStable(written, func(i, j int) bool { return written[i].Tier < written[j].Tier })
	for _, w := range written {
		if w.Event == plan.Event {
			s.Strategy, s.ChainTimeout = lists.First(s.Strategy, w.Strategy), lists.First(s.ChainTimeout, w.ChainTimeout)
		}
	}
	if p.Profile != nil {
		s.Strategy = v.strategy(p.Profile, plan)
		s.ChainTimeout = plan.Deadline
		v.events[plan.Event] = append(v.events[plan.Event],
			fmt.Sprintf("%s: %s.", s.Strategy, plan.Strategy.Doc), fmt.Sprintf("chain_timeout is what the hooks may take in all under %s.", p.Profile.Name))
	}
	if s.Strategy == "" && s.ChainTimeout == 0 {
		return nil
	}
	return []policy.Setting{s}
}

// explain makes explicit what an agent's words say of a hook, and notes where
// it comes from.
func (v *conversion) explain(p *policy.Policy, from, h *policy.Hook) {
	notes := []string{fmt.Sprintf("from %s (%s)", from.Span, from.Tier)}
	if from.Priority != policy.DefaultPriority || from.Group != nil && from.Group.Priority != policy.DefaultPriority {
		notes = append(notes, "its priority has become its place")
	}
	if p.Profile != nil && h.TimeoutSpan.IsZero() && h.Timeout > 0 {
		notes = append(notes, fmt.Sprintf("timeout: %s's own default", p.Profile.Name))
	}
	filter, more := canonical(h.Filter)
	h.Filter, notes = filter, append(notes, more...)
	v.hooks[h] = notes
}

// lost is a meaning of an event's chain that the file will not have.
func (v *conversion) lost(e policy.Event, at diag.Span, text string, args ...any) {
	d := diag.Lookup(codeLossy).Report(at, text, args...)
	v.found.Add(d)
	v.events[e] = append(v.events[e], print.NotTheSame+d.Text)
}
