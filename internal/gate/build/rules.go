package build

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/gate/rules"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/rego"
)

// book is the rules of one event that hookgate evaluates itself.
type book struct {
	source rules.Source
	// why says for each node why it has no rule, "" for those that do.
	why []string
	// wanted are the outcomes that some rule may come to, a bit each; points are the
	// answers.
	wanted uint
	points []rules.Point
	stage  *stage
}

// any reports whether there is a rule.
//
//go:noinline
func (k *book) any() bool { return k != nil && k.wanted != 0 }

// rule is the number of a node's rule, 0 if there is none.
func (k *book) rule(node int) int {
	if k.why[node] != "" {
		return 0
	}
	return node + 1
}

// book takes over what it can of a plan's nodes.
func (p *planner) book(plan *dag.Plan, filters []*filter) *book {
	k := &book{why: make([]string, len(plan.Nodes)), stage: newStage(p.program, plan)}
	k.source.Rules = make([]rules.Rule, len(plan.Nodes))
	all := ""
	switch {
	case plan.Memoised():
		all = "another hook of the event starts a process, so that answers are remembered"
	case plan.Strategy.Rules.Conclude != nil || plan.Strategy.Rules.Row != nil:
		all = "the agent's own rules have the last word"
	case !k.stage.silent():
		all = "hooks that say nothing make a difference"
	}
	for i := range plan.Nodes {
		r, why := rules.Rule{}, all
		if why == "" {
			r, why = p.rule(&plan.Nodes[i], filters[i])
		}
		if why == "" {
			r.Item = plan.Nodes[i].Item
			wanted := outcomes(r.Entries)
			r.Says, r.Halts = k.stage.probe(&plan.Nodes[i], wanted)
			if p.program.Approvals { // hookc knows what has been granted
				r.Says &^= 1<<rules.Ask | 1<<rules.BareAsk
			}
			k.wanted |= r.Says | 1<<rules.NumOutcomes // silence is one too
			k.source.Rules[i] = r
		}
		k.why[i] = why
	}
	if !k.any() {
		return k
	}
	for _, name := range toolcall.Names() {
		k.source.Tools = append(k.source.Tools, [2]string{name, toolcall.KindOf(name)})
	}
	k.source.MCP = toolcall.MCPPrefixes()
	return k
}

// rule is a node as a rule; why says why it is left to hookc.
func (p *planner) rule(n *dag.Node, f *filter) (r rules.Rule, why string) {
	switch {
	case n.Hook.Kind != policy.KindRego:
		return r, "is no Rego"
	case n.Hook.Async:
		return r, "runs in the background"
	case n.Hook.Enforcement != "" || n.Hook.Spared > 0:
		return r, "decides nothing, or not in every session"
	case n.RecheckOf >= 0:
		return r, "is asked again after a change"
	case n.Effects.Project:
		return r, "is given only what it declares"
	case f.left != "":
		return r, "its filter on " + f.left
	case strings.ContainsFunc(n.Hook.Name, func(c rune) bool { return c < ' ' }):
		return r, "has an odd name"
	}
	made := n.Runner
	if d, deferred := made.(dag.Deferred); deferred {
		made = d.Made()
	}
	code, ok := made.(*rego.Native)
	if !ok {
		return r, "is evaluated by topdown"
	}
	thin, why := code.Thin()
	if thin == nil {
		return r, why
	}
	r.Name, r.Program = n.Hook.Name, thin.Program
	for _, e := range thin.Entries {
		r.Entries = append(r.Entries, rules.Entry{Part: partOf(e.Part), Func: e.Func, Many: e.Many})
	}
	for _, path := range thin.Paths {
		s, why := p.slot(path)
		if why != "" {
			return r, why
		}
		r.Slots = append(r.Slots, s)
	}
	return r, ""
}

// partOf is the part of an entry point by its name.
func partOf(name string) int {
	if i := slices.Index([]string{rules.Deny: "deny", rules.Ask: "ask", rules.Allow: "allow", rules.Context: "context",
		rules.Message: "message", rules.Feedback: "feedback"}, name); i >= 0 {
		return i
	}
	if name == rego.DefaultAllow {
		return rules.Unallowed
	}
	return rules.Other
}

// outcomes are those that a rule with some entry points may come to.
func outcomes(entries []rules.Entry) uint {
	out := uint(0)
	for _, e := range entries {
		part := e.Part
		switch part {
		case rules.Other:
			continue
		case rules.Unallowed:
			part = rules.Deny
		}
		out |= 1 << part
		if part <= rules.Allow {
			out |= 1 << (rules.BareDeny + part)
		}
	}
	return out
}

// slot is where the gate finds a path; why says why it cannot.
func (p *planner) slot(path rego.ThinPath) (s rules.Slot, why string) {
	f := path.Field
	s = rules.Slot{Kind: rules.SlotAbsent}
	switch {
	case path.Absent:
		return s, ""
	case f == policy.FieldEvent:
		if len(path.Keys) == 0 {
			s = rules.Slot{Kind: rules.SlotText, Text: string(p.event)}
		}
		return s, ""
	case f == policy.FieldToolKind:
		if p.tool && len(path.Keys) == 0 {
			s.Kind = rules.SlotKind
		}
		return s, ""
	}
	if part := toolcall.FindPart(f); part != nil {
		if p.input && len(path.Keys) == 0 {
			s = rules.Slot{Kind: rules.SlotPart, Keys: part.Keys, Kinds: part.Kinds}
		}
		return s, ""
	}
	switch {
	case !f.Derived() && !p.carries(f):
		return s, ""
	case !slices.Contains(looked, f):
		return s, "reads " + f.String()
	}
	return rules.Slot{Kind: rules.SlotField, Field: int(f), Keys: path.Keys}, ""
}

// carries reports whether the event has a field at all.
func (p *planner) carries(f policy.Field) bool {
	return p.context(map[policy.Field]any{f: sample(f)}).Has(f)
}

// sample is a value of a field.
func sample(f policy.Field) any {
	switch f.Spec().Type {
	case policy.NumberType:
		return 1
	case policy.BoolType:
		return true
	case policy.ObjectType:
		return map[string]any{}
	case policy.ListType:
		return []any{}
	}
	return "x"
}

// answers makes the answers of one event of an agent and returns their number.
func (k *book) answers(d *agent.Agent, p *agent.PointReading) int {
	var out rules.Point
	for i := range out {
		if k.wanted>>i&1 != 0 {
			out[i] = k.stage.form(d, p, i)
		}
	}
	k.points = append(k.points, out)
	return len(k.points) - 1
}
