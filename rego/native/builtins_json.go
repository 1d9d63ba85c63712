package native

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

var _ = register(1, map[string]Builtin{
	"json.marshal":   marshalJSON,
	"json.unmarshal": onText(unmarshalJSON),
	"json.is_valid":  validJSON,
})

// maxNested bounds JSON that is written and read here; OPA's decoder goes deeper.
const maxNested = 500

// marshalJSON writes what encoding/json writes: keys in order, sets as arrays,
// <, > and & escaped. Keys that are no strings are left to OPA.
func marshalJSON(_ *Call, args []Value) (Value, bool, error) {
	b, ok := appendJSON(make([]byte, 0, 64), args[0], maxNested)
	if !ok {
		return bail()
	}
	return string(b), true, nil
}

func appendJSON(b []byte, v Value, depth int) ([]byte, bool) {
	if depth == 0 {
		return b, false
	}
	switch x := v.(type) {
	case nil:
		return append(b, "null"...), true
	case bool:
		return strconv.AppendBool(b, x), true
	case string:
		return appendJSONText(b, x), true
	case int:
		return strconv.AppendInt(b, int64(x), 10), true
	case []Value:
		return appendJSONList(b, x, depth)
	case *Set:
		return appendJSONList(b, x.Elems(), depth)
	case map[string]Value, *Object:
		return appendJSONObject(b, x, depth)
	}
	text := numberText(v)
	return append(b, text...), numberEnd(text, 0) == len(text)
}

func appendJSONList(b []byte, list []Value, depth int) ([]byte, bool) {
	ok := true
	b = append(b, '[')
	for i, e := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, ok = appendJSON(b, e, depth-1); !ok {
			return b, false
		}
	}
	return append(b, ']'), true
}

func appendJSONObject(b []byte, o Value, depth int) ([]byte, bool) {
	ok, first := true, true
	b = append(b, '{')
	Each(o, func(k, v Value) bool {
		name, text := k.(string)
		if !text {
			ok = false
			return false
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(appendJSONText(b, name), ':')
		b, ok = appendJSON(b, v, depth-1)
		return ok
	})
	return append(b, '}'), ok
}

func appendJSONText(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == '"' || c == '\\':
				b = append(b, '\\', c)
			case c == '\b':
				b = append(b, `\b`...)
			case c == '\f':
				b = append(b, `\f`...)
			case c == '\n':
				b = append(b, `\n`...)
			case c == '\r':
				b = append(b, `\r`...)
			case c == '\t':
				b = append(b, `\t`...)
			case c < ' ' || c == '<' || c == '>' || c == '&':
				b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			default:
				b = append(b, c)
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(b, `\ufffd`...)
		case r == '\u2028' || r == '\u2029':
			b = append(append(b, `\u202`...), hex[r&15])
		default:
			b = append(b, s[i:i+n]...)
		}
		i += n
	}
	return append(b, '"')
}

// validJSON is false of a text that is no JSON, and of what is no text.
func validJSON(_ *Call, args []Value) (Value, bool, error) {
	s, ok := args[0].(string)
	if !ok {
		return false, true, nil
	}
	r := jsonReader{s: s}
	_, ok = r.document()
	if r.deep {
		return bail()
	}
	return ok, true, nil
}

func unmarshalJSON(s string) (Value, bool, error) {
	r := jsonReader{s: s}
	v, ok := r.document()
	if !ok || r.odd {
		return bail()
	}
	return v, true, nil
}

// jsonReader reads one JSON document. Odd says that a number in it may be
// beyond OPA's, deep that it is nested too deep to say anything.
type jsonReader struct {
	s     string
	at    int
	depth int
	odd   bool
	deep  bool
}

func (r *jsonReader) document() (Value, bool) {
	v, ok := r.value()
	r.space()
	return v, ok && r.at == len(r.s)
}

func (r *jsonReader) space() {
	for r.at < len(r.s) {
		switch r.s[r.at] {
		case ' ', '\t', '\r', '\n':
			r.at++
		default:
			return
		}
	}
}

