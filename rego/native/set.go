package native

import "slices"

// few is how many elements are found by looking at each.
const few = 8

// Set is a set of values. The zero value is the empty set. Constants
// and data of a linked program are safe for concurrent use; any other set, one
// that Eval returns too, belongs to one goroutine, as reading sorts it.
type Set struct {
	elems  []Value
	find   finder
	sorted bool
	frozen bool
	// astray says that topdown may have the elements in another order than
	// theirs, or twice.
	astray bool
}

// NewSet makes a set of elements.
func NewSet(elems ...Value) *Set {
	s := &Set{}
	for _, e := range elems {
		s.Add(e)
	}
	return s
}

// Add puts an element in and reports whether it was new. Of equal elements the
// first stays.
func (s *Set) Add(e Value) bool {
	if s.frozen {
		panic("native: a frozen set is changed")
	}
	if s.at(e) >= 0 {
		return false
	}
	s.elems = append(s.elems, e)
	s.sorted = len(s.elems) == 1
	s.enter(len(s.elems) - 1)
	return true
}

func (s *Set) enter(i int) {
	if i == few {
		s.index()
		return
	}
	if i > few {
		s.find.put(s.elems[i], i)
	}
}

func (s *Set) index() {
	s.find = finder{}
	for i, e := range s.elems {
		s.find.put(e, i)
	}
}

// at is where an element is, or -1.
func (s *Set) at(e Value) int {
	if len(s.elems) <= few {
		for i, have := range s.elems {
			if same(have, e) {
				return i
			}
		}
		return -1
	}
	if text, ok := e.(string); ok {
		return s.find.text(text)
	}
	for probe := s.find.probe(e); ; {
		i := probe.next()
		if i < 0 || same(s.elems[i], e) {
			return i
		}
	}
}

// empty makes a set of no other owner what it was when it was made, but for
// some of its memory.
func (s *Set) empty() {
	if len(s.elems) == 0 {
		return
	}
	clear(s.elems)
	room := s.elems[:0]
	if cap(room) > keptArgs {
		room = nil
	}
	*s = Set{elems: room}
}

// Has reports whether an element is in the set.
func (s *Set) Has(e Value) bool { return s.at(e) >= 0 }

// Get is the element that equals e, as the set holds it.
func (s *Set) Get(e Value) (Value, bool) {
	if i := s.at(e); i >= 0 {
		return s.elems[i], true
	}
	return nil, false
}

// Len counts the elements.
func (s *Set) Len() int { return len(s.elems) }

// Elems are the elements in order. The caller does not change them.
func (s *Set) Elems() []Value {
	if !s.sorted {
		slices.SortFunc(s.elems, Compare)
		if len(s.elems) > few {
			s.index()
		}
		s.sorted = true
	}
	return s.elems
}

func (s *Set) equal(o *Set) bool {
	if len(s.elems) != len(o.elems) {
		return false
	}
	for _, e := range s.elems {
		if !o.Has(e) {
			return false
		}
	}
	return true
}

// finder finds keys of sets and objects: strings on their own, other values
// by their hash; equal hashes stand behind each other.
type finder struct {
	texts  map[string]int32
	others map[uint64]int32
}

func (f *finder) put(key Value, i int) {
	if text, ok := key.(string); ok {
		if f.texts == nil {
			f.texts = make(map[string]int32, 2*few)
		}
		f.texts[text] = int32(i)
		return
	}
	if f.others == nil {
		f.others = make(map[uint64]int32, 2*few)
	}
	h := hash(key)
	for {
		if _, taken := f.others[h]; !taken {
			f.others[h] = int32(i)
			return
		}
		h++
	}
}

func (f *finder) text(key string) int {
	if i, ok := f.texts[key]; ok {
		return int(i)
	}
	return -1
}

func (f *finder) probe(key Value) probe {
	if len(f.others) == 0 {
		return probe{}
	}
	return probe{f.others, hash(key)}
}

type probe struct {
	others map[uint64]int32
	h      uint64
}

func (p *probe) next() int {
	i, ok := p.others[p.h]
	if !ok {
		return -1
	}
	p.h++
	return int(i)
}

// same is Equal of elements and keys. OPA finds them by hash first, and two
// numbers beyond float64 hash by their text: 1e400 and 10e399 are two.
func same(a, b Value) bool {
	if x, ok := a.(string); ok {
		y, ok := b.(string)
		return ok && x == y
	}
	return Equal(a, b) && hash(a) == hash(b)
}
