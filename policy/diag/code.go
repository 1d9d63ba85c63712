package diag

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/spell"
)

// Severity is how bad a finding is.
type Severity int

// The severities. An Error stops compilation; a Warning is a finding under
// --strict; a Hint never fails anything.
const (
	Error Severity = iota
	Warning
	Hint
)

//go:noinline
func (s Severity) String() string { return [...]string{"error", "warning", "hint"}[s] }

// MarshalText makes a severity its name in JSON.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Code is one kind of finding. Codes are defined once, beside the check that
// reports them, with Define.
type Code struct {
	// ID is HK and three digits.
	ID string
	// Title says in one line what was found.
	Title string
	// Severity is how bad it is where it is reported.
	Severity Severity
	// Security is true of a warning that something guarded may get through: no
	// policy lowers it.
	Security bool
	// Help explains the finding and how to mend it, for `hookc help CODE`. Help, Bad and Good
	// of hookc's own codes are in codes.txt; Codes and Lookup have them.
	Help string
	// Bad is an example that reports exactly this code, Good one that reports
	// nothing. Both are a hooks.yaml, or several files in the txtar format
	// (`-- name --` lines). A file event.json is fired and its Decision's
	// warnings count as findings. An Unprovoked code has neither.
	Bad, Good string
	// NoExample says in a sentence why there is no example, where there is none.
	NoExample string
}

var registry = map[string]*Code{}

// Define registers a code. It panics on a duplicate, so that a mistake is found when the
// package loads.
//
//go:noinline
func Define(id string, s Severity, title string) *Code {
	if !wellFormed(id) || title == "" {
		panic(fmt.Sprintf("diag: code %q is incomplete", id))
	}
	if registry[id] != nil {
		panic("diag: code " + id + " defined twice")
	}
	c := &Code{ID: id, Severity: s, Title: title}
	registry[id] = c
	return c
}

// wellFormed reports whether an id is HK and three digits.
func wellFormed(id string) bool {
	digits, ok := spell.CutPrefix(id, "HK")
	return ok && len(digits) == 3 && strings.Trim(digits, "0123456789") == ""
}

// Guarding sets Security of a code that was just defined, and returns it.
//
//go:noinline
func (c *Code) Guarding() *Code {
	c.Security = true
	return c
}

// Explained sets Help, Bad and Good of a code that was just defined, and returns it:
// codes that are not hookc's own bring their texts.
func (c *Code) Explained(help, bad, good string) *Code {
	c.Help, c.Bad, c.Good = help, bad, good
	return c
}

// Unprovoked says of a code that was just defined that no policy is an example of it, and
// in a sentence why.
//
//go:noinline
func (c *Code) Unprovoked(why string) *Code {
	c.NoExample = why
	return c
}

// Codes returns every defined code, by ID.
func Codes() []*Code {
	written()
	out := make([]*Code, 0, len(registry))
	for _, c := range registry {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *Code) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// Lookup returns the code with the given ID in any letter case, or nil.
//
//go:noinline
func Lookup(id string) *Code {
	written()
	return registry[strings.ToUpper(id)]
}
