package source

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/callmatch"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/pattern"
	"github.com/hookc/hookc/policy/source/tree"
)

// The limits of the Agent Hooks format.
const (
	mdTimeout     = 30_000 // ms
	mdMinTimeout  = 100
	mdMaxTimeout  = 600_000
	mdMaxPriority = 1000 // of priority
)

var (
	mdKeys = []string{"name", "description", "trigger", "matcher", "timeout", "async", "priority", "metadata",
		"on_error", "on_timeout", "locked", "enforcement", "rollout"}
	mdMatcherKeys = []string{"tool", "pattern"}
	// mdTriggers are the events of the format; each is a native name of a
	// canonical one.
	mdTriggers = []string{"pre-session", "post-session", "pre-agent-turn", "post-agent-turn",
		"pre-agent-turn-stop", "post-agent-turn-stop", "pre-tool-call", "post-tool-call", "post-tool-call-failure",
		"pre-subagent", "post-subagent", "pre-context-compact", "post-context-compact"}
	// mdOldTriggers are names that an early implementation took and that are no
	// other agent's either.
	mdOldTriggers = map[string]string{"before_agent": "pre-agent-turn", "after_agent": "post-agent-turn",
		"before_stop": "pre-agent-turn-stop", "before_tool": "pre-tool-call", "after_tool": "post-tool-call",
		"after_tool_failure": "post-tool-call-failure", "pre_compact": "pre-context-compact"}
)

// mdFields reads the fields of one HOOK.md.
type mdFields struct {
	folder string
	front  *frontmatter
	found  diag.List
}

// hook is the hook the fields describe, without its body, or nil when it has
// no event to be on.
func (m *mdFields) hook() *policy.Hook {
	root := m.front.tree
	if root == nil {
		root = &tree.Node{Shape: tree.Map, Span: m.front.span}
	}
	if root.Shape != tree.Map {
		m.found.Add(codeHookField.Report(root.Span, "the frontmatter is %s, not a map of fields", root.What()).
			WithHint("write one field a line: `name: my-hook`"))
		return nil
	}
	m.unknown(root, mdKeys, "a HOOK.md")
	h := &policy.Hook{Kind: policy.KindBash, Priority: policy.DefaultPriority, Retry: -1, Span: root.Span}
	m.name(h, root.Get("name"))
	m.description(h, root.Get("description"))
	event, ok := m.trigger(root.Get("trigger"))
	h.Event = event
	m.matcher(h, root.Get("matcher"))
	m.timeout(h, root.Get("timeout"))
	m.async(h, root.Get("async"))
	m.priority(h, root.Get("priority"))
	h.OnError, h.OnTimeout = m.posture("on_error", root.Get("on_error")), m.posture("on_timeout", root.Get("on_timeout"))
	h.Locked = m.flag("locked", root.Get("locked"))
	if n := root.Get("enforcement"); n != nil && m.word("enforcement", n, enforcements) {
		h.Enforcement = enforcement(n.Text.Value)
	}
	var wrong *diag.Diagnostic
	if h.Spared, wrong = shareOf(root.Get("rollout")); wrong != nil {
		m.found.Add(*wrong)
	}
	if meta := root.Get("metadata"); meta != nil && meta.Shape != tree.Map {
		m.found.Add(codeHookValue.Report(meta.Span, "metadata is %s; it is a map of texts", meta.What()))
	}
	for i := range m.found {
		m.found[i] = m.found[i].WithHook(h.Name)
	}
	if !ok {
		return nil
	}
	return h
}

func (m *mdFields) unknown(n *tree.Node, known []string, where string) {
	for _, e := range n.Entries {
		if key := e.Key.Text.Value; !lists.Has(known, key) {
			m.found.Add(codeHookKey.Report(e.Key.Span, "%q is no field of %s and has no effect", key, where).
				WithHint("%s", diag.DidYouMean(key, known, "fields: "+strings.Join(known, ", "))))
		}
	}
}

// text is a scalar's value. Every scalar of the format is text: `name: 1` is
// the name "1". An empty value counts as absent.
func (m *mdFields) text(key string, n *tree.Node) (diag.Text, bool) {
	if n == nil || n.IsNull() {
		return diag.Text{}, false
	}
	if n.Shape != tree.Scalar {
		m.found.Add(codeHookField.Report(n.Span, "%s is %s, not text", key, n.What()))
		return diag.Text{}, false
	}
	return n.Text, true
}

