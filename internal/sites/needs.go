package sites

import (
	"fmt"
	"slices"
	"time"

	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// Need is what a policy asks of one event of an agent.
type Need struct {
	Native string
	// Tools are the names the hooks can match; All is true when that cannot be
	// told, or is any.
	Tools []string
	All   bool
	// Guard is true where an action is guarded and the agent obeys.
	Guard bool
	// Hooks counts those of the policy; 0 when the event is asked for besides.
	Hooks int
	// Deadline bounds hookc's own work.
	Deadline time.Duration
}

const (
	// ownMargin is what hookc takes beside the Hooks: starting, compiling.
	ownMargin = 5 * time.Second
	// anyDeadline is assumed of a policy that is not known.
	anyDeadline = time.Minute
)

// Needs lists what a policy asks of an agent, in lifecycle order, and says
// what the agent does not have. With wide, all its guarded events are asked for,
// and all tools.
func Needs(d *agent.Agent, place *agent.Settings, p *dag.Program, wide bool) (out []Need, notes []string) {
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
		i := slices.IndexFunc(out, func(o Need) bool { return o.Native == n.Native })
		if i < 0 {
			out = append(out, n)
			continue
		}
		out[i].join(n)
	}
	for _, plan := range p.Plans {
		if n := hooksOn(plan) + waiting[plan.Event]; n > 0 && !had[plan.Event] {
			notes = append(notes, fmt.Sprintf("%s has no event for %s: %s of the policy cannot run there", d.ID, plan.Event, spell.Count(n, "hook")))
		}
	}
	return out, notes
}

func needAt(at agent.Entry, plan *dag.Plan, waiting int, wide bool) (Need, bool) {
	n := Need{Native: at.Native, Guard: at.Refusable(), Hooks: waiting, All: !at.Tools || wide || waiting > 0, Deadline: anyDeadline}
	if plan != nil {
		n.Hooks += hooksOn(plan)
		n.Deadline = plan.Deadline
		if wide || waiting > 0 {
			n.Deadline = max(n.Deadline, anyDeadline)
		}
		for i := range plan.Nodes {
			tools, known := toolsOf(plan.Nodes[i].Matcher)
			n.Tools = append(n.Tools, tools...)
			n.All = n.All || !known
		}
	}
	if n.Hooks == 0 && !(wide && n.Guard) {
		return Need{}, false
	}
	n.tidy()
	return n, true
}

// starting is the need at a call with that of the hooks on the start of a
// subagent, which are asked when it is called.
func (n Need) starting(at agent.Entry, starts *dag.Plan) Need {
	if n.Native == "" {
		n = Need{Native: at.Native, Guard: at.Refusable()}
	}
	n.Tools = append(n.Tools, toolcall.OfKind("agent")...)
	n.Hooks, n.Deadline = n.Hooks+hooksOn(starts), n.Deadline+starts.Deadline
	n.tidy()
	return n
}

// hooksOn counts the hooks of a plan.
//
//go:noinline
func hooksOn(plan *dag.Plan) int {
	n := 0
	for i := range plan.Nodes {
		if plan.Nodes[i].RecheckOf < 0 {
			n++
		}
	}
	return n
}

//go:noinline
func (n *Need) tidy() {
	n.Tools = lists.Distinct(n.Tools)
	if n.All {
		n.Tools = nil
	}
}

func (n *Need) join(o Need) {
	n.Tools, n.All = append(n.Tools, o.Tools...), n.All || o.All
	n.Guard, n.Hooks, n.Deadline = n.Guard || o.Guard, n.Hooks+o.Hooks, max(n.Deadline, o.Deadline)
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
			tools = lists.DeleteFunc(tools, func(t string) bool { return !lists.Has(names, t) })
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
		return lists.Copy(a.Values), true
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

// Matcher is the condition on tools in the agent's own syntax, "" where every
// call concerns the policy or the syntax cannot say which.
func (n *Need) Matcher(m *agent.Matchers) string {
	if n.All || m.Join == nil || len(n.Tools) == 0 {
		return ""
	}
	text, ok := m.Join(n.Tools)
	if !ok {
		return ""
	}
	return text
}

// Timeout is what the agent must allow hookc.
func (n *Need) Timeout(place *agent.Settings) time.Duration {
	t := n.Deadline + ownMargin
	if place.Most > 0 {
		t = min(t, place.Most)
	}
	return t
}
