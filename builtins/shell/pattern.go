package shell

import (
	"strings"

	"github.com/hookc/hookc/builtins/posix"
	"mvdan.cc/sh/v3/syntax"
)

// replaceIn is ${s/pattern/with}. Patterns with wildcards are tried at every
// place, the longest match first, as bash does.
func (a *analysis) replaceIn(s string, r *syntax.Replace, fr *shFrame) (string, bool) {
	pattern, ok := a.single(r.Orig, fr).known()
	with, okWith := a.single(r.With, fr).known()
	if !ok || !okWith || len(s) > 1024 || len(pattern) > 256 || len(with) > 1024 {
		return "", false
	}
	anchor := byte(0)
	if pattern != "" && !r.All && (pattern[0] == '#' || pattern[0] == '%') {
		anchor, pattern = pattern[0], pattern[1:]
	}
	if pattern == "" {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		end := posix.MatchAt(s, i, pattern, anchor)
		if end <= i {
			b.WriteByte(s[i])
			i++
			continue
		}
		b.WriteString(with)
		i = end
		if !r.All {
			b.WriteString(s[i:])
			break
		}
	}
	return b.String(), true
}
