package lsp

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/report"
	"github.com/hookc/hookc/internal/severity"
	"github.com/hookc/hookc/internal/witness"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/rego"
	"github.com/hookc/hookc/rego/outline"
)

// unit is a policy that is checked as one: what is discovered for a project, or a file.
// The checker alone changes it, but for view.
type unit struct {
	dir, file string
	draft     func(path string) (string, bool)
	// fast and whole keep what compilations made.
	fast, whole hookc.Option
	// view is what is known of the policy; Server.mu guards it.
	view
	// late are the findings of the last whole check, by the text of their file.
	late  diag.List
	shown map[string]bool
}

// view is one state of a policy. It is not changed.
type view struct {
	policy  *policy.Policy
	program *dag.Program // the last that compiled
	found   diag.List
	rules   []witness.Rule
}

// pause is how long nobody types before everything is checked.
const pause = 400 * time.Millisecond

// check looks at the policies of the open documents whenever one has changed: at once
// at what is quick, and when nobody has typed for a while at whether each rule can fire.
func (s *Server) check(ctx context.Context) {
	idle := time.NewTimer(time.Hour)
	defer idle.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
			for _, u := range s.current() {
				s.quick(u)
			}
			idle.Reset(pause)
		case <-idle.C:
			whole, stop := context.WithCancel(ctx)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for _, u := range s.units {
					s.entire(whole, u)
				}
			}()
			select {
			case <-done:
			case <-s.changed:
				stop()
				<-done
				s.wake()
			case <-ctx.Done():
				stop()
				<-done
			}
			stop()
		}
	}
}

