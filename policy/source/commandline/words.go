// Package commandline reads the command lines of hooks: which files they name and consist
// of, what a project's own programs are in them, and whether they start hookc itself.
package commandline

import "strings"

// split is no shell parser (those live in package builtins): it knows
// quoted words, pipes, lists, redirections and substitutions, and calls
// everything else odd.

// shellWord is one word of a command, quotes removed.
type shellWord struct {
	text string
	// expands: the shell replaces part of it by what only it knows. glob: it
	// is a pattern of file names. redirect: it follows < or >.
	expands, glob, redirect bool
	// dynamic: part of it is what a command prints.
	dynamic bool
	// operator is the redirection before it, with quotes whether part of it was
	// quoted; start and end are where it stands.
	operator   string
	quotes     bool
	start, end int
}

// split cuts a text into simple commands and those into words. odd is
// true when the text holds what is not understood: a substitution, a
// subshell, a here-document, an unclosed quote. inner are the substitutions
// within double quotes, by where their text stands.
func split(text string) (commands [][]shellWord, inner [][2]int, odd bool) {
	s := commandSplitter{text: text}
	for s.at < len(s.text) {
		s.step()
	}
	s.endCommand(len(text))
	return s.commands, s.inner, s.odd
}

type commandSplitter struct {
	text     string
	at       int
	commands [][]shellWord
	words    []shellWord
	buf      strings.Builder
	word     shellWord
	inWord   bool
	redirect string
	odd      bool
	// inner are the substitutions within double quotes, where they stand.
	inner [][2]int
}

// endWord ends the word that the text before at holds.
func (s *commandSplitter) endWord(at int) {
	if !s.inWord {
		return
	}
	s.word.text, s.word.end = s.buf.String(), at
	s.word.operator, s.word.redirect, s.redirect = s.redirect, s.redirect != "", ""
	if s.word.text == "[" || s.word.text == "]" {
		s.word.glob = false
	}
	s.words = append(s.words, s.word)
	s.word, s.inWord = shellWord{}, false
	s.buf.Reset()
}

func (s *commandSplitter) endCommand(at int) {
	s.endWord(at)
	s.redirect = ""
	if len(s.words) > 0 {
		s.commands = append(s.commands, s.words)
	}
	s.words = nil
}

// step reads one character, quoted string or operator.
func (s *commandSplitter) step() {
	b, from := s.text[s.at], s.at
	s.at++
	switch b {
	case ' ', '\t', '\r':
		s.endWord(from)
	case '\n', ';', '|':
		s.endCommand(from)
	case '&', '<', '>':
		s.operator()
	case '(', ')', '`':
		s.odd = true
		s.endCommand(from)
	case '#':
		if s.inWord {
			s.put(b)
			return
		}
		if i := strings.IndexByte(s.text[s.at:], '\n'); i >= 0 {
			s.at += i
		} else {
			s.at = len(s.text)
		}
	case '\'', '"':
		s.begin(from)
		s.word.quotes = true
		s.quoted(b)
	case '\\':
		s.escape()
	default:
		s.mark(b)
		s.begin(from)
		s.put(b)
	}
}

// begin begins a word unless one has begun.
//
//go:noinline
func (s *commandSplitter) begin(at int) {
	if !s.inWord {
		s.word.start, s.inWord = at, true
	}
}

// mark notes what an unquoted character makes of its word.
func (s *commandSplitter) mark(b byte) {
	switch b {
	case '$', '{', '}':
		s.word.expands = true
	case '~':
		s.word.expands = s.word.expands || !s.inWord
	case '*', '?', '[':
		s.word.glob = true
	}
}

//go:noinline
func (s *commandSplitter) put(b byte) {
	s.inWord = true
	s.buf.WriteByte(b)
}

// escape reads what follows a backslash outside quotes; one before a line
// break joins the lines.
func (s *commandSplitter) escape() {
	if s.at == len(s.text) {
		s.odd = true
		return
	}
	if b := s.text[s.at]; b != '\n' {
		s.begin(s.at - 1)
		s.word.quotes = true
		s.put(b)
	}
	s.at++
}

// operator reads a run of &, < and >: a redirection when it holds < or >,
// else the end of a command.
func (s *commandSplitter) operator() {
	start := s.at - 1
	for s.at < len(s.text) && strings.IndexByte("&<>|", s.text[s.at]) >= 0 {
		s.at++
	}
	run := s.text[start:s.at]
	s.odd = s.odd || strings.Contains(run, "<<")
	if !strings.ContainsAny(run, "<>") {
		s.endCommand(start)
		return
	}
	s.endWord(start)
	s.redirect = run
}

// quoted reads up to the closing quote.
func (s *commandSplitter) quoted(quote byte) {
	s.inWord = true
	for s.at < len(s.text) {
		b := s.text[s.at]
		s.at++
		switch {
		case b == quote:
			return
		case quote == '\'':
		case b == '\\' && s.at < len(s.text) && strings.IndexByte("$`\"\\\n", s.text[s.at]) >= 0:
			b = s.text[s.at]
			s.at++
		case b == '$' || b == '`':
			s.word.expands, s.word.dynamic = true, s.word.dynamic || b == '`' || strings.HasPrefix(s.text[s.at:], "(")
			s.substitution(b)
		}
		s.buf.WriteByte(b)
	}
	s.odd = true
}

// substitution notes a command within double quotes, whose text follows b, and
// goes to its end: quotes inside it are its own.
func (s *commandSplitter) substitution(b byte) {
	from, end := s.at, -1
	switch {
	case b == '`':
		end = strings.IndexByte(s.text[from:], '`')
	case strings.HasPrefix(s.text[from:], "("):
		from++
		end = parenthesis(s.text[from:])
	default:
		return
	}
	s.odd = true
	if end >= 0 {
		s.inner = append(s.inner, [2]int{from, from + end})
		s.buf.WriteString(s.text[s.at : from+end+1])
		s.at = from + end + 1
	}
}

// parenthesis is where the parenthesis ends that text follows, -1 for nowhere.
func parenthesis(text string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '\\' && quote != '\'':
			i++
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case b == '\'' || b == '"':
			quote = b
		case b == '(':
			depth++
		case b == ')' && depth == 0:
			return i
		case b == ')':
			depth--
		}
	}
	return -1
}
