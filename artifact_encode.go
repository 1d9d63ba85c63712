package hookc

import (
	"io/fs"
	"path/filepath"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/dag/codec"
	"github.com/hookc/hookc/internal/binary"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/artifact"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/trust"
	"github.com/hookc/hookc/rego"
)

// encode writes a program and the policy it was compiled from: what its events
// share, and each event on its own, so that a process that decides one event
// reads that one alone.
func (c *config) encode(head *codec.Head, p *policy.Policy) ([]section, error) {
	program := head.Program
	shared := rego.Capture(p.Hooks)
	head.Shared, head.Roots = shared.Files, shared.Roots
	head.Discover, head.Shown = c.discover, c.shown
	if c.discover != "" {
		head.Discover = absolutePath(c.discover)
	}
	for _, in := range c.placed() {
		head.Inputs = append(head.Inputs, codec.Input{Path: in.Path, Format: in.Format, Tier: in.Tier, Content: in.Content})
	}
	if p.Profile != nil {
		head.Profile, head.Faithful = p.Profile.Name, p.Profile.Faithful
	}
	for _, plan := range program.Plans {
		head.Events = append(head.Events, plan.Event)
	}
	head.Hooks = len(p.Hooks)
	for _, h := range p.Hooks {
		head.Native = head.Native || lists.Some(h.Filter.Conditions, func(c *policy.Condition) bool { return c.Atom != nil })
	}
	bare, declared := *program, *p
	bare.Plans, bare.Hooks, bare.Diagnostics, bare.Agent = nil, nil, nil, ""
	declared.Hooks, declared.Profile = nil, nil
	head.Program, head.Policy = &bare, &declared
	defer func() { head.Program, head.Policy = program, p }()
	first, base, err := codec.WriteHead(withTexts(head, p))
	if err != nil {
		return nil, err
	}
	var b binary.Writer
	b.Text(codec.Fingerprint())
	out := []section{{artifact.Program, append(b.B, first...)}}
	kinds := map[policy.Kind]*dag.Kind{}
	for _, k := range c.hookKinds() {
		kinds[k.Name] = &k
	}
	for _, plan := range program.Plans {
		data, err := codec.WriteChain(chainOf(plan, program, p, kinds), base)
		if err != nil {
			return nil, fault.Errorf("%s: %w", plan.Event, err)
		}
		out = append(out, section{chainPrefix + string(plan.Event), data})
	}
	return out, nil
}

// chainOf is what one event has for itself.
func chainOf(plan *dag.Plan, program *dag.Program, p *policy.Policy, kinds map[policy.Kind]*dag.Kind) *codec.Chain {
	made := *plan
	made.Losses = nil // of the agent that is told, which whoever opens the artifact names
	c := &codec.Chain{Plan: &made}
	for _, e := range program.Hooks {
		if e.Hook.Event == plan.Event {
			c.Entries = append(c.Entries, e)
		}
	}
	for i, h := range p.Hooks {
		if h.Event != plan.Event {
			continue
		}
		if h.Body.Load != nil && h.Untrusted == "" {
			body, found := h.Body.Load()
			c.Loads = append(c.Loads, codec.Load{Hook: len(c.Hooks), Body: body, Found: found})
		}
		c.Hooks, c.Places = append(c.Hooks, h), append(c.Places, i)
	}
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		var code []byte
		if encode := kinds[n.Hook.Kind].Encode; encode != nil {
			code = encode(n.Hook, n.Runner)
		}
		c.Codes = append(c.Codes, code)
	}
	return c
}

// withTexts makes the head refer to every source and every setting of a file
// that a hook refers to, so that chains find them there and share them.
func withTexts(head *codec.Head, p *policy.Policy) *codec.Head {
	seen := map[any]bool{}
	for _, h := range p.Hooks {
		for _, src := range []*diag.Source{h.Span.Source, h.Body.Source.Span.Source} {
			if src != nil && !seen[src] {
				seen[src] = true
				head.Texts = append(head.Texts, src)
			}
		}
		if h.File != nil && !seen[h.File] {
			seen[h.File] = true
			head.Files = append(head.Files, h.File)
		}
	}
	return head
}

// placed are the named inputs with their paths from Dir.
func (c *config) placed() []source.Input {
	var out []source.Input
	for _, in := range c.inputs {
		if c.dir != "" && in.Content == nil && !filepath.IsAbs(in.Path) {
			in.Path = filepath.Join(c.dir, in.Path)
		}
		if in.Content == nil {
			in.Path = absolutePath(in.Path)
		}
		out = append(out, in)
	}
	return out
}

// absolutePath is a path from the root, as far as it can be told.
func absolutePath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// depends lists the files and folders that the program depends on: the sources,
// those that are there and those that would be if they were, what their hooks
// are made of, and consent. A script is what its command runs, whatever that
// holds, except where consent covers its content.
func (c *config) depends(p *policy.Policy) []string {
	l := &fileList{seen: map[string]bool{}, without: c.last.consented}
	for _, in := range c.placed() {
		if in.Content == nil {
			l.tree(in.Path)
		}
	}
	if c.managed && c.discover == "" {
		files, trees := source.ManagedPlaces()
		for _, path := range files {
			l.add(path)
		}
		for _, path := range trees {
			l.tree(path)
		}
	}
	if c.discover != "" {
		files, trees := source.DiscoverPlaces(c.discovery())
		for _, path := range append(files, source.PartPlaces(c.discovery())...) {
			l.add(path)
		}
		for _, path := range trees {
			l.tree(path)
		}
		for _, root := range c.discovery().Roots {
			if path := trust.Open(root).Path(); path != "" {
				l.add(path)
			}
		}
	}
	texts := map[string]bool{} // policies that are in no file
	for _, in := range c.inputs {
		texts[in.Path] = in.Content != nil
	}
	for _, src := range p.Sources {
		if texts[src.Name] {
			continue
		}
		l.add(src.Path)
		for _, folder := range src.Folders {
			l.add(folder)
		}
		if filepath.Base(src.Path) == "HOOK.md" {
			l.tree(filepath.Dir(src.Path))
		}
		if c.discover != "" && trust.Needed(src.Tier) {
			for _, used := range src.Uses {
				l.tree(used)
			}
		}
	}
	for _, h := range p.Hooks {
		if h.Body.File != "" {
			l.add(h.Body.File)
		}
		if h.File != nil {
			for _, t := range lists.Concat(h.File.Rego.Paths, h.File.Rego.Data) {
				l.tree(t.Value)
			}
		}
	}
	return l.paths
}

// fileList collects paths, each once.
type fileList struct {
	paths []string
	seen  map[string]bool
	// without says which files are left out.
	without func(path string) bool
}

func (l *fileList) add(path string) {
	path = absolutePath(path)
	if !l.seen[path] && !l.without(path) {
		l.seen[path] = true
		l.paths = append(l.paths, path)
	}
}

// tree adds a file, or a folder with all that is in it.
func (l *fileList) tree(path string) {
	if l.without(absolutePath(path)) {
		return
	}
	l.add(path)
	_ = filepath.WalkDir(path, func(at string, _ fs.DirEntry, err error) error {
		if at == path || !artifact.Named(at) { // what is compiled is no source
			l.add(at) // what cannot be looked into is compared as what it is
		}
		if err != nil {
			return fs.SkipDir
		}
		return nil
	})
}
