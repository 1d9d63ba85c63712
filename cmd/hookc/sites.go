package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/install"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/state"
)

// target is whose settings a command is about, seen from a folder.
type target struct {
	dialect *agent.Agent
	place   *agent.Settings
	// dir is the working directory, root the project's root, home the user's.
	dir, root, home string
	// start is the folder whose files the agent takes for the project's.
	start string
}

func openAgent(name string) (*target, error) {
	d, err := agent.Find(name)
	if err != nil {
		return nil, cannot("%v", err)
	}
	place, err := d.Settings()
	if err != nil {
		return nil, cannot("%v", err)
	}
	dir, err := workDir()
	if err != nil {
		return nil, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, cannot("%v", err)
	}
	root := policy.ProjectRoot(dir)
	return &target{d, place, dir, root, home, root}, nil
}

// site is one file of an agent's settings on this machine.
type site struct {
	file *agent.File
	path string
	// base is the folder under whose name hookc remembers what it did.
	base   string
	target install.Target
}

func (a *target) site(f *agent.File) *site {
	path := f.Where(a.home, a.start, os.Getenv)
	own, err := os.Executable()
	if err != nil {
		own = ""
	}
	base := a.root
	switch f.Scope() {
	case agent.UserScope:
		base = a.home
	case agent.ManagedScope:
		base = string(filepath.Separator)
	}
	return &site{f, path, base, install.Target{
		Name: shownFrom(a.dir, path), Layout: f.Layout, Handler: a.place.Handler, Key: a.place.Matchers.Key, Unit: a.place.Unit,
		Own: func(command string) bool {
			words := source.CommandWords(command)
			return source.OwnCommand(command) || len(words) > 1 && words[0] == own && words[1] == "run"
		},
	}}
}

// every lists the files the agent reads: where hookc has one of its own in a
// folder, also the others there.
func (a *target) every() []*site {
	var out []*site
	for i := range a.place.Files {
		f := &a.place.Files[i]
		s := a.site(f)
		out = append(out, s)
		if f.Own == "" {
			continue
		}
		items, err := os.ReadDir(filepath.Dir(s.path))
		if err != nil {
			continue // not there, or reported with hookc's own file
		}
		for _, item := range items {
			path := filepath.Join(filepath.Dir(s.path), item.Name())
			if ok, err := filepath.Match(filepath.Base(f.Path), item.Name()); err != nil || !ok || path == s.path {
				continue
			}
			other := *s
			other.path, other.target.Name = path, shownFrom(a.dir, path)
			out = append(out, &other)
		}
	}
	return out
}

// chosen is the file of a scope that hookc is written to: the preferred one,
// unless there is none and another holds hooks already.
func (a *target) chosen(scope agent.Scope) (*site, error) {
	files := a.place.In(scope)
	if len(files) == 0 {
		return nil, cannot("hookc knows no %s settings of %s: --scope takes %s", scope, a.dialect.ID, words(a.place.Scopes()))
	}
	best := a.site(files[0])
	if _, err := os.Lstat(best.path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return best, nil
	}
	for _, f := range files[1:] {
		s := a.site(f)
		if found, _, err := s.read(); err == nil && len(found) > 0 {
			return s, nil
		}
	}
	return best, nil
}

func words(list []string) string {
	text := ""
	for i, w := range list {
		switch {
		case i == 0:
		case i == len(list)-1:
			text += " or "
		default:
			text += ", "
		}
		text += w
	}
	return text
}

// read lists the hooks that stand in the file, and its settings; nothing when
// there is no file.
func (s *site) read() ([]install.Found, map[string]any, error) {
	if s.file.Layout == agent.Folders {
		found, err := s.target.ReadFolders(s.path)
		return found, nil, err
	}
	disk, err := install.Load(s.path)
	if err != nil {
		return nil, nil, err
	}
	return s.target.Read(disk.Content)
}

// rewritten is what was done to one file.
type rewritten struct {
	changes []install.Change
	changed bool
	diff    string
}

const recordsFile = "install.json"

// edit makes want hookc's entries in the file; none takes hookc out. The file
// is locked against other hookc while it changes; dry looks only.
func (s *site) edit(want []install.Entry, dry bool) (*rewritten, error) {
	if s.file.Layout == agent.Folders {
		return s.editFolders(want, dry)
	}
	dir, err := state.Open(s.base)
	if err != nil {
		return nil, cannot("%v", err)
	}
	if dry {
		old, err := dir.Read(recordsFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, state.ErrCorrupt) {
			return nil, cannot("%v", err)
		}
		e, err := s.plan(old, want)
		if err != nil {
			return nil, s.failed(err)
		}
		return e.outcome(s.target.Name), nil
	}
	var done *rewritten
	err = dir.Update(recordsFile, func(old []byte) ([]byte, error) {
		e, err := s.plan(old, want)
		if err != nil {
			return nil, err
		}
		done = e.outcome(s.target.Name)
		return e.carryOut(realPath(s.path))
	})
	if err != nil {
		return nil, s.failed(err)
	}
	return done, nil
}

// failed is an error as people are told it.
func (s *site) failed(err error) error {
	if errors.Is(err, fs.ErrPermission) && s.file.Scope() == agent.ManagedScope {
		return cannot("%v: the machine's settings belong to its administrator", err)
	}
	return cannot("%v", err)
}

// edit is a change of one file that is ready to be made.
type edit struct {
	disk    *install.Disk
	content []byte // nil: the file goes
	changes []install.Change
	records map[string]install.Record
	// record is what is remembered afterwards, nil nothing.
	record *install.Record
}

// plan decides what to write, from what is there and what is remembered.
func (s *site) plan(memory []byte, want []install.Entry) (*edit, error) {
	e := &edit{records: map[string]install.Record{}}
	if json.Unmarshal(memory, &e.records) != nil {
		e.records = map[string]install.Record{}
	}
	var err error
	if e.disk, err = install.Load(s.path); err != nil {
		return nil, err
	}
	record, known := e.records[realPath(s.path)]
	old := e.disk.Content
	if old == nil { // what is remembered is about a file that is gone
		record, known = install.Record{}, false
	}
	out, changes, err := s.target.Edit(old, want, &record.Memo)
	if err != nil {
		return nil, err
	}
	e.content, e.changes = out, changes
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
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// hasOwn reports whether there was an entry before.
func hasOwn(changes []install.Change) bool {
	return slices.ContainsFunc(changes, func(c install.Change) bool { return c.What != "added" })
}

// nothing reports whether a file holds no setting at all.
func (s *site) nothing(content []byte) bool {
	_, settings, err := s.target.Read(content)
	return err == nil && len(settings) == 0
}

func (e *edit) outcome(name string) *rewritten {
	return &rewritten{e.changes, e.changed(), install.Diff(name, e.disk.Content, e.content)}
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

func unlessEmpty(records map[string]install.Record) ([]byte, error) {
	if len(records) == 0 {
		return nil, nil
	}
	return json.Marshal(records)
}

// shownFrom is a path as people in a folder know it.
func shownFrom(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
