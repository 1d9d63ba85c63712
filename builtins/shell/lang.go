package shell

import (
	"strings"
)

// langKind is a language whose code is looked into for what it calls. It is no
// interpreter: it knows strings, names, calls with their arguments, variables
// that are given a text, and how texts are put together.
type langKind uint8

const (
	langPython langKind = iota
	langJS
	langPerl
	langRuby
	langPHP
	langLua
	langAwk
)

type langTokenKind uint8

const (
	tokName langTokenKind = iota
	tokString
	// tokCommand is text between backticks where those run a command.
	tokCommand
	tokNumber
	tokPunct
	tokEnd
)

// langToken is one token. A name is a whole chain: os.path.join, fs->x, A::B.
type langToken struct {
	kind langTokenKind
	text string
	// open is true for a string that has expressions in it.
	open bool
	line bool // a newline stands before it
}

// maxLangTokens bounds how much of a program is looked at.
const maxLangTokens = 20_000

// langCode is a program being looked at.
type langCode struct {
	lang   langKind
	tokens []langToken
	pos    int
	depth  int
	vars   map[string]langValue
	// names are what imports call things: sp is subprocess.
	names map[string]string
	found []langCall
	// cut is true when the program is longer than what was looked at.
	cut bool
}

// readLang cuts code into tokens and finds its calls.
func readLang(lang langKind, text string) *langCode {
	p := &langCode{lang: lang, vars: map[string]langValue{}, names: map[string]string{}}
	p.scan(text)
	p.program()
	return p
}

func (p *langCode) scan(s string) {
	line := true
	for i := 0; i < len(s); {
		if len(p.tokens) >= maxLangTokens {
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
		if t.kind != tokEnd {
			t.line = line
			p.tokens = append(p.tokens, t)
			line = false
		}
		i += n
	}
	p.tokens = append(p.tokens, langToken{kind: tokEnd, line: true})
}

// token reads one token; comments are of kind tokEnd.
func (p *langCode) token(s string) (langToken, int) {
	c := s[0]
	if n := p.comment(s); n > 0 {
		return langToken{kind: tokEnd}, n
	}
	if t, n := p.quotedToken(s); n > 0 {
		return t, n
	}
	switch {
	case nameByte(c) && (c < '0' || c > '9') || (c == '$' || c == '@') && len(s) > 1 && nameByte(s[1]) || c == '.' && len(s) > 1 && nameByte(s[1]) && (s[1] < '0' || s[1] > '9'):
		return p.name(s)
	case c >= '0' && c <= '9':
		n := 0
		for n < len(s) && (nameByte(s[n]) || s[n] == '.') {
			n++
		}
		return langToken{kind: tokNumber, text: s[:n]}, n
	}
	return langToken{kind: tokPunct, text: s[:1]}, 1
}

func (p *langCode) comment(s string) int {
	open := ""
	switch p.lang {
	case langPython, langPerl, langRuby, langAwk:
		open = "#"
	case langJS:
		open = "//"
	case langPHP:
		if open = "//"; s[0] == '#' {
			open = "#"
		}
	case langLua:
		open = "--"
	}
	if strings.HasPrefix(s, open) {
		if end := strings.IndexByte(s, '\n'); end >= 0 {
			return end
		}
		return len(s)
	}
	if (p.lang == langJS || p.lang == langPHP) && strings.HasPrefix(s, "/*") {
		if end := strings.Index(s[2:], "*/"); end >= 0 {
			return end + 4
		}
		return len(s)
	}
	return 0
}

func nameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// name reads a chain of names. $x of Perl and PHP keeps its sign.
func (p *langCode) name(s string) (langToken, int) {
	n := 1
	for n < len(s) {
		switch {
		case nameByte(s[n]) || s[n] == '$' && p.lang == langJS:
			n++
		case s[n] == '.' && n+1 < len(s) && nameByte(s[n+1]) && p.lang != langPHP && p.lang != langPerl && p.lang != langAwk:
			n++
		case strings.HasPrefix(s[n:], "::") && n+2 < len(s) && nameByte(s[n+2]):
			n += 2
		case strings.HasPrefix(s[n:], "?.") && p.lang == langJS:
			n += 2
		case (s[n] == '!' || s[n] == '?') && p.lang == langRuby && n+1 < len(s) && s[n+1] != '=':
			n++
			return langToken{kind: tokName, text: s[:n]}, n
		default:
			return langToken{kind: tokName, text: strings.ReplaceAll(s[:n], "::", ".")}, n
		}
	}
	return langToken{kind: tokName, text: strings.ReplaceAll(s[:n], "::", ".")}, n
}

// quotedToken reads a string, with its prefix.
func (p *langCode) quotedToken(s string) (langToken, int) {
	prefix := 0
	if p.lang == langPython {
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
		text, n := untilQuote(s[1:], '`')
		kind := tokString
		if p.lang == langPerl || p.lang == langRuby || p.lang == langPHP {
			kind = tokCommand
		}
		return langToken{kind: kind, text: text, open: strings.Contains(text, "${") || strings.Contains(text, "#{")}, n + 1
	case p.lang == langLua && strings.HasPrefix(s, "[["):
		if end := strings.Index(s, "]]"); end > 0 {
			return langToken{kind: tokString, text: s[2:end]}, end + 2
		}
	case p.lang == langRuby && c == '%' && len(s) > 2 && strings.IndexByte("xqQwW", s[1]) >= 0:
		return p.delimited(s, 2, s[1] == 'x')
	case p.lang == langPerl && c == 'q' && len(s) > 2:
		switch {
		case s[1] == 'x' && !nameByte(s[2]):
			return p.delimited(s, 2, true)
		case (s[1] == 'q' || s[1] == 'w') && !nameByte(s[2]) && s[2] != ' ' && s[2] != '=':
			return p.delimited(s, 2, false)
		case strings.IndexByte("{(/|[<!", s[1]) >= 0:
			return p.delimited(s, 1, false)
		}
	}
	return langToken{}, 0
}

// delimited reads q{…}, qx(…), %x[…] whose delimiter is at from.
func (p *langCode) delimited(s string, from int, command bool) (langToken, int) {
	open := s[from]
	if nameByte(open) || open <= ' ' {
		return langToken{}, 0
	}
	end := open
	if i := strings.IndexByte("({[<", open); i >= 0 {
		end = ")}]>"[i]
	}
	text, n := untilQuote(s[from+1:], end)
	kind := tokString
	if command {
		kind = tokCommand
	}
	return langToken{kind: kind, text: text}, from + 1 + n
}

// untilQuote is the text up to a quote that is not escaped, and its length
// with the quote.
func untilQuote(s string, quote byte) (string, int) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			return s[:i], i + 1
		}
	}
	return s, len(s)
}

