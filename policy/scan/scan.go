// Package scan reads the words of JSON (RFC 8259): strings, numbers, literals and
// white space. The readers of events are made of it, hookgate's among them, so it
// imports next to nothing.
package scan

import (
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hookc/hookc/policy/digits"
)

// Scanner reads Data from At on. It says only whether a word is right: where it
// is not, At has no meaning.
type Scanner struct {
	Data []byte
	At   int
}

// Space skips white space and returns the byte that follows, 0 at the end.
func (s *Scanner) Space() byte {
	for s.At < len(s.Data) {
		c := s.Data[s.At]
		if c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
		s.At++
	}
	return 0
}

// End reports whether nothing but white space is left.
func (s *Scanner) End() bool {
	s.Space()
	return s.At == len(s.Data)
}

// Word passes over a literal.
func (s *Scanner) Word(w string) bool {
	if len(s.Data)-s.At < len(w) || string(s.Data[s.At:s.At+len(w)]) != w {
		return false
	}
	s.At += len(w)
	return true
}

// Text reads a string.
func (s *Scanner) Text() (string, bool) {
	start := s.At + 1
	plain, ok := s.SkipText()
	if !ok {
		return "", false
	}
	body := s.Data[start : s.At-1]
	if plain && utf8.Valid(body) {
		return string(body), true
	}
	out, _ := Unescape(body)
	return out, true
}

// SkipText passes over a string, from its quote on, and reports whether it is without escapes. It
// looks at sixteen bytes at a time.
func (s *Scanner) SkipText() (plain, ok bool) {
	data, i, plain := s.Data, s.At+1, true
	for {
		for ; len(data)-i >= 16; i += 16 {
			d := data[i : i+16 : i+16]
			first, second := special(word(d[:8])), special(word(d[8:]))
			if first|second == 0 {
				continue
			}
			if first == 0 {
				first, i = second, i+8
			}
			i += bits.TrailingZeros64(first) / 8
			break
		}
		if i >= len(data) {
			return false, false
		}
		switch c := data[i]; {
		case c == '"':
			s.At = i + 1
			return plain, true
		case c < ' ':
			return false, false
		case c == '\\':
			n := EscapeLen(data[i:])
			if n == 0 {
				return false, false
			}
			plain, i = false, i+n
		default:
			i++
		}
	}
}

// word is eight bytes as one number.
func word(b []byte) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// special marks, by the top bit of each byte, quotes, backslashes and control
// characters. Bytes above the first that is marked may be marked wrongly.
func special(w uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w) & tops
}

// hexUnit reads \uXXXX.
func hexUnit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// Escaped is what a short escape means, 0 if there is none.
func Escaped(c byte) byte {
	switch c {
	case '"', '\\', '/':
		return c
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return 0
}

// EscapeLen is how long the escape is that a text begins with, 0 if there is none: two of
// them are one where they are a surrogate pair.
func EscapeLen(b []byte) int {
	if len(b) > 1 && Escaped(b[1]) != 0 {
		return 2
	}
	high, ok := hexUnit(b)
	if !ok {
		return 0
	}
	if low, _ := hexUnit(b[6:]); utf16.DecodeRune(high, low) != utf8.RuneError {
		return 12
	}
	return 6
}

// Unescape is the text of a string whose escapes are known to be right. What
// is not UTF-8, and half a surrogate pair, is the replacement character; exact is
// false where there is such a thing.
func Unescape(b []byte) (text string, exact bool) {
	out, exact := make([]byte, 0, len(b)+utf8.UTFMax), true
	for len(b) > 0 {
		switch c := b[0]; {
		case c == '\\' && b[1] == 'u':
			r, _ := hexUnit(b)
			b = b[6:]
			if utf16.IsSurrogate(r) {
				low, _ := hexUnit(b)
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					b = b[6:]
				} else {
					exact = false
				}
			}
			out = utf8.AppendRune(out, r)
		case c == '\\':
			out = append(out, Escaped(b[1]))
			b = b[2:]
		case c < utf8.RuneSelf:
			out = append(out, c)
			b = b[1:]
		default:
			r, n := utf8.DecodeRune(b)
			exact = exact && (r != utf8.RuneError || n > 1)
			out = utf8.AppendRune(out, r)
			b = b[n:]
		}
	}
	return string(out), exact
}

// SkipNumber passes over a number that has not too many digits.
func (s *Scanner) SkipNumber() bool {
	start := s.At
	return s.skipDigits() && !digits.Long(s.Data[start:s.At])
}

func (s *Scanner) skipDigits() bool {
	if s.peek() == '-' {
		s.At++
	}
	switch c := s.peek(); {
	case c == '0':
		s.At++
	case c >= '1' && c <= '9':
		s.digits()
	default:
		return false
	}
	if s.peek() == '.' {
		s.At++
		if !s.digits() {
			return false
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.At++
		if c := s.peek(); c == '+' || c == '-' {
			s.At++
		}
		return s.digits()
	}
	return true
}

func (s *Scanner) peek() byte {
	if s.At < len(s.Data) {
		return s.Data[s.At]
	}
	return 0
}

// digits passes over one digit or more.
func (s *Scanner) digits() bool {
	start := s.At
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.At++
	}
	return s.At > start
}
