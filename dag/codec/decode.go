package codec

import (
	"encoding/json"
	"math"
	"reflect"
	"unsafe"

	"github.com/hookc/hookc/internal/binary"
	"github.com/hookc/hookc/policy/diag"
)

// number is a number as it was written.
func (e *encoder) number(v any) {
	n, ok := v.(json.Number)
	if !ok {
		cannot("a value of type %T", v)
	}
	e.Byte(anyNumber)
	e.text(string(n))
}

// perByte bounds the memory that one byte of a program may take: the largest
// struct, all zero, is written as one.
const perByte = 1 << 12

// slab is the memory of the objects of a type that one root has.
type slab struct {
	at unsafe.Pointer
	n  int
}

// decoder reads one root. What does not fit panics with errDamaged.
type decoder struct {
	in   *binary.Reader
	blob string
	// base is nil for a head.
	base *Base
	own  *Base
	// rows are the elements of slices, by type, that are not given out yet.
	rows []slab
	// left is the memory that may still be asked for.
	left int
}

func read[T any](data []byte, base *Base) (root *T, own *Base, err error) {
	defer func() {
		if p := recover(); p != nil {
			if p != any(errDamaged) {
				panic(p)
			}
			root, own, err = nil, nil, errDamaged
		}
	}()
	r := types()
	d := &decoder{in: binary.NewReader(data), base: base, left: (len(data) + 64) * perByte}
	body := d.in.Bytes()
	d.blob = string(d.in.Rest())
	d.in = binary.NewReader(body)
	d.own = &Base{count: make([]int, len(r.pointed)), slabs: d.slabs(r.pointed)}
	for i := range d.own.slabs {
		d.own.count[i] = d.own.slabs[i].n
	}
	d.rows = d.slabs(r.sliced)
	root = new(T)
	r.byType[reflect.TypeFor[T]()].dec(d, unsafe.Pointer(root))
	for i, k := range r.pointed {
		s := d.own.slabs[i]
		for j := range s.n {
			k.dec(d, unsafe.Add(s.at, uintptr(j)*k.size))
		}
	}
	if !d.in.Done() || d.in.Bad() {
		d.fail()
	}
	return root, d.own, nil
}

// slabs allocates what the counts of objects, one for each type, say.
func (d *decoder) slabs(of []*kind) []slab {
	out := make([]slab, len(of))
	for i, k := range of {
		n := d.uint()
		if n > uint64(len(d.in.Rest())) {
			d.fail()
		}
		if n > 0 {
			d.charge(int(n), k.size)
			out[i] = slab{reflect.MakeSlice(reflect.SliceOf(k.rt), int(n), int(n)).UnsafePointer(), int(n)}
		}
	}
	return out
}

// elements are the next n elements of a type.
func (d *decoder) elements(k *kind, n int) unsafe.Pointer {
	row := &d.rows[k.row]
	switch {
	case n == 0:
		return unsafe.Pointer(&none)
	case n > row.n:
		d.fail()
	}
	at := row.at
	row.n -= n
	row.at = nil
	if row.n > 0 { // never beyond the end
		row.at = unsafe.Add(at, uintptr(n)*k.size)
	}
	return at
}

// none is where slices without elements are.
var none uint64

//go:noinline
func (d *decoder) fail() { panic(errDamaged) }

// charge counts memory that is asked for.
func (d *decoder) charge(n int, size uintptr) {
	if d.left -= n * int(size); d.left < 0 {
		d.fail()
	}
}

func (d *decoder) byte() byte {
	b := d.in.Byte()
	d.check()
	return b
}

func (d *decoder) uint() uint64 {
	v := d.in.Uint()
	d.check()
	return v
}

func (d *decoder) int() int64 {
	v := d.in.Int()
	d.check()
	return v
}

//go:noinline
func (d *decoder) check() {
	if d.in.Bad() {
		d.fail()
	}
}

// count is the length of a slice or a map, -1 for nil. What follows is at least
// a byte for each.
func (d *decoder) count() int {
	n := d.uint()
	if n > uint64(len(d.in.Rest()))+1 {
		d.fail()
	}
	return int(n) - 1
}

func (d *decoder) text() string {
	n := d.uint()
	if n == 0 {
		return ""
	}
	at := d.uint()
	if at > uint64(len(d.blob)) || n > uint64(len(d.blob))-at {
		d.fail()
	}
	return d.blob[at : at+n]
}

func (d *decoder) pointer(k *kind) unsafe.Pointer {
	id := d.uint()
	if id == 0 {
		return nil
	}
	id--
	if d.base != nil {
		if s := d.base.slabs[k.place]; id < uint64(s.n) {
			return unsafe.Add(s.at, uintptr(id)*k.size)
		} else {
			id -= uint64(s.n)
		}
	}
	s := d.own.slabs[k.place]
	if id >= uint64(s.n) {
		d.fail()
	}
	return unsafe.Add(s.at, uintptr(id)*k.size)
}

func decodeBool(d *decoder, p unsafe.Pointer) {
	*(*bool)(p) = d.in.Bool()
	d.check()
}

func decodeString(d *decoder, p unsafe.Pointer) { *(*string)(p) = d.text() }

func decodeCode(d *decoder, p unsafe.Pointer) {
	id := d.text()
	if id == "" {
		return
	}
	c := diag.Lookup(id)
	if c == nil {
		d.fail()
	}
	*(**diag.Code)(p) = c
}

// mapped reads n entries. The maps there are many of, or that are long, are made
// without reflection.
func (d *decoder) mapped(k, key, value *kind, n int, p unsafe.Pointer) {
	switch {
	case k.rt == reflect.TypeFor[map[string][]int]():
		m := make(map[string][]int, n)
		for range n {
			var at string
			var list []int
			key.dec(d, unsafe.Pointer(&at))
			value.dec(d, unsafe.Pointer(&list))
			m[at] = list
		}
		*(*map[string][]int)(p) = m
	default:
		m := reflect.MakeMapWithSize(k.rt, n)
		for range n {
			at, v := reflect.New(key.rt), reflect.New(value.rt)
			key.dec(d, at.UnsafePointer())
			value.dec(d, v.UnsafePointer())
			m.SetMapIndex(at.Elem(), v.Elem())
		}
		reflect.NewAt(k.rt, p).Elem().Set(m)
	}
}

func decodeAny(d *decoder, p unsafe.Pointer) { *(*any)(p) = d.any(0) }

// maxNested bounds how deep values of unknown type are nested.
const maxNested = 1000

func (d *decoder) any(depth int) any {
	if depth > maxNested {
		d.fail()
	}
	switch tag := d.byte(); tag {
	case anyNil:
		return nil
	case anyFalse, anyTrue:
		return tag == anyTrue
	case anyInt:
		return int(d.int())
	case anyInt64:
		return d.int()
	case anyFloat:
		return math.Float64frombits(d.uint())
	case anyString:
		return d.text()
	case anyNumber:
		return json.Number(d.text())
	case anyList:
		out := make([]any, d.length())
		for i := range out {
			out[i] = d.any(depth + 1)
		}
		return out
	case anyMap:
		n := d.length()
		out := make(map[string]any, n)
		for range n {
			key := d.text()
			out[key] = d.any(depth + 1)
		}
		return out
	}
	d.fail()
	return nil
}

func (d *decoder) length() int {
	n := d.uint()
	if n > uint64(len(d.in.Rest())) {
		d.fail()
	}
	d.charge(int(n), 64)
	return int(n)
}
