package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hookc/hookc/builtins/losses"
	"mvdan.cc/sh/v3/syntax"
)

// removeAffix is ${s#pattern} and its kin.
func removeAffix(s, pattern string, op syntax.ParExpOperator) string {
	switch op {
	case syntax.RemSmallPrefix:
		for i := 0; i <= len(s); i++ {
			if losses.GlobMatch(pattern, s[:i]) {
				return s[i:]
			}
		}
	case syntax.RemLargePrefix:
		for i := len(s); i >= 0; i-- {
			if losses.GlobMatch(pattern, s[:i]) {
				return s[i:]
			}
		}
	case syntax.RemSmallSuffix:
		for i := len(s); i >= 0; i-- {
			if losses.GlobMatch(pattern, s[i:]) {
				return s[:i]
			}
		}
	case syntax.RemLargeSuffix:
		for i := 0; i <= len(s); i++ {
			if losses.GlobMatch(pattern, s[i:]) {
				return s[:i]
			}
		}
	}
	return s
}

func changeCase(s string, op syntax.ParExpOperator) string {
	switch op {
	case syntax.UpperAll:
		return strings.ToUpper(s)
	case syntax.LowerAll:
		return strings.ToLower(s)
	}
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 || r == utf8.RuneError {
		return s
	}
	if op == syntax.LowerFirst {
		return string(unicode.ToLower(r)) + s[size:]
	}
	return string(unicode.ToUpper(r)) + s[size:]
}

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
		end := matchAt(s, i, pattern, anchor)
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

// matchAt is the end of the longest match of pattern at i, or i.
func matchAt(s string, i int, pattern string, anchor byte) int {
	if anchor == '#' && i > 0 {
		return i
	}
	for end := len(s); end > i; end-- {
		if losses.GlobMatch(pattern, s[i:end]) {
			return end
		}
		if anchor == '%' {
			return i
		}
	}
	return i
}
