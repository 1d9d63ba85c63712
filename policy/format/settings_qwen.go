package format

import (
	"strings"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Qwen Code's settings.json, and hooks.json of its extensions (docs/dialects,
// qwen §4.2).
var _ = registerSettings(settings{
	id: "qwen", doc: "settings.json of Qwen Code",
	comments: true,
	root:     qwenRoot, matcher: qwenMatcher, hook: qwenHook, finish: forkFinish,
})

// qwenRoot reads the switch. An untrusted file switches nothing.
func qwenRoot(r *settingsReader, root *Node) *Node {
	if n := root.Get("disableAllHooks"); n != nil && r.in.Untrusted == "" && r.in.Tier != policy.TierExtension {
		// The project's word is before the user's: files are read in the order of
		// their hooks, and the project's come first.
		if off, ok := n.Bool(); ok && (r.in.Tier == policy.TierProject || !r.l.fork.switched) {
			if r.l.fork.off = (diag.Span{}); off {
				r.l.fork.off = n.Span
			}
			r.l.fork.switched = true
		}
	}
	return r.withoutOldKeys(root.Get("hooks"), "disableAllHooks")
}

// qwenHook finishes a hook: its type, name, environment, timeout and group.
func qwenHook(r *settingsReader, _ string, group, n *Node, h *policy.Hook) bool {
	switch kind := n.Get("type"); {
	case kind == nil || !kind.IsText():
		r.report(codeNative.Report(itemSpan(n), "the hook has no type: it is passed over").WithHint(`write "type": "command"`))
		return false
	case kind.Text.Value != "command":
		r.report(codeNative.Report(kind.Span, "a hook of type %q does not run here: hookc runs commands", kind.Text.Value))
		return false
	}
	r.forkTimeout(n.Get("timeout"), h)
	forkEnv(n.Get("env"), h)
	r.hydrate(h)
	h.Async = isTrue(n.Get("async"))
	f := &forkFacts{id: h.Description, key: h.Description + ":" + h.Body.Command.Value, sequential: isTrue(group.Get("sequential"))}
	if f.id == "" {
		f.id = h.Body.Command.Value
	}
	if m := group.Get("matcher"); m != nil && !m.IsText() && counts(m) && qwenMatches(h.Event) {
		f.broken = m.Span
	}
	if !r.first(h, f.id, group) {
		return false
	}
	r.l.fork.note(h, f)
	return true
}

// first reports whether no hook of the same event and file is called the same
// under the same matcher: Qwen Code registers only one.
func (r *settingsReader) first(h *policy.Hook, id string, group *Node) bool {
	text := func(key string) string {
		if n := group.Get(key); n != nil {
			return n.Tag + n.Text.Value
		}
		return ""
	}
	key := strings.Join([]string{string(h.Event), h.Body.Agent.Event, r.in.Path, id, text("matcher"), text("sequential")}, "\x00")
	if r.l.fork.registered == nil {
		r.l.fork.registered = map[string]string{}
	}
	before, taken := r.l.fork.registered[key]
	if !taken {
		r.l.fork.registered[key] = h.Body.Command.Value
		return true
	}
	if before != h.Body.Command.Value {
		r.report(codeNative.Report(h.Span, "another hook of this event is called %q: this one never runs", id).WithHint("give it a name of its own"))
	}
	return false
}

// qwenTexts are the events whose matcher is held against a field other than
// the tool's name, and whether it is a regular expression there.
var qwenTexts = map[policy.Event]struct {
	field  policy.Field
	regexp bool
}{
	policy.SessionStart: {policy.FieldSource, true}, policy.SessionEnd: {policy.FieldReason, true},
	policy.SubagentStart: {policy.FieldAgentType, true}, policy.SubagentStop: {policy.FieldAgentType, true},
	policy.PreAutoCompact: {policy.FieldTrigger, false}, policy.PostAutoCompact: {policy.FieldTrigger, false},
	policy.StopFailure: {policy.FieldErrorType, false}, policy.Notify: {policy.FieldNotificationType, false},
}

func qwenMatches(e policy.Event) bool {
	_, text := qwenTexts[e]
	return text || e.Spec().CanRead(policy.FieldToolName)
}

// qwenMatcher is a regular expression on the tool's name, or on what started
// the event, or there a word.
func qwenMatcher(r *settingsReader, event policy.Event, native string, group *Node) ([]policy.Condition, bool) {
	m := group.Get("matcher")
	if m == nil {
		return nil, true
	}
	if !m.IsText() {
		if counts(m) && qwenMatches(event) {
			r.notText(m, native)
		}
		return nil, true
	}
	text := strings.TrimSpace(m.Text.Value)
	if text == "" || text == "*" {
		return nil, true
	}
	on, ok := qwenTexts[event]
	switch {
	case event.Spec().CanRead(policy.FieldToolName):
		return []policy.Condition{r.toolPattern(m.Text, text)}, true
	case !ok:
		r.report(codeMatcher.Report(m.Span, "%s looks at no matcher: these hooks always run", native).WithHint("remove it"))
		return nil, true
	case on.regexp:
		return []policy.Condition{orAbsent(m.Text, on.field, r.textPattern(m, text))}, true
	}
	if strings.ContainsAny(text, "|*^$()[]") {
		r.report(codeMatcher.Report(m.Span, "the matcher of %s is compared as a whole with %s: %q never is", native, on.field, text).
			WithHint("write one group for each word"))
	}
	return []policy.Condition{orAbsent(m.Text, on.field, func(s string) bool { return s == text })}, true
}
