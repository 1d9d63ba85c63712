// Package build makes the table that hookgate decides by without hookc
// (internal/gate/table): how each agent's events are read, which hooks are left
// to look at for which tool, and what hookc run answers to an event that no
// hook concerns. The filters of hooks it takes over are asked themselves, on
// every name of a tool that is known; what it cannot take over counts as
// concerned, and hookc decides. Of hooks in Rego that are native code throughout
// it makes the rules that hookgate evaluates itself (internal/gate/rules), and the
// answers to what they say, for which the dialects are asked.
package build

import (
	"maps"
	"slices"

	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/gate/rules"
	"github.com/hookc/hookc/internal/gate/table"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/artifact"
	"github.com/hookc/hookc/policy/record"
)

// Section is a section of a compiled policy.
type Section struct {
	Name string
	Data []byte
}

// Sections are what hookgate decides by, of a compiled program: the table first,
// then for each event with rules that hookgate evaluates itself these and the
// answers to what they say. Equal programs give equal bytes.
func Sections(program *dag.Program) []Section {
	b := newBuilder(program)
	defer b.empty.Close()
	src := &table.Source{}
	for _, d := range agent.All() {
		if record.Settle(program.Log).Enabled { // hookgate writes none
			break
		}
		src.Dialects = append(src.Dialects, b.dialect(d))
	}
	out := []Section{{artifact.Gate, table.Bytes(src)}}
	for _, plan := range program.Plans {
		if k := b.books[plan.Event]; k.any() {
			out = append(out, Section{rules.Section + string(plan.Event), rules.Bytes(&k.source)},
				Section{rules.Answers + string(plan.Event), rules.AnswersBytes(k.points)})
		}
	}
	return out
}

// Table is the first of Sections alone.
func Table(program *dag.Program) []byte { return Sections(program)[0].Data }

func newBuilder(program *dag.Program) *builder {
	return &builder{program: program, plans: map[policy.Event]*table.Plan{}, books: map[policy.Event]*book{}, empty: emptied(program)}
}

// Cold says of each node of a plan why hookgate leaves it to hookc where there is
// no server, "" of those it decides itself.
func Cold(program *dag.Program, plan *dag.Plan) []string {
	b := newBuilder(program)
	defer b.empty.Close()
	b.plan(plan)
	return b.books[plan.Event].why
}

type builder struct {
	program *dag.Program
	plans   map[policy.Event]*table.Plan
	books   map[policy.Event]*book
	// empty fires events on which no hook is left.
	empty firer
	// automata is how many bytes of automata there are.
	automata int
}

func (b *builder) dialect(d *agent.Agent) table.Dialect {
	r := d.WireFormat()
	out := table.Dialect{Names: r.Names, EventKey: r.EventKey, EventEnv: r.EventEnv}
	for _, e := range r.Env {
		out.Env = append(out.Env, table.Env{Name: e.Name, Field: int(e.Field)})
	}
	for _, n := range r.Events {
		if !usual(r, n.Name) {
			continue
		}
		named := table.Named{Name: n.Name}
		for _, i := range n.Points {
			p := &r.Points[i]
			if p.Conditional && p.WhenKey == "" {
				named.Alts = nil // told apart in a way that is not known here
				break
			}
			named.Alts = append(named.Alts, table.Alternative{Key: p.WhenKey, Member: p.WhenMember, Point: i})
		}
		if len(named.Alts) > 0 {
			out.Events = append(out.Events, named)
		}
	}
	for i := range r.Points {
		out.Points = append(out.Points, b.point(d, &r.Points[i], r.EventKey))
	}
	return out
}

// usual reports whether a name of an event is one of the agent's own or a
// canonical one; other agents' names for it are left to hookc.
func usual(r *agent.WireFormat, name string) bool {
	return slices.ContainsFunc(r.Points, func(p agent.PointReading) bool { return p.Native == name || string(p.Event) == name })
}

