package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

// policyNames are the files that make a folder a policy.
var policyNames = []string{"hooks.yaml", "hooks.yml", "hooks.json"}

var _ = register(Format{
	Name: "hooksyaml",
	Doc:  "hooks.yaml, the canonical schema (YAML or JSON); a superset of jcli's",
	Match: func(in *File) bool {
		if in.Folder {
			return slices.ContainsFunc(policyNames, func(name string) bool { return exists(filepath.Join(in.Path, name)) })
		}
		// An agent's own configuration is JSON too.
		return lists.Has([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(in.Path))) &&
			!slices.ContainsFunc(agents, func(s *settings) bool { return s.match(in) })
	},
	Read: readPolicy,
})

//go:noinline
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readPolicy reads a policy file, or those of a folder.
func readPolicy(l *Loader, in *File) {
	if !in.Folder {
		readPolicyFile(l, in)
		return
	}
	for _, name := range policyNames {
		file := in.beside(filepath.Join(in.Name, name), filepath.Join(in.Path, name))
		if !exists(file.Path) {
			continue
		}
		if err := l.openFile(file); err != nil {
			l.Report(file, codeFile.Report(diag.Span{}, "%s: %s", file.Name, err))
			continue
		}
		l.load(file, "hooksyaml", diag.Span{})
	}
}

// yamlReader reads one policy file.
type yamlReader struct {
	l      *Loader
	in     *File
	src    *diag.Source
	source *policy.SourceFile
	config *policy.FileConfig
	// enforcement and spared are those of hooks that say none.
	enforcement policy.Enforcement
	spared      uint16
}

func readPolicyFile(l *Loader, in *File) {
	if l.isJCLI() {
		readJCLI(l, in)
		return
	}
	t := l.parse(in, func(src *diag.Source) (*tree.Node, diag.List) {
		if strings.EqualFold(filepath.Ext(in.Path), ".json") {
			return tree.ParseJSON(src)
		}
		return tree.ParseYAML(src, 0, len(src.Content))
	})
	r := &yamlReader{l: l, in: in, src: t.src, source: l.Source(in, "hooksyaml"), config: &policy.FileConfig{Dir: filepath.Dir(in.Path), Within: in.Within}}
	root, found := t.root, t.found
	l.Report(in, found...)
	switch {
	case root == nil && !found.HasErrors(), root != nil && root.IsNull():
		l.Report(in, codeEmpty.Report(diag.Span{Source: r.src}, "the file declares nothing").
			WithHint("write an event with its hooks; {} says that there are none, enabled: false switches the policy off"))
	case root == nil:
	case root.Shape != tree.Map:
		l.Report(in, tree.CodeType.Report(root.Span, "a policy is a map from events to hooks; this is %s", root.What()).
			WithHint("begin with an event, such as pre_tool_execution:"))
	default:
		r.read(root)
	}
}

var codeUnknownEvent = diag.Define("HK005", diag.Error, "unknown event")
var codeProfile = diag.Define("HK019", diag.Warning, "profile that changes nothing")

// read reads the settings first, since they hold for every hook of the file,
// then events and includes in the order written.
func (r *yamlReader) read(root *tree.Node) {
	settings := &tree.Node{Shape: tree.Map, Span: root.Span}
	for _, e := range root.Entries {
		if FindKey(InFile, e.Key.Text.Value) != nil {
			settings.Entries = append(settings.Entries, e)
		}
	}
	f := r.l.fields(r.in, settings, InFile, "")
	f.word("version", func(w string) bool { return w == strconv.Itoa(Version) })
	r.profile(f)
	if n := f.child("defaults", true); n != nil {
		r.defaults(n)
	}
	if n := f.child("rego", true); n != nil {
		r.rego(n)
	}
	if n := f.child("tools", true); n != nil {
		r.tools(n)
	}
	if n := f.child("facts", true); n != nil {
		r.facts(n)
	}
	if n := f.child("approval", true); n != nil {
		r.approval(n)
	}
	if n := f.child("severity", true); n != nil {
		r.severities(f, n)
	}
	if n := f.child("rollout", true); n != nil {
		r.rollout(n)
	}
	if n := f.child("log", true); n != nil {
		r.log(n)
	}
	r.switchedOff(f)
	r.declares(root)
	for _, e := range root.Entries {
		name := e.Key.Text.Value
		event, ok := policy.ParseEvent(name)
		switch {
		case ok:
			r.event(event, e)
		case name == "include":
			r.include(f)
		case FindKey(InFile, name) == nil:
			r.unknownEvent(e.Key)
		}
	}
}

//go:noinline
func (r *yamlReader) report(d diag.Diagnostic) { r.l.Report(r.in, d) }

func (r *yamlReader) unknownEvent(k *tree.Node) {
	name := k.Text.Value
	known := append(policy.EventNames(), keyNames(InFile, "")...)
	// A name is answered in its own style: PreTooluse with PreToolUse.
	style := lists.DeleteFunc(lists.Copy(known), func(k string) bool { return camelCase(k) != camelCase(name) })
	hint := diag.DidYouMean(name, style, diag.DidYouMean(name, known, "an event of the host's own is written ext."+name))
	if name == "hooks" {
		hint = "here the events themselves are the top-level keys"
	}
	r.report(codeUnknownEvent.Report(k.Span, "unknown event %q", name).WithHint("%s", hint))
}

func camelCase(name string) bool { return strings.ToLower(name) != name }

