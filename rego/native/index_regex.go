package native

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// needed is what a text holds wherever a pattern matches: any of texts, which
// in a folding one are lower case and mean themselves in ASCII of any
// case, and for what Unicode folds to it (longS, kelvin). No texts: nothing is known.
type needed struct {
	texts []string
	fold  bool
}

// alternatives bounds what any of is.
const alternatives = 32

// neededBy is what a pattern needs. It needs nothing when it cannot be parsed.
func neededBy(pattern string) needed {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return needed{}
	}
	return neededOf(re)
}

func neededOf(re *syntax.Regexp) needed {
	switch re.Op {
	case syntax.OpLiteral:
		return neededRunes(re.Rune, re.Flags&syntax.FoldCase != 0)
	case syntax.OpCapture, syntax.OpPlus:
		return neededOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return neededOf(re.Sub[0])
		}
	case syntax.OpConcat:
		var best needed
		for _, sub := range re.Sub {
			if n := neededOf(sub); n.better(best) {
				best = n
			}
		}
		return best
	case syntax.OpAlternate:
		return neededOfAny(re.Sub)
	}
	return needed{}
}

func neededOfAny(subs []*syntax.Regexp) needed {
	var all needed
	for _, sub := range subs {
		n := neededOf(sub)
		if len(n.texts) == 0 || len(all.texts)+len(n.texts) > alternatives {
			return needed{}
		}
		if n.fold != all.fold && len(all.texts) > 0 {
			n, all = n.folded(), all.folded()
		}
		all.fold = n.fold
		all.texts = append(all.texts, n.texts...)
	}
	if all.shortest() == 0 {
		return needed{}
	}
	return all
}

// folded is less: the same in any case. Beyond ASCII there is none of that.
func (n needed) folded() needed {
	out := needed{fold: true}
	for _, text := range n.texts {
		out.texts = append(out.texts, asciiRun([]rune(text)))
	}
	return out
}

// neededRunes is a literal of a pattern as bytes. A rune that is no character
// matches bytes that are none.
func neededRunes(runes []rune, fold bool) needed {
	text := asciiRun(runes)
	if !fold {
		text = longest(runes, func(r rune) bool { return r != utf8.RuneError && utf8.ValidRune(r) })
	}
	if text == "" {
		return needed{}
	}
	return needed{[]string{text}, fold}
}

// asciiRun is the longest part of a literal that is ASCII, in lower case.
func asciiRun(runes []rune) string {
	fold := func(r rune) bool { return r < utf8.RuneSelf }
	return strings.ToLower(longest(runes, fold))
}

func longest(runes []rune, fits func(rune) bool) string {
	best, from := "", 0
	for i := 0; i <= len(runes); i++ {
		if i < len(runes) && fits(runes[i]) {
			continue
		}
		if part := string(runes[from:i]); len(part) > len(best) {
			best = part
		}
		from = i + 1
	}
	return best
}

// better reports whether n says more than o: its shortest text is longer, or
// it is one of fewer.
func (n needed) better(o needed) bool {
	a, b := n.shortest(), o.shortest()
	if a != b && min(a, b) < gram {
		return a > b
	}
	return len(o.texts) == 0 || len(n.texts) > 0 && len(n.texts) < len(o.texts)
}

func (n needed) shortest() int {
	if len(n.texts) == 0 {
		return 0
	}
	least := len(n.texts[0])
	for _, text := range n.texts {
		least = min(least, len(text))
	}
	return least
}

// in reports whether a text may match: only up to a few texts of exact case are
// looked for, each of which takes a fraction of what the pattern does.
func (n needed) in(text string) bool {
	if len(n.texts) == 0 || len(n.texts) > few || n.fold {
		return true
	}
	for _, part := range n.texts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}
