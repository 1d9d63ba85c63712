package native

import (
	"regexp"
	"strings"
)

// testers are the builtins that are tests of one value, by OPA's names. Files
// of builtins may register more.
var testers = map[string]tester{}

// registerTests adds a file's testers, as register does its builtins.
func registerTests(table map[string]tester) bool {
	for name, t := range table {
		if testers[name] != nil {
			panic("native: tester " + name + " is there twice")
		}
		testers[name] = t
	}
	return true
}

var _ = registerTests(map[string]tester{
	"contains":          texts(strings.Contains),
	"startswith":        texts(strings.HasPrefix),
	"endswith":          texts(strings.HasSuffix),
	"regex.match":       matches,
	"internal.member_2": belongs,
	"equal":             compares(func(c int) bool { return c == 0 }),
	"neq":               compares(func(c int) bool { return c != 0 }),
	"lt":                compares(func(c int) bool { return c < 0 }),
	"lte":               compares(func(c int) bool { return c <= 0 }),
	"gt":                compares(func(c int) bool { return c > 0 }),
	"gte":               compares(func(c int) bool { return c >= 0 }),
})

func truth(ok bool) verdict {
	if ok {
		return yes
	}
	return no
}

// texts are tests of two strings.
func texts(holds func(s, part string) bool) tester {
	return func(args []Value, at int) test {
		if len(args) != 2 {
			return nil
		}
		known, ok := args[1-at].(string)
		if !ok {
			return nil
		}
		if at == 1 {
			return func(v Value) verdict {
				part, ok := v.(string)
				if !ok {
					return strange
				}
				return truth(holds(known, part))
			}
		}
		return func(v Value) verdict {
			s, ok := v.(string)
			if !ok {
				return strange
			}
			return truth(holds(s, known))
		}
	}
}

// matches is a constant pattern, compiled once.
func matches(args []Value, at int) test {
	if len(args) != 2 || at != 1 {
		return nil
	}
	pattern, ok := args[0].(string)
	if !ok {
		return nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil
	}
	need := neededBy(pattern)
	return func(v Value) verdict {
		s, ok := v.(string)
		if !ok {
			return strange
		}
		return truth(need.in(s) && re.MatchString(s))
	}
}

// belongs is membership in a constant collection, or of a constant in
// whatever it is.
func belongs(args []Value, at int) test {
	if len(args) != 2 {
		return nil
	}
	if at == 1 {
		return func(v Value) verdict { return truth(hasValue(v, args[0])) }
	}
	if set, ok := args[1].(*Set); ok && set.Len() > few && len(set.find.others) == 0 {
		names := set.find.texts
		return func(v Value) verdict {
			s, ok := v.(string)
			if !ok {
				return no
			}
			_, ok = names[s]
			return truth(ok)
		}
	}
	return func(v Value) verdict { return truth(hasValue(args[1], v)) }
}

// hasValue is in: of an array's elements, an object's values, a set's
// elements; of anything else nothing is.
func hasValue(v, e Value) bool {
	switch x := v.(type) {
	case *Set:
		return x.Has(e)
	case []Value:
		for _, have := range x {
			if Equal(have, e) {
				return true
			}
		}
	case map[string]Value:
		for _, have := range x {
			if Equal(have, e) {
				return true
			}
		}
	case *Object:
		for i := range x.pairs {
			if Equal(x.pairs[i].value, e) {
				return true
			}
		}
	}
	return false
}

func compares(holds func(c int) bool) tester {
	return func(args []Value, at int) test {
		if len(args) != 2 {
			return nil
		}
		if at == 1 {
			return func(v Value) verdict { return truth(holds(Compare(args[0], v))) }
		}
		return func(v Value) verdict { return truth(holds(Compare(v, args[1]))) }
	}
}
