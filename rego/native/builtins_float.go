package native

import (
	"bytes"
	bit "math/bits"
	"strconv"
	"strings"
)

// softFloat is what OPA computes with fractions: a float of 64 bits of
// mantissa, mant·2^exp, of which the top bit is set unless it is zero.
// Operations round to the nearest, ties to even.
type softFloat struct {
	neg  bool
	mant uint64
	exp  int
}

// maxScale bounds binary exponents, and maxFives decimal ones: 5^27 is below
// 2^63. Numbers beyond are left to OPA.
const (
	maxScale = 300
	maxFives = 27
)

// softly computes what is no operation on 64-bit integers. Integers alone are
// exact to OPA, unless they are divided, and left to it.
func softly(args []Value, f func(a, b softFloat) (softFloat, bool)) (Value, bool, error) {
	a, ok1 := readSoft(args[0])
	b, ok2 := readSoft(args[1])
	if !ok1 || !ok2 {
		return bail()
	}
	r, ok := f(a, b)
	if !ok {
		return bail()
	}
	return r.value()
}

func softAdd(a, b softFloat) (softFloat, bool) { return a.add(b), a.fraction() || b.fraction() }

func softSub(a, b softFloat) (softFloat, bool) {
	ok := a.fraction() || b.fraction()
	b.neg = !b.neg
	return a.add(b), ok
}

func softMul(a, b softFloat) (softFloat, bool) {
	high, low := bit.Mul64(a.mant, b.mant)
	return rounded(a.neg != b.neg, high, low, false, a.exp+b.exp), a.fraction() || b.fraction()
}

func softDiv(a, b softFloat) (softFloat, bool) {
	if b.mant == 0 {
		return a, false
	}
	return quotient(a.neg != b.neg, a.mant, b.mant, a.exp-b.exp), true
}

// fraction reports whether it is no integer.
func (a softFloat) fraction() bool {
	return a.exp < 0 && bit.TrailingZeros64(a.mant) < -a.exp && a.mant != 0
}

// readSoft reads a number of at most nineteen digits.
func readSoft(v Value) (f softFloat, ok bool) {
	if kindOf(v) != kindNumber {
		return f, false
	}
	text := numberText(v)
	if numberEnd(text, 0) != len(text) {
		return f, false
	}
	text, f.neg = strings.CutPrefix(text, "-")
	mantissa, exponent, tens := text, "", 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
		n, err := strconv.Atoi(exponent)
		if err != nil || n > maxScale || n < -maxScale {
			return f, false
		}
		tens = n
	}
	whole, part, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+part, "0")
	tens -= len(part)
	if digits == "" {
		return f, true
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || len(digits) > 19 || tens > maxFives || tens < -maxFives {
		return f, false
	}
	if tens < 0 {
		return quotient(f.neg, n, pow5(-tens), tens), true
	}
	high, low := bit.Mul64(n, pow5(tens))
	return rounded(f.neg, high, low, false, tens), true
}

func pow5(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= 5
	}
	return p
}

// quotient is a/b·2^exp.
func quotient(neg bool, a, b uint64, exp int) softFloat {
	if a == 0 {
		return softFloat{neg: neg}
	}
	x, y := bit.LeadingZeros64(a), bit.LeadingZeros64(b)
	a, b = a<<x, b<<y
	exp += y - x
	var q, r uint64
	if a >= b {
		q, r = bit.Div64(a>>1, a<<63, b)
		exp -= 63
	} else {
		q, r = bit.Div64(a, 0, b)
		exp -= 64
	}
	// What is left is compared with half of the divisor.
	half, sticky := uint64(0), r != 0
	if r >= b-r {
		half, sticky = 1<<63, r != b-r
	}
	return rounded(neg, q, half, sticky, exp-64)
}

// rounded is (high·2^64+low)·2^exp, and a little more when sticky.
func rounded(neg bool, high, low uint64, sticky bool, exp int) softFloat {
	if high == 0 {
		if low == 0 {
			return softFloat{neg: neg}
		}
		high, low = low, 0
		exp -= 64
	}
	if n := bit.LeadingZeros64(high); n > 0 {
		high, low = high<<n|low>>(64-n), low<<n
		exp -= n
	}
	exp += 64
	const half = 1 << 63
	if low > half || low == half && (sticky || high&1 == 1) {
		if high++; high == 0 {
			high = half
			exp++
		}
	}
	return softFloat{neg, high, exp}
}

func (a softFloat) add(b softFloat) softFloat {
	switch {
	case a.mant == 0 && b.mant == 0:
		return softFloat{neg: a.neg && b.neg}
	case a.mant == 0:
		return b
	case b.mant == 0:
		return a
	}
	if a.exp < b.exp || a.exp == b.exp && a.mant < b.mant {
		a, b = b, a
	}
	// Both as 128 bits below 2^127, so that there is room for a carry.
	high, low := a.mant>>1, a.mant<<63
	otherHigh, otherLow := b.mant>>1, b.mant<<63
	sticky := false
	switch n := a.exp - b.exp; {
	case n >= 128:
		otherHigh, otherLow, sticky = 0, 0, true
	case n >= 64:
		sticky = otherLow != 0 || otherHigh<<(128-n) != 0
		otherHigh, otherLow = 0, otherHigh>>(n-64)
	case n > 0:
		sticky = otherLow<<(64-n) != 0
		otherHigh, otherLow = otherHigh>>n, otherLow>>n|otherHigh<<(64-n)
	}
	if a.neg == b.neg {
		var carry uint64
		low, carry = bit.Add64(low, otherLow, 0)
		high, _ = bit.Add64(high, otherHigh, carry)
		return rounded(a.neg, high, low, sticky, a.exp-63)
	}
	borrow := uint64(0)
	if sticky {
		borrow = 1
	}
	low, borrow = bit.Sub64(low, otherLow, borrow)
	high, _ = bit.Sub64(high, otherHigh, borrow)
	if high == 0 && low == 0 && !sticky {
		return softFloat{}
	}
	return rounded(a.neg, high, low, sticky, a.exp-63)
}

