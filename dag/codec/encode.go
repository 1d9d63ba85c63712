package codec

import (
	"math"
	"reflect"
	"sort"
	"strings"
	"unsafe"

	"github.com/hookc/hookc/internal/binary"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/diag"
)

// pointer is an object by its type and where it is.
type pointer struct {
	*kind
	at unsafe.Pointer
}

// encoder writes one root. Its bytes are: for each type that is pointed at, how
// many objects of it are written, and of how many elements slices are; the root; the objects, by type; and the text
// of all strings, each once.
type encoder struct {
	binary.Writer
	base *Base
	own  *Base
	// objects are those to write, by type.
	objects [][]unsafe.Pointer
	// rows count the elements of slices, by type.
	rows  []int
	blob  strings.Builder
	texts map[string]int
}

func write[T any](root *T, base *Base) (data []byte, own *Base, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case unwritable:
			err = fault.Errorf("codec: %s", p.why)
		default:
			panic(p)
		}
	}()
	r := types()
	n := len(r.pointed)
	e := &encoder{base: base, own: &Base{ids: map[pointer]int{}, count: make([]int, n)},
		objects: make([][]unsafe.Pointer, n), rows: make([]int, len(r.sliced)), texts: map[string]int{}}
	e.byType(r.byType[reflect.TypeFor[T]()], unsafe.Pointer(root))
	return e.finish(r), e.own, nil
}

func (e *encoder) byType(k *kind, p unsafe.Pointer) { k.enc(e, p) }

// finish writes the objects that were met, and those met in them.
func (e *encoder) finish(r *registry) []byte {
	root := e.B
	bodies := make([][]byte, len(r.pointed))
	for again := true; again; {
		again = false
		for place, k := range r.pointed {
			list := e.objects[place]
			e.objects[place] = nil
			again = again || len(list) > 0
			e.B = bodies[place]
			for _, p := range list {
				k.enc(e, p)
			}
			bodies[place] = e.B
		}
	}
	e.B = nil
	for _, n := range lists.Concat(e.own.count, e.rows) {
		e.Uint(uint64(n))
	}
	e.B = append(e.B, root...)
	for _, b := range bodies {
		e.B = append(e.B, b...)
	}
	body := e.B
	e.B = nil
	e.Uint(uint64(len(body)))
	return append(append(e.B, body...), e.blob.String()...)
}

// text is a string: its length, and where it begins in the text of all.
func (e *encoder) text(s string) {
	e.Uint(uint64(len(s)))
	if s == "" {
		return
	}
	at, known := e.texts[s]
	if !known {
		at = e.blob.Len()
		e.texts[strings.Clone(s)] = at
		e.blob.WriteString(s)
	}
	e.Uint(uint64(at))
}

// pointer is 0 for nil, else one more than the object's number among those of
// its type: the base's come first.
func (e *encoder) pointer(k *kind, p unsafe.Pointer) {
	if p == nil {
		e.Uint(0)
		return
	}
	at := pointer{k, p}
	before := 0
	if e.base != nil {
		if id, ok := e.base.ids[at]; ok {
			e.Uint(uint64(id) + 1)
			return
		}
		before = e.base.count[k.place]
	}
	id, ok := e.own.ids[at]
	if !ok {
		id = before + e.own.count[k.place]
		e.own.ids[at] = id
		e.own.count[k.place]++
		e.objects[k.place] = append(e.objects[k.place], p)
	}
	e.Uint(uint64(id) + 1)
}

func encodeBool(e *encoder, p unsafe.Pointer) {
	e.Bool(*(*bool)(p))
}

func encodeString(e *encoder, p unsafe.Pointer) { e.text(*(*string)(p)) }

func encodeCode(e *encoder, p unsafe.Pointer) {
	id := ""
	if c := *(**diag.Code)(p); c != nil {
		if id = c.ID; diag.Lookup(id) != c {
			cannot("code %s is not a defined one", id)
		}
	}
	e.text(id)
}

// mapped is a map: a length as of a slice, then keys, in order, and values.
func (k *kind) mapped(key, value *kind) {
	k.enc = func(e *encoder, p unsafe.Pointer) {
		m := reflect.NewAt(k.rt, p).Elem()
		if m.IsNil() {
			e.Uint(0)
			return
		}
		e.Uint(uint64(m.Len()) + 1)
		keys := m.MapKeys()
		sort.Slice(keys, func(i, j int) bool { return compareKeys(keys[i], keys[j]) < 0 })
		for _, at := range keys {
			for kind, v := range map2(key, at, value, m.MapIndex(at)) {
				copied := reflect.New(v.Type())
				copied.Elem().Set(v)
				kind.enc(e, copied.UnsafePointer())
			}
		}
	}
	k.dec = func(d *decoder, p unsafe.Pointer) {
		if n := d.count(); n >= 0 {
			d.mapped(k, key, value, n, p)
		}
	}
}

// map2 yields a key and its value, each with its kind.
func map2(key *kind, k reflect.Value, value *kind, v reflect.Value) func(func(*kind, reflect.Value) bool) {
	return func(yield func(*kind, reflect.Value) bool) {
		if yield(key, k) {
			yield(value, v)
		}
	}
}

func compareKeys(a, b reflect.Value) int {
	if a.Kind() == reflect.String {
		return strings.Compare(a.String(), b.String())
	}
	if !a.CanInt() {
		cannot("a map with keys of type %s", a.Type())
	}
	switch x, y := a.Int(), b.Int(); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// The types that values of unknown type may have.
const (
	anyNil byte = iota
	anyFalse
	anyTrue
	anyInt
	anyInt64
	anyFloat
	anyString
	anyList
	anyMap
	anyNumber
)

func encodeAny(e *encoder, p unsafe.Pointer) { e.any(*(*any)(p)) }

func (e *encoder) any(v any) {
	switch v := v.(type) {
	case nil:
		e.Byte(anyNil)
	case bool:
		tag := anyFalse
		if v {
			tag = anyTrue
		}
		e.Byte(tag)
	case int:
		e.Byte(anyInt)
		e.Int(int64(v))
	case int64:
		e.Byte(anyInt64)
		e.Int(v)
	case float64:
		e.Byte(anyFloat)
		e.Uint(math.Float64bits(v))
	case string:
		e.Byte(anyString)
		e.text(v)
	case []any:
		e.Byte(anyList)
		e.Uint(uint64(len(v)))
		for _, item := range v {
			e.any(item)
		}
	case map[string]any:
		e.Byte(anyMap)
		e.Uint(uint64(len(v)))
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		lists.Sort(keys)
		for _, key := range keys {
			e.text(key)
			e.any(v[key])
		}
	default:
		e.number(v)
	}
}
