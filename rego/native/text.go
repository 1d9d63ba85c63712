package native

import "strconv"

// Text is a value as Rego writes it, ast.Value's String: strings are quoted,
// objects and sets are in order, the empty set is set().
func Text(v Value) string { return string(AppendText(nil, v)) }

// AppendText appends a value's Text.
func AppendText(b []byte, v Value) []byte {
	switch x := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, x)
	case string:
		return strconv.AppendQuote(b, x)
	case int:
		return strconv.AppendInt(b, int64(x), 10)
	case float64:
		return appendFloat(b, x)
	case []Value:
		return append(appendList(append(b, '['), x), ']')
	case *Set:
		if x.Len() == 0 {
			return append(b, "set()"...)
		}
		return append(appendList(append(b, '{'), x.Elems()), '}')
	case map[string]Value, *Object:
		b = append(b, '{')
		first := true
		Each(x, func(key, value Value) bool {
			if !first {
				b = append(b, ", "...)
			}
			first = false
			b = append(AppendText(b, key), ": "...)
			b = AppendText(b, value)
			return true
		})
		return append(b, '}')
	}
	return append(b, numberText(v)...)
}

func appendList(b []byte, list []Value) []byte {
	for i, e := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = AppendText(b, e)
	}
	return b
}
