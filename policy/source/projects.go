package source

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/commandline"
	"github.com/hookc/hookc/policy/trust"
)

// refusal is a project that was trusted, and of which nothing whole is left to
// decide by.
type refusal struct {
	root, why string
	segment   int
}

// roots are those of the projects that are looked at, outermost first.
//
//go:noinline
func (d *discovery) roots() []string {
	if d.options.Roots != nil {
		return d.options.Roots
	}
	return []string{policy.ProjectRoot(d.dir)}
}

// projects adds what look finds of each project, or what consent has of it
// (semantics.md §2.8 "Trust").
func (d *discovery) projects(profile string, look func(*discovery)) {
	roots := d.roots()
	for i, root := range roots {
		within := ""
		find := func(withheld bool) *discovery {
			p := &discovery{dir: d.dir, options: d.options, root: root, innermost: i == len(roots)-1, withheld: withheld, within: within}
			look(p)
			return p
		}
		take := func(p *discovery, untrusted string) {
			for _, in := range p.inputs {
				in.Root, in.Segment, in.Untrusted = root, i, untrusted
				if fromProject(in.Tier) && isBelow(root, in.Path) {
					in.Within = within
				}
				d.inputs = append(d.inputs, in)
			}
			for _, f := range p.found {
				if untrusted != "" {
					f.Severity = max(f.Severity, diag.Warning)
				}
				d.found.Add(f)
			}
		}
		if d.options.Trust == Static {
			within = boundary(root, profile, find(true).inputs)
		}
		if d.options.Trust >= AsFound {
			take(find(false), "")
			continue
		}
		here := find(true)
		st := trust.Open(root).Consult(profile, consented(here.inputs))
		if st.Kind == trust.Differs { // consent was given: what is there may be looked at more closely
			st = trust.Open(root).Consult(profile, consented(find(false).inputs))
		}
		switch st.Kind {
		case trust.Decree, trust.Old:
			take(find(false), "")
		case trust.Never:
			if d.options.Trust == Inspect {
				take(find(false), st.Why)
				continue
			}
			take(&discovery{found: here.found}, st.Why)
			d.list(here.inputs, policy.SourceFile{Untrusted: st.Why})
		case trust.Broken:
			d.list(orRoot(here.inputs, root)[:1], policy.SourceFile{Untrusted: st.Why})
			d.refused = append(d.refused, refusal{root, st.Why, i})
		default:
			for _, in := range st.Inputs {
				d.inputs = append(d.inputs, Input{Path: in.Path, Tier: in.Tier, Format: in.Format, Root: root, Segment: i,
					Tree: st.Tree, Live: st.Kind == trust.Fits})
			}
		}
		if st.Kind == trust.Old || st.Kind == trust.Differs {
			d.list(orRoot(here.inputs, root)[:1], policy.SourceFile{Differs: st.Why})
		}
	}
}

// orRoot is where a project's policy is found, or else its root.
func orRoot(inputs []Input, root string) []Input {
	if len(inputs) == 0 {
		return []Input{{Path: root, Tier: policy.TierProject}}
	}
	return inputs
}

//go:noinline
func (d *discovery) list(inputs []Input, as policy.SourceFile) {
	for _, in := range inputs {
		as.Path, as.Tier, as.Format = in.Path, in.Tier, in.Format
		d.listed = append(d.listed, as)
	}
}

//go:noinline
func consented(inputs []Input) []trust.Input {
	out := make([]trust.Input, len(inputs))
	for i, in := range inputs {
		out[i] = trust.Input{Path: in.Path, Tier: in.Tier, Format: in.Format}
	}
	return out
}

// LoadDiscovered loads what is found for an event; o.Inputs are not looked at.
// A project's own files count as far as consent covers them.
func LoadDiscovered(where DiscoverOptions, o Options) (*policy.Policy, diag.List) {
	d := &discovery{dir: Absolute("", where.Dir), options: where}
	d.discover()
	o.Inputs, o.Workspace = d.inputs, d.dir
	if where.Trust < AsFound {
		o.Projects = d.roots()
	}
	loaded, found := Load(o)
	p := *loaded // which a cache may share
	shown := &Loader{dir: o.Dir}
	p.Sources = lists.Copy(p.Sources)
	for _, s := range d.listed {
		if s.Name = shown.shown(s.Path); s.Name == "." {
			s.Name = spell.Line(s.Path)
		}
		p.Sources = append(p.Sources, s)
	}
	p.Hooks = lists.Copy(p.Hooks)
	for _, r := range d.refused {
		p.Hooks = append(p.Hooks, r.hooks()...)
	}
	found.Add(d.found...)
	found.Sort()
	return &p, found
}

