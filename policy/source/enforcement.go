package source

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/rollout"
	"github.com/hookc/hookc/policy/source/tree"
)

var codeRollout = diag.Define("HK137", diag.Warning, "rollout of a tier that is trusted more").Guarding()

// enforcements are the words of `enforcement`, weakest last; RolloutTiers the tiers that
// `rollout` names.
var (
	enforcements = []string{"enforce", string(policy.EnforceWarn), string(policy.EnforceDryRun)}
	// RolloutTiers are in order of trust.
	RolloutTiers = []string{"managed", "user", "extension", "project", "local"}
)

// SharePattern is what shareOf takes, as far as a pattern can say.
const SharePattern = `^(100(\.0{1,2})?|[0-9]{1,2}(\.[0-9]{1,2})?)%$`

// enforcement is what one of the words means; any other means enforce.
//
//go:noinline
func enforcement(word string) policy.Enforcement {
	if lists.Has(enforcements[1:], word) {
		return policy.Enforcement(word)
	}
	return ""
}

// enforced reads enforcement and rollout; what is not written is as given.
func (f fields) enforced(as policy.Enforcement, spared uint16) (policy.Enforcement, uint16) {
	if e := f.get("enforcement"); e != nil {
		as = enforcement(f.wordOf("enforcement", e, func(w string) bool { return lists.Has(enforcements, w) }))
	}
	if e := f.get("rollout"); e != nil {
		var wrong *diag.Diagnostic
		if spared, wrong = shareOf(e); wrong != nil {
			f.report(*wrong)
		}
	}
	return as, spared
}

// shareOf reads a share of the sessions: how many of 10,000 are spared, 0 where there
// is no value or a wrong one.
func shareOf(n *tree.Node) (uint16, *diag.Diagnostic) {
	const hint = "write a share of the sessions, from 0%% to 100%%, such as 25%%"
	if n == nil {
		return 0, nil
	}
	text := strings.TrimSpace(n.Text.Value)
	spared, ok := rollout.Parse(text)
	switch number := strings.Trim(text, "+-.0123456789"); {
	case n.Shape == tree.Scalar && ok:
		return spared, nil
	case n.Shape == tree.Scalar && number == "%" && len(text) > 1:
		d := codeRange.Report(n.Span, "rollout: %s is no share", text).WithHint(hint)
		return 0, &d
	}
	d := tree.CodeType.Report(n.Span, "rollout takes a share of the sessions; this is %s", n.What()).WithHint(hint)
	return 0, &d
}

// tierRollout is the most that a file lets the hooks of a tier do.
type tierRollout struct {
	in          *File
	tier        policy.Tier
	enforcement policy.Enforcement
	spared      uint16
}

// rollout reads what a file says of tiers.
func (r *yamlReader) rollout(n *tree.Node) {
	for _, e := range n.Entries {
		name := e.Key.Text.Value
		tier, _ := policy.ParseTier(name)
		if !lists.Has(RolloutTiers, name) {
			r.report(codeWord.Report(e.Key.Span, "rollout: %q is no tier", name).
				WithHint("%s", diag.DidYouMean(name, RolloutTiers, "one of "+strings.Join(RolloutTiers, ", "))))
			continue
		}
		t := tierRollout{in: r.in, tier: tier}
		if e.Value.Shape == tree.Scalar && lists.Has(enforcements, e.Value.Text.Value) {
			t.enforcement = enforcement(e.Value.Text.Value)
		} else {
			var wrong *diag.Diagnostic
			if t.spared, wrong = shareOf(e.Value); wrong != nil {
				r.report(wrong.WithHint("%s, or a share of the sessions, such as 25%%", strings.Join(enforcements, ", ")))
				continue
			}
		}
		switch {
		case r.in.Untrusted != "":
		case tier < r.in.Tier:
			r.report(codeRollout.Report(e.Key.Span, "rollout of the %s tier has no effect: this is a policy of the %s tier", tier, r.in.Tier).
				WithHint("write it in a policy of the %s tier", tier))
		default:
			r.l.rollouts = append(r.l.rollouts, t)
		}
	}
}

// settleRollouts weakens hooks to what files of their own tier, or of a tier that is
// trusted more, let them do. A project says nothing of one further out.
func (l *Loader) settleRollouts() {
	for _, t := range l.rollouts {
		for _, h := range l.policy.Hooks {
			by := &policy.Hook{Tier: t.in.Tier, Segment: t.in.Segment}
			if h.Tier != t.tier || policy.CompareTiers(by, h) > 0 {
				continue
			}
			if slices.Index(enforcements, string(t.enforcement)) > slices.Index(enforcements, string(h.Enforcement)) {
				h.Enforcement = t.enforcement
			}
			h.Spared = max(h.Spared, t.spared)
		}
	}
}
