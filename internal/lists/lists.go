// Package lists asks of lists, sorts, joins and cuts them. Go's package slices puts its
// code in wherever it is called, once for each type: here it is there once.
package lists

import (
	"cmp"
	"slices"
	"sort"
)

// Has says whether a text is in a list: slices.Contains, which is inlined wherever it is
// called, kept out of line.
//
//go:noinline
func Has(list []string, s string) bool {
	for _, t := range list {
		if t == s {
			return true
		}
	}
	return false
}

// Distinct sorts texts where they are and leaves each once.
//
//go:noinline
func Distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// Add adds those texts that a list does not have.
//
//go:noinline
func Add(to, from []string) []string {
	for _, s := range from {
		if !Has(to, s) {
			to = append(to, s)
		}
	}
	return to
}

// Keys are the keys of a map, in order.
func Keys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	Sort(keys)
	return keys
}

// Sort is slices.Sort, which takes 8 kB for each type, for few that are no texts.
//
//go:noinline
func Sort[T cmp.Ordered](list []T) {
	if texts, ok := any(list).([]string); ok {
		slices.Sort(texts)
		return
	}
	sort.Slice(list, func(i, j int) bool { return list[i] < list[j] })
}

// Order sorts texts where they are, as they are compared: slices.SortFunc takes 11 kB for a type.
//
//go:noinline
func Order[T ~string](list []T, compare func(a, b T) int) []T {
	sort.Slice(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
	return list
}

// Some reports whether one of some large values is as asked for: slices.ContainsFunc copies each.
func Some[T any](list []T, is func(*T) bool) bool { return At(list, is) >= 0 }

// At is where the first such is, -1 where none is.
func At[T any](list []T, is func(*T) bool) int {
	for i := range list {
		if is(&list[i]) {
			return i
		}
	}
	return -1
}

// Copy is slices.Clone, which is put in wherever it is called.
//
//go:noinline
func Copy[T any](list []T) []T { return append(list[:0:0], list...) }

// Concat is slices.Concat, for the same reason.
//
//go:noinline
func Concat[T any](lists ...[]T) (all []T) {
	n := 0
	for _, list := range lists {
		n += len(list)
	}
	if n > 0 {
		all = make([]T, 0, n)
	}
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// Equal is slices.Equal, for the same reason.
//
//go:noinline
func Equal[T comparable](a, b []T) bool { return slices.Equal(a, b) }

// First is cmp.Or, for the same reason.
//
//go:noinline
func First[T comparable](list ...T) T { return cmp.Or(list...) }

// Compact is slices.Compact, for the same reason.
//
//go:noinline
func Compact[T comparable](list []T) []T { return slices.Compact(list) }

// Insert is slices.Insert of one, in a tenth of its size.
//
//go:noinline
func Insert[T any](list []T, at int, v T) []T {
	list = append(list, v)
	copy(list[at+1:], list[at:])
	list[at] = v
	return list
}

// DeleteFunc is slices.DeleteFunc, for the same reason.
//
//go:noinline
func DeleteFunc[T any](list []T, drop func(T) bool) []T {
	n := 0
	for i := range list {
		if !drop(list[i]) {
			list[n] = list[i]
			n++
		}
	}
	clear(list[n:])
	return list[:n]
}

// CompactFunc is slices.CompactFunc, for the same reason.
//
//go:noinline
func CompactFunc[T any](list []T, same func(a, b T) bool) []T {
	n := 0
	for i := range list {
		if n == 0 || !same(list[n-1], list[i]) {
			list[n] = list[i]
			n++
		}
	}
	clear(list[n:])
	return list[:n]
}

// Each is a text for each of a list.
//
//go:noinline
func Each[T any](list []T, text func(T) string) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = text(x)
	}
	return out
}

// Without is a copy of a list of large values without some of them.
func Without[T any](list []T, drop func(*T) bool) []T {
	out := list[:0:0]
	for i := range list {
		if !drop(&list[i]) {
			out = append(out, list[i])
		}
	}
	return out
}

// Among is Has for what is no text.
//
//go:noinline
func Among[T comparable](list []T, x T) bool { return slices.Contains(list, x) }
