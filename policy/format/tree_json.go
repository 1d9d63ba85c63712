package format

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/digits"
)

// ParseJSON reads a file that holds one JSON value, strictly as RFC 8259 has
// it; a byte order mark is skipped. The tree is nil when the file is empty or
// cannot be read. It is not read as YAML, which rejects escapes that JSON
// allows and accepts what JSON does not.
func ParseJSON(src *diag.Source) (*Node, diag.List) { return parseJSON(src, false) }

// ParseJSONC is ParseJSON for files that may hold comments, as agents' own
// settings do.
func ParseJSONC(src *diag.Source) (*Node, diag.List) { return parseJSON(src, true) }

func parseJSON(src *diag.Source, comments bool) (*Node, diag.List) {
	if len(src.Content) > maxBytes {
		return nil, diag.List{codeTooLarge.Report(diag.Span{Source: src}, "the file has %d bytes; %d is the most", len(src.Content), maxBytes)}
	}
	p := &jsonParser{src: src, text: src.Content, at: len(bom(src.Content)), comments: comments}
	if p.space(); p.at == len(p.text) {
		return nil, nil
	}
	root := p.value(0)
	if p.space(); root != nil && p.at < len(p.text) {
		root = p.fail("text after the end of the value")
	}
	if root == nil {
		return nil, diag.List{*p.failure}
	}
	return root, p.found
}

type jsonParser struct {
	src     *diag.Source
	text    string
	at      int
	found   diag.List
	failure *diag.Diagnostic
	// comments are skipped like space.
	comments bool
}

// fail records the error that ends the reading and returns nil.
func (p *jsonParser) fail(format string, args ...any) *Node {
	if p.failure == nil {
		d := codeSyntax.Report(p.span(p.at, min(p.at+1, len(p.text))), "not JSON: %s", fmt.Sprintf(format, args...))
		p.failure = &d
	}
	return nil
}

func (p *jsonParser) span(start, end int) diag.Span {
	return diag.Span{Source: p.src, Start: start, End: end}
}

func (p *jsonParser) space() {
	for p.at < len(p.text) {
		switch rest := p.text[p.at:]; {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			p.at++
		case p.comments && strings.HasPrefix(rest, "//"):
			p.skipTo("\n", 0)
		case p.comments && strings.HasPrefix(rest, "/*"):
			p.skipTo("*/", 2)
		default:
			return
		}
	}
}

// skipTo skips a comment: to where end stands and n bytes of it, or to the end
// of the file.
func (p *jsonParser) skipTo(end string, n int) {
	i := strings.Index(p.text[p.at+2:], end)
	if i < 0 {
		p.at = len(p.text)
		return
	}
	p.at += 2 + i + n
}

