package native

import (
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/hookc/hookc/rego/bounds"
)

// expression is a constant pattern, compiled when a text first needs it: a
// process that decides one event compiles what the event comes to, and no
// more.
type expression struct {
	text string
	// literal is in every text that matches; "" when that is not known.
	literal string
	// need and re are nil until they are asked for.
	need atomic.Pointer[needed]
	re   atomic.Pointer[regexp.Regexp]
}

// newExpression is nil for a pattern that is none.
func newExpression(text string) *expression {
	e := &expression{text: text}
	s := skimmer{rest: text}
	if s.skim() {
		e.literal = string(s.best)
		return e
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil
	}
	e.re.Store(re)
	return e
}

// match tells whether a text matches, as regexp does.
func (e *expression) match(s string) verdict {
	need := e.need.Load()
	if need == nil {
		if !strings.Contains(s, e.literal) {
			return no
		}
		n := neededBy(e.text)
		need = &n
		e.need.Store(need)
	}
	if !need.in(s) {
		return no
	}
	re := e.re.Load()
	if re == nil {
		var err error
		if re, err = regexp.Compile(e.text); err != nil {
			return strange
		}
		e.re.Store(re)
	}
	if bounds.LongSubject(s) {
		return strange // that takes a clock
	}
	return truth(re.MatchString(s))
}

// skimmer reads the simpler patterns without parsing them: it says that one is
// right, and the longest literal that every match holds. Whatever else there is
// in regexp/syntax is left to that.
type skimmer struct {
	rest string
	// run is the literal at hand, best the longest; nothing inside a group
	// counts, and nothing at all when the pattern has alternatives.
	run, best []byte
	depth     int
	either    bool
	// atom says that what came last may be repeated; single that it is the last
	// character of run.
	atom, single bool
}

// longestSkimmed and deepestSkimmed stay below what regexp/syntax refuses.
const longestSkimmed, deepestSkimmed = 1 << 12, 100

// skim reports whether all of the pattern was understood.
func (s *skimmer) skim() bool {
	if len(s.rest) > longestSkimmed {
		return false
	}
	fold := strings.HasPrefix(s.rest, "(?i)")
	if fold {
		s.rest = s.rest[len("(?i)"):]
	}
	for s.rest != "" {
		c := s.rest[0]
		s.rest = s.rest[1:]
		if !s.token(c) {
			return false
		}
	}
	s.end()
	if fold || s.either {
		s.best = nil
	}
	return s.depth == 0
}

func (s *skimmer) token(c byte) bool {
	switch c {
	case '(':
		s.rest = strings.TrimPrefix(s.rest, "?:")
		s.depth++
		return s.gap(false) && !strings.HasPrefix(s.rest, "?") && s.depth <= deepestSkimmed
	case ')':
		s.depth--
		return s.gap(true) && s.depth >= 0
	case '|':
		s.either = s.either || s.depth == 0
		return s.gap(false)
	case '^', '$':
		return s.gap(false)
	case '.':
		return s.gap(true)
	case '*', '+', '?':
		return s.repeat(c)
	case '[':
		return s.class() && s.gap(true)
	case '\\':
		return s.escape()
	case '{', '}', ']':
		return false
	}
	return s.char(c)
}

// gap is something that means no character that is known.
func (s *skimmer) gap(atom bool) bool {
	s.end()
	s.atom = atom
	return true
}

func (s *skimmer) end() {
	if len(s.run) > len(s.best) {
		s.best = append(s.best[:0], s.run...)
	}
	s.run, s.single = s.run[:0], false
}

// char is a character that means itself.
func (s *skimmer) char(c byte) bool {
	if c < ' ' || c >= 0x7f {
		return false
	}
	s.atom = true
	if s.depth == 0 {
		s.run = append(s.run, c)
		s.single = true
	}
	return true
}

func (s *skimmer) repeat(c byte) bool {
	if !s.atom {
		return false
	}
	if s.single && c != '+' {
		s.run = s.run[:len(s.run)-1]
	}
	s.rest = strings.TrimPrefix(s.rest, "?")
	return s.gap(false)
}

func (s *skimmer) escape() bool {
	if s.rest == "" {
		return false
	}
	c := s.rest[0]
	s.rest = s.rest[1:]
	switch {
	case c == 'b' || c == 'B':
		return s.gap(false)
	case strings.IndexByte("dDsSwW", c) >= 0:
		return s.gap(true)
	case punctuation(c):
		return s.char(c)
	}
	return false
}

// punctuation is what a backslash makes mean itself.
func punctuation(c byte) bool {
	return c > ' ' && c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a' && c != '_' || c > 'z' && c < 0x7f
}

// class reads the rest of a class of characters.
func (s *skimmer) class() bool {
	s.rest = strings.TrimPrefix(s.rest, "^")
	for first := true; s.rest != ""; first = false {
		c := s.rest[0]
		s.rest = s.rest[1:]
		switch {
		case c == ']':
			return !first
		case c == '\\':
			if s.rest == "" || strings.IndexByte("dDsSwW", s.rest[0]) < 0 && !punctuation(s.rest[0]) {
				return false
			}
			s.rest = s.rest[1:]
			if strings.HasPrefix(s.rest, "-") && !strings.HasPrefix(s.rest, "-]") {
				return false
			}
		case c == '-':
			if !first && !strings.HasPrefix(s.rest, "]") {
				return false
			}
			if first && strings.HasPrefix(s.rest, "-") {
				return false
			}
		case c == '[' || c < ' ' || c >= 0x7f:
			return false
		case len(s.rest) > 1 && s.rest[0] == '-' && s.rest[1] != ']':
			if to := s.rest[1]; to < c || to >= 0x7f || to == '[' || to == '\\' {
				return false
			}
			s.rest = s.rest[2:]
		}
	}
	return false
}
