package pattern

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// Literals are what every text that p matches looks like, for an index: it may
// be looked up instead of being matched against each pattern. They follow from
// the pattern, and say less than it.
func (p *Pattern) Literals() policy.Literals {
	if p.re2 == "" {
		return policy.Literals{}
	}
	out := literalsOf(p.re2)
	if p.backtracks {
		out.Suffixes = nil
	}
	return out
}

// maxWords bounds the texts that mean a part of a pattern, maxWord the
// length of one.
const (
	maxWords = 32
	maxWord  = 128
)

// words is what is known of the texts that a part of an expression matches:
// each begins with one of heads and ends with one of tails. all is true when
// heads, and tails, hold every one of them whole; start and end, when it can
// only match at the start of the text or up to its end.
type words struct {
	heads, tails    []string
	all, start, end bool
}

var (
	anything = words{heads: []string{""}, tails: []string{""}}
	empty    = words{heads: []string{""}, tails: []string{""}, all: true}
)

// literalsOf looks for literal text in an expression of RE2.
func literalsOf(text string) policy.Literals {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return policy.Literals{}
	}
	w := wordsOf(re.Simplify())
	switch {
	case w.start && w.end && w.all:
		return policy.Literals{Exact: sortedWords(w.heads)}
	case w.start && !lists.Has(w.heads, ""):
		return policy.Literals{Prefixes: sortedWords(w.heads)}
	case w.end && !lists.Has(w.tails, ""):
		return policy.Literals{Suffixes: sortedWords(w.tails)}
	}
	return policy.Literals{}
}

func sortedWords(in []string) []string {
	out := lists.Copy(in)
	return lists.Distinct(out)
}

func wordsOf(re *syntax.Regexp) words {
	switch re.Op {
	case syntax.OpLiteral:
		if text := string(re.Rune); re.Flags&syntax.FoldCase == 0 {
			return exactly(text)
		}
	case syntax.OpCharClass:
		return oneRune(re)
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return empty
	case syntax.OpBeginText:
		w := empty
		w.start = true
		return w
	case syntax.OpEndText:
		w := empty
		w.end = true
		return w
	case syntax.OpCapture:
		return wordsOf(re.Sub[0])
	case syntax.OpPlus:
		w := wordsOf(re.Sub[0])
		w.all = false
		return w
	case syntax.OpQuest:
		return either(empty, wordsOf(re.Sub[0]))
	case syntax.OpConcat:
		w := empty
		for _, sub := range re.Sub {
			w = followed(w, wordsOf(sub))
		}
		return w
	case syntax.OpAlternate:
		w := wordsOf(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			w = either(w, wordsOf(sub))
		}
		return w
	}
	return anything
}

// exactly is one text. The replacement character means any byte that is
// no UTF-8, too.
func exactly(text string) words {
	if strings.ContainsRune(text, utf8.RuneError) || len(text) > maxWord {
		return anything
	}
	return words{heads: []string{text}, tails: []string{text}, all: true}
}

func oneRune(re *syntax.Regexp) words {
	var out []string
	for i := 0; i+1 < len(re.Rune); i += 2 {
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			if len(out) == maxWords || r == utf8.RuneError {
				return anything
			}
			out = append(out, string(r))
		}
	}
	if len(out) == 0 {
		return anything
	}
	return words{heads: out, tails: out, all: true}
}

// followed is a and then b.
func followed(a, b words) words {
	out := words{heads: a.heads, tails: b.tails, all: a.all && b.all, start: a.start || b.start, end: a.end || b.end}
	if a.all {
		if heads, ok := crossed(a.heads, b.heads); ok {
			out.heads = heads
		} else {
			out.all = false
		}
	}
	if b.all {
		if tails, ok := crossed(a.tails, b.tails); ok {
			out.tails = tails
		} else {
			out.all = false
		}
	}
	return out
}

// crossed is every text of a before every one of b; false when they are too
// many or too long.
func crossed(a, b []string) ([]string, bool) {
	if len(a)*len(b) > maxWords {
		return nil, false
	}
	var out []string
	for _, x := range a {
		for _, y := range b {
			if len(x)+len(y) > maxWord {
				return nil, false
			}
			out = append(out, x+y)
		}
	}
	return out, true
}

// either is a or b.
func either(a, b words) words {
	out := words{start: a.start && b.start, end: a.end && b.end}
	if len(a.heads)+len(b.heads) > maxWords || len(a.tails)+len(b.tails) > maxWords {
		out.heads, out.tails = anything.heads, anything.tails
		return out
	}
	out.heads, out.tails = lists.Concat(a.heads, b.heads), lists.Concat(a.tails, b.tails)
	out.all = a.all && b.all
	return out
}
