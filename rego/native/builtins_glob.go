package native

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

var globBuiltins = []own{
	{"glob.quote_meta", 1, func() Builtin { return changeText(quoteGlob) }},
	{"glob.match", 3, func() Builtin { return matchGlob }},
}

// globKey is a glob as it is written, and the runes that * and ? do not match.
type globKey struct{ pattern, delimiters string }

// glob is a glob as what it means. Where it is no more than a beginning or a
// whole, no expression is needed.
type glob struct {
	literal string
	exact   bool
	super   bool // literal, then anything
	text    string
	parts   globParts
	// re is what text compiles to, nil until it is asked for.
	re atomic.Pointer[regexp.Regexp]
}

var globs compiled[globKey, *glob]

func quoteGlob(s string) string {
	var out strings.Builder
	for i := range len(s) {
		if strings.IndexByte(`*?\[]{}`, s[i]) >= 0 {
			out.WriteByte('\\')
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

func matchGlob(_ *Call, args []Value) (Value, bool, error) {
	s, ok := args[2].(string)
	if !ok {
		return bail()
	}
	g, ok := globOf(args[0], args[1])
	if !ok || !utf8.ValidString(s) {
		return bail()
	}
	matches := g.match(s)
	if matches && g.parts.miss(s) {
		return bail()
	}
	return matches, true, nil
}

// globTest is a constant glob.
func globTest(args []Value, at int) test {
	if len(args) != 3 || at != 2 {
		return nil
	}
	g, ok := globOf(args[0], args[1])
	if !ok {
		return nil
	}
	return func(v Value) verdict {
		s, ok := v.(string)
		if !ok || !utf8.ValidString(s) {
			return strange
		}
		matches := g.match(s)
		if matches && g.parts.miss(s) {
			return strange
		}
		return truth(matches)
	}
}

func (g *glob) match(s string) bool {
	switch {
	case g.exact:
		return s == g.literal
	case g.super:
		return strings.HasPrefix(s, g.literal)
	}
	re := g.re.Load()
	if re == nil {
		re = regexp.MustCompile(g.text)
		g.re.Store(re)
	}
	return re.MatchString(s)
}

func globOf(pattern, delimiters Value) (*glob, bool) {
	var key globKey
	var ok bool
	if key.pattern, ok = pattern.(string); !ok || !utf8.ValidString(key.pattern) {
		return nil, false
	}
	if key.delimiters, ok = globDelimiters(delimiters); !ok {
		return nil, false
	}
	return globs.get(key, compileGlob)
}

// globDelimiters are none for null, and a dot for an empty array.
func globDelimiters(v Value) (string, bool) {
	if v == nil {
		return "", true
	}
	list, ok := v.([]Value)
	if !ok {
		return "", false
	}
	switch len(list) {
	case 0:
		return ".", true
	case 1:
		s, ok := list[0].(string)
		return s, ok && oneRune(s)
	}
	var out strings.Builder
	for _, e := range list {
		s, ok := e.(string)
		if !ok || !oneRune(s) {
			return "", false
		}
		out.WriteString(s)
	}
	return out.String(), true
}

func oneRune(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n > 0 && n == len(s) && r != utf8.RuneError
}

// surelyCompiled is up to how long a glob's expression is compiled when it is
// first needed: it is right by how it is made, and neither too deep nor too big.
const surelyCompiled = 256

// compileGlob makes an anchored expression of a glob.
func compileGlob(key globKey) (*glob, bool) {
	g := globParser{rest: key.pattern, char: `(?s:.)`}
	if key.delimiters != "" {
		g.char = classOf(true, []rune(key.delimiters))
	}
	if !g.parse() || g.level != 0 {
		return nil, false
	}
	out := &glob{parts: partsOf(key)}
	if out.exact, out.super = g.plain, g.tail; out.exact || out.super {
		out.literal = g.literal
		return out, true
	}
	out.text = `\A(?:` + g.out.String() + `)\z`
	if len(key.pattern) > surelyCompiled {
		re, err := regexp.Compile(out.text)
		if err != nil {
			return nil, false
		}
		out.re.Store(re)
	}
	return out, true
}

// globParts are what OPA's index of rules, where it knows a glob, takes a text to
// consist of. Escapes are not taken away in them, and delimiters are bytes: so
// the index may leave out a rule whose glob matches.
type globParts struct {
	of         []string
	delimiters string
	// sure says that only an escape in a text can make it miss.
	sure bool
}

// partsOf is nothing where the index does not know the glob.
func partsOf(key globKey) (p globParts) {
	if key.delimiters == "" {
		return p
	}
	of := splitEscaped(key.pattern, key.delimiters)
	for _, part := range of {
		escaped := false
		for i := range len(part) {
			if !escaped && strings.IndexByte("[?{*", part[i]) >= 0 && part != "*" {
				return p
			}
			escaped = part[i] == '\\' && !escaped
		}
	}
	return globParts{of, key.delimiters, ascii(key.delimiters) && strings.IndexByte(key.pattern, '\\') < 0}
}

// miss reports whether the index does not find by the parts of a glob a text that
// it matches.
func (p *globParts) miss(s string) bool {
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

// globParser translates a glob. literal is its text while it is plain; tail
// says that after it stood one star, without delimiters, and nothing else.
type globParser struct {
	rest    string
	char    string
	out     strings.Builder
	level   int
	literal string
	plain   bool
	tail    bool
}

func (g *globParser) parse() bool {
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

func (g *globParser) star() {
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
func (g *globParser) text(r rune, s string) bool {
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
func (g *globParser) class() bool {
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
	slices.Sort(runes)
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
