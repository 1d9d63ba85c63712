package source

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

// settings reads the configuration of one agent, as the agent's value says it is
// written (agent.Settings): a map from the agent's own names of events to groups,
// each a matcher with its hooks, or to the hooks themselves.
type settings struct {
	// id is that of the agent, and the name of the reader.
	id string
	// files are what configuration files are called, with the folders they stand in.
	files []string
	*agent.Settings
	// flat is true where the hooks of an event stand in its list themselves.
	flat bool
	special
}

// special is what data cannot say of an agent's settings; nil functions change
// nothing.
type special struct {
	// root looks at what stands in a file besides the hooks; events is the map of
	// events in the hooks, nil for a file that the agent ignores.
	root   func(r *settingsReader, root *tree.Node)
	events func(r *settingsReader, hooks *tree.Node) *tree.Node
	// matcher reads the conditions of a group on an event; ok is false when its
	// hooks can never run, which has been reported.
	matcher func(r *settingsReader, event policy.Event, native string, group *tree.Node) (c []policy.Condition, ok bool)
	// hook finishes a hook read from its node; false drops it, which has been
	// reported.
	hook func(r *settingsReader, native string, group, node *tree.Node, h *policy.Hook) bool
	// finish settles what needs every file of the agent.
	finish func(l *Loader, hooks []*policy.Hook) []*policy.Hook
}

var specials = map[string]special{
	"clawdcode": {events: clawdRoot, matcher: clawdMatcher, hook: clawdHook, finish: clawdFinish},
	"gemini":    {root: geminiRoot, hook: geminiHook, finish: forkFinish},
	"qwen":      {root: qwenRoot, hook: qwenHook, finish: forkFinish},
}

var agents []*settings

// init adds a reader for the settings of every agent that is read by its value.
func init() {
	for _, a := range agent.All() {
		if lists.Some(a.Files, func(f *agent.File) bool { return f.Format == a.ID }) {
			registerSettings(a)
		}
	}
}

func registerSettings(a *agent.Agent) {
	own, err := a.Settings()
	if err != nil {
		panic("source: " + err.Error())
	}
	s := &settings{id: a.ID, files: own.Reading.Also, Settings: own, special: specials[a.ID]}
	for _, f := range a.Files {
		if f.Format != s.id || f.Tier == policy.TierExtension {
			continue
		}
		name := f.Path
		if f.Base == agent.System {
			_, name, _ = spell.Cut(name, "/") // wherever the system keeps such files
		}
		s.files = append(s.files, name)
		s.flat = s.flat || f.Layout == agent.Flat || f.Layout == agent.FlatTables
	}
	agents = append(agents, s)
	register(Format{Name: s.id, Doc: lists.First(own.Reading.Doc, "settings of "+a.ID), Match: s.match, Read: s.read})
	if own.Reading.Extension != "" {
		registerExtensions(s)
	}
}

// match goes by the name of the file and of its folder.
func (s *settings) match(in *File) bool {
	if in.Folder {
		return false
	}
	path := strings.Split(filepath.ToSlash(in.Path), "/")
	return slices.ContainsFunc(s.files, func(f string) bool {
		n := min(strings.Count(f, "/")+1, len(path))
		ok, err := filepath.Match(f, strings.Join(path[len(path)-n:], "/"))
		return ok && err == nil
	}) || s.plugin(in) != ""
}

// plugin is the root of the plugin whose hooks a file holds, "" if there is none.
func (s *settings) plugin(in *File) string {
	if in.Plugin != "" {
		return in.Plugin
	}
	folder := filepath.Dir(in.Path)
	root := filepath.Dir(folder)
	if s.Reading.Plugins == "" || filepath.Base(in.Path) != "hooks.json" || filepath.Base(folder) != "hooks" || !exists(filepath.Join(root, s.Reading.Plugins)) {
		return ""
	}
	return root
}

