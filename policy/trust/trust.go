// Package trust remembers which project policies a user has agreed to run
// (semantics.md §2.8 "Trust"). Consent covers the content of every file that a
// policy consists of, and keeps a copy of the bytes that it covered: when the
// files are other ones later, that copy decides, and every answer says so.
package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/state"
)

// Env is the variable whose value `all` trusts every project that no consent
// was given for, for containers and continuous integration.
const Env = "HOOKC_TRUST"

// File is the name of the record of consent in a project's state folder.
const File = "trust.json"

// Needed reports whether files of a tier run only when trusted: those that
// come with a project rather than from its user.
func Needed(t policy.Tier) bool { return t == policy.TierProject || t == policy.TierLocal }

// Store is the consent given for one project root, or for another worktree of
// the same repository. It is safe for concurrent use, also by several
// processes.
type Store struct {
	root  string
	env   string
	noDir error
	// own is the state of the root, repo that of home, where consent is recorded.
	own, repo *state.Dir
	home      string
}

// Open returns the consent given for the project at root. It always returns a
// Store: without a place to remember consent in, nothing is trusted and each
// Standing says why.
func Open(root string) *Store {
	abs, err := filepath.Abs(root)
	if err != nil {
		abs = root
	}
	s := &Store{root: abs, env: os.Getenv(Env), home: home(abs)}
	if s.own, s.noDir = state.Open(abs); s.noDir == nil {
		s.repo, s.noDir = state.Open(s.home)
	}
	if s.noDir == nil && s.repo.Path() == s.own.Path() {
		s.repo = s.own
	}
	return s
}

// Path is the file of the record, which need not exist; "" without a place.
func (s *Store) Path() string {
	if s.noDir != nil {
		return ""
	}
	return filepath.Join(s.dir().Path(), File)
}

// Decreed reports whether HOOKC_TRUST=all means a consent that nobody
// gave, so that the files themselves decide.
func (s *Store) Decreed() bool {
	_, err := s.load()
	return s.env == "all" && missing(err)
}

// Input is one place of a project at which a policy is found.
type Input struct {
	Path   string
	Tier   policy.Tier
	Format string
}

// Part is what an agent finds in a project, and all that it consists of.
type Part struct {
	// Profile is the agent whose own configuration it is, "" for hookc's.
	Profile string
	Inputs  []Input
	Sources []policy.SourceFile
}

// Kind is how consent and the files of a project stand to each other.
type Kind uint8

// The kinds. None is a project that has no policy.
const (
	None Kind = iota
	// Decree: no consent was given, and HOOKC_TRUST=all means it.
	Decree
	// Fits: the files are those that consent covers.
	Fits
	// Old: as Fits, of a consent that kept no copy.
	Old
	// Never: no consent was given, or it was withdrawn.
	Never
	// Differs: the files are other ones, and the kept copy is whole.
	Differs
	// Broken: consent was given, and there is nothing whole to decide by.
	Broken
)

// Standing is how consent and the files of a project stand to each other.
type Standing struct {
	Kind Kind
	// Why says in a sentence what is not as it was trusted, and what to do.
	Why string
	// Changed lists the files that differ from what was trusted, are new or
	// are gone: relative to the project root where they lie in it, sorted.
	Changed []string
	// Inputs are what decides: of a kept copy the places in it.
	Inputs []Input
	// Tree is the kept copy, or nil where the project's own files decide.
	Tree *Tree
}

