package native

import (
	bit "math/bits"
	"strconv"
	"strings"
)

var unitsBuiltins = []own{
	{"units.parse", 1, func() Builtin { return onText(parseUnits) }},
	{"units.parse_bytes", 1, func() Builtin { return onText(parseBytes) }},
}

// prefixes are what units begin with, each a thousand times the one before, or
// 1024 times when an i follows.
const prefixes = "kmgtpe"

// prefixed is a unit of a prefix and what follows it; 0 is none.
func prefixed(prefix byte, i bool) uint64 {
	at := strings.IndexByte(prefixes, prefix)
	if at < 0 {
		return 0
	}
	if i {
		return 1 << (10 * (at + 1))
	}
	size := uint64(1)
	for range at + 1 {
		size *= 1000
	}
	return size
}

// byteUnit is a unit in lower case, with or without a b.
func byteUnit(unit string) uint64 {
	switch {
	case unit == "":
		return 1
	case len(unit) == 1 || unit[1:] == "b":
		return prefixed(unit[0], false)
	case unit[1:] == "i" || unit[1:] == "ib":
		return prefixed(unit[0], true)
	}
	return 0
}

// siUnit is a unit of which the first letter only may be a capital: m is a
// thousandth, which is left to OPA.
func siUnit(unit string) uint64 {
	if unit == "" {
		return 1
	}
	prefix, rest := unit[0], strings.ToLower(unit[1:])
	if prefix >= 'A' && prefix <= 'Z' {
		prefix |= 0x20
	}
	if unit == "m" || rest != "" && rest != "i" {
		return 0
	}
	return prefixed(prefix, rest == "i")
}

func parseBytes(s string) (Value, bool, error) {
	return unitsOf(strings.ReplaceAll(strings.ToLower(s), `"`, ""), byteUnit)
}

func parseUnits(s string) (Value, bool, error) {
	return unitsOf(strings.ReplaceAll(s, `"`, ""), siUnit)
}

// unitsOf reads an amount and its unit when they make an integer that has no
// rounding in it.
func unitsOf(s string, unitOf func(unit string) uint64) (Value, bool, error) {
	n := 0
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == '.') {
		n++
	}
	amount, unit := s[:n], s[n:]
	if strings.Contains(s, " ") || scientific(unit) {
		return bail()
	}
	size := unitOf(unit)
	whole, part, point := strings.Cut(amount, ".")
	if size == 0 || whole == "" || point && part == "" || strings.Contains(part, ".") {
		return bail()
	}
	part = strings.TrimRight(part, "0")
	if len(whole)+len(part) > 15 {
		return bail()
	}
	n10, err := strconv.ParseUint(whole+part, 10, 64)
	if err != nil {
		return bail()
	}
	// A part that is no sum of halves is rounded on the way.
	for range part {
		if n10%5 != 0 {
			return bail()
		}
		n10 /= 5
	}
	high, low := bit.Mul64(n10, size)
	total := low >> len(part)
	if high != 0 || total<<len(part) != low || total >= 1<<62 {
		return bail()
	}
	return int(total), true, nil
}

// scientific reports whether what follows digits is, or may be, an exponent or
// a sign.
func scientific(unit string) bool {
	if unit == "" {
		return false
	}
	if unit[0] == '+' || unit[0] == '-' {
		return true
	}
	return unit[0]|0x20 == 'e' && len(unit) > 1 && (unit[1] == '+' || unit[1] == '-' || unit[1] >= '0' && unit[1] <= '9')
}