// settingsReader reads one file of an agent's configuration.
type settingsReader struct {
	*settings
	l       *Loader
	in      *File
	config  *policy.FileConfig
	dialect *agent.Agent
	// at is what holds at the event that is read.
	at agent.At
	// repeated is true while what has been read once is read for another event
	// of the same name.
	repeated bool
	// scope says when a hook runs that is not of the settings, and whether it ever does;
	// nil changes nothing.
	scope func(h *policy.Hook, native string) bool
	// changed are texts, as written, in which the value of a variable stands.
	changed map[diag.Span]string
}

// reader is a reader of a file, or of a part of one, by the rules that hold.
func (s *settings) reader(l *Loader, in *File) *settingsReader {
	d, err := agent.Find(s.id)
	if err != nil {
		panic("source: " + err.Error())
	}
	of := *s
	if l.dialect != nil && strings.HasPrefix(l.dialect.ID, s.id) {
		d = l.dialect
		if own, err := d.Settings(); err == nil {
			of.Settings = own
		}
	}
	return &settingsReader{settings: &of, l: l, in: in, config: &policy.FileConfig{Dir: filepath.Dir(in.Path), Within: in.Within}, dialect: d}
}

func (s *settings) read(l *Loader, in *File) {
	l.Source(in, s.id)
	r := s.reader(l, in)
	root := r.parse()
	if root != nil {
		root = r.replaced(root)
	}
	switch {
	case root == nil:
	case root.Shape != tree.Map:
		r.report(tree.CodeType.Report(root.Span, "a configuration is a map; this is %s", root.What()))
	default:
		if events := r.events(root); events != nil {
			r.readEvents(events)
		}
	}
}

// parse reads the text of the file, and reports what is wrong with it.
func (r *settingsReader) parse() *tree.Node {
	parse := tree.ParseJSON
	switch {
	case strings.EqualFold(filepath.Ext(r.in.Path), ".toml"):
		parse = tree.ParseTOML
	case r.Reading.Comments:
		parse = tree.ParseJSONC
	}
	src := diag.NewSource(r.in.Name, r.in.Content)
	root, found := parse(src)
	if root == nil && len(found) == 0 {
		found.Add(emptySettings(src))
	}
	if root != nil && strings.TrimSpace(r.in.Content) == "" { // an empty TOML file is a whole one, which other settings may be missing from
		found.Add(codeNative.Report(diag.Span{Source: src}, "the file is empty: none of its hooks runs"))
	}
	if root == nil && r.Reading.GoesOn && r.l.faithful {
		for i := range found {
			found[i].Severity = diag.Warning
		}
	}
	r.l.Report(r.in, found...)
	return root
}

// emptySettings says that a file holds nothing, as one that is being saved does
// for a moment.
func emptySettings(src *diag.Source) diag.Diagnostic {
	return tree.CodeSyntax.Report(diag.Span{Source: src}, "the file is empty: none of its hooks runs").
		WithHint("{} is a configuration without hooks")
}

//go:noinline
func (r *settingsReader) report(d diag.Diagnostic) {
	if !r.repeated {
		r.l.Report(r.in, d)
	}
}

// passed reports a part that the agent passes over.
func (r *settingsReader) passed(at diag.Span, format string, args ...any) {
	r.report(codeNative.Report(at, format, args...))
}

//go:noinline
func (r *settingsReader) faithful() bool { return r.l.faithful }

// events is the map of events in a file, nil if there is none. A list of hooks that each
// name their event is one too.
func (r *settingsReader) events(root *tree.Node) *tree.Node {
	r.noteSwitches(root)
	r.notePlugins(root)
	if r.root != nil {
		r.root(r, root)
	}
	hooks := r.bare(root)
	if hooks != nil && r.in.Plugin != "" && filepath.Base(r.in.Path) == "plugin.json" {
		hooks = joined(hooks)
	}
	switch {
	case hooks == nil:
		return nil
	case r.special.events != nil:
		return r.special.events(r, hooks)
	case lists.Some(r.dialect.Files, func(f *agent.File) bool { return f.Layout == agent.FlatTables }):
		return r.listed(hooks)
	case hooks.Shape != tree.Map:
		return hooks
	}
	events := *hooks
	events.Entries = nil
	for _, e := range hooks.Entries {
		name := e.Key.Text.Value
		switch {
		case lists.Has(r.Reading.Beside, name):
			continue
		case lists.Has(r.Reading.Gone, name):
			r.report(codeNative.Report(e.Key.Span, "hooks.%s is passed over", name).WithHint("%s takes its place", r.Reading.GoneTo))
			continue
		case r.Reading.Rejects && len(r.dialect.EventsOf(name)) == 0:
			r.unknown(e.Key, "%s has no event %q and rejects the whole file: none of its hooks runs")
			return nil
		}
		events.Entries = append(events.Entries, e)
	}
	return &events
}

