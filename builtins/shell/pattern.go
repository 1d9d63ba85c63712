package shell

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// shGlobMatch reports whether a shell pattern matches all of s. Unlike a file
// glob's, its `*` matches slashes.
func shGlobMatch(pattern, s string) bool {
	if !strings.ContainsAny(pattern, "*?[\\") {
		return pattern == s
	}
	star, mark := -1, 0
	p, i := 0, 0
	for i < len(s) {
		if p < len(pattern) && pattern[p] == '*' {
			star, mark = p, i
			p++
			continue
		}
		if n := matchOne(pattern, p, s[i]); n > 0 {
			p, i = p+n, i+1
			continue
		}
		if star < 0 {
			return false
		}
		mark++
		p, i = star+1, mark
	}
	return strings.Trim(pattern[min(p, len(pattern)):], "*") == ""
}

// matchOne is how many bytes of pattern at p match the byte c, 0 for none.
func matchOne(pattern string, p int, c byte) int {
	if p >= len(pattern) {
		return 0
	}
	switch pattern[p] {
	case '?':
		return 1
	case '\\':
		if p+1 < len(pattern) && pattern[p+1] == c {
			return 2
		}
		return 0
	case '[':
		end := strings.IndexByte(pattern[p+1:], ']')
		if end < 0 {
			break
		}
		set := pattern[p : p+1+end+1]
		set = strings.Replace(set, "[!", "[^", 1)
		if ok, err := path.Match(set, string([]byte{c})); err == nil && ok {
			return len(set)
		}
		return 0
	}
	if pattern[p] == c {
		return 1
	}
	return 0
}

// removeAffix is ${s#pattern} and its kin.
func removeAffix(s, pattern string, op syntax.ParExpOperator) string {
	switch op {
	case syntax.RemSmallPrefix:
		for i := 0; i <= len(s); i++ {
			if shGlobMatch(pattern, s[:i]) {
				return s[i:]
			}
		}
	case syntax.RemLargePrefix:
		for i := len(s); i >= 0; i-- {
			if shGlobMatch(pattern, s[:i]) {
				return s[i:]
			}
		}
	case syntax.RemSmallSuffix:
		for i := len(s); i >= 0; i-- {
			if shGlobMatch(pattern, s[i:]) {
				return s[:i]
			}
		}
	case syntax.RemLargeSuffix:
		for i := 0; i <= len(s); i++ {
			if shGlobMatch(pattern, s[i:]) {
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
		if shGlobMatch(pattern, s[i:end]) {
			return end
		}
		if anchor == '%' {
			return i
		}
	}
	return i
}
