package native

import (
	"math"
	bit "math/bits"
	"strconv"
	"time"
)

var numbersBuiltins = []own{
	{"abs", 1, func() Builtin { return onNumber(func(i int64) int64 { return max(i, -i) }) }},
	{"round", 1, func() Builtin { return onNumber(itself) }},
	{"ceil", 1, func() Builtin { return onNumber(itself) }},
	{"floor", 1, func() Builtin { return onNumber(itself) }},
	{"plus", 2, func() Builtin { return onIntegers(addExact) }},
	{"minus", 2, minus},
	{"mul", 2, func() Builtin { return onIntegers(mulExact) }},
	{"div", 2, func() Builtin { return onIntegers(divExact) }},
	{"rem", 2, func() Builtin { return onIntegers(remExact) }},
	{"numbers.range", 2, func() Builtin { return numbersRange }},
	{"format_int", 2, func() Builtin { return formatInt }},
	{"numbers.range_step", 3, func() Builtin { return numbersRange }},
}

func itself(i int64) int64 { return i }

// onIntegers makes a builtin of two integers, as long as the result is one of 64
// bits. Fractions, and what is longer, are left to OPA.
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

// onNumber makes a builtin of one integer.
func onNumber(f func(i int64) int64) Builtin {
	return func(_ *Call, args []Value) (Value, bool, error) {
		i, ok := position(args[0])
		if !ok || i == math.MinInt64 {
			return bail()
		}
		return int(f(i)), true, nil
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

// minus is of two numbers or two sets.
func minus() Builtin {
	subtract := onIntegers(subExact)
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
	return bail()
}

var timeBuiltins = []own{
	{"time.parse_rfc3339_ns", 1, func() Builtin { return parseTime }},
	{"time.date", 1, func() Builtin {
		return onTime(func(t time.Time) Value { y, m, d := t.Date(); return []Value{y, int(m), d} })
	}},
	{"time.clock", 1, func() Builtin {
		return onTime(func(t time.Time) Value { h, m, s := t.Clock(); return []Value{h, m, s} })
	}},
	{"time.weekday", 1, func() Builtin { return onTime(func(t time.Time) Value { return t.Weekday().String() }) }},
}

func parseTime(_ *Call, args []Value) (Value, bool, error) {
	s, _ := args[0].(string)
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.Before(time.Unix(0, math.MinInt64)) || t.After(time.Unix(0, math.MaxInt64)) {
		return bail()
	}
	return int(t.UnixNano()), true, nil
}

// onTime makes a builtin of a time in UTC: nanoseconds, or an array of them.
// Other zones are the host's, which has their names.
func onTime(f func(t time.Time) Value) Builtin {
	return func(_ *Call, args []Value) (Value, bool, error) {
		v := args[0]
		if list, ok := v.([]Value); ok {
			switch {
			case len(list) == 0 || len(list) > 2:
				return bail()
			case len(list) == 2 && list[1] != "" && list[1] != "UTC":
				return bail()
			}
			v = list[0]
		}
		ns, ok := position(v)
		if !ok {
			return bail()
		}
		return f(time.Unix(0, ns).UTC()), true, nil
	}
}
