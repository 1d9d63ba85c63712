package agent

import (
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// WireFormat is how an agent reads events, for a reader elsewhere that must see
// exactly what Decode does: hookgate's table (internal/gate/table).
type WireFormat struct {
	// Names are the dialect's, its ID first.
	Names []string
	// EventKey is where the agent names the event, EventEnv the variable that
	// does where nothing else names it, "" if there is none.
	EventKey, EventEnv string
	// Env are the variables that stand in for fields that were not sent.
	Env []EnvReading
	// Points are the agent's events, Events which of them each name means: the
	// first whose condition holds.
	Points []PointReading
	Events []NamedReading
}

// EnvReading is a variable and the field it stands in for.
type EnvReading struct {
	Name  string
	Field policy.Field
}

// NamedReading is a name of an event and the points, by index, it may mean.
type NamedReading struct {
	Name   string
	Points []int
}

// Shape says what is done with what was sent at a point before its keys are
// looked at.
type Shape string

// The shapes. ShapeUnknown must be left to Decode.
const (
	ShapeNone    Shape = ""
	ShapeUnknown Shape = "unknown"
	// ShapeAgent copies a key to a field that no filter looks at.
	ShapeAgent Shape = "agent"
	// ShapeText takes tool_input also from the text of an object;
	// ShapeTextOrNone an empty text for an empty object.
	ShapeText       Shape = "text"
	ShapeTextOrNone Shape = "text-or-none"
	// ShapeWorkspace takes the project from a list of folders.
	ShapeWorkspace Shape = "workspace"
)

// PointReading is how one event of an agent is read.
type PointReading struct {
	Native string
	Event  policy.Event
	// Keys are the agent's names of the fields.
	Keys map[string]policy.Field
	Form
	// Conditional is true of a condition, which Form says as far as it can.
	Conditional bool
	// Needs are the fields without which the event is not decided.
	Needs []policy.Field
}

// Form is what a shape comes to for who looks at the filters' fields alone. The
// zero Form says that it changes none of them.
type Form struct {
	Shape Shape
	// Text is the key whose text holds an object, with ShapeText.
	Text string
	// Moved are the keys that become members of tool_input, and Tool the name
	// the tool then has; AlwaysTool, it has it without them.
	Moved      []string
	Tool       string
	AlwaysTool bool
	// Ignored are keys that become fields no filter looks at, whatever they
	// hold.
	Ignored []string
	// WhenKey and WhenMember, when set, are the object and its member that must
	// not be null for the event to be this one.
	WhenKey, WhenMember string
}

// shape turns what was sent into one flat object of the agent's keys.
type shape struct {
	do   func(sent map[string]any)
	form Form
}

// EventKeys are the keys under which some agent names the event, in order.
func EventKeys() []string { return lists.Copy(eventKeys) }

// WireFormat is how events of the agent are read.
func (d *Agent) WireFormat() *WireFormat {
	r := &WireFormat{Names: append([]string{d.ID}, d.Aliases...), EventKey: d.eventKey, EventEnv: d.eventEnv}
	for _, k := range d.env {
		r.Env = append(r.Env, EnvReading{k.name, k.field})
	}
	for i := range d.allPoints() {
		r.Points = append(r.Points, d.pointReading(&d.allPoints()[i]))
	}
	names := append(d.Natives(), policy.EventNames()...)
	for _, name := range lists.Distinct(names) {
		if points := d.candidates(name); len(points) > 0 {
			r.Events = append(r.Events, NamedReading{name, points})
		}
	}
	return r
}

// candidates are the points that find may return for a name, in its order.
func (d *Agent) candidates(name string) []int {
	var out []int
	add := func(same func(*point) bool) bool {
		for i := range d.allPoints() {
			if p := &d.allPoints()[i]; same(p) {
				out = append(out, i)
				if p.when == nil {
					return true
				}
			}
		}
		return false
	}
	if add(func(p *point) bool { return p.name == name }) {
		return out
	}
	event, ok := policy.ParseEvent(name)
	if !ok || add(func(p *point) bool { return p.event == event }) {
		return out
	}
	return nil // settled by the name alone: left to find
}

func (d *Agent) pointReading(p *point) PointReading {
	r := PointReading{Native: p.name, Event: p.event, Keys: map[string]policy.Field{}}
	for _, k := range d.keys {
		if f, ok := d.field(k.name, p.event); ok {
			r.Keys[k.name] = f
		}
	}
	r.Needs = p.needs()
	r.Conditional = p.when != nil
	if p.shape != nil {
		r.Form = p.shape.form
	}
	return r
}
