package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// ansiC is the text of $'…'.
func ansiC(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		out, used := ansiEscape(s[i:])
		b.WriteString(out)
		i += used - 1
	}
	text, _, _ := strings.Cut(b.String(), "\x00")
	return text
}

var ansiPlain = map[byte]string{
	'a': "\a", 'b': "\b", 'e': "\x1b", 'E': "\x1b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v",
	'\\': "\\", '\'': "'", '"': "\"", '?': "?",
}

// ansiEscape reads one escape after its backslash, and says how many bytes it
// took. It is never empty-handed: s is not empty.
func ansiEscape(s string) (string, int) {
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

// echoEscapes is what `echo -e` and the format of printf print for \-escapes;
// more is false after \c, which ends the output.
func echoEscapes(s string) (out string, more bool) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch {
		case s[i] == 'c':
			return b.String(), false
		case s[i] == '0':
			text, used := escapeDigits(s[i+1:], 3, 8, 1, false, "0")
			if used == 1 && (i+1 >= len(s) || !isDigitOf(s[i+1], 8)) {
				text = "\x00"
			}
			b.WriteString(text)
			i += used - 1
		default:
			text, used := ansiEscape(s[i:])
			b.WriteString(text)
			i += used - 1
		}
	}
	return b.String(), true
}

// braceSequence is {1..9..2} and {a..e}.
func braceSequence(b *syntax.BraceExp) ([]*syntax.Word, bool) {
	var text []string
	for _, e := range b.Elems {
		lit := ""
		for _, p := range e.Parts {
			if l, ok := p.(*syntax.Lit); ok {
				lit += l.Value
			}
		}
		text = append(text, lit)
	}
	if len(text) < 2 {
		return nil, false
	}
	step := 1
	if len(text) > 2 {
		n, err := strconv.Atoi(text[2])
		if err != nil {
			return nil, false
		}
		step = max(n, -n, 1)
	}
	from, errFrom := strconv.Atoi(text[0])
	to, errTo := strconv.Atoi(text[1])
	letters := errFrom != nil || errTo != nil
	if letters {
		if len(text[0]) != 1 || len(text[1]) != 1 {
			return nil, false
		}
		from, to = int(text[0][0]), int(text[1][0])
	}
	if max(from, to)-min(from, to) > maxFields*step || step > 1<<30 || max(from, -from, to, -to) > 1<<40 {
		return nil, false
	}
	if to < from {
		step = -step
	}
	width := 0
	if !letters && (padded(text[0]) || padded(text[1])) {
		width = max(len(text[0]), len(text[1]))
	}
	if width > 32 {
		return nil, false
	}
	var out []*syntax.Word
	for n := from; step > 0 && n <= to || step < 0 && n >= to; n += step {
		s := strconv.Itoa(n)
		if letters {
			s = string(rune(n))
		}
		if neg := strings.TrimPrefix(s, "-"); len(s) < width {
			s = s[:len(s)-len(neg)] + strings.Repeat("0", width-len(s)) + neg
		}
		out = append(out, &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: s}}})
	}
	return out, true
}

// padded reports whether a number is written with zeros before it.
func padded(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return len(s) > 1 && s[0] == '0'
}

// plainWord are the characters a shell takes as they are.
const plainWord = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-"

// Quote is s as one word of a POSIX shell.
func Quote(s string) string {
	if s != "" && strings.Trim(s, plainWord) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
