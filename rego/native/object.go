package native

import (
	"slices"
	"sort"
)

// Object is an object with keys of any kind. The zero value is the empty
// object. Constants and data of a linked program are safe for concurrent use; any
// other object, one that Eval returns too, belongs to one goroutine, as reading
// sorts it.
type Object struct {
	pairs  []pair
	find   finder
	sorted bool
	frozen bool
	// astray says that topdown may have the keys in another order than theirs.
	astray bool
	// stale says that OPA does not find the object in a set, or as a key, by an
	// equal one: it has the hash of what it was before what is in it changed.
	stale bool
	// clear is how many keys there were when the last look found no clash.
	clear int32
}

type pair struct{ key, value Value }

// NewObject makes an empty object.
func NewObject() *Object { return &Object{} }

// Put sets the value of a key; an equal key that is there stays as it is
// written.
func (o *Object) Put(key, value Value) {
	if o.frozen {
		panic("native: a frozen object is changed")
	}
	if i := o.at(key); i >= 0 {
		o.pairs[i].value = value
		return
	}
	o.pairs = append(o.pairs, pair{key, value})
	o.sorted = len(o.pairs) == 1
	switch i := len(o.pairs) - 1; {
	case i == few:
		o.index()
	case i > few:
		o.find.put(key, i)
	}
}

func (o *Object) index() {
	o.find = finder{}
	for i := range o.pairs {
		o.find.put(o.pairs[i].key, i)
	}
}

func (o *Object) at(key Value) int {
	if len(o.pairs) <= few {
		for i := range o.pairs {
			if same(o.pairs[i].key, key) {
				return i
			}
		}
		return -1
	}
	if text, ok := key.(string); ok {
		return o.find.text(text)
	}
	for probe := o.find.probe(key); ; {
		i := probe.next()
		if i < 0 || same(o.pairs[i].key, key) {
			return i
		}
	}
}

// Get is the value of a key.
func (o *Object) Get(key Value) (Value, bool) {
	if i := o.at(key); i >= 0 {
		return o.pairs[i].value, true
	}
	return nil, false
}

// Len counts the keys.
func (o *Object) Len() int { return len(o.pairs) }

// byKey sorts the pairs of an object.
type byKey Object

func (o *byKey) Len() int           { return len(o.pairs) }
func (o *byKey) Less(i, j int) bool { return Compare(o.pairs[i].key, o.pairs[j].key) < 0 }
func (o *byKey) Swap(i, j int)      { o.pairs[i], o.pairs[j] = o.pairs[j], o.pairs[i] }

func (o *Object) sort() {
	if o.sorted || len(o.pairs) == 0 {
		return
	}
	sort.Sort((*byKey)(o))
	if len(o.pairs) > few {
		o.index()
	}
	o.sorted = true
}

// copyObject is a copy of an object's top: with statements and merging change
// it.
func copyObject(v Value) *Object {
	out := &Object{}
	switch x := v.(type) {
	case map[string]Value:
		out.pairs = make([]pair, 0, len(x)+1)
		for k, e := range x {
			out.pairs = append(out.pairs, pair{k, e})
		}
	case *Object:
		out.pairs = append(make([]pair, 0, len(x.pairs)+1), x.pairs...)
		out.sorted = x.sorted
	}
	if len(out.pairs) > few {
		out.index()
	}
	return out
}

// pairsOf are an object's pairs in order.
func pairsOf(v Value) []pair {
	o, ok := v.(*Object)
	if !ok {
		o = copyObject(v)
	}
	o.sort()
	return o.pairs
}

func compareObjects(a, b Value) int {
	x, y := pairsOf(a), pairsOf(b)
	return slices.CompareFunc(x, y, func(p, q pair) int {
		if c := Compare(p.key, q.key); c != 0 {
			return c
		}
		return Compare(p.value, q.value)
	})
}

func equalObjects(a, b Value) bool {
	if Len(a) != Len(b) {
		return false
	}
	if x, ok := a.(map[string]Value); ok {
		for k, v := range x {
			w, ok := Get(b, k)
			if !ok || !Equal(v, w) {
				return false
			}
		}
		return true
	}
	if y, ok := b.(map[string]Value); ok {
		return equalObjects(y, a)
	}
	x, y := pairsOf(a), pairsOf(b)
	for i := range x {
		if !Equal(x[i].key, y[i].key) || !Equal(x[i].value, y[i].value) {
			return false
		}
	}
	return true
}
