package agent

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookc/hookc/policy/diag"
)

// Layout is how a file of an agent's settings holds hooks.
type Layout uint8

// The layouts.
const (
	// Groups is JSON as Claude Code has it: under hooks, a list of groups for
	// each event, each with a matcher and a list of handlers.
	Groups Layout = iota
	// Flat is JSON of version 1: under hooks, a list of handlers for each
	// event.
	Flat
	// GroupTables is TOML with [[hooks.EVENT]] and [[hooks.EVENT.hooks]].
	GroupTables
	// FlatTables is TOML with one [[hooks]] for each handler.
	FlatTables
	// EventLists is YAML: at the top a list of hooks for each event.
	EventLists
	// Folders is a folder with one HOOK.md folder for each event.
	Folders
)

// Scope is whose settings a file holds.
type Scope string

// The scopes. LocalScope is a project's file that is not shared; hookc reads
// it and never writes there. ManagedScope is the machine's.
const (
	UserScope    Scope = "user"
	ProjectScope Scope = "project"
	LocalScope   Scope = "local"
	ManagedScope Scope = "managed"
)

// Scopes are those that hookc writes, in the order they are offered.
func Scopes() []string {
	return []string{string(UserScope), string(ProjectScope), string(ManagedScope)}
}

// Place is how hookc is put into an agent's own settings as its hook. Values
// are immutable.
type Place struct {
	// Files are the files the agent reads, the least specific first.
	Files []PlaceFile
	// Handler is how one hook is written.
	Handler Handler
	// Unit is what a timeout is counted in, Most the longest the agent takes
	// (0 is no limit), Standard what it takes when none is written.
	Unit, Most, Standard time.Duration
	// Matchers is the agent's syntax of conditions on a tool's name.
	Matchers Matchers
	// Covered lists events that another event of the agent stands for, so
	// that hookc is not asked twice about one thing.
	Covered []string
	// Switches turn hooks off.
	Switches []Switch
	// Replaces is true when a later file's hooks on an event take the place of
	// an earlier file's.
	Replaces bool
	// Trust says in a sentence what the agent itself must be told before it
	// runs such hooks, or is empty.
	Trust string
	// Trusted is where a file that can be read records that trust, with dots;
	// "" when none does.
	Trusted string
}

// PlaceFile is one file of an agent's settings.
type PlaceFile struct {
	Scope  Scope
	Layout Layout
	// Path is relative to the user's home or the project's root, absolute for
	// the machine's files; with slashes. The last part may hold a `*`: then
	// hookc has a file of its own, called Own.
	Path string
	Own  string
	// Env, when set, is a variable that holds the folder to use for Dir, the
	// beginning of Path.
	Env, Dir string
	// ReadOnly files are looked at and never written.
	ReadOnly bool
	// Instead is true for a file that is written only when it holds hooks
	// already and the one before it does not exist.
	Instead bool
}

// Handler names the keys of one hook; an empty one is left out.
type Handler struct {
	Type, Command, Timeout, Name string
	// Closed is the key, and ClosedValue its value, that make the agent refuse
	// when the hook itself fails; written where an action is guarded.
	Closed      string
	ClosedValue any
	// Version is true when the file must have "version": 1.
	Version bool
}

// Switch is a setting that turns hooks off.
type Switch struct {
	// Path is where it is, with dots.
	Path string
	// Off is the value that turns all hooks off.
	Off bool
	// Names is true for a list of names or commands of hooks that do not run.
	Names bool
	// SparesManaged is true when the machine's own hooks run all the same.
	SparesManaged bool
}

// HookName is the name under which hookc stands where hooks have names.
const HookName = "hookc"

// Where is the file under a user's home and a project's root; getenv reads the
// environment.
func (f *PlaceFile) Where(home, root string, getenv func(string) string) string {
	base := f.Path
	if f.Own != "" {
		base = path.Join(path.Dir(f.Path), f.Own)
	}
	switch f.Scope {
	case ManagedScope:
		return filepath.FromSlash(base)
	case UserScope:
		if dir := getenv(f.Env); f.Env != "" && filepath.IsAbs(dir) {
			return filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(base, f.Dir)))
		}
		return filepath.Join(home, filepath.FromSlash(base))
	}
	return filepath.Join(root, filepath.FromSlash(base))
}

// Place is how hookc is installed for the agent, or an error when that is not
// known.
func (d *Agent) Place() (*Place, error) {
	base, _, _ := strings.Cut(d.ID, "@")
	for i := range places {
		if places[i].id == base {
			return &places[i].Place, nil
		}
	}
	return nil, fmt.Errorf("hookc cannot be installed for %s: %s", d.ID, diag.DidYouMean(d.ID, Installable(), "there are "+strings.Join(Installable(), ", ")))
}

// Installable lists the agents that hookc can be installed for, sorted.
func Installable() []string {
	var out []string
	for _, d := range All() {
		if _, err := d.Place(); err == nil && !strings.Contains(d.ID, "@") {
			out = append(out, d.ID)
		}
	}
	return out
}

// Scopes are those in which the agent has a file that hookc writes.
func (p *Place) Scopes() []string {
	var out []string
	for _, s := range Scopes() {
		if len(p.In(Scope(s))) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// In are the files of a scope that hookc writes, the preferred first.
func (p *Place) In(s Scope) []*PlaceFile {
	var out []*PlaceFile
	for i := range p.Files {
		if f := &p.Files[i]; f.Scope == s && !f.ReadOnly {
			out = append(out, f)
		}
	}
	return out
}
