package format

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/pattern"
)

// Codex's hooks.json, and the hooks in its config.toml, which are written
// alike (docs/dialects, codex §4.1).
var _ = registerSettings(settings{
	id: "codex", doc: "hooks.json and config.toml of Codex",
	root: codexRoot, matcher: codexMatcher, body: codexBody, hook: codexHook, finish: codexFinish,
})

// codexRoot looks at the feature that switches hooks off.
func codexRoot(r *settingsReader, root *Node) *Node {
	if features := root.Get("features"); features != nil && features.Shape == Map {
		r.noteSwitch(features.Get("hooks"), "features.hooks")
	}
	hooks := root.Get("hooks")
	if hooks == nil || hooks.Shape != Map || hooks.Get("state") == nil {
		return hooks
	}
	rest := *hooks // what Codex keeps beside them is no event: which hooks are trusted
	rest.Entries = nil
	for _, e := range hooks.Entries {
		if e.Key.Text.Value != "state" {
			rest.Entries = append(rest.Entries, e)
		}
	}
	return &rest
}

var codexNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_|]*$`) })

// codexMatcher is a list of names, or an unanchored regular expression as
// Rust has them: much as Go does, without look-around.
func codexMatcher(r *settingsReader, event policy.Event, native string, group *Node) ([]policy.Condition, bool) {
	m := group.Get("matcher")
	switch {
	case m == nil || m.IsNull():
		return nil, true
	case !m.IsText():
		r.report(codeNative.Report(m.Span, "a matcher is text; this is %s: the group is dropped", m.what()))
		return nil, false
	case m.Text.Value == "" || m.Text.Value == "*":
		return nil, true
	}
	f := policy.FieldToolName
	switch {
	case event == policy.SessionStart:
		f = policy.FieldSource
	case event == policy.PreAutoCompact || event == policy.PostAutoCompact:
		f = policy.FieldTrigger
	case event == policy.SubagentStart || event == policy.SubagentStop:
		f = policy.FieldSubagentType
	case event == policy.SessionEnd:
		f = policy.FieldReason
	case !event.Spec().CanRead(f):
		r.report(codeNative.Report(m.Span, "%s has nothing to match: the matcher is passed over and the hooks always run", native))
		return nil, true
	}
	text := m.Text.Value
	if codexNames().MatchString(text) {
		names := strings.Split(text, "|")
		r.knownNames(m.Text, f, names)
		if event == policy.PreToolExecution && !slices.Contains(names, "Bash") && slices.ContainsFunc(names, codexEdits) {
			r.report(codeMatcher.Report(m.Span, "a patch that Codex makes through the shell is a call of Bash: these hooks do not see it").
				WithHint("add |Bash, and look at the command"))
		}
		return []policy.Condition{nativeNames(m.Text, f, names...)}, true
	}
	p, err := pattern.RE2.Compile(text)
	if err != nil {
		r.report(codeNative.Report(m.Span, "%q is no regular expression for Codex (%v): the group is dropped", text, err))
		return nil, false
	}
	r.knownPattern(m.Text, f, p)
	return []policy.Condition{nativePattern(m.Text, f, p)}, true
}

// codexEdits reports whether a name stands for the tool that changes files.
func codexEdits(name string) bool { return name == "apply_patch" || name == "Edit" || name == "Write" }

// codexBody takes commands; Codex passes over prompts with a warning.
func codexBody(r *settingsReader, native string, n *Node, h *policy.Hook) bool {
	kind := n.Get("type")
	switch {
	case kind == nil || !kind.IsText():
		r.report(codeNative.Report(itemSpan(n), "the hook has no type: it is passed over").WithHint(`write type = "command"`))
		return false
	case kind.Text.Value != "command":
		r.report(codeNative.Report(kind.Span, "Codex runs no hooks of type %q: it is passed over", kind.Text.Value))
		return false
	}
	return r.command(n, h)
}

// codexHook: a hook that is not waited for cannot block.
func codexHook(r *settingsReader, native string, _, n *Node, h *policy.Hook) bool {
	r.inSeconds(h)
	if on, _ := boolOf(n.Get("async")); on {
		h.Async = true
		if h.Event.Spec().Guarded() {
			r.report(codeNative.Report(n.Get("async").Span, "an async hook decides nothing at %s: the action does not wait for it", native))
		}
	}
	return true
}

// codexFinish: one file that switches hooks off does so for all; of several
// the nearest to the project counts.
func codexFinish(l *Loader, hooks []*policy.Hook) []*policy.Hook {
	s, found := l.switched("codex", "features.hooks", policy.TierManaged, policy.TierProject, policy.TierUser)
	l.races(hooks)
	if !found || s.on {
		return hooks
	}
	return l.switchOff(hooks, s, func(*policy.Hook) bool { return true })
}
