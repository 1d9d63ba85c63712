package native

import (
	"slices"
	"strings"
	"unicode/utf8"
)

var stringsBuiltins = []own{
	{"lower", 1, func() Builtin { return changeText(strings.ToLower) }},
	{"upper", 1, func() Builtin { return changeText(strings.ToUpper) }},
	{"trim_space", 1, func() Builtin { return changeText(strings.TrimSpace) }},
	{"contains", 2, func() Builtin { return testTexts(strings.Contains) }},
	{"startswith", 2, func() Builtin { return testTexts(strings.HasPrefix) }},
	{"endswith", 2, func() Builtin { return testTexts(strings.HasSuffix) }},
	{"trim", 2, func() Builtin { return trimText(strings.Trim) }},
	{"trim_left", 2, func() Builtin { return trimText(strings.TrimLeft) }},
	{"trim_right", 2, func() Builtin { return trimText(strings.TrimRight) }},
	{"trim_prefix", 2, func() Builtin { return trimText(strings.TrimPrefix) }},
	{"trim_suffix", 2, func() Builtin { return trimText(strings.TrimSuffix) }},
	{"split", 2, func() Builtin { return split }},
	{"concat", 2, func() Builtin { return concat }},
	{"indexof", 2, func() Builtin { return onTexts(indexOf) }},
	{"strings.count", 2, func() Builtin {
		return onTexts(func(s, part string) (Value, bool, error) {
			return strings.Count(s, part), true, nil
		})
	}},
	{"strings.any_prefix_match", 2, func() Builtin { return anyAffix(strings.HasPrefix) }},
	{"strings.any_suffix_match", 2, func() Builtin { return anyAffix(strings.HasSuffix) }},
	{"replace", 3, func() Builtin { return replace }},
	{"substring", 3, func() Builtin { return substring }},
}

func split(_ *Call, args []Value) (Value, bool, error) {
	s, ok1 := args[0].(string)
	by, ok2 := args[1].(string)
	if !ok1 || !ok2 {
		return bail()
	}
	if by == "" {
		return textValues(strings.Split(s, by)), true, nil
	}
	out := make([]Value, 0, 1+strings.Count(s, by))
	for {
		i := strings.Index(s, by)
		switch {
		case i < 0 && len(out) == 0:
			return []Value{args[0]}, true, nil
		case i < 0:
			return append(out, s), true, nil
		}
		out = append(out, s[:i])
		s = s[i+len(by):]
	}
}

//go:noinline
func textValues(list []string) []Value {
	out := make([]Value, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func concat(_ *Call, args []Value) (Value, bool, error) {
	by, ok1 := args[0].(string)
	list, ok2 := argList(args[1])
	if !ok1 || !ok2 {
		return bail()
	}
	size := 0
	for _, e := range list {
		s, ok := e.(string)
		if !ok {
			return bail()
		}
		size += len(s) + len(by)
	}
	switch len(list) {
	case 0:
		return "", true, nil
	case 1:
		return list[0], true, nil
	}
	var out strings.Builder
	out.Grow(size)
	for i, e := range list {
		if i > 0 {
			out.WriteString(by)
		}
		out.WriteString(e.(string))
	}
	return out.String(), true, nil
}

func replace(_ *Call, args []Value) (Value, bool, error) {
	s, ok1 := args[0].(string)
	old, ok2 := args[1].(string)
	by, ok3 := args[2].(string)
	if !ok1 || !ok2 || !ok3 {
		return bail()
	}
	var out string
	if old != "" {
		out = strings.ReplaceAll(s, old, by)
	} else {
		out = strings.NewReplacer(old, by).Replace(s)
	}
	if out == s {
		return args[0], true, nil
	}
	return out, true, nil
}

// indexOf counts runes. Bytes that are none are one and the same rune to OPA,
// which is left to it.
func indexOf(s, part string) (Value, bool, error) {
	if part == "" || !countable(s, part) {
		return bail()
	}
	i := strings.Index(s, part)
	if i > 0 {
		i = utf8.RuneCountInString(s[:i])
	}
	return i, true, nil
}

func countable(s, part string) bool { return utf8.ValidString(s) && utf8.ValidString(part) }

func substring(_ *Call, args []Value) (Value, bool, error) {
	s, ok1 := args[0].(string)
	from, ok2 := intArg(args[1])
	length, ok3 := intArg(args[2])
	if !ok1 || !ok2 || !ok3 || from < 0 || !utf8.ValidString(s) {
		return bail()
	}
	begin := byteAt(s, from)
	if length < 0 {
		return cutText(args[0], s, begin, len(s))
	}
	return cutText(args[0], s, begin, begin+byteAt(s[begin:], length))
}

// byteAt is where rune n begins, the end when there are not so many.
func byteAt(s string, n int) int {
	if ascii(s) {
		return min(n, len(s))
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

func cutText(v Value, s string, from, to int) (Value, bool, error) {
	if from == 0 && to == len(s) {
		return v, true, nil
	}
	return s[from:to], true, nil
}

// anyAffix reports whether one of some strings begins, or ends, with one of
// some others.
func anyAffix(has func(s, affix string) bool) Builtin {
	return func(c *Call, args []Value) (Value, bool, error) {
		if s, ok := args[0].(string); ok {
			return oneAffix(has, s, args[1])
		}
		list, ok := argList(args[0])
		if !ok || !allTexts(list) {
			return bail()
		}
		if len(list) == 0 {
			_, _, err := oneAffix(has, "", args[1])
			return false, true, err
		}
		for _, e := range list {
			c.Step(1)
			found, _, err := oneAffix(has, e.(string), args[1])
			if err != nil || found == true {
				return found, true, err
			}
		}
		return false, true, nil
	}
}

func oneAffix(has func(s, affix string) bool, s string, affixes Value) (Value, bool, error) {
	if affix, ok := affixes.(string); ok {
		return has(s, affix), true, nil
	}
	list, ok := argList(affixes)
	if !ok || !allTexts(list) {
		return bail()
	}
	return slices.ContainsFunc(list, func(e Value) bool { return has(s, e.(string)) }), true, nil
}

func allTexts(list []Value) bool {
	for _, e := range list {
		if _, ok := e.(string); !ok {
			return false
		}
	}
	return true
}
