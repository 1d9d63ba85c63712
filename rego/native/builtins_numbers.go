package native

import (
	"math"
	bit "math/bits"
	"strconv"
	"strings"
)

var numbersBuiltins = []own{
	{"abs", 1, func() Builtin { return onNumber(func(i int64) int64 { return max(i, -i) }, decimalNumber.abs) }},
	{"round", 1, func() Builtin { return onNumber(itself, decimalNumber.round) }},
	{"ceil", 1, func() Builtin { return onNumber(itself, decimalNumber.ceil) }},
	{"floor", 1, func() Builtin { return onNumber(itself, decimalNumber.floor) }},
	{"bits.negate", 1, func() Builtin { return onInteger(func(i int64) int64 { return ^i }) }},
	{"plus", 2, func() Builtin { return onNumbers(addExact, softAdd) }},
	{"minus", 2, minus},
	{"mul", 2, func() Builtin { return onNumbers(mulExact, softMul) }},
	{"div", 2, func() Builtin { return onNumbers(divExact, softDiv) }},
	{"rem", 2, func() Builtin { return onIntegers(remExact) }},
	{"bits.or", 2, func() Builtin { return onIntegers(func(a, b int64) (int64, bool) { return a | b, true }) }},
	{"bits.and", 2, func() Builtin { return onIntegers(func(a, b int64) (int64, bool) { return a & b, true }) }},
	{"bits.xor", 2, func() Builtin { return onIntegers(func(a, b int64) (int64, bool) { return a ^ b, true }) }},
	{"bits.lsh", 2, func() Builtin { return onIntegers(shiftLeft) }},
	{"bits.rsh", 2, func() Builtin { return onIntegers(shiftRight) }},
	{"numbers.range", 2, func() Builtin { return numbersRange }},
	{"format_int", 2, func() Builtin { return formatInt }},
	{"numbers.range_step", 3, func() Builtin { return numbersRange }},
}

func itself(i int64) int64 { return i }

// onNumbers makes a builtin of two numbers: of integers as long as the result
// is one of 64 bits, else of what OPA makes of fractions.
func onNumbers(exact func(a, b int64) (int64, bool), soft func(a, b softFloat) (softFloat, bool)) Builtin {
	return func(_ *Call, args []Value) (Value, bool, error) {
		a, ok1 := position(args[0])
		b, ok2 := position(args[1])
		if ok1 && ok2 {
			if n, ok := exact(a, b); ok {
				return int(n), true, nil
			}
		}
		return softly(args, soft)
	}
}

func onIntegers(f func(a, b int64) (int64, bool)) Builtin {
	return func(_ *Call, args []Value) (Value, bool, error) {
		a, ok1 := position(args[0])
		b, ok2 := position(args[1])
		if !ok1 || !ok2 {
			return bail()
		}
		n, ok := f(a, b)
		if !ok {
			return bail()
		}
		return int(n), true, nil
	}
}

func onInteger(f func(i int64) int64) Builtin {
	return func(_ *Call, args []Value) (Value, bool, error) {
		i, ok := position(args[0])
		if !ok {
			return bail()
		}
		return int(f(i)), true, nil
	}
}

// onNumber makes a builtin of one number: of an integer, or of a fraction of
// so few digits that OPA's floats hold them.
func onNumber(whole func(i int64) int64, fraction func(d decimalNumber) (Value, bool)) Builtin {
	return func(_ *Call, args []Value) (Value, bool, error) {
		if i, ok := position(args[0]); ok {
			if i == math.MinInt64 {
				return bail()
			}
			return int(whole(i)), true, nil
		}
		d, ok := readDecimal(args[0])
		if !ok {
			return bail()
		}
		v, ok := fraction(d)
		if !ok {
			return bail()
		}
		return v, true, nil
	}
}

func addExact(a, b int64) (int64, bool) {
	n := a + b
	return n, (n > a) == (b > 0)
}

func subExact(a, b int64) (int64, bool) {
	n := a - b
	return n, (n < a) == (b > 0)
}

func mulExact(a, b int64) (int64, bool) {
	if a == math.MinInt64 || b == math.MinInt64 {
		return 0, false
	}
	high, low := bit.Mul64(uint64(max(a, -a)), uint64(max(b, -b)))
	return a * b, high == 0 && low <= math.MaxInt64
}

