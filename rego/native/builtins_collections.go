package native

import (
	"slices"

	"github.com/hookc/hookc/internal/lists"
)

var collectionsBuiltins = []own{
	{"array.reverse", 1, func() Builtin { return reverseArray }},
	{"and", 2, func() Builtin { return intersection }},
	{"or", 2, func() Builtin { return union }},
	{"set_diff", 2, func() Builtin { return difference }},
	{"array.concat", 2, func() Builtin { return concatArrays }},
	{"array.slice", 3, func() Builtin { return sliceArray }},
}

func twoSets(args []Value) (a, b *Set, ok bool) {
	a, ok1 := args[0].(*Set)
	b, ok2 := args[1].(*Set)
	return a, b, ok1 && ok2
}

func intersection(_ *Call, args []Value) (Value, bool, error) {
	a, b, ok := twoSets(args)
	if !ok {
		return bail()
	}
	return intersect(a, b), true, nil
}

// intersect has the elements as the smaller set has them.
func intersect(a, b *Set) *Set {
	if b.Len() < a.Len() {
		a, b = b, a
	}
	out := NewSet()
	for _, e := range a.Elems() {
		if b.Has(e) {
			out.Add(e)
		}
	}
	return out
}

// union has the elements as the first set has them.
func union(_ *Call, args []Value) (Value, bool, error) {
	a, b, ok := twoSets(args)
	switch {
	case !ok:
		return bail()
	case a.Len() == 0:
		return args[1], true, nil
	case b.Len() == 0:
		return args[0], true, nil
	}
	out := NewSet(a.Elems()...)
	for _, e := range b.Elems() {
		out.Add(e)
	}
	return out, true, nil
}

func difference(_ *Call, args []Value) (Value, bool, error) {
	a, b, ok := twoSets(args)
	if !ok {
		return bail()
	}
	out := NewSet()
	if a.Len() == b.Len() && Compare(a, b) == 0 {
		return out, true, nil
	}
	for _, e := range a.Elems() {
		if !b.Has(e) {
			out.Add(e)
		}
	}
	return out, true, nil
}

func concatArrays(_ *Call, args []Value) (Value, bool, error) {
	a, ok1 := args[0].([]Value)
	b, ok2 := args[1].([]Value)
	if !ok1 || !ok2 {
		return bail()
	}
	return lists.Concat([]Value{}, a, b), true, nil
}

func sliceArray(_ *Call, args []Value) (Value, bool, error) {
	a, ok1 := args[0].([]Value)
	from, ok2 := intArg(args[1])
	to, ok3 := intArg(args[2])
	if !ok1 || !ok2 || !ok3 {
		return bail()
	}
	to = min(max(to, 0), len(a))
	from = min(max(from, 0), to)
	return a[from:to:to], true, nil
}

func reverseArray(_ *Call, args []Value) (Value, bool, error) {
	a, ok := args[0].([]Value)
	if !ok {
		return bail()
	}
	out := lists.Copy(a)
	slices.Reverse(out)
	return out, true, nil
}
