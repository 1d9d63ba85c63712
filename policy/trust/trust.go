// Package trust remembers which project policies a user has agreed to run
// (cli.md "Policy sources"). Consent covers the content of every project file
// a policy names, not a path: what changed afterwards must be trusted again,
// and until then its hooks are listed, not run.
package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/state"
)

// Env is the variable whose value `all` trusts everything discovered, for
// containers and continuous integration.
const Env = "HOOKC_TRUST"

// File is the name of the record of consent in a project's state folder.
const File = "trust.json"

const stateFile = File

// Needed reports whether files of a tier run only when trusted: those that
// come with a project rather than from its user.
func Needed(t policy.Tier) bool { return t == policy.TierProject || t == policy.TierLocal }

// Store is the consent given for one project root. It is safe for concurrent
// use, also by several processes.
type Store struct {
	root  string
	env   string
	dir   *state.Dir
	noDir error
}

// Open returns the consent given for the project at root. It always returns a
// Store: without a place to remember consent in, nothing is trusted and each
// Verdict says why.
func Open(root string) *Store {
	abs, err := filepath.Abs(root)
	if err != nil {
		abs = root
	}
	s := &Store{root: abs, env: os.Getenv(Env)}
	s.dir, s.noDir = state.Open(abs)
	return s
}

// Verdict is whether discovered files may run.
type Verdict struct {
	Trusted bool
	// Why says in a sentence why not, and what to do; or, when everything is
	// trusted by decree, that it is.
	Why string
	// Changed lists the files that differ from what was trusted, are new or
	// are gone: relative to the project root where they lie in it, sorted.
	Changed []string
	// Never is true when there is no consent to compare with: none was given,
	// or the record of it cannot be read.
	Never bool
}

// All reports whether the environment trusts everything discovered.
func (s *Store) All() bool { return s.env == "all" }

// Withheld says why nothing of the project may be read for a decision, or "".
// It looks at the record of consent alone, and at no file of the project.
func (s *Store) Withheld() string {
	if s.All() {
		return ""
	}
	if _, err := s.load(); err != nil {
		return s.never(err).Why
	}
	return ""
}

// Check compares the discovered files of a project with what was trusted: the
// policy files and all they use. Anything that cannot be read, found or
// compared is not trusted.
func (s *Store) Check(files []policy.SourceFile) Verdict {
	if len(files) == 0 {
		return Verdict{Trusted: true}
	}
	if s.All() {
		return Verdict{Trusted: true, Why: Env + "=all"}
	}
	record, err := s.load()
	if err != nil {
		return s.never(err)
	}
	now, err := digest(s.root, files)
	if err != nil {
		return Verdict{Why: s.refuse(err.Error())}
	}
	if changed := difference(record.Files, now); len(changed) > 0 {
		return Verdict{Why: s.refuse(changedText(changed)), Changed: changed}
	}
	return Verdict{Trusted: true}
}

// never is the verdict where there is no record of consent to compare with.
func (s *Store) never(err error) Verdict {
	why := "the record of trust cannot be read (" + err.Error() + ")"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		why = "this project was never trusted"
	case errors.Is(err, state.ErrCorrupt):
		why = "the record of trust is damaged"
	}
	return Verdict{Never: true, Why: s.refuse(why)}
}

// refuse is a reason with what to do about it.
func (s *Store) refuse(why string) string {
	if s.env != "" {
		return fmt.Sprintf("%s, and %s=%s does not say all; look at it and run `hookc trust`", why, Env, s.env)
	}
	return why + "; look at it and run `hookc trust`"
}

func changedText(changed []string) string {
	if len(changed) == 1 {
		return changed[0] + " changed since this project was trusted"
	}
	return fmt.Sprintf("%s and %d more changed since this project was trusted", changed[0], len(changed)-1)
}

// Consent is what trusting covers, for the user to see.
type Consent struct {
	// Files lists what is covered, relative to the project root where they
	// lie in it, sorted; Opaque the commands whose files could not be
	// determined and are therefore not covered.
	Files, Opaque []string
}

// Trust records consent to the files as they are now, in place of any earlier
// consent for this project. It fails when a file cannot be read: what cannot
// be read cannot be agreed to.
func (s *Store) Trust(files []policy.SourceFile) (Consent, error) {
	if s.noDir != nil {
		return Consent{}, s.noDir
	}
	entries, err := digest(s.root, files)
	if err != nil {
		return Consent{}, err
	}
	data, err := json.Marshal(record{Version: recordVersion, Files: entries})
	if err != nil {
		return Consent{}, fmt.Errorf("recording trust: %w", err)
	}
	if err := s.dir.Update(stateFile, func([]byte) ([]byte, error) { return data, nil }); err != nil {
		return Consent{}, fmt.Errorf("recording trust: %w", err)
	}
	return consent(entries, files), nil
}

// Forget withdraws consent; had says whether there was any.
func (s *Store) Forget() (had bool, err error) {
	if s.noDir != nil {
		return false, s.noDir
	}
	err = s.dir.Update(stateFile, func(old []byte) ([]byte, error) {
		had = old != nil
		return nil, nil
	})
	if err != nil {
		return false, fmt.Errorf("forgetting trust: %w", err)
	}
	return had, nil
}

func consent(entries []entry, files []policy.SourceFile) Consent {
	var c Consent
	for _, e := range entries {
		c.Files = append(c.Files, e.Path)
	}
	for _, f := range files {
		c.Opaque = append(c.Opaque, f.Opaque...)
	}
	slices.Sort(c.Opaque)
	c.Opaque = slices.Compact(c.Opaque)
	return c
}

// record is consent as it is stored.
type record struct {
	Version int     `json:"version"`
	Files   []entry `json:"files"`
}

const recordVersion = 1

func (s *Store) load() (record, error) {
	var r record
	if s.noDir != nil {
		return r, s.noDir
	}
	data, err := s.dir.Read(stateFile)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%w: %w", state.ErrCorrupt, err)
	}
	if r.Version != recordVersion || len(r.Files) == 0 {
		return r, fmt.Errorf("%w: version %d", state.ErrCorrupt, r.Version)
	}
	return r, nil
}
