package native

import (
	"math"
	words "math/bits"
	"unicode/utf8"
)

// An index finds, among many blocks, those that an event can make true
// (performance.md §11.8): a block is left out when one of the conditions that
// it begins with surely does not hold, and nothing before that condition can
// fail. What is found is a superset, and every block still decides for itself:
// so a condition may be put coarsely, never too narrowly.
type index struct {
	// size is how many items there are: a function's blocks, or those of many.
	size int
	// always are items without a condition to be found by, ascending.
	always []int32
	fields []field
	steps  []step
}

// subject is what a condition looks at: a slot of the input, ^local for a
// parameter of the function, or from firstDerived on what a step makes of
// another.
type subject int32

// subjects are the values of an event or a call. A slot that is not ok makes
// blocks that read it undefined.
type subjects interface {
	subject(on subject) (v Value, ok bool)
}

// field finds items by the value of one subject.
type field struct {
	on subject
	// present are found by every value.
	present []int32
	// texts, numbers (by their float64), null and bools find by equality.
	texts   map[string][]int32
	numbers map[float64][]int32
	null    []int32
	bools   [2][]int32
	// unless are found by every value on which a test of that kind may fail.
	unless [guardKinds][]int32
	// within, folded, starts and ends find by what a string holds.
	within, folded *literals
	starts, ends   *affixes
	// gate, when not nil, says when a string is not worth looking through, door
	// when the subject need not be looked at.
	gate, door *gate
}

// gate is a condition that all items share that are found by what a string
// holds: another subject is one of these texts.
type gate struct {
	on    subject
	texts map[string]bool
}

func (g *gate) open(x *index, s subjects, k *marks) bool {
	if g == nil {
		return true
	}
	v, _ := x.value(s, k, g.on)
	text, ok := v.(string)
	return ok && g.texts[text]
}

// find appends the items that may hold, ascending. The marks are empty before
// and after.
func (x *index) find(s subjects, k *marks, into []int32) []int32 {
	k.room(x.size)
	k.all(x.always)
	if n := len(x.steps); n > 0 {
		k.derived = sized(k.derived, n)
		defer clear(k.derived)
	}
	for i := range x.fields {
		x.fields[i].find(x, s, k)
	}
	return k.drain(into)
}

func (d *field) find(x *index, s subjects, k *marks) {
	if !d.door.open(x, s, k) {
		return
	}
	v, is := x.value(s, k, d.on)
	switch is {
	case missing:
		return
	case odd:
		for kind := range d.unless {
			k.all(d.unless[kind])
		}
		return
	}
	k.all(d.present)
	if text, ok := v.(string); ok {
		d.findText(text, x, s, k)
		return
	}
	k.all(d.unless[guardText])
	k.all(d.unless[guardUnicode])
	switch x := v.(type) {
	case nil:
		k.all(d.null)
	case bool:
		k.all(d.bools[truthIndex(x)])
	case int:
		k.all(d.numbers[float64(x)])
	case float64:
		if x-x == 0 {
			k.all(d.numbers[x])
			return
		}
		k.all(d.unless[guardScalar])
	default:
		k.all(d.unless[guardScalar])
	}
}

func (d *field) findText(text string, x *index, s subjects, k *marks) {
	if len(d.texts) > 0 {
		k.all(d.texts[text])
	}
	if len(d.unless[guardUnicode]) > 0 && !utf8.ValidString(text) {
		k.all(d.unless[guardUnicode])
	}
	if d.starts != nil {
		d.starts.find(text, k)
	}
	if d.ends != nil {
		d.ends.find(text, k)
	}
	if (d.within != nil || d.folded != nil) && d.gate.open(x, s, k) {
		d.within.find(text, k)
		d.folded.find(text, k)
	}
}

// subject is the value that a frame's blocks read.
func (f *frame) subject(on subject) (Value, bool) {
	if on < 0 {
		return f.l[^on], true
	}
	return f.slot(int32(on))
}

func truthIndex(b bool) int {
	if b {
		return 1
	}
	return 0
}

// numberKey is the float64 by which a constant number is found: equal numbers
// have one. A number beyond them equals no int and no float64.
func numberKey(v Value) (float64, bool) {
	f, ok := float(v)
	return f, ok && !math.IsInf(f, 0)
}

// marks are a set of items that is filled in any order and emptied in
// ascending order; top tells which words are not empty. derived and args are
// what finding computes on the way.
type marks struct {
	words, top []uint64
	derived    []derived
	args       []Value
	call       Call
}

func (k *marks) room(n int) {
	if n > len(k.words)*64 {
		k.words = append(k.words, make([]uint64, (n+63)/64-len(k.words))...)
		k.top = append(k.top, make([]uint64, (len(k.words)+63)/64-len(k.top))...)
	}
}

func (k *marks) all(items []int32) {
	for _, i := range items {
		k.words[i>>6] |= 1 << (i & 63)
		k.top[i>>12] |= 1 << (i >> 6 & 63)
	}
}

func (k *marks) drain(into []int32) []int32 {
	for t, top := range k.top {
		if top == 0 {
			continue
		}
		k.top[t] = 0
		for ; top != 0; top &= top - 1 {
			w := t<<6 + words.TrailingZeros64(top)
			word := k.words[w]
			k.words[w] = 0
			for ; word != 0; word &= word - 1 {
				into = append(into, int32(w<<6+words.TrailingZeros64(word)))
			}
		}
	}
	return into
}
