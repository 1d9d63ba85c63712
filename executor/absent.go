package executor

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// absent is a hook of an event that its plan leaves out, and still part of
// what became of each: one that is disabled, or that provably never runs.
type absent struct {
	// before is the node in front of which the hook stands.
	before int
	trace  policy.HookTrace
	// by is the node that always ends the chain before the hook, or -1: no
	// event satisfies its filter.
	by int
}

// absentees lists what plan leaves out, in the order of the chain. A hook
// that is overridden, rejected or untrusted is no part of the chain.
func absentees(prog *dag.Program, plan *dag.Plan) []absent {
	if !lists.Some(prog.Hooks, func(e *dag.Entry) bool { return e.Hook.Event == plan.Event && e.Status != dag.Live }) {
		return nil
	}
	byName := make(map[string]int, len(plan.Nodes))
	for i := range plan.Nodes {
		if n := &plan.Nodes[i]; n.RecheckOf < 0 {
			byName[n.Hook.Name] = i
		}
	}
	node := func(name string) int {
		if i, ok := byName[name]; ok {
			return i
		}
		return -1
	}
	var out []absent
	before := 0
	for _, e := range prog.Hooks {
		if e.Hook.Event != plan.Event {
			continue
		}
		a := absent{before: before, by: -1, trace: policy.HookTrace{TracedHook: &policy.TracedHook{Name: e.Hook.Name, At: e.Hook.Span, Kind: e.Hook.Kind, Node: -1}}}
		switch e.Status {
		case dag.Live:
			before = node(e.Hook.Name) + 1
			continue
		case dag.Disabled:
			a.trace.Status = policy.StatusDisabled
		case dag.Dead:
			a.trace.Status = policy.StatusFiltered
			if e.By != "" {
				a.by, a.trace.Status = node(e.By), policy.StatusNotStarted
			}
		default:
			continue
		}
		out = append(out, a)
	}
	return out
}

// listed adds the hooks that the plan leaves out to a trace of its nodes. A
// hook that cannot be reached is filtered where the one before it was: its
// filter then does not match either.
func (w *schedule) listed(hooks []policy.HookTrace) []policy.HookTrace {
	if len(w.absent) == 0 {
		return hooks
	}
	out := make([]policy.HookTrace, 0, len(hooks)+len(w.absent))
	next := 0
	for _, a := range w.absent {
		for ; next < a.before && next < len(hooks); next++ {
			out = append(out, hooks[next])
		}
		if a.by >= 0 && a.by < len(hooks) && hooks[a.by].Status == policy.StatusFiltered {
			a.trace.Status = policy.StatusFiltered
		}
		out = append(out, a.trace)
	}
	return append(out, hooks[next:]...)
}
