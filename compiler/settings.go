package compiler

import (
	"cmp"
	"fmt"
	"sort"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
)

var codeSetting = diag.Define("HK121", diag.Error, "event is set differently elsewhere")

// said is one tier's value of a setting.
type tierValue struct {
	tier  policy.Tier
	value string
	span  diag.Span
}

// settle reads the event's settings: for each, the most trusted tier that sets
// it holds (semantics.md §2.7).
func (u *unit) settle(plan *dag.Plan) {
	var strategy, timeout, by []tierValue
	for _, s := range u.policy.Settings {
		if s.Event != plan.Event {
			continue
		}
		if s.Strategy != "" {
			strategy = append(strategy, tierValue{s.Tier, string(s.Strategy), s.StrategySpan})
		}
		if s.ChainTimeout > 0 {
			timeout = append(timeout, tierValue{s.Tier, s.ChainTimeout.String(), s.ChainTimeoutSpan})
		}
		if s.Order != "" {
			by = append(by, tierValue{s.Tier, s.Order, s.OrderSpan})
		}
	}
	plan.Strategy = strategyNamed(policy.Strategy(u.hold(plan, "strategy", strategy, string(plan.Spec.Strategy))), plan.Spec)
	if p := u.policy.Profile; p != nil && p.Strategies[plan.Event] != nil {
		plan.Strategy = p.Strategies[plan.Event]
	}
	plan.Spec = plan.Strategy.Under(plan.Spec)
	plan.ByPriority = u.hold(plan, "order", by, "tier") == "priority"
	plan.Deadline, _ = time.ParseDuration(u.hold(plan, "chain_timeout", timeout, "0s"))
}

// strategyNamed is the strategy of a name: a canonical one, or an agent's, which is how
// that agent combines the answers of its own hooks at the event.
func strategyNamed(name policy.Strategy, spec *policy.EventSpec) *policy.StrategySpec {
	if _, canonical := policy.ParseStrategy(string(name)); canonical {
		return name.Spec()
	}
	d, err := agent.FindProfile(string(name))
	if err != nil {
		return name.Spec()
	}
	rules, err := d.Under(false)
	if err != nil {
		panic("compiler: " + err.Error())
	}
	if s := rules.Strategies[spec.Event]; s != nil {
		return s
	}
	return spec.Strategy.Spec()
}

// hold picks the value in force and reports the others.
func (u *unit) hold(plan *dag.Plan, what string, all []tierValue, value string) string {
	sort.SliceStable(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		return lists.First(cmp.Compare(a.tier, b.tier), cmp.Compare(a.span.File(), b.span.File()), cmp.Compare(a.span.Start, b.span.Start)) < 0
	})
	var first *tierValue
	for i := range all {
		s := &all[i]
		switch {
		case s.tier == policy.TierSession:
			u.ignored(s, fmt.Sprintf("%s: what an agent registers cannot set %s", plan.Event, what))
		case first == nil:
			first = s
		case s.value != first.value && s.tier == first.tier:
			u.diags.Add(codeSetting.Report(s.span, "%s: %s is already %s in the %s tier", plan.Event, what, first.value, first.tier).
				WithHint("it is set at %s", first.span))
		case s.value != first.value:
			u.ignored(s, fmt.Sprintf("%s: %s stays %s, which the %s tier sets", plan.Event, what, first.value, first.tier))
		}
	}
	if first == nil {
		return value
	}
	return first.value
}

func (u *unit) ignored(s *tierValue, text string) {
	d := codeSetting.Report(s.span, "%s", text)
	d.Severity = diag.Warning
	u.diags.Add(d)
}
