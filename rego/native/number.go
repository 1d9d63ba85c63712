package native

import (
	"math"
	"strconv"
	"strings"

	"github.com/hookc/hookc/internal/spell"
)

// exact is the largest integer up to which float64s hold every integer, and
// the shortest text of an integral float64 is the integer itself.
const exact = 1 << 53

// maxExponent bounds the decimal exponent of a number that is compared. OPA
// refuses binary exponents beyond 1e5.
const maxExponent = 30000

// compareNumbers is OPA's NumberCompare of the numbers' texts.
func compareNumbers(a, b Value) int {
	switch x := a.(type) {
	case int:
		switch y := b.(type) {
		case int:
			return order(x, y)
		case float64:
			if within(x) && math.Abs(y) <= exact {
				return order(float64(x), y)
			}
		}
	case float64:
		switch y := b.(type) {
		case float64:
			// Shortest texts order as what they mean.
			if x-x == 0 && y-y == 0 {
				return order(x, y)
			}
		case int:
			if within(y) && math.Abs(x) <= exact {
				return order(x, float64(y))
			}
		}
	}
	return compareTexts(numberText(a), numberText(b))
}

func within(i int) bool { return i >= -exact && i <= exact }

// numberText is a number as Rego writes it.
func numberText(v Value) string {
	switch x := v.(type) {
	case int:
		return strconv.Itoa(x)
	case float64:
		return string(appendFloat(nil, x))
	case Number:
		return string(x)
	case written:
		return x.String()
	}
	panic(bailout{})
}

// appendFloat writes a float64 as encoding/json does.
func appendFloat(b []byte, f float64) []byte {
	if f-f != 0 {
		panic(bailout{}) // an infinity, or no number
	}
	abs := math.Abs(f)
	if abs == 0 || abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	// e-09 is written e-9.
	if n := len(b); n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' {
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}

