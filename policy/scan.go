package policy

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hookc/hookc/policy/digits"
)

// scanner reads JSON in one pass. It takes exactly what decodeSlowly takes,
// with the same values, and says only whether it could: what is wrong with a
// text is said by decodeSlowly.
type scanner struct {
	data []byte
	at   int
}

// space skips white space and returns the byte that follows, 0 at the end.
func (s *scanner) space() byte {
	for s.at < len(s.data) {
		c := s.data[s.at]
		if c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
		s.at++
	}
	return 0
}

// end reports whether nothing but white space is left.
func (s *scanner) end() bool {
	s.space()
	return s.at == len(s.data)
}

// value reads one value; of repeated keys it takes none.
func (s *scanner) value(depth int) (any, bool) {
	switch c := s.space(); c {
	case '{':
		return s.object(depth)
	case '[':
		return s.list(depth)
	case '"':
		return s.text()
	case 't':
		return true, s.word("true")
	case 'f':
		return false, s.word("false")
	case 'n':
		return nil, s.word("null")
	}
	return s.number()
}

func (s *scanner) word(w string) bool {
	if len(s.data)-s.at < len(w) || string(s.data[s.at:s.at+len(w)]) != w {
		return false
	}
	s.at += len(w)
	return true
}

func (s *scanner) object(depth int) (any, bool) {
	out := map[string]any{}
	for next := s.open(depth); ; next = s.more('}') {
		if next != again {
			return out, next == closed
		}
		key, ok := s.key()
		if !ok {
			return nil, false
		}
		if _, twice := out[key]; twice {
			return nil, false
		}
		if out[key], ok = s.value(depth + 1); !ok {
			return nil, false
		}
	}
}

func (s *scanner) list(depth int) (any, bool) {
	out := []any{}
	for next := s.open(depth); ; next = s.more(']') {
		if next != again {
			return out, next == closed
		}
		v, ok := s.value(depth + 1)
		if !ok {
			return nil, false
		}
		out = append(out, v)
	}
}

// step is what follows in an object or a list.
type step uint8

const (
	broken step = iota
	again
	closed
)

// open enters an object or a list.
func (s *scanner) open(depth int) step {
	if depth >= maxDepth {
		return broken // decodeSlowly knows whether one level deeper still holds
	}
	close := s.data[s.at] + 2 // '{' and '}', '[' and ']' are two apart
	s.at++
	if s.space() == close {
		s.at++
		return closed
	}
	return again
}

// more goes on after an element.
func (s *scanner) more(close byte) step {
	switch s.space() {
	case ',':
		s.at++
		return again
	case close:
		s.at++
		return closed
	}
	return broken
}

// key reads a key and its colon.
func (s *scanner) key() (string, bool) {
	if s.space() != '"' {
		return "", false
	}
	key, ok := s.text()
	if !ok || s.space() != ':' {
		return "", false
	}
	s.at++
	return key, true
}

// text reads a string.
func (s *scanner) text() (string, bool) {
	start := s.at + 1
	plain, ok := s.skipText()
	if !ok {
		return "", false
	}
	body := s.data[start : s.at-1]
	if plain && utf8.Valid(body) {
		return string(body), true
	}
	return unescape(body), true
}

// skipText passes over a string and reports whether it is without escapes. It
// looks at sixteen bytes at a time.
func (s *scanner) skipText() (plain, ok bool) {
	data, i, plain := s.data, s.at+1, true
	for {
		for ; len(data)-i >= 16; i += 16 {
			d := data[i : i+16 : i+16]
			first, second := special(binary.LittleEndian.Uint64(d)), special(binary.LittleEndian.Uint64(d[8:]))
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
			s.at = i + 1
			return plain, true
		case c < ' ':
			return false, false
		case c == '\\':
			plain = false
			if i+1 < len(data) && escaped[data[i+1]] != 0 {
				i += 2
				continue
			}
			if _, unit := hexUnit(data[i:]); !unit {
				return false, false
			}
			i += 6
		default:
			i++
		}
	}
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

var escaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape is the text of a string whose escapes are known to be right. What
// is not UTF-8, and half a surrogate pair, is the replacement character.
func unescape(b []byte) string {
	out := make([]byte, 0, len(b)+utf8.UTFMax)
	for len(b) > 0 {
		switch c := b[0]; {
		case c == '\\' && b[1] == 'u':
			r, _ := hexUnit(b)
			b = b[6:]
			if utf16.IsSurrogate(r) {
				low, _ := hexUnit(b)
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					b = b[6:]
				}
			}
			out = utf8.AppendRune(out, r)
		case c == '\\':
			out = append(out, escaped[b[1]])
			b = b[2:]
		case c < utf8.RuneSelf:
			out = append(out, c)
			b = b[1:]
		default:
			r, n := utf8.DecodeRune(b)
			out = utf8.AppendRune(out, r)
			b = b[n:]
		}
	}
	return string(out)
}

// number reads a number; one of few digits is an int without further ado.
func (s *scanner) number() (any, bool) {
	start := s.at
	if !s.skipNumber() {
		return nil, false
	}
	text := s.data[start:s.at]
	if len(text) <= 15 && text[0] != '-' {
		n := 0
		for _, c := range text {
			if c < '0' {
				return exactNumber(json.Number(text)), true
			}
			if c > '9' {
				return exactNumber(json.Number(text)), true
			}
			n = n*10 + int(c-'0')
		}
		return n, true
	}
	return exactNumber(json.Number(text)), true
}

// skipNumber passes over a number that has not too many digits.
func (s *scanner) skipNumber() bool {
	start := s.at
	return s.skipDigits() && !digits.Long(s.data[start:s.at])
}

func (s *scanner) skipDigits() bool {
	if s.peek() == '-' {
		s.at++
	}
	switch c := s.peek(); {
	case c == '0':
		s.at++
	case c >= '1' && c <= '9':
		s.digits()
	default:
		return false
	}
	if s.peek() == '.' {
		s.at++
		if !s.digits() {
			return false
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.at++
		if c := s.peek(); c == '+' || c == '-' {
			s.at++
		}
		return s.digits()
	}
	return true
}

func (s *scanner) peek() byte {
	if s.at < len(s.data) {
		return s.data[s.at]
	}
	return 0
}

// digits passes over one digit or more.
func (s *scanner) digits() bool {
	start := s.at
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.at++
	}
	return s.at > start
}
