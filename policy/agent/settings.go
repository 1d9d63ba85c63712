package agent

import (
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
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

// Settings is how an agent's own settings hold hooks: how they are read, and how
// hookc is put into them as a hook. Values are immutable.
type Settings struct {
	// Files are those of the agent that are written or looked at, in the order of
	// their scopes.
	Files []File
	// Reading is how the agent reads them.
	Reading Reading
	// Handler is how one hook is written.
	Handler Handler
	// Unit is what a timeout is counted in, Most the longest the agent takes
	// (0 is no limit), Standard what it takes when none is written.
	Unit, Most, Standard time.Duration
	// Matchers is the agent's syntax of conditions on a tool's name.
	Matchers Matchers
	// Covered lists events that another event of the agent means, so
	// that hookc is not asked twice about one thing.
	Covered []string
	// Switches turn hooks off.
	Switches []Switch
	// Replaces is true when a later file's hooks on an event take the place of
	// an earlier file's.
	Replaces bool
	// StartOnly is true when the agent looks for the files of a project in the
	// folder that it is started in alone, and in none above.
	StartOnly bool
	// Trust says in a sentence what the agent itself must be told before it
	// runs such hooks, or is empty.
	Trust string
	// Trusted is where a file that can be read records that trust, with dots;
	// "" when none does.
	Trusted string
}

// Handler names the keys of one hook; an empty one is left out.
type Handler struct {
	Type, Command, Timeout, Name string
	// Also are further keys under which a hook may have its command.
	Also []string
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
	// SparesManaged is true when the machine's own hooks run all the same, whoever
	// turned it.
	SparesManaged bool
	// Ranks are the tiers whose files may turn it, the first that does counts; none
	// where the reader of the settings has a rule of its own. A file of another tier
	// than the machine's spares the machine's hooks unless TurnsManaged.
	Ranks        []policy.Tier
	TurnsManaged bool
}

// HookName is the name under which hookc stands where hooks have names.
const HookName = "hookc"

// claudeHandler is the form most agents took over from Claude Code.
var claudeHandler = Handler{Type: "command", Command: "command", Timeout: "timeout"}

// Scope is whose settings the file holds; "" is nobody's that install knows.
//
//go:noinline
func (f *File) Scope() Scope {
	switch f.Tier {
	case policy.TierManaged:
		return ManagedScope
	case policy.TierUser:
		return UserScope
	case policy.TierProject:
		return ProjectScope
	case policy.TierLocal:
		return LocalScope
	}
	return ""
}

// Where is the file under a user's home and a project's root; getenv reads the
// environment.
func (f *File) Where(home, root string, getenv func(string) string) string {
	under := func(base, file string) string {
		if f.Own != "" {
			file = path.Join(path.Dir(file), f.Own)
		}
		return filepath.Join(base, filepath.FromSlash(file))
	}
	switch f.Base {
	case System:
		return under(string(filepath.Separator), f.Path)
	case Home:
		if dir := getenv(f.Env); f.Env != "" && filepath.IsAbs(dir) {
			return under(dir, lists.First(f.EnvPath, f.Path))
		}
		return under(home, f.Path)
	}
	return under(root, f.Path)
}

// Settings is how the agent's settings hold hooks, or an error when that is not
// known.
func (d *Agent) Settings() (*Settings, error) {
	if d.settings != nil {
		return d.settings, nil
	}
	return nil, fault.Errorf("hookc cannot be installed for %s: %s", d.ID, diag.DidYouMean(d.ID, Installable(), "there are "+strings.Join(Installable(), ", ")))
}

// Protected lists the files and folders of all agents that decide what they run
// and what they may do, as path-guard takes them.
func Protected() []string {
	var out []string
	for _, a := range All() {
		for _, f := range a.Files {
			name, _, _ := spell.Cut(f.Path, "/*")
			switch f.Base {
			case Home:
				name = "~/" + name
			case System:
				name = "/" + name
			}
			out = append(out, name)
		}
		out = append(out, a.protects...)
	}
	return lists.Distinct(out)
}

// Variables lists the variables that say where an agent keeps its settings, sorted.
func Variables() []string {
	var out []string
	for _, a := range All() {
		for _, f := range a.Files {
			if f.Env != "" && !strings.HasPrefix(f.Env, "XDG_") {
				out = append(out, f.Env)
			}
		}
	}
	return lists.Distinct(out)
}

// installed are the files that install writes or looks at, those of users
// before those of projects, the machine's last.
func installed(files []File) []File {
	order := []Scope{UserScope, ProjectScope, LocalScope, ManagedScope}
	out := lists.Without(files, func(f *File) bool { return f.Install == Ignored })
	sort.SliceStable(out, func(i, j int) bool { return slices.Index(order, out[i].Scope()) < slices.Index(order, out[j].Scope()) })
	return out
}

// Installable lists the agents that hookc can be installed for, sorted.
func Installable() []string {
	var out []string
	for _, d := range All() {
		if _, err := d.Settings(); err == nil && !strings.Contains(d.ID, "@") {
			out = append(out, d.ID)
		}
	}
	return out
}

// Scopes are those in which the agent has a file that hookc writes.
func (p *Settings) Scopes() []string {
	var out []string
	for _, s := range Scopes() {
		if len(p.In(Scope(s))) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// In are the files of a scope that hookc writes, the preferred first.
func (p *Settings) In(s Scope) []*File {
	var out []*File
	for i := range p.Files {
		if f := &p.Files[i]; f.Scope() == s && f.Install != Looks {
			out = append(out, f)
		}
	}
	return out
}
