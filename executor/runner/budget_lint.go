package runner

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeBudget = diag.Define("HK142", diag.Warning, "rule has a step budget, not this timeout")

// budgeted is a kind whose rules no timeout gives more time than the kind has.
func budgeted(k dag.Kind) dag.Kind {
	prepare := k.Prepare
	k.Prepare = func(h *policy.Hook) (dag.Body, diag.List) {
		body, found := prepare(h)
		if h.Timeout > k.Timeout && !h.TimeoutSpan.IsZero() {
			found.Add(codeBudget.Report(h.TimeoutSpan, "%s is a rule, with a step budget of %v: a timeout of %v has no effect", h.Name, k.Timeout, h.Timeout).
				WithHook(h.Name).WithHint("take timeout: out"))
		}
		return body, found
	}
	return k
}
