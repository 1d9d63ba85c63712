// Package tokens cuts code of programming languages into tokens, as far as is
// needed to see what it calls and with which texts.
package tokens

import (
	"strings"

	"github.com/hookc/hookc/builtins/quoting"
	"github.com/hookc/hookc/internal/spell"
)

// Lang is a language whose code is looked into for what it calls. This is no
// interpreter: it knows strings and names.
type Lang uint8

// The languages.
const (
	Python Lang = iota
	JS
	Perl
	Ruby
	PHP
	Lua
	Awk
)

// Kind is what a token is.
type Kind uint8

// The kinds of tokens.
const (
	Name Kind = iota
	String
	// Command is text between backticks where those run a command.
	Command
	Number
	Punct
	End
)

// Token is one token. A name is a whole chain: os.path.join, fs->x, A::B.
type Token struct {
	Kind Kind
	Text string
	// Open is true for a string that has expressions in it.
	Open bool
	// Line is true when a newline stands before it.
	Line bool
}

// maxTokens bounds how much of a program is looked at.
const maxTokens = 20_000

type scanner struct {
	lang   Lang
	tokens []Token
	cut    bool
	// inner is code that stands in strings, inside is how much of it there was.
	inner  []string
	inside int
}

// maxInside bounds how much code in strings is looked at.
const maxInside = 200

// Scan cuts code into tokens. Those of code that stands in strings, which runs when they are made,
// come after all others. cut is true when there are more than are looked at.
func Scan(lang Lang, s string) (list []Token, cut bool) {
	p := &scanner{lang: lang}
	p.scan(s)
	for len(p.inner) > 0 {
		s, p.inner = p.inner[0], p.inner[1:]
		p.scan(s)
	}
	return append(p.tokens, Token{Kind: End, Line: true}), p.cut
}

// marks are what code in a string begins with, a closing bracket ends it.
var marks = [...]string{Python: "{", JS: "${", Perl: "@{ ${ (?{ (??{", Ruby: "#{", PHP: "{$ ${", Lua: "", Awk: ""}

// within notes the code that a string has in it.
func (p *scanner) within(s string) {
	for mark := range strings.FieldsSeq(marks[p.lang]) {
		for rest := s; ; {
			_, after, ok := spell.Cut(rest, mark)
			if !ok {
				break
			}
			end := balanced(after)
			if end == 0 {
				end = len(after)
			}
			if code := after[:end]; strings.ContainsAny(code, "(`") || p.lang == Ruby && strings.Contains(code, "%x") {
				if p.inside++; p.inside > maxInside {
					p.cut = true
					return
				}
				p.inner = append(p.inner, strings.TrimSuffix(code, "}"))
			}
			rest = after
		}
	}
}

func (p *scanner) scan(s string) {
	line := true
	for i := 0; i < len(s); {
		if len(p.tokens) >= maxTokens {
			p.cut = true
			break
		}
		c := s[i]
		if c == '\n' {
			line = true
		}
		if c <= ' ' || c == '\\' && i+1 < len(s) && s[i+1] == '\n' {
			i++
			continue
		}
		t, n := p.token(s[i:])
		if n == 0 {
			n = 1
		}
		if quoted := s[i+n-1]; (t.Kind == String || t.Kind == Command) && p.runs(s[i:i+n], quoted) {
			p.within(t.Text)
		}
		if t.Kind != End {
			t.Line = line
			p.tokens = append(p.tokens, t)
			line = false
		}
		i += n
	}
}

// runs reports whether code in a string, which is written as in s, is run.
func (p *scanner) runs(s string, quote byte) bool {
	switch p.lang {
	case Python:
		return s[0] == 'f' || s[0] == 'F' || len(s) > 1 && (s[1] == 'f' || s[1] == 'F')
	case JS:
		return quote == '`'
	case Perl, Ruby, PHP:
		return quote != '\'' && !strings.HasPrefix(s, "q{") && !strings.HasPrefix(s, "q(") && !strings.HasPrefix(s, "%q")
	}
	return false
}

