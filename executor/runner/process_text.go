package runner

import (
	"strings"
	"unicode/utf8"
)

// valid is s with what is not UTF-8 replaced, as every agent reads it: one
// U+FFFD for each piece of a character that is cut short, and for each byte
// that cannot begin one.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			n = piece(s)
		}
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String()
}

// piece is the length of the longest beginning of a character at the start of
// s, which does not begin with a whole one.
func piece(s string) int {
	lead := s[0]
	low, high, size := byte(0x80), byte(0xBF), 0
	switch {
	case lead >= 0xC2 && lead <= 0xDF:
		size = 2
	case lead >= 0xE0 && lead <= 0xEF:
		size = 3
	case lead >= 0xF0 && lead <= 0xF4:
		size = 4
	}
	switch lead {
	case 0xE0:
		low = 0xA0
	case 0xED:
		high = 0x9F
	case 0xF0:
		low = 0x90
	case 0xF4:
		high = 0x8F
	}
	n := 1
	for n < min(size, len(s)) && s[n] >= low && s[n] <= high {
		n++
		low, high = 0x80, 0xBF
	}
	return n
}