// integer reads a text as OPA's util.Atoi64 does: digits, with zeros behind
// the point if there is one, at most nineteen characters.
func integer(s string) (int64, bool) {
	negative := s != "" && s[0] == '-'
	if negative || s != "" && s[0] == '+' {
		s = s[1:]
	}
	if s == "" || len(s) > 19 {
		return 0, false
	}
	whole, zeros, _ := spell.Cut(s, ".")
	if strings.Trim(zeros, "0") != "" {
		return 0, false
	}
	var n int64
	for i := range len(whole) {
		c := whole[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	if negative {
		return -n, -n <= 0
	}
	return n, n >= 0
}

// position is an index into an array, as OPA reads one: 1.0 is 1.
func position(v Value) (int64, bool) {
	switch x := v.(type) {
	case int:
		return int64(x), true
	case float64:
		return integer(numberText(x))
	case Number:
		return integer(string(x))
	case written:
		return integer(x.String())
	}
	return 0, false
}

func compareTexts(x, y string) int {
	if x == y {
		return 0
	}
	if i, ok := integer(x); ok {
		if j, ok := integer(y); ok {
			return order(i, j)
		}
	}
	a, b := parseDecimal(x), parseDecimal(y)
	// Two fractions that are one float64 are one number, unless both are so
	// short that they are compared as they stand.
	if !(a.short() && b.short()) && fraction(x) && fraction(y) {
		f, err1 := strconv.ParseFloat(x, 64)
		g, err2 := strconv.ParseFloat(y, 64)
		if err1 == nil && err2 == nil && f == g {
			return 0
		}
	}
	return a.compare(b)
}

// fraction reports whether a text is one that OPA takes for no integer.
func fraction(s string) bool {
	trimmed := strings.TrimRight(s, ".0")
	return trimmed != s && strings.IndexByte(trimmed, '.') >= 0
}

// decimal is a number by its digits: sign, digits without leading zeros (they
// may hold the point), and the decimal place of the first of them.
type decimal struct {
	digits   string
	count    int // how many digits there are, trailing zeros included
	lead     int
	exponent int // how many characters the exponent has
	neg      bool
}

func parseDecimal(s string) decimal {
	var d decimal
	if s != "" && (s[0] == '-' || s[0] == '+') {
		d.neg = s[0] == '-'
		s = s[1:]
	}
	mantissa, exponent := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa = s[:i]
		n, err := strconv.Atoi(s[i+1:])
		if err != nil || n > maxExponent || n < -maxExponent {
			panic(bailout{})
		}
		exponent, d.exponent = n, len(strings.TrimLeft(s[i+1:], "+-"))
	}
	point := len(mantissa)
	seen := false
	first := -1
	for i := range len(mantissa) {
		switch c := mantissa[i]; {
		case c == '.' && point == len(mantissa):
			point = i
		case c < '0' || c > '9':
			panic(bailout{})
		default:
			seen = true
			if c != '0' && first < 0 {
				first = i
			}
			if first >= 0 {
				d.count++
			}
		}
	}
	if !seen {
		panic(bailout{})
	}
	if first < 0 {
		return decimal{}
	}
	d.digits = mantissa[first:]
	d.lead = exponent + point - first
	if first > point {
		d.lead++
	}
	return d
}

// short reports whether OPA compares the digits rather than the float64.
func (d decimal) short() bool {
	return d.count == 0 || d.count <= 15 && d.exponent <= 9 && d.lead <= 300 && d.lead >= -300
}

func (d decimal) compare(o decimal) int {
	var c int
	switch {
	case d.count == 0 && o.count == 0:
		return 0
	case d.count == 0:
		return sign(!o.neg)
	case o.count == 0, d.neg != o.neg:
		return sign(d.neg)
	case d.lead != o.lead:
		c = order(d.lead, o.lead)
	default:
		c = compareDigits(d.digits, o.digits)
	}
	if d.neg {
		return -c
	}
	return c
}

func sign(negative bool) int {
	if negative {
		return -1
	}
	return 1
}

// compareDigits compares digits of which the first stand at one place.
func compareDigits(a, b string) int {
	for i, j := 0, 0; i < len(a) || j < len(b); i, j = i+1, j+1 {
		if i < len(a) && a[i] == '.' {
			i++
		}
		if j < len(b) && b[j] == '.' {
			j++
		}
		x, y := byte('0'), byte('0')
		if i < len(a) {
			x = a[i]
		}
		if j < len(b) {
			y = b[j]
		}
		if x != y {
			return order(int(x), int(y))
		}
	}
	return 0
}

// beyond reports whether a value holds a number beyond float64. OPA compares such
// numbers by what they are and finds them by how they are written.
func beyond(v Value) bool {
	return holdsNumber(v, func(n Value) bool { _, ok := float(n); return !ok })
}

// respelled reports whether a value holds a number that is not written as it would be
// written again: 1.0, 1e2 and -0, which equal what is written otherwise.
func respelled(v Value) bool {
	return holdsNumber(v, func(n Value) bool {
		text := numberText(n)
		return strings.ContainsAny(text, ".eE") || text == "-0" || len(text) > maxPlain
	})
}

// maxPlain is how long an integer is that is written without an exponent anyhow.
const maxPlain = 20

// holdsNumber reports whether a number in a value that may be written otherwise is
// one of those: an int or a float64 but -0 is none.
func holdsNumber(v Value, is func(n Value) bool) bool {
	found := false
	switch x := v.(type) {
	case nil, bool, string, int:
	case float64:
		found = x == 0 && math.Signbit(x) && is(v)
	case []Value:
		for _, e := range x {
			if holdsNumber(e, is) {
				return true
			}
		}
	case map[string]Value:
		for _, e := range x {
			if holdsNumber(e, is) {
				return true
			}
		}
	case *Object, *Set:
		Each(x, func(k, e Value) bool { found = holdsNumber(k, is) || holdsNumber(e, is); return !found })
	case Number, written:
		found = is(v)
	}
	return found
}

// float is the number's float64; a number beyond them has none.
func float(v Value) (float64, bool) {
	switch x := v.(type) {
	case int:
		return float64(x), true
	case float64:
		return x, true
	}
	f, err := strconv.ParseFloat(numberText(v), 64)
	return f, err == nil
}
