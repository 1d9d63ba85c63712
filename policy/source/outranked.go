package source

import (
	"cmp"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeOutranked = diag.Define("HK139", diag.Warning, "event that a firm hook of a more trusted tier shares").Guarding()

// The limits of an event where no policy sets one.
const (
	usualChain      = 30 * time.Second
	usualConcurrent = 8
	usualModels     = 4
)

// settleShared takes away what a file sets for hooks of a more trusted tier too, or
// of a project further out, where it would weaken them: how the verdicts of firm ones
// combine, and less time or fewer processes than any of them has otherwise.
func (l *Loader) settleShared() {
	p := &l.policy
	outranked(l, &l.chainTimeout, "chain_timeout", func(h *policy.Hook) time.Duration { return max(usualChain, h.Timeout) })
	outranked(l, &l.concurrent, "max_concurrent", func(*policy.Hook) int { return usualConcurrent })
	outranked(l, &l.models, "max_models", func(*policy.Hook) int { return usualModels })
	for i, in := range l.setIn {
		s := &p.Settings[i]
		for _, h := range p.Hooks {
			if h.Event != s.Event || !in.outranked(h) {
				continue
			}
			if firm(h) && s.Strategy != "" {
				s.Strategy = ""
				l.Report(in, codeOutranked.Report(s.StrategySpan, "strategy has no effect at %s: %s, a hook of the %s tier, is on it", s.Event, h.Name, h.Tier))
			}
			if firm(h) && s.Order != "" {
				s.Order = ""
				l.Report(in, codeOutranked.Report(s.OrderSpan, "order has no effect at %s: %s, a hook of the %s tier, is on it", s.Event, h.Name, h.Tier))
			}
			if has := lists.First(l.chainTimeout.value, max(usualChain, h.Timeout)); s.ChainTimeout > 0 && s.ChainTimeout < has {
				s.ChainTimeout = 0
				l.Report(in, codeDefaultUnused.Report(s.ChainTimeoutSpan, "chain_timeout is not used: %s, a hook of the %s tier, has %s", h.Name, h.Tier, has))
			}
		}
	}
}

// outranked reports whether a hook that may run is of a policy that is trusted more
// than the file, or of a project further out.
func (in *File) outranked(h *policy.Hook) bool {
	by := &policy.Hook{Tier: in.Tier, Segment: in.Segment}
	return h.Untrusted == "" && !h.Disabled && h.Tier != policy.TierBuiltin && policy.CompareTiers(h, by) < 0
}

// outranked takes a limit of the whole policy away that is less than what a hook of a
// more trusted tier has otherwise.
func outranked[T cmp.Ordered](l *Loader, c *chosen[T], key string, usual func(*policy.Hook) T) {
	if !c.set {
		return
	}
	for _, h := range l.policy.Hooks {
		if has := usual(h); c.value < has && c.in.outranked(h) {
			l.Report(c.in, codeDefaultUnused.Report(c.span, "%s is not used: %s, a hook of the %s tier, has %v", key, h.Name, h.Tier, has))
			*c = chosen[T]{}
			return
		}
	}
}
