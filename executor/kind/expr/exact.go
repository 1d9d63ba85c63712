package expr

import (
	"math"
	"math/bits"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/vm/runtime"
)

// What the library's arithmetic makes of a number that does not fit is another number,
// and a guard that compares it would not fire. Here that is a failure, and on_error
// decides.

// exactly is an operation on two numbers, which fails where it is on whole ones and fits
// says that the result is none that an int holds.
func exactly(apply func(a, b any) any, fits func(a, b int) bool) func(f *frame, a, b any) any {
	return func(f *frame, a, b any) any {
		a, b = number(a), number(b)
		if x, ok := a.(int); ok {
			if y, ok := b.(int); ok && !fits(x, y) {
				f.fail(f.at, "the result is a whole number of more than %d bits", bits.UintSize)
			}
		}
		return apply(a, b)
	}
}

var (
	plus     = exactly(func(a, b any) any { return runtime.Add(a, b) }, func(a, b int) bool { return (a+b > a) == (b > 0) })
	minus    = exactly(func(a, b any) any { return runtime.Subtract(a, b) }, func(a, b int) bool { return (a-b < a) == (b > 0) })
	multiply = exactly(func(a, b any) any { return runtime.Multiply(a, b) }, timesFits)
)

func timesFits(a, b int) bool {
	high, low := bits.Mul(size(a), size(b))
	return high == 0 && (low <= math.MaxInt || low == 1<<(bits.UintSize-1) && (a < 0) != (b < 0))
}

// size is a number without its sign.
func size(n int) uint {
	if n < 0 {
		return -uint(n)
	}
	return uint(n)
}

// ordered is a comparison of two values. What is no number, such as 0/0 or float("NaN"),
// is neither more nor less than any.
func ordered(less func(a, b any) bool) func(f *frame, a, b any) any {
	return func(f *frame, a, b any) any {
		a, b = number(a), number(b)
		for _, v := range []any{a, b} {
			if n, ok := v.(float64); ok && math.IsNaN(n) {
				f.fail(f.at, "what is not a number cannot be compared")
			}
		}
		return less(a, b)
	}
}

// inRange is a value as it is, but for a number that no int holds, which fails.
func (f *frame) inRange(v any) any {
	v = number(v)
	if n, ok := v.(float64); ok && !(n >= math.MinInt && n < -float64(math.MinInt)) {
		f.fail(f.at, "%v is not a whole number of %d bits", n, bits.UintSize)
	}
	return v
}

func toInt(f *frame, args []any) any { return builtin.Int(f.inRange(args[0])) }
