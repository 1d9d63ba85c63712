package policy

import (
	"encoding/json"

	"github.com/hookc/hookc/policy/govalue"
	"github.com/hookc/hookc/policy/scan"
)

// scanner reads JSON in one pass. It takes exactly what decodeSlowly takes,
// with the same values, and says only whether it could: what is wrong with a
// text is said by decodeSlowly.
type scanner struct{ scan.Scanner }

func newScanner(data []byte) scanner { return scanner{scan.Scanner{Data: data}} }

// value reads one value; of repeated keys it takes none.
func (s *scanner) value(depth int) (any, bool) {
	switch c := s.Space(); c {
	case '{':
		return s.object(depth)
	case '[':
		return s.list(depth)
	case '"':
		return s.Text()
	case 't':
		return true, s.Word("true")
	case 'f':
		return false, s.Word("false")
	case 'n':
		return nil, s.Word("null")
	}
	return s.number()
}

func (s *scanner) object(depth int) (any, bool) {
	out := map[string]any{}
	for next := s.Open(depth); ; next = s.More('}') {
		if next != scan.Again {
			return out, next == scan.Closed
		}
		key, ok := s.key()
		if !ok {
			return nil, false
		}
		if _, twice := out[key]; twice {
			return nil, false
		}
		if out[key], ok = s.value(depth + 1); !ok {
			return nil, false
		}
	}
}

func (s *scanner) list(depth int) (any, bool) {
	out := []any{}
	for next := s.Open(depth); ; next = s.More(']') {
		if next != scan.Again {
			return out, next == scan.Closed
		}
		v, ok := s.value(depth + 1)
		if !ok {
			return nil, false
		}
		out = append(out, v)
	}
}

// key reads a key and its colon.
func (s *scanner) key() (string, bool) {
	if s.Space() != '"' {
		return "", false
	}
	key, ok := s.Text()
	if !ok || s.Space() != ':' {
		return "", false
	}
	s.At++
	return key, true
}

// number reads a number; one of few digits is an int without further ado.
func (s *scanner) number() (any, bool) {
	start := s.At
	if !s.SkipNumber() {
		return nil, false
	}
	text := s.Data[start:s.At]
	if len(text) <= 15 && text[0] != '-' {
		n := 0
		for _, c := range text {
			if c < '0' {
				return govalue.Number(json.Number(text)), true
			}
			if c > '9' {
				return govalue.Number(json.Number(text)), true
			}
			n = n*10 + int(c-'0')
		}
		return n, true
	}
	return govalue.Number(json.Number(text)), true
}
