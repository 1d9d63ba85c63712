package native

import "github.com/hookc/hookc/internal/lists"

// Files named builtins_*.go hold OPA's builtins by what they are of. Each
// answers as OPA's does or bails: a type error, a builtin's error and a rare
// case that is left to topdown on purpose are one, and topdown tells them apart.
// Builtins that are nowhere here are the host's, which has OPA's own.

// Names are the builtins that native has itself, in order.
func Names() []string {
	var names []string
	for _, table := range owns {
		for i := range table {
			names = append(names, table[i].name)
		}
	}
	lists.Sort(names)
	return names
}

// Has reports whether native has a builtin itself.
func Has(name string) bool { return ownBuiltin(name) != nil }

// bail is what a builtin gives when topdown is to answer.
func bail() (Value, bool, error) { return nil, false, ErrBail }

// onTexts makes a builtin of a function of two strings.
func onTexts(f func(a, b string) (Value, bool, error)) Builtin {
	return func(_ *Call, args []Value) (Value, bool, error) {
		a, ok1 := args[0].(string)
		b, ok2 := args[1].(string)
		if !ok1 || !ok2 {
			return bail()
		}
		return f(a, b)
	}
}

// testTexts makes a builtin of a test, trimText one of a function that mostly
// gives its first argument back, which is then not made again.
func testTexts(f func(a, b string) bool) Builtin {
	return onTexts(func(a, b string) (Value, bool, error) { return f(a, b), true, nil })
}

func trimText(f func(a, b string) string) Builtin {
	return func(_ *Call, args []Value) (Value, bool, error) {
		a, ok1 := args[0].(string)
		b, ok2 := args[1].(string)
		if !ok1 || !ok2 {
			return bail()
		}
		if out := f(a, b); out != a {
			return out, true, nil
		}
		return args[0], true, nil
	}
}

func changeText(f func(s string) string) Builtin {
	return func(_ *Call, args []Value) (Value, bool, error) {
		s, ok := args[0].(string)
		if !ok {
			return bail()
		}
		if out := f(s); out != s {
			return out, true, nil
		}
		return args[0], true, nil
	}
}

// argList is the elements of an array or a set, which nobody changes; of
// anything else there are none.
//
//go:noinline
func argList(v Value) ([]Value, bool) {
	switch x := v.(type) {
	case []Value:
		return x, true
	case *Set:
		return x.Elems(), true
	}
	return nil, false
}

// isObject reports whether a value is an object of either form.
func isObject(v Value) bool {
	switch v.(type) {
	case map[string]Value, *Object:
		return true
	}
	return false
}

// intArg is an int argument: an integer as OPA's Int reads it, 1.0 too.
func intArg(v Value) (int, bool) {
	i, ok := position(v)
	return int(i), ok && int64(int(i)) == i
}

// numberOf is the number of a text that is one.
func numberOf(text string) Value {
	if len(text) <= 18 {
		if i, ok := integer(text); ok && numberText(int(i)) == text {
			return int(i)
		}
	}
	return Number(text)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
