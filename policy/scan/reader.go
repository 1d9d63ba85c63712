package scan

import "unicode/utf8"

// Reader makes values of JSON: nil, bool, string, numbers, []any and
// map[string]any. It says only whether it could; an object that has a key twice
// it does not take.
type Reader struct {
	Scanner
	// Shared is Data as a text, of which strings are parts; "" copies each. With it,
	// what readers differ about is not taken: half a surrogate pair, and bytes that
	// are no UTF-8.
	Shared string
	// Number makes a number of its text. Whole ones of few digits are ints.
	Number func(text []byte) any
}

// Value reads one value that is inside depth others.
func (r *Reader) Value(depth int) (any, bool) {
	switch r.Space() {
	case '{':
		return r.object(depth)
	case '[':
		return r.list(depth)
	case '"':
		return r.string()
	case 't':
		return true, r.Word("true")
	case 'f':
		return false, r.Word("false")
	case 'n':
		return nil, r.Word("null")
	}
	return r.number()
}

func (r *Reader) object(depth int) (any, bool) {
	out := map[string]any{}
	for next := r.Open(depth); ; next = r.More('}') {
		if next != Again {
			return out, next == Closed
		}
		if r.Space() != '"' {
			return nil, false
		}
		key, ok := r.string()
		if !ok || r.Space() != ':' {
			return nil, false
		}
		r.At++
		if _, twice := out[key]; twice {
			return nil, false
		}
		if out[key], ok = r.Value(depth + 1); !ok {
			return nil, false
		}
	}
}

func (r *Reader) list(depth int) (any, bool) {
	out := []any{}
	for next := r.Open(depth); ; next = r.More(']') {
		if next != Again {
			return out, next == Closed
		}
		v, ok := r.Value(depth + 1)
		if !ok {
			return nil, false
		}
		out = append(out, v)
	}
}

func (r *Reader) string() (string, bool) {
	if r.Shared == "" {
		return r.Text()
	}
	start := r.At + 1
	plain, ok := r.SkipText()
	if !ok {
		return "", false
	}
	if s := r.Shared[start : r.At-1]; plain && utf8.ValidString(s) {
		return s, true
	}
	return Unescape(r.Data[start : r.At-1])
}

func (r *Reader) number() (any, bool) {
	start := r.At
	if !r.SkipNumber() {
		return nil, false
	}
	text := r.Data[start:r.At]
	if len(text) > 15 || text[0] == '-' {
		return r.Number(text), true
	}
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' {
			return r.Number(text), true
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
