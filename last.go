package hookc

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/artifact"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/state"
	"github.com/hookc/hookc/policy/trust"
	"github.com/hookc/hookc/rego"
)

const (
	// halfWritten is how long after a change a file may still be half written.
	halfWritten = time.Second
	// quiet is how long a file must be left alone to count as whole, where there
	// is no earlier plan to decide by.
	quiet = 100 * time.Millisecond
	// maxLast is how many plans one state folder keeps, lastPrefix begins their
	// names.
	maxLast    = 8
	lastPrefix = "last-"
	// longestKept is the longest compilation that is done a second time, to keep
	// the plan.
	longestKept = time.Second
)

var codeHalfWritten = diag.Define("HK023", diag.Warning, "policy that is being written").Guarding().Unprovoked("It depends on the time of a change, so there is no example.")

// lastPlans is where the last plan that compiled is kept.
type lastPlans struct {
	dir   *state.Dir
	now   func() time.Time
	sleep func(time.Duration)
	// projects are the folders whose files consent covers; user is where the
	// user's own policies are, which may be below one.
	projects []string
	user     string
}

// keepLast keeps plans in a state folder.
func (c *config) keepLast(dir *state.Dir) {
	c.last = lastPlans{dir: dir, now: time.Now, sleep: time.Sleep}
}

// keeps reports whether a last plan is to be kept and used.
func (c *config) keeps() bool {
	return c.last.dir != nil && c.artifact.path == "" && len(c.answers) == 0 && len(c.compile.Without) == 0 &&
		(c.discover != "" || lists.Some(c.inputs, func(in *source.Input) bool { return in.Content == nil }))
}

// steady is the plan of files that nobody is writing, or the last one.
func (c *config) steady(m *Metrics) (*live, error) {
	if c.discover != "" {
		c.last.user = source.UserDir()
		for _, root := range c.discovery().Roots {
			if !trust.Open(root).Decreed() {
				c.last.projects = append(c.last.projects, root)
			}
		}
	}
	name := c.lastName()
	last := c.lastPlan(name)
	until := c.last.now().Add(halfWritten)
	for {
		began := c.last.now()
		p, found := c.load()
		changed, young := c.young(p, last, began)
		if young != "" && last != nil {
			if l, err := c.fromLast(last, young, m); err == nil {
				return l, nil
			}
		}
		if at, known := artifact.LastChange(young); young != "" && known && began.Before(until) {
			if wait := at.Add(quiet).Sub(began); wait > 0 {
				c.last.sleep(min(wait, quiet))
				continue
			}
		}
		l, err := c.compiled(p, found, m)
		if err != nil {
			return nil, err
		}
		switch {
		case young != "" && !began.Before(until):
			l.program.Warnings = append(l.program.Warnings, policy.Warning{Code: codeHalfWritten, Text: c.display(young) + " is being written all the time"})
		case young == "" && changed && l.program.Compiled < longestKept:
			c.keepPlan(name)
		}
		return l, nil
	}
}

// young is a file of the policy that was changed less than a second before a
// time, "" when there is none; changed is true when the policy is not the last
// one. What consent covers byte for byte is whole.
func (c *config) young(p *policy.Policy, last *artifact.File, began time.Time) (changed bool, young string) {
	known := map[string]bool{}
	written := c.written(p)
	var paths []string
	if last != nil {
		sources, err := last.Sources()
		if err != nil {
			return true, ""
		}
		for _, s := range sources {
			known[s.Path] = true
		}
		changes, _ := last.Changes()
		changed = len(changes) > 0
		for _, s := range changes {
			// A folder is never half written; what came to be in it is looked at
			// itself, and a file that went with its folder was taken away.
			_, there := os.Lstat(s.Path)
			_, above := os.Stat(filepath.Dir(s.Path))
			if above == nil && !s.Print.Folder && (written(s.Path) || there != nil) {
				paths = append(paths, s.Path)
			}
		}
	}
	for _, path := range c.depends(p) {
		if known[path] || !written(path) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		at, ok := artifact.LastChange(path)
		if !ok || c.last.consented(path) {
			continue
		}
		if age := began.Sub(at); age < halfWritten && age > -halfWritten {
			return true, path
		}
	}
	return last == nil || changed || len(paths) > 0, ""
}