// token reads one token; comments are of kind End.
func (p *scanner) token(s string) (Token, int) {
	c := s[0]
	if n := p.comment(s); n > 0 {
		return Token{Kind: End}, n
	}
	if t, n := p.quotedToken(s); n > 0 {
		return t, n
	}
	if (p.lang == PHP || p.lang == Perl) && strings.HasPrefix(s, "->") && len(s) > 2 && nameByte(s[2]) {
		t, n := p.name(s[1:]) // a method, as .name is in other languages
		t.Text = "->" + t.Text[1:]
		return t, n + 1
	}
	switch {
	case nameByte(c) && (c < '0' || c > '9') || (c == '$' || c == '@') && len(s) > 1 && nameByte(s[1]) || c == '.' && p.lang != PHP && p.lang != Perl && len(s) > 1 && nameByte(s[1]) && (s[1] < '0' || s[1] > '9'):
		return p.name(s)
	case c >= '0' && c <= '9':
		n := 0
		for n < len(s) && (nameByte(s[n]) || s[n] == '.') {
			n++
		}
		return Token{Kind: Number, Text: s[:n]}, n
	}
	return Token{Kind: Punct, Text: s[:1]}, 1
}

func (p *scanner) comment(s string) int {
	open := ""
	switch p.lang {
	case Python, Perl, Ruby, Awk:
		open = "#"
	case JS:
		open = "//"
	case PHP:
		if open = "//"; s[0] == '#' {
			open = "#"
		}
	case Lua:
		open = "--"
	}
	if strings.HasPrefix(s, open) && !(p.lang == Ruby && strings.HasPrefix(s, "#{")) {
		if end := strings.IndexByte(s, '\n'); end >= 0 {
			return end
		}
		return len(s)
	}
	if (p.lang == JS || p.lang == PHP) && strings.HasPrefix(s, "/*") {
		if end := strings.Index(s[2:], "*/"); end >= 0 {
			return end + 4
		}
		return len(s)
	}
	return 0
}

//go:noinline
func nameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// name reads a chain of names. $x of Perl and PHP keeps its sign.
func (p *scanner) name(s string) (Token, int) {
	n := 1
	for n < len(s) {
		switch {
		case nameByte(s[n]) || s[n] == '$' && p.lang == JS:
			n++
		case s[n] == '.' && n+1 < len(s) && nameByte(s[n+1]) && p.lang != PHP && p.lang != Perl && p.lang != Awk:
			n++
		case strings.HasPrefix(s[n:], "::") && n+2 < len(s) && nameByte(s[n+2]):
			n += 2
		case strings.HasPrefix(s[n:], "?.") && p.lang == JS:
			n += 2
		case (s[n] == '!' || s[n] == '?') && p.lang == Ruby && n+1 < len(s) && s[n+1] != '=':
			n++
			return Token{Kind: Name, Text: s[:n]}, n
		default:
			return Token{Kind: Name, Text: strings.ReplaceAll(s[:n], "::", ".")}, n
		}
	}
	return Token{Kind: Name, Text: strings.ReplaceAll(s[:n], "::", ".")}, n
}

// quotedToken reads a string, with its prefix.
func (p *scanner) quotedToken(s string) (Token, int) {
	prefix := 0
	if p.lang == Python {
		for prefix < 2 && prefix < len(s) && strings.IndexByte("rRbBfFuU", s[prefix]) >= 0 {
			prefix++
		}
		if prefix >= len(s) || s[prefix] != '"' && s[prefix] != '\'' {
			prefix = 0
		}
	}
	c := s[prefix]
	switch {
	case c == '"' || c == '\'':
		return p.stringToken(s, prefix)
	case c == '`':
		text, n := p.untilQuote(s[1:], '`', p.lang == JS || p.lang == Ruby)
		kind := String
		if p.lang == Perl || p.lang == Ruby || p.lang == PHP {
			kind = Command
		}
		return Token{Kind: kind, Text: text, Open: strings.Contains(text, "${") || strings.Contains(text, "#{")}, n + 1
	case p.lang == Lua && strings.HasPrefix(s, "[["):
		if end := strings.Index(s, "]]"); end > 0 {
			return Token{Kind: String, Text: s[2:end]}, end + 2
		}
	case p.lang == Ruby && c == '%' && len(s) > 2 && strings.IndexByte("xqQwW", s[1]) >= 0:
		return p.delimited(s, 2, s[1] == 'x')
	case (p.lang == Perl || p.lang == Ruby || p.lang == JS) && c == '/' && p.operand():
		return p.expression(s, 1, false)
	case p.lang == Perl && strings.HasPrefix(s, "m/"):
		return p.expression(s, 2, false)
	case p.lang == Perl && (strings.HasPrefix(s, "s/") || strings.HasPrefix(s, "y/")):
		return p.expression(s, 2, true)
	case p.lang == Perl && (strings.HasPrefix(s, "qr/") || strings.HasPrefix(s, "tr/")):
		return p.expression(s, 3, s[0] == 't')
	case p.lang == Perl && c == 'q' && len(s) > 2:
		switch {
		case s[1] == 'x' && !nameByte(s[2]):
			return p.delimited(s, 2, true)
		case (s[1] == 'q' || s[1] == 'w') && !nameByte(s[2]) && s[2] != ' ' && s[2] != '=':
			return p.delimited(s, 2, false)
		case strings.IndexByte("{(/|[<!", s[1]) >= 0:
			return p.delimited(s, 1, false)
		}
	}
	return Token{}, 0
}

