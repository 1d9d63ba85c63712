package shell

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/posix"
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
	out, ok := posix.Braces(split.Parts, 0)
	if !ok {
		a.unknown(fr, shellTooMany, fr.offset(w))
		return out
	}
	return out
}
