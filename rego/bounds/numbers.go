package bounds

import (
	"math/big"
	"net/netip"
	"strconv"
	"strings"

	"github.com/hookc/hookc/policy/digits"
)

// ranged is what numbers.range and numbers.range_step give.
func ranged(a Args) int64 {
	from, to, step := integer(a, 0), integer(a, 1), integer(a, 2)
	if from == nil || to == nil {
		return longDigits(a)
	}
	n := new(big.Int).Sub(to, from)
	n.Abs(n)
	if step != nil && step.Sign() > 0 {
		n.Quo(n, step)
	}
	if !n.IsInt64() {
		return Never
	}
	return sum(Collection, product(sum(n.Int64(), 1), Element+Scalar))
}

// integer is an argument that is an integer of not too many digits.
func integer(a Args, i int) *big.Int {
	text, ok := a.Number(i)
	if !ok || digits.Long(text) {
		return nil
	}
	if n, ok := new(big.Int).SetString(text, 10); ok {
		return n
	}
	f, _, err := big.ParseFloat(text, 10, 128, big.ToZero)
	if err != nil {
		return nil
	}
	n, _ := f.Int(nil)
	return n
}

// addresses is what net.cidr_expand gives.
func addresses(a Args) int64 {
	s, _ := a.Text(0)
	p, err := netip.ParsePrefix(s)
	if err != nil {
		at := strings.LastIndexByte(s, '/')
		if at < 0 {
			return 0
		}
		n, err := strconv.Atoi(s[at+1:])
		if err != nil || n > 128 {
			return 0
		}
		return Never
	}
	free := p.Addr().BitLen() - p.Bits()
	if free > 30 {
		return Never
	}
	return product(1<<free, Element+String+16)
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
	by := integer(a, 1)
	return refuse(by != nil && by.Sign() > 0 && (!by.IsInt64() || by.Int64() > 3*digits.Max))
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
