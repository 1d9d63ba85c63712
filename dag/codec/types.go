package codec

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/bits"
	"reflect"
	"strings"
	"unsafe"

	"github.com/hookc/hookc/policy/diag"
)

// kind is how values of a type are written and read.
type kind struct {
	rt   reflect.Type
	size uintptr
	// place is that of a type that is pointed at among all those, else -1.
	place int
	// row is that of a type of which there are slices among all those, else -1.
	row int
	enc func(*encoder, unsafe.Pointer)
	dec func(*decoder, unsafe.Pointer)
	// fields are those of a struct.
	fields []field
}

type field struct {
	offset uintptr
	*kind
}

// registry holds the kinds of all types that are reached.
type registry struct {
	byType map[reflect.Type]*kind
	// pointed are the types that are pointed at.
	pointed []*kind
	// sliced are the types of which there are slices.
	sliced []*kind
	// shape describes the types, for the fingerprint.
	shape strings.Builder
}

func (r *registry) fingerprint() string {
	sum := sha256.Sum256([]byte("1\n" + r.shape.String()))
	return hex.EncodeToString(sum[:16])
}

// of is the kind of a type; at says where it is, for a panic.
func (r *registry) of(t reflect.Type, at string) *kind {
	if k := r.byType[t]; k != nil {
		return k
	}
	k := &kind{rt: t, size: t.Size(), place: -1, row: -1}
	r.byType[t] = k
	fmt.Fprintf(&r.shape, "%s %s\n", t, t.Kind())
	switch t.Kind() {
	case reflect.Bool:
		k.enc, k.dec = encodeBool, decodeBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		k.ints(r, true)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		k.ints(r, false)
	case reflect.String:
		k.enc, k.dec = encodeString, decodeString
	case reflect.Struct:
		r.structure(k, at)
	case reflect.Slice:
		r.slice(k, r.of(t.Elem(), at+"[]"))
	case reflect.Array:
		k.array(r.of(t.Elem(), at+"[]"), t.Len())
	case reflect.Map:
		k.mapped(r.of(t.Key(), at+" key"), r.of(t.Elem(), at+" value"))
	case reflect.Pointer:
		r.pointer(k, at)
	case reflect.Interface:
		if t.NumMethod() > 0 {
			panic("codec: " + at + " is an interface: it must be among what is remade")
		}
		k.enc, k.dec = encodeAny, decodeAny
	default:
		panic("codec: " + at + " is a " + t.Kind().String() + ": it must be among what is remade")
	}
	return k
}

func (k *kind) ints(_ *registry, signed bool) {
	size := k.size
	k.enc = func(e *encoder, p unsafe.Pointer) { e.Int(load(p, size, signed)) }
	top := uint(size * 8)
	k.dec = func(d *decoder, p unsafe.Pointer) {
		v := d.int()
		if top < 64 && (signed && v != v<<(64-top)>>(64-top) || !signed && uint64(v) >= 1<<top) {
			d.fail()
		}
		store(p, size, v)
	}
	if size == 1 && !signed {
		k.enc = func(e *encoder, p unsafe.Pointer) { e.Byte(*(*byte)(p)) }
		k.dec = func(d *decoder, p unsafe.Pointer) { *(*byte)(p) = d.byte() }
	}
}

func load(p unsafe.Pointer, size uintptr, signed bool) int64 {
	switch {
	case size == 8:
		return *(*int64)(p)
	case size == 4 && signed:
		return int64(*(*int32)(p))
	case size == 4:
		return int64(*(*uint32)(p))
	case size == 2 && signed:
		return int64(*(*int16)(p))
	case size == 2:
		return int64(*(*uint16)(p))
	case signed:
		return int64(*(*int8)(p))
	}
	return int64(*(*uint8)(p))
}

func store(p unsafe.Pointer, size uintptr, v int64) {
	switch size {
	case 8:
		*(*int64)(p) = v
	case 4:
		*(*int32)(p) = int32(v)
	case 2:
		*(*int16)(p) = int16(v)
	default:
		*(*int8)(p) = int8(v)
	}
}