// divExact divides what OPA divides as integers: those of 32 bits, without a
// remainder, and not zero.
func divExact(a, b int64) (int64, bool) {
	small := a == int64(int32(a)) && b == int64(int32(b))
	if !small || a == 0 || b == 0 || a%b != 0 {
		return 0, false
	}
	return a / b, true
}

func remExact(a, b int64) (int64, bool) {
	if b == 0 {
		return 0, false
	}
	return a % b, true
}

func shiftLeft(a, b int64) (int64, bool) {
	if b < 0 || b > 62 {
		return 0, false
	}
	n := a << b
	return n, n>>b == a
}

func shiftRight(a, b int64) (int64, bool) {
	if b < 0 {
		return 0, false
	}
	return a >> min(b, 63), true
}

// minus is of two numbers or two sets.
func minus() Builtin {
	subtract := onNumbers(subExact, softSub)
	return func(c *Call, args []Value) (Value, bool, error) {
		if _, ok := args[0].(*Set); ok {
			return difference(c, args)
		}
		return subtract(c, args)
	}
}

func numbersRange(c *Call, args []Value) (Value, bool, error) {
	from, ok1 := position(args[0])
	to, ok2 := position(args[1])
	step, ok3 := int64(1), true
	if len(args) == 3 {
		step, ok3 = position(args[2])
	}
	if !ok1 || !ok2 || !ok3 || step <= 0 {
		return bail()
	}
	count := uint64(to-from) / uint64(step)
	if from > to {
		count = uint64(from-to) / uint64(step)
		step = -step
	}
	out := make([]Value, count+1)
	for i := range out {
		c.Step(1)
		out[i] = int(from)
		from += step
	}
	return out, true, nil
}

func formatInt(_ *Call, args []Value) (Value, bool, error) {
	if kindOf(args[1]) != kindNumber {
		return bail()
	}
	base := 0
	switch numberText(args[1]) {
	case "2":
		base = 2
	case "8":
		base = 8
	case "10":
		base = 10
	case "16":
		base = 16
	default:
		return bail()
	}
	if i, ok := position(args[0]); ok {
		return strconv.FormatInt(i, base), true, nil
	}
	d, ok := readDecimal(args[0])
	if !ok {
		return bail()
	}
	return strconv.FormatInt(d.sign(d.whole), base), true, nil
}

// decimalNumber is a fraction of few digits: whole and, behind the point, part
// in units of 10^-places.
type decimalNumber struct {
	neg         bool
	whole, part int64
	places      int
}

// maxDigits are the digits of which every number has a 64-bit float of its
// own.
const maxDigits = 17

// readDecimal reads a number with a point and no exponent.
func readDecimal(v Value) (d decimalNumber, ok bool) {
	if kindOf(v) != kindNumber {
		return d, false
	}
	text := numberText(v)
	text, d.neg = strings.CutPrefix(text, "-")
	whole, part, _ := strings.Cut(text, ".")
	if len(whole)+len(part) > maxDigits || numberEnd(text, 0) != len(text) {
		return d, false
	}
	var err1, err2 error
	d.whole, err1 = strconv.ParseInt(whole, 10, 64)
	d.part, err2 = strconv.ParseInt(part, 10, 64)
	d.places = len(part)
	return d, err1 == nil && err2 == nil
}

func (d decimalNumber) sign(i int64) int64 {
	if d.neg {
		return -i
	}
	return i
}

func (d decimalNumber) abs() (Value, bool) {
	digits := strconv.FormatInt(d.whole, 10) + strconv.FormatInt(d.part+pow10(d.places), 10)[1:]
	return Number(shortText(false, []byte(digits), len(digits)-d.places)), true
}

func (d decimalNumber) round() (Value, bool) {
	if d.part*2 >= pow10(d.places) {
		d.whole++
	}
	// OPA makes an integer of it, which has no negative zero.
	return int(d.sign(d.whole)), true
}

// ceil and floor between -1 and 0 are 1 and 0 to OPA, which looks for the sign
// of the zero that is left of the fraction.
func (d decimalNumber) ceil() (Value, bool) {
	if (!d.neg || d.whole == 0) && d.part > 0 {
		d.neg = false
		d.whole++
	}
	return int(d.sign(d.whole)), true
}

func (d decimalNumber) floor() (Value, bool) {
	if d.neg && d.whole > 0 && d.part > 0 {
		d.whole++
	}
	return int(d.sign(d.whole)), true
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}
