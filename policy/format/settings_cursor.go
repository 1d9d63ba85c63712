package format

import (
	"fmt"
	"strings"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/pattern"
)

// Cursor's hooks.json (docs/dialects, cursor §4.3).
var _ = registerSettings(settings{
	id: "cursor", doc: "hooks.json of Cursor",
	root: cursorRoot, matcher: cursorMatcher, body: cursorBody, hook: cursorHook,
})

// cursorRoot: an event that Cursor does not know rejects the whole file.
func cursorRoot(r *settingsReader, root *Node) *Node {
	hooks := root.Get("hooks")
	if hooks == nil || hooks.Shape != Map {
		return hooks
	}
	for _, e := range hooks.Entries {
		native := e.Key.Text.Value
		if _, ok := r.dialect.Event(native); !ok {
			r.report(codeNative.Report(e.Key.Span, "cursor has no event %q and rejects the whole file: none of its hooks runs", native).
				WithHint("%s", diag.DidYouMean(native, r.dialect.Natives(), "events: "+strings.Join(r.dialect.Natives(), ", "))))
			return nil
		}
	}
	return hooks
}

// cursorMatched is what a matcher looks at.
func cursorMatched(native string, event policy.Event) (policy.Field, bool) {
	switch {
	case native == "beforeShellExecution" || native == "afterShellExecution":
		return policy.FieldCommand, true
	case native == "subagentStart" || native == "subagentStop":
		return policy.FieldSubagentType, true
	case native == "beforeSubmitPrompt":
		return policy.FieldUserInput, true
	}
	return policy.FieldToolName, event.Spec().CanRead(policy.FieldToolName)
}

// cursorMatcher is an unanchored regular expression on the tool's name, on the
// text of a shell's command, or on the kind of a subagent. Several of Cursor's
// events are one of ours: the agent's own name tells them apart.
func cursorMatcher(r *settingsReader, event policy.Event, native string, n *Node) ([]policy.Condition, bool) {
	var out []policy.Condition
	if cursorShares(r, event) {
		out = append(out, rawIs(n.Span, "cursor_event", native))
	}
	m := n.Get("matcher")
	switch {
	case m == nil || m.IsNull():
		return out, true
	case !m.IsText():
		r.report(codeNative.Report(m.Span, "a matcher is text; this is %s: the hook is passed over", m.what()))
		return nil, false
	case m.Text.Value == "" || m.Text.Value == "*":
		return out, true
	}
	f, ok := cursorMatched(native, event)
	if !ok {
		r.report(codeNative.Report(m.Span, "%s has nothing to match: the matcher is passed over and the hook always runs", native))
		return out, true
	}
	p, err := pattern.ECMAScript.Compile(m.Text.Value)
	if err != nil {
		r.report(codeNative.Report(m.Span, "%q is no regular expression (%v): the hook never runs", m.Text.Value, err))
		return nil, false
	}
	r.knownPattern(m.Text, f, p)
	c := nativeTest(m.Text, f, p.Match)
	if f.Derived() {
		c.Atom.Reads = append(c.Atom.Reads, f.Spec().From...)
	}
	return append(out, c), true
}

// cursorShares reports whether another of the agent's events is the same one.
func cursorShares(r *settingsReader, event policy.Event) bool {
	return len(r.dialect.Can(event)) > 1
}

// rawIs is the condition that a key of what the agent sent has a value, or is
// not there.
func rawIs(at diag.Span, key, value string) policy.Condition {
	written := diag.NewText(value, at, nil)
	return policy.Condition{Key: policy.FilterNative, Value: written, Atom: &policy.Atom{
		Op: policy.AtomMatch, Field: policy.FieldRaw, Values: []string{value}, Reads: []policy.Field{policy.FieldRaw},
		Test: func(in *policy.Context) bool {
			v, _ := in.Get(policy.FieldRaw)
			m, _ := v.(map[string]any)
			s, ok := m[key].(string)
			return !ok || s == value
		},
	}}
}

// cursorBody takes commands; a prompt is for Cursor's own model.
func cursorBody(r *settingsReader, native string, n *Node, h *policy.Hook) bool {
	kind := n.Get("type")
	if kind == nil || kind.IsText() && kind.Text.Value == "command" {
		return r.command(n, h)
	}
	if !kind.IsText() || kind.Text.Value != "prompt" {
		r.report(codeNative.Report(kind.Span, "a hook is of type command or prompt: it is passed over"))
		return false
	}
	r.report(codeUnrun.Report(kind.Span, "hookc runs no prompts of Cursor: the hook fails each time and is in every decision").
		WithHint("leave it in Cursor's own settings, or write it as a command"))
	h.Body.Command = diag.Literal("echo 'hookc runs no prompts of Cursor' >&2; exit 1")
	return true
}

// cursorHook: failClosed makes a refusal of every failure, and a gate keeps
// the agent going a bounded number of times.
func cursorHook(r *settingsReader, native string, _, n *Node, h *policy.Hook) bool {
	r.inSeconds(h)
	if on, _ := boolOf(n.Get("failClosed")); on {
		h.OnError, h.OnTimeout, h.Body.Agent.Strict = policy.OnErrorDeny, policy.OnErrorDeny, true
	}
	if native != "stop" && native != "subagentStop" {
		return true
	}
	limit := 5
	if v := n.Get("loop_limit"); v != nil {
		if v.IsNull() {
			return true
		}
		if at, ok := v.Int(); ok && at >= 0 {
			limit = at
		}
	}
	written := diag.NewText(fmt.Sprintf("loop_count < %d", limit), itemSpan(n), nil)
	h.Filter.Conditions = append(h.Filter.Conditions, policy.Condition{Key: policy.FilterNative, Value: written, Atom: &policy.Atom{
		Op: policy.AtomMatch, Field: policy.FieldRaw, Values: []string{written.Value}, Reads: []policy.Field{policy.FieldRaw},
		Test: func(in *policy.Context) bool {
			v, _ := in.Get(policy.FieldRaw)
			m, _ := v.(map[string]any)
			count, _ := m["loop_count"].(int)
			return count < limit
		},
	}})
	return true
}
