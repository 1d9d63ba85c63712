// Package sites knows the files of agents' settings on this machine: where hookc is written
// to, what stands there, and what a policy asks of the agent.
package sites

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/install"
	"github.com/hookc/hookc/policy/source/commandline"
	"github.com/hookc/hookc/policy/state"
)

// Agent is whose settings a command is about, seen from a folder.
type Agent struct {
	Dialect *agent.Agent
	Place   *agent.Settings
	// Dir is the working directory, Root the project's root, home the user's.
	Dir, Root, home string
	// Start is the folder whose files the agent takes for the project's.
	Start string
}

// Open finds the settings of an agent, seen from a folder.
func Open(name, dir string) (*Agent, error) {
	d, err := agent.Find(name)
	if err != nil {
		return nil, err
	}
	place, err := d.Settings()
	if err != nil {
		return nil, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	root := policy.ProjectRoot(dir)
	return &Agent{d, place, dir, root, home, root}, nil
}

// Site is one file of an agent's settings on this machine.
type Site struct {
	File *agent.File
	Path string
	// base is the folder under whose name hookc remembers what it did.
	base   string
	Target install.Target
}

// Site is one of the files.
func (a *Agent) Site(f *agent.File) *Site {
	path := f.Where(a.home, a.Start, os.Getenv)
	own, err := os.Executable()
	if err != nil {
		own = ""
	}
	base := a.Root
	switch f.Scope() {
	case agent.UserScope:
		base = a.home
	case agent.ManagedScope:
		base = string(filepath.Separator)
	}
	return &Site{f, path, base, install.Target{
		Name: paths.ShownFrom(a.Dir, path), Layout: f.Layout, Handler: a.Place.Handler, Key: a.Place.Matchers.Key, Unit: a.Place.Unit,
		Own: func(command string) bool {
			words := commandline.Words(command)
			return commandline.Own(command) || len(words) > 1 && words[0] == own && words[1] == "run"
		},
	}}
}

// Every lists the files the agent reads: where hookc has one of its own in a
// folder, also the others there.
func (a *Agent) Every() []*Site {
	var out []*Site
	for i := range a.Place.Files {
		f := &a.Place.Files[i]
		s := a.Site(f)
		out = append(out, s)
		if f.Own == "" {
			continue
		}
		items, err := os.ReadDir(filepath.Dir(s.Path))
		if err != nil {
			continue // not there, or reported with hookc's own file
		}
		for _, item := range items {
			path := filepath.Join(filepath.Dir(s.Path), item.Name())
			if ok, err := filepath.Match(filepath.Base(f.Path), item.Name()); err != nil || !ok || path == s.Path {
				continue
			}
			other := *s
			other.Path, other.Target.Name = path, paths.ShownFrom(a.Dir, path)
			out = append(out, &other)
		}
	}
	return out
}

// Chosen is the file of a scope that hookc is written to: the preferred one,
// unless there is none and another holds hooks already.
func (a *Agent) Chosen(scope agent.Scope) (*Site, error) {
	files := a.Place.In(scope)
	if len(files) == 0 {
		return nil, fault.Errorf("hookc knows no %s settings of %s: --scope takes %s", scope, a.Dialect.ID, spell.Or(a.Place.Scopes()))
	}
	best := a.Site(files[0])
	if _, err := os.Lstat(best.Path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return best, nil
	}
	for _, f := range files[1:] {
		s := a.Site(f)
		if found, _, err := s.Read(); err == nil && len(found) > 0 {
			return s, nil
		}
	}
	return best, nil
}

// Read lists the hooks that stand in the file, and its settings; nothing when
// there is no file.
func (s *Site) Read() ([]install.Found, map[string]any, error) {
	if s.File.Layout == agent.Folders {
		found, err := s.Target.ReadFolders(s.Path)
		return found, nil, err
	}
	disk, err := install.Load(s.Path)
	if err != nil {
		return nil, nil, err
	}
	return s.Target.Read(disk.Content)
}

// Done is what was done to one file.
type Done struct {
	Changes []install.Change
	Changed bool
	Diff    string
}

const recordsFile = "install.json"

// Edit makes want hookc's entries in the file; none takes hookc out. The file
// is locked against other hookc while it changes; dry looks only.
func (s *Site) Edit(want []install.Entry, dry bool) (*Done, error) {
	if s.File.Layout == agent.Folders {
		return s.editFolders(want, dry)
	}
	dir, err := state.Open(s.base)
	if err != nil {
		return nil, err
	}
	if dry {
		old, err := dir.Read(recordsFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, state.ErrCorrupt) {
			return nil, err
		}
		e, err := s.plan(old, want)
		if err != nil {
			return nil, s.Failed(err)
		}
		return e.outcome(s.Target.Name), nil
	}
	var done *Done
	err = dir.Update(recordsFile, func(old []byte) ([]byte, error) {
		e, err := s.plan(old, want)
		if err != nil {
			return nil, err
		}
		done = e.outcome(s.Target.Name)
		return e.carryOut(realPath(s.Path))
	})
	if err != nil {
		return nil, s.Failed(err)
	}
	return done, nil
}

// Failed is an error as people are told it.
func (s *Site) Failed(err error) error {
	if errors.Is(err, fs.ErrPermission) && s.File.Scope() == agent.ManagedScope {
		return fault.Errorf("%w: the machine's settings belong to its administrator", err)
	}
	return err
}

// edit is a change of one file that is ready to be made.
type edit struct {
	disk    *install.Disk
	content []byte // nil: the file goes
	made    []install.Change
	records map[string]install.Record
	// record is what is remembered afterwards, nil nothing.
	record *install.Record
}

// plan decides what to write, from what is there and what is remembered.
func (s *Site) plan(memory []byte, want []install.Entry) (*edit, error) {
	e := &edit{records: map[string]install.Record{}}
	if json.Unmarshal(memory, &e.records) != nil {
		e.records = map[string]install.Record{}
	}
	var err error
	if e.disk, err = install.Load(s.Path); err != nil {
		return nil, err
	}
	record, known := e.records[realPath(s.Path)]
	old := e.disk.Content
	if old == nil { // what is remembered is about a file that is gone
		record, known = install.Record{}, false
	}
	out, changes, err := s.Target.Edit(old, want, &record.Memo)
	if err != nil {
		return nil, err
	}
	e.content, e.made = out, changes
	pristine, exact := record.Undo(old)
	switch {
	case len(want) == 0:
		if exact {
			e.content = pristine
		}
		if record.Created && (exact || s.nothing(out)) {
			e.content = nil
		}
		return e, nil
	case bytes.Equal(old, out) && old != nil:
		if known {
			e.record = &record
		}
		return e, nil
	case exact:
	case !known && !hasOwn(changes):
		pristine = old
	default: // somebody changed it meanwhile: only the entries are known
		e.record = &install.Record{Created: record.Created, Folders: record.Folders, Memo: record.Memo}
		return e, nil
	}
	next := install.Remember(pristine, out)
	next.Created, next.Folders, next.Memo = known && record.Created || !known && old == nil, record.Folders, record.Memo
	e.record = &next
	return e, nil
}

// realPath is a path without symbolic links, as far as it is there.
func realPath(path string) string {
	if real, err := paths.Real(path, ""); err == nil {
		return filepath.FromSlash(real)
	}
	return path
}

// hasOwn reports whether there was an entry before.
func hasOwn(changes []install.Change) bool {
	return slices.ContainsFunc(changes, func(c install.Change) bool { return c.What != "added" })
}

// nothing reports whether a file holds no setting at all.
func (s *Site) nothing(content []byte) bool {
	_, settings, err := s.Target.Read(content)
	return err == nil && len(settings) == 0
}

func (e *edit) outcome(name string) *Done {
	return &Done{e.made, e.changed(), install.Diff(name, e.disk.Content, e.content)}
}

func (e *edit) changed() bool {
	return !bytes.Equal(e.disk.Content, e.content) || (e.disk.Content == nil) != (e.content == nil)
}

// carryOut writes the file and returns what to remember under its name.
func (e *edit) carryOut(name string) ([]byte, error) {
	old, known := e.records[name]
	switch {
	case !e.changed():
	case e.content == nil:
		if err := e.disk.Remove(old.Folders); err != nil {
			return nil, err
		}
	default:
		made, err := e.disk.Replace(e.content)
		if err != nil {
			return nil, err
		}
		if e.record != nil && len(made) > 0 {
			e.record.Folders = made
		}
	}
	if e.record == nil && !known {
		return unlessEmpty(e.records)
	}
	delete(e.records, name)
	if e.record != nil {
		e.records[name] = *e.record
	}
	return unlessEmpty(e.records)
}

//go:noinline
func unlessEmpty(records map[string]install.Record) ([]byte, error) {
	if len(records) == 0 {
		return nil, nil
	}
	return json.Marshal(records)
}
