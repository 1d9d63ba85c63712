//go:build unix

package serve

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/disk"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/trust"
)

// maxWatched bounds the files one plan is compared by; a plan of more is built
// for each event.
const maxWatched = 8192

// prints are the files a plan depends on, as they were when it was built.
type prints struct {
	paths []string
	as    []disk.Print
	// open is true when a file was changed so shortly before that a further
	// change could carry the same time: nothing is the same as that.
	open bool
	// texts are the files and folders that the policy is written in; the others
	// are what its hooks use.
	texts []string
}

// take looks at files, for a plan whose building began at a time.
func take(paths []string, began time.Time) prints {
	p := prints{open: len(paths) > maxWatched}
	seen := map[string]bool{}
	for _, path := range paths {
		at := disk.Look(path)
		for at.Missing() { // what is not there begins with what is not there above it
			above := filepath.Dir(path)
			if !disk.Look(above).Missing() || above == path {
				break
			}
			path = above
		}
		if seen[path] {
			continue
		}
		seen[path] = true
		p.paths, p.as = append(p.paths, path), append(p.as, at)
		p.open = p.open || at.Since(began)
	}
	return p
}

// quiet is how long a file must be left alone before a plan is made of it: until
// then it may be half written.
const quiet = 100 * time.Millisecond

// roots are those of the projects whose policies count.
//
//go:noinline
func (w *wanted) roots() []string {
	return trust.Projects(append(lists.Copy(w.around), w.project)...)
}

// consented are the roots of the projects whose files count as far as consent
// covers them.
func (w *wanted) consented() []string {
	if len(w.words.src.Files) > 0 {
		return nil
	}
	return lists.DeleteFunc(w.roots(), func(root string) bool { return trust.Open(root).Decreed() })
}

// writing reports whether a file that is not as it was has been changed so
// shortly before a time that it may be half written. Of a file that is gone, its
// folder tells. A record of consent is whole whenever it is there, and so is
// what it covers, in one of the roots: a half-written file is another one.
func (p *prints) writing(at time.Time, roots []string) bool {
	in := func(path string) bool {
		return slices.ContainsFunc(roots, func(root string) bool {
			rel, err := filepath.Rel(root, path)
			return err == nil && filepath.IsLocal(rel)
		})
	}
	for i, path := range p.paths {
		if filepath.Base(path) == trust.File && disk.Look(path) != p.as[i] {
			return false // consent was given or withdrawn, which counts at once
		}
	}
	for i, path := range p.paths {
		now := disk.Look(path)
		if now == p.as[i] || in(path) || !slices.ContainsFunc(p.texts, func(text string) bool { return path == text || strings.HasPrefix(path, text+"/") }) {
			continue
		}
		if now.Folder() {
			continue // what came to be in it is looked at itself
		}
		if now.Missing() {
			now = disk.Look(filepath.Dir(path))
		}
		if age := at.Sub(now.Changed()); !now.Missing() && !now.Bad() && age < quiet && age > -quiet {
			return true
		}
	}
	return false
}

// texts lists the files that a policy is written in, Rego and its data among
// them.
func texts(program *dag.Program) []string {
	var out []string
	for _, src := range program.Sources {
		out = append(out, src.Path)
	}
	for _, e := range program.Hooks {
		if file := e.Hook.Body.File; file != "" {
			out = append(out, file)
		}
		if e.Hook.File == nil {
			continue
		}
		for _, shared := range lists.Concat(e.Hook.File.Rego.Paths, e.Hook.File.Rego.Data) {
			out = append(out, shared.Value)
		}
	}
	return lists.Distinct(out)
}

// same reports whether every file is as it was.
func (p *prints) same() bool {
	if p.open {
		return false
	}
	for i, path := range p.paths {
		if disk.Look(path) != p.as[i] {
			return false
		}
	}
	return true
}

// again looks at the same files now.
func (p *prints) again() prints { return take(p.paths, time.Now()) }

// watched lists what a plan depends on: the places where policies are looked
// for, the files that were read, those their hooks name, and consent.
func watched(s *decide.Sources, w *wanted, program *dag.Program) []string {
	l := &fileList{seen: map[string]bool{}}
	for _, value := range s.Files {
		if in, err := source.ParseInput(value); err == nil {
			l.tree(w.from.Path(in.Path))
			if path := w.from.Path(in.Path); decide.IsCompiled(path) {
				for _, source := range decide.DependsOn(path) {
					l.add(source)
				}
			}
		}
	}
	if len(s.Files) == 0 {
		l.places(w)
	}
	for _, src := range program.Sources {
		l.add(src.Path)
		if filepath.Base(src.Path) == "HOOK.md" {
			l.tree(filepath.Dir(src.Path))
		}
		for _, used := range src.Uses {
			l.tree(used)
		}
		for _, folder := range src.Folders {
			l.add(folder)
		}
	}
	return l.paths
}

// places are where policies of every tier are found, there or not.
func (l *fileList) places(w *wanted) {
	tiers := []string{source.ManagedDir()}
	config := w.from.Getenv("XDG_CONFIG_HOME")
	if home := w.from.Getenv("HOME"); !filepath.IsAbs(config) && home != "" {
		config = filepath.Join(home, ".config")
	}
	if config != "" {
		tiers = append(tiers, filepath.Join(config, "hookc"))
		l.tree(filepath.Join(config, "agents", "hooks"))
	}
	for _, dir := range tiers {
		l.add(dir)
		l.add(filepath.Join(dir, "hooks.yaml"))
		l.tree(filepath.Join(dir, "hooks"))
	}
	for _, root := range w.roots() {
		if path := trust.Open(root).Path(); path != "" {
			l.add(path)
		}
		own := filepath.Join(root, ".hookc")
		for _, path := range []string{own, filepath.Join(root, ".git"), filepath.Join(own, "hooks.yaml"), filepath.Join(own, "hooks.local.yaml"), filepath.Join(root, "hooks.yaml")} {
			l.add(path)
		}
		l.tree(filepath.Join(root, ".agents", "hooks"))
	}
}

// fileList collects paths, each once.
type fileList struct {
	paths []string
	seen  map[string]bool
}

//go:noinline
func (l *fileList) add(path string) {
	if !l.seen[path] {
		l.seen[path] = true
		l.paths = append(l.paths, path)
	}
}

// tree adds a file, or a folder with all that is in it.
func (l *fileList) tree(path string) {
	l.add(path)
	_ = filepath.WalkDir(path, func(at string, _ fs.DirEntry, err error) error {
		l.add(at) // what cannot be looked into is compared as what it is
		switch {
		case len(l.paths) > maxWatched:
			return fs.SkipAll
		case err != nil:
			return fs.SkipDir
		}
		return nil
	})
}
