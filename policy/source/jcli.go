package source

import (
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/commandline"
	"github.com/hookc/hookc/policy/source/tree"
)

// jcliReader reads files as jcli itself does (docs/reference/dialects, jcli §1.5 to
// §1.7): under its profile alone, since a hooks.yaml is otherwise read by
// hookc's own schema, which holds more and forgives less.
type jcliReader struct {
	l      *Loader
	in     *File
	source *policy.SourceFile
	config *policy.FileConfig
	// bad is the first value of a wrong type, for which jcli drops the file.
	bad *diag.Diagnostic
}

// jcliState is what jcli's files say besides hooks.
type jcliState struct {
	// disabled are the ids of hooks that do not run, ids those of hooks.
	disabled []diag.Text
	ids      map[*policy.Hook]string
}

// jcliHook is a hook on its way: jcli adds those of a file all at once.
type jcliHook struct {
	hook *policy.Hook
	id   string
}

func (l *Loader) isJCLI() bool { return l.dialect != nil && strings.HasPrefix(l.dialect.ID, "jcli") }

// readJCLI reads a hooks.yaml: a map from events to lists of hooks.
func readJCLI(l *Loader, in *File) {
	src := diag.NewSource(in.Name, in.Content)
	r := &jcliReader{l: l, in: in, source: l.Source(in, "hooksyaml"), config: &policy.FileConfig{Dir: dirOf(in.Path), Within: in.Within}}
	root, found := tree.ParseYAML(src, 0, len(in.Content))
	if root == nil && !found.HasErrors() {
		found.Add(emptySettings(src))
	}
	if !r.syntax(found) {
		return
	}
	var hooks []jcliHook
	if root.Shape != tree.Map {
		r.wrong(root.Span, "the file is %s, not a map from events to hooks", root.What())
		root = &tree.Node{Shape: tree.Map}
	}
	for _, e := range root.Entries {
		event, ok := l.dialect.Event(e.Key.Text.Value)
		switch {
		case !ok:
			r.unknownEvent(e.Key)
		case e.Value.Shape != tree.List:
			r.wrong(e.Value.Span, "%s is %s, not a list of hooks", e.Key.Text.Value, e.Value.What())
		default:
			for _, n := range e.Value.Items {
				if h := r.hook(n, jcliKeys); h != nil {
					hooks = append(hooks, r.on(h, event, jcliID(h)))
				}
			}
		}
	}
	r.add(hooks)
}

//go:noinline
func (r *jcliReader) report(d diag.Diagnostic) { r.l.Report(r.in, d) }

// syntax reports what is wrong with the text itself; false drops the file.
func (r *jcliReader) syntax(found diag.List) bool {
	if found.HasErrors() && r.l.faithful {
		for i := range found {
			found[i].Severity = diag.Warning
		}
		r.l.Report(r.in, found...)
		return false
	}
	r.l.Report(r.in, found...)
	return !found.HasErrors()
}

func (r *jcliReader) unknownEvent(k *tree.Node) {
	natives := r.l.dialect.Natives()
	r.report(codeNative.Report(k.Span, "jcli has no event %q: these hooks never run", k.Text.Value).
		WithHint("%s", diag.DidYouMean(k.Text.Value, natives, "events: "+strings.Join(natives, ", "))))
}

// wrong notes a value of a wrong type.
func (r *jcliReader) wrong(at diag.Span, format string, args ...any) {
	if r.bad == nil {
		d := r.l.dropped(at, format, args...)
		r.bad = &d
	}
}

// add adds the hooks of a file, or reports why it is dropped.
func (r *jcliReader) add(hooks []jcliHook) {
	if r.bad != nil {
		r.report(r.bad.WithHint("jcli drops %s whole; none of its hooks would run", r.in.Name))
		return
	}
	for _, h := range hooks {
		if r.l.jcli.ids == nil {
			r.l.jcli.ids = map[*policy.Hook]string{}
		}
		r.l.jcli.ids[h.hook] = h.id
		r.l.Add(r.in, h.hook)
	}
}

