package source

import (
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

// agentHooksState is what files of the Agent Hooks format say besides hooks.
type agentHooksState struct {
	files []*agentHooksFile
	// own tells of each hook which fields its own file has.
	own map[*policy.Hook]func(field string) bool
}

// wrote reports whether a hook's own file has a field.
//
//go:noinline
func (s *agentHooksState) wrote(h *policy.Hook, field string) bool {
	return s.own[h] != nil && s.own[h](field)
}

// agentHooksFile is a hooks.toml: switches, defaults, and what it changes about
// hooks by their names. Nobody but hookc reads it (docs/reference/dialects, agenthooks
// §2.6).
type agentHooksFile struct {
	in      *File
	enabled *tree.Node
	timeout *tree.Node
	async   *tree.Node
	// onError and onTimeout hold for hooks that do not say otherwise.
	onError, onTimeout policy.Posture
	disable            []diag.Text
	override           []*tree.Node
}

// This format reads the hooks.toml beside the folder of hooks.
var _ = register(Format{
	Name:  "hookstoml",
	Doc:   "hooks.toml of the Agent Hooks format: defaults and overrides by name",
	Match: func(in *File) bool { return !in.Folder && filepath.Base(in.Path) == "hooks.toml" },
	Read:  readHooksTOML,
})

func readHooksTOML(l *Loader, in *File) {
	l.Source(in, "hookstoml")
	root, found := tree.ParseTOML(diag.NewSource(in.Name, in.Content))
	l.Report(in, found...)
	if root == nil {
		return
	}
	f := &agentHooksFile{in: in}
	t := tomlReader{l, in}
	t.keys(root, "hooks")
	hooks := root.Get("hooks")
	if hooks == nil || !t.is(hooks, tree.Map, "hooks", "a table") {
		return
	}
	t.keys(hooks, "enabled", "debug", "defaults", "disable", "override")
	f.enabled = t.boolean(hooks, "enabled")
	t.boolean(hooks, "debug")
	if d := hooks.Get("defaults"); d != nil && t.is(d, tree.Map, "hooks.defaults", "a table") {
		t.keys(d, "timeout", "async", "on_error", "on_timeout")
		f.timeout, f.async = t.number(d, "timeout", mdMinTimeout, mdMaxTimeout), t.boolean(d, "async")
		f.onError, f.onTimeout = t.posture(d, "on_error"), t.posture(d, "on_timeout")
	}
	for _, n := range t.tables(hooks, "disable") {
		t.keys(n, "name")
		if name := t.name(n); name != nil {
			f.disable = append(f.disable, name.Text)
		}
	}
	for _, n := range t.tables(hooks, "override") {
		t.keys(n, "name", "priority", "timeout", "async", "on_error", "on_timeout", "locked", "enforcement", "rollout")
		if t.name(n) != nil {
			t.number(n, "priority", 0, mdMaxPriority)
			t.number(n, "timeout", mdMinTimeout, mdMaxTimeout)
			t.boolean(n, "async")
			t.boolean(n, "locked")
			t.posture(n, "on_error")
			t.posture(n, "on_timeout")
			t.enforcement(n)
			f.override = append(f.override, n)
		}
	}
	if in.Untrusted == "" {
		l.agentHooks.files = append(l.agentHooks.files, f)
	}
}

// tomlReader reads the values of a hooks.toml and reports those of a wrong
// type.
type tomlReader struct {
	l  *Loader
	in *File
}

func (t tomlReader) is(n *tree.Node, s tree.Shape, name, want string) bool {
	if n.Shape != s {
		t.l.Report(t.in, tree.CodeType.Report(n.Span, "%s is %s; this is %s", name, want, n.What()))
	}
	return n.Shape == s
}

func (t tomlReader) keys(n *tree.Node, known ...string) {
	for _, e := range n.Entries {
		if name := e.Key.Text.Value; !lists.Has(known, name) {
			t.l.Report(t.in, codeUnread.Report(e.Key.Span, "%q means nothing here: it is passed over", name).
				WithHint("%s", diag.DidYouMean(name, known, "keys: "+strings.Join(known, ", "))))
		}
	}
}

func (t tomlReader) boolean(n *tree.Node, key string) *tree.Node {
	v := n.Get(key)
	if v == nil {
		return nil
	}
	if _, ok := v.Bool(); !ok {
		t.l.Report(t.in, tree.CodeType.Report(v.Span, "%s is true or false; this is %s", key, v.What()))
		return nil
	}
	return v
}

func (t tomlReader) posture(n *tree.Node, key string) policy.Posture {
	p := postureOf(n.Get(key))
	if v := n.Get(key); v != nil && p == policy.PostureUnset {
		t.l.Report(t.in, codeWord.Report(v.Span, "%s is one of %s", key, strings.Join(policy.PostureNames(), ", ")))
	}
	return p
}

func (t tomlReader) enforcement(n *tree.Node) {
	if v := n.Get("enforcement"); v != nil && (v.Shape != tree.Scalar || !lists.Has(enforcements, v.Text.Value)) {
		t.l.Report(t.in, codeWord.Report(v.Span, "enforcement is one of %s", strings.Join(enforcements, ", ")))
	}
	if _, found := shareOf(n.Get("rollout")); found != nil {
		t.l.Report(t.in, *found)
	}
}

func (t tomlReader) number(n *tree.Node, key string, least, most int) *tree.Node {
	v := n.Get(key)
	if v == nil {
		return nil
	}
	i, ok := v.Int()
	switch {
	case !ok:
		t.l.Report(t.in, tree.CodeType.Report(v.Span, "%s is a whole number; this is %s", key, v.What()))
		return nil
	case i < least || i > most:
		t.l.Report(t.in, codeHookValue.Report(v.Span, "%s is %d; the format takes %d to %d", key, i, least, most))
	}
	return v
}

// tables are the tables of a list of them.
func (t tomlReader) tables(n *tree.Node, key string) []*tree.Node {
	list := n.Get(key)
	if list == nil || !t.is(list, tree.List, "hooks."+key, "a list of tables: [[hooks."+key+"]]") {
		return nil
	}
	return lists.DeleteFunc(lists.Copy(list.Items), func(i *tree.Node) bool { return !t.is(i, tree.Map, "hooks."+key, "a table") })
}

func (t tomlReader) name(n *tree.Node) *tree.Node {
	v := n.Get("name")
	if v == nil || !v.IsText() {
		t.l.Report(t.in, codeMissing.Report(itemSpan(n), "the table names no hook").WithHint(`write name = "a-hook"`))
		return nil
	}
	return v
}

// isAgentHooks reports whether HOOK.md folders are read for their own profile.
//
//go:noinline
func (l *Loader) isAgentHooks() bool { return l.dialect != nil && l.dialect.ID == "agenthooks" }

// agentHooksOne makes a hook one of the profile, where a failure lets go on unless
// the hook says otherwise.
func (l *Loader) agentHooksOne(h *policy.Hook, wrote func(field string) bool) {
	if !l.isAgentHooks() {
		return
	}
	h.OnError, h.Retry = lists.First(h.OnError, policy.OnErrorSkip), 0
	h.OnTimeout = lists.First(h.OnTimeout, h.OnError)
	if l.agentHooks.own == nil {
		l.agentHooks.own = map[*policy.Hook]func(string) bool{}
	}
	l.agentHooks.own[h] = wrote
}

// agentHooksFinish puts the hooks in their order: a hook takes the place of the
// one of its name that another file has and was read before, then priority decides
// over both tiers, as the format's reference has it (hookc's own rules put the user's
// first: semantics.md §2.8), and async ones come last. One file is several hooks
// where it cannot be read and refuses at every event it may be meant for.
func (l *Loader) agentHooksFinish(hooks []*policy.Hook) []*policy.Hook {
	slots := map[string]int{}
	var out []*policy.Hook
	for _, h := range hooks {
		at, taken := slots[h.Name]
		switch {
		case h.Untrusted != "":
			out = append(out, h)
		case taken && out[at].Locked && out[at].Tier < h.Tier:
			l.diags.Add(codeReplaced.Report(h.Span, "%s is locked at %s: this one does not take its place", h.Name, out[at].Span))
		case taken && out[at].Span.File() != h.Span.File():
			l.diags.Add(codeReplaced.Report(h.Span, "this %s takes the place of the one in %s", h.Name, out[at].Span))
			out[at] = h
		default:
			if !taken {
				slots[h.Name] = len(out)
			}
			out = append(out, h)
		}
	}
	for _, f := range l.agentHooks.files {
		f.defaults(l, out)
	}
	for _, f := range l.agentHooks.files {
		f.named(l, out)
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if a.Async != b.Async {
			return b.Async
		}
		return a.Priority > b.Priority
	})
	return out
}

