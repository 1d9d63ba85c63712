package format

import (
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/pattern"
)

// Gemini CLI's settings.json, and hooks.json of its extensions (docs/dialects,
// gemini §1.5, §1.6).
var _ = registerSettings(settings{
	id: "gemini", doc: "settings.json of Gemini CLI",
	comments: true,
	root:     geminiRoot, matcher: geminiMatcher, hook: geminiHook, finish: forkFinish,
})

// geminiOldKeys stood inside hooks in releases before hooksConfig.
var geminiOldKeys = []string{"enabled", "disabled", "notifications"}

// geminiRoot reads the switches. What an untrusted file switches does not
// count, nor what an extension does.
func geminiRoot(r *settingsReader, root *Node) *Node {
	config := root.Get("hooksConfig")
	if config != nil && config.Shape == Map && r.in.Untrusted == "" && r.in.Tier != policy.TierExtension {
		if n := config.Get("enabled"); n != nil {
			if on, ok := n.Bool(); ok {
				r.l.fork.off = diag.Span{}
				if !on {
					r.l.fork.off = n.Span
				}
			}
		}
		r.forkDisabled(config.Get("disabled"))
	}
	return r.withoutOldKeys(root.Get("hooks"), "hooksConfig")
}

// withoutOldKeys is the map of events without the switches that stood in it in
// older releases.
func (r *settingsReader) withoutOldKeys(hooks *Node, now string) *Node {
	if hooks == nil || hooks.Shape != Map {
		return hooks
	}
	known := *hooks
	known.Entries = nil
	for _, e := range hooks.Entries {
		if slices.Contains(geminiOldKeys, e.Key.Text.Value) {
			r.report(codeNative.Report(e.Key.Span, "hooks.%s is passed over", e.Key.Text.Value).WithHint("%s takes its place", now))
			continue
		}
		known.Entries = append(known.Entries, e)
	}
	return &known
}

func (r *settingsReader) forkDisabled(list *Node) {
	if list == nil || list.Shape != List {
		return
	}
	for _, n := range list.Items {
		if n.IsText() {
			r.l.fork.disabled = append(r.l.fork.disabled, n.Text)
		}
	}
}

// geminiHook finishes a hook: its type, name, environment, timeout and group.
func geminiHook(r *settingsReader, native string, group, n *Node, h *policy.Hook) bool {
	kind := ""
	if t := n.Get("type"); t != nil && t.IsText() {
		kind = t.Text.Value
	}
	switch kind {
	case "command", "plugin":
	case "":
		r.report(codeNative.Report(itemSpan(n), "the hook has no type: it is passed over").WithHint(`write "type": "command"`))
		return false
	default:
		r.report(codeNative.Report(n.Get("type").Span, "a hook of type %q never runs", kind).WithHint(`write "type": "command"`))
		return false
	}
	r.forkTimeout(n.Get("timeout"), h)
	forkEnv(n.Get("env"), h)
	r.hydrate(h)
	f := &forkFacts{id: h.Description, key: h.Description + ":" + h.Body.Command.Value}
	if f.id == "" {
		f.id = h.Body.Command.Value
	}
	if kind == "plugin" { // its command is neither a name nor part of what makes it one
		f.key = h.Description + ":"
		if h.Description == "" {
			f.id = "unknown-hook"
		}
	}
	f.sequential, f.broken = isTrue(group.Get("sequential")), r.brokenMatcher(group, h)
	r.l.fork.note(h, f)
	return true
}

func isTrue(n *Node) bool {
	if n == nil {
		return false
	}
	on, ok := n.Bool()
	return ok && on
}

// brokenMatcher is a matcher that is no text and counts as one: the agent's
// planner throws on it, at events that give it something to match.
func (r *settingsReader) brokenMatcher(group *Node, h *policy.Hook) diag.Span {
	m := group.Get("matcher")
	if m == nil || m.IsText() || !counts(m) || !geminiMatches(h.Event) {
		return diag.Span{}
	}
	return m.Span
}

// counts is JavaScript's opinion of a value that is no text.
func counts(n *Node) bool {
	if n.Shape != Scalar {
		return true
	}
	if on, ok := n.Bool(); ok {
		return on
	}
	v, ok := n.Float()
	return ok && v != 0
}

// geminiMatches reports whether an event has something a matcher is held
// against.
func geminiMatches(e policy.Event) bool {
	_, trigger := geminiTriggers[e]
	return trigger || e.Spec().CanRead(policy.FieldToolName)
}

// notText reports a matcher that is no text.
func (r *settingsReader) notText(m *Node, native string) {
	what := "here it matches all"
	if r.faithful() {
		what = "and so does --faithful"
	}
	r.report(codeMatcher.Report(m.Span, "a matcher is text; at this one %s gives up on every hook of %s, %s", r.id, native, what).
		WithHint("write the tools' names as one text, such as write_file|replace"))
}