// hooks take the place of the policy of a project that cannot be decided by:
// a refusal wherever a policy could have refused.
func (r *refusal) hooks() []*policy.Hook {
	text := filepath.Base(r.root) + ": " + r.why
	src := diag.NewSource("consent", "deny: true\nreason: "+text)
	always := diag.Span{Source: src, Start: len("deny: "), End: len("deny: true")}
	notes := diag.Span{Source: src, Start: len("deny: true\nreason: "), End: len(src.Content)}
	var out []*policy.Hook
	for _, event := range []policy.Event{policy.PreToolExecution, policy.PermissionRequest, policy.SubagentStart} {
		h := &policy.Hook{Name: "consent of " + r.root, Event: event, Kind: policy.KindExpr, Tier: policy.TierProject, Segment: r.segment,
			Priority: policy.DefaultPriority, Locked: true, Retry: -1, Dir: r.root, File: &policy.FileConfig{Dir: r.root},
			Span: diag.Span{Source: src, End: len("deny")}}
		says, _ := policy.ParsePower("deny")
		h.Body.Rules = []policy.Rule{{Says: says, Condition: diag.NewText("true", always, nil), Reason: diag.NewText(text, notes, nil), Span: h.Span}}
		out = append(out, h)
	}
	return out
}

// Parts is all that consent to a project would cover: what hookc finds in it,
// and what every agent whose configuration hookc reads does.
func Parts(root string, profiles []DiscoverOptions) ([]trust.Part, diag.List) {
	var out []trust.Part
	var all diag.List
	for _, o := range profiles {
		o.Dir, o.Roots, o.Trust = root, []string{root}, AsFound
		inputs, found := Discover(o)
		inputs = lists.Without(inputs, func(in *Input) bool { return !fromProject(in.Tier) })
		if len(inputs) == 0 {
			continue
		}
		p, more := Load(Options{Inputs: inputs, Dir: root, Profile: o.Profile})
		if o.Profile != nil && len(p.Hooks) == 0 && !more.HasErrors() {
			continue // an agent's settings that hold no hook but hookc's own entry
		}
		part := trust.Part{Inputs: consented(inputs)}
		if o.Profile != nil {
			part.Profile = o.Profile.ID
		}
		for _, s := range p.Sources {
			if fromProject(s.Tier) {
				part.Sources = append(part.Sources, s)
			}
		}
		for _, in := range inputs { // also one that no reader makes anything of
			part.Sources = append(part.Sources, policy.SourceFile{Name: in.Path, Path: in.Path, Tier: in.Tier, Format: in.Format})
		}
		found.Add(more...)
		out, all = append(out, part), append(all, found...)
	}
	all.Sort()
	return out, all
}

// live is the path whose copy is read at path, or path itself.
//
//go:noinline
func (l *Loader) live(path string) string {
	for _, t := range l.trees {
		if at, ok := t.Live(path); ok {
			return at
		}
	}
	return path
}

// path is where a file that in names is read.
func (in *File) path(dir, name string) string {
	path := Absolute(dir, name)
	if in.Tree == nil {
		return path
	}
	if _, ok := in.Tree.Live(path); ok {
		return path
	}
	return in.Tree.Kept(path)
}

// found finds the programs of a hook and what they consist of, and makes the
// hook run the project's own files, or the copies of them.
func (l *Loader) found(in *File, h *policy.Hook) {
	live := func(path string) string {
		if path == "" || in.Tree == nil {
			return path
		}
		at, _ := in.Tree.Live(path)
		return at
	}
	dir := h.Dir
	h.Dir = live(dir)
	if h.Kind != policy.KindBash {
		return
	}
	if load := h.Body.Load; load != nil {
		h.Body.Load = func() (policy.Body, diag.List) {
			b, found := load()
			b.Imports = commandline.Imports(b.Args)
			in.settle(&b, dir)
			return b, found
		}
		return
	}
	l.commands(in, h, live)
	in.settle(&h.Body, dir)
}

