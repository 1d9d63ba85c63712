package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/policy/state"
	"github.com/hookc/hookc/rego"
)

// doubtsFile holds the native code that was wrong once, of all projects, by its
// hash.
const doubtsFile = "native.json"

// doubt is code that said what OPA did not: the report of it.
type doubt struct {
	Hook    string    `json:"hook"`
	At      time.Time `json:"at"`
	Native  string    `json:"native"`
	OPA     string    `json:"opa"`
	Module  string    `json:"module"`
	Event   any       `json:"event"`
	Version string    `json:"version"`
}

// doubts are what outlasts a process of native code that was wrong. Without a
// state folder they last as long as the process.
type doubts struct{ dir *state.Dir }

func openDoubts() doubts {
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

// rejected is the hook of each code.
func (d doubts) rejected() map[string]string {
	out := map[string]string{}
	for code, one := range d.load() {
		out[code] = one.Hook
	}
	return out
}

// report keeps what was found, secrets masked.
func (d doubts) report(found rego.Difference) {
	one := doubt{
		Hook: found.Hook, At: time.Now().UTC().Truncate(time.Second), Native: masked(found.Native), OPA: masked(found.Topdown),
		Module: masked(found.Module), Event: maskedEvent(found.Event), Version: version().Version,
	}
	fmt.Fprintf(os.Stderr, "hookc: the native code of %s said what OPA does not: OPA evaluates it from now on; please report %s\n", found.Hook, d.place())
	if d.dir == nil {
		return
	}
	err := d.dir.Update(doubtsFile, func(old []byte) ([]byte, error) {
		all := map[string]doubt{}
		if len(old) > 0 && json.Unmarshal(old, &all) != nil {
			all = map[string]doubt{}
		}
		all[found.Code] = one
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

// lines say which hooks are OPA's since their code was wrong.
func (d doubts) lines() []string {
	all := d.load()
	var out []string
	for _, code := range slices.Sorted(maps.Keys(all)) {
		one := all[code]
		out = append(out, fmt.Sprintf("%s: its native code was wrong on %s, OPA evaluates it; the report is in %s", one.Hook, one.At.Format(time.DateOnly), d.place()))
	}
	return out
}

// eyes look at native code for this process.
func (d doubts) eyes(paranoid bool) *rego.Eyes { return rego.NewEyes(paranoid, d.rejected(), d.report) }

// masked is a text without its secrets; one that cannot be searched is left out.
func masked(text string) string {
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
func (s *sources) look() []hookc.Option {
	if s.eyes != nil {
		return []hookc.Option{hookc.Eyes(s.eyes)}
	}
	d := openDoubts()
	if !s.paranoid && len(d.load()) == 0 {
		return nil
	}
	return []hookc.Option{hookc.Eyes(d.eyes(s.paranoid))}
}
