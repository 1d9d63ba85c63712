package tree

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/hookc/hookc/policy/diag"
)

// lift collects the value of a scalar together with the place of each byte.
type lift struct {
	value []byte
	marks []diag.Mark
}

// put appends text of which byte i was written at byte at+i.
//
//go:noinline
func (l *lift) put(text string, at int) {
	if text == "" {
		return
	}
	if n := len(l.marks); n == 0 || l.marks[n-1].Source+len(l.value)-l.marks[n-1].Body != at {
		l.marks = append(l.marks, diag.Mark{Body: len(l.value), Source: at})
	}
	l.value = append(l.value, text...)
}

// escape appends text all of whose bytes were written by the escape at byte at.
//
//go:noinline
func (l *lift) escape(text string, at int) {
	for i := range len(text) {
		l.put(text[i:i+1], at)
	}
}

//go:noinline
func (l *lift) add(pieces []piece) {
	for _, p := range pieces {
		l.put(p.text, p.at)
	}
}

// piece is a part of a value and where it was written.
type piece struct {
	text string
	at   int
}

// scalarScan walks one scalar of text[:end] the way the YAML reader does. Its
// result is checked against what that reader decoded, so a disagreement costs
// positions, never a value.
type scalarScan struct {
	text string
	at   int
	lift
}

// breakAt returns the width in bytes of the line break at i and what YAML
// makes of it; 0 when there is none.
func breakAt(s string, i int) (width int, value string) {
	if i >= len(s) {
		return 0, ""
	}
	switch s[i] {
	case '\n':
		return 1, "\n"
	case '\r':
		if i+1 < len(s) && s[i+1] == '\n' {
			return 2, "\n"
		}
		return 1, "\n"
	case 0xC2:
		if strings.HasPrefix(s[i:], "\u0085") {
			return 2, "\n"
		}
	case 0xE2:
		if strings.HasPrefix(s[i:], "\u2028") || strings.HasPrefix(s[i:], "\u2029") {
			return 3, s[i : i+3]
		}
	}
	return 0, ""
}

//go:noinline
func blank(s string, i int) bool { return i < len(s) && (s[i] == ' ' || s[i] == '\t') }

//go:noinline
func (s *scalarScan) blank() bool { return blank(s.text, s.at) }

//go:noinline
func (s *scalarScan) broken() bool {
	w, _ := breakAt(s.text, s.at)
	return w > 0
}

//go:noinline
func (s *scalarScan) done() bool { return s.at >= len(s.text) }

// takeBreak consumes the line break here.
func (s *scalarScan) takeBreak() piece {
	w, v := breakAt(s.text, s.at)
	p := piece{v, s.at}
	s.at += w
	return p
}

// fold is a run of blanks and line breaks inside a plain or quoted scalar.
type fold struct {
	broken   bool
	blanks   piece
	leading  piece
	trailing []piece
}

// takeFold consumes a run of blanks and line breaks; broken says that a line
// break was already taken away by an escape.
func (s *scalarScan) takeFold(broken bool) fold {
	f := fold{broken: broken, blanks: piece{at: s.at}}
	for s.blank() || s.broken() {
		switch {
		case s.blank():
			s.at++
			if !f.broken {
				f.blanks.text = s.text[f.blanks.at:s.at]
			}
		case !f.broken:
			f.leading, f.broken = s.takeBreak(), true
		default:
			f.trailing = append(f.trailing, s.takeBreak())
		}
	}
	return f
}

// join appends what a fold means: its blanks, one space for one line
// break, the further breaks for several.
func (l *lift) join(f fold) {
	switch {
	case !f.broken:
		l.put(f.blanks.text, f.blanks.at)
	case f.leading.text == "\n" && len(f.trailing) == 0:
		l.put(" ", f.leading.at)
	case f.leading.text == "\n":
		l.add(f.trailing)
	default:
		l.put(f.leading.text, f.leading.at)
		l.add(f.trailing)
	}
}

// plain walks a plain scalar whose value is known; the value says where it
// ends.
func (s *scalarScan) plain(value string) bool {
	for len(s.value) < len(value) {
		if s.done() {
			return false
		}
		if s.blank() || s.broken() {
			s.join(s.takeFold(false))
			continue
		}
		_, n := utf8.DecodeRuneInString(s.text[s.at:])
		s.put(s.text[s.at:s.at+n], s.at)
		s.at += n
	}
	return true
}

func (s *scalarScan) single() bool {
	for s.at++; !s.done(); {
		switch {
		case strings.HasPrefix(s.text[s.at:], "''"):
			s.put("'", s.at)
			s.at += 2
		case s.text[s.at] == '\'':
			s.at++
			return true
		case s.blank() || s.broken():
			s.join(s.takeFold(false))
		default:
			s.put(s.text[s.at:s.at+1], s.at)
			s.at++
		}
	}
	return false
}

