package executor

import (
	"errors"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// matches reports whether a node's filter lets it run in context s of an event
// that began with entry.
func matches(n *dag.Node, entry, s *policy.Context) bool {
	if n.Matcher == nil {
		return true
	}
	if n.Matcher.AsSent {
		s = entry
	}
	return n.Matcher.Match(s)
}

// project is what a node's body is given of context s.
func project(n *dag.Node, s *policy.Context) *policy.Context {
	if n.Effects.Project {
		return s.Project(n.Effects.Sees)
	}
	return s
}

// contribution is what a node adds to its item: its answer reduced to what the
// event obeys and the hook declared, or what its failure means. A verdict or
// control that names no rule is the hook's.
func contribution(plan *dag.Plan, n *dag.Node, answer *policy.Result, err error) policy.Result {
	if err != nil {
		posture := n.Posture(policy.KindOf(err))
		if errors.Is(err, errPassed) {
			posture = policy.OnErrorSkip
		}
		return policy.ErrorResult(plan.Spec, n.Hook, posture, err)
	}
	if answer == nil || silent(answer) {
		return policy.Result{}
	}
	out := *answer
	own := policy.By{Name: n.Hook.Name, At: n.Hook.Span}
	out.VerdictBy = byline(out.Verdict != policy.None, out.VerdictBy, own)
	out.ControlBy = byline(out.Control != policy.Go, out.ControlBy, own)
	return policy.Mask(plan.Spec, n.Hook, &n.Effects, out)
}

func byline(spoke bool, by, own policy.By) policy.By {
	switch {
	case !spoke:
		return policy.By{}
	case by.Name == "":
		return own
	}
	return by
}

// silent reports whether r is the unit of Join, so that joining it can be left
// out.
func silent(r *policy.Result) bool {
	return len(r.Failed) == 0 && len(r.Warnings) == 0 && r.Quiet()
}

// record notes in a node's trace that it was evaluated and what it contributed.
func record(t *policy.HookTrace, n *dag.Node, r *policy.Result, err error) {
	t.Status = policy.StatusRan
	if err != nil {
		t.Status = policy.StatusFailed
	}
	t.Verdict, t.Control = r.Alone()
	if t.Verdict == policy.None && t.Control == policy.Go && len(r.Reasons) == 0 {
		return
	}
	own := *t.TracedHook
	switch {
	case r.Control != policy.Go:
		own.At = r.ControlBy.At
	case r.Verdict != policy.None:
		own.At = r.VerdictBy.At
	}
	if own.At.IsZero() {
		own.At = n.Hook.Span
	}
	for _, reason := range r.Reasons {
		own.Reasons = append(own.Reasons, reason.Text)
	}
	t.TracedHook = &own
}

// blankTrace is the trace of a chain before anything ran, one entry a node.
func blankTrace(plan *dag.Plan) []policy.HookTrace {
	out := make([]policy.HookTrace, len(plan.Nodes))
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		out[i] = policy.HookTrace{Status: policy.StatusNotStarted,
			TracedHook: &policy.TracedHook{Name: n.Hook.Name, Recheck: n.RecheckOf >= 0, At: n.Hook.Span, Kind: n.Hook.Kind, Node: i}}
	}
	return out
}
