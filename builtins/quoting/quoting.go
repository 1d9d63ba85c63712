// Package quoting undoes and makes the quoting of shells: escapes of $'…', of
// echo and printf, and words in single quotes.
package quoting

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hookc/hookc/internal/spell"
)

// AnsiC is the text of $'…'.
func AnsiC(s string) string {
	out, _ := Unescape(s, AnsiEscape)
	text, _, _ := spell.Cut(out, "\x00")
	return text
}

// Unescape replaces what stands after each backslash by what one says of it, with how many
// bytes that is; none ends the text, and more is false.
func Unescape(s string, one func(rest string) (text string, used int)) (out string, more bool) {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s, true
	}
	var b strings.Builder
	for ; i >= 0 && i+1 < len(s); i = strings.IndexByte(s, '\\') {
		text, used := one(s[i+1:])
		b.WriteString(s[:i] + text)
		if used == 0 {
			return b.String(), false
		}
		s = s[i+1+used:]
	}
	return b.String() + s, true
}

var ansiPlain = map[byte]string{
	'a': "\a", 'b': "\b", 'e': "\x1b", 'E': "\x1b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v",
	'\\': "\\", '\'': "'", '"': "\"", '?': "?",
}

// AnsiEscape reads one escape after its backslash, and says how many bytes it
// took. It is never empty-handed: s is not empty.
func AnsiEscape(s string) (string, int) {
	if plain, ok := ansiPlain[s[0]]; ok {
		return plain, 1
	}
	switch c := s[0]; {
	case c == 'x':
		return escapeDigits(s[1:], 2, 16, 1, false, s)
	case c == 'u':
		return escapeDigits(s[1:], 4, 16, 1, true, s)
	case c == 'U':
		return escapeDigits(s[1:], 8, 16, 1, true, s)
	case c >= '0' && c <= '7':
		return escapeDigits(s, 3, 8, 0, false, s)
	case c == 'c' && len(s) > 1:
		return string(rune(s[1] & 0x1f)), 2
	}
	return `\` + s[:1], 1
}

func escapeDigits(s string, most, base, before int, letter bool, whole string) (string, int) {
	n := 0
	for n < most && n < len(s) && isDigitOf(s[n], base) {
		n++
	}
	if n == 0 {
		return `\` + whole[:1], 1
	}
	v, err := strconv.ParseUint(s[:n], base, 32)
	if err != nil {
		return "", before + n
	}
	if letter {
		if v > utf8.MaxRune {
			v = utf8.RuneError
		}
		return string(rune(v)), before + n
	}
	return string([]byte{byte(v)}), before + n
}

func isDigitOf(c byte, base int) bool {
	if base == 8 {
		return c >= '0' && c <= '7'
	}
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// EchoEscapes is what `echo -e` and the format of printf print for \-escapes;
// more is false after \c, which ends the output.
func EchoEscapes(s string) (out string, more bool) {
	return Unescape(s, func(rest string) (string, int) {
		switch rest[0] {
		case 'c':
			return "", 0
		case '0':
			text, used := escapeDigits(rest[1:], 3, 8, 1, false, "0")
			if used == 1 && (len(rest) < 2 || !isDigitOf(rest[1], 8)) {
				text = "\x00"
			}
			return text, used
		}
		return AnsiEscape(rest)
	})
}

// Plain are the characters a shell takes as they are.
const Plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-"

// Quote is s as one word of a POSIX shell.
func Quote(s string) string {
	if s != "" && strings.Trim(s, Plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
