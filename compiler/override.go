package compiler

import (
	"slices"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeOverride = diag.Define("HK130", diag.Error, "hook of another tier is overridden")
var codeTwice = diag.Define("HK131", diag.Error, "two hooks of one name")
var codeNothingOff = diag.Define("HK135", diag.Warning, "nothing to switch off")

// overrides settles which of several hooks of one name is in force: the one
// of the latest tier, unless an earlier one is locked. A hook that is disabled
// or untrusted is as if absent and overrides nothing.
func (u *unit) overrides(able []*policy.Hook) {
	byTier := lists.Copy(able)
	slices.SortStableFunc(byTier, func(a, b *policy.Hook) int { return policy.CompareTiers(a, b) })
	holder := map[string]*policy.Hook{}
	for _, h := range byTier {
		old := holder[h.Name]
		switch {
		case old == nil:
			if holder[h.Name] = h; h.Off {
				u.report(h, codeNothingOff.Report(h.Span, "no hook of an earlier tier on %s is called %q", h.Event, h.Name).
					WithHint("%s", diag.DidYouMean(h.Name, namesBefore(byTier, h), "hookc list shows the hooks by their names")))
			}
		case old.Tier == h.Tier && old.Segment == h.Segment:
			u.report(h, codeTwice.Report(h.Span, "%s has two hooks called %q in the %s tier", h.Event, h.Name, h.Tier).
				WithHint("the other is at %s", old.Span))
		case old.Locked || h.Tier == policy.TierSession:
			u.reject(h, old)
		default:
			u.replace(h, old)
			holder[h.Name] = h
		}
	}
}

// reject keeps old in force. What is an error to the author of h must not,
// at run time, break the agent of the owner of old.
func (u *unit) reject(h, old *policy.Hook) {
	why := origin(old) + " is locked"
	if !old.Locked {
		why = "a hook registered by the agent cannot replace " + origin(old)
	}
	d := codeOverride.Report(h.Span, "override of %s rejected: %s", h.Name, why).WithHint("give the hook another name")
	if u.cfg.Runtime {
		d.Severity = diag.Warning
		u.warnings = append(u.warnings, policy.Warning{Code: codeOverride, Hook: h.Name, Text: d.Text})
	}
	u.report(h, d)
	u.drop(h, dag.Rejected, old.Name, "override rejected: "+why, codeOverride)
}

func (u *unit) replace(h, old *policy.Hook) {
	does, was := "replaces", "overridden by "
	if h.Off {
		does, was = "switches off", "switched off by "
	}
	d := codeOverride.Report(h.Span, "%s %s %s", origin(h), does, origin(old))
	d.Severity = diag.Warning
	u.report(h, d.WithHint("lock %s if it must stay, or give this hook another name", origin(old)))
	u.drop(old, dag.Overridden, h.Name, was+origin(h), codeOverride)
}

// namesBefore are the names of the hooks of the tiers before that of one.
func namesBefore(byTier []*policy.Hook, h *policy.Hook) []string {
	var out []string
	for _, o := range byTier {
		if policy.CompareTiers(o, h) < 0 {
			out = append(out, o.Name)
		}
	}
	return out
}