// Consult compares what is found in a project for a profile with what was
// trusted. It opens files only where there is consent to compare them with.
func (s *Store) Consult(profile string, found []Input) Standing {
	r, err := s.load()
	if s.repo != s.own && !missing(err) && s.noDir == nil && s.dir() == s.repo {
		_ = s.link() // without a place for it, .git is believed
	}
	switch {
	case missing(err) && len(found) == 0:
		return Standing{}
	case missing(err) && s.env == "all":
		return Standing{Kind: Decree, Inputs: found}
	case missing(err), s.noDir != nil:
		return Standing{Kind: Never, Why: s.advise("this project was never trusted"), Inputs: found}
	case errors.Is(err, state.ErrCorrupt):
		return Standing{Kind: Broken, Why: s.advise("the record of trust is damaged")}
	case err != nil:
		return Standing{Kind: Broken, Why: s.advise("the record of trust cannot be read (" + err.Error() + ")")}
	}
	if r.Version == oldVersion {
		return s.old(r, profile, found)
	}
	var best Standing
	for _, c := range r.inOrder(s.root) {
		st := s.compare(c, profile, found)
		if st.Kind == Fits || st.Kind == None {
			return st
		}
		if best.Kind == None || best.Kind == Broken && st.Kind == Differs {
			best = st
		}
	}
	return best
}

// Check is Consult for all that is found in a project: the worst of it, with
// every file that differs.
func (s *Store) Check(parts []Part) Standing {
	found := map[string][]Input{}
	if r, err := s.load(); err == nil {
		for _, c := range r.Consents {
			for _, p := range c.Parts {
				found[p.Profile] = nil
			}
		}
	}
	for _, p := range parts {
		found[p.Profile] = p.Inputs
	}
	var worst Standing
	for _, profile := range lists.Keys(found) {
		st := s.Consult(profile, found[profile])
		changed := append(worst.Changed, st.Changed...)
		if st.Kind > worst.Kind {
			worst = st
		}
		worst.Changed = changed
	}
	worst.Changed = lists.Distinct(worst.Changed)
	return worst
}

// Holds reports whether what runs is what is there now.
func (s *Standing) Holds() bool { return s.Kind != Never && s.Kind != Differs && s.Kind != Broken }

// compare is Consult for one of several consents.
func (s *Store) compare(c *consent, profile string, found []Input) Standing {
	p := c.part(profile)
	st := Standing{Kind: Fits, Tree: &Tree{dir: filepath.Join(s.dir().Path(), c.Kept), root: c.Root, now: s.root}}
	if p == nil {
		if len(found) == 0 {
			return Standing{}
		}
		p = &part{}
	}
	st.Changed = changes(s.root, p.Files)
	for _, in := range found {
		known := slices.ContainsFunc(p.Inputs, func(i input) bool { return i.Path == name(s.root, in.Path) })
		if n := name(s.root, in.Path); !known && !lists.Has(st.Changed, n) {
			st.Changed = append(st.Changed, n)
		}
	}
	lists.Sort(st.Changed)
	if bad := st.Tree.verify(p.Files); bad != nil {
		st.Kind, st.Tree = Broken, nil
		st.Why = s.advise("the copy that consent kept cannot be used (" + bad.Error() + ")")
		return st
	}
	for _, i := range p.Inputs {
		tier, _ := policy.ParseTier(i.Tier)
		st.Inputs = append(st.Inputs, Input{Path: st.Tree.Kept(place(s.root, i.Path)), Tier: tier, Format: i.Format})
	}
	if len(st.Changed) > 0 {
		st.Kind, st.Why = Differs, s.advise(changedText(st.Changed)+", and what was trusted then decides")
	}
	return st
}

// old compares with a record of an older hookc, which kept no copy. What it
// covered, it covers for as long as nothing of it has changed.
func (s *Store) old(r *record, profile string, found []Input) Standing {
	if profile != "" {
		if len(found) == 0 {
			return Standing{}
		}
		return Standing{Kind: Never, Why: s.advise("the configuration of " + profile + " was never trusted"), Inputs: found}
	}
	if changed := changes(s.root, r.Files); len(changed) > 0 {
		return Standing{Kind: Broken, Changed: changed,
			Why: s.advise(changedText(changed) + ", and an older hookc kept no copy to decide by")}
	}
	return Standing{Kind: Old, Inputs: found, Why: s.advise("an older hookc recorded that this project is trusted, and kept no copy")}
}

