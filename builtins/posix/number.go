// Package posix is what shells and their tools make of texts and numbers alone: arithmetic,
// braces, patterns of expansions, modes of files and the s command of sed.
package posix

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookc/hookc/internal/spell"
)

// Number reads 10, 0x1f, 017 and 2#101.
func Number(s string) (int64, bool) {
	if base, digits, ok := spell.Cut(s, "#"); ok {
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
//
//go:noinline
func Truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// operations are those on numbers that always have a result.
var operations = map[syntax.BinAritOperator]func(l, r int64) int64{
	syntax.Add: func(l, r int64) int64 { return l + r }, syntax.Sub: func(l, r int64) int64 { return l - r }, syntax.Mul: func(l, r int64) int64 { return l * r },
	syntax.And: func(l, r int64) int64 { return l & r }, syntax.Or: func(l, r int64) int64 { return l | r }, syntax.Xor: func(l, r int64) int64 { return l ^ r },
	syntax.AndArit: func(l, r int64) int64 { return Truth(l != 0 && r != 0) }, syntax.OrArit: func(l, r int64) int64 { return Truth(l != 0 || r != 0) },
	syntax.Eql: func(l, r int64) int64 { return Truth(l == r) }, syntax.Neq: func(l, r int64) int64 { return Truth(l != r) },
	syntax.Lss: func(l, r int64) int64 { return Truth(l < r) }, syntax.Gtr: func(l, r int64) int64 { return Truth(l > r) },
	syntax.Leq: func(l, r int64) int64 { return Truth(l <= r) }, syntax.Geq: func(l, r int64) int64 { return Truth(l >= r) },
}

// Operate is one operation; false when it has no result.
func Operate(op syntax.BinAritOperator, l, r int64) (int64, bool) {
	if f := operations[op]; f != nil {
		return f(l, r), true
	}
	switch {
	case op == syntax.Quo && r != 0 && r != -1:
		return l / r, true
	case op == syntax.Rem && r != 0 && r != -1:
		return l % r, true
	case r < 0 || r > 62:
	case op == syntax.Shl:
		return l << r, true
	case op == syntax.Shr:
		return l >> r, true
	case op == syntax.Pow:
		n := int64(1)
		for range r {
			n *= l
		}
		return n, true
	}
	return 0, false
}
