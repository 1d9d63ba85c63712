package format

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/pattern"
)

// Claude Code's settings.json (docs/dialects, claude §4.2, §4.5 to §4.7), and
// the hooks.json of its plugins, which is written alike.
var _ = registerSettings(settings{
	id: "claude", doc: "settings.json of Claude Code",
	also: claudePlugin,
	root: claudeRoot, matcher: claudeMatcher, body: claudeBody, hook: claudeHook, finish: claudeFinish,
})

// claudePlugin reports whether a file is the hooks.json of a plugin.
func claudePlugin(in *File) bool {
	root := filepath.Dir(filepath.Dir(in.Path))
	return filepath.Base(in.Path) == "hooks.json" && filepath.Base(filepath.Dir(in.Path)) == "hooks" && exists(filepath.Join(root, ".claude-plugin"))
}

func claudeRoot(r *settingsReader, root *Node) *Node {
	r.noteSwitch(root.Get("disableAllHooks"), "disableAllHooks")
	if r.in.Tier == policy.TierManaged {
		r.noteSwitch(root.Get("allowManagedHooksOnly"), "allowManagedHooksOnly")
	}
	return root.Get("hooks")
}

// claudeMatched says what a matcher looks at: a field, or where there is none
// a key the agent sends that has no name here.
var claudeMatched = map[string]struct {
	field policy.Field
	raw   string
}{
	"SessionStart": {field: policy.FieldSource}, "Setup": {field: policy.FieldTrigger}, "SessionEnd": {field: policy.FieldReason},
	"InstructionsLoaded": {raw: "load_reason"}, "UserPromptExpansion": {raw: "command_name"},
	"PreToolUse": {field: policy.FieldToolName}, "PermissionRequest": {field: policy.FieldToolName},
	"PermissionDenied": {field: policy.FieldToolName}, "PostToolUse": {field: policy.FieldToolName},
	"PostToolUseFailure": {field: policy.FieldToolName}, "Notification": {field: policy.FieldNotificationType},
	"SubagentStart": {field: policy.FieldSubagentType}, "SubagentStop": {field: policy.FieldSubagentType},
	"StopFailure": {field: policy.FieldErrorType}, "ConfigChange": {field: policy.FieldSource}, "DirectoryAdded": {field: policy.FieldSource},
	"FileChanged": {raw: "file_path"}, "PreCompact": {field: policy.FieldTrigger}, "PostCompact": {field: policy.FieldTrigger},
	"PreModelSwitch": {raw: "to_model"}, "PostModelSwitch": {raw: "to_model"},
	"Elicitation": {raw: "mcp_server_name"}, "ElicitationResult": {raw: "mcp_server_name"},
}

var (
	claudeList  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_\- ,|]*$`) })
	claudePlain = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_|]*$`) })
)

// claudeMatcher is a list of names, or an unanchored regular expression where
// anything but letters, digits and a few signs stands in it. A value that is
// not there is not looked at: the hooks run.
func claudeMatcher(r *settingsReader, event policy.Event, native string, group *Node) ([]policy.Condition, bool) {
	m := group.Get("matcher")
	at, matched := claudeMatched[native]
	switch {
	case m == nil || m.IsNull():
		return nil, true
	case !m.IsText():
		r.report(codeNative.Report(m.Span, "a matcher is text; this is %s: the group is passed over", m.what()))
		return nil, false
	case m.Text.Value == "" || m.Text.Value == "*":
		return nil, true
	case !matched:
		r.report(codeNative.Report(m.Span, "%s has nothing to match: the matcher is passed over and the hooks always run", native))
		return nil, true
	}
	list, separators := claudeList, ",|"
	if native == "FileChanged" || native == "StopFailure" {
		list, separators = claudePlain, "|"
	}
	text := m.Text.Value
	if list().MatchString(text) {
		names := strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(separators, c) })
		for i := range names {
			names[i] = strings.TrimSpace(names[i])
		}
		return []policy.Condition{claudeNames(r, m.Text, at.field, at.raw, names)}, true
	}
	p, err := pattern.ECMAScript.Compile(text)
	if err != nil {
		r.report(codeNative.Report(m.Span, "%q is no regular expression (%v): these hooks never run", text, err))
		return nil, false
	}
	if at.raw == "" {
		r.knownPattern(m.Text, at.field, p)
	}
	c := claudeTest(m.Text, at.field, at.raw, p.Match)
	if c.Atom.Field == policy.FieldToolName {
		c.Atom.Literals = p.Literals()
	}
	return []policy.Condition{c}, true
}

// claudeNames is the condition that a value is one of several names. Agent was
// once called Task.
func claudeNames(r *settingsReader, written diag.Text, f policy.Field, raw string, names []string) policy.Condition {
	if raw == "" && f == policy.FieldToolName {
		if slices.Contains(names, "Task") && !slices.Contains(names, "Agent") {
			names = append(names, "Agent")
		}
		r.knownNames(written, f, names)
		for _, name := range names {
			if strings.HasPrefix(name, "mcp__") && strings.Count(name, "__") == 1 {
				r.report(codeNative.Report(written.Span, "%q is the name of an MCP server and no tool's: these hooks never run for it", name).
					WithHint("write %s__.* for all of its tools", name))
			}
		}
		return nativeNames(written, f, names...)
	}
	return claudeTest(written, f, raw, func(s string) bool { return slices.Contains(names, s) })
}