// uncovered notes a command of a hook where consent cannot cover all that it runs.
func (in *File) uncovered(h *policy.Hook, command string, opaque bool) {
	if in.source != nil && (opaque || slices.ContainsFunc(h.Body.Env, redirects)) {
		in.source.Opaque = lists.Add(in.source.Opaque, []string{command})
	}
}

// commands resolves the command of a hook.
func (l *Loader) commands(in *File, h *policy.Hook, live func(string) string) {
	command := h.Body.Command.Value
	if command == "" || len(h.Body.Args) > 0 {
		return
	}
	at := commandline.Place{Policy: live(h.Dir)}
	if fromProject(in.Tier) {
		if at.Root = in.Root; at.Root == "" {
			from := filepath.Dir(in.Path)
			at.Root = policy.ProjectRoot(from)
			root := at.Root
			l.sight.ask(func() bool { return policy.ProjectRoot(from) == root })
		}
	}
	at.Dir = lists.First(at.Root, at.Policy)
	if h.Body.WorkDir != "" {
		at.Dir = live(h.Body.WorkDir)
	}
	h.Body.Base, h.Body.Root = at.Dir, at.Root
	if in.Tree != nil {
		at.Kept = in.Tree.Kept
	}
	line := commandline.Find(command, at)
	if line.Live != command {
		h.Body.Line = line.Live
	}
	if in.Within != "" { // what it consists of is looked at for consent, and to run it; what it says is there to see
		_, opaque := commandline.Files(command, at.Dir)
		in.uncovered(h, command, opaque || line.Unsure)
		return
	}
	look := func() commandline.Covered { return commandline.Covers(command, line, at, l.live) }
	c := look()
	l.sight.ask(func() bool { now := look(); return now.Same(&c) })
	if s := in.source; s != nil {
		s.Uses, s.Globs = append(s.Uses, c.Files...), append(s.Globs, c.Globs...)
		in.uncovered(h, command, c.Opaque)
		s.Opaque = lists.Add(s.Opaque, c.Notes)
	}
	h.Body.Imports = commandline.Imports(append(lists.Copy(line.Scripts), c.Files...))
	if in.Tree == nil {
		return
	}
	h.Body.Standin = &policy.Standin{Line: lists.First(line.Kept, command), WorkDir: h.Body.WorkDir, Dir: at.Kept(h.Dir)}
	for _, dir := range h.Body.Imports {
		h.Body.Standin.Imports = append(h.Body.Standin.Imports, at.Kept(dir))
	}
	for _, path := range c.Files {
		h.Body.Standin.Seals = append(h.Body.Standin.Seals, policy.Seal{Live: path, Kept: in.Tree.Kept(path)})
	}
}

// settle makes a body run what in is of: the project's own files, with the copy
// standing in for them when they change while they run; or the copy.
func (in *File) settle(b *policy.Body, dir string) {
	if in.Tree == nil {
		return
	}
	live := func(path string) string {
		at, _ := in.Tree.Live(path)
		return at
	}
	s := b.Standin
	if s == nil {
		s = &policy.Standin{Args: b.Args, WorkDir: b.WorkDir, Dir: dir, Imports: b.Imports}
		if len(b.Args) > 0 {
			s.Seals = []policy.Seal{{Live: live(dir), Kept: dir}}
		}
	}
	s.Root = in.Tree.Root()
	s.Env = b.Env // some name the hook's own folder
	if s.WorkDir != "" && !in.Tree.Holds(live(s.WorkDir)) {
		s.WorkDir = live(s.WorkDir)
	}
	if !in.Live {
		b.Line, b.Args, b.WorkDir, b.Imports, b.Standin = s.Line, s.Args, s.WorkDir, s.Imports, nil
		return
	}
	b.Standin = s
	if b.WorkDir != "" {
		b.WorkDir = live(b.WorkDir)
	}
	b.Args = lists.Copy(b.Args)
	for i := range b.Args {
		b.Args[i] = live(b.Args[i])
	}
	b.Imports = lists.Copy(b.Imports)
	for i := range b.Imports {
		b.Imports[i] = live(b.Imports[i])
	}
	b.Env = lists.Copy(b.Env)
	for i := range b.Env {
		b.Env[i].Value = strings.ReplaceAll(b.Env[i].Value, dir, live(dir))
	}
}
