package table

import "github.com/hookc/hookc/policy/scan"

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
type scanner struct{ scan.Scanner }

func newScanner(data []byte) scanner { return scanner{scan.Scanner{Data: data}} }

// object reads a text that is one object and nothing else.
func object(data []byte, keep []member) ([]member, bool) {
	s := newScanner(data)
	if s.Space() != '{' {
		return nil, false
	}
	keep, ok := s.members(0, keep[:0], true)
	if !ok {
		return nil, false
	}
	s.Space()
	return keep, s.At == len(data)
}

// members reads an object from its brace on.
func (s *scanner) members(depth int, keep []member, keeping bool) ([]member, bool) {
	var seen [maxMembers]uint64
	s.At++
	if s.Space() == '}' {
		s.At++
		return keep, true
	}
	for n := 0; n < maxMembers; n++ {
		if s.Space() != '"' {
			return nil, false
		}
		start := s.At
		if _, ok := s.SkipText(); !ok {
			return nil, false
		}
		key, ok := Value{s.Data[start:s.At]}.plain()
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
		if s.Space() != ':' {
			return nil, false
		}
		s.At++
		s.Space()
		start = s.At
		if !s.value(depth + 1) {
			return nil, false
		}
		if keeping {
			keep = append(keep, member{key, Value{s.Data[start:s.At]}})
		}
		switch s.Space() {
		case ',':
			s.At++
		case '}':
			s.At++
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
	switch s.Space() {
	case '{':
		_, ok := s.members(depth, nil, false)
		return ok
	case '[':
		return s.list(depth)
	case '"':
		_, ok := s.SkipText()
		return ok
	case 't':
		return s.Word("true")
	case 'f':
		return s.Word("false")
	case 'n':
		return s.Word("null")
	}
	return s.SkipNumber()
}

func (s *scanner) list(depth int) bool {
	s.At++
	if s.Space() == ']' {
		s.At++
		return true
	}
	for {
		if !s.value(depth + 1) {
			return false
		}
		switch s.Space() {
		case ',':
			s.At++
		case ']':
			s.At++
			return true
		default:
			return false
		}
	}
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
			if i == len(body) || scan.Escaped(body[i]) == 0 {
				return nil, false
			}
			out = append(out, scan.Escaped(body[i]))
		}
	}
	return out, true
}
