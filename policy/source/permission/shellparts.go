package permission

import (
	"regexp"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
)

// shellParts are the simple commands of a command line, those inside
// substitutions and subshells too, each as written with the variables set in
// front of it left out.
type shellParts struct {
	parts []string
	// dynamic: the line holds a substitution or a variable.
	dynamic bool
	// odd: the line cannot be read simply.
	odd bool
}

// readShellParts reads a command line. It is no shell parser (those live in
// package builtins): what it does not know makes the line odd.
func readShellParts(line string) shellParts {
	s := &partReader{text: line}
	s.read(0)
	return s.shellParts
}

type partReader struct {
	shellParts
	text string
	buf  strings.Builder
}

// maxParts bounds how deep substitutions nest.
const maxParts = 20

func (s *partReader) read(depth int) {
	if depth > maxParts {
		s.odd = true
		return
	}
	text := s.text
	for at := 0; at < len(text) && !s.odd; {
		at = s.step(text, at, depth)
	}
	s.end()
}

// step reads one character, quoted text, substitution or operator of text and
// returns where the next begins.
func (s *partReader) step(text string, at, depth int) int {
	b := text[at]
	next := byte(0)
	if at+1 < len(text) {
		next = text[at+1]
	}
	switch {
	case b == '\\' && next != 0:
		s.buf.WriteString(text[at : at+2])
		return at + 2
	case b == '\'':
		return s.single(text, at)
	case b == '"':
		return s.double(text, at, depth)
	case b == '$', b == '`', (b == '<' || b == '>') && next == '(':
		return s.substitution(text, at, depth)
	case b == '<' && next == '<':
		s.odd = true // a here-document
		return len(text)
	case b == '#' && (at == 0 || strings.IndexByte(" \t\n;|&(", text[at-1]) >= 0):
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			return at + i
		}
		return len(text)
	case (b == '>' || b == '<') && next == '&', b == '&' && next == '>':
		s.buf.WriteString(text[at : at+2])
		return at + 2
	case strings.IndexByte(";&|\n()", b) >= 0:
		s.end()
		return at + 1
	}
	s.buf.WriteByte(b)
	return at + 1
}

// single copies text in single quotes, in which nothing is special.
func (s *partReader) single(text string, at int) int {
	i := strings.IndexByte(text[at+1:], '\'')
	if i < 0 {
		s.odd = true
		return len(text)
	}
	s.buf.WriteString(text[at : at+i+2])
	return at + i + 2
}

// double copies text in double quotes and reads the substitutions in it.
func (s *partReader) double(text string, at, depth int) int {
	s.buf.WriteByte('"')
	for at++; at < len(text) && !s.odd; {
		switch b := text[at]; {
		case b == '"':
			s.buf.WriteByte('"')
			return at + 1
		case b == '\\' && at+1 < len(text):
			s.buf.WriteString(text[at : at+2])
			at += 2
		case b == '$' || b == '`':
			at = s.substitution(text, at, depth)
		default:
			s.buf.WriteByte(b)
			at++
		}
	}
	s.odd = true
	return len(text)
}

// substitution reads $(…), `…`, <(…), $NAME or ${…}.
func (s *partReader) substitution(text string, at, depth int) int {
	open := at + 1
	var end int
	switch {
	case text[at] == '`':
		end = backtick(text, open)
	case open < len(text) && text[open] == '(':
		open++
		end = closing(text, open)
	default:
		if open < len(text) && (text[open] == '{' || text[open] == '_' || isAlnum(text[open]) || strings.IndexByte("@*#?$!-'\"", text[open]) >= 0) {
			s.dynamic = true
		}
		s.buf.WriteByte(text[at])
		return open
	}
	if end < 0 {
		s.odd = true
		return len(text)
	}
	s.dynamic = true
	inner := &partReader{text: text[open:end]}
	inner.read(depth + 1)
	s.parts, s.odd = append(s.parts, inner.parts...), s.odd || inner.odd
	s.buf.WriteString(text[at : end+1])
	return end + 1
}

func isAlnum(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// backtick is where a substitution in backticks ends, -1 when it does not.
func backtick(text string, at int) int {
	for ; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '`':
			return at
		}
	}
	return -1
}

// closing is the parenthesis that closes the one before at, -1 when none does.
func closing(text string, at int) int {
	for depth := 1; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '\'':
			i := strings.IndexByte(text[at+1:], '\'')
			if i < 0 {
				return -1
			}
			at += i + 1
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return at
			}
		}
	}
	return -1
}

var (
	leadingAssignment = lazy.Value(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\+?=(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])*\s+`)
	})
	leadingKeyword = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`^(?:if|then|else|elif|while|until|do|time|!|\{)\s+`) })
	unreadKeyword  = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`^(?:for|case|select|function|coproc|\[\[)\b`) })
)

// end closes a command.
func (s *partReader) end() {
	part := strings.TrimSpace(s.buf.String())
	s.buf.Reset()
	for {
		rest := leadingAssignment().ReplaceAllString(leadingKeyword().ReplaceAllString(part, ""), "")
		if rest == part {
			break
		}
		part = rest
	}
	if unreadKeyword().MatchString(part) {
		s.odd = true
	}
	if part == "" {
		return
	}
	s.parts = append(s.parts, part)
	if plain := strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(part); plain != part && plain != "" {
		s.parts = append(s.parts, plain)
	}
}