// structure is a struct: a bit for each field that is not zero, and those.
func (r *registry) structure(k *kind, at string) {
	name := k.rt.String()
	for i := range k.rt.NumField() {
		f := k.rt.Field(i)
		if _, made := remade[name+"."+f.Name]; made {
			continue
		}
		fmt.Fprintf(&r.shape, "%s.%s %s\n", name, f.Name, f.Type)
		k.fields = append(k.fields, field{f.Offset, r.of(f.Type, at+"."+f.Name)})
	}
	if len(k.fields) > 64 {
		panic("codec: " + name + " has more than 64 fields")
	}
	k.enc = func(e *encoder, p unsafe.Pointer) {
		var set uint64
		for i := range k.fields {
			if f := &k.fields[i]; !zero(unsafe.Add(p, f.offset), f.size) {
				set |= 1 << i
			}
		}
		e.Uint(set)
		for i := range k.fields {
			if set>>i&1 == 1 {
				k.fields[i].enc(e, unsafe.Add(p, k.fields[i].offset))
			}
		}
	}
	k.dec = func(d *decoder, p unsafe.Pointer) {
		set := d.uint()
		for ; set != 0; set &= set - 1 {
			i := bits.TrailingZeros64(set)
			if i >= len(k.fields) {
				d.fail()
			}
			k.fields[i].dec(d, unsafe.Add(p, k.fields[i].offset))
		}
	}
}

// zero reports whether memory is zero. A value whose memory is not, though it
// is equal to zero, is written for what it is.
func zero(p unsafe.Pointer, size uintptr) bool {
	for _, b := range unsafe.Slice((*byte)(p), size) {
		if b != 0 {
			return false
		}
	}
	return true
}

// sliceHeader is the memory of a slice.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// slice is a length, 0 for nil and one more otherwise, and the elements. All
// elements of a type that one root has are allocated together.
func (r *registry) slice(k, elem *kind) {
	if elem.size == 0 {
		panic("codec: " + k.rt.String() + " has elements without a size")
	}
	if elem.row < 0 {
		elem.row = len(r.sliced)
		r.sliced = append(r.sliced, elem)
	}
	k.enc = func(e *encoder, p unsafe.Pointer) {
		h := (*sliceHeader)(p)
		if h.data == nil {
			e.Uint(0)
			return
		}
		e.Uint(uint64(h.len) + 1)
		e.rows[elem.row] += h.len
		for i := range h.len {
			elem.enc(e, unsafe.Add(h.data, uintptr(i)*elem.size))
		}
	}
	k.dec = func(d *decoder, p unsafe.Pointer) {
		n := d.count()
		if n < 0 {
			return
		}
		made := d.elements(elem, n)
		for i := range n {
			elem.dec(d, unsafe.Add(made, uintptr(i)*elem.size))
		}
		*(*sliceHeader)(p) = sliceHeader{made, n, n}
	}
}

func (k *kind) array(elem *kind, n int) {
	k.enc = func(e *encoder, p unsafe.Pointer) {
		for i := range n {
			elem.enc(e, unsafe.Add(p, uintptr(i)*elem.size))
		}
	}
	k.dec = func(d *decoder, p unsafe.Pointer) {
		for i := range n {
			elem.dec(d, unsafe.Add(p, uintptr(i)*elem.size))
		}
	}
}

// pointer is a pointer to an object that is written once. A code is its name.
func (r *registry) pointer(k *kind, at string) {
	if k.rt == reflect.TypeFor[*diag.Code]() {
		k.enc, k.dec = encodeCode, decodeCode
		return
	}
	elem := r.of(k.rt.Elem(), at)
	if elem.size == 0 {
		panic("codec: " + at + " points at nothing")
	}
	if elem.place < 0 {
		elem.place = len(r.pointed)
		r.pointed = append(r.pointed, elem)
	}
	k.enc = func(e *encoder, p unsafe.Pointer) { e.pointer(elem, *(*unsafe.Pointer)(p)) }
	k.dec = func(d *decoder, p unsafe.Pointer) { *(*unsafe.Pointer)(p) = d.pointer(elem) }
}
