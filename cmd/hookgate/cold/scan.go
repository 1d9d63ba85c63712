package cold

import "github.com/hookc/hookc/policy/digits"

// The bounds of an event the gate reads itself; hookc reads larger ones.
const (
	maxDepth   = 64
	maxMembers = 64
)

// Value is a value of an event: its text as it stands there, of which the
// first byte tells the type. The zero Value is an absent one.
type Value struct{ text []byte }

func (v Value) kind() byte {
	if len(v.text) == 0 {
		return 0
	}
	return v.text[0]
}

// null reports whether a value is absent or null.
func (v Value) null() bool { return len(v.text) == 0 || v.text[0] == 'n' }

// plain is the text of a string of ASCII without escapes.
func (v Value) plain() ([]byte, bool) {
	n := len(v.text)
	if n < 2 || v.text[0] != '"' {
		return nil, false
	}
	body := v.text[1 : n-1]
	for _, c := range body {
		if c == '\\' || c >= 0x80 {
			return nil, false
		}
	}
	return body, true
}

// of reports whether a value is of a type of fields.
func (v Value) of(kind int) bool {
	switch c := v.kind(); kind {
	case TypeString:
		return c == '"'
	case TypeNumber:
		return c == '-' || c >= '0' && c <= '9'
	case TypeBool:
		return c == 't' || c == 'f'
	case TypeObject:
		return c == '{'
	case TypeList:
		return c == '['
	}
	return true
}

// member is one key of an object and its value.
type member struct {
	key   []byte
	value Value
}

// scanner checks a JSON text in full and keeps the members of one object. It
// takes no text that policy.DecodeJSON does not: keys are ASCII without
// escapes, and none is there twice in one object.
type scanner struct {
	data []byte
	at   int
}

// object reads a text that is one object and nothing else.
func object(data []byte, keep []member) ([]member, bool) {
	s := scanner{data: data}
	if s.space() != '{' {
		return nil, false
	}
	keep, ok := s.members(0, keep[:0], true)
	if !ok {
		return nil, false
	}
	s.space()
	return keep, s.at == len(data)
}

// space skips white space and returns the byte that follows, 0 at the end.
func (s *scanner) space() byte {
	for s.at < len(s.data) {
		c := s.data[s.at]
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
		s.at++
	}
	return 0
}

// members reads an object from its brace on.
func (s *scanner) members(depth int, keep []member, keeping bool) ([]member, bool) {
	var seen [maxMembers]uint64
	s.at++
	if s.space() == '}' {
		s.at++
		return keep, true
	}
	for n := 0; n < maxMembers; n++ {
		if s.space() != '"' {
			return nil, false
		}
		start := s.at
		if !s.text() {
			return nil, false
		}
		key, ok := Value{s.data[start:s.at]}.plain()
		if !ok {
			return nil, false
		}
		sum := hash(key)
		for _, other := range seen[:n] {
			if other == sum {
				return nil, false
			}
		}
		seen[n] = sum
		if s.space() != ':' {
			return nil, false
		}
		s.at++
		s.space()
		start = s.at
		if !s.value(depth + 1) {
			return nil, false
		}
		if keeping {
			keep = append(keep, member{key, Value{s.data[start:s.at]}})
		}
		switch s.space() {
		case ',':
			s.at++
		case '}':
			s.at++
			return keep, true
		default:
			return nil, false
		}
	}
	return nil, false
}

func hash(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// value reads one value.
func (s *scanner) value(depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch s.space() {
	case '{':
		_, ok := s.members(depth, nil, false)
		return ok
	case '[':
		return s.list(depth)
	case '"':
		return s.text()
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

func (s *scanner) word(w string) bool {
	if len(s.data)-s.at < len(w) || string(s.data[s.at:s.at+len(w)]) != w {
		return false
	}
	s.at += len(w)
	return true
}

func (s *scanner) list(depth int) bool {
	s.at++
	if s.space() == ']' {
		s.at++
		return true
	}
	for {
		if !s.value(depth + 1) {
			return false
		}
		switch s.space() {
		case ',':
			s.at++
		case ']':
			s.at++
			return true
		default:
			return false
		}
	}
}

// text passes over a string, eight bytes at a time where they are ordinary.
func (s *scanner) text() bool {
	data, i := s.data, s.at+1
	for {
		for len(data)-i >= 8 && ordinary(data[i:i+8]) {
			i += 8
		}
		if i >= len(data) {
			return false
		}
		switch c := data[i]; {
		case c == '"':
			s.at = i + 1
			return true
		case c < ' ':
			return false
		case c != '\\':
			i++
		case i+1 >= len(data):
			return false
		case data[i+1] != 'u':
			if escaped(data[i+1]) == 0 {
				return false
			}
			i += 2
		case len(data)-i < 6 || !hex(data[i+2:i+6]):
			return false
		default:
			i += 6
		}
	}
}

// ordinary reports whether eight bytes hold no quote, backslash or control
// character.
func ordinary(b []byte) bool {
	_ = b[7]
	w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	return ((quote-ones)&^quote|(slash-ones)&^slash|(w-ones*' ')&^w)&tops == 0
}

func hex(b []byte) bool {
	for _, c := range b {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return false
		}
	}
	return true
}

// escaped is what a short escape stands for, 0 for none.
func escaped(c byte) byte {
	switch c {
	case '"', '\\', '/':
		return c
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return 0
}

// ascii appends the text of a string; false when it holds anything but ASCII,
// or an escape by number.
func (v Value) ascii(out []byte) ([]byte, bool) {
	n := len(v.text)
	if n < 2 || v.text[0] != '"' {
		return nil, false
	}
	body := v.text[1 : n-1]
	for i := 0; i < len(body); i++ {
		c := body[i]
		switch {
		case c >= 0x80:
			return nil, false
		case c != '\\':
			out = append(out, c)
		default:
			i++
			if i == len(body) || escaped(body[i]) == 0 {
				return nil, false
			}
			out = append(out, escaped(body[i]))
		}
	}
	return out, true
}

func (s *scanner) peek() byte {
	if s.at < len(s.data) {
		return s.data[s.at]
	}
	return 0
}

// number passes over a number that has not too many digits.
func (s *scanner) number() bool {
	start := s.at
	return s.numeral() && !digits.Long(s.data[start:s.at])
}

func (s *scanner) numeral() bool {
	if s.peek() == '-' {
		s.at++
	}
	switch c := s.peek(); {
	case c == '0':
		s.at++
	case !s.digits():
		return false
	}
	if s.peek() == '.' {
		s.at++
		if !s.digits() {
			return false
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.at++
		if c := s.peek(); c == '+' || c == '-' {
			s.at++
		}
		return s.digits()
	}
	return true
}

// digits passes over one digit or more.
func (s *scanner) digits() bool {
	start := s.at
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.at++
	}
	return s.at > start
}
