package executor

import (
	"errors"
	"slices"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor/withhold"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/rollout"
)

// matches reports whether a node's filter lets it run in context s of an event
// that began with entry.
func matches(n *dag.Node, entry, s *policy.Context) bool {
	if n.Matcher == nil {
		return true
	}
	if n.Matcher.AsSent {
		return n.Matcher.Sent(entry, s)
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
// control that names no rule is the hook's. in is the event. It says what failed, too.
func contribution(plan *dag.Plan, n *dag.Node, in *policy.Context, answer *policy.Result, err error) (policy.Result, error) {
	err = withhold.Unfit(plan, in, answer, err)
	if how := rollout.In(n.Hook, in); how != "" {
		r, err := contribution(plan, withhold.InForce(n), nil, answer, err)
		return withhold.From(plan, n, how, r), err
	}
	if err != nil {
		posture := n.Posture(policy.KindOf(err))
		unasked := plan.Strategy.Rules.Unasked
		if errors.Is(err, errPassed) || posture == policy.OnErrorAsk && unasked != nil && in != nil && unasked(in) {
			posture = policy.OnErrorSkip
		}
		return policy.ErrorResult(plan.Spec, n.Hook, posture, err), err
	}
	if answer == nil || silent(answer) {
		return policy.Result{}, nil
	}
	out, own := *answer, policy.By{Name: n.Hook.Name, At: n.Hook.Span}
	out.VerdictBy = byline(out.Verdict != policy.None, out.VerdictBy, own)
	out.ControlBy = byline(out.Control != policy.Go, out.ControlBy, own)
	return policy.Mask(plan.Spec, n.Hook, &n.Effects, out), nil
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

// changed is what a session hook changed.
type changed struct {
	node  int
	patch policy.Patch
}

// record notes that node i was evaluated and what it contributed.
func (a *Answer) record(i int, n *dag.Node, r *policy.Result, err error) {
	t := &a.Hooks[i]
	if n.Hook.Tier == policy.TierSession && !r.Patch.Empty() {
		a.rewrites = append(a.rewrites, changed{i, r.Patch})
	}
	if t.Status = policy.StatusRan; err != nil {
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

// advance joins what an item of the chain, which saw s, contributes, and returns what
// the next one sees.
func (a *Answer) advance(plan *dag.Plan, s *policy.Context, block *policy.Result) *policy.Context {
	if a.before == nil && len(a.rewrites) > 0 {
		a.before = s
	}
	a.Result = plan.Strategy.Join(a.Result, *block)
	return s.With(block.Patch)
}

// finish asks, or denies where nobody can be asked, when a session hook changed what
// a guard of a lower tier had looked at and the guard is not asked again: what it let
// through is not what would happen (semantics.md §2.11).
func (a *Answer) finish(plan *dag.Plan, after *policy.Context) {
	ask, r := plan.Spec.AskOrDeny(), &a.Result
	if !plan.Spec.Powers.Verdict(ask) || r.Control != policy.Go || r.Verdict > ask {
		return
	}
	for _, w := range a.rewrites {
		found, t := plan.Unseen(a.Hooks, w.node, w.patch, a.before, after), &a.Hooks[w.node]
		if len(found) == 0 {
			continue
		}
		own := *t.TracedHook
		own.Reasons = lists.Concat(own.Reasons, found)
		t.TracedHook, t.Verdict = &own, max(t.Verdict, ask)
		if r.Verdict < ask {
			r.Verdict, r.VerdictBy = ask, policy.By{Name: own.Name, At: own.At}
		}
		for _, text := range found {
			r.Reasons = append(slices.Clip(r.Reasons), policy.Reason{Text: text, Hook: own.Name, At: own.At})
		}
	}
}

// blankTrace is the trace of a chain before anything ran, one entry a node.
func blankTrace(plan *dag.Plan) []policy.HookTrace {
	out, hooks := make([]policy.HookTrace, len(plan.Nodes)), make([]policy.TracedHook, len(plan.Nodes))
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		hooks[i] = policy.TracedHook{Name: n.Hook.Name, Recheck: n.RecheckOf >= 0, At: n.Hook.Span, Kind: n.Hook.Kind, Node: i}
		out[i] = policy.HookTrace{Status: policy.StatusNotStarted, TracedHook: &hooks[i]}
	}
	return out
}
