package format

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/pattern"
)

// settings is how one agent writes hooks in its configuration: a map from its
// own names of events to groups, each a matcher with its hooks. Which files
// they are and what a timeout counts is in the agent's value (package agent);
// an agent that is nothing but such a value is read by it alone. What differs
// from the common shape is a function in settings_NAME.go.
type settings struct {
	// id is that of the agent, and the name of the reader.
	id, doc string
	// files are what further configuration files are called, with the folders
	// they stand in, such as "policy.d/*.json". also finds others by what lies
	// beside them, nil none.
	files []string
	also  func(in *File) bool
	// comments is true when the agent's files may hold comments.
	comments bool
	// broken reports whether the agent goes on without a file that is not JSON,
	// which is then a warning; nil is never.
	broken func(l *Loader) bool
	// root finds the map of events in a file, having looked at the switches
	// beside it; nil takes what stands under "hooks". A nil result means that
	// the file has none.
	root func(r *settingsReader, root *Node) *Node
	// matcher reads the conditions of a group on an event; ok is false when its
	// hooks can never run, which has been reported.
	matcher func(r *settingsReader, event policy.Event, native string, group *Node) (c []policy.Condition, ok bool)
	// body reads what a hook does; nil takes its command. False drops the hook,
	// which has been reported.
	body func(r *settingsReader, native string, node *Node, h *policy.Hook) bool
	// hook finishes a hook read from its node; false drops it, which has been
	// reported. nil adds nothing.
	hook func(r *settingsReader, native string, group, node *Node, h *policy.Hook) bool
	// finish settles what needs every file of the agent, such as hooks that are
	// written twice; nil leaves them.
	finish func(l *Loader, hooks []*policy.Hook) []*policy.Hook

	// place is the agent's; flat is true where the hooks of an event stand in its
	// list themselves, without groups.
	place *agent.Place
	flat  bool
}

var agents []*settings

// registerSettings adds an agent's configuration and the format that reads it.
func registerSettings(s settings) *settings {
	a, err := agent.Find(s.id)
	if err != nil || s.matcher == nil {
		panic("format: the settings of " + s.id + " are incomplete")
	}
	if s.place, err = a.Place(); err != nil {
		panic("format: " + err.Error())
	}
	for _, f := range a.Files {
		if f.Format != s.id || f.Tier == policy.TierExtension {
			continue
		}
		name := f.Path
		if f.Base == agent.System {
			_, name, _ = strings.Cut(name, "/") // wherever the system keeps such files
		}
		s.files = append(s.files, name)
		s.flat = s.flat || f.Layout == agent.Flat || f.Layout == agent.FlatTables
	}
	agents = append(agents, &s)
	register(Format{Name: s.id, Doc: s.doc, Match: s.match, Read: s.read})
	return &s
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
	}) || s.also != nil && s.also(in)
}

// settingsReader reads one file of an agent's configuration.
type settingsReader struct {
	*settings
	l       *Loader
	in      *File
	src     *diag.Source
	source  *policy.SourceFile
	config  *policy.FileConfig
	dialect *agent.Agent
	// repeated is true while what has been read once is read for another event
	// of the same name.
	repeated bool
}

func (s *settings) read(l *Loader, in *File) {
	d, err := agent.Find(s.id)
	if err != nil {
		panic("format: " + err.Error())
	}
	if l.dialect != nil && strings.HasPrefix(l.dialect.ID, s.id) {
		d = l.dialect
	}
	r := &settingsReader{settings: s, l: l, in: in, src: diag.NewSource(in.Name, in.Content), source: l.Source(in, s.id),
		config: &policy.FileConfig{Dir: filepath.Dir(in.Path), Within: in.Within}, dialect: d}
	root, found := r.parse()
	if root == nil && len(found) == 0 {
		found.Add(emptySettings(r.src))
	}
	if root != nil && strings.TrimSpace(in.Content) == "" { // an empty TOML file is a whole one, which other settings may be missing from
		found.Add(codeNative.Report(diag.Span{Source: r.src}, "the file is empty: none of its hooks runs"))
	}
	if root == nil && s.broken != nil && s.broken(l) {
		for i := range found {
			found[i].Severity = diag.Warning
		}
	}
	l.Report(in, found...)
	switch {
	case root == nil:
	case root.Shape != Map:
		r.report(codeType.Report(root.Span, "a configuration is a map; this is %s", root.what()))
	default:
		if events := r.events(root); events != nil {
			r.readEvents(events)
		}
	}
}

