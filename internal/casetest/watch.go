package casetest

import (
	"context"
	"path/filepath"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/disk"
)

// inputs are the files that the tests depend on, and the folders in which another
// one may appear.
func (t *tester) inputs() []string {
	var out []string
	add := func(path string) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(t.Dir, path)
		}
		out = append(out, path, filepath.Dir(path))
		beside, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
		if err == nil { // what a case or a rule names lies there
			out = append(out, beside...)
		}
	}
	policies := t.policies()
	for _, p := range policies {
		for _, s := range p.Sources {
			add(s.Path)
			for _, u := range s.Uses {
				add(u)
			}
		}
	}
	for _, c := range t.Cases {
		add(c)
	}
	return lists.Distinct(out)
}

// lookEvery is how often Changed looks at the disk.
const lookEvery = 200 * time.Millisecond

// Watch remembers files, to tell when one of them changes.
type Watch struct {
	prints map[string]disk.Print
}

// Add looks at files, those of a run of tests among them, as they are now. What
// was added before is still watched: a file that is half written names less.
func (w *Watch) Add(r *Report, paths ...string) {
	if w.prints == nil {
		w.prints = map[string]disk.Print{}
	}
	if r != nil {
		paths = append(paths, r.inputs...)
	}
	for _, p := range paths {
		if _, known := w.prints[p]; !known {
			w.prints[p] = disk.Look(p)
		}
	}
}

// Changed waits until a file is another one than it was. The error is ctx's.
func (w *Watch) Changed(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		changed := false
		for p, was := range w.prints {
			if now := disk.Look(p); now != was {
				w.prints[p], changed = now, true
			}
		}
		if changed {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
