package native

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lists"
)

// Value is a ground Rego value:
//
//   - nil is null; bool and string are themselves
//   - a number is an int or a float64 when encoding/json writes it back as it
//     was, else a Number; a json.Number is read as one
//   - an array is a []Value
//   - an object is a map[string]Value, as JSON input and data give it, or an
//     *Object, which rules build
//   - a set is a *Set
//
// A value that can be seen by two owners is never changed. Undefined is no
// Value: functions report it apart.
type Value = any

// Number is a number whose text an int or a float64 would not give back, such
// as 1.0, 1e400 or an integer of twenty digits. It is written as JSON writes
// numbers.
type Number string

// written is a number of another package's, such as json.Number.
type written interface {
	String() string
	Float64() (float64, error)
}

// kind is a value's place in OPA's order of types.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
	kindSet
)

// kindOf bails on what is no Value: only a decoder's mistake, or a Go value
// given to the engine, is that, and topdown says what it is.
//
//go:noinline
func kindOf(v Value) kind {
	switch v.(type) {
	case string:
		return kindString
	case nil:
		return kindNull
	case bool:
		return kindBool
	case int, float64, Number:
		return kindNumber
	case []Value:
		return kindArray
	case map[string]Value, *Object:
		return kindObject
	case *Set:
		return kindSet
	case written:
		return kindNumber
	}
	panic(bailout{})
}

// Compare orders values as OPA's ast.Compare does: null, booleans, numbers by
// value, strings by bytes, arrays, objects by their sorted pairs, sets by
// their sorted elements. Inside Eval a number or a Go value that OPA could not
// compare ends the evaluation with ErrBail; elsewhere Compare panics with it.
func Compare(a, b Value) int {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			return strings.Compare(x, y)
		}
	case int:
		if y, ok := b.(int); ok {
			return order(x, y)
		}
	}
	k := kindOf(a)
	if c := order(k, kindOf(b)); c != 0 {
		return c
	}
	switch k {
	case kindBool:
		return compareBools(a.(bool), b.(bool))
	case kindNumber:
		return compareNumbers(a, b)
	case kindString:
		return strings.Compare(a.(string), b.(string))
	case kindArray:
		return slices.CompareFunc(a.([]Value), b.([]Value), Compare)
	case kindObject:
		return compareObjects(a, b)
	case kindSet:
		return slices.CompareFunc(a.(*Set).Elems(), b.(*Set).Elems(), Compare)
	}
	return 0
}

func order[T int | kind | int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Equal reports whether Compare is 0, mostly without looking as far.
func Equal(a, b Value) bool {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return ok && x == y
	case nil:
		return b == nil
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	case int:
		if y, ok := b.(int); ok {
			return x == y
		}
	case []Value:
		y, ok := b.([]Value)
		return ok && slices.EqualFunc(x, y, Equal)
	case *Set:
		y, ok := b.(*Set)
		return ok && (x == y || x.equal(y))
	case map[string]Value, *Object:
		return kindOf(b) == kindObject && equalObjects(a, b)
	}
	return Compare(a, b) == 0
}

// identical reports whether equal values are also written alike: 1 and 1.0 are
// equal, and which of them a set keeps depends on who came first.
func identical(a, b Value) bool {
	switch x := a.(type) {
	case nil, bool, string:
		return true
	case int:
		if y, ok := b.(int); ok {
			return x == y
		}
		return numberText(a) == numberText(b)
	case []Value:
		return slices.EqualFunc(x, b.([]Value), identical)
	case *Set:
		return x == b.(*Set) || slices.EqualFunc(x.Elems(), b.(*Set).Elems(), identical)
	case map[string]Value, *Object:
		same := true
		i, keys := 0, Keys(b)
		Each(a, func(k, v Value) bool {
			w, _ := Get(b, keys[i])
			same = identical(k, keys[i]) && identical(v, w)
			i++
			return same
		})
		return same
	}
	return numberText(a) == numberText(b)
}

// Get looks key up in v: an array's element by index, an object's value by
// key, a set's element on its own. Of anything else there is nothing.
func Get(v, key Value) (Value, bool) {
	switch x := v.(type) {
	case map[string]Value:
		if k, ok := key.(string); ok {
			e, ok := x[k]
			return e, ok
		}
	case *Object:
		return x.Get(key)
	case []Value:
		if i, ok := position(key); ok && i >= 0 && i < int64(len(x)) {
			return x[i], true
		}
	case *Set:
		// The value is the key as it was asked for: of 1 and 1.0, which are one
		// element, that is what topdown gives.
		if x.Has(key) {
			return key, true
		}
	}
	return nil, false
}

// Len counts the elements of an array, an object or a set; anything else has
// none.
func Len(v Value) int {
	switch x := v.(type) {
	case []Value:
		return len(x)
	case map[string]Value:
		return len(x)
	case *Object:
		return x.Len()
	case *Set:
		return x.Len()
	}
	return 0
}

// Keys are an object's keys in order. The caller does not change them.
func Keys(v Value) []Value {
	switch x := v.(type) {
	case map[string]Value:
		keys := make([]Value, 0, len(x))
		for _, k := range sortedKeys(x) {
			keys = append(keys, k)
		}
		return keys
	case *Object:
		x.sort()
		keys := make([]Value, len(x.pairs))
		for i := range x.pairs {
			keys[i] = x.pairs[i].key
		}
		return keys
	}
	return nil
}

// Each yields what iteration of v gives, in OPA's order: an array's indexes
// and elements, an object's keys and values, a set's elements twice. It stops
// when yield returns false.
func Each(v Value, yield func(key, value Value) bool) {
	switch x := v.(type) {
	case []Value:
		for i, e := range x {
			if !yield(i, e) {
				return
			}
		}
	case map[string]Value:
		for _, k := range sortedKeys(x) {
			if !yield(k, x[k]) {
				return
			}
		}
	case *Object:
		x.sort()
		for i := range x.pairs {
			if !yield(x.pairs[i].key, x.pairs[i].value) {
				return
			}
		}
	case *Set:
		for _, e := range x.Elems() {
			if !yield(e, e) {
				return
			}
		}
	}
}

func sortedKeys(m map[string]Value) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	lists.Sort(keys)
	return keys
}
