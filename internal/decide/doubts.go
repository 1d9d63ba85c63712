package decide

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/release"
	"github.com/hookc/hookc/policy/state"
	"github.com/hookc/hookc/rego"
)

// doubtsFile holds the native code that was wrong once, of all projects, by its
// hash.
const doubtsFile = "native.json"

// doubt is code that said what OPA did not: the report of it. Code that left too
// many events to OPA is in it too: Left is that then, and has nothing of an event.
type doubt struct {
	Hook    string    `json:"hook"`
	At      time.Time `json:"at"`
	Native  string    `json:"native,omitempty"`
	OPA     string    `json:"opa,omitempty"`
	Module  string    `json:"module,omitempty"`
	Event   any       `json:"event,omitempty"`
	Version string    `json:"version"`

	Left *rego.Leaving `json:"left,omitempty"`
}

// doubts are what outlasts a process of native code that was wrong. Without a
// state folder they last as long as the process.
type doubts struct{ dir *state.Dir }

func OpenDoubts() doubts {
	home, err := os.UserHomeDir()
	if err != nil {
		return doubts{}
	}
	dir, err := state.Open(home)
	if err != nil {
		return doubts{}
	}
	return doubts{dir}
}

// load is every report, by the hash of the code.
func (d doubts) load() map[string]doubt {
	out := map[string]doubt{}
	if d.dir == nil {
		return out
	}
	text, err := d.dir.Read(doubtsFile)
	if err != nil || json.Unmarshal(text, &out) != nil {
		return map[string]doubt{}
	}
	return out
}

// Rejected is the hook of each code.
func (d doubts) Rejected() map[string]string {
	out := map[string]string{}
	for code, one := range d.load() {
		if one.Left == nil {
			out[code] = one.Hook
		}
	}
	return out
}

// Left is the code that left too many events.
func (d doubts) Left() []rego.Leaving {
	var out []rego.Leaving
	for _, one := range d.load() {
		if one.Left != nil {
			out = append(out, *one.Left)
		}
	}
	return out
}

// leaves keeps what left too many events.
func (d doubts) leaves(l rego.Leaving) {
	l.Why = Masked(l.Why)
	fmt.Fprintf(os.Stderr, "hookc: %s\n", l)
	d.keep(l.Code, doubt{Hook: l.Hook, At: time.Now().UTC().Truncate(time.Second), Version: release.Current().Version, Left: &l})
}

// Report keeps what was found, secrets masked.
func (d doubts) Report(found rego.Difference) {
	one := doubt{
		Hook: found.Hook, At: time.Now().UTC().Truncate(time.Second), Native: Masked(found.Native), OPA: Masked(found.Topdown),
		Module: Masked(found.Module), Event: maskedEvent(found.Event), Version: release.Current().Version,
	}
	fmt.Fprintf(os.Stderr, "hookc: the native code of %s said what OPA does not: OPA evaluates it from now on; please report %s\n", found.Hook, d.place())
	d.keep(found.Code, one)
}

// keep writes one down. What was wrong stays so, whatever else is said of it.
func (d doubts) keep(code string, one doubt) {
	if d.dir == nil {
		return
	}
	err := d.dir.Update(doubtsFile, func(old []byte) ([]byte, error) {
		all := map[string]doubt{}
		if len(old) > 0 && json.Unmarshal(old, &all) != nil {
			all = map[string]doubt{}
		}
		if old, known := all[code]; !known || old.Left != nil {
			all[code] = one
		}
		return json.MarshalIndent(all, "", "  ")
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "hookc: that could not be written down: %v\n", err)
	}
}

func (d doubts) place() string {
	if d.dir == nil {
		return "the rule"
	}
	return d.dir.Path() + string(os.PathSeparator) + doubtsFile
}

// Lines say which hooks are OPA's since their code was wrong.
func (d doubts) Lines() []string {
	all := d.load()
	var out []string
	for _, code := range lists.Keys(all) {
		one := all[code]
		if one.Left != nil {
			out = append(out, one.Left.String())
			continue
		}
		out = append(out, fmt.Sprintf("%s: its native code was wrong on %s, OPA evaluates it; the report is in %s", one.Hook, one.At.Format(time.DateOnly), d.place()))
	}
	return out
}

// Eyes look at native code for this process.
func (d doubts) Eyes(paranoid bool) *rego.Eyes {
	e := rego.NewEyes(paranoid, d.Rejected(), d.Report)
	e.Leaves(d.Left(), d.leaves)
	return e
}

// Masked is a text without its secrets; one that cannot be searched is left out.
//
//go:noinline
func Masked(text string) string {
	s, _ := maskedEvent(text).(string)
	return s
}

func maskedEvent(event any) any {
	f := builtins.Lookup("secret.redact")
	out, err := f.Call([]any{event})
	if err != nil {
		return "left out: it cannot be searched for secrets"
	}
	return out
}

// look lets eyes look at native code where they must: where both are asked, and
// where some code was wrong before.
func (s *Sources) look() []hookc.Option {
	if s.Eyes != nil {
		return []hookc.Option{host.Eyes[hookc.Option](s.Eyes)}
	}
	d := OpenDoubts()
	if !s.Paranoid && len(d.load()) == 0 {
		return nil
	}
	return []hookc.Option{host.Eyes[hookc.Option](d.Eyes(s.Paranoid))}
}