func (r *settingsReader) unknown(key *tree.Node, text string) {
	native, natives := key.Text.Value, r.dialect.Natives()
	r.report(codeNative.Report(key.Span, text, r.id, native).
		WithHint("%s", diag.DidYouMean(native, natives, "events: "+strings.Join(natives, ", "))))
}

// listed turns a list of hooks, each of which names its event, into a map from
// events to hooks.
func (r *settingsReader) listed(list *tree.Node) *tree.Node {
	if list.Shape != tree.List {
		r.passed(list.Span, "hooks is a list, written [[hooks]]; this is %s: none of it runs", list.What())
		return nil
	}
	out := &tree.Node{Shape: tree.Map, Span: list.Span}
	for _, n := range list.Items {
		event := n.Get("event")
		if event == nil || !event.IsText() {
			r.passed(n.Span, "the hook names no event: it is passed over")
			continue
		}
		if e := out.Entry(event.Text.Value); e != nil {
			e.Value.Items = append(e.Value.Items, n)
			continue
		}
		out.Entries = append(out.Entries, tree.Entry{Key: event, Value: &tree.Node{Shape: tree.List, Span: n.Span, Items: []*tree.Node{n}}})
	}
	return out
}

func (r *settingsReader) readEvents(events *tree.Node) {
	if events.Shape != tree.Map {
		r.passed(events.Span, "hooks is a map from events to groups; this is %s: none of it runs", events.What())
		return
	}
	for _, e := range events.Entries {
		native := e.Key.Text.Value
		means := r.dialect.EventsOf(native)
		switch {
		case len(means) == 0:
			r.unknown(e.Key, "%s has no event %q: these hooks never run")
		case e.Value.Shape != tree.List:
			r.passed(e.Value.Span, "%s takes a list of groups; this is %s: none of it runs", native, e.Value.What())
		default:
			r.at = r.dialect.At(native)
			for _, group := range e.Value.Items {
				for i, event := range means {
					r.repeated = i > 0
					r.group(event, native, group)
				}
				r.repeated = false
			}
		}
	}
}

func (r *settingsReader) group(event policy.Event, native string, group *tree.Node) {
	if group.Shape != tree.Map {
		r.passed(group.Span, "a group is a map with hooks; this is %s: it is passed over", group.What())
		return
	}
	hooks := group.Get("hooks")
	if r.flat {
		hooks = &tree.Node{Shape: tree.List, Items: []*tree.Node{group}}
	}
	if hooks == nil || hooks.Shape != tree.List {
		r.report(codeNative.Report(itemSpan(group), "the group has no list of hooks: it does nothing").WithHint(`write "hooks": [{"type": "command", "command": "…"}]`))
		return
	}
	conditions, ok := r.conditions(event, native, group)
	if !ok {
		return
	}
	for _, n := range hooks.Items {
		if h := r.one(event, native, group, n); h != nil {
			h.Filter.Conditions = lists.Concat(conditions, h.Filter.Conditions)
			if r.scope != nil && !r.scope(h, native) {
				continue
			}
			if len(h.Filter.Conditions) > 0 {
				h.Filter.Span = h.Filter.Conditions[0].Value.Span
			}
			r.l.Add(r.in, h)
		}
	}
}

var codeNative = diag.Define("HK030", diag.Warning, "part of a configuration that its agent passes over").Guarding()
