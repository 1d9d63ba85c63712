package format

import (
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/pattern"
)

// kimi-cli's config.toml (docs/dialects, kimi §3).
var _ = registerSettings(settings{
	id: "kimi", doc: "config.toml of kimi-cli",
	root: kimiRoot, matcher: kimiMatcher, hook: kimiHook,
	finish: func(l *Loader, hooks []*policy.Hook) []*policy.Hook { return l.onceEach(hooks) },
})

// kimiRoot turns the list of hooks, each of which names its event, into a map
// from events to hooks.
func kimiRoot(r *settingsReader, root *Node) *Node {
	list := root.Get("hooks")
	if list == nil {
		return nil
	}
	if list.Shape != List {
		r.report(codeNative.Report(list.Span, "hooks is a list, written [[hooks]]; this is %s: none of it runs", list.what()))
		return nil
	}
	out := &Node{Shape: Map, Span: list.Span}
	for _, n := range list.Items {
		var event *Node
		if n.Shape == Map {
			event = n.Get("event")
		}
		if event == nil || !event.IsText() {
			r.report(codeNative.Report(n.Span, "the hook names no event: it is passed over"))
			continue
		}
		if e := out.entry(event.Text.Value); e != nil {
			e.Value.Items = append(e.Value.Items, n)
			continue
		}
		out.Entries = append(out.Entries, Entry{event, &Node{Shape: List, Span: n.Span, Items: []*Node{n}}})
	}
	return out
}

// kimiMatched is what a matcher looks at; at other events it is empty text.
var kimiMatched = map[string]policy.Field{
	"PreToolUse": policy.FieldToolName, "PostToolUse": policy.FieldToolName, "PostToolUseFailure": policy.FieldToolName,
	"UserPromptSubmit": policy.FieldUserInput, "StopFailure": policy.FieldErrorType, "SessionStart": policy.FieldSource,
	"SessionEnd": policy.FieldReason, "SubagentStart": policy.FieldSubagentName, "SubagentStop": policy.FieldSubagentName,
	"PreCompact": policy.FieldTrigger, "PostCompact": policy.FieldTrigger, "Notification": policy.FieldNotificationType,
}

// kimiMatcher is an unanchored regular expression as Python has them.
func kimiMatcher(r *settingsReader, _ policy.Event, native string, n *Node) ([]policy.Condition, bool) {
	m := n.Get("matcher")
	switch {
	case m == nil:
		return nil, true
	case !m.IsText():
		r.report(codeNative.Report(m.Span, "a matcher is text; this is %s: kimi-cli does not take the file", m.what()))
		return nil, false
	case m.Text.Value == "":
		return nil, true
	}
	p, err := pattern.Python.Compile(m.Text.Value)
	if err != nil {
		r.report(codeNative.Report(m.Span, "%q is no regular expression (%v): the hook never runs", m.Text.Value, err))
		return nil, false
	}
	f, ok := kimiMatched[native]
	if !ok {
		if p.Match("") {
			return nil, true
		}
		r.report(codeNative.Report(m.Span, "%s has nothing to match, and %q does not match nothing: the hook never runs", native, m.Text.Value))
		return nil, false
	}
	r.knownPattern(m.Text, f, p)
	c := nativeTest(m.Text, f, p.Match)
	c.Atom.Test = func(in *policy.Context) bool { return p.Match(in.Text(f)) }
	return []policy.Condition{c}, true
}

// kimiHook: what happens after a call is not waited for. Hooks with one
// command are one, whatever their matchers.
func kimiHook(r *settingsReader, native string, _, n *Node, h *policy.Hook) bool {
	if h.Timeout > 10*time.Minute || h.Timeout < time.Second {
		r.report(codeNative.Report(h.TimeoutSpan, "a timeout is 1 to 600 seconds: kimi-cli does not take the file"))
		h.Timeout = min(max(h.Timeout, time.Second), 10*time.Minute)
	}
	h.Async = native == "PostToolUse" || native == "PostToolUseFailure"
	r.l.handler(h, n)
	return true
}