// reaches reports whether a file changes a hook: a project's changes the
// user's only where the format is followed faithfully.
func (f *agentHooksFile) reaches(l *Loader, h *policy.Hook) bool {
	return h.Untrusted == "" && (l.faithful || h.Tier >= f.in.Tier)
}

// defaults lays the switch and the defaults of a hooks.toml over hooks that do
// not say otherwise themselves.
func (f *agentHooksFile) defaults(l *Loader, hooks []*policy.Hook) {
	for _, h := range hooks {
		if !f.reaches(l, h) {
			continue
		}
		if f.enabled != nil {
			on, _ := f.enabled.Bool()
			h.Disabled = h.Disabled || !on
		}
		if ms, ok := millis(f.timeout); ok && h.TimeoutSpan.IsZero() {
			h.Timeout = ms
		}
		if f.onError != policy.PostureUnset && !l.agentHooks.wrote(h, "on_error") {
			h.OnError = f.onError
			if f.onTimeout == policy.PostureUnset && !l.agentHooks.wrote(h, "on_timeout") {
				h.OnTimeout = f.onError
			}
		}
		if f.onTimeout != policy.PostureUnset && !l.agentHooks.wrote(h, "on_timeout") {
			h.OnTimeout = f.onTimeout
		}
		if f.async != nil && !l.agentHooks.wrote(h, "async") {
			h.Async, _ = f.async.Bool()
		}
	}
}

