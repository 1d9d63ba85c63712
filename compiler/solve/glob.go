package solve

import (
	"errors"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

func lowerRune(r rune) rune { return unicode.ToLower(r) }

// cache keeps automata by what they were made of.
type cache struct {
	mu sync.Mutex
	of map[string]*Lang
}

// mostKept bounds a cache.
const mostKept = 5000

func (c *cache) get(pattern string) (*Lang, error) {
	c.mu.Lock()
	l, ok := c.of[pattern]
	c.mu.Unlock()
	if ok && l == nil {
		return nil, ErrTooLarge
	}
	if ok {
		return l, nil
	}
	l, err := Matching(pattern)
	c.keep(pattern, l)
	return l, err
}

func (c *cache) keep(key string, l *Lang) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.of) > mostKept {
		clear(c.of)
	}
	c.of[key] = l
}

func (c *cache) make(key string, of func() *Lang) *Lang {
	c.mu.Lock()
	l := c.of[key]
	c.mu.Unlock()
	if l == nil {
		l = of()
		c.keep(key, l)
	}
	return l
}

// Expression is Matching, which is kept.
//
//go:noinline
func Expression(pattern string) (*Lang, error) { return expressions.get(pattern) }

// Prefix, Suffix and Containing are the texts that begin with a text, end with it
// and hold it.
func Prefix(text string) *Lang { return expression(`\A` + regexp.QuoteMeta(text)) }

// Suffix is described at Prefix.
func Suffix(text string) *Lang { return expression(regexp.QuoteMeta(text) + `\z`) }

// Containing is described at Prefix.
func Containing(text string) *Lang { return expression(regexp.QuoteMeta(text)) }

// UsualPath is what agents send where a term is the path of a call; nil for other
// terms.
func UsualPath(t *Term) *Lang {
	for t.op == isCall && len(t.args) > 0 {
		t = t.args[0]
	}
	if t.id != field(policy.FieldPath).id && t.id != field(policy.FieldToolInput).Member("file_path").id {
		return nil
	}
	return absolute()
}

// GlobOf is the set of texts of a glob: * stops before each of the separators, **
// does not.
func GlobOf(glob, separators string) (*Lang, error) {
	pattern, rest, err := globPattern([]rune(glob), separators, false)
	if err != nil || len(rest) > 0 {
		return nil, errors.Join(err, errGlob)
	}
	return expressions.get(`\A(?s:` + pattern + `)\z`)
}

var errGlob = errors.New("the glob is not understood")

// globPattern is the expression of a glob, up to what ends an alternative.
func globPattern(g []rune, separators string, inside bool) (string, []rune, error) {
	one := `.`
	if separators != "" {
		one = `[^` + classOf(separators) + `]`
	}
	var b strings.Builder
	for len(g) > 0 {
		switch r := g[0]; {
		case r == '*' && len(g) > 1 && g[1] == '*':
			b.WriteString(`.*`)
			g = g[1:]
		case r == '*':
			b.WriteString(one + `*`)
		case r == '?':
			b.WriteString(one)
		case r == '\\' && len(g) > 1:
			g = g[1:]
			b.WriteString(regexp.QuoteMeta(string(g[0])))
		case r == '[':
			end := strings.IndexRune(string(g), ']')
			if end < 2 {
				return "", nil, errGlob
			}
			class, but := spell.CutPrefix(string(g)[1:end], "!")
			from, to, isRange := spell.Cut(class, "-")
			if class == "" || strings.ContainsAny(class, `\[`) || isRange && (len([]rune(from)) != 1 || len([]rune(to)) != 1 || from > to) {
				return "", nil, errGlob
			}
			if class = classOf(class); isRange {
				class = classOf(from) + "-" + classOf(to)
			}
			if but {
				class = "^" + class
			}
			b.WriteString(`[` + class + `]`)
			g = []rune(string(g)[end:])
		case r == '{':
			var choices []string
			for {
				choice, rest, err := globPattern(g[1:], separators, true)
				if err != nil || len(rest) == 0 {
					return "", nil, errGlob
				}
				choices, g = append(choices, choice), rest
				if rest[0] == '}' {
					break
				}
			}
			b.WriteString(`(?:` + strings.Join(choices, "|") + `)`)
		case inside && (r == ',' || r == '}'):
			return b.String(), g, nil
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
		g = g[1:]
	}
	return b.String(), nil, nil
}

// Function is what is known where a function of hookc's gives true: what it demands of
// paths, and tests to try, which are never known to hold.
func Function(name string, args []*Term, at Place) *Formula {
	demand, hint := True, True
	if len(args) != 2 {
		return Unknown("the function " + name)
	}
	pattern, constant := args[0].Text()
	root, rooted := args[1].Text()
	switch {
	case constant && name == "path.glob":
		if l, err := GlobOf(strings.ReplaceAll(pattern, "**/", "**"), "/"); err == nil {
			hint = Match(args[1], l, nil, at)
			if l.And(absolute()).Empty() {
				demand = Match(args[1], absolute().Not(), UsualPath(args[1]), at)
			}
		}
	case rooted && (name == "path.within" || name == "path.within_real"):
		hint = Match(args[0], Prefix(strings.TrimSuffix(root, "/")+"/"), nil, at)
		if from, _ := paths.Root(root); from == "" && name == "path.within" {
			demand = Match(args[0], absolute().Not(), UsualPath(args[0]), at)
		}
	case constant && name == "net.cidr_contains":
		address, _, _ := spell.Cut(pattern, "/")
		hint = Equal(args[1], Const(address), at)
	}
	return And(demand, Unknown("the function "+name, hint))
}

//go:noinline
func absolute() *Lang { return Prefix("/") }