func (p *langCode) stringToken(s string, prefix int) (langToken, int) {
	letters := strings.ToLower(s[:prefix])
	quote := s[prefix]
	body, n := "", 0
	if triple := strings.Repeat(string(rune(quote)), 3); p.lang == langPython && strings.HasPrefix(s[prefix:], triple) {
		end := strings.Index(s[prefix+3:], triple)
		if end < 0 {
			end = len(s) - prefix - 3
		}
		body, n = s[prefix+3:prefix+3+end], min(prefix+6+end, len(s))
	} else {
		body, n = untilQuote(s[prefix+1:], quote)
		n += prefix + 1
	}
	t := langToken{kind: tokString, text: body}
	t.open = strings.Contains(letters, "f") && strings.Contains(body, "{") ||
		quote == '"' && (p.lang == langRuby && strings.Contains(body, "#{") || (p.lang == langPerl || p.lang == langPHP) && strings.ContainsAny(body, "$"))
	if !strings.Contains(letters, "r") && !(quote == '\'' && (p.lang == langPerl || p.lang == langRuby || p.lang == langPHP)) {
		t.text = unescapeLang(body)
	} else if quote == '\'' && p.lang != langPython {
		t.text = strings.NewReplacer(`\'`, `'`, `\\`, `\`).Replace(body)
	}
	return t, n
}

func unescapeLang(s string) string {
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
		switch s[i] {
		case '\n':
		case '$', '#', '`', '{', '/', ' ':
			b.WriteByte(s[i])
		default:
			text, used := ansiEscape(s[i:])
			b.WriteString(text)
			i += used - 1
		}
	}
	return b.String()
}
