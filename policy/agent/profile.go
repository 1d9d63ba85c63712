package agent

import (
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Profile is what an agent's own configuration means: where it is kept, in
// which order its hooks stand, how they are run and how their answers
// combine. How a file is written is package source's to know.
type Profile struct {
	// Tools are the names of the tools the agent has on its own, and Open globs of
	// those it may have besides; none when hookc does not know them.
	Tools, Open []string
	// Called are names of tools in other agents, in lower case, and the agent's own.
	Called map[string]string
	// Rules is how hooks run and combine; faithful follows the agent also
	// where it lets something through in silence.
	Rules func(faithful bool) policy.Profile
}

// Base is the folder a path starts from.
type Base uint8

// The bases.
const (
	// Home is the user's home, or what ConfigFile.Env names instead.
	Home Base = iota
	// Project is the root of the project.
	Project
	// Upwards is the nearest folder, from the working directory upwards, that
	// has the path; the project's root otherwise.
	Upwards
	// System is the root of the file system.
	System
	// Nearest is the nearest folder, from the working directory upwards, that
	// has the first folder of the path, whether the rest is there or not.
	Nearest
)

// File is one file, or folder, of an agent's configuration.
type File struct {
	Tier policy.Tier
	Base Base
	// Path is relative to the base, with slashes; a glob names every file that
	// matches, in the order of their names.
	Path string
	// Format is the reader of package source, "" the one of the agent's id.
	Format string
	// Env, when set, names a variable that holds another base, and EnvPath, when
	// set, is the path from there.
	Env, EnvPath string
	// Install says what becomes of it when hookc is installed.
	Install Installing
	// Layout is how it holds hooks, as far as install knows it.
	Layout Layout
	// Own is the name of a file of hookc's own in the folder of a glob.
	Own string
}

// Installing is what becomes of a file when hookc is installed.
type Installing uint8

// What may become of it: it does not matter; it is written; it is looked at
// and never written; it is written when it holds hooks already and the one
// before it does not exist.
const (
	Ignored Installing = iota
	Writes
	Looks
	Instead
)

// Under is the rules of the dialect's profile, or an error when hookc does not
// know what the agent's own configuration means.
func (d *Agent) Under(faithful bool) (*policy.Profile, error) {
	if d.Profile == nil {
		return nil, fault.Errorf("hookc cannot read the configuration of %s: %s", d.ID, "profiles: "+strings.Join(Profiles(), ", "))
	}
	rules := d.Profile.Rules(faithful)
	rules.Name, rules.Faithful = d.ID, faithful
	return &rules, nil
}

// Profiles lists the ids of the dialects that have a profile, sorted.
func Profiles() []string {
	var out []string
	for _, d := range All() {
		if d.Profile != nil {
			out = append(out, d.ID)
		}
	}
	return out
}

// FindProfile returns the dialect with a name when it has a profile.
func FindProfile(name string) (*Agent, error) {
	d, err := Find(name)
	if err != nil {
		return nil, fault.Errorf("unknown profile %q: %s", name, diag.DidYouMean(name, Names(), "`hookc list dialect` shows them"))
	}
	_, err = d.Under(false)
	return d, err
}

// EventsOf lists the canonical events that one of the agent's own names means.
func (d *Agent) EventsOf(native string) []policy.Event {
	var out []policy.Event
	for i := range d.allPoints() {
		if p := &d.allPoints()[i]; p.name == native && !lists.Among(out, p.event) {
			out = append(out, p.event)
		}
	}
	return out
}

// Event is the canonical event that one of the agent's own names means. A
// name of several events, told apart by what is sent, is the first of them.
func (d *Agent) Event(native string) (policy.Event, bool) {
	for i := range d.allPoints() {
		if d.allPoints()[i].name == native {
			return d.allPoints()[i].event, true
		}
	}
	return "", false
}
