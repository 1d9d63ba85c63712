package losses

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// Expression is a regular expression of any case, over lines. Each of its alternatives is made
// when a text that it may match is first looked at. It may be used from several goroutines.
type Expression struct{ parts []alternative }

type alternative struct {
	parsed *syntax.Regexp
	// some are texts in lower case of which one is in all that it matches.
	some []string
	once sync.Once
	made *regexp.Regexp
}

// NewExpression reads an expression, which must be one.
func NewExpression(text string) *Expression {
	re, err := syntax.Parse("(?is)"+text, syntax.Perl)
	if err != nil {
		panic(err)
	}
	list := []*syntax.Regexp{re}
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	if re.Op == syntax.OpAlternate {
		list = re.Sub
	}
	e := &Expression{make([]alternative, len(list))}
	for i, re := range list {
		e.parts[i].parsed, e.parts[i].some = re, literals(re)
	}
	return e
}

// In reports whether a text, which is there in lower case too, holds a match.
func (e *Expression) In(text, lower string) bool {
	for i := range e.parts {
		a := &e.parts[i]
		if len(a.some) > 0 && !HoldsAny(lower, a.some) {
			continue
		}
		a.once.Do(func() { a.made, a.parsed = regexp.MustCompile(a.parsed.String()), nil })
		if a.made.MatchString(text) {
			return true
		}
	}
	return false
}

func literals(re *syntax.Regexp) (best []string) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return literals(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			some := literals(sub)
			if len(some) == 0 {
				return nil
			}
			best = append(best, some...)
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if some := literals(sub); weight(some) > weight(best) {
				best = some
			}
		}
	}
	return best
}

// weight is how well texts tell apart: the length of the shortest, less the more there are.
//
//go:noinline
func weight(some []string) int {
	if len(some) == 0 {
		return -1 << 30
	}
	return 40*min(6, len(slices.MinFunc(some, func(a, b string) int { return len(a) - len(b) }))) - len(some)
}