// advise is a reason with what to do about it.
func (s *Store) advise(why string) string {
	if s.env != "" && s.env != "all" {
		return fmt.Sprintf("%s, and %s=%s does not say all; look at it and run `hookc trust`", why, Env, s.env)
	}
	return why + "; look at it and run `hookc trust`"
}

// maxNamed is how many changed files a reason names.
const maxNamed = 5

func changedText(changed []string) string {
	text, n := strings.Join(changed[:min(len(changed), maxNamed)], ", "), len(changed)-maxNamed
	if n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text + " changed since this project was trusted"
}

// Consent is what trusting covers, for the user to see.
type Consent struct {
	// Files lists what is covered, relative to the project root where they
	// lie in it, sorted; Opaque the commands whose files could not be
	// determined and are therefore not covered.
	Files, Opaque []string
}

// Trust records consent to the files as they are now, and keeps a copy of
// them, in place of any earlier consent for this root.
func (s *Store) Trust(parts []Part) (Consent, error) {
	return s.trust(parts, func(*consent) error { return nil })
}

// trust is Trust, unless agreed has something against what is there now.
func (s *Store) trust(parts []Part, agreed func(*consent) error) (Consent, error) {
	if s.noDir != nil {
		return Consent{}, s.noDir
	}
	var given Consent
	err := s.repo.Update(File, func(old []byte) ([]byte, error) {
		folder, err := s.repo.Enter()
		if err != nil {
			return nil, err
		}
		defer folder.Close()
		k, err := begin(folder)
		if err != nil {
			return nil, err
		}
		defer k.abandon()
		c, what, err := s.digest(parts, k)
		if err != nil {
			return nil, err
		}
		given = what
		if err := agreed(c); err != nil {
			return nil, err
		}
		if err := k.finish(c); err != nil {
			return nil, err
		}
		next, err := with(old, c)
		if err != nil {
			return nil, err
		}
		return next, nil
	})
	if err == nil && s.repo != s.own {
		if err = s.link(); err == nil {
			err = s.own.Update(File, none) // what was given before counts no more
		}
	}
	if err != nil {
		return Consent{}, fault.Errorf("recording trust: %w", err)
	}
	s.tidy()
	return given, nil
}

// digest reads what parts consist of, and keeps a copy where k is not nil.
func (s *Store) digest(parts []Part, k *keeper) (*consent, Consent, error) {
	c := &consent{Root: s.root}
	var given Consent
	d := newDigester(s.root, k)
	for _, p := range parts {
		if len(p.Inputs) == 0 {
			continue
		}
		files, err := d.part(p.Sources)
		if err != nil {
			return nil, Consent{}, err
		}
		one := part{Profile: p.Profile, Files: files}
		for _, in := range p.Inputs {
			one.Inputs = append(one.Inputs, input{name(s.root, in.Path), in.Tier.String(), in.Format})
		}
		for _, src := range p.Sources {
			given.Opaque = append(given.Opaque, src.Opaque...)
		}
		for _, e := range files {
			if e.Kind != kindGlob {
				given.Files = append(given.Files, e.Path)
			}
		}
		c.Parts = append(c.Parts, one)
	}
	lists.Sort(given.Files)
	given.Files, given.Opaque = lists.Compact(given.Files), lists.Distinct(given.Opaque)
	return c, given, nil
}

// Forget withdraws consent, for every worktree of the repository; had says
// whether there was any.
func (s *Store) Forget() (had bool, err error) {
	if s.noDir != nil {
		return false, s.noDir
	}
	had = holds(s.dir(), File)
	if err = s.own.Update(linked, none); err == nil {
		err = s.own.Update(File, none)
	}
	if err == nil {
		err = s.repo.Update(File, none)
	}
	if err != nil {
		return false, fault.Errorf("forgetting trust: %w", err)
	}
	s.tidy()
	return had, nil
}

func none([]byte) ([]byte, error) { return nil, nil }
