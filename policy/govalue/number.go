package govalue

import (
	"encoding/json"
	"strconv"
)

// Number is a number of a JSON text as an int or a float64 where that loses nothing,
// and as it is otherwise.
func Number(n json.Number) any {
	if i, err := strconv.Atoi(string(n)); err == nil && strconv.Itoa(i) == string(n) {
		return i
	}
	if f, err := n.Float64(); err == nil {
		if text, err := json.Marshal(f); err == nil && string(text) == string(n) {
			return f
		}
	}
	return n
}

// NumberText is the canonical text of a number, whatever Go type holds it.
func NumberText(v any) (string, bool) {
	switch n := v.(type) {
	case json.Number:
		if x := Number(n); x != any(n) {
			return NumberText(x)
		}
		return string(n), true
	case float64:
		return strconv.FormatFloat(n, 'g', -1, 64), true
	case float32:
		return NumberText(float64(n))
	case int:
		return integerText(int64(n)), true
	case int64:
		return integerText(n), true
	case int32:
		return integerText(int64(n)), true
	}
	return "", false
}

// integerText agrees with the text of the float64 of the same value wherever
// there is one.
func integerText(n int64) string {
	if f := float64(n); int64(f) == n {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return strconv.FormatInt(n, 10)
}
