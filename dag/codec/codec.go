// Package codec writes a dag.Program as bytes and makes it again: every value
// with its identity, its spans and its marks, so that whatever is printed of it
// is byte for byte the same. It follows the Go types, so that a field added
// later is carried too; what is not data (functions, what is found again from
// the rest) is named in remade, and anything else that cannot be written panics
// when the package's types are first looked at. Bytes are only for the build of
// hookc that wrote them, or one whose Fingerprint is the same.
//
// Reading is what is made fast: a field that is zero costs nothing, and objects
// of a type are allocated together.
package codec

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Head is what the events of a program share.
type Head struct {
	// Program is the program without its Plans and Hooks, Policy what was
	// compiled without its Hooks and Profile.
	Program *dag.Program
	Policy  *policy.Policy
	// Profile and Faithful name the rules of Policy, "" for hookc's own.
	Profile  string
	Faithful bool
	// Events are those of the program's plans, in order; Hooks is how many hooks
	// the policy has.
	Events []policy.Event
	Hooks  int
	// Read are the findings of reading the sources, Findings those of the passes
	// but lint, Lints those of lint.
	Read, Findings, Lints diag.List
	// Texts and Files are what hooks refer to besides: where they are written, and
	// what their files set. They are here for chains to share.
	Texts []*diag.Source
	Files []*policy.FileConfig
	// Shared are the files that bodies are made of besides their hooks: by path,
	// the content; Roots, by name, which files belong to what is named.
	Shared map[string]string
	Roots  map[string][]string
	// Discover, Shown and Inputs are how the sources were named.
	Discover, Shown string
	Inputs          []Input
	// Native is true when a filter is in an agent's own words, which only reading
	// the sources makes.
	Native bool
}

// Input is one source that was named.
type Input struct {
	Path, Format string
	Tier         policy.Tier
	Content      []byte
}

// Chain is what one event has for itself.
type Chain struct {
	Plan    *dag.Plan
	Entries []dag.Entry
	// Hooks are the policy's on the event, as they were read; Places say where
	// each stands among all of the policy's.
	Hooks  []*policy.Hook
	Places []int
	// Loads are the bodies that were left on disk until needed.
	Loads []Load
	// Codes are what the kinds wrote of the bodies of the plan's nodes.
	Codes [][]byte
}

// Load is what Body.Load of a hook gave.
type Load struct {
	// Hook is the hook's place in Chain.Hooks.
	Hook  int
	Body  policy.Body
	Found diag.List
}

// remade are the fields that are not written: functions, which the compiler and
// the kinds make again, and what is derived from other fields.
var remade = map[string]string{
	"dag.Node.Runner":       "the kind's Decode",
	"dag.Plan.Spec":         "compiler.Restore, of the event, the settings and the profile",
	"dag.Plan.Strategy":     "compiler.Restore, of the event, the settings and the profile",
	"dag.Fusion.Run":        "compiler.Restore, of its members' bodies",
	"dag.Fusion.Parts":      "compiler.Restore, of its members' bodies",
	"dag.Fusion.Lazy":       "compiler.Restore, of its members' bodies",
	"dag.Program.byEvent":   "Program.Seal",
	"diag.Source.once":      "where lines begin is found in the content when asked for",
	"diag.Source.lines":     "where lines begin is found in the content when asked for",
	"policy.Atom.Test":      "compiler.Restore, of the condition as written",
	"policy.Body.Load":      "Chain.Loads",
	"policy.Policy.Profile": "dialect.FindProfile, of Head.Profile",
}

// errDamaged is what bytes that no writer wrote give.
var errDamaged = errors.New("the compiled program is damaged")

// Base is what was written, or read, of a Head: chains refer to its objects.
type Base struct {
	ids   map[pointer]int
	count []int
	slabs []slab
}

// types are the package's types, looked at once.
var types = lazy.Value(func() *registry {
	r := &registry{byType: map[reflect.Type]*kind{}}
	r.of(reflect.TypeFor[Head](), "Head")
	r.of(reflect.TypeFor[Chain](), "Chain")
	return r
})

// Fingerprint identifies the Go types that are written: other ones cannot read
// the bytes.
func Fingerprint() string { return types().fingerprint() }

// WriteHead writes a head; the base is for the chains.
func WriteHead(h *Head) ([]byte, *Base, error) { return write(h, nil) }

// WriteChain writes the chain of an event. Objects of the head, its sources
// above all, are not written again.
func WriteChain(c *Chain, base *Base) ([]byte, error) {
	b, _, err := write(c, base)
	return b, err
}

// ReadHead reads what WriteHead wrote.
func ReadHead(data []byte) (*Head, *Base, error) { return read[Head](data, nil) }

// ReadChain reads what WriteChain wrote. It may be called concurrently.
func ReadChain(data []byte, base *Base) (*Chain, error) {
	c, _, err := read[Chain](data, base)
	return c, err
}

// unwritable is a value that cannot be written, which panics up to write.
type unwritable struct{ why string }

//go:noinline
func cannot(format string, args ...any) { panic(unwritable{fmt.Sprintf(format, args...)}) }

// Remade reports whether a field is not written, since it is made again.
func Remade(t reflect.Type, field string) bool { return remade[t.String()+"."+field] != "" }
