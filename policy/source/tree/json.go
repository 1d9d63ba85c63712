package tree

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/digits"
	"github.com/hookc/hookc/policy/scan"
)

// ParseJSON reads a file that holds one JSON value, strictly as RFC 8259 has
// it; a byte order mark is skipped. The tree is nil when the file is empty or
// cannot be read. It is not read as YAML, which rejects escapes that JSON
// allows and accepts what JSON does not.
func ParseJSON(src *diag.Source) (*Node, diag.List) { return parseJSON(&jsonParser{src: src}) }

// ParseJSONC is ParseJSON for files that may hold comments, as agents' own
// settings do.
func ParseJSONC(src *diag.Source) (*Node, diag.List) {
	return parseJSON(&jsonParser{src: src, comments: true})
}

// ParseLoose is ParseJSONC for files that are edited where they stand: a comma may
// precede a closing bracket, and a key that is written twice is there twice.
func ParseLoose(src *diag.Source) (*Node, diag.List) {
	return parseJSON(&jsonParser{src: src, comments: true, loose: true})
}

func parseJSON(p *jsonParser) (*Node, diag.List) {
	src := p.src
	if len(src.Content) > MaxBytes {
		return nil, diag.List{CodeTooLarge.Report(diag.Span{Source: src}, "the file has %d bytes; %d is the most", len(src.Content), MaxBytes)}
	}
	p.Data, p.At = []byte(src.Content), len(BOM(src.Content))
	if p.next(); p.At == len(p.Data) {
		return nil, nil
	}
	root := p.value(0)
	if p.next(); root != nil && p.At < len(p.Data) {
		root = p.fail("text after the end of the value")
	}
	if root == nil {
		return nil, diag.List{*p.failure}
	}
	return root, p.found
}

// jsonParser makes a tree of the words that the scanner reads.
type jsonParser struct {
	scan.Scanner
	src     *diag.Source
	found   diag.List
	failure *diag.Diagnostic
	// comments are skipped like space. What else loose allows is said at ParseLoose.
	comments, loose bool
}

// fail records the error that ends the reading and returns nil.
func (p *jsonParser) fail(format string, args ...any) *Node {
	return p.end(CodeSyntax.Report(p.span(p.At, min(p.At+1, len(p.Data))), "not JSON: %s", fmt.Sprintf(format, args...)))
}

//go:noinline
func (p *jsonParser) end(d diag.Diagnostic) *Node {
	if p.failure == nil {
		p.failure = &d
	}
	return nil
}

//go:noinline
func (p *jsonParser) span(start, end int) diag.Span {
	return diag.Span{Source: p.src, Start: start, End: end}
}

// next skips space, and comments where they may be, and returns the byte that
// follows, 0 at the end.
func (p *jsonParser) next() byte {
	for {
		c := p.Space()
		rest := p.Data[p.At:]
		end, n := "\n", 0
		switch {
		case !p.comments || c != '/':
			return c
		case bytes.HasPrefix(rest, []byte("/*")):
			end, n = "*/", 2
		case !bytes.HasPrefix(rest, []byte("//")):
			return c
		}
		if i := bytes.Index(rest[2:], []byte(end)); i >= 0 {
			p.At += 2 + i + n
		} else {
			p.At = len(p.Data)
		}
	}
}

// jsonWords are the words that are values.
var jsonWords = []struct{ word, tag string }{{"true", tagBool}, {"false", tagBool}, {"null", TagNull}}

func (p *jsonParser) value(depth int) *Node {
	if depth > maxNesting {
		return p.end(CodeTooLarge.Report(p.span(p.At, p.At+1), "nested deeper than %d levels", maxNesting))
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
	case c == 0 && p.At >= len(p.Data):
		return p.fail("it ends before the value does")
	case c == '\'':
		return p.fail("text stands in double quotes")
	case c == '/' || c == '#':
		return p.fail("JSON has no comments")
	}
	start := p.At
	for _, w := range jsonWords {
		if p.Word(w.word) {
			return p.scalar(w.tag, start)
		}
	}
	r, _ := utf8.DecodeRune(p.Data[p.At:])
	return p.fail("a value cannot begin with %q", r)
}

// scalar makes a node of what was read from start on, as it stands.
func (p *jsonParser) scalar(tag string, start int) *Node {
	span := p.span(start, p.At)
	return &Node{Shape: Scalar, Tag: tag, Span: span, Text: diag.NewText(string(p.Data[start:p.At]), span, []diag.Mark{{Body: 0, Source: start}})}
}

func (p *jsonParser) number() *Node {
	start, end := p.At, p.At
	for end < len(p.Data) && strings.IndexByte("+-.eE0123456789", p.Data[end]) >= 0 {
		end++
	}
	text := string(p.Data[start:end])
	ok := p.SkipNumber()
	switch {
	case digits.Long(text):
		return p.end(CodeTooLarge.Report(p.span(start, end), "a number of more than %d digits", digits.Max))
	case !ok || p.At < end:
		p.At = start
		return p.fail("%s is not a number", text)
	}
	tag := TagInt
	if strings.ContainsAny(text, ".eE") {
		tag = tagFloat
	}
	return p.scalar(tag, start)
}

func (p *jsonParser) list(depth int) *Node {
	start := p.At
	n := &Node{Shape: List}
	p.At++
	for first := true; ; first = false {
		if p.next() == ']' && (first || p.loose) {
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
		p.At++
	}
	p.At++
	n.Span = p.span(start, p.At)
	return n
}

func (p *jsonParser) object(depth int) *Node {
	start := p.At
	n := &Node{Shape: Map}
	p.At++
	for first := true; ; first = false {
		c := p.next()
		if c == '}' && (first || p.loose) {
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
		p.At++
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
		p.At++
	}
	p.At++
	n.Span = p.span(start, p.At)
	if !p.loose {
		entries, found := checkKeys(n.Entries)
		p.found.Add(found...)
		n.Entries = entries
	}
	return n
}

// string reads a text, each byte of which knows where it was written.
func (p *jsonParser) string() *Node {
	start := p.At
	var l lift
	for p.At++; p.At < len(p.Data); {
		rest := p.Data[p.At:]
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == '"':
			p.At++
			span := p.span(start, p.At)
			return &Node{Shape: Scalar, Tag: TagText, Span: span, Text: diag.NewText(string(l.value), span, l.marks)}
		case r < 0x20:
			return p.fail("a control character stands in a string unescaped")
		case r == '\\':
			if n = scan.EscapeLen(rest); n == 0 {
				return p.fail("not an escape")
			}
			text, _ := scan.Unescape(rest[:n])
			l.escape(text, p.At)
		case r == utf8.RuneError && n == 1:
			return p.fail("byte 0x%02x is not UTF-8", rest[0])
		default:
			l.put(string(rest[:n]), p.At)
		}
		p.At += n
	}
	p.At = start
	return p.fail("a string that is not closed")
}