func (m *mdFields) missing(key, hint string) {
	m.found.Add(codeHookMissing.Report(m.front.span, "the frontmatter has no %s", key).WithHint("%s", hint))
}

func (m *mdFields) name(h *policy.Hook, n *tree.Node) {
	before := len(m.found)
	name, ok := m.text("name", n)
	if !ok || name.Value == "" {
		if len(m.found) == before {
			m.missing("name", "add `name: "+m.folder+"`")
		}
		return
	}
	h.Name, h.Span = name.Value, name.Span
	switch {
	case !validMDName(name.Value):
		m.found.Add(codeHookValue.Report(name.Span, "the name %q is not of the format's form", name.Value).
			WithHint("use at most 64 lower-case letters and digits, joined by single hyphens"))
	case name.Value != m.folder:
		m.found.Add(codeHookFolder.Report(name.Span, "the hook is named %q and lies in the folder %q", name.Value, m.folder).
			WithHint("rename one of the two"))
	}
}

func validMDName(s string) bool {
	if s == "" || utf8.RuneCountInString(s) > 64 || strings.HasPrefix(s, "-") || strings.HasSuffix(s, "-") || strings.Contains(s, "--") {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r != '-' && (!unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.ToLower(r) != r)
	})
}

func (m *mdFields) description(h *policy.Hook, n *tree.Node) {
	before := len(m.found)
	d, ok := m.text("description", n)
	h.Description = d.Value
	switch {
	case !ok && len(m.found) == before:
		m.found.Add(codeHookValue.Report(m.front.span, "the frontmatter has no description, which the format demands").
			WithHint("add `description: what the hook does`"))
	case utf8.RuneCountInString(d.Value) > 1024:
		m.found.Add(codeHookValue.Report(d.Span, "the description is longer than 1024 characters"))
	}
}

func (m *mdFields) trigger(n *tree.Node) (policy.Event, bool) {
	before := len(m.found)
	t, ok := m.text("trigger", n)
	if !ok || t.Value == "" {
		if len(m.found) == before {
			m.missing("trigger", "add one of: "+strings.Join(mdTriggers, ", "))
		}
		return "", false
	}
	if lists.Has(mdTriggers, t.Value) {
		return policy.ParseEvent(t.Value)
	}
	m.found.Add(codeHookTrigger.Report(t.Span, "unknown trigger %q", t.Value).WithHint("%s", triggerHint(t.Value)))
	return "", false
}

// triggerHint names the trigger that was meant: the one of the event that
// another agent calls so, else the nearest by spelling.
func triggerHint(name string) string {
	meant := mdOldTriggers[name]
	if event, ok := policy.ParseEvent(name); ok && meant == "" {
		for _, t := range mdTriggers {
			if e, _ := policy.ParseEvent(t); e == event {
				meant = t
			}
		}
	}
	if meant != "" {
		return `did you mean "` + meant + `"?`
	}
	return diag.DidYouMean(name, mdTriggers, "one of: "+strings.Join(mdTriggers, ", "))
}

// matcher turns tool and pattern into conditions. A hook whose regular
// expression cannot be compiled is kept and disabled: without the condition
// it would run everywhere.
func (m *mdFields) matcher(h *policy.Hook, n *tree.Node) {
	if n == nil {
		return
	}
	if n.Shape != tree.Map {
		m.found.Add(codeHookField.Report(n.Span, "matcher is %s; it is a map of tool and pattern", n.What()).
			WithHint("write `matcher: {tool: '^Shell$'}`, or leave matcher out to match everything"))
		h.Disabled = true
		return
	}
	m.unknown(n, mdMatcherKeys, "matcher")
	h.Filter.Span = n.Span
	for _, c := range []struct {
		name string
		key  policy.FilterKey
	}{{"tool", policy.FilterToolRegexp}, {"pattern", policy.FilterLeafPattern}} {
		before := len(m.found)
		value, _ := m.text("matcher."+c.name, n.Get(c.name))
		condition := m.regexp(c.name, c.key, value)
		if len(m.found) > before {
			h.Disabled = true
			continue
		}
		if value.Value != "" {
			h.Filter.Conditions = append(h.Filter.Conditions, condition)
		}
	}
}

