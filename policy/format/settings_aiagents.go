package format

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/pattern"
)

// The settings of ai_agents (docs/dialects, ai_agents §3.4 to §3.6).
var _ = registerSettings(settings{
	id: "aiagents", doc: "settings.json of ai_agents",
	broken:  func(l *Loader) bool { return l.faithful },
	matcher: aiAgentsMatcher,
	hook: func(r *settingsReader, _ string, _, n *Node, h *policy.Hook) bool {
		return r.commandType(n) && r.unset(h, "EDITED_FILE")
	},
	finish: aiAgentsOnce,
})

var aiAgentsNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_|-]+$`) })

// aiAgentsMatcher: a plain name is exact, names joined by | are a list, all
// else is a regular expression on the whole name.
func aiAgentsMatcher(r *settingsReader, event policy.Event, native string, group *Node) ([]policy.Condition, bool) {
	m := group.Get("matcher")
	if m == nil || m.IsNull() {
		return nil, true
	}
	if !m.IsText() {
		r.report(codeNative.Report(m.Span, "a matcher is text; this is %s: its hooks never run", m.what()))
		return nil, false
	}
	text := m.Text.Value
	if !event.Spec().CanRead(policy.FieldToolName) {
		if text != "" && text != "*" {
			r.report(codeNative.Report(m.Span, "a matcher has no effect on %s: these hooks always run", native))
		}
		return nil, true
	}
	switch {
	case text == "" || text == "*":
		return nil, true
	case aiAgentsNames().MatchString(text):
		return []policy.Condition{nativeNames(m.Text, policy.FieldToolName, strings.Split(text, "|")...)}, true
	}
	p, err := pattern.WholeECMAScript(text)
	if err != nil {
		r.report(codeNative.Report(m.Span, "%q is no regular expression (%v): its hooks never run", text, err))
		return nil, false
	}
	return []policy.Condition{nativePattern(m.Text, policy.FieldToolName, p)}, true
}

// commandType reports whether a hook is a command; what is not is reported and
// dropped.
func (r *settingsReader) commandType(n *Node) bool {
	t := n.Get("type")
	if t == nil || t.IsText() && t.Text.Value == "command" {
		return true
	}
	r.report(codeNative.Report(t.Span, "%s has no hooks of this type: it is passed over", r.id).WithHint(`write "type": "command"`))
	return false
}

// unset reports a variable in a command that the agent never sets. It is
// always true.
func (r *settingsReader) unset(h *policy.Hook, name string) bool {
	use := regexp.MustCompile(`\$(\{` + name + `\b|` + name + `\b)`)
	if at := use.FindStringIndex(h.Body.Command.Value); at != nil {
		r.report(codeUnset.Report(h.Body.Command.At(at[0], at[1]), "%s never sets $%s: it is empty", r.id, name).
			WithHint("read the event from stdin: its tool_input names the file"))
	}
	return true
}

// aiAgentsOnce runs a command that several matching hooks of an event name, with
// one timeout, once, in the first place.
func aiAgentsOnce(l *Loader, hooks []*policy.Hook) []*policy.Hook {
	type same struct {
		event   policy.Event
		command string
		timeout time.Duration
	}
	first := map[same][]*policy.Hook{}
	return slices.DeleteFunc(hooks, func(h *policy.Hook) bool {
		key := same{h.Event, h.Body.Command.Value, h.Timeout}
		before := first[key]
		if h.Untrusted != "" {
			return false
		}
		first[key] = append(before, h)
		if len(before) == 0 {
			return false
		}
		if slices.ContainsFunc(before, func(b *policy.Hook) bool { return len(b.Filter.Conditions) == 0 || sameMatcher(b, h) }) {
			l.diags.Add(codeReplaced.Report(h.Span, "the same command runs already: %s; it runs once", before[0].Span))
			return true
		}
		filters := make([][]policy.Condition, len(before))
		for i, b := range before {
			filters[i] = b.Filter.Conditions
		}
		h.Filter.Conditions = append(slices.Clip(h.Filter.Conditions),
			noneOf(where("not where the same command runs already", before[0].Span), filters))
		return false
	})
}

// sameMatcher reports whether two hooks have one matcher as written.
func sameMatcher(a, b *policy.Hook) bool {
	text := func(c policy.Condition) string { return c.Value.Value }
	return slices.EqualFunc(a.Filter.Conditions, b.Filter.Conditions, func(x, y policy.Condition) bool { return text(x) == text(y) })
}