// next takes a character that must come after blanks.
func (r *jsonReader) next(c byte) bool {
	r.space()
	if r.at < len(r.s) && r.s[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *jsonReader) value() (Value, bool) {
	r.space()
	if r.at == len(r.s) {
		return nil, false
	}
	switch r.s[r.at] {
	case '"':
		return r.boxed()
	case '[', '{':
		if r.depth++; r.depth > maxNested {
			r.deep = true
			return nil, false
		}
		defer func() { r.depth-- }()
		if r.s[r.at] == '[' {
			return r.array()
		}
		return r.object()
	case 't':
		return true, r.word("true")
	case 'f':
		return false, r.word("false")
	case 'n':
		return nil, r.word("null")
	}
	return r.number()
}

func (r *jsonReader) word(w string) bool {
	if len(r.s)-r.at < len(w) || r.s[r.at:r.at+len(w)] != w {
		return false
	}
	r.at += len(w)
	return true
}

func (r *jsonReader) number() (Value, bool) {
	end := numberEnd(r.s, r.at)
	if end < 0 {
		return nil, false
	}
	text := r.s[r.at:end]
	r.at = end
	for i := range len(text) {
		if text[i]|0x20 == 'e' && len(text)-i > 4 {
			r.odd = true
		}
	}
	return numberOf(text), true
}

func (r *jsonReader) array() (Value, bool) {
	r.at++
	out := []Value{}
	if r.next(']') {
		return out, true
	}
	for {
		v, ok := r.value()
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

func (r *jsonReader) object() (Value, bool) {
	r.at++
	out := map[string]Value{}
	if r.next('}') {
		return out, true
	}
	for {
		r.space()
		if r.at == len(r.s) || r.s[r.at] != '"' {
			return nil, false
		}
		key, ok := r.text()
		if !ok || !r.next(':') {
			return nil, false
		}
		if out[key], ok = r.value(); !ok {
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

func (r *jsonReader) boxed() (Value, bool) {
	s, ok := r.text()
	return s, ok
}

// text reads a string. Bytes that are no UTF-8, and halves of surrogates, are
// read as U+FFFD.
func (r *jsonReader) text() (string, bool) {
	r.at++
	begin := r.at
	for r.at < len(r.s) {
		switch c := r.s[r.at]; {
		case c == '"':
			s := r.s[begin:r.at]
			r.at++
			return s, true
		case c < ' ':
			return "", false
		case c == '\\' || c >= utf8.RuneSelf:
			return r.escaped([]byte(r.s[begin:r.at]))
		}
		r.at++
	}
	return "", false
}

func (r *jsonReader) escaped(b []byte) (string, bool) {
	for r.at < len(r.s) {
		switch c := r.s[r.at]; {
		case c == '"':
			r.at++
			return string(b), true
		case c < ' ':
			return "", false
		case c == '\\':
			var ok bool
			if b, ok = r.escape(b); !ok {
				return "", false
			}
		case c < utf8.RuneSelf:
			b = append(b, c)
			r.at++
		default:
			char, n := utf8.DecodeRuneInString(r.s[r.at:])
			b = utf8.AppendRune(b, char)
			r.at += n
		}
	}
	return "", false
}

func (r *jsonReader) escape(b []byte) ([]byte, bool) {
	if r.at++; r.at == len(r.s) {
		return b, false
	}
	c := r.s[r.at]
	r.at++
	switch c {
	case '"', '\\', '/':
		return append(b, c), true
	case 'b':
		return append(b, '\b'), true
	case 'f':
		return append(b, '\f'), true
	case 'n':
		return append(b, '\n'), true
	case 'r':
		return append(b, '\r'), true
	case 't':
		return append(b, '\t'), true
	case 'u':
		return r.unicode(b)
	}
	return b, false
}

func (r *jsonReader) unicode(b []byte) ([]byte, bool) {
	char, ok := r.hex4(r.at)
	if !ok {
		return b, false
	}
	r.at += 4
	if utf16.IsSurrogate(char) {
		if r.at+1 < len(r.s) && r.s[r.at] == '\\' && r.s[r.at+1] == 'u' {
			low, ok := r.hex4(r.at + 2)
			if pair := utf16.DecodeRune(char, low); ok && pair != utf8.RuneError {
				r.at += 6
				return utf8.AppendRune(b, pair), true
			}
		}
		char = utf8.RuneError
	}
	return utf8.AppendRune(b, char), true
}

func (r *jsonReader) hex4(at int) (rune, bool) {
	if at+4 > len(r.s) {
		return 0, false
	}
	var char rune
	for i := at; i < at+4; i++ {
		d, ok := hexDigit(r.s[i])
		if !ok {
			return 0, false
		}
		char = char<<4 | rune(d)
	}
	return char, true
}