// written reports whether a file is one that a policy is written in, and not one
// that its hooks use and may write themselves.
func (c *config) written(p *policy.Policy) func(path string) bool {
	var texts []string
	for _, in := range c.placed() {
		texts = append(texts, in.Path)
	}
	for _, src := range p.Sources {
		texts = append(texts, src.Path)
	}
	for _, h := range p.Hooks {
		texts = append(texts, h.Body.File)
		if h.File == nil {
			continue
		}
		for _, shared := range lists.Concat(h.File.Rego.Paths, h.File.Rego.Data) {
			texts = append(texts, shared.Value)
		}
	}
	folders := lists.DeleteFunc(lists.Copy(texts), func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.IsDir() || lists.Some(c.inputs, func(in *source.Input) bool { return in.Path == path })
	})
	return func(path string) bool {
		return lists.Has(texts, path) || slices.ContainsFunc(folders, func(dir string) bool { return within(dir, path) })
	}
}

// consented reports whether a file comes with the project, so that consent
// covers its bytes: a change of it is judged by that.
func (l *lastPlans) consented(path string) bool {
	return filepath.Base(path) != trust.File && !within(l.user, path) &&
		slices.ContainsFunc(l.projects, func(root string) bool { return within(root, path) })
}

// within reports whether a path is a folder or lies in it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return dir != "" && err == nil && filepath.IsLocal(rel)
}

// lastName is the name of the plan of what is configured: the same sources
// under the same circumstances.
func (c *config) lastName() string {
	h := sha256.New()
	for _, in := range c.placed() {
		fmt.Fprintf(h, "%q %d %q\n", in.Path, in.Tier, in.Format)
	}
	conditions := c.conditions(nil)
	fmt.Fprintf(h, "%q %q %v %v", absolutePath(c.discover), c.around, conditions.Vars, conditions.Flags)
	return lastPrefix + hex.EncodeToString(h.Sum(nil)[:12])
}

// lastPlan reads the last plan, nil when there is none that can be used: it is
// damaged, of another hookc, or consent is not what it was.
func (c *config) lastPlan(name string) *artifact.File {
	data, err := c.last.dir.Read(name)
	if err != nil {
		return nil
	}
	f, err := artifact.Parse(filepath.Join(c.last.dir.Path(), name), data)
	if err != nil || f.MadeBy(ownBuild(), release()) != nil || f.Fits(c.environ()) != nil {
		return nil
	}
	changes, err := f.Changes()
	if err != nil || slices.ContainsFunc(changes, func(s artifact.Source) bool { return filepath.Base(s.Path) == trust.File }) {
		return nil
	}
	return f
}

// fromLast is the last plan as one that is in force, because of a file.
func (c *config) fromLast(f *artifact.File, young string, m *Metrics) (*live, error) {
	from := *c
	from.artifact = artifactConfig{path: f.Path, kept: f, stale: true, shared: new(atomic.Pointer[rego.Shared])}
	from.inputs, from.discover, from.cache = nil, "", nil
	l, err := from.restored(m)
	if err != nil {
		return nil, err
	}
	l.program.Warnings = append(l.program.Warnings, policy.Warning{Code: codeHalfWritten,
		Text: c.display(young) + " was written less than a second ago: the plan before that decides"})
	return l, nil
}

// display is a path as people are shown it.
func (c *config) display(path string) string {
	if rel, err := filepath.Rel(c.shown, path); c.shown != "" && err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// keepPlan keeps the plan of the policy as it is, in the place of the one
// before. Where that fails there is none to fall back to, and no harm: then a
// file that is being written is waited for.
func (c *config) keepPlan(name string) {
	all := *c
	all.cache, all.compile.Once, all.compile.Cache = nil, false, nil
	x, _, settled, err := all.artifactOf(c.last.now())
	if err != nil || x == nil || !settled {
		return
	}
	data := x.bytes()
	if len(data) > state.MaxSize {
		return
	}
	if c.last.dir.UpdateLazy(name, func([]byte) ([]byte, error) { return data, nil }) == nil {
		c.forgetOldest()
	}
}

// forgetOldest bounds the number of plans that are kept.
func (c *config) forgetOldest() {
	entries, err := os.ReadDir(c.last.dir.Path())
	if err != nil {
		return
	}
	type plan struct {
		name string
		at   time.Time
	}
	var plans []plan
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), lastPrefix) && filepath.Ext(e.Name()) == "" {
			plans = append(plans, plan{e.Name(), info.ModTime()})
		}
	}
	sort.Slice(plans, func(i, j int) bool { return plans[i].at.Before(plans[j].at) })
	for _, old := range plans[:max(0, len(plans)-maxLast)] {
		_ = c.last.dir.UpdateLazy(old.name, func([]byte) ([]byte, error) { return nil, nil }) // it stays, and goes next time
	}
}