// claudeTest is the condition that a value passes a test, or is not there.
func claudeTest(written diag.Text, f policy.Field, raw string, test func(string) bool) policy.Condition {
	if raw == "" {
		c := nativeTest(written, f, test)
		plain := c.Atom.Test
		if f != policy.FieldToolName {
			c.Atom.Test = func(in *policy.Context) bool { return !in.Has(f) || plain(in) }
		}
		return c
	}
	return policy.Condition{Key: policy.FilterNative, Value: written, Atom: &policy.Atom{
		Op: policy.AtomMatch, Field: policy.FieldRaw, Values: []string{written.Value}, Reads: []policy.Field{policy.FieldRaw},
		Test: func(in *policy.Context) bool {
			v, _ := in.Get(policy.FieldRaw)
			m, _ := v.(map[string]any)
			s, ok := m[raw].(string)
			if raw == "file_path" {
				s = path.Base(s)
			}
			return !ok || test(s)
		},
	}}
}

// claudeHook settles what a hook has besides what it does: its condition, its
// time, whether it is waited for, and what a failure of it means.
func claudeHook(r *settingsReader, native string, _, n *Node, h *policy.Hook) bool {
	old := policy.Protocol(r.dialect.ID) == "claude@2.1.240"
	if n.Get("timeout") == nil {
		h.Timeout = claudeTimeout(native, h, old)
	}
	r.inSeconds(h)
	if native == "SessionEnd" {
		h.Timeout = min(h.Timeout, time.Minute)
	}
	if native == "PreModelSwitch" {
		h.OnTimeout = policy.OnErrorDeny
	}
	if !claudeCondition(r, native, n, h) {
		return false
	}
	claudeOnce(r, n)
	claudeAsync(r, native, n, h, old)
	claudeOnFailure(r, native, n, h, old)
	r.l.handler(h, n, "if")
	if claudePlugin(r.in) { // what a plugin brings is never the same as another's
		root := filepath.Dir(r.config.Dir)
		h.Body.Env = append(h.Body.Env, policy.EnvVar{Name: "CLAUDE_PLUGIN_ROOT", Value: root})
		r.l.handlers[h] += "\x00" + root
	}
	return true
}

// claudeTimeout is how long a hook has that names no time.
func claudeTimeout(native string, h *policy.Hook, old bool) time.Duration {
	switch {
	case native == "SessionEnd":
		return 1500 * time.Millisecond
	case native == "MessageDisplay":
		return 10 * time.Second
	case native == "UserPromptSubmit", strings.HasSuffix(native, "ModelSwitch") && !old, h.Kind == policy.KindLLM:
		return 30 * time.Second
	}
	return 10 * time.Minute
}

func claudeOnce(r *settingsReader, n *Node) {
	if once := n.Get("once"); once != nil {
		if on, ok := once.Bool(); !ok || on {
			r.report(codeNative.Report(once.Span, "once counts in a skill alone: the hook runs every time"))
		}
	}
}

// claudeAsync: a hook that is not waited for. What one says later, and the
// waking of the agent, do not pass through hookc.
func claudeAsync(r *settingsReader, native string, n *Node, h *policy.Hook, old bool) {
	for _, key := range []string{"async", "asyncRewake"} {
		v := n.Get(key)
		if v == nil {
			continue
		}
		if on, ok := v.Bool(); !ok || !on {
			continue
		}
		h.Async = true
		if key == "asyncRewake" {
			r.report(codeUnrun.Report(v.Span, "the hook runs, but cannot wake Claude Code through hookc"))
		}
		if e := h.Event.Spec(); key == "async" && e.Guarded() {
			r.report(codeNative.Report(v.Span, "an async hook decides nothing at %s: the action does not wait for it", native))
		}
		if key == "async" && !old {
			h.Timeout = maxDuration // its timeout is not enforced
		}
	}
}

// claudeConditional are the events at which a hook may have an if.
var claudeConditional = []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"}

func claudeCondition(r *settingsReader, native string, n *Node, h *policy.Hook) bool {
	v := n.Get("if")
	switch {
	case v == nil || v.IsNull():
		return true
	case !v.IsText():
		r.report(codeNative.Report(v.Span, "if is a permission rule; this is %s: the hook is passed over", v.what()))
		return false
	case !slices.Contains(claudeConditional, native):
		r.report(codeNative.Report(v.Span, "a hook with if never runs at %s, which is about no tool", native).
			WithHint("take if: out; it works at %s", strings.Join(claudeConditional, ", ")))
		return false
	}
	c, ok := claudeIf(v.Text, r.faithful())
	if !ok {
		r.report(codeNative.Report(v.Span, "%q is no permission rule such as Bash(git *): the condition is passed over and the hook runs", v.Text.Value))
		return true
	}
	h.Filter.Conditions = append(h.Filter.Conditions, c)
	return true
}

// claudeUngated are the events whose hooks onFailure does not concern.
var claudeUngated = []string{"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"}

func claudeOnFailure(r *settingsReader, native string, n *Node, h *policy.Hook, old bool) {
	v := n.Get("onFailure")
	if v == nil {
		return
	}
	switch {
	case old:
		r.report(codeNative.Report(v.Span, "Claude Code %s does not know onFailure: the action goes on when the hook fails", r.dialect.Version))
	case !v.IsText() || v.Text.Value != "block" && v.Text.Value != "continue":
		r.report(codeNative.Report(v.Span, "onFailure is continue or block: it is passed over"))
	case v.Text.Value == "continue":
	case h.Async || slices.Contains(claudeUngated, native):
		r.report(codeNative.Report(v.Span, "onFailure has no effect here"))
	default:
		h.OnError, h.OnTimeout, h.Body.Agent.Strict = policy.OnErrorDeny, policy.OnErrorDeny, true
	}
}
