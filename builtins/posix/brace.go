package posix

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxFields bounds the words that one word becomes.
const maxFields = 256

// Braces is every way to read parts; false when there are too many.
func Braces(parts []syntax.WordPart, depth int) ([]*syntax.Word, bool) {
	out := []*syntax.Word{{}}
	for _, p := range parts {
		brace, ok := p.(*syntax.BraceExp)
		if !ok {
			for _, w := range out {
				w.Parts = append(w.Parts[:len(w.Parts):len(w.Parts)], p)
			}
			continue
		}
		alts, ok := braceAlternatives(brace, depth)
		if !ok || len(out)*len(alts) > maxFields {
			return out, false
		}
		next := make([]*syntax.Word, 0, len(out)*len(alts))
		for _, w := range out {
			for _, alt := range alts {
				next = append(next, &syntax.Word{Parts: append(w.Parts[:len(w.Parts):len(w.Parts)], alt.Parts...)})
			}
		}
		out = next
	}
	return out, true
}

func braceAlternatives(b *syntax.BraceExp, depth int) ([]*syntax.Word, bool) {
	if depth > 20 {
		return nil, false
	}
	if b.Sequence {
		return braceSequence(b)
	}
	var out []*syntax.Word
	for _, e := range b.Elems {
		words, ok := Braces(e.Parts, depth+1)
		if !ok || len(out)+len(words) > maxFields {
			return out, false
		}
		out = append(out, words...)
	}
	return out, true
}

// braceSequence is {1..9..2} and {a..e}.
func braceSequence(b *syntax.BraceExp) ([]*syntax.Word, bool) {
	var text [3]string
	var number [3]int64
	numbers := true
	for i, e := range b.Elems[:min(3, len(b.Elems))] {
		text[i] = e.Lit()
		n, err := strconv.ParseInt(text[i], 10, 40)
		number[i], numbers = n, numbers && (err == nil || i == 2)
	}
	if !numbers {
		if len(text[0]) != 1 || len(text[1]) != 1 {
			return nil, false
		}
		number[0], number[1] = int64(text[0][0]), int64(text[1][0])
	}
	from, to, step := number[0], number[1], max(number[2], -number[2], 1)
	if max(from, to)-min(from, to) > maxFields*step || step > 1<<30 {
		return nil, false
	}
	if to < from {
		step = -step
	}
	form := "%d"
	switch {
	case !numbers:
		form = "%c"
	case padded(text[0]) || padded(text[1]):
		form = "%0" + strconv.Itoa(min(32, max(len(text[0]), len(text[1])))) + "d"
	}
	var out []*syntax.Word
	for n := from; step > 0 && n <= to || step < 0 && n >= to; n += step {
		out = append(out, &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: fmt.Sprintf(form, n)}}})
	}
	return out, true
}

// padded reports whether a number is written with zeros before it.
func padded(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return len(s) > 1 && s[0] == '0'
}

// Expand is what a word with braces means; ok is false if that is too much. Braces in more
// than longest bytes are none.
func Expand(w *syntax.Word, longest int) (words []*syntax.Word, ok bool) {
	has := false
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok && strings.IndexByte(lit.Value, '{') >= 0 && len(lit.Value) < longest {
			has = true
		}
	}
	if !has {
		return []*syntax.Word{w}, true
	}
	split := &syntax.Word{Parts: w.Parts}
	if !syntax.SplitBraces(split) {
		return []*syntax.Word{w}, true
	}
	if !slices.ContainsFunc(split.Parts, func(p syntax.WordPart) bool { _, brace := p.(*syntax.BraceExp); return brace }) {
		return []*syntax.Word{w}, true // {} and the like
	}
	return Braces(split.Parts, 0)
}
