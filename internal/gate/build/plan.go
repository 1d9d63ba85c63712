package build

import (
	"slices"

	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/gate/table"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/callmatch"
)

// planner takes over the filters of one plan.
type planner struct {
	*builder
	event policy.Event
	// tool and input are true where the event carries a tool's name, and its
	// input.
	tool, input bool
	// names are contexts with nothing but a tool's name, by the name; absent has
	// none.
	names  map[string]*policy.Context
	absent *policy.Context
	sets   map[string]table.Set
}

// filter is the filter of one node: the conditions on the tool's name, those on
// its command line, and on other fields. What is left out counts as true.
type filter struct {
	tool    []*policy.Atom
	command []command
	fields  []*table.Atom
	// left is a condition that is left out, "" when all of them are here.
	left string
}

// command is a condition on the command line.
type command struct {
	atom *table.Atom
	test func(*policy.Context) bool
}

func (b *builder) plan(plan *dag.Plan) *table.Plan {
	p := &planner{builder: b, event: plan.Event, names: map[string]*policy.Context{}, sets: map[string]table.Set{}}
	p.absent = p.context(nil)
	p.tool = p.context(map[policy.Field]any{policy.FieldToolName: "x"}).Has(policy.FieldToolName)
	p.input = p.context(map[policy.Field]any{policy.FieldToolInput: map[string]any{}}).Has(policy.FieldToolInput)
	filters := make([]*filter, len(plan.Nodes))
	for i := range plan.Nodes {
		filters[i] = p.filter(&plan.Nodes[i])
	}
	out := &table.Plan{Tool: p.tool, Command: toolcall.FindPart(policy.FieldCommand).Keys, Parts: toolcall.Keys()}
	for _, name := range knownNames(filters) {
		p.names[name] = p.context(map[policy.Field]any{policy.FieldToolName: name})
	}
	rules := p.book(plan, filters)
	b.books[plan.Event] = rules
	for _, name := range b.begun(plan.Event) {
		p.sets[name] = table.Set{{}}
	}
	for i, f := range filters {
		p.add(out, f, rules.rule(i))
	}
	for _, name := range lists.Keys(p.names) {
		if len(out.Patterns) == 0 && len(p.sets[name]) == 0 {
			continue // as a name that is not known
		}
		out.Names = append(out.Names, table.Name{Name: name, Hooks: p.sets[name]})
	}
	return out
}

// hasCommand reports whether a call of a tool may have a command line here.
func (p *planner) hasCommand(tool string) bool { return p.input && toolcall.HasCommand(tool) }

// context is a context of the event.
func (p *planner) context(values map[policy.Field]any) *policy.Context {
	in := policy.NewContext(p.event)
	for _, f := range lists.Keys(values) {
		in.Set(f, values[f])
	}
	return in.Frozen(p.event)
}

// knownNames are the tools for whose names every filter is asked.
func knownNames(filters []*filter) []string {
	names := toolcall.Names()
	for _, d := range agent.All() {
		if d.Profile != nil {
			names = append(names, d.Profile.Tools...)
		}
	}
	for _, f := range filters {
		for _, a := range f.tool {
			names = append(append(names, a.Values...), a.Literals.Exact...)
		}
	}
	lists.Sort(names)
	return lists.DeleteFunc(lists.Compact(names), func(s string) bool { return s == "" })
}

// filter sorts the conditions of a node.
func (p *planner) filter(n *dag.Node) *filter {
	f := &filter{}
	if n.Matcher == nil {
		return f
	}
	for i := range n.Matcher.Atoms {
		a := &n.Matcher.Atoms[i]
		switch {
		case callmatch.ByName(a):
			f.tool = append(f.tool, a)
		case a.Key == policy.FilterCommand:
			if atom := p.command(a); atom != nil {
				f.command = append(f.command, command{atom, a.Test})
			} else {
				f.left = string(a.Key)
			}
		default:
			if atom := p.field(a); atom != nil {
				f.fields = append(f.fields, atom)
			} else {
				f.left = string(a.Key)
			}
		}
	}
	return f
}

// holds reports whether every condition on the name holds.
func (f *filter) holds(c *policy.Context) bool {
	return !slices.ContainsFunc(f.tool, func(a *policy.Atom) bool { return !a.Test(c) })
}

// add files one node's filter, and its rule if it has one.
func (p *planner) add(out *table.Plan, f *filter, rule int) {
	if len(f.tool)+len(f.command) == 0 {
		left, _ := f.rest(p.absent, false)
		out.Always = append(out.Always, table.Hook{Atoms: left, Rule: rule})
		return
	}
	if f.holds(p.absent) {
		if left, ok := f.rest(p.absent, p.hasCommand("")); ok {
			out.Absent = append(out.Absent, table.Hook{Atoms: left, Rule: rule})
		}
	}
	if !p.tool {
		return
	}
	for _, name := range p.candidates(f) {
		c := p.names[name]
		if !f.holds(c) {
			continue
		}
		if left, ok := f.rest(c, p.hasCommand(name)); ok {
			p.sets[name] = append(p.sets[name], table.Hook{Atoms: left, Rule: rule})
		}
	}
	if tests, exact, ok := p.tests(f); ok {
		left, ok := f.rest(p.absent, p.input)
		if !ok {
			return
		}
		if !exact {
			rule = 0 // it may concern such a tool
		}
		out.Patterns = append(out.Patterns, table.Pattern{Tests: tests, Hooks: table.Set{{Atoms: left, Rule: rule}}})
	}
}

// candidates are the known names that may pass.
func (p *planner) candidates(f *filter) []string {
	for _, a := range f.tool {
		if a.Op == policy.AtomIn && a.Field == policy.FieldToolName {
			return lists.Compact(slices.Sorted(slices.Values(lists.DeleteFunc(lists.Copy(a.Values), func(s string) bool { return s == "" }))))
		}
	}
	return lists.Keys(p.names)
}

// rest are the conditions that must be looked at in the event; false when one
// of those on the command line fails since there is none.
func (f *filter) rest(c *policy.Context, command bool) ([]*table.Atom, bool) {
	out := lists.Copy(f.fields)
	for _, a := range f.command {
		switch {
		case command:
			out = append(out, a.atom)
		case !a.test(c):
			return nil, false
		}
	}
	return out, true
}