// regexp is the condition of a matcher, in RE2 where that can read it, else as Python's
// re does.
func (m *mdFields) regexp(name string, key policy.FilterKey, value diag.Text) policy.Condition {
	_, err := regexp.Compile(value.Value)
	if err == nil {
		return policy.Condition{Key: key, Value: value}
	}
	p, wrong := pattern.Python.Compile(value.Value)
	if wrong != nil {
		message := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		d := codeHookRegexp.Report(value.Span, "matcher.%s is no regular expression: %s", name, message)
		if strings.Contains(message, "missing closing )") || strings.Contains(message, "unexpected )") {
			d = d.WithHint(`close every ( with ); a literal parenthesis is written \(`)
		}
		m.found.Add(d)
		return policy.Condition{}
	}
	if key == policy.FilterToolRegexp {
		return nativeTest(value, policy.FieldToolName, p.Match)
	}
	c := nativeTest(value, policy.FieldToolInput, nil)
	c.Atom.Test = func(in *policy.Context) bool { return callmatch.LeafOrWhole(in, p) }
	return c
}

func (m *mdFields) timeout(h *policy.Hook, n *tree.Node) {
	h.Timeout = mdTimeout * time.Millisecond
	ms, at, ok := m.number("timeout", n, "a whole number of milliseconds")
	if !ok {
		return
	}
	if clamped := min(max(ms, mdMinTimeout), mdMaxTimeout); clamped != ms {
		m.found.Add(codeHookValue.Report(at, "timeout is %d ms; the format takes %d to %d, so %d ms are used", ms, mdMinTimeout, mdMaxTimeout, clamped))
		ms = clamped
	}
	h.Timeout, h.TimeoutSpan = time.Duration(ms)*time.Millisecond, at
}

func (m *mdFields) priority(h *policy.Hook, n *tree.Node) {
	p, at, ok := m.number("priority", n, "a whole number")
	if !ok {
		return
	}
	h.Priority = p
	if p < 0 || p > mdMaxPriority {
		m.found.Add(codeHookValue.Report(at, "priority is %d; the format takes 0 to %d", p, mdMaxPriority))
	}
}

func (m *mdFields) number(key string, n *tree.Node, want string) (int, diag.Span, bool) {
	text, ok := m.text(key, n)
	if !ok {
		return 0, diag.Span{}, false
	}
	i, err := strconv.ParseInt(text.Value, 10, 32)
	if err != nil {
		d := codeHookField.Report(text.Span, "%s is %q; it is %s", key, text.Value, want)
		if wait, err := time.ParseDuration(text.Value); key == "timeout" && err == nil && wait > 0 {
			d = d.WithHint("write %d", wait.Milliseconds())
		}
		m.found.Add(d)
		return 0, diag.Span{}, false
	}
	return int(i), text.Span, true
}

// word reports whether a value is one of some words, and that it is not. What is not
// is an error: whether the hook decides depends on it.
func (m *mdFields) word(key string, n *tree.Node, words []string) bool {
	ok := n.Shape == tree.Scalar && lists.Has(words, n.Text.Value)
	if !ok {
		m.found.Add(codeHookField.Report(n.Span, "%s is one of %s", key, strings.Join(words, ", ")).
			WithHint("%s", diag.DidYouMean(n.Text.Value, words, "")))
	}
	return ok
}

func (m *mdFields) posture(key string, n *tree.Node) policy.Posture {
	if n == nil || !m.word(key, n, append(policy.PostureNames(), "stop")) {
		return policy.PostureUnset
	}
	return postureOf(n)
}

func (m *mdFields) flag(key string, n *tree.Node) bool {
	if n == nil {
		return false
	}
	on, ok := n.Bool()
	if !ok {
		m.found.Add(codeHookField.Report(n.Span, "%s is true or false; this is %s", key, n.What()))
	}
	return on
}

func (m *mdFields) async(h *policy.Hook, n *tree.Node) {
	text, ok := m.text("async", n)
	if !ok {
		return
	}
	switch strings.ToLower(text.Value) {
	case "yes", "true", "1":
		h.Async = true
	case "no", "false", "0":
	default:
		m.found.Add(codeHookValue.Report(text.Span, "async is %q, which the format does not take for true; the hook is waited for", text.Value).
			WithHint("write true or false"))
	}
}
