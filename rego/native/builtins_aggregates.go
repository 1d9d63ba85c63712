package native

import (
	"slices"
	"unicode/utf8"
)

var aggregatesBuiltins = []own{
	{"count", 1, func() Builtin { return countOf }},
	{"sum", 1, func() Builtin { return sum }},
	{"max", 1, func() Builtin { return extreme(1) }},
	{"min", 1, func() Builtin { return extreme(-1) }},
	{"sort", 1, func() Builtin { return sorted }},
	{"any", 1, func() Builtin { return anyTrue }},
	{"all", 1, func() Builtin { return allTrue }},
}

func countOf(_ *Call, args []Value) (Value, bool, error) {
	switch kindOf(args[0]) {
	case kindString:
		return utf8.RuneCountInString(args[0].(string)), true, nil
	case kindArray, kindObject, kindSet:
		return Len(args[0]), true, nil
	}
	return bail()
}

func sum(_ *Call, args []Value) (Value, bool, error) {
	list, ok := argList(args[0])
	if !ok {
		return bail()
	}
	if n, ok := fold(list, 0, addExact); ok {
		return int(n), true, nil
	}
	return bail()
}

// fold combines integers while they are of 64 bits.
func fold(list []Value, n int64, f func(a, b int64) (int64, bool)) (int64, bool) {
	for _, e := range list {
		i, ok := position(e)
		if !ok {
			return 0, false
		}
		if n, ok = f(n, i); !ok {
			return 0, false
		}
	}
	return n, true
}

// extreme is the greatest element, or the least when sign is -1. Of equal ones
// in an array the last is it.
func extreme(sign int) Builtin {
	return func(_ *Call, args []Value) (Value, bool, error) {
		list, ok := argList(args[0])
		if !ok {
			return bail()
		}
		if len(list) == 0 {
			return nil, false, nil
		}
		best := list[0]
		for _, e := range list[1:] {
			if Compare(e, best)*sign >= 0 {
				best = e
			}
		}
		return best, true, nil
	}
}

// sorted leaves it to OPA how equal numbers that are written apart are
// arranged.
func sorted(_ *Call, args []Value) (Value, bool, error) {
	list, ok := argList(args[0])
	if !ok {
		return bail()
	}
	out := append([]Value{}, list...)
	slices.SortFunc(out, Compare)
	for i := 1; i < len(out); i++ {
		if Equal(out[i-1], out[i]) && !identical(out[i-1], out[i]) {
			return bail()
		}
	}
	return out, true, nil
}

func anyTrue(_ *Call, args []Value) (Value, bool, error) {
	list, ok := argList(args[0])
	if !ok {
		return bail()
	}
	return slices.ContainsFunc(list, isTrue), true, nil
}

func allTrue(_ *Call, args []Value) (Value, bool, error) {
	list, ok := argList(args[0])
	if !ok {
		return bail()
	}
	return !slices.ContainsFunc(list, func(v Value) bool { return !isTrue(v) }), true, nil
}

func isTrue(v Value) bool { b, ok := v.(bool); return ok && b }
