package policy

import (
	"github.com/hookc/hookc/policy/diag"
)

// FilterKey is one condition of a filter, by the name it has in YAML.
type FilterKey string

// The conditions. All that are written must hold; tool_matcher is ignored
// when tool_name is written (seed 0).
const (
	FilterToolName       FilterKey = "tool_name"
	FilterToolMatcher    FilterKey = "tool_matcher"
	FilterModelPrefix    FilterKey = "model_prefix"
	FilterToolKind       FilterKey = "tool_kind"
	FilterPath           FilterKey = "path"
	FilterCommand        FilterKey = "command"
	FilterPattern        FilterKey = "pattern"
	FilterSource         FilterKey = "source"
	FilterReason         FilterKey = "reason"
	FilterTrigger        FilterKey = "trigger"
	FilterNotification   FilterKey = "notification_type"
	FilterAgent          FilterKey = "agent"
	FilterPermissionMode FilterKey = "permission_mode"
	FilterPaths          FilterKey = "paths"    // package callmatch
	FilterCommands       FilterKey = "commands" // package callmatch
	// FilterNotMode is true in every permission mode but those listed, and
	// where the event names none.
	FilterNotMode FilterKey = "not_permission_mode"
	// FilterToolRegexp is an unanchored regular expression on the tool's name:
	// HOOK.md's matcher.tool.
	FilterToolRegexp FilterKey = "tool_pattern"
	// FilterLeafPattern is true on any string leaf of tool_input, or else on
	// its compact JSON: HOOK.md's matcher.pattern.
	FilterLeafPattern FilterKey = "input_pattern"
	// FilterMissing says what a condition makes of a field that the event does
	// not carry: fail, the default, or match; match-empty is match of an empty
	// text too.
	FilterMissing FilterKey = "missing"
	// FilterNative is a matcher in an agent's own words, compiled by the
	// reader of its configuration; YAML has no word for it.
	FilterNative FilterKey = "matcher"
)

// Condition is one condition as written.
type Condition struct {
	Key   FilterKey
	Value diag.Text
	// Atom is the condition made ready by the reader of an agent's configuration:
	// its Op, Field, Values, Reads and Test. A FilterNative has no other meaning.
	Atom *Atom
}

// Filter is the conditions of a hook as written; all must hold. The zero
// Filter matches everything. The compiler turns it into a Matcher.
type Filter struct {
	Conditions []Condition
	Span       diag.Span
}

// Get returns the condition with the given key.
func (f *Filter) Get(key FilterKey) (diag.Text, bool) {
	for _, c := range f.Conditions {
		if c.Key == key {
			return c.Value, true
		}
	}
	return diag.Text{}, false
}

// AtomOp is how an atom compares, for the analyses.
type AtomOp uint8

// The comparisons.
const (
	// AtomIn: the value is one of Values.
	AtomIn AtomOp = iota
	// AtomPrefix: the value begins with Values[0].
	AtomPrefix
	// AtomMatch: Test decides; Values[0] is the pattern as written.
	AtomMatch
)

// Atom is one compiled condition. A field that is absent never matches.
type Atom struct {
	Key    FilterKey
	Op     AtomOp
	Field  Field
	Values []string
	// Literals are what a value that passes looks like, of an atom whose Op says
	// nothing of it.
	Literals Literals
	// Reads are the fields Test looks at.
	Reads []Field
	Test  func(*Context) bool
	// Origin is where the condition was written.
	Origin diag.Span
}

// Literals are what every text that a condition accepts looks like, for an
// index: it is one of Exact, or begins with one of Prefixes, or ends with one
// of Suffixes, whichever there are. Nothing is known where there are none. Not
// every such text need be accepted.
type Literals struct{ Exact, Prefixes, Suffixes []string }

// Matcher is a compiled filter: the conjunction of its atoms.
type Matcher struct {
	Atoms []Atom
	// AsSent is true where the agent chooses the hooks of an event before the first
	// runs: the event is looked at as it was sent, whatever earlier hooks have
	// rewritten, and with OrNow as it is now, too: one of the two must match. Only
	// hooks that start a process have one.
	AsSent, OrNow bool
}

// Sent is Match where AsSent is true, of an event as it was sent and as it is now.
//
//go:noinline
func (m *Matcher) Sent(sent, now *Context) bool { return m.Match(sent) || m.OrNow && m.Match(now) }

// Match reports whether every atom holds. It is total and pure.
func (m *Matcher) Match(c *Context) bool {
	for i := range m.Atoms {
		if !m.Atoms[i].Test(c) {
			return false
		}
	}
	return true
}

// Reads is what the matcher looks at.
func (m *Matcher) Reads() Paths {
	var fields []Field
	for _, a := range m.Atoms {
		fields = append(fields, a.Reads...)
	}
	return FieldPaths(fields...)
}
