package native

import "strconv"

var compareBuiltins = []own{
	{"equal", 2, func() Builtin {
		return func(_ *Call, args []Value) (Value, bool, error) { return Equal(args[0], args[1]), true, nil }
	}},
	{"neq", 2, func() Builtin {
		return func(_ *Call, args []Value) (Value, bool, error) { return !Equal(args[0], args[1]), true, nil }
	}},
	{"lt", 2, func() Builtin { return comparing(func(c int) bool { return c < 0 }) }},
	{"lte", 2, func() Builtin { return comparing(func(c int) bool { return c <= 0 }) }},
	{"gt", 2, func() Builtin { return comparing(func(c int) bool { return c > 0 }) }},
	{"gte", 2, func() Builtin { return comparing(func(c int) bool { return c >= 0 }) }},
	{"internal.member_2", 2, func() Builtin {
		return func(_ *Call, args []Value) (Value, bool, error) {
			return hasValue(args[1], args[0]), true, nil
		}
	}},
	{"internal.member_3", 3, func() Builtin { return hasPair }},
	{"is_null", 1, func() Builtin { return isKind(kindNull) }},
	{"is_boolean", 1, func() Builtin { return isKind(kindBool) }},
	{"is_number", 1, func() Builtin { return isKind(kindNumber) }},
	{"is_string", 1, func() Builtin { return isKind(kindString) }},
	{"is_array", 1, func() Builtin { return isKind(kindArray) }},
	{"is_object", 1, func() Builtin { return isKind(kindObject) }},
	{"is_set", 1, func() Builtin { return isKind(kindSet) }},
	{"type_name", 1, func() Builtin { return typeName }},
	{"to_number", 1, func() Builtin { return toNumber }},
}

func comparing(holds func(c int) bool) Builtin {
	return func(_ *Call, args []Value) (Value, bool, error) {
		return holds(Compare(args[0], args[1])), true, nil
	}
}

// hasPair is key, value in collection; of a set the two are one.
func hasPair(_ *Call, args []Value) (Value, bool, error) {
	if set, ok := args[2].(*Set); ok {
		return set.Has(args[0]) && Equal(args[0], args[1]), true, nil
	}
	v, ok := Get(args[2], args[0])
	return ok && Equal(v, args[1]), true, nil
}

var kindNames = [...]Value{
	kindNull: "null", kindBool: "boolean", kindNumber: "number", kindString: "string",
	kindArray: "array", kindObject: "object", kindSet: "set",
}

func typeName(_ *Call, args []Value) (Value, bool, error) {
	return kindNames[kindOf(args[0])], true, nil
}

func isKind(k kind) Builtin {
	return func(_ *Call, args []Value) (Value, bool, error) { return kindOf(args[0]) == k, true, nil }
}

// toNumber reads a string that is written as JSON writes numbers. What else
// Go's ParseFloat takes is left to OPA.
func toNumber(_ *Call, args []Value) (Value, bool, error) {
	switch x := args[0].(type) {
	case nil:
		return 0, true, nil
	case bool:
		if x {
			return 1, true, nil
		}
		return 0, true, nil
	case string:
		if numberEnd(x, 0) != len(x) {
			return bail()
		}
		if _, err := strconv.ParseFloat(x, 64); err != nil {
			return bail()
		}
		return numberOf(x), true, nil
	}
	if kindOf(args[0]) != kindNumber {
		return bail()
	}
	return args[0], true, nil
}

// numberEnd is where the number that begins at i ends as JSON writes numbers,
// -1 when there is none.
func numberEnd(s string, i int) int {
	if i < len(s) && s[i] == '-' {
		i++
	}
	switch j := digitsEnd(s, i); {
	case j == i:
		return -1
	case s[i] == '0':
		i++
	default:
		i = j
	}
	if i < len(s) && s[i] == '.' {
		j := digitsEnd(s, i+1)
		if j == i+1 {
			return -1
		}
		i = j
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		j := digitsEnd(s, i)
		if j == i {
			return -1
		}
		i = j
	}
	return i
}

func digitsEnd(s string, i int) int {
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}
