// Package spell writes text of repositories and agents so that it stays the text
// that it is: what would move, hide or reorder what a terminal shows, or command a
// CI runner, is spelled out.
package spell

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Hidden reports whether a character is one that moves, hides or reorders text
// rather than being text. What joins letters and shapes symbols is text.
func Hidden(r rune) bool {
	switch {
	case r < ' ' && r != '\t' && r != '\n', r >= 0x7f && r <= 0x9f:
		return true
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xfeff, r == 0xffa0:
		return true
	case r >= 0x180b && r <= 0x180f, r == 0x200b, r == 0x200e, r == 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r >= 0xfe00 && r <= 0xfe0d, r >= 0xfff0 && r <= 0xfffb, r >= 0x1bca0 && r <= 0x1bca3, r >= 0x1d173 && r <= 0x1d17a:
		return true
	}
	return r >= 0xe0000 && r <= 0xe0fff
}

// Rune appends a character as \uXXXX, which in JSON is the same text.
func Rune(out []byte, r rune) []byte {
	if r > 0xffff {
		out = Rune(out, (r-0x10000)>>10+0xd800)
		r = (r-0x10000)&0x3ff + 0xdc00
	}
	return append(out, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

const digits = "0123456789abcdef"

// Count is a number of things, in words.
//
//go:noinline
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// Or is a choice, in words.
func Or(list []string) string {
	if n := len(list) - 1; n > 0 {
		return strings.Join(list[:n], ", ") + " or " + list[n]
	}
	return strings.Join(list, "")
}

// Line is a text that takes one line, whatever it holds: a path, a command.
//
//go:noinline
func Line(s string) string {
	return spelled(s, func(r rune) bool { return r == '\n' || r == '\t' || Hidden(r) })
}

// Name is a text without control characters and line breaks.
//
//go:noinline
func Name(s string) string {
	return spelled(s, func(r rune) bool { return r < ' ' || r >= 0x7f && r <= 0x9f || r == 0x2028 || r == 0x2029 })
}

// plain reports whether a text is of ASCII that shows, as nearly every path is.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func spelled(s string, odd func(rune) bool) string {
	if plain(s) || !strings.ContainsFunc(s, odd) {
		return s
	}
	var out []byte
	for _, r := range s {
		switch {
		case r == '\n':
			out = append(out, `\n`...)
		case r == '\r':
			out = append(out, `\r`...)
		case r == '\t':
			out = append(out, `\t`...)
		case odd(r):
			out = Rune(out, r)
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out)
}

// Text is a text of lines as a terminal may be given it.
func Text(text []byte) []byte {
	odd := func(r rune) bool { return r == utf8.RuneError || Hidden(r) }
	if bytes.IndexFunc(text, odd) < 0 && !bytes.Contains(text, []byte("##[")) && !bytes.Contains(text, []byte("::")) {
		return text
	}
	out := make([]byte, 0, len(text)+16)
	begun := false
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			out = append(out, '\\', 'x', digits[text[0]>>4], digits[text[0]&15])
		case Hidden(r), !begun && bytes.HasPrefix(text, []byte("::")), bytes.HasPrefix(text, []byte("##[")):
			out = Rune(out, r)
		default:
			out = append(out, text[:n]...)
		}
		if r == '\n' {
			begun = false
		} else if r != ' ' && r != '\t' {
			begun = true
		}
		text = text[n:]
	}
	return out
}

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

// Meant is the word of a list, each of lower case and `_`, from which another differs in
// letter case, `_` and `-` alone, "" where there is none.
func Meant(word string, list ...string) string {
	for _, w := range list {
		if meant(word, w) {
			return w
		}
	}
	return ""
}

func meant(word, w string) bool {
	at := 0
	for i := range len(word) {
		b := word[i]
		if b == '_' || b == '-' {
			continue
		}
		for at < len(w) && w[at] == '_' {
			at++
		}
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		if at == len(w) || w[at] != b {
			return false
		}
		at++
	}
	return at == len(w)
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

// Cut is strings.Cut, for the same reason as Copy.
//
//go:noinline
func Cut(text, sep string) (before, after string, found bool) { return strings.Cut(text, sep) }

// CutPrefix is strings.CutPrefix, for the same reason.
//
//go:noinline
func CutPrefix(text, prefix string) (after string, found bool) {
	return strings.CutPrefix(text, prefix)
}

// CutSuffix is strings.CutSuffix, for the same reason.
//
//go:noinline
func CutSuffix(text, suffix string) (before string, found bool) {
	return strings.CutSuffix(text, suffix)
}

// First is cmp.Or, for the same reason as Copy.
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
