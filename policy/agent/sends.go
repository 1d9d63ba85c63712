package agent

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// Sends lists the fields that an event may have when the agent sends it: those
// it sends under any name, and what hookc derives from them. A field that the
// event carries and that is not among them is always absent.
func (d *Agent) Sends(e policy.Event) []policy.Field {
	sent := map[policy.Field]bool{policy.FieldEvent: true, policy.FieldRaw: true}
	keys := d.keys
	if len(keys) == 0 { // the canonical names
		keys = d.scripts.nativeKeys
	}
	for _, k := range keys {
		if k.at == nil || lists.Among(k.at, e) {
			sent[k.field] = true
			if f, ok := policy.ParseField(k.name); ok { // jcli's user_input at the end of a turn
				sent[f] = true
			}
		}
	}
	for _, k := range d.env {
		sent[k.field] = true
	}
	sent[policy.FieldToolInput] = sent[policy.FieldToolInput] || sent[policy.FieldToolArguments]
	if d.Profile != nil && slices.ContainsFunc(d.Profile.Open, func(glob string) bool { return strings.HasPrefix(glob, "mcp__") }) {
		sent[policy.FieldMCP] = sent[policy.FieldToolName] // by the tool's name
	}
	sent[policy.FieldProjectRoot] = true // cwd or the folder hookc runs in
	sent[policy.FieldCwd] = true
	if d.RefusedBefore(e) { // by the call that begins it
		for _, f := range []policy.Field{policy.FieldAgentType, policy.FieldSubagentType, policy.FieldSubagentName, policy.FieldTaskDescription} {
			sent[f] = true
		}
	}
	var out []policy.Field
	for _, f := range policy.Fields() {
		absent := func(from policy.Field) bool { return !sent[from] }
		if e.Spec().CanRead(f) && (sent[f] || f.Derived() && !slices.ContainsFunc(f.Spec().From, absent)) {
			out = append(out, f)
		}
	}
	return out
}
