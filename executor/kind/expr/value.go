package expr

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/vm/runtime"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/policy"
)

// undefinedValue is the type of the one value that means what is not
// there: an absent field, a missing key, an index out of range. It is Rego's
// undefined (semantics.md §3.2) and is told apart from null, which is a value.
type undefinedValue struct{ _ byte }

var undefined = new(undefinedValue)

func isUndefined(v any) bool { return v == any(undefined) }

// number makes a json.Number, which a context holds where no Go number has
// the same text, an int or a float64 for arithmetic; anything else stays.
func number(v any) any {
	n, ok := v.(json.Number)
	if !ok {
		return v
	}
	if i, err := strconv.Atoi(string(n)); err == nil {
		return i
	}
	f, err := n.Float64()
	if errors.Is(err, strconv.ErrSyntax) {
		return v // no number: what is done with it fails
	}
	return f // beyond the range, the infinity of its sign
}

// numbers is number for a value and, if it is a list, for its elements.
func numbers(v any) any {
	list, ok := v.([]any)
	if !ok {
		return number(v)
	}
	for i, e := range list {
		if _, odd := e.(json.Number); !odd {
			continue
		}
		out := make([]any, len(list))
		copy(out, list[:i])
		for j := i; j < len(list); j++ {
			out[j] = number(list[j])
		}
		return out
	}
	return v
}

// equal is expr's ==, exact for numbers of any size.
func equal(f *frame, a, b any) bool {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			return x == y
		}
	case bool:
		if y, ok := b.(bool); ok {
			return x == y
		}
	case int:
		if y, ok := b.(int); ok {
			return x == y
		}
	case []any:
		if y, ok := b.([]any); ok {
			return equalLists(f, x, y)
		}
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			return equalObjects(f, x, y)
		}
	}
	_, oddA := a.(json.Number)
	_, oddB := b.(json.Number)
	if (oddA || oddB) && policy.NumberType.Holds(a) && policy.NumberType.Holds(b) {
		return equalNumbers(a, b)
	}
	return runtime.Equal(a, b)
}

// equalNumbers compares numbers of which one has no exact Go number: integers
// by their digits, so that they are exact at any size, all else as float64.
func equalNumbers(a, b any) bool {
	x, y := fmt.Sprint(a), fmt.Sprint(b)
	if isDigits(x) && isDigits(y) {
		return x == y
	}
	u, errU := strconv.ParseFloat(x, 64)
	v, errV := strconv.ParseFloat(y, 64)
	if errU != nil || errV != nil {
		return x == y
	}
	return u == v
}

func isDigits(s string) bool { return strings.Trim(s, "-0123456789") == "" }

func equalLists(f *frame, x, y []any) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		f.tick()
		if !equal(f, x[i], y[i]) {
			return false
		}
	}
	return true
}

func equalObjects(f *frame, x, y map[string]any) bool {
	if len(x) != len(y) {
		return false
	}
	for k, v := range x {
		f.tick()
		w, ok := y[k]
		if !ok || !equal(f, v, w) {
			return false
		}
	}
	return true
}

// contains is expr's `in`.
func contains(f *frame, needle, in any) bool {
	switch x := in.(type) {
	case []any:
		return f.among(needle, x)
	case map[string]any:
		if key, ok := needle.(string); ok {
			_, found := x[key]
			return found
		}
		if needle != nil {
			f.fail(f.at, "an object's keys are texts, not %s", typeName(needle))
		}
	case string:
		f.fail(f.at, "in takes a list or an object, not a text: use contains")
	}
	return runtime.In(number(needle), in)
}

// typeName is what a value is, for people.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a text"
	case bool:
		return "true or false"
	case int, float64, json.Number:
		return "a number"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	case *undefinedValue:
		return "undefined"
	}
	return "a " + reflect.TypeOf(v).String()
}

// jsonValue is v as a JSON value, which is what a patch may hold. A value that
// is one already is returned as it is; lists and objects that expr made of Go
// types are copied; what JSON cannot say (a time, an infinite number) is an
// error.
func jsonValue(v any) (any, error) {
	if isPlain(v) {
		return v, nil
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Slice, reflect.Array:
		return jsonList(r)
	case reflect.Map:
		return jsonObject(r)
	case reflect.Float64:
		return nil, fault.Errorf("%v is not a number JSON can hold", v)
	}
	return nil, fault.Errorf("%s is not a JSON value", typeName(v))
}

// isPlain reports whether v is a JSON value through and through.
func isPlain(v any) bool {
	switch v := v.(type) {
	case nil, string, bool, int, json.Number:
		return true
	case float64:
		return !math.IsInf(v, 0) && !math.IsNaN(v)
	case []any:
		for _, e := range v {
			if !isPlain(e) {
				return false
			}
		}
		return true
	case map[string]any:
		for _, e := range v {
			if !isPlain(e) {
				return false
			}
		}
		return true
	}
	return false
}

func jsonList(r reflect.Value) (any, error) {
	if r.Type().Elem().Kind() == reflect.Uint8 {
		return nil, errors.New("bytes are not a JSON value")
	}
	out := make([]any, r.Len())
	for i := range out {
		v, err := jsonValue(r.Index(i).Interface())
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func jsonObject(r reflect.Value) (any, error) {
	out := make(map[string]any, r.Len())
	for _, key := range sortedKeys(r) {
		name, ok := key.Interface().(string)
		if !ok {
			return nil, fault.Errorf("an object's keys are texts, not %s", typeName(key.Interface()))
		}
		v, err := jsonValue(r.MapIndex(key).Interface())
		if err != nil {
			return nil, err
		}
		out[name] = v
	}
	return out, nil
}

// sortedKeys are a map's keys in the order of their texts, so that nothing
// follows map order.
func sortedKeys(r reflect.Value) []reflect.Value {
	keys := r.MapKeys()
	sort.Slice(keys, func(i, j int) bool {
		return fmt.Sprint(keys[i].Interface()) < fmt.Sprint(keys[j].Interface())
	})
	return keys
}
