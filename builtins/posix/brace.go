package posix

import (
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
	var text []string
	for _, e := range b.Elems {
		lit := ""
		for _, p := range e.Parts {
			if l, ok := p.(*syntax.Lit); ok {
				lit += l.Value
			}
		}
		text = append(text, lit)
	}
	if len(text) < 2 {
		return nil, false
	}
	step := 1
	if len(text) > 2 {
		n, err := strconv.Atoi(text[2])
		if err != nil {
			return nil, false
		}
		step = max(n, -n, 1)
	}
	from, errFrom := strconv.Atoi(text[0])
	to, errTo := strconv.Atoi(text[1])
	letters := errFrom != nil || errTo != nil
	if letters {
		if len(text[0]) != 1 || len(text[1]) != 1 {
			return nil, false
		}
		from, to = int(text[0][0]), int(text[1][0])
	}
	if max(from, to)-min(from, to) > maxFields*step || step > 1<<30 || max(from, -from, to, -to) > 1<<40 {
		return nil, false
	}
	if to < from {
		step = -step
	}
	width := 0
	if !letters && (padded(text[0]) || padded(text[1])) {
		width = max(len(text[0]), len(text[1]))
	}
	if width > 32 {
		return nil, false
	}
	var out []*syntax.Word
	for n := from; step > 0 && n <= to || step < 0 && n >= to; n += step {
		s := strconv.Itoa(n)
		if letters {
			s = string(rune(n))
		}
		if neg := strings.TrimPrefix(s, "-"); len(s) < width {
			s = s[:len(s)-len(neg)] + strings.Repeat("0", width-len(s)) + neg
		}
		out = append(out, &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: s}}})
	}
	return out, true
}

// padded reports whether a number is written with zeros before it.
func padded(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return len(s) > 1 && s[0] == '0'
}