func (r *yamlReader) profile(f fields) {
	name, span := f.word("profile", func(w string) bool {
		id, _, _ := spell.Cut(w, "@")
		_, ok := agent.ParseProtocol(id)
		return ok
	})
	switch {
	case name == "":
	case name == "jcli" || strings.HasPrefix(name, "jcli@"):
		r.l.policy.Notes = append(r.l.policy.Notes, r.in.Name+": profile "+name+": canonical rules, which are jcli's")
	default:
		r.report(codeProfile.Report(span, "profile %s changes nothing in a hooks.yaml: canonical rules hold", name).
			WithHint("remove it, or read the agent's own files with --profile %s", name))
	}
}

func (r *yamlReader) tools(n *tree.Node) {
	f := r.l.fields(r.in, n, InTools, "")
	known, open := Values(f.texts("known")), Values(f.texts("open"))
	if r.in.Untrusted != "" {
		return
	}
	c := &r.l.policy.Tools
	if c.Span.IsZero() {
		c.Span = n.Span
	}
	c.Known = lists.Add(c.Known, known)
	c.Open = lists.Add(c.Open, open)
}

var codeNoMatch = diag.Define("HK013", diag.Warning, "include that matches no file")

// include reads the files that `include` names, at its place in the file.
func (r *yamlReader) include(f fields) {
	for _, pattern := range f.texts("include") {
		path := r.in.path(r.config.Dir, pattern.Value)
		if !strings.ContainsAny(pattern.Value, "*?[{") {
			r.includeFile(path, pattern.Span)
			continue
		}
		looked := r.l.limits.looked
		matches, folders, err := r.in.glob(path, looked)
		if errors.Is(err, errOutside) {
			r.report(codeFile.Report(pattern.Span, "include: %q %s", pattern.Value, err))
			continue
		}
		if errors.Is(err, errGlobTooWide) {
			r.report(tree.CodeTooLarge.Report(pattern.Span, "include: %q looks at more than %d files and folders", pattern.Value, looked).
				WithHint("name the folder that the policies are in"))
			continue
		}
		if err != nil {
			r.report(codeWord.Report(pattern.Span, "include: %q is not a glob", pattern.Value).
				WithHint("* ? [abc] {a,b} and ** have a meaning in globs"))
			continue
		}
		if len(matches) == 0 {
			r.report(codeNoMatch.Report(pattern.Span, "%q matches no file", pattern.Value).
				WithHint("it is looked for from %s", r.l.shown(r.config.Dir)))
		}
		r.source.Globs = append(r.source.Globs, path)
		r.source.Folders = append(r.source.Folders, folders...)
		r.l.sight.ask(func() bool {
			now, _, err := r.in.glob(path, looked)
			return err == nil && lists.Equal(now, matches)
		})
		for _, m := range matches {
			r.includeFile(m, pattern.Span)
		}
	}
}

func (r *yamlReader) includeFile(path string, from diag.Span) {
	file := r.in.beside(r.l.shown(path), path)
	if err := r.in.Outside(path); err != nil {
		r.report(codeFile.Report(from, "%s: %s", file.Name, err))
		return
	}
	r.source.Uses = append(r.source.Uses, path)
	if err := r.l.openFile(file); err != nil {
		r.report(codeFile.Report(from, "%s: %s", file.Name, err).
			WithHint("includes are relative to %s", r.l.shown(r.config.Dir)))
		return
	}
	r.l.load(file, "", from)
}

// event reads the value of an event: a list of hooks, or a map that holds one.
func (r *yamlReader) event(event policy.Event, e tree.Entry) {
	name, n := e.Key.Text.Value, e.Value
	switch {
	case n.IsNull():
		r.noValue(name, e.Key.Span)
	case n.Shape == tree.List && len(n.Items) == 0:
		r.l.policy.Notes = append(r.l.policy.Notes, fmt.Sprintf("%s: %s: [] has no hooks", r.in.Name, name))
	case n.Shape == tree.List:
		r.items(event, n.Items)
	case n.Shape == tree.Map && looksLikeHook(n):
		r.report(tree.CodeType.Report(n.Span, "%s takes a list of hooks; this is one hook", name).WithHint(`begin the hook with "- "`))
	case n.Shape == tree.Map:
		r.eventMap(event, n)
	default:
		r.report(tree.CodeType.Report(n.Span, "%s takes a list of hooks; this is %s", name, n.What()).
			WithHint("write - command: %s", strconv.Quote(n.Text.Value)))
	}
}

// looksLikeHook reports whether the map under an event is a hook without its
// dash.
func looksLikeHook(n *tree.Node) bool {
	return n.Get("hooks") == nil && lists.Some(n.Entries, func(e *tree.Entry) bool {
		return FindKey(InEvent, e.Key.Text.Value) == nil && FindKey(InHook, e.Key.Text.Value) != nil
	})
}

func (r *yamlReader) eventMap(event policy.Event, n *tree.Node) {
	f := r.l.fields(r.in, n, InEvent, "")
	s := policy.Setting{Event: event}
	word, span := f.word("strategy", func(w string) bool {
		var ok bool
		if s.Strategy, ok = policy.ParseStrategy(w); !ok {
			d, err := agent.FindProfile(w)
			if ok = err == nil; ok {
				s.Strategy = policy.Strategy(d.ID)
			}
		}
		return ok
	})
	if word != "" {
		s.StrategySpan = span
	}
	s.ChainTimeout, s.ChainTimeoutSpan = f.duration("chain_timeout")
	s.Order, s.OrderSpan = f.word("order", func(w string) bool { return lists.Has(FindKey(InEvent, "order").Words, w) })
	if s.Strategy != "" || s.ChainTimeout != 0 || s.Order != "" {
		r.l.Set(r.in, s)
	}
	switch hooks := f.get("hooks"); {
	case hooks == nil:
	case hooks.IsNull():
		r.noValue("hooks", hooks.Span)
	default:
		r.items(event, f.list("hooks"))
	}
}
