// Package bounds says what a call of each of Rego's functions may cost, so that
// no evaluation takes memory or time that its budget does not know of. Native
// code and topdown ask it the same questions and get the same answers.
package bounds

import (
	"math"
	"strings"

	"github.com/hookc/hookc/policy/digits"
)

// Class is how the cost of a function follows from its arguments.
type Class uint8

const (
	// Fixed functions give a result of a fixed size, in time that is in
	// proportion to their arguments.
	Fixed Class = iota + 1
	// Picks give parts of their arguments, in a collection of their own or not:
	// only that collection counts.
	Picks
	// Copies give a new value of at most a small multiple of their arguments.
	Copies
	// Grows give a value that may be much larger than their arguments.
	Grows
	// Numbers compute with numbers, of which the digits are bounded.
	Numbers
	// Counts give as many values as a number or a text says.
	Counts
	// Searches are tests whose time is no multiple of the size of their arguments.
	Searches
	// Parses make values of a text.
	Parses
	// Keys read keys and certificates, and compute with them.
	Keys
	// World functions look at something else than their arguments. No rule may
	// call most of them.
	World
)

// Bound is what is known of a function.
type Bound struct {
	Class Class
	// Need is the size that a call needs at most, before it is made; nil where
	// the arguments bound it, Never where it must not be made.
	Need func(a Args) int64
}

// Kept reports whether the result is new memory.
func (b Bound) Kept() bool {
	switch b.Class {
	case Copies, Grows, Counts, Parses, Keys:
		return true
	}
	return false
}

// Never is the size of what must not be made.
const Never = math.MaxInt64 / 4

// Memory is what one evaluation may hold that it was not given: it may hold
// eight times what it was given beside it.
const (
	Memory = 8 << 20
	Given  = 8
)

// Sizes of values, as both engines count them: what topdown takes for them.
const (
	Scalar     = 32
	String     = 48
	Collection = 64
	Element    = 48
)

// Args are the arguments of a call.
type Args interface {
	// Text is an argument that is a string.
	Text(i int) (string, bool)
	// Number is the text of an argument that is a number.
	Number(i int) (string, bool)
	// Count is how many elements an argument has, 0 if there is none.
	Count(i int) int
	// Deep measures an argument through and through.
	Deep(i int) Measure
	// Pairs are the elements of an argument, with their keys, as texts: ok is
	// false for what is none.
	Pairs(i int, yield func(key, value string, ok bool))
	// Lists are the elements of an argument that are collections of texts.
	Lists(i int, yield func(key string, list []string))
}

// Measure is the size of a value.
type Measure struct {
	// Size is in bytes, Nodes how many values there are, Depth how deep.
	Size  int64
	Nodes int64
	Depth int64
	// Special are the bytes of texts that grow when they are marshalled.
	Special int64
	// Digits are those of the longest number, AllDigits of all of them.
	Digits    int64
	AllDigits int64
}

// countFrom is the length from which on the bytes of a text are counted; of a
// shorter one all may grow.
const countFrom = 1 << 12

// Text adds a text, Num a number, Inner a collection and what is in it.
func (m *Measure) Text(s string) {
	m.Nodes++
	m.Size += String + int64(len(s))
	if len(s) < countFrom {
		m.Special += int64(len(s))
		return
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '<' || c == '>' || c == '&' || c == '"' || c == '\\' || c >= 0x7f {
			m.Special++
		}
	}
}

// Num adds a number by its text.
func (m *Measure) Num(text string) {
	m.Nodes++
	m.Size += Scalar + max(0, int64(len(text))-8)
	d := digits.Of(text)
	m.Digits = max(m.Digits, d)
	m.AllDigits += d
}

// Plain adds any other scalar.
func (m *Measure) Plain() {
	m.Nodes++
	m.Size += Scalar
	m.Digits = max(m.Digits, 1)
	m.AllDigits++
}

// Enter adds a collection of n elements, which the caller adds next; depth is
// how deep it is.
func (m *Measure) Enter(n int, depth int64) {
	m.Nodes++
	m.Size += Collection + Element*int64(n)
	m.Depth = max(m.Depth, depth)
}

// Rendered is what strings.render_template gives at most. Package rego, which has
// that function, says it: hookgate has not, and links no reader of templates.
var Rendered = func(Args) int64 { return Never }

func template(a Args) int64 { return Rendered(a) }

// Of is what is known of one of Rego's functions, by its name.
func Of(name string) (Bound, bool) {
	if name == "" || strings.Contains(name, " ") {
		return Bound{}, false
	}
	for i := range table {
		if strings.Contains(table[i].names, " "+name+" ") {
			return table[i].Bound, true
		}
	}
	return Bound{}, false
}

// Product multiplies sizes without overflow.
func Product(a, b int64) int64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	if a > Never/b {
		return Never
	}
	return a * b
}

// Sum adds sizes without overflow.
func Sum(list ...int64) int64 {
	out := int64(0)
	for _, n := range list {
		if out += min(n, Never); out > Never {
			return Never
		}
	}
	return out
}