// current are the units of the open documents, those that there are already among
// them. Documents of none are Rego alone.
func (s *Server) current() map[string]*unit {
	s.mu.Lock()
	docs := slices.Collect(maps.Values(s.open))
	s.mu.Unlock()
	out := map[string]*unit{}
	for _, d := range docs {
		if u := s.unitOf(d.path); u != nil {
			out[u.dir+"\x00"+u.file] = u
		} else if strings.HasSuffix(d.path, ".rego") {
			s.lone(d)
		}
	}
	for key, u := range s.units {
		if out[key] == nil {
			s.publish(u, nil, nil) // nothing of it is open any more
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.units = out
	return out
}

// unitOf is the unit that a file belongs to, nil if there is none: the policy of its project,
// if that has it, or else its own or the nearest hooks.yaml above it that names it.
func (s *Server) unitOf(path string) *unit {
	root := policy.ProjectRoot(filepath.Dir(path))
	if u := s.unit(root, ""); u.holds(path) {
		return u
	}
	if base := filepath.Base(path); base == "hooks.yaml" || base == "hooks.local.yaml" || base == source.HookFile {
		return s.unit(root, path)
	}
	if filepath.Ext(path) != ".rego" && filepath.Ext(path) != ".yaml" && filepath.Ext(path) != ".json" {
		return nil
	}
	for dir := filepath.Dir(path); below(root, dir) || s.inside(dir); dir = filepath.Dir(dir) {
		file := filepath.Join(dir, "hooks.yaml")
		if _, open := s.draft(file); !open && !regular(file) {
			continue
		}
		if u := s.unit(dir, file); u.holds(path) {
			return u
		}
	}
	return nil
}

// unit is the unit of a folder, or of a file in it. One that there is not yet is read.
func (s *Server) unit(dir, file string) *unit {
	s.mu.Lock()
	u := s.units[dir+"\x00"+file]
	s.mu.Unlock()
	if u == nil {
		u = &unit{dir: dir, file: file, draft: s.draft, fast: host.Drafts[hookc.Option](true, s.draft), whole: host.Drafts[hookc.Option](false, s.draft), shown: map[string]bool{}}
		u.policy, _ = hookc.Load(u.options(u.fast)...)
	}
	return u
}

// options are those of check: everything is read as it is found, and nothing run.
func (u *unit) options(more ...hookc.Option) []hookc.Option {
	out := []hookc.Option{hookc.ShownFrom(u.dir), hookc.AsFound(), hookc.SkipVerify(),
		host.Compiler[hookc.Option](func(c *compiler.Config) { c.Without = []string{"native"} })}
	if u.file == "" {
		out = append(out, hookc.Discover(u.dir))
	} else {
		in := source.Input{Path: u.file, Tier: policy.TierProject}
		if text, open := u.draft(u.file); open && !regular(u.file) { // it was never written
			in.Content = []byte(text)
		}
		out = append(out, host.Input[hookc.Option](in))
	}
	return append(out, more...)
}

// holds reports whether a file is part of the policy.
//
//go:noinline
func (u *unit) holds(path string) bool {
	if path == u.file {
		return true
	}
	return lists.Some(u.policy.Sources, func(f *policy.SourceFile) bool {
		return f.Tier >= policy.TierProject && (f.Path == path || slices.ContainsFunc(f.Uses, func(use string) bool { return below(use, path) }))
	})
}

// below reports whether a path is a folder, or something in it.
func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// compile compiles a unit. A mistake of the compiler's own is a finding.
func (u *unit) compile(keep hookc.Option) (program *dag.Program, found diag.List) {
	defer func() {
		if p := recover(); p != nil {
			program = nil
		}
	}()
	return hookc.Compile(u.options(keep)...)
}

// quick compiles a unit from the texts as they are, and shows what is found. Findings
// of the last whole check stay in files that have not changed.
func (s *Server) quick(u *unit) {
	opened := s.opened()
	program, found := u.compile(u.fast)
	p, _ := hookc.Load(u.options(u.fast)...)
	for _, d := range u.late {
		if text, ok := s.textOf(u.pathOf(d.Span)); program != nil && ok && d.Span.Source.Content == text {
			found.Add(d)
		}
	}
	found.Sort()
	found = severity.Apply(p.Severities, found)
	s.mu.Lock()
	u.view = view{p, u.program, found, u.rules}
	if program != nil {
		u.program = program
	}
	s.mu.Unlock()
	s.publish(u, found, opened)
}

// opened are the open documents as they are; findings are shown as those of these.
func (s *Server) opened() map[string]*document {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.open)
}

// entire does what check does besides: it looks for an event for each rule.
func (s *Server) entire(ctx context.Context, u *unit) {
	opened := s.opened()
	program, found := u.compile(u.whole)
	if program == nil || ctx.Err() != nil || !harmless(program) {
		return
	}
	rules := witness.Find(ctx, program, program.Tools)
	if ctx.Err() != nil {
		return
	}
	late := append(witness.Lints(program), witness.Findings(rules, found)...)
	found.Add(late...)
	found.Sort()
	p, _ := hookc.Load(u.options(u.whole)...)
	found = severity.Apply(p.Severities, found)
	u.late = late
	s.mu.Lock()
	u.view = view{p, program, found, rules}
	refreshes := s.refreshes
	s.mu.Unlock()
	s.publish(u, found, opened)
	if refreshes {
		s.send(object{"jsonrpc": "2.0", "id": "lenses", "method": "workspace/codeLens/refresh"})
	}
}

// harmless reports whether rules may be evaluated on made-up events: those of a
// project that is not trusted may not, if its own files allow them the network.
func harmless(program *dag.Program) bool {
	return !lists.Some(program.Hooks, func(e *dag.Entry) bool {
		f := e.Hook.File
		return f != nil && f.Within != "" && f.Rego.Forbid != nil &&
			slices.ContainsFunc(rego.DefaultForbid(), func(name string) bool { return !lists.Has(f.Rego.Forbid, name) })
	})
}

// pathOf is the file of a span, "" if there is none.
func (u *unit) pathOf(at diag.Span) string {
	switch name := at.File(); {
	case name == "" || filepath.IsAbs(name):
		return name
	default:
		return filepath.Join(u.dir, name)
	}
}

// lone shows what is wrong with Rego that no policy names.
func (s *Server) lone(d *document) {
	src := diag.NewSource(d.path, d.s)
	whole := diag.Span{Source: src, End: len(d.s)}
	out := []any{}
	if outline.Of(diag.NewText(d.s, whole, []diag.Mark{{}}), false) == nil && strings.TrimSpace(d.s) != "" {
		for _, f := range outline.Errors(diag.NewText(d.s, whole, []diag.Mark{{}})) {
			out = append(out, shown(diag.Lookup("HK070").Report(f.Place, "%s", f.Path), map[*diag.Source]*text{}))
		}
	}
	s.notify("textDocument/publishDiagnostics", obj("uri", d.uri, "version", d.version, "diagnostics", out))
}

// publish shows findings, but for those that a comment accepts, and takes back those
// shown before.
func (s *Server) publish(u *unit, found diag.List, opened map[string]*document) {
	var texts []*diag.Source
	for _, f := range u.policy.Sources {
		if text, ok := s.textOf(f.Path); ok {
			texts = append(texts, diag.NewSource(f.Name, text))
		}
	}
	found, _ = report.Suppress(found, texts)
	files := map[string][]any{}
	for path := range u.shown {
		files[path] = []any{}
	}
	for path := range opened {
		if u.holds(path) {
			files[path] = []any{}
		}
	}
	lines := map[*diag.Source]*text{}
	for _, d := range found {
		path := lists.First(u.pathOf(d.Span), u.file)
		if s.inside(path) && path != "" {
			files[path] = append(files[path], shown(d, lines))
		}
	}
	clear(u.shown)
	for _, path := range lists.Keys(files) {
		if len(files[path]) > 0 {
			u.shown[path] = true
		}
		params := obj("uri", uriOf(path), "diagnostics", files[path])
		if d := opened[path]; d != nil {
			params["uri"], params["version"] = d.uri, d.version
		}
		s.notify("textDocument/publishDiagnostics", params)
	}
}

// shown is a finding as the protocol has it.
func shown(d diag.Diagnostic, lines map[*diag.Source]*text) object {
	at := span{}
	if src := d.Span.Source; src != nil {
		if lines[src] == nil {
			lines[src] = newText(src.Content)
		}
		at = lines[src].span(d.Span.Start, d.Span.End)
	}
	message := d.Text
	if d.Hint != "" {
		message += "\nhint: " + d.Hint
	}
	return obj("range", at, "severity", []int{diag.Error: 1, diag.Warning: 2, diag.Hint: 4}[d.Severity],
		"code", d.Code.ID, "source", "hookc", "message", message)
}