// operand reports whether a value, and no operator, comes after what was read.
func (p *scanner) operand() bool {
	if len(p.tokens) == 0 {
		return true
	}
	switch last := p.tokens[len(p.tokens)-1]; last.Kind {
	case Punct:
		return !strings.Contains(")]}", last.Text)
	case Name:
		return strings.Contains(" if unless and or not return split grep while until when ", " "+last.Text+" ")
	}
	return false
}

// expression reads a regular expression between slashes, whose text begins at from, and what takes
// the place of what it matches. It is none where that is code.
func (p *scanner) expression(s string, from int, replaces bool) (Token, int) {
	text, n := p.untilQuote(s[from:], '/', p.lang == Ruby)
	if n += from; replaces {
		to, m := p.untilQuote(s[n:], '/', false)
		text, n = text+to, n+m
	}
	flags := s[n : n+len(s[n:])-len(strings.TrimLeft(s[n:], "abcdefghijklmnopqrstuvwxyz"))]
	if s[n-1] != '/' || replaces && strings.Contains(flags, "e") || strings.ContainsAny(text, "\n") {
		return Token{}, 0
	}
	return Token{Kind: String, Text: text}, n + len(flags)
}

// delimited reads q{…}, qx(…), %x[…] whose delimiter is at from.
func (p *scanner) delimited(s string, from int, command bool) (Token, int) {
	open := s[from]
	if nameByte(open) || open <= ' ' {
		return Token{}, 0
	}
	end := open
	if i := strings.IndexByte("({[<", open); i >= 0 {
		end = ")}]>"[i]
	}
	text, n := p.untilQuote(s[from+1:], end, p.lang == Ruby && s[from-1] != 'q' && s[from-1] != 'w')
	kind := String
	if command {
		kind = Command
	}
	return Token{Kind: kind, Text: text}, from + 1 + n
}

// untilQuote is the text up to a quote that is not escaped and stands in no code of a string that
// may have some, and its length with the quote.
func (p *scanner) untilQuote(s string, quote byte, code bool) (string, int) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == quote:
			return s[:i], i + 1
		case code && strings.HasPrefix(s[i:], marks[p.lang]):
			if n := balanced(s[i+len(marks[p.lang]):]); n > 0 {
				i += len(marks[p.lang]) + n - 1
			}
		}
	}
	return s, len(s)
}

// balanced is the length of code with the bracket that ends it, 0 where none does.
func balanced(s string) int {
	depth := 1
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

func (p *scanner) stringToken(s string, prefix int) (Token, int) {
	letters := strings.ToLower(s[:prefix])
	quote := s[prefix]
	body, n := "", 0
	if triple := strings.Repeat(string(rune(quote)), 3); p.lang == Python && strings.HasPrefix(s[prefix:], triple) {
		end := strings.Index(s[prefix+3:], triple)
		if end < 0 {
			end = len(s) - prefix - 3
		}
		body, n = s[prefix+3:prefix+3+end], min(prefix+6+end, len(s))
	} else {
		body, n = p.untilQuote(s[prefix+1:], quote, p.lang == Ruby && quote == '"' || strings.Contains(letters, "f"))
		n += prefix + 1
	}
	t := Token{Kind: String, Text: body}
	t.Open = strings.Contains(letters, "f") && strings.Contains(body, "{") ||
		quote == '"' && (p.lang == Ruby && strings.Contains(body, "#{") || (p.lang == Perl || p.lang == PHP) && strings.ContainsAny(body, "$"))
	if !strings.Contains(letters, "r") && !(quote == '\'' && (p.lang == Perl || p.lang == Ruby || p.lang == PHP)) {
		t.Text = unescapeLang(body)
	} else if quote == '\'' && p.lang != Python {
		t.Text = strings.NewReplacer(`\'`, `'`, `\\`, `\`).Replace(body)
	}
	return t, n
}

func unescapeLang(s string) string {
	out, _ := quoting.Unescape(s, func(rest string) (string, int) {
		switch rest[0] {
		case '\n':
			return "", 1
		case '$', '#', '`', '{', '/', ' ':
			return rest[:1], 1
		}
		return quoting.AnsiEscape(rest)
	})
	return out
}
