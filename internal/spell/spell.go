// Package spell writes text of repositories and agents so that it stays the text
// that it is: what would move, hide or reorder what a terminal shows, or command a
// CI runner, is spelled out.
package spell

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Hidden reports whether a character is one that moves, hides or reorders text
// rather than being text. What joins letters and shapes symbols is text.
func Hidden(r rune) bool {
	switch {
	case r < ' ' && r != '\t' && r != '\n', r >= 0x7f && r <= 0x9f:
		return true
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xfeff, r == 0xffa0:
		return true
	case r >= 0x180b && r <= 0x180f, r == 0x200b, r == 0x200e, r == 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r >= 0xfe00 && r <= 0xfe0d, r >= 0xfff0 && r <= 0xfffb, r >= 0x1bca0 && r <= 0x1bca3, r >= 0x1d173 && r <= 0x1d17a:
		return true
	}
	return r >= 0xe0000 && r <= 0xe0fff
}

// Rune appends a character as \uXXXX, which in JSON is the same text.
func Rune(out []byte, r rune) []byte {
	if r > 0xffff {
		out = Rune(out, (r-0x10000)>>10+0xd800)
		r = (r-0x10000)&0x3ff + 0xdc00
	}
	return append(out, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

const digits = "0123456789abcdef"

// Count is a number of things, in words.
//
//go:noinline
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// Or is a choice, in words.
func Or(list []string) string {
	if n := len(list) - 1; n > 0 {
		return strings.Join(list[:n], ", ") + " or " + list[n]
	}
	return strings.Join(list, "")
}

// Line is a text that takes one line, whatever it holds: a path, a command.
//
//go:noinline
func Line(s string) string {
	return spelled(s, func(r rune) bool { return r == '\n' || r == '\t' || Hidden(r) })
}

// Name is a text without control characters and line breaks.
//
//go:noinline
func Name(s string) string {
	return spelled(s, func(r rune) bool { return r < ' ' || r >= 0x7f && r <= 0x9f || r == 0x2028 || r == 0x2029 })
}

// plain reports whether a text is of ASCII that shows, as nearly every path is.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func spelled(s string, odd func(rune) bool) string {
	if plain(s) || !strings.ContainsFunc(s, odd) {
		return s
	}
	var out []byte
	for _, r := range s {
		switch {
		case r == '\n':
			out = append(out, `\n`...)
		case r == '\r':
			out = append(out, `\r`...)
		case r == '\t':
			out = append(out, `\t`...)
		case odd(r):
			out = Rune(out, r)
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out)
}

// Text is a text of lines as a terminal may be given it.
func Text(text []byte) []byte {
	odd := func(r rune) bool { return r == utf8.RuneError || Hidden(r) }
	if bytes.IndexFunc(text, odd) < 0 && !bytes.Contains(text, []byte("##[")) && !bytes.Contains(text, []byte("::")) {
		return text
	}
	out := make([]byte, 0, len(text)+16)
	begun := false
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			out = append(out, '\\', 'x', digits[text[0]>>4], digits[text[0]&15])
		case Hidden(r), !begun && bytes.HasPrefix(text, []byte("::")), bytes.HasPrefix(text, []byte("##[")):
			out = Rune(out, r)
		default:
			out = append(out, text[:n]...)
		}
		if r == '\n' {
			begun = false
		} else if r != ' ' && r != '\t' {
			begun = true
		}
		text = text[n:]
	}
	return out
}

// Meant is the word of a list, each of lower case and `_`, from which another differs in
// letter case, `_` and `-` alone, "" where there is none.
func Meant(word string, list ...string) string {
	for _, w := range list {
		if meant(word, w) {
			return w
		}
	}
	return ""
}

func meant(word, w string) bool {
	at := 0
	for i := range len(word) {
		b := word[i]
		if b == '_' || b == '-' {
			continue
		}
		for at < len(w) && w[at] == '_' {
			at++
		}
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		if at == len(w) || w[at] != b {
			return false
		}
		at++
	}
	return at == len(w)
}

// Cut is strings.Cut, which is put in wherever it is called, kept out of line.
//
//go:noinline
func Cut(text, sep string) (before, after string, found bool) { return strings.Cut(text, sep) }

// CutPrefix is strings.CutPrefix, for the same reason.
//
//go:noinline
func CutPrefix(text, prefix string) (after string, found bool) {
	return strings.CutPrefix(text, prefix)
}

// CutSuffix is strings.CutSuffix, for the same reason.
//
//go:noinline
func CutSuffix(text, suffix string) (before string, found bool) {
	return strings.CutSuffix(text, suffix)
}
