package trust

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/state"
)

// record is consent as it is stored.
type record struct {
	Version  int        `json:"version"`
	Consents []*consent `json:"consents,omitempty"`
	// Spent are copies of consents that were given again, the last ones: a plan
	// made of one may still decide.
	Spent []string `json:"spent,omitempty"`
	// Files are those of a record of version 1, which was one consent.
	Files []entry `json:"files,omitempty"`
}

// consent is one consent: to what a project at Root consisted of.
type consent struct {
	// Kept is the name of the folder with the copy.
	Kept  string `json:"kept"`
	Root  string `json:"root"`
	Parts []part `json:"parts"`
}

type part struct {
	Profile string  `json:"profile,omitempty"`
	Inputs  []input `json:"inputs"`
	Files   []entry `json:"files"`
}

type input struct {
	Path   string `json:"path"`
	Tier   string `json:"tier"`
	Format string `json:"format,omitempty"`
}

const (
	oldVersion    = 1
	recordVersion = 2
	// maxConsents is how many worktrees of a repository may differ in what was
	// trusted; the one trusted longest ago goes first.
	maxConsents = 16
	// maxSpent is how many copies outlast their consent.
	maxSpent = 4
)

func (c *consent) part(profile string) *part {
	for i := range c.Parts {
		if c.Parts[i].Profile == profile {
			return &c.Parts[i]
		}
	}
	return nil
}

// inOrder are the consents, that of root first.
func (r *record) inOrder(root string) []*consent {
	out := lists.Copy(r.Consents)
	slices.SortStableFunc(out, func(a, b *consent) int {
		switch {
		case (a.Root == root) == (b.Root == root):
			return 0
		case a.Root == root:
			return -1
		}
		return 1
	})
	return out
}

// with is the record with one more consent.
func with(old []byte, c *consent) ([]byte, error) {
	r, err := parse(old)
	if errors.Is(err, state.ErrVersion) {
		return nil, err
	}
	if err != nil || r.Version != recordVersion {
		r = &record{Version: recordVersion}
	}
	r.Consents = lists.DeleteFunc(r.Consents, func(o *consent) bool {
		if o.Root == c.Root {
			r.Spent = append([]string{o.Kept}, r.Spent...)
		}
		return o.Root == c.Root
	})
	r.Spent = r.Spent[:min(len(r.Spent), maxSpent)]
	r.Consents = lists.Insert(r.Consents, 0, c)
	for {
		data, err := json.Marshal(r)
		if err != nil || len(r.Consents) <= maxConsents && (len(data) <= state.MaxSize || len(r.Consents) == 1) {
			return data, err
		}
		r.Consents = r.Consents[:len(r.Consents)-1]
	}
}

func (s *Store) load() (*record, error) {
	if s.noDir != nil {
		return nil, s.noDir
	}
	d := s.dir()
	data, err := d.Read(File)
	if err != nil {
		if _, look := os.Lstat(filepath.Join(d.Path(), File)); missing(look) {
			return nil, fs.ErrNotExist // also where there can be no state folder
		}
		return nil, err
	}
	return parse(data)
}

func parse(data []byte) (*record, error) {
	r := &record{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fault.Errorf("%w: %w", state.ErrCorrupt, err)
	}
	if r.Version > recordVersion {
		return nil, fault.Errorf("%s: %w", File, state.ErrVersion)
	}
	whole := r.Version == oldVersion && len(r.Files) > 0
	if r.Version == recordVersion && len(r.Consents) > 0 {
		whole = !slices.ContainsFunc(r.Consents, func(c *consent) bool { return c == nil || !keptName().MatchString(c.Kept) || len(c.Parts) == 0 })
	}
	if !whole {
		return nil, fault.Errorf("%w: version %d", state.ErrCorrupt, r.Version)
	}
	return r, nil
}
