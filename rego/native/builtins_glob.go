package native

import (
	"regexp"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/hookc/hookc/rego/globs"
)

var globBuiltins = []own{
	{"glob.quote_meta", 1, func() Builtin { return changeText(globs.Quote) }},
	{"glob.match", 3, func() Builtin { return matchGlob }},
}

// globKey is a glob as it is written, and the runes that * and ? do not match.
type globKey struct{ pattern, delimiters string }

// glob is a glob as what it means.
type glob struct {
	globs.Glob
	// re is what Expression compiles to, nil until it is asked for.
	re atomic.Pointer[regexp.Regexp]
}

var globsCompiled compiled[globKey, *glob]

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
	if matches && g.Misses(s) {
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
		if matches && g.Misses(s) {
			return strange
		}
		return truth(matches)
	}
}

func (g *glob) match(s string) bool {
	switch {
	case g.Exact:
		return s == g.Literal
	case g.Super:
		return strings.HasPrefix(s, g.Literal)
	}
	re := g.re.Load()
	if re == nil {
		re = regexp.MustCompile(g.Expression)
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
	return globsCompiled.get(key, compileGlob)
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

// compileGlob reads a glob, and compiles one that is long.
func compileGlob(key globKey) (*glob, bool) {
	g, ok := globs.Parse(key.pattern, key.delimiters)
	if !ok {
		return nil, false
	}
	out := &glob{Glob: g}
	if g.Expression != "" && len(key.pattern) > surelyCompiled {
		re, err := regexp.Compile(g.Expression)
		if err != nil {
			return nil, false
		}
		out.re.Store(re)
	}
	return out, true
}
