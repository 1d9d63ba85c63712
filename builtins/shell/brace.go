package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// braces expands {a,b} and {1..3}; a word that would become too many is not
// expanded, and so not known.
func (a *analysis) braces(w *syntax.Word, fr *shFrame) []*syntax.Word {
	has := false
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok && strings.IndexByte(lit.Value, '{') >= 0 && len(lit.Value) < maxShellValue {
			has = true
		}
	}
	if !has {
		return []*syntax.Word{w}
	}
	split := &syntax.Word{Parts: w.Parts}
	if !syntax.SplitBraces(split) {
		return []*syntax.Word{w}
	}
	if !slices.ContainsFunc(split.Parts, func(p syntax.WordPart) bool { _, brace := p.(*syntax.BraceExp); return brace }) {
		return []*syntax.Word{w} // {} and the like
	}
	out, ok := braceWords(split.Parts, 0)
	if !ok {
		a.unknown(fr, shellTooMany, fr.offset(w))
		return out
	}
	return out
}

// braceWords is every way to read parts; false when there are too many.
func braceWords(parts []syntax.WordPart, depth int) ([]*syntax.Word, bool) {
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
		words, ok := braceWords(e.Parts, depth+1)
		if !ok || len(out)+len(words) > maxFields {
			return out, false
		}
		out = append(out, words...)
	}
	return out, true
}
