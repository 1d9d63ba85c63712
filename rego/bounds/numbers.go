package bounds

import (
	"math"
	"strconv"
	"strings"

	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/digits"
)

// ranged is what numbers.range and numbers.range_step give.
func ranged(a Args) int64 {
	from, ok1 := integer(a, 0)
	to, ok2 := integer(a, 1)
	if !ok1 || !ok2 {
		return longDigits(a)
	}
	n := distance(from, to)
	if step, ok := integer(a, 2); ok && !step.negative && step.digits != "" {
		n = n.over(distance(whole{}, step))
	}
	return Sum(Collection, Product(Sum(n.count(), 1), Element+Scalar))
}

// whole is an integer by its digits, of which the first is not 0: none for 0.
// (math/big would link fmt and reflect into hookgate.)
type whole struct {
	negative bool
	digits   string
}

// integer is an argument that is a number of not too many digits, without what is
// behind the point.
func integer(a Args, i int) (n whole, ok bool) {
	text, ok := a.Number(i)
	if !ok || digits.Long(text) {
		return n, false
	}
	text, n.negative = spell.CutPrefix(text, "-")
	exponent := 0
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		var err error
		if exponent, err = strconv.Atoi(text[at+1:]); err != nil {
			return n, false
		}
		text = text[:at]
	}
	before, behind, _ := spell.Cut(text, ".")
	text = before + behind
	if end := len(before) + exponent; end <= len(text) {
		text = text[:max(end, 0)]
	} else {
		text += strings.Repeat("0", end-len(text))
	}
	n.digits = strings.TrimLeft(text, "0")
	return n, true
}

// quantity is what is not negative: lead, with so many zeros behind it.
type quantity struct {
	lead  float64
	zeros int
}

// exact is the first number of which a float64 does not have all neighbours.
const exact = 1 << 53

// distance is how far two integers are from each other, from the first digits on.
func distance(a, b whole) quantity {
	n := max(len(a.digits), len(b.digits))
	digit := func(w whole, i int) float64 {
		d := 0.0
		if at := i - n + len(w.digits); at >= 0 {
			d = float64(w.digits[at] - '0')
		}
		if w.negative {
			return -d
		}
		return d
	}
	lead := 0.0
	for i := range n {
		if lead >= exact/32 || lead <= -exact/32 { // what follows does not make it small again
			return quantity{math.Abs(lead), n - i}
		}
		lead = lead*10 + digit(b, i) - digit(a, i)
	}
	return quantity{lead: math.Abs(lead)}
}

// over divides; by is not 0.
func (q quantity) over(by quantity) quantity {
	return quantity{q.lead / by.lead, q.zeros - by.zeros}
}

// count is the quantity as a number.
func (q quantity) count() int64 {
	n := q.lead * math.Pow10(q.zeros)
	if !(n < exact) {
		return Never
	}
	return int64(n)
}

// addresses is what net.cidr_expand gives.
func addresses(a Args) int64 {
	s, _ := a.Text(0)
	address, bits, _ := spell.Cut(s, "/")
	n, err := strconv.Atoi(bits)
	size := 32
	if strings.Contains(address, ":") {
		size = 128
	}
	switch {
	case err != nil || n < 0 || n > size:
		return 0 // it says so when it is called
	case size-n > 30:
		return Never
	}
	return Product(1<<(size-n), Element+String+16)
}

// longDigits refuses numbers of too many digits.
func longDigits(a Args) int64 {
	for i := range 2 {
		if text, ok := a.Number(i); ok && digits.Long(text) {
			return Never
		}
	}
	return 0
}

// multiplied refuses a product of too many digits.
func multiplied(a Args) int64 { return refuse(a.Deep(0).AllDigits > digits.Max) }

// added refuses a sum of numbers of too many digits.
func added(a Args) int64 { return refuse(a.Deep(0).Digits > digits.Max) }

// shifted refuses to shift to the left by too much.
func shifted(a Args) int64 {
	if longDigits(a) > 0 {
		return Never
	}
	by, ok := integer(a, 1)
	return refuse(ok && !by.negative && distance(whole{}, by).count() > 3*digits.Max)
}

// longNumeral refuses a text that would be a number of too many digits.
func longNumeral(a Args) int64 {
	if s, ok := a.Text(0); ok {
		return refuse(digits.Long(strings.TrimRight(s, "abcdfghijklmnopqrstuvwxyzABCDFGHIJKLMNOPQRSTUVWXYZ")))
	}
	return longDigits(a)
}

func refuse(is bool) int64 {
	if is {
		return Never
	}
	return 0
}
