package builtins

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/spell"
)

// bound is one condition of a range of versions. known is how many numbers it
// names: 2 for 1.2 and 1.2.x, 0 for *. The others are 0 in at.
type bound struct {
	op    string
	at    release
	known int
}

// bounds are the words that may stand before a version. The longer ones come
// first, because the shorter ones begin them.
var boundWords = []string{"!=", ">=", "=>", "<=", "=<", "~>", "=", ">", "<", "~", "^"}

const (
	spaces = " \t\n\f\r"
	// inVersion is what a version in a range is made of.
	inVersion = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-+.*"
)

// parseRange reads groups with || between them. All conditions of one group
// hold together; spaces or a comma are between them.
func parseRange(s string) (groups [][]bound, err error) {
	for _, part := range strings.Split(s, "||") {
		group, err := parseBounds(part)
		if err != nil {
			return nil, err
		}
		groups = append(groups, group)
	}
	return groups, nil
}

func parseBounds(s string) (group []bound, err error) {
	for rest := strings.Trim(s, spaces); ; {
		b, after, err := parseBound(rest)
		if err != nil {
			return nil, err
		}
		next := strings.TrimLeft(after, spaces)
		if upper, isHyphen := afterHyphen(after); isHyphen && b.op == "" {
			b.op = ">="
			end, after, err := parseBound(upper)
			if err != nil {
				return nil, err
			}
			if end.op != "" {
				return nil, fault.Errorf("%q follows the hyphen of a range", end.op)
			}
			end.op = "<="
			group = append(group, b, end)
			next, rest = strings.TrimLeft(after, spaces), after
		} else {
			group = append(group, b)
			rest = after
		}
		if next == "" {
			return group, nil
		}
		if comma, found := spell.CutPrefix(next, ","); found {
			next = strings.TrimLeft(comma, spaces)
		} else if next == rest {
			return nil, fault.Errorf("unexpected %q", next)
		}
		rest = next
	}
}

// afterHyphen is what follows a hyphen that has spaces on both sides.
func afterHyphen(s string) (string, bool) {
	rest := strings.TrimLeft(s, spaces)
	upper, found := spell.CutPrefix(rest, "-")
	trimmed := strings.TrimLeft(upper, spaces)
	return trimmed, found && rest != s && trimmed != upper
}

// parseBound reads one condition from the start of s.
func parseBound(s string) (b bound, rest string, err error) {
	for _, word := range boundWords {
		if after, found := spell.CutPrefix(s, word); found {
			b.op, s = word, strings.TrimLeft(after, spaces)
			break
		}
	}
	end := len(s) - len(strings.TrimLeft(s, inVersion))
	text, rest := s[:end], s[end:]
	numbers, pre, ok := splitRelease(text)
	parts := strings.Split(numbers, ".")
	if !ok || len(parts) > len(b.at.numbers) {
		return b, "", fault.Errorf("%q is no version", text)
	}
	wild := slices.IndexFunc(parts, isAny)
	if b.known = wild; wild < 0 {
		b.known = len(parts)
	}
	for _, part := range parts[b.known:] {
		if !isAny(part) && (part == "" || !isNumber(part)) {
			return b, "", fault.Errorf("%q is no version", text)
		}
	}
	if b.known > 0 {
		if b.at, ok = parseRelease(strings.Join(parts[:b.known], ".")); !ok {
			return b, "", fault.Errorf("%q is no version", text)
		}
	}
	b.at.pre = pre
	return b, rest, nil
}

func isAny(part string) bool { return part == "x" || part == "X" || part == "*" }

// inRange tells whether one group holds. A version before a release is only in
// a group that names one such itself.
func inRange(v release, groups [][]bound) bool {
	return slices.ContainsFunc(groups, func(group []bound) bool {
		if v.pre != "" && !slices.ContainsFunc(group, func(b bound) bool { return b.at.pre != "" }) {
			return false
		}
		return !slices.ContainsFunc(group, func(b bound) bool { return !b.holds(v) })
	})
}

func (b bound) holds(v release) bool {
	order := v.order(b.at)
	switch b.op {
	case ">=", "=>":
		return order >= 0
	case "<":
		return order < 0
	case ">":
		return order > 0 && !b.named(v)
	case "<=", "=<":
		return order <= 0 || b.named(v)
	case "!=":
		return order != 0 && (!b.named(v) || b.known == 2 && v.pre != b.at.pre)
	case "^":
		return order >= 0 && b.compatible(v)
	case "~", "~>":
		return order >= 0 && b.close(v)
	}
	if b.known == len(v.numbers) {
		return order == 0
	}
	return order >= 0 && b.close(v)
}

// named tells whether v begins with the numbers that b names, of which it
// leaves some out: 1.2.9 is no later than 1.2, and 1.9 no later than 1.
//
//go:noinline
func (b bound) named(v release) bool {
	return (b.known == 1 || b.known == 2) && v.numbers[0] == b.at.numbers[0] && (b.known == 1 || v.numbers[1] == b.at.numbers[1])
}

// close is the upper end of ~: the minor number stays, or the major where no
// more is named. ~0.0.0 and ~* let everything pass.
func (b bound) close(v release) bool {
	if b.at.numbers == [3]uint64{} && (b.known == 0 || b.known == len(v.numbers)) {
		return true
	}
	return v.numbers[0] == b.at.numbers[0] && (b.known == 1 || v.numbers[1] == b.at.numbers[1])
}

// compatible is the upper end of ^: the first number that is not 0 stays, of
// those that are named.
func (b bound) compatible(v release) bool {
	for i, n := range b.at.numbers {
		if v.numbers[i] != n {
			return false
		}
		if n > 0 || b.known == i+1 {
			return true
		}
	}
	return true
}
