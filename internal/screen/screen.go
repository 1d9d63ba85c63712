// Package screen writes what hookc prints, with what others wrote spelled out where a
// terminal or a CI runner would obey it.
package screen

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// Screen is the one writer of everything that hookc prints. Names, commands and
// reasons come from repositories that nobody has read yet: a control character
// of theirs could hide a line, forge another, or command a terminal or a CI
// runner. So control characters are written as \uXXXX, which in JSON is the same
// text. hookc's own colours pass where the output takes colours.
type Screen struct {
	mu  sync.Mutex
	out io.Writer
	// own are hookc's own colours, where they count.
	own []string
	// left is the beginning of a character, or of a colour, that the last Write
	// ended in; begun is true after something on the line that is no blank.
	left  []byte
	begun bool
}

// New is what writes to an output; own are the colours that pass.
func New(out io.Writer, own ...string) *Screen { return &Screen{out: out, own: own} }

// Behind is the output behind a screen.
//
//go:noinline
func Behind(w io.Writer) io.Writer {
	if s, ok := w.(*Screen); ok {
		return s.out
	}
	return w
}

// Write writes text with its control characters spelled out. It reports all of p
// as written when the output took what became of it.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := append(s.left, p...)
	s.left = nil
	if s.plain(text) {
		_, err := s.out.Write(text)
		return len(p), err
	}
	out := make([]byte, 0, len(text)+16)
	for len(text) > 0 {
		n, more := s.next(text)
		if more {
			s.left = lists.Copy(text)
			break
		}
		out = s.append(out, text, n)
		text = text[n:]
	}
	_, err := s.out.Write(out)
	return len(p), err
}

// plain reports whether a text needs no look at each character.
func (s *Screen) plain(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\t' && c != '\n' || c >= 0x7f || c == '#' || c == ':' && !s.begun {
			return false
		}
		switch {
		case c == '\n':
			s.begun = false
		case c != ' ' && c != '\t':
			s.begun = true
		}
	}
	return true
}

// next is the length of what stands first, and whether more must be read to know.
func (s *Screen) next(text []byte) (n int, more bool) {
	if text[0] == 0x1b {
		for _, c := range s.own {
			if bytes.HasPrefix(text, []byte(c)) {
				return len(c), false
			}
		}
		return 1, false
	}
	if !utf8.FullRune(text) || len(text) < 3 && strings.HasPrefix("##[", string(text)) {
		return 0, true
	}
	_, n = utf8.DecodeRune(text)
	return n, false
}

func (s *Screen) append(out, text []byte, n int) []byte {
	r, _ := utf8.DecodeRune(text[:n])
	switch {
	case n > 1 && text[0] == 0x1b:
		return append(out, text[:n]...)
	case r == '\n':
		s.begun = false
	case r == ' ' || r == '\t':
	case r == utf8.RuneError && n == 1:
		s.begun = true
		return fmt.Appendf(out, `\x%02x`, text[0])
	case spell.Hidden(r):
		s.begun = true
		return spell.Rune(out, r)
	case r == ':' && !s.begun && (len(text) == 1 || text[1] == ':'), r == '#' && len(text) > 2 && string(text[:3]) == "##[":
		s.begun = true
		return spell.Rune(out, r) // no command to a CI runner
	default:
		s.begun = true
	}
	return append(out, text[:n]...)
}

// Flush writes what is left of a character that never ended.
func (s *Screen) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.left {
		if c < utf8.RuneSelf {
			fmt.Fprintf(s.out, "%c", c)
			continue
		}
		fmt.Fprintf(s.out, `\x%02x`, c)
	}
	s.left = nil
}
