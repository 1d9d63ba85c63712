// Package form says of JSON values whether they have a form: what an agent takes
// in the place of a tool's result and what it passes over in silence.
package form

import (
	"slices"

	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

// Same reports whether two values have the same type and, if they are
// objects or lists, the same keys and values of the same shape.
func Same(old, v any) bool {
	switch before := old.(type) {
	case map[string]any:
		after, ok := v.(map[string]any)
		if !ok || len(after) != len(before) {
			return false
		}
		for k, inner := range before {
			other, has := after[k]
			if !has || !Same(inner, other) {
				return false
			}
		}
		return true
	case []any:
		after, ok := v.([]any)
		return ok && !slices.ContainsFunc(after, func(other any) bool {
			return !slices.ContainsFunc(before, func(inner any) bool { return Same(inner, other) })
		})
	}
	for _, t := range []policy.FieldType{policy.StringType, policy.NumberType, policy.BoolType} {
		if t.Holds(old) {
			return t.Holds(v)
		}
	}
	return old == nil && v == nil
}

// A form is a policy.FieldType, a text or null that a value must be, or one of
// these: an object with keys that hold forms, a list of one form, one form of
// several. Keys of an object that end in a question mark may be absent; other
// keys may be there and hold anything.
type (
	Keyed map[string]any
	List  [1]any
	OneOf []any
)

// Is reports whether a value is what a form says.
func Is(form, v any) bool {
	is := func(inner any) bool { return Is(inner, v) }
	switch form := form.(type) {
	case policy.FieldType:
		return form.Holds(v)
	case OneOf:
		return slices.ContainsFunc(form, is)
	case List:
		list, ok := v.([]any)
		return ok && !slices.ContainsFunc(list, func(inner any) bool { return !Is(form[0], inner) })
	case Keyed:
		m, ok := v.(map[string]any)
		for k, inner := range form {
			name, optional := spell.CutSuffix(k, "?")
			value, has := m[name]
			ok = ok && (has || optional) && (!has || Is(inner, value))
		}
		return ok
	}
	return form == v
}
