package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// need is what a policy asks of one event of an agent.
type need struct {
	native string
	// tools are the names the hooks can match; all is true when that cannot be
	// told, or is any.
	tools []string
	all   bool
	// guard is true where an action is guarded and the agent obeys.
	guard bool
	// hooks counts those of the policy; 0 when the event is asked for besides.
	hooks int
	// deadline bounds hookc's own work.
	deadline time.Duration
}

const (
	// ownMargin is what hookc takes beside the hooks: starting, compiling.
	ownMargin = 5 * time.Second
	// anyDeadline is assumed of a policy that is not known.
	anyDeadline = time.Minute
)

// needsOf lists what a policy asks of an agent, in lifecycle order, and says
// what the agent does not have. With wide, all its guarded events are asked for,
// and all tools.
func needsOf(d *agent.Agent, place *agent.Settings, p *dag.Program, wide bool) (out []need, notes []string) {
	waiting := map[policy.Event]int{} // hooks that are not trusted yet
	for _, e := range p.Hooks {
		if e.Status == dag.Untrusted {
			waiting[e.Hook.Event]++
		}
	}
	had := map[policy.Event]bool{}
	for _, at := range d.Entries(place) {
		had[at.Event] = true
		n, ok := needAt(at, p.Plan(at.Event), waiting[at.Event], wide)
		if starts := p.Plan(policy.SubagentStart); at.Event == policy.PreToolExecution && starts != nil && d.RefusedBefore(starts.Event) {
			n = n.starting(at, starts)
			ok, had[starts.Event] = true, true
		}
		if !ok {
			continue
		}
		i := slices.IndexFunc(out, func(o need) bool { return o.native == n.native })
		if i < 0 {
			out = append(out, n)
			continue
		}
		out[i].join(n)
	}
	for _, plan := range p.Plans {
		if n := hooksOn(plan) + waiting[plan.Event]; n > 0 && !had[plan.Event] {
			notes = append(notes, fmt.Sprintf("%s has no event for %s: %s of the policy cannot run there", d.ID, plan.Event, count(n, "hook")))
		}
	}
	return out, notes
}

func needAt(at agent.Entry, plan *dag.Plan, waiting int, wide bool) (need, bool) {
	n := need{native: at.Native, guard: at.Refusable(), hooks: waiting, all: !at.Tools || wide || waiting > 0, deadline: anyDeadline}
	if plan != nil {
		n.hooks += hooksOn(plan)
		n.deadline = plan.Deadline
		if wide || waiting > 0 {
			n.deadline = max(n.deadline, anyDeadline)
		}
		for i := range plan.Nodes {
			tools, known := toolsOf(plan.Nodes[i].Matcher)
			n.tools = append(n.tools, tools...)
			n.all = n.all || !known
		}
	}
	if n.hooks == 0 && !(wide && n.guard) {
		return need{}, false
	}
	n.tidy()
	return n, true
}

// starting is the need at a call with that of the hooks on the start of a
// subagent, which are asked when it is called.
func (n need) starting(at agent.Entry, starts *dag.Plan) need {
	if n.native == "" {
		n = need{native: at.Native, guard: at.Refusable()}
	}
	n.tools = append(n.tools, toolcall.OfKind("agent")...)
	n.hooks, n.deadline = n.hooks+hooksOn(starts), n.deadline+starts.Deadline
	n.tidy()
	return n
}

// hooksOn counts the hooks of a plan.
func hooksOn(plan *dag.Plan) int {
	n := 0
	for i := range plan.Nodes {
		if plan.Nodes[i].RecheckOf < 0 {
			n++
		}
	}
	return n
}

func (n *need) tidy() {
	slices.Sort(n.tools)
	n.tools = slices.Compact(n.tools)
	if n.all {
		n.tools = nil
	}
}

func (n *need) join(o need) {
	n.tools, n.all = append(n.tools, o.tools...), n.all || o.all
	n.guard, n.hooks, n.deadline = n.guard || o.guard, n.hooks+o.hooks, max(n.deadline, o.deadline)
	n.tidy()
}

// toolsOf are the only tools that a filter can let in, if it says so by name
// or by a kind that has a list of names.
func toolsOf(m *policy.Matcher) (tools []string, known bool) {
	for i := range m.Atoms {
		names, ok := atomTools(&m.Atoms[i])
		switch {
		case !ok:
		case !known:
			tools, known = names, true
		default:
			tools = slices.DeleteFunc(tools, func(t string) bool { return !slices.Contains(names, t) })
		}
	}
	return tools, known
}

func atomTools(a *policy.Atom) ([]string, bool) {
	if a.Op != policy.AtomIn {
		return nil, false
	}
	switch a.Field {
	case policy.FieldToolName:
		return slices.Clone(a.Values), true
	case policy.FieldToolKind:
		var out []string
		for _, kind := range a.Values {
			names := toolcall.OfKind(kind)
			if names == nil {
				return nil, false
			}
			out = append(out, names...)
		}
		return out, true
	}
	return nil, false
}

// matcher is the condition on tools in the agent's own syntax, "" where every
// call concerns the policy or the syntax cannot say which.
func (n *need) matcher(m *agent.Matchers) string {
	if n.all || m.Join == nil || len(n.tools) == 0 {
		return ""
	}
	text, ok := m.Join(n.tools)
	if !ok {
		return ""
	}
	return text
}

// timeout is what the agent must allow hookc.
func (n *need) timeout(place *agent.Settings) time.Duration {
	t := n.deadline + ownMargin
	if place.Most > 0 {
		t = min(t, place.Most)
	}
	return t
}