// named changes the hooks that a hooks.toml calls by their names.
func (f *agentHooksFile) named(l *Loader, hooks []*policy.Hook) {
	for _, name := range f.disable {
		f.each(l, hooks, name, "is turned off here", func(h *policy.Hook) { h.Disabled = true })
	}
	for _, n := range f.override {
		f.each(l, hooks, n.Get("name").Text, "", func(h *policy.Hook) { f.change(h, n) })
	}
}

// each does something to the hooks of a name, and says when there are none it
// may reach.
func (f *agentHooksFile) each(l *Loader, hooks []*policy.Hook, name diag.Text, done string, do func(*policy.Hook)) {
	var found, reached bool
	for _, h := range hooks {
		if h.Name != name.Value {
			continue
		}
		if found = true; f.reaches(l, h) {
			reached = true
			do(h)
		}
	}
	switch {
	case !found:
		l.Report(f.in, codeNative.Report(name.Span, "no hook is called %q: this changes nothing", name.Value))
	case !reached:
		l.Report(f.in, codeReplaced.Report(name.Span, "a project does not change %s, a hook of its user", name.Value).
			WithHint("--faithful lets it"))
	case done != "":
		l.Report(f.in, codeReplaced.Report(name.Span, "%s %s", name.Value, done))
	}
}

func (f *agentHooksFile) change(h *policy.Hook, n *tree.Node) {
	if p := n.Get("priority"); p != nil {
		if v, ok := p.Int(); ok {
			h.Priority = v
		}
	}
	if ms, ok := millis(n.Get("timeout")); ok {
		h.Timeout, h.TimeoutSpan = ms, n.Get("timeout").Span
	}
	for key, set := range map[string]*bool{"async": &h.Async, "locked": &h.Locked} {
		if v := n.Get(key); v != nil {
			if on, ok := v.Bool(); ok {
				*set = on
			}
		}
	}
	if p := postureOf(n.Get("on_error")); p != policy.PostureUnset {
		h.OnError, h.OnTimeout = p, p
	}
	if p := postureOf(n.Get("on_timeout")); p != policy.PostureUnset {
		h.OnTimeout = p
	}
	if e := n.Get("enforcement"); e != nil {
		h.Enforcement = enforcement(e.Text.Value)
	}
	if v := n.Get("rollout"); v != nil {
		h.Spared, _ = shareOf(v)
	}
}

// postureOf is the posture that a value names, or none.
//
//go:noinline
func postureOf(n *tree.Node) policy.Posture {
	if n == nil || n.Shape != tree.Scalar {
		return policy.PostureUnset
	}
	p, _ := policy.ParsePosture(n.Text.Value)
	return p
}

// millis is a timeout in milliseconds, within what the format takes.
func millis(n *tree.Node) (time.Duration, bool) {
	if n == nil {
		return 0, false
	}
	ms, ok := n.Int()
	return time.Duration(min(max(ms, mdMinTimeout), mdMaxTimeout)) * time.Millisecond, ok
}
