// Package posix is what shells and their tools make of texts and numbers alone: arithmetic,
// braces, patterns of expansions, modes of files and the s command of sed.
package posix

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Number reads 10, 0x1f, 017 and 2#101.
func Number(s string) (int64, bool) {
	if base, digits, ok := strings.Cut(s, "#"); ok {
		b, err := strconv.Atoi(base)
		if err != nil || b < 2 || b > 36 {
			return 0, false
		}
		n, err := strconv.ParseInt(digits, b, 64)
		return n, err == nil
	}
	if strings.Contains(s, "_") {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 0, 64)
	return n, err == nil
}

// Truth is a condition as a number.
func Truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Operate is one operation; false when it has no result.
func Operate(op syntax.BinAritOperator, l, r int64) (int64, bool) {
	switch op {
	case syntax.Add:
		return l + r, true
	case syntax.Sub:
		return l - r, true
	case syntax.Mul:
		return l * r, true
	case syntax.Quo, syntax.Rem:
		return divide(op, l, r)
	case syntax.Pow:
		return power(l, r)
	case syntax.And:
		return l & r, true
	case syntax.Or:
		return l | r, true
	case syntax.Xor:
		return l ^ r, true
	case syntax.Shl, syntax.Shr:
		return shift(op, l, r)
	case syntax.AndArit:
		return Truth(l != 0 && r != 0), true
	case syntax.OrArit:
		return Truth(l != 0 || r != 0), true
	}
	return compareNumbers(op, l, r)
}

func compareNumbers(op syntax.BinAritOperator, l, r int64) (int64, bool) {
	switch op {
	case syntax.Eql:
		return Truth(l == r), true
	case syntax.Neq:
		return Truth(l != r), true
	case syntax.Lss:
		return Truth(l < r), true
	case syntax.Gtr:
		return Truth(l > r), true
	case syntax.Leq:
		return Truth(l <= r), true
	case syntax.Geq:
		return Truth(l >= r), true
	}
	return 0, false
}

func divide(op syntax.BinAritOperator, l, r int64) (int64, bool) {
	if r == 0 || r == -1 {
		return 0, false
	}
	if op == syntax.Quo {
		return l / r, true
	}
	return l % r, true
}

func shift(op syntax.BinAritOperator, l, r int64) (int64, bool) {
	if r < 0 || r > 62 {
		return 0, false
	}
	if op == syntax.Shl {
		return l << r, true
	}
	return l >> r, true
}

func power(l, r int64) (int64, bool) {
	if r < 0 || r > 62 {
		return 0, false
	}
	n := int64(1)
	for range r {
		n *= l
	}
	return n, true
}
