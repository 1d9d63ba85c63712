package format

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// init reads the settings of every agent that has no reader of its own here, by
// the agent's value alone.
func init() {
	for _, a := range agent.All() {
		_, known := lookup(a.ID)
		if !known && slices.ContainsFunc(a.Files, func(f agent.File) bool { return f.Format == a.ID }) {
			registerSettings(settings{id: a.ID, doc: "settings of " + a.ID, root: commonRoot, matcher: commonMatcher, body: commonBody})
		}
	}
}

// commonRoot takes also a list of hooks, each of which names its event.
func commonRoot(r *settingsReader, root *Node) *Node {
	if hooks := root.Get("hooks"); hooks == nil || hooks.Shape != List {
		return hooks
	}
	return kimiRoot(r, root)
}

// commonMatcher reads a condition on the tool's name as the agent's value says.
// One that cannot be told holds for every tool.
func commonMatcher(r *settingsReader, event policy.Event, native string, group *Node) ([]policy.Condition, bool) {
	m := group.Get("matcher")
	if m != nil && r.place.Matchers.Key != "" && m.Shape == Map {
		m = m.Get(r.place.Matchers.Key)
	}
	switch {
	case m == nil || m.IsNull():
		return nil, true
	case !m.IsText():
		r.report(codeNative.Report(m.Span, "a matcher is text; this is %s: its hooks never run", m.what()))
		return nil, false
	case r.place.Matchers.All(m.Text.Value):
		return nil, true
	case !event.Spec().CanRead(policy.FieldToolName):
		r.report(codeNative.Report(m.Span, "a matcher has no effect on %s: these hooks always run", native))
		return nil, true
	}
	text := m.Text.Value
	return []policy.Condition{nativeTest(m.Text, policy.FieldToolName, func(tool string) bool {
		hit, told := r.place.Matchers.Covers(text, tool)
		return hit || !told
	})}, true
}

// commonBody takes the command, and the timeout under the agent's name of it.
func commonBody(r *settingsReader, _ string, n *Node, h *policy.Hook) bool {
	form := r.place.Handler
	command := n.Get(form.Command)
	if t := n.Get("type"); form.Type != "" && t != nil && (!t.IsText() || t.Text.Value != form.Type) {
		r.report(codeNative.Report(t.Span, "%s has no hooks of this type: it is passed over", r.id).WithHint(`write "type": %q`, form.Type))
		return false
	}
	if command == nil || !command.IsText() || strings.TrimSpace(command.Text.Value) == "" {
		r.report(codeNative.Report(itemSpan(n), "the hook has no command: it is passed over"))
		return false
	}
	h.Body.Command = command.Text
	r.timeout(n.Get(form.Timeout), h)
	return !ourselves(command.Text.Value)
}
