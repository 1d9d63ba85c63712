package native

import (
	"strconv"
	"strings"

	"github.com/hookc/hookc/policy/scan"
)

// ParseJSON reads one JSON value (RFC 8259) as the resident engine's input has
// it: whole numbers are ints and fractions float64s where that loses nothing,
// any other is a Number. It reads nothing that readers differ about: a key
// that appears twice in an object, half a surrogate pair, bytes that are no
// UTF-8, more than 512 levels and text after the value are false, as is what
// is no JSON; another reader is to say what it makes of them. The value's
// strings share one copy of text.
func ParseJSON(text []byte) (Value, bool) {
	v, _, ok := readJSON(text)
	return v, ok
}

// readJSON is ParseJSON, and whether a number has an exponent of more than two
// digits.
func readJSON(data []byte) (v Value, longExponent, ok bool) {
	r := scan.Reader{Scanner: scan.Scanner{Data: data}, Shared: string(data), Number: func(b []byte) any {
		text := string(b)
		i := strings.IndexAny(text, "eE")
		longExponent = longExponent || i >= 0 && len(text)-i > 3
		return exactNumber(text)
	}}
	v, ok = r.Value(0)
	return v, longExponent, ok && r.End()
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
