// Package glyph tells what a reader of a text cannot see: characters that show
// nothing, that reorder what stands beside them, and letters that look like others.
package glyph

import (
	"strings"
	"unicode"

	"github.com/hookc/hookc/internal/lazy"
)

// Unseen reports whether a character shows nothing of its own, or changes what is
// shown beside it: controls, format characters and what Unicode says to ignore by
// default, marks for the direction of text, line and paragraph separators,
// blanks other than the space, and letters that are drawn as nothing.
func Unseen(r rune) bool {
	switch {
	case r < 0x80:
		return r < ' ' || r == 0x7f
	case r == 0x2800: // a pattern of Braille without a dot
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Shaping reports whether an unseen character is one that ordinary writing needs:
// it joins letters or symbols, or says how a symbol is drawn.
func Shaping(r rune) bool { return r == 0x200c || r == 0x200d || r == 0xfe0e || r == 0xfe0f }

var bases = lazy.Value(func() map[rune]byte {
	out := make(map[rune]byte, 450)
	for _, table := range [][]lookalikes{alike[:], marks[:]} {
		for _, l := range table {
			for _, r := range l.like {
				out[r] = l.plain
			}
		}
	}
	return out
})

// Base is the character of ASCII that a character of another alphabet looks like.
func Base(r rune) (byte, bool) {
	switch {
	case r < 0x80:
		return 0, false
	case r >= 0xff01 && r <= 0xff5e: // full width
		return byte(r - 0xff01 + '!'), true
	case r >= 0x1d400 && r <= 0x1d6a3: // mathematical letters
		return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[(r-0x1d400)%52], true
	case r >= 0x1d6a8 && r <= 0x1d7cb:
		c := greek[(r-0x1d6a8)%58]
		return c, c != '.'
	case r >= 0x1d7ce && r <= 0x1d7ff:
		return byte('0' + (r-0x1d7ce)%10), true
	}
	c, ok := bases()[r]
	return c, ok
}

// Skeleton is what a text looks like: texts that a reader may take for each other
// have the same one. Case does not count in it, nor does what shows nothing.
func Skeleton(text string) string {
	var b strings.Builder
	for _, r := range text {
		if Unseen(r) {
			continue
		}
		if c, ok := Base(r); ok {
			r = rune(c)
		}
		switch r {
		case 'I', '1', '|':
			r = 'l'
		case '0':
			r = 'o'
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Mixed finds a letter that was put among letters of ASCII to look like one: a
// letter or digit of another alphabet within a word of them, or one that is a
// letter of ASCII in another dress. A word of another language alone is none. It
// is the byte of the text where the character begins, or -1.
func Mixed(text string) int {
	word, odd := false, -1
	for i, r := range text {
		_, like := Base(r)
		switch {
		case r < 0x80 && (r|0x20 >= 'a' && r|0x20 <= 'z'):
			if word = true; odd >= 0 {
				return odd
			}
		case like && dressed(r):
			return i
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_':
			word, odd = false, -1
		case like && r > 0x24f && word:
			return i
		case like && r > 0x24f && odd < 0:
			odd = i
		}
	}
	return -1
}

// dressed reports whether a character is a letter or digit of ASCII in another
// dress, which no language writes.
func dressed(r rune) bool {
	return r >= 0xff10 && r <= 0xff5a && unicode.In(r, unicode.L, unicode.Nd) || r >= 0x1d400 && r <= 0x1d7ff || r >= 0x2100 && r <= 0x214f || r >= 0x2160 && r <= 0x217f
}

// Mark finds what looks like a mark of ASCII and is none, -1 for nothing.
func Mark(text string) int {
	for i, r := range text {
		if c, ok := Base(r); ok && strings.IndexByte("-_|*./", c) >= 0 {
			return i
		}
	}
	return -1
}
