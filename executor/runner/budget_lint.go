package runner

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeBudget = diag.Define(diag.Code{
	ID: "HK142", Severity: diag.Warning,
	Title: "rule has a step budget, not this timeout",
	Help: `A rule in expr or Rego is evaluated in process and has a step budget, 100 ms, which no
timeout: extends: a rule that needs longer fails, and its on_timeout decides. A shorter
timeout: holds. Take it out; what needs longer belongs in a script, which may take the
time it says.`,
	Bad: `pre_tool_execution:
  - {name: guard, deny: 'command contains "rm -rf"', reason: "no", timeout: 5s}
`,
	Good: `pre_tool_execution:
  - {name: guard, deny: 'command contains "rm -rf"', reason: "no", timeout: 50ms}
`,
})

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