func (s *scalarScan) double() bool {
	for s.at++; !s.done(); {
		switch {
		case s.text[s.at] == '"':
			s.at++
			return true
		case s.text[s.at] == '\\':
			if !s.takeEscape() {
				return false
			}
		case s.blank() || s.broken():
			s.join(s.takeFold(false))
		default:
			s.put(s.text[s.at:s.at+1], s.at)
			s.at++
		}
	}
	return false
}

var yamlEscapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': `"`, '\'': "'", '\\': `\`, '/': "/", 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

var hexEscapes = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// takeEscape consumes the escape here: a character, a code point or an
// escaped line break.
func (s *scalarScan) takeEscape() bool {
	at := s.at
	if s.at++; s.done() {
		return false
	}
	if w, _ := breakAt(s.text, s.at); w > 0 {
		s.at += w
		s.join(s.takeFold(true))
		return true
	}
	c := s.text[s.at]
	s.at++
	if v, ok := yamlEscapes[c]; ok {
		s.escape(v, at)
		return true
	}
	n := hexEscapes[c]
	if n == 0 || s.at+n > len(s.text) {
		return false
	}
	r, ok := hexRune(s.text[s.at : s.at+n])
	if !ok {
		return false
	}
	s.at += n
	s.escape(string(r), at)
	return true
}

// hexRune is the character whose code is written in hexadecimal digits.
func hexRune(digits string) (rune, bool) {
	var r rune
	for _, c := range []byte(digits) {
		i := bytes.IndexByte([]byte("0123456789abcdef"), c|0x20)
		if i < 0 || c < '0' || r > utf8.MaxRune {
			return 0, false
		}
		r = r<<4 | rune(i)
	}
	return r, r <= utf8.MaxRune
}

// block walks a literal or folded block scalar. parent is the indentation of
// the collection it stands in, which an explicit indicator counts from.
func (s *scalarScan) block(folded bool, parent int) bool {
	chomp, explicit := s.blockHeader()
	indent := 0
	if explicit > 0 {
		indent = max(parent, 0) + explicit
	}
	trailing := s.blockBreaks(&indent, parent)
	var leading []piece
	wasBlank := false
	for !s.done() && s.column() == indent {
		isBlank := s.blank()
		switch {
		case folded && !wasBlank && !isBlank && len(leading) > 0 && leading[0].text == "\n":
			if len(trailing) == 0 {
				s.put(" ", leading[0].at)
			}
		default:
			s.add(leading)
		}
		s.add(trailing)
		wasBlank = isBlank
		start := s.at
		for !s.done() && !s.broken() {
			s.at++
		}
		s.put(s.text[start:s.at], start)
		leading = nil
		if s.broken() {
			leading = []piece{s.takeBreak()}
		}
		trailing = s.blockBreaks(&indent, parent)
	}
	if chomp != '-' {
		s.add(leading)
	}
	if chomp == '+' {
		s.add(trailing)
	}
	return true
}

// blockHeader consumes the line of the indicator and returns the chomping
// sign and the indentation it names.
func (s *scalarScan) blockHeader() (chomp byte, explicit int) {
	for s.at++; !s.done() && !s.broken(); s.at++ {
		switch c := s.text[s.at]; {
		case c == '#':
			for !s.done() && !s.broken() {
				s.at++
			}
			s.at--
		case c == '+' || c == '-':
			chomp = c
		case c >= '1' && c <= '9':
			explicit = int(c - '0')
		}
	}
	if s.broken() {
		s.takeBreak()
	}
	return chomp, explicit
}

// blockBreaks consumes indentation and empty lines, and settles the
// indentation when it is still 0.
func (s *scalarScan) blockBreaks(indent *int, parent int) []piece {
	var breaks []piece
	deepest := 0
	for {
		column := s.column()
		for !s.done() && (*indent == 0 || column < *indent) && s.text[s.at] == ' ' {
			s.at++
			column++
		}
		deepest = max(deepest, column)
		if !s.broken() {
			break
		}
		breaks = append(breaks, s.takeBreak())
	}
	if *indent == 0 {
		*indent = max(deepest, parent+1, 1)
	}
	return breaks
}

// column counts the bytes since the last line break; in a block scalar's
// indentation they are spaces.
func (s *scalarScan) column() int {
	n := 0
	for i := s.at; i > 0 && s.text[i-1] == ' '; i-- {
		n++
	}
	if i := s.at - n; i == 0 || endsLine(s.text[:i]) {
		return n
	}
	return -1
}

func endsLine(s string) bool {
	for _, b := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029"} {
		if strings.HasSuffix(s, b) {
			return true
		}
	}
	return false
}