// next skips space and returns the byte that follows, 0 at the end.
func (p *jsonParser) next() byte {
	if p.space(); p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *jsonParser) value(depth int) *Node {
	if depth > maxNesting {
		d := codeTooLarge.Report(p.span(p.at, p.at+1), "nested deeper than %d levels", maxNesting)
		p.failure = &d
		return nil
	}
	switch c := p.next(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.list(depth)
	case c == '"':
		return p.string()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case c == 0 && p.at >= len(p.text):
		return p.fail("it ends before the value does")
	case c == '\'':
		return p.fail("text stands in double quotes")
	case c == '/' || c == '#':
		return p.fail("JSON has no comments")
	}
	for word, tag := range map[string]string{"true": tagBool, "false": tagBool, "null": tagNull} {
		if strings.HasPrefix(p.text[p.at:], word) {
			return p.scalar(tag, p.at+len(word))
		}
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	return p.fail("a value cannot begin with %q", r)
}

// scalar makes a node of the text up to end, as it stands.
func (p *jsonParser) scalar(tag string, end int) *Node {
	span := p.span(p.at, end)
	n := &Node{Shape: Scalar, Tag: tag, Span: span,
		Text: diag.NewText(p.text[p.at:end], span, []diag.Mark{{Body: 0, Source: p.at}})}
	p.at = end
	return n
}

func (p *jsonParser) number() *Node {
	end := p.at
	for end < len(p.text) && strings.IndexByte("+-.eE0123456789", p.text[end]) >= 0 {
		end++
	}
	if !json.Valid([]byte(p.text[p.at:end])) {
		return p.fail("%s is not a number", p.text[p.at:end])
	}
	if digits.Long(p.text[p.at:end]) {
		d := codeTooLarge.Report(p.span(p.at, end), "a number of more than %d digits", digits.Max)
		p.failure = &d
		return nil
	}
	tag := tagInt
	if strings.ContainsAny(p.text[p.at:end], ".eE") {
		tag = tagFloat
	}
	return p.scalar(tag, end)
}

func (p *jsonParser) list(depth int) *Node {
	start := p.at
	n := &Node{Shape: List}
	p.at++
	for first := true; ; first = false {
		if p.next() == ']' && first {
			break
		}
		item := p.value(depth + 1)
		if item == nil {
			return nil
		}
		n.Items = append(n.Items, item)
		c := p.next()
		if c == ']' {
			break
		}
		if c != ',' {
			return p.fail("a comma or ] belongs here")
		}
		p.at++
	}
	p.at++
	n.Span = p.span(start, p.at)
	return n
}

func (p *jsonParser) object(depth int) *Node {
	start := p.at
	n := &Node{Shape: Map}
	p.at++
	for first := true; ; first = false {
		c := p.next()
		if c == '}' && first {
			break
		}
		if c != '"' {
			return p.fail("a key in double quotes belongs here")
		}
		key := p.string()
		if key == nil {
			return nil
		}
		if p.next() != ':' {
			return p.fail("a colon belongs here")
		}
		p.at++
		value := p.value(depth + 1)
		if value == nil {
			return nil
		}
		n.Entries = append(n.Entries, Entry{key, value})
		if c = p.next(); c == '}' {
			break
		}
		if c != ',' {
			return p.fail("a comma or } belongs here")
		}
		p.at++
	}
	p.at++
	entries, found := checkKeys(n.Entries)
	p.found.Add(found...)
	n.Entries, n.Span = entries, p.span(start, p.at)
	return n
}

var jsonEscapes = map[byte]string{'"': `"`, '\\': `\`, '/': "/", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t"}

func (p *jsonParser) string() *Node {
	start := p.at
	var l lift
	for p.at++; p.at < len(p.text); {
		c := p.text[p.at]
		switch {
		case c == '"':
			p.at++
			span := p.span(start, p.at)
			return &Node{Shape: Scalar, Tag: tagText, Span: span, Text: diag.NewText(string(l.value), span, l.marks)}
		case c < 0x20:
			return p.fail("a control character stands in a string unescaped")
		case c == '\\':
			if !p.escape(&l) {
				return p.fail("not an escape")
			}
		default:
			r, w := utf8.DecodeRuneInString(p.text[p.at:])
			if r == utf8.RuneError && w == 1 {
				return p.fail("byte 0x%02x is not UTF-8", c)
			}
			l.put(p.text[p.at:p.at+w], p.at)
			p.at += w
		}
	}
	p.at = start
	return p.fail("a string that is not closed")
}

// escape consumes one escape, or the two of a surrogate pair; half a pair is
// the replacement character, as everywhere in Go.
func (p *jsonParser) escape(l *lift) bool {
	at := p.at
	if at+1 >= len(p.text) {
		return false
	}
	if v, ok := jsonEscapes[p.text[at+1]]; ok {
		l.escape(v, at)
		p.at += 2
		return true
	}
	r, ok := p.unicode(at)
	if !ok {
		return false
	}
	p.at += 6
	if utf16.IsSurrogate(r) {
		low, _ := p.unicode(p.at)
		if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
			p.at += 6
		}
	}
	l.escape(string(r), at)
	return true
}

func (p *jsonParser) unicode(at int) (rune, bool) {
	if at+6 > len(p.text) || p.text[at:at+2] != `\u` {
		return 0, false
	}
	return hexRune(p.text[at+2 : at+6])
}