// emptySettings says that a file holds nothing, as one that is being saved does
// for a moment.
func emptySettings(src *diag.Source) diag.Diagnostic {
	return codeSyntax.Report(diag.Span{Source: src}, "the file is empty: none of its hooks runs").
		WithHint("{} is a configuration without hooks")
}

func (r *settingsReader) parse() (*Node, diag.List) {
	switch {
	case strings.EqualFold(filepath.Ext(r.in.Path), ".toml"):
		return ParseTOML(r.src)
	case r.comments:
		return ParseJSONC(r.src)
	}
	return ParseJSON(r.src)
}

func (r *settingsReader) report(d diag.Diagnostic) {
	if !r.repeated {
		r.l.Report(r.in, d)
	}
}

func (r *settingsReader) faithful() bool { return r.l.faithful }

func (r *settingsReader) events(root *Node) *Node {
	if r.root != nil {
		return r.root(r, root)
	}
	return root.Get("hooks")
}

func (r *settingsReader) readEvents(events *Node) {
	if events.Shape != Map {
		r.report(codeNative.Report(events.Span, "hooks is a map from events to groups; this is %s: none of it runs", events.what()))
		return
	}
	for _, e := range events.Entries {
		native := e.Key.Text.Value
		means := r.dialect.EventsOf(native)
		switch {
		case len(means) == 0:
			r.report(codeNative.Report(e.Key.Span, "%s has no event %q: these hooks never run", r.id, native).
				WithHint("%s", diag.DidYouMean(native, r.dialect.Natives(), "events: "+strings.Join(r.dialect.Natives(), ", "))))
		case e.Value.Shape != List:
			r.report(codeNative.Report(e.Value.Span, "%s takes a list of groups; this is %s: none of it runs", native, e.Value.what()))
		default:
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

func (r *settingsReader) group(event policy.Event, native string, group *Node) {
	if group.Shape != Map {
		r.report(codeNative.Report(group.Span, "a group is a map with hooks; this is %s: it is passed over", group.what()))
		return
	}
	hooks := group.Get("hooks")
	if r.flat {
		hooks = &Node{Shape: List, Items: []*Node{group}}
	}
	if hooks == nil || hooks.Shape != List {
		r.report(codeNative.Report(itemSpan(group), "the group has no list of hooks: it does nothing").WithHint(`write "hooks": [{"type": "command", "command": "…"}]`))
		return
	}
	conditions, ok := r.matcher(r, event, native, group)
	if !ok {
		return
	}
	for _, n := range hooks.Items {
		if h := r.one(event, native, group, n); h != nil {
			h.Filter.Conditions = slices.Concat(conditions, h.Filter.Conditions)
			if len(h.Filter.Conditions) > 0 {
				h.Filter.Span = h.Filter.Conditions[0].Value.Span
			}
			r.l.Add(r.in, h)
		}
	}
}

// one reads a hook; nil when it cannot run, which has been reported.
func (r *settingsReader) one(event policy.Event, native string, group, n *Node) *policy.Hook {
	if n.Shape != Map {
		r.report(codeNative.Report(n.Span, "a hook is a map with a command; this is %s: it is passed over", n.what()))
		return nil
	}
	h := &policy.Hook{
		Event: event, Kind: policy.KindBash, Priority: policy.DefaultPriority, Retry: 0, Span: itemSpan(n), Dir: r.config.Dir,
		File: r.config, Timeout: r.place.Standard, OnError: policy.OnErrorSkip, OnTimeout: policy.OnErrorSkip,
		Body: policy.Body{Protocol: policy.Protocol(r.dialect.ID), Agent: policy.AgentBody{Emulate: r.faithful(), Event: native}},
	}
	if body := r.body; body != nil && !body(r, native, n, h) || body == nil && !r.command(n, h) {
		return nil
	}
	if name := n.Get("name"); name != nil && name.IsText() {
		h.Description = name.Text.Value
	}
	r.timeout(n.Get("timeout"), h)
	if r.hook != nil && !r.hook(r, native, group, n, h) {
		return nil
	}
	return h
}

// timeout takes over the time a hook has, where it is written.
func (r *settingsReader) timeout(t *Node, h *policy.Hook) {
	if t == nil {
		return
	}
	h.TimeoutSpan = t.Span
	if v, ok := t.Float(); ok && v > 0 && v*float64(r.place.Unit) < float64(maxDuration) {
		h.Timeout = time.Duration(v * float64(r.place.Unit))
	}
}

// command reads the command of a hook. One that starts hookc itself is none.
func (r *settingsReader) command(n *Node, h *policy.Hook) bool {
	command := n.Get("command")
	if command == nil || !command.IsText() || strings.TrimSpace(command.Text.Value) == "" {
		r.report(codeNative.Report(itemSpan(n), "the hook has no command: it is passed over"))
		return false
	}
	h.Body.Command = command.Text
	return !ourselves(command.Text.Value)
}

// ourselves reports whether a command starts hookc itself: hookc stands in
// front of the other hooks and does not run itself as one (docs/cli.md).
func ourselves(command string) bool {
	commands, _, _ := splitCommands(command)
	for _, words := range commands {
		for i, w := range words {
			base := strings.TrimSuffix(filepath.Base(w.text), ".exe")
			switch {
			case strings.Contains(w.text, "=") && i == 0:
				continue // a variable before the command
			case base == "hookgate", base == "hookc" && i+1 < len(words) && words[i+1].text == "run":
				return true
			}
			break
		}
	}
	return false
}

// nativeNames is the condition that a field is one of several texts.
func nativeNames(written diag.Text, f policy.Field, names ...string) policy.Condition {
	c := nativeTest(written, f, func(s string) bool {
		for _, n := range names {
			if s == n {
				return true
			}
		}
		return false
	})
	c.Atom.Op, c.Atom.Values = policy.AtomIn, names
	return c
}

// nativeTest is the condition that a text field passes a test. A field that is
// absent never does.
func nativeTest(written diag.Text, f policy.Field, test func(string) bool) policy.Condition {
	return policy.Condition{Key: policy.FilterNative, Value: written, Atom: &policy.Atom{
		Op: policy.AtomMatch, Field: f, Values: []string{written.Value}, Reads: []policy.Field{f},
		Test: func(c *policy.Context) bool {
			v, ok := c.Get(f)
			s, isText := v.(string)
			return ok && isText && test(s)
		},
	}}
}

// nativePattern is the condition that a text field matches a pattern.
func nativePattern(written diag.Text, f policy.Field, p *pattern.Pattern) policy.Condition {
	c := nativeTest(written, f, p.Match)
	c.Atom.Literals = p.Literals()
	return c
}

var codeNative = diag.Define(diag.Code{
	ID: "HK030", Severity: diag.Warning,
	Title: "part of a configuration that its agent passes over",
	Help: `An agent's own configuration holds something that the agent does not read as its author
may think: an event it does not have, a group without hooks, a hook without a command.
The agent passes over it without a word, so what it was to guard is not guarded.`,
	Bad: `-- .gemini/settings.json --
{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "cat"}]}],
 "BeforeTool": [{"hooks": [{"type": "command", "command": "cat"}]}]}}
-- profile --
gemini
`,
	Good: `-- .gemini/settings.json --
{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "cat"}]}]}}
-- profile --
gemini
`,
})
