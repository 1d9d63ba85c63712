package agent

import (
	"sort"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

// Entry is one event of an agent as its settings name it.
type Entry struct {
	Native string
	Event  policy.Event
	May    Power
	// Tools is true when a matcher of the event looks at a tool's name.
	Tools bool
}

// Refusable reports whether a hook at the event can keep an action from
// happening.
func (e Entry) Refusable() bool {
	return e.Event.Spec().Class == policy.Guard && e.May.Has(MayDeny|MayStop|MayEnd)
}

// Entries lists the agent's events in lifecycle order, those left out that
// another means; a name that is several canonical events is there for
// each.
func (d *Agent) Entries(p *Settings) []Entry {
	var out []Entry
	for i := range d.allPoints() {
		at := &d.allPoints()[i]
		if lists.Has(p.Covered, at.name) {
			continue
		}
		tools := lists.Among(policy.Events(), at.event) && at.event.Spec().CanRead(policy.FieldToolName)
		out = append(out, Entry{at.name, at.event, at.may, tools})
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Event.Compare(out[j].Event) < 0 })
	return out
}

// Sample is an event as the agent would send it: a made-up call of a tool in
// a folder, to try a hook with. Where the agent does not name the event, the
// input does not either.
func (d *Agent) Sample(native, tool, dir string) []byte {
	at := d.find(native, nil)
	input := map[string]any{"command": "true"}
	values := []struct {
		field policy.Field
		value any
	}{
		{policy.FieldSessionID, "hookc-doctor"}, {policy.FieldCwd, dir}, {policy.FieldToolName, tool}, {policy.FieldToolInput, input},
		{policy.FieldUserInput, "hookc doctor"}, {policy.FieldSubagentName, "hookc-doctor"}, {policy.FieldMessages, []any{}},
		{policy.FieldTrigger, "auto"},
	}
	out := map[string]any{}
	for _, v := range values {
		if at.event.Spec().CanRead(v.field) {
			out[d.keyOf(at, v.field)] = v.value
		}
	}
	if !d.unnamed {
		out[d.eventKey] = native
	}
	text, err := policy.EncodeJSON(out)
	if err != nil {
		panic("agent: a sample is not JSON: " + err.Error())
	}
	return text
}

// keyOf is the agent's name of a field at an event.
func (d *Agent) keyOf(at *point, f policy.Field) string {
	name := ""
	for _, k := range d.keys {
		if got, ok := d.field(k.name, at.event); ok && got == f && (name == "" || k.name < name) {
			name = k.name
		}
	}
	return lists.First(name, f.String())
}

// Agent is the id of the agent that sent the event, without a version.
func (c *Call) Agent() string {
	base, _, _ := spell.Cut(c.agent.ID, "@")
	return base
}