// forkTimeout reads a timeout as setTimeout does: what is no number, or out of
// range, fires at once. A guard would then never speak, so that counts only
// for --faithful.
func (r *settingsReader) forkTimeout(n *Node, h *policy.Hook) {
	if n == nil || n.IsNull() {
		return
	}
	ms, ok := n.Float()
	if !ok && n.IsText() {
		var err error
		ms, err = strconv.ParseFloat(strings.TrimSpace(n.Text.Value), 64)
		ok = err == nil
	}
	switch {
	case !ok || ms < 1 || ms > math.MaxInt32:
		what := "the standard timeout holds instead"
		if h.Timeout = r.place.Standard; r.faithful() {
			h.Timeout, what = time.Nanosecond, "so does --faithful"
		}
		r.report(codeTimeout.Report(n.Span, "a timeout is a number of milliseconds up to %d; %s ends this hook before it can speak, %s", math.MaxInt32, r.id, what).
			WithHint("write a number such as %d", r.place.Standard.Milliseconds()))
		return
	case ms < 150:
		r.report(codeTimeout.Report(n.Span, "the hook has %s ms: few commands can answer in that time", n.Text.Value).
			WithHint("a timeout of %s counts milliseconds: did you mean %s000?", r.id, n.Text.Value))
	}
	h.Timeout = min(time.Duration(ms*float64(time.Millisecond)), maxDuration)
}

func forkEnv(n *Node, h *policy.Hook) {
	if n == nil || n.Shape != Map {
		return
	}
	for _, e := range n.Entries {
		value := e.Value.Text.Value
		if e.Value.Shape != Scalar {
			continue
		}
		h.Body.Env = append(h.Body.Env, policy.EnvVar{Name: e.Key.Text.Value, Value: value})
	}
}

// hydrate writes an extension's own variables into its commands.
func (r *settingsReader) hydrate(h *policy.Hook) {
	if r.in.Tier != policy.TierExtension {
		return
	}
	sep := string(filepath.Separator)
	text := strings.NewReplacer("${extensionPath}", filepath.Dir(filepath.Dir(r.in.Path)), "${/}", sep, "${pathSeparator}", sep).
		Replace(h.Body.Command.Value)
	if text != h.Body.Command.Value {
		h.Body.Command = diag.Text{Value: text, Span: h.Body.Command.Span}
	}
}

// geminiTriggers are the events whose matcher is compared with a field, as a
// whole, and the values the agent is known to send.
var geminiTriggers = map[policy.Event]struct {
	field  policy.Field
	values []string
}{
	policy.SessionStart:   {policy.FieldSource, []string{"startup", "resume", "clear"}},
	policy.SessionEnd:     {policy.FieldReason, []string{"exit", "clear"}},
	policy.PreAutoCompact: {policy.FieldTrigger, []string{"auto", "manual"}},
}

// geminiMatcher is an unanchored regular expression on the tool's name; one
// that cannot be read is a name. On a trigger it is a word.
func geminiMatcher(r *settingsReader, event policy.Event, native string, group *Node) ([]policy.Condition, bool) {
	m := group.Get("matcher")
	if m == nil {
		return nil, true
	}
	if !m.IsText() {
		if counts(m) && geminiMatches(event) {
			r.notText(m, native)
		}
		return nil, true
	}
	text := strings.TrimSpace(m.Text.Value)
	if text == "" || text == "*" {
		return nil, true
	}
	trigger, ok := geminiTriggers[event]
	switch {
	case event.Spec().CanRead(policy.FieldToolName):
		return []policy.Condition{r.toolPattern(m.Text, text)}, true
	case !ok:
		r.report(codeMatcher.Report(m.Span, "%s looks at no matcher: these hooks always run", native).WithHint("remove it"))
		return nil, true
	}
	if !slices.Contains(trigger.values, text) {
		r.report(codeMatcher.Report(m.Span, "the matcher of %s is compared as a whole with %s, which is never %q: these hooks never run", native, trigger.field, text).
			WithHint("write one group for each of %s", strings.Join(trigger.values, ", ")))
	}
	return []policy.Condition{orAbsent(m.Text, trigger.field, func(s string) bool { return s == text })}, true
}

// orAbsent is nativeTest where a text that is absent or empty matches.
func orAbsent(written diag.Text, f policy.Field, test func(string) bool) policy.Condition {
	c := nativeTest(written, f, test)
	holds := c.Atom.Test
	c.Atom.Test = func(in *policy.Context) bool { return in.Text(f) == "" || holds(in) }
	return c
}

// textPattern is an unanchored regular expression on a text, or a word when it
// cannot be read as one.
func (r *settingsReader) textPattern(m *Node, text string) func(string) bool {
	p, err := pattern.ECMAScript.Compile(text)
	if err != nil {
		r.report(codeMatcher.Report(m.Span, "%q is no regular expression (%v): it is compared as a whole", text, err))
		return func(s string) bool { return s == text }
	}
	return p.Match
}

// toolPattern is the condition on a tool's name, and what is odd about it.
func (r *settingsReader) toolPattern(written diag.Text, text string) policy.Condition {
	p, err := pattern.ECMAScript.Compile(text)
	if err != nil {
		r.report(codeMatcher.Report(written.Span, "%q is no regular expression (%v): it is taken for a tool's name, and these hooks run for no other", text, err).
			WithHint("%s", r.instead(text)))
		return nativeNames(written, policy.FieldToolName, text)
	}
	if !r.mayMatch(p) {
		r.report(codeMatcher.Report(written.Span, "%q matches no tool of %s that hookc knows: these hooks may never run", text, r.id).
			WithHint("%s", r.instead(text)))
	}
	if names, ok := exactNames(text); ok {
		return nativeNames(written, policy.FieldToolName, names...)
	}
	return nativePattern(written, policy.FieldToolName, p)
}
