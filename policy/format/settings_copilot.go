package format

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/pattern"
)

// The files of hooks of Copilot CLI (docs/dialects, copilot §4.4).
var _ = registerSettings(settings{
	id: "copilot", doc: ".github/hooks/*.json of Copilot CLI",
	files: []string{"policy.d/*.json"},
	root:  copilotRoot, matcher: copilotMatcher, body: copilotBody, hook: copilotHook, finish: copilotFinish,
})

func copilotRoot(r *settingsReader, root *Node) *Node {
	r.noteSwitch(root.Get("disableAllHooks"), "disableAllHooks")
	return root.Get("hooks")
}

// copilotMatcher is a regular expression for the whole of a tool's name.
func copilotMatcher(r *settingsReader, event policy.Event, native string, n *Node) ([]policy.Condition, bool) {
	m := n.Get("matcher")
	switch {
	case m == nil || m.IsNull():
		return nil, true
	case !m.IsText():
		r.report(codeNative.Report(m.Span, "a matcher is text; this is %s: the hook is passed over", m.what()))
		return nil, false
	case m.Text.Value == "":
		return nil, true
	}
	f := policy.FieldToolName
	switch {
	case event == policy.Notify:
		f = policy.FieldNotificationType
	case event == policy.SubagentStart || event == policy.SubagentStop:
		f = policy.FieldSubagentName
	case !event.Spec().CanRead(f):
		r.report(codeNative.Report(m.Span, "%s has nothing to match: the matcher is passed over and the hook always runs", native))
		return nil, true
	}
	p, err := pattern.ECMAScript.Compile("^(?:" + m.Text.Value + ")$")
	if err != nil {
		r.report(codeNative.Report(m.Span, "%q is no regular expression (%v): the hook is passed over", m.Text.Value, err))
		return nil, false
	}
	r.knownPattern(m.Text, f, p)
	test := p.Match
	if native[0] >= 'A' && native[0] <= 'Z' { // it may name the tool as Claude Code does
		test = func(tool string) bool { return p.Match(tool) || p.Match(copilotTools[tool]) }
	}
	c := nativeTest(m.Text, f, test)
	c.Atom.Values = append(c.Atom.Values, native) // the same words may mean another test
	return []policy.Condition{c}, true
}

// copilotTools are Claude Code's names of Copilot's tools, which hooks under
// PascalCase names of their events go by.
var copilotTools = map[string]string{
	"bash": "Bash", "view": "Read", "create": "Write", "edit": "Edit", "grep": "Grep", "glob": "Glob", "web_fetch": "WebFetch", "task": "Task",
}

// copilotBody takes the command for this system: bash, powershell, command, or
// a program with its arguments.
func copilotBody(r *settingsReader, native string, n *Node, h *policy.Hook) bool {
	if kind := n.Get("type"); kind != nil && (!kind.IsText() || kind.Text.Value != "command") {
		r.report(codeUnrun.Report(kind.Span, "hookc runs commands of Copilot and nothing else: the hook fails each time and is in every decision"))
		h.Body.Command = diag.Literal("echo 'hookc runs no such hooks of Copilot' >&2; exit 1")
		return true
	}
	keys := []string{"bash", "command"}
	if runtime.GOOS == "windows" {
		keys = []string{"powershell", "command"}
	}
	for _, key := range keys {
		if c := n.Get(key); c != nil && c.IsText() && strings.TrimSpace(c.Text.Value) != "" {
			h.Body.Command = c.Text
			if key == "powershell" {
				h.Body.Args = []string{"pwsh", "-NoProfile", "-Command", c.Text.Value}
			}
			return !ourselves(c.Text.Value)
		}
	}
	exec := n.Get("exec")
	if exec == nil || !exec.IsText() || exec.Text.Value == "" {
		r.report(codeNative.Report(itemSpan(n), "the hook has no command for this system: it is passed over"))
		return false
	}
	words := []string{claudeWord(exec.Text.Value)}
	if args := n.Get("args"); args != nil {
		for _, a := range args.Items {
			words = append(words, claudeWord(a.Text.Value))
		}
	}
	h.Body.Command = diag.NewText("exec "+strings.Join(words, " "), exec.Text.Span, nil)
	return !ourselves(strings.TrimPrefix(h.Body.Command.Value, "exec "))
}

// copilotHook reads what stands beside the command. Before a tool the failure
// of a command refuses, its timeout does not.
func copilotHook(r *settingsReader, native string, _, n *Node, h *policy.Hook) bool {
	if t := n.Get("timeoutSec"); t != nil {
		h.TimeoutSpan = t.Span
		if v, ok := t.Float(); ok && v > 0 && v < maxDuration.Seconds() {
			h.Timeout = time.Duration(v * float64(time.Second))
		}
	} else if t := n.Get("timeout"); t != nil {
		r.report(codeNative.Report(t.Span, "the time is called timeoutSec: timeout is passed over"))
		h.Timeout = r.place.Standard
	}
	r.inSeconds(h)
	if h.Event == policy.PreToolExecution {
		h.OnError = policy.OnErrorDeny
	}
	if cwd := n.Get("cwd"); cwd != nil && cwd.IsText() && cwd.Text.Value != "" {
		h.Body.WorkDir = absolute(copilotBase(r), cwd.Text.Value)
	}
	if env := n.Get("env"); env != nil && env.Shape == Map {
		for _, e := range env.Entries {
			h.Body.Env = append(h.Body.Env, policy.EnvVar{Name: e.Key.Text.Value, Value: e.Value.Text.Value})
		}
	}
	return true
}

// copilotBase is the folder that a hook's cwd starts from: that which holds
// .github, or the folder of the file.
func copilotBase(r *settingsReader) string {
	if parent := filepath.Dir(r.config.Dir); filepath.Base(parent) == ".github" {
		return filepath.Dir(parent)
	}
	return r.config.Dir
}

// copilotFinish: disableAllHooks of a file switches off that of its tier's
// files and of those below it.
func copilotFinish(l *Loader, hooks []*policy.Hook) []*policy.Hook {
	s, found := l.switched("copilot", "disableAllHooks", policy.TierManaged, policy.TierProject, policy.TierUser)
	if !found || !s.on {
		return hooks
	}
	return l.switchOff(slices.Clone(hooks), s, func(h *policy.Hook) bool { return h.Tier != policy.TierManaged || s.tier == policy.TierManaged })
}