// value is the number as OPA writes it: the shortest digits that no other
// float has.
func (a softFloat) value() (Value, bool, error) {
	switch {
	case a.mant == 0 && a.neg:
		return Number("-0"), true, nil
	case a.mant == 0:
		return 0, true, nil
	case a.exp > maxScale || a.exp < -maxScale:
		return bail()
	}
	digits, point := a.shortest()
	if !a.fraction() {
		text := bytes.TrimRight(digits, "0")
		digits = append(text, bytes.Repeat([]byte{'0'}, max(point-len(text), 0))...)
		if a.neg {
			digits = append([]byte{'-'}, digits...)
		}
		return numberOf(string(digits)), true, nil
	}
	return Number(shortText(a.neg, digits, point)), true, nil
}

// shortest are the digits, of which the first point are before the point.
func (a softFloat) shortest() ([]byte, int) {
	// In units of half of the last bit.
	high, low := a.mant>>63, a.mant<<1
	digits, point := decimalOf(high, low, a.exp-1)
	l, lb := bit.Sub64(low, 1, 0)
	lower, _ := decimalOf(high-lb, l, a.exp-1)
	u, ub := bit.Add64(low, 1, 0)
	upper, _ := decimalOf(high+ub, u, a.exp-1)
	inclusive := a.mant&1 == 0
	for i, m := range digits {
		u := digitAt(upper, i)
		down := digitAt(lower, i) != m || inclusive && i+1 == len(lower)
		up := m != u && (inclusive || m+1 < u || i+1 < len(upper))
		switch {
		case down && up:
			return roundDigits(digits, point, i+1, roundsUp(digits, i+1))
		case down || up:
			return roundDigits(digits, point, i+1, up)
		}
	}
	return digits, point
}

func digitAt(digits []byte, i int) byte {
	if i < len(digits) {
		return digits[i]
	}
	return '0'
}

// roundsUp reports whether digits of which n stay round up: to even, when they
// are halfway.
func roundsUp(digits []byte, n int) bool {
	if n >= len(digits) {
		return false
	}
	if digits[n] == '5' && n+1 == len(digits) {
		return n > 0 && (digits[n-1]-'0')&1 == 1
	}
	return digits[n] >= '5'
}

func roundDigits(digits []byte, point, n int, up bool) ([]byte, int) {
	digits = digits[:min(n, len(digits))]
	if !up {
		return bytes.TrimRight(digits, "0"), point
	}
	for n = len(digits); n > 0 && digits[n-1] == '9'; n-- {
	}
	if n == 0 {
		return []byte{'1'}, point + 1
	}
	digits[n-1]++
	return digits[:n], point
}

// decimalOf are the digits of (high·2^64+low)·2^exp, without zeros at the end,
// and how many of them stand before the point.
func decimalOf(high, low uint64, exp int) (digits []byte, point int) {
	const chunk = 1e19
	q, r := bit.Div64(high, low, chunk)
	if q > 0 {
		digits = strconv.AppendUint(nil, q, 10)
		rest := strconv.AppendUint(nil, r, 10)
		digits = append(digits, "0000000000000000000"[:19-len(rest)]...)
		digits = append(digits, rest...)
	} else {
		digits = strconv.AppendUint(nil, r, 10)
	}
	factor, left := uint64(2), exp
	if exp < 0 {
		factor, left = 5, -exp
	}
	for left > 0 {
		by := uint64(1)
		for n := 0; n < 24 && left > 0; n++ {
			by *= factor
			left--
		}
		digits = times(digits, by)
	}
	return bytes.TrimRight(digits, "0"), len(digits) + min(exp, 0)
}

// times multiplies digits by a factor below 10^17.
func times(digits []byte, by uint64) []byte {
	carry := uint64(0)
	for i := len(digits) - 1; i >= 0; i-- {
		n := uint64(digits[i]-'0')*by + carry
		digits[i] = '0' + byte(n%10)
		carry = n / 10
	}
	if carry == 0 {
		return digits
	}
	return append(strconv.AppendUint(nil, carry, 10), digits...)
}

// shortText writes digits, of which the first point stand before the point:
// with an exponent when it is below -4 or above 5.
func shortText(neg bool, digits []byte, point int) string {
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
		point--
	}
	digits = bytes.TrimRight(digits, "0")
	var out []byte
	if neg {
		out = append(out, '-')
	}
	switch exp := point - 1; {
	case exp < -4 || exp > 5:
		out = append(out, digits[0])
		if len(digits) > 1 {
			out = append(append(out, '.'), digits[1:]...)
		}
		out = append(out, 'e', '+')
		if exp < 0 {
			out[len(out)-1] = '-'
			exp = -exp
		}
		if exp < 10 {
			out = append(out, '0')
		}
		return string(strconv.AppendInt(out, int64(exp), 10))
	case point <= 0:
		out = append(append(out, "0."...), bytes.Repeat([]byte{'0'}, -point)...)
		return string(append(out, digits...))
	}
	out = append(append(out, digits[:point]...), '.')
	return string(append(out, digits[point:]...))
}