// on is a copy of a hook on an event.
func (r *jcliReader) on(h *policy.Hook, event policy.Event, id string) jcliHook {
	out := *h
	out.Event = event
	out.Body.Agent.Event = string(event)
	return jcliHook{&out, id}
}

// jcliID is what a hook of a hooks.yaml is called where hooks are turned off:
// the first 40 characters of what it does.
func jcliID(h *policy.Hook) string {
	text := h.Body.Command.Value
	if h.Kind == policy.KindLLM {
		text = h.Body.Prompt.Value
	}
	if runes := []rune(text); len(runes) > 40 {
		text = string(runes[:40])
	}
	return text
}

// jcliKeys are the keys of a hook; a hook folder has events besides.
var jcliKeys = []string{"type", "command", "prompt", "model", "timeout", "retry", "on_error", "filter", "runtime"}

// hook reads a hook, without its event; nil when there is none to run.
func (r *jcliReader) hook(n *tree.Node, keys []string) *policy.Hook {
	if n.Shape != tree.Map {
		r.wrong(n.Span, "a hook is a map; this is %s", n.What())
		return nil
	}
	for _, e := range n.Entries {
		if name := e.Key.Text.Value; !lists.Has(keys, name) || name == "runtime" {
			r.report(codeUnread.Report(e.Key.Span, "%q means nothing here: it is passed over", name).
				WithHint("%s", diag.DidYouMean(name, keys, "keys: "+strings.Join(keys, ", "))))
		}
	}
	h := &policy.Hook{Kind: policy.KindBash, Priority: policy.DefaultPriority, Span: itemSpan(n), Dir: r.config.Dir, File: r.config,
		Timeout: 10 * time.Second, Body: policy.Body{Protocol: policy.JCLIProtocol, Agent: policy.AgentBody{Emulate: r.l.faithful}}}
	if r.word(n, "type", "bash", "bash", "shell", "llm") == "llm" {
		h.Kind, h.Timeout, h.Retry = policy.KindLLM, 30*time.Second, 1
	}
	h.OnError = policy.OnErrorSkip
	if r.word(n, "on_error", "skip", "skip", "abort", "stop") != "skip" {
		h.OnError = policy.OnErrorAbort
	}
	h.OnTimeout = h.OnError
	if t, ok := r.count(n, "timeout"); ok {
		h.TimeoutSpan = n.Get("timeout").Span
		h.Timeout = max(time.Nanosecond, time.Duration(min(t, int(MaxDuration/time.Second)))*time.Second)
		if t == 0 {
			r.report(codeTimeout.Report(h.TimeoutSpan, "a timeout of 0 seconds fails the hook at once"))
		}
	}
	if v, ok := r.count(n, "retry"); ok {
		h.Retry = v
	}
	h.Body.Command, h.Body.Prompt, h.Body.Model = r.text(n, "command"), r.text(n, "prompt"), r.text(n, "model").Value
	h.Filter = r.filter(n.Get("filter"))
	return r.whole(h)
}

// whole is a hook that has something to do, or nil.
func (r *jcliReader) whole(h *policy.Hook) *policy.Hook {
	switch {
	case r.bad != nil: // the file is dropped; what else may be wrong does not matter
		return nil
	case h.Kind == policy.KindBash && h.Body.Command.Value == "":
		r.report(codeNative.Report(h.Span, "the hook has no command: it is passed over"))
		return nil
	case h.Kind == policy.KindLLM && h.Body.Prompt.Value == "":
		r.report(codeNative.Report(h.Span, "the hook has no prompt: it is passed over"))
		return nil
	case h.Kind == policy.KindBash && commandline.Starts(h.Body.Command.Value):
		return nil
	case h.Kind == policy.KindLLM:
		h.Body.Command = diag.Text{}
	}
	return h
}

