package lint

import (
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy/diag"
)

var codeDeadline = diag.Define("HK140", diag.Warning, "timeouts do not fit the chain deadline")

func deadlines(t *Target) diag.List {
	var out diag.List
	for _, plan := range t.Plans {
		out.Add(planDeadline(t, plan)...)
	}
	return out
}

func planDeadline(t *Target, plan *dag.Plan) diag.List {
	var out diag.List
	set, written := deadlineSpan(t, plan)
	written = written || t.Policy.ChainTimeout > 0
	var total time.Duration
	for _, item := range plan.Items {
		var slowest time.Duration
		for _, id := range item.Members {
			n := &plan.Nodes[id]
			if n.Exempt() || n.Hook.Async {
				continue
			}
			slowest = max(slowest, n.Timeout*time.Duration(n.Retry+1))
			own := n.Hook.Timeout > 0
			written = written || own || n.Hook.Retry > 0
			if n.Timeout > plan.Deadline && (own || written) && original(n) {
				span := n.Hook.TimeoutSpan
				if span.IsZero() {
					span = n.Hook.Span
				}
				out.Add(codeDeadline.Report(span, "%s may take %s, the whole chain only %s", n.Hook.Name, n.Timeout, plan.Deadline).
					WithHook(n.Hook.Name).WithHint("set chain_timeout of %s to at least %s", plan.Event, n.Timeout))
			}
		}
		total += slowest
	}
	if len(out) > 0 || !written || total <= plan.Deadline {
		return out
	}
	if set.IsZero() {
		set = plan.Nodes[0].Hook.Span
	}
	out.Add(codeDeadline.Report(set, "the hooks of %s may take %s together, the chain only %s", plan.Event, total, plan.Deadline).
		WithHint("set chain_timeout of %s to at least %s, or lower timeout: and retry:", plan.Event, total))
	return out
}

// deadlineSpan is where the event's chain_timeout was written, if it was.
func deadlineSpan(t *Target, plan *dag.Plan) (diag.Span, bool) {
	for _, s := range t.Policy.Settings {
		if s.Event == plan.Event && s.ChainTimeout == plan.Deadline {
			return s.ChainTimeoutSpan, true
		}
	}
	return diag.Span{}, false
}
