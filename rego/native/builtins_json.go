package native

import (
	"strconv"
	"unicode/utf8"
)

var jsonBuiltins = []own{
	{"json.marshal", 1, func() Builtin { return marshalJSON }},
	{"json.unmarshal", 1, func() Builtin { return onText(unmarshalJSON) }},
	{"json.is_valid", 1, func() Builtin { return validJSON }},
}

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
	r := jsonReader{s: s, limit: maxNested}
	_, ok = r.document()
	if r.deep {
		return bail()
	}
	return ok, true, nil
}

func unmarshalJSON(s string) (Value, bool, error) {
	r := jsonReader{s: s, limit: maxNested}
	v, ok := r.document()
	if !ok || r.odd {
		return bail()
	}
	return v, true, nil
}