func (b *builder) point(d *agent.Agent, p *agent.PointReading, eventKey string) table.Point {
	out := table.Point{Native: p.Native, Event: string(p.Event), Keys: keys(p, eventKey), Implied: p.Tool}
	switch {
	case p.Tool != "" && p.AlwaysTool:
		out.Implies = table.ImpliesAlways
	case p.Tool != "":
		out.Implies = table.ImpliesMoved
	}
	for _, f := range p.Needs {
		switch f {
		case policy.FieldToolName, policy.FieldToolInput:
			out.Flags |= table.NeedsTool
		case policy.FieldUserInput:
			out.Flags |= table.NeedsPrompt
		default:
			return table.Point{Native: out.Native, Event: out.Event} // a need that is not known here
		}
	}
	if spec := p.Event.Spec(); spec.Retry || spec.Class == policy.Quality || p.Event == policy.PreSendMessage {
		out.Flags |= table.Counted
	}
	if p.Shape == agent.ShapeUnknown {
		return out
	}
	out.Answer = b.answer(d, p)
	plan := b.program.Plan(p.Event)
	if out.Answer != nil && (plan != nil || b.begun(p.Event) != nil) {
		if b.plans[p.Event] == nil && plan == nil {
			b.plans[p.Event] = onlyBegun(b.begun(p.Event))
		}
		if b.plans[p.Event] == nil {
			b.plans[p.Event] = b.plan(plan)
		}
		out.Plan = b.plans[p.Event]
		if k := b.books[p.Event]; k.any() {
			out.Number = k.answers(d, p)
		}
	}
	return out
}

// begun are the tools whose calls begin what hooks of another event decide with
// the call (agent.Call.Ahead): hookc is asked.
func (b *builder) begun(e policy.Event) []string {
	if e != policy.PreToolExecution || b.program.Plan(policy.SubagentStart) == nil {
		return nil
	}
	return slices.Sorted(slices.Values(toolcall.OfKind("agent")))
}

// onlyBegun is the plan of an event that no hook is on.
func onlyBegun(tools []string) *table.Plan {
	out := &table.Plan{Tool: true}
	for _, name := range tools {
		out.Names = append(out.Names, table.Name{Name: name, Hooks: table.Set{{}}})
	}
	return out
}

// keys are what the keys of an event are, as Call.rename has it.
func keys(p *agent.PointReading, eventKey string) []table.Key {
	all := map[string]table.Key{}
	for _, f := range looked {
		all[f.String()] = field(f)
	}
	for k, f := range p.Keys {
		switch _, own := all[k]; {
		case slices.Contains(looked, f):
			all[k] = field(f)
		case own: // the agent means something else by it
			all[k] = table.Key{Code: table.KeyIgnore}
		}
	}
	put := func(code int, keys ...string) {
		for _, k := range keys {
			all[k] = table.Key{Code: code}
		}
	}
	put(table.KeyRefuse, policy.FieldToolArguments.String())
	switch p.Shape {
	case agent.ShapeText:
		put(table.KeyText, p.Text)
	case agent.ShapeTextOrNone:
		put(table.KeyTextOrNone, p.Text)
	case agent.ShapeWorkspace:
		put(table.KeyRoots, "workspace_roots")
	}
	put(table.KeyMove, p.Moved...)
	for _, k := range lists.Concat(p.Ignored, agent.EventKeys(), []string{eventKey}) {
		delete(all, k) // as any other key
	}
	maps.DeleteFunc(all, func(_ string, k table.Key) bool { return k.Code == table.KeyIgnore })
	out := make([]table.Key, 0, len(all))
	for _, name := range lists.Keys(all) {
		k := all[name]
		k.Name = name
		out = append(out, k)
	}
	return out
}

// looked are the fields that are looked at: those that a filter may be about,
// those that an event is refused for when they are of the wrong type, and where
// the event is. Whatever else is sent makes no difference where no hook runs.
var looked = []policy.Field{
	policy.FieldToolName, policy.FieldToolInput, policy.FieldUserInput, policy.FieldMessages,
	policy.FieldPermissionMode, policy.FieldAgentType, policy.FieldModel, policy.FieldSource, policy.FieldReason, policy.FieldTrigger,
	policy.FieldNotificationType, policy.FieldCwd, policy.FieldProjectRoot,
}

// field is a key that holds a field that is looked at.
func field(f policy.Field) table.Key {
	return table.Key{Code: table.KeyField, Field: int(f), Type: int(f.Spec().Type)}
}
