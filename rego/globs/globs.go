// Package globs reads globs as OPA does: what one is as an expression or a literal,
// and what OPA's index of rules takes it for.
package globs

import (
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Glob is a glob as what it means. It is immutable but for what holds it.
type Glob struct {
	// Literal is the whole text where Exact is set, and how it begins where Super is.
	Literal string
	Exact   bool
	Super   bool
	// Expression is what else it is: anchored.
	Expression string
	parts      parts
}

// Parse reads a glob whose * and ? do not match the runes that are delimiters. It is
// false for one that only OPA's reader understands.
func Parse(pattern, delimiters string) (Glob, bool) {
	g := parser{rest: pattern, char: `(?s:.)`}
	if delimiters != "" {
		g.char = classOf(true, []rune(delimiters))
	}
	if !g.parse() || g.level != 0 {
		return Glob{}, false
	}
	out := Glob{Exact: g.plain, Super: g.tail, parts: partsOf(pattern, delimiters)}
	if out.Exact || out.Super {
		out.Literal = g.literal
	} else {
		out.Expression = `\A(?:` + g.out.String() + `)\z`
	}
	return out, true
}

// Misses reports whether OPA's index of rules may leave out a rule for a text that its
// glob matches.
func (g *Glob) Misses(s string) bool { return g.parts.miss(s) }

// Quote is the glob that matches a text.
func Quote(s string) string {
	var out strings.Builder
	for i := range len(s) {
		if strings.IndexByte(`*?\[]{}`, s[i]) >= 0 {
			out.WriteByte('\\')
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// parts are what OPA's index of rules, where it knows a glob, takes a text to
// consist of. Escapes are not taken away in them, and delimiters are bytes: so
// the index may leave out a rule whose glob matches.
type parts struct {
	of         []string
	delimiters string
	// sure says that only an escape in a text can make it miss.
	sure bool
}

// partsOf is nothing where the index does not know the glob.
func partsOf(pattern, delimiters string) (p parts) {
	if delimiters == "" {
		return p
	}
	of := splitEscaped(pattern, delimiters)
	for _, part := range of {
		escaped := false
		for i := range len(part) {
			if !escaped && strings.IndexByte("[?{*", part[i]) >= 0 && part != "*" {
				return p
			}
			escaped = part[i] == '\\' && !escaped
		}
	}
	return parts{of, delimiters, isASCII(delimiters) && strings.IndexByte(pattern, '\\') < 0}
}

// miss reports whether the index does not find by the parts of a glob a text that
// it matches.
func (p *parts) miss(s string) bool {
	if p.of == nil || p.sure && strings.IndexByte(s, '\\') < 0 {
		return false
	}
	return !slices.EqualFunc(p.of, splitEscaped(s, p.delimiters), func(part, have string) bool { return part == "*" || part == have })
}

// splitEscaped cuts a text at bytes that are delimiters, unless a backslash is
// before them.
func splitEscaped(s, delimiters string) []string {
	var out []string
	from, escaped := 0, false
	for i := range len(s) {
		if s[i] == '\\' || escaped {
			escaped = !escaped
			continue
		}
		if strings.ContainsRune(delimiters, rune(s[i])) {
			out = append(out, s[from:i])
			from = i + 1
		}
	}
	return append(out, s[from:])
}

// parser translates a glob. literal is its text while it is plain; tail
// says that after it stood one star, without delimiters, and nothing else.
type parser struct {
	rest    string
	char    string
	out     strings.Builder
	level   int
	literal string
	plain   bool
	tail    bool
}

func (g *parser) parse() bool {
	g.plain = true
	for g.rest != "" {
		r, n := utf8.DecodeRuneInString(g.rest)
		at := g.rest
		g.rest = g.rest[n:]
		g.tail = false
		switch {
		case r == '*':
			g.star()
			continue
		case r == '?':
			g.out.WriteString(g.char)
		case r == '[':
			if !g.class() {
				return false
			}
		case r == '{':
			g.level++
			g.out.WriteString("(?:")
		case r == ',' && g.level > 0:
			g.out.WriteByte('|')
		case r == '}' && g.level > 0:
			g.level--
			g.out.WriteByte(')')
		default:
			if !g.text(r, at[:n]) {
				return false
			}
			continue
		}
		g.plain = false
	}
	return true
}

func (g *parser) star() {
	super := strings.HasPrefix(g.rest, "*")
	if super {
		g.rest = g.rest[1:]
	}
	any := g.char
	if super {
		any = `(?s:.)`
	}
	g.out.WriteString(any + "*")
	g.tail = g.plain && any == `(?s:.)`
	g.plain = false
}

// text is a character that means itself; a backslash makes the next one.
func (g *parser) text(r rune, s string) bool {
	if r == '\\' {
		_, n := utf8.DecodeRuneInString(g.rest)
		if n == 0 {
			return false
		}
		s, g.rest = g.rest[:n], g.rest[n:]
	}
	g.out.WriteString(regexp.QuoteMeta(s))
	if g.plain {
		g.literal += s
	}
	return true
}

// class is a range or a list of characters. What only OPA's reader
// understands, such as escapes in it, is left to it.
func (g *parser) class() bool {
	inside, rest, found := strings.Cut(g.rest, "]")
	if !found || strings.Contains(inside, `\`) {
		return false
	}
	g.rest = rest
	inside, not := strings.CutPrefix(inside, "!")
	runes := []rune(inside)
	switch {
	case len(runes) == 0:
		return false
	case len(runes) > 1 && runes[1] == '-':
		if len(runes) != 3 || runes[2] < runes[0] {
			return false
		}
		g.out.WriteString(classText(not, escapedRune(runes[0])+"-"+escapedRune(runes[2])))
	default:
		g.out.WriteString(classOf(not, runes))
	}
	return true
}

func classOf(not bool, runes []rune) string {
	var out strings.Builder
	sort.Slice(runes, func(i, j int) bool { return runes[i] < runes[j] })
	for _, r := range slices.Compact(runes) {
		out.WriteString(escapedRune(r))
	}
	return classText(not, out.String())
}

func classText(not bool, inside string) string {
	if not {
		return "[^" + inside + "]"
	}
	return "[" + inside + "]"
}

func escapedRune(r rune) string { return `\x{` + strconv.FormatInt(int64(r), 16) + "}" }
