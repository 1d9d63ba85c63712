// Package table is what hookgate decides by without hookc: a flat table, made by
// hookc when a policy is compiled, that says which events of which agent no
// hook concerns and what hookc run answers to those, and which concern only hooks
// whose rules hookgate has (internal/gate/rules). It is read where it lies,
// every offset checked; whatever it does not say for certain is left to hookc
// (docs/reference/cli.md "hookgate").
//
// The package imports next to nothing, so that the gate starts as fast as without it.
package table

import "bytes"

// magic begins a table, with the version of its layout.
const magic = "HKG\x00\x03\x00\x00\x00"

// A Set says which hooks are left to look at: none, at least one that the event
// concerns, or those at an offset.
const (
	setNone  = 0
	setSome  = 1
	rootAt   = len(magic)
	textSize = 8
)

// Codes of the keys of an event.
const (
	KeyIgnore = iota
	// KeyField is a field, of a type.
	KeyField
	// KeyRefuse is a key whose meaning is left to hookc.
	KeyRefuse
	// KeyText is tool_input as an object or as the text of one.
	KeyText
	// KeyTextOrNone is KeyText where an empty text is an empty object.
	KeyTextOrNone
	// KeyMove becomes a member of tool_input.
	KeyMove
	// KeyRoots is a list of folders of which the first is the project.
	KeyRoots
)

// Flags of a point.
const (
	NeedsTool = 1 << iota
	NeedsPrompt
	// Counted is an event at which blocks are forgotten.
	Counted
)

// When a point's tool has the name that the point implies.
const (
	ImpliesNever = iota
	ImpliesMoved
	ImpliesAlways
)

// Kinds of a test on a tool's name.
const (
	TestAny = iota
	TestPrefix
	TestSuffix
	TestDFA
)

// Kinds of an atom.
const (
	AtomField = iota
	AtomCommand
)

// The types of fields, as their values begin.
const (
	TypeAny = iota
	TypeString
	TypeNumber
	TypeBool
	TypeObject
	TypeList
)

// Table is a table being read. Bytes that are none never panic and never give
// an answer.
type Table struct {
	b []byte
	// bad is set by a read beyond the end; steps are those left, since a forged
	// table could lead round in circles.
	bad   bool
	steps int
}

// Open reads the beginning of a table; false when it is not one.
func Open(b []byte) (*Table, bool) {
	if len(b) < rootAt || string(b[:rootAt]) != magic {
		return nil, false
	}
	return &Table{b: b}, true
}

// word is the number at an offset.
//
//go:noinline
func (t *Table) word(at int) int {
	if t.steps--; at < rootAt || at > len(t.b)-4 || t.steps < 0 {
		t.bad = true
		return 0
	}
	b := t.b[at : at+4]
	return int(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
}

// text is the text referred to at an offset.
func (t *Table) text(at int) []byte {
	from, size := t.word(at), t.word(at+4)
	if from > len(t.b) || size > len(t.b)-from {
		t.bad = true
		return nil
	}
	return t.b[from : from+size]
}

// count is the number of things of a size, in bytes, that follow an offset.
func (t *Table) count(at, size int) int {
	n := t.word(at)
	if n > (len(t.b)-at)/size {
		t.bad = true
		return 0
	}
	return n
}

// find looks for a name among n sorted rows of a size that begin with a text;
// -1 when there is none.
func (t *Table) find(rows, n, size int, name []byte) int {
	low, high := 0, n
	for low < high && !t.bad {
		mid := (low + high) / 2
		switch at := rows + mid*size; bytes.Compare(t.text(at), name) {
		case 0:
			return at
		case -1:
			low = mid + 1
		default:
			high = mid
		}
	}
	return -1
}

// dialect finds a dialect by one of its names; 0 when there is none.
func (t *Table) dialect(name string) int {
	n := t.count(rootAt, 4)
	for i := range n {
		at := t.word(rootAt + 4 + 4*i)
		names := t.count(at, textSize)
		for k := range names {
			if string(t.text(at+4+textSize*k)) == name {
				return at
			}
		}
	}
	return 0
}

// dialectParts is where the parts of a dialect lie.
type dialectParts struct{ id, eventKey, eventEnv, env, envs, events, names int }

func (t *Table) parts(at int) dialectParts {
	var p dialectParts
	p.id = at + 4
	at += 4 + textSize*t.count(at, textSize)
	p.eventKey, p.eventEnv = at, at+textSize
	at += 2 * textSize
	p.envs, p.env = t.count(at, textSize+4), at+4
	at = p.env + (textSize+4)*p.envs
	p.names, p.events = t.count(at, textSize+4), at+4
	return p
}

// Offsets within a point.
const (
	pointNative  = 0
	pointEvent   = pointNative + textSize
	pointKeys    = pointEvent + textSize
	pointImplied = pointKeys + 4
	pointImplies = pointImplied + textSize
	pointFlags   = pointImplies + 4
	pointAnswer  = pointFlags + 4
	pointPlan    = pointAnswer + 4
	pointNumber  = pointPlan + 4
)

// Offsets within a plan.
const (
	planTool     = 0
	planAbsent   = planTool + 4
	planAlways   = planAbsent + 4
	planCommand  = planAlways + 4
	planParts    = planCommand + 4
	planPatterns = planParts + 4
	planNames    = planPatterns + 4
)
