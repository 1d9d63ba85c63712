package native

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hookc/hookc/policy/scan"
)

// maxEventDepth bounds the nesting of what ParseJSON reads, as policy's
// DecodeJSON is sure to read it.
const maxEventDepth = 512

// ParseJSON reads one JSON value (RFC 8259) as the resident engine's input has
// it: whole numbers are ints and fractions float64s where that loses nothing,
// any other is a Number. It reads nothing that readers differ about: a key
// that appears twice in an object, half a surrogate pair, bytes that are no
// UTF-8, more than 512 levels and text after the value are false, as is what
// is no JSON; another reader is to say what it makes of them. The value's
// strings share one copy of text.
func ParseJSON(text []byte) (Value, bool) {
	r := newJSONReader(text)
	return r.document()
}

// jsonReader reads one JSON document.
type jsonReader struct {
	scan.Scanner
	// s is what is read, of which texts are parts.
	s string
	// longExponent is true when a number has an exponent of more than two digits.
	longExponent bool
}

func newJSONReader(text []byte) *jsonReader {
	return &jsonReader{Scanner: scan.Scanner{Data: text}, s: string(text)}
}

func (r *jsonReader) document() (Value, bool) {
	v, ok := r.value(0)
	if !ok {
		return nil, false
	}
	return v, r.End()
}

// next takes a character that must come after blanks.
//
//go:noinline
func (r *jsonReader) next(c byte) bool {
	if r.Space() != c {
		return false
	}
	r.At++
	return true
}

func (r *jsonReader) value(depth int) (Value, bool) {
	c := r.Space()
	switch c {
	case '"':
		s, ok := r.text()
		return s, ok
	case 't':
		return true, r.Word("true")
	case 'f':
		return false, r.Word("false")
	case 'n':
		return nil, r.Word("null")
	case '[', '{':
	default:
		return r.number()
	}
	if depth >= maxEventDepth {
		return nil, false
	}
	r.At++
	if c == '[' {
		return r.array(depth + 1)
	}
	return r.object(depth + 1)
}

func (r *jsonReader) number() (Value, bool) {
	start := r.At
	if !r.SkipNumber() {
		return nil, false
	}
	text := r.s[start:r.At]
	if i := strings.IndexAny(text, "eE"); i >= 0 && len(text)-i > 3 {
		r.longExponent = true
	}
	return exactNumber(text), true
}

// exactNumber is the number of a text that JSON knows for one: an int or a
// float64 if that is written back as it was.
func exactNumber(text string) Value {
	if !strings.ContainsAny(text, ".eE") && text != "-0" {
		if i, err := strconv.Atoi(text); err == nil {
			return i
		}
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		var room [32]byte
		if string(appendFloat(room[:0], f)) == text {
			return f
		}
	}
	return Number(text)
}

func (r *jsonReader) array(depth int) (Value, bool) {
	out := []Value{}
	if r.next(']') {
		return out, true
	}
	for {
		v, ok := r.value(depth)
		if !ok {
			return nil, false
		}
		out = append(out, v)
		if r.next(']') {
			return out, true
		}
		if !r.next(',') {
			return nil, false
		}
	}
}

func (r *jsonReader) object(depth int) (Value, bool) {
	out := map[string]Value{}
	if r.next('}') {
		return out, true
	}
	for {
		key, ok := r.key()
		if !ok {
			return nil, false
		}
		if _, twice := out[key]; twice {
			return nil, false
		}
		if out[key], ok = r.value(depth); !ok {
			return nil, false
		}
		if r.next('}') {
			return out, true
		}
		if !r.next(',') {
			return nil, false
		}
	}
}

// key reads a key and its colon.
func (r *jsonReader) key() (string, bool) {
	if r.Space() != '"' {
		return "", false
	}
	key, ok := r.text()
	return key, ok && r.next(':')
}

// text reads a string: a part of what is read if it stands there as it is.
func (r *jsonReader) text() (string, bool) {
	start := r.At + 1
	plain, ok := r.SkipText()
	if !ok {
		return "", false
	}
	if s := r.s[start : r.At-1]; plain && utf8.ValidString(s) {
		return s, true
	}
	return scan.Unescape(r.Data[start : r.At-1])
}
