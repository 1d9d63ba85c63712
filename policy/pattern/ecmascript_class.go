package pattern

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf16"

	"github.com/hookc/hookc/internal/lists"
)

func utf16Decode(in []rune) []rune {
	out := make([]uint16, len(in))
	for i, r := range in {
		out[i] = uint16(r)
	}
	return utf16.Decode(out)
}

// span is a range of code units, both ends included.
type jsSpan struct{ from, to rune }

// jsSet is a set of code units.
type jsSet struct {
	not   bool
	parts []jsSpan
}

var (
	jsDigits = []jsSpan{{'0', '9'}}
	jsWords  = []jsSpan{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	jsLines  = []jsSpan{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}
	jsSpaces = []jsSpan{{'\t', '\r'}, {' ', ' '}, {0xA0, 0xA0}, {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029},
		{0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}}
)

const lastUnit = 0xFFFF

// spans are the members in order, apart from each other, `not` worked out.
func (s jsSet) spans() []jsSpan {
	all := lists.Copy(s.parts)
	sort.Slice(all, func(i, j int) bool { return all[i].from < all[j].from })
	var out []jsSpan
	for _, p := range all {
		if n := len(out); n > 0 && p.from <= out[n-1].to+1 {
			out[n-1].to = max(out[n-1].to, p.to)
			continue
		}
		out = append(out, p)
	}
	if !s.not {
		return out
	}
	var rest []jsSpan
	next := rune(0)
	for _, p := range out {
		if p.from > next {
			rest = append(rest, jsSpan{next, p.from - 1})
		}
		next = p.to + 1
	}
	if next <= lastUnit {
		rest = append(rest, jsSpan{next, lastUnit})
	}
	return rest
}

// write writes the set for both engines: RE2 sees ASCII texts only.
func (s jsSet) write() jsRegexp {
	all := s.spans()
	if len(all) == 0 {
		return jsRegexp{linear: `[^\x00-\x{10FFFF}]`, full: "(?!)"}
	}
	var linear, full strings.Builder
	for _, p := range all {
		fmt.Fprintf(&full, `\u%04X-\u%04X`, p.from, p.to)
		if p.from < 0x80 {
			fmt.Fprintf(&linear, `\x%02X-\x%02X`, p.from, min(p.to, 0x7F))
		}
	}
	out := jsRegexp{linear: `[^\x00-\x{10FFFF}]`, full: "[" + full.String() + "]"}
	if linear.Len() > 0 {
		out.linear = "[" + linear.String() + "]"
	}
	return out
}

func jsLiteral(r rune) jsRegexp { return jsSet{parts: []jsSpan{{r, r}}}.write() }

// class reads a class after its bracket.
func (p *jsParser) class(start int) jsRegexp {
	set := jsSet{not: p.take("^")}
	for p.failed == nil && !p.take("]") {
		if !p.more() {
			return p.fail(start, "unterminated character class")
		}
		begin := p.at
		first, single := p.member()
		if p.peek(0) != '-' || p.peek(1) == ']' || p.peek(1) == -1 {
			set.parts = append(set.parts, first...)
			continue
		}
		p.at++
		last, alone := p.member()
		switch {
		case p.failed != nil:
		case !single || !alone: // Annex B: the hyphen is one of the members
			set.parts = append(append(append(set.parts, first...), jsSpan{'-', '-'}), last...)
		case first[0].from > last[0].from:
			return p.fail(begin, "range out of order in character class")
		default:
			set.parts = append(set.parts, jsSpan{first[0].from, last[0].from})
		}
	}
	return set.write()
}

// member reads one member of a class; single is false for a class of its own.
func (p *jsParser) member() (parts []jsSpan, single bool) {
	if !p.take(`\`) {
		p.at++
		return []jsSpan{{p.text[p.at-1], p.text[p.at-1]}}, true
	}
	if !p.more() {
		p.fail(p.at-1, `\ at end of pattern`)
		return nil, false
	}
	if set, ok := p.classEscape(); ok {
		return set.spans(), false
	}
	if p.take("b") {
		return []jsSpan{{'\b', '\b'}}, true
	}
	if n := p.peek(1); p.peek(0) == 'c' && (n == '_' || n >= '0' && n <= '9') {
		p.at += 2
		return []jsSpan{{n % 32, n % 32}}, true
	}
	r := p.character()
	return []jsSpan{{r, r}}, true
}

// classEscape reads d, D, s, S, w or W.
func (p *jsParser) classEscape() (jsSet, bool) {
	set := jsSet{}
	switch p.peek(0) {
	case 'd', 'D':
		set.parts = jsDigits
	case 's', 'S':
		set.parts = jsSpaces
	case 'w', 'W':
		set.parts = jsWords
	default:
		return set, false
	}
	set.not = p.peek(0) < 'a'
	p.at++
	return set, true
}

// escape reads what follows a backslash outside a class.
func (p *jsParser) escape(start int) jsRegexp {
	if !p.more() {
		return p.fail(start, `\ at end of pattern`)
	}
	if set, ok := p.classEscape(); ok {
		return set.write()
	}
	r := p.peek(0)
	if r == 'k' && len(p.names) > 0 {
		return p.named(start)
	}
	if r >= '1' && r <= '9' {
		n, size := 0, 0
		for d := p.peek(0); d >= '0' && d <= '9' && n <= p.groups; d = p.peek(size) {
			n, size = n*10+int(d-'0'), size+1
		}
		if n <= p.groups {
			p.at += size
			return jsReference(n)
		}
	}
	return jsLiteral(p.character())
}

// named reads k<name> where some group has a name.
func (p *jsParser) named(start int) jsRegexp {
	if !p.take("k<") {
		return p.fail(start, "invalid named reference")
	}
	end := slices.Index(p.text[p.at:], '>')
	if end < 0 {
		return p.fail(start, "invalid named reference")
	}
	n, ok := p.names[string(p.text[p.at:p.at+end])]
	if !ok {
		return p.fail(start, "invalid named capture referenced")
	}
	p.at += end + 1
	return jsReference(n)
}

// jsReference is a backreference: to a group that took no part it is nothing.
func jsReference(n int) jsRegexp {
	return jsRegexp{full: fmt.Sprintf(`(?:(?(%d)\%d))`, n, n), hard: true}
}

// character reads an escape that means one code unit.
func (p *jsParser) character() rune {
	r := p.peek(0)
	p.at++
	switch r {
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'v':
		return '\v'
	case 'c':
		if c := p.peek(0); c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			p.at++
			return c % 32
		}
		p.at-- // the backslash means itself
		return '\\'
	case 'x':
		return p.hex(2, r)
	case 'u':
		return p.hex(4, r)
	}
	if r >= '0' && r <= '7' {
		return p.octal(r)
	}
	return r
}

// hex reads n digits, or nothing where there are fewer.
func (p *jsParser) hex(n int, letter rune) rune {
	var out rune
	for i := range n {
		d := strings.IndexRune("0123456789abcdef", p.peek(i)|0x20)
		if p.peek(i) < '0' || d < 0 {
			return letter
		}
		out = out*16 + rune(d)
	}
	p.at += n
	return out
}

// octal reads the rest of an octal escape up to 377.
func (p *jsParser) octal(first rune) rune {
	out := first - '0'
	for d := p.peek(0); d >= '0' && d <= '7' && out*8+d-'0' <= 0o377; d = p.peek(0) {
		out = out*8 + d - '0'
		p.at++
	}
	return out
}
