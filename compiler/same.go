package compiler

import (
	"reflect"

	"github.com/hookc/hookc/policy/diag"
)

var sourceType = reflect.TypeFor[*diag.Source]()

// same reports whether two values of one type mean the same wherever they are
// looked at: every part of them is compared, places in a source included. What
// holds a function is the same only if it is the very same thing. It errs only
// towards no. Values must not contain themselves.
func same(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Pointer:
		if a.Pointer() == b.Pointer() {
			return true
		}
		if a.IsNil() || b.IsNil() {
			return false
		}
		if a.Type() == sourceType {
			x, y := a.Elem(), b.Elem()
			return x.FieldByName("Name").String() == y.FieldByName("Name").String() &&
				x.FieldByName("Content").String() == y.FieldByName("Content").String()
		}
		return same(a.Elem(), b.Elem())
	case reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
		return a.Elem().Type() == b.Elem().Type() && same(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if !same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
			return false
		}
		return a.Pointer() == b.Pointer() || sameElements(a, b)
	case reflect.Array:
		return sameElements(a, b)
	case reflect.Map:
		return sameMap(a, b)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return a.IsNil() && b.IsNil()
	}
	return a.Equal(b)
}

func sameElements(a, b reflect.Value) bool {
	for i := range a.Len() {
		if !same(a.Index(i), b.Index(i)) {
			return false
		}
	}
	return true
}

func sameMap(a, b reflect.Value) bool {
	if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
		return false
	}
	for it := a.MapRange(); it.Next(); {
		v := b.MapIndex(it.Key())
		if !v.IsValid() || !same(it.Value(), v) {
			return false
		}
	}
	return true
}
