package builtins

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
)

// A query is one of RFC 9535, whose $ at the start may be left out or be @.

// queryParser reads a query. After the first mistake it is at the end, so that
// every loop ends.
type queryParser struct {
	text string
	pos  int
	err  error
}

func parseQuery(text string) ([]segment, error) {
	p := &queryParser{text: text}
	if c := p.peek(); c == '$' || c == '@' {
		p.pos++
	} else if nameByte(c) {
		p.text = "." + p.text
	}
	out := p.segments()
	if p.err == nil && p.pos < len(p.text) {
		p.fail("a segment begins with . or [")
	}
	return out, p.err
}

func (p *queryParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fault.Errorf("at byte %d: %s", p.pos+1, fmt.Sprintf(format, args...))
	}
	p.pos = len(p.text)
}

// peek is the next byte, 0 at the end.
//
//go:noinline
func (p *queryParser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

// skip passes over white space.
func (p *queryParser) skip() {
	for strings.IndexByte(" \t\r\n", p.peek()) >= 0 && p.pos < len(p.text) {
		p.pos++
	}
}

// take passes over white space and a text, where it comes next.
func (p *queryParser) take(what string) bool {
	p.skip()
	if !strings.HasPrefix(p.text[p.pos:], what) {
		return false
	}
	p.pos += len(what)
	return true
}

func (p *queryParser) want(what string) {
	if !p.take(what) {
		p.fail("expected %s", what)
	}
}

func nameByte(c byte) bool {
	return c == '_' || c >= 0x80 || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// name is a run of letters, digits and _, "" where none is next.
func (p *queryParser) name() string {
	from := p.pos
	for nameByte(p.peek()) {
		p.pos++
	}
	return p.text[from:p.pos]
}

func (p *queryParser) segments() (out []segment) {
	for {
		back := p.pos
		p.skip()
		switch {
		case strings.HasPrefix(p.text[p.pos:], ".."):
			p.pos += 2
			out = append(out, segment{true, p.after()})
		case p.peek() == '.':
			p.pos++
			if p.peek() == '[' {
				p.fail("expected a name or *")
			}
			out = append(out, segment{false, p.after()})
		case p.peek() == '[':
			out = append(out, segment{false, p.after()})
		default:
			p.pos = back
			return out
		}
	}
}

// after is what follows dots: a name, * or a bracket.
func (p *queryParser) after() []selector {
	switch {
	case p.peek() == '[':
		return p.bracket()
	case p.peek() == '*':
		p.pos++
		return []selector{everyChild}
	}
	name := p.name()
	if name == "" {
		p.fail("expected a name or *")
	}
	return []selector{member(name)}
}

func (p *queryParser) bracket() (out []selector) {
	p.want("[")
	for {
		out = append(out, p.selector())
		if !p.take(",") {
			p.want("]")
			return out
		}
	}
}

func (p *queryParser) selector() selector {
	p.skip()
	switch c := p.peek(); {
	case c == '*':
		p.pos++
		return everyChild
	case c == '?':
		p.pos++
		return filtered(p.either())
	case c == '\'' || c == '"':
		return member(p.quoted())
	}
	from := p.integer()
	if !p.take(":") {
		if from == nil {
			p.fail("expected a name in quotes, an index, a slice, * or ?")
			return everyChild
		}
		return element(*from)
	}
	to := p.integer()
	var by *int
	if p.take(":") {
		by = p.integer()
	}
	return slice(from, to, by)
}

// integer is nil where none is next.
func (p *queryParser) integer() *int {
	p.skip()
	from := p.pos
	if p.peek() == '-' {
		p.pos++
	}
	for '0' <= p.peek() && p.peek() <= '9' {
		p.pos++
	}
	if p.pos == from {
		return nil
	}
	// 53 bits, so that no sum of two overflows.
	n, err := strconv.ParseInt(p.text[from:p.pos], 10, 54)
	if err != nil || int64(int(n)) != n {
		p.fail("%s is no index", p.text[from:p.pos])
		return nil
	}
	i := int(n)
	return &i
}

// quoted is a text in single or double quotes with the escapes of JSON, and of
// its quote.
func (p *queryParser) quoted() string {
	quote := p.peek()
	inJSON := []byte{'"'}
	for p.pos++; p.pos < len(p.text); p.pos++ {
		switch c := p.text[p.pos]; {
		case c == quote:
			p.pos++
			var out string
			if err := json.Unmarshal(append(inJSON, '"'), &out); err != nil {
				p.fail("a text in quotes has the escapes of JSON")
			}
			return out
		case c == '"':
			inJSON = append(inJSON, '\\', '"')
		case c == '\\' && p.pos+1 < len(p.text):
			p.pos++
			if p.text[p.pos] != '\'' || quote != '\'' {
				inJSON = append(inJSON, '\\')
			}
			inJSON = append(inJSON, p.text[p.pos])
		default:
			inJSON = append(inJSON, c)
		}
	}
	p.fail("expected %c", quote)
	return ""
}

func (p *queryParser) either() test {
	holds := p.both()
	for p.take("||") {
		left, right := holds, p.both()
		holds = func(s *search, v any) bool { return left(s, v) || right(s, v) }
	}
	return holds
}

func (p *queryParser) both() test {
	holds := p.condition()
	for p.take("&&") {
		left, right := holds, p.condition()
		holds = func(s *search, v any) bool { return left(s, v) && right(s, v) }
	}
	return holds
}

func (p *queryParser) condition() test {
	if p.take("!") {
		holds := p.condition()
		return func(s *search, v any) bool { return !holds(s, v) }
	}
	if p.take("(") {
		holds := p.either()
		p.want(")")
		return holds
	}
	for _, name := range []string{"match", "search"} {
		if p.take(name + "(") {
			of, _ := p.operand()
			p.want(",")
			pattern, _ := p.operand()
			p.want(")")
			return matched(name == "search", of, pattern)
		}
	}
	left, exists := p.operand()
	for _, op := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if p.take(op) {
			right, _ := p.operand()
			return compared(op, left, right)
		}
	}
	if exists == nil {
		p.fail("expected a comparison")
	}
	return exists
}

// literals are the values that have names.
var literals = map[string]any{"true": true, "false": false, "null": nil}

// operand is a side of a comparison. Where it is a query, it is also the test
// whether that selects anything.
func (p *queryParser) operand() (operand, test) {
	p.skip()
	start := p.pos
	switch c := p.peek(); {
	case c == '@' || c == '$':
		q := p.query()
		return q.only, func(s *search, v any) bool { return q.count(s, v, 1) > 0 }
	case c == '\'' || c == '"':
		return literal(p.quoted()), nil
	case c == '-' || '0' <= c && c <= '9':
		for strings.IndexByte("+-.0123456789eE", p.peek()) >= 0 && p.pos < len(p.text) {
			p.pos++
		}
		var n json.Number
		if json.Unmarshal([]byte(p.text[start:p.pos]), &n) != nil {
			p.fail("%s is no number", p.text[start:p.pos])
		}
		return literal(n), nil
	}
	name := p.name()
	if value, ok := literals[name]; ok {
		return literal(value), nil
	}
	if !lists.Has([]string{"length", "count", "value"}, name) {
		p.pos = start
		p.fail("expected @, $, a value, or one of the functions length, count, match, search and value")
		return literal(nil), nil
	}
	p.want("(")
	defer p.want(")")
	if name == "length" {
		of, _ := p.operand()
		return length(of), nil
	}
	p.skip()
	q := p.query()
	if name == "value" {
		return q.only, nil
	}
	return func(s *search, v any) (any, bool) { return q.count(s, v, maxVisited), true }, nil
}

//go:noinline
func literal(v any) operand { return func(*search, any) (any, bool) { return v, true } }

// query is one within a filter.
func (p *queryParser) query() query {
	root := p.peek()
	if root != '@' && root != '$' {
		p.fail("expected @ or $")
		return query{}
	}
	p.pos++
	return query{root == '$', p.segments()}
}