// word is the value of a key that takes one of a few words.
func (r *jcliReader) word(n *tree.Node, key, otherwise string, words ...string) string {
	v := n.Get(key)
	switch {
	case v == nil:
		return otherwise
	case v.IsText() && lists.Has(words, v.Text.Value):
		return v.Text.Value
	case v.IsText():
		r.wrong(v.Span, "%s: %q is none of %s", key, v.Text.Value, strings.Join(words, ", "))
	default:
		r.wrong(v.Span, "%s is %s, not one of %s", key, v.What(), strings.Join(words, ", "))
	}
	return otherwise
}

// count is the value of a key that takes a number from 0 up.
func (r *jcliReader) count(n *tree.Node, key string) (int, bool) {
	v := n.Get(key)
	if v == nil {
		return 0, false
	}
	i, ok := v.Int()
	if !ok || i < 0 {
		r.wrong(v.Span, "%s is a whole number from 0 up, not %s", key, v.Text.Value)
		return 0, false
	}
	return i, true
}

// text is the value of a key that takes text; null is absent.
func (r *jcliReader) text(n *tree.Node, key string) diag.Text {
	v := n.Get(key)
	switch {
	case v == nil || v.IsNull():
		return diag.Text{}
	case !v.IsText():
		r.wrong(v.Span, "%s is %s, not text", key, v.What())
		return diag.Text{}
	}
	return v.Text
}

// filter reads a filter. tool_matcher is a list of names: no pattern of any
// kind, and nothing where tool_name is written.
func (r *jcliReader) filter(n *tree.Node) policy.Filter {
	if n == nil {
		return policy.Filter{}
	}
	if n.Shape != tree.Map {
		r.wrong(n.Span, "filter is %s, not a map", n.What())
		return policy.Filter{}
	}
	out := policy.Filter{Span: n.Span}
	for _, e := range n.Entries {
		if name := e.Key.Text.Value; !lists.Has([]string{"tool_name", "tool_matcher", "model_prefix"}, name) {
			r.report(codeUnread.Report(e.Key.Span, "%q means nothing in a filter: it is passed over", name).
				WithHint("keys: tool_name, tool_matcher, model_prefix"))
		}
	}
	name, list := n.Get("tool_name"), n.Get("tool_matcher")
	if t := r.text(n, "tool_name"); name != nil && !name.IsNull() {
		out.Conditions = append(out.Conditions, policy.Condition{Key: policy.FilterToolName, Value: t})
	}
	if t := r.text(n, "tool_matcher"); list != nil && !list.IsNull() && (name == nil || name.IsNull()) {
		out.Conditions = append(out.Conditions, r.names(t))
	}
	if t := r.text(n, "model_prefix"); !t.IsZero() {
		out.Conditions = append(out.Conditions, policy.Condition{Key: policy.FilterModelPrefix, Value: t})
	}
	return out
}

func (r *jcliReader) names(t diag.Text) policy.Condition {
	var names []string
	for _, part := range strings.Split(t.Value, "|") {
		names = append(names, strings.TrimSpace(part))
	}
	if strings.ContainsAny(t.Value, "*.^$?[](){}+\\") {
		r.report(codeLiteral.Report(t.Span, "tool_matcher is a list of names: in %q every character means itself", t.Value).
			WithHint("write the names: Edit|Write"))
	}
	return nativeNames(t, policy.FieldToolName, names...)
}

// jcliFinish turns off the hooks that the user's configuration names.
func (l *Loader) jcliFinish() {
	known := map[string]bool{}
	for _, h := range l.policy.Hooks {
		id := h.Tier.String() + ":" + l.jcli.ids[h]
		known[id] = true
		if i := slices.IndexFunc(l.jcli.disabled, func(t diag.Text) bool { return t.Value == id }); i >= 0 {
			h.Disabled = true
			l.diags.Add(codeReplaced.Report(l.jcli.disabled[i].Span, "%s is turned off here", id))
		}
	}
}
