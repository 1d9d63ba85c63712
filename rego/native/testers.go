package native

import "strings"

// testerOf is the tester of a builtin that is a test of one value, by OPA's
// name; nil for any other.
func testerOf(name string) tester {
	switch name {
	case "contains":
		return texts(strings.Contains)
	case "startswith":
		return texts(strings.HasPrefix)
	case "endswith":
		return texts(strings.HasSuffix)
	case "regex.match", "re_match":
		return matches
	case "glob.match":
		return globTest
	case "internal.member_2":
		return belongs
	case "equal":
		return compares(func(c int) bool { return c == 0 })
	case "neq":
		return compares(func(c int) bool { return c != 0 })
	case "lt":
		return compares(func(c int) bool { return c < 0 })
	case "lte":
		return compares(func(c int) bool { return c <= 0 })
	case "gt":
		return compares(func(c int) bool { return c > 0 })
	case "gte":
		return compares(func(c int) bool { return c >= 0 })
	}
	return nil
}

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

// matches is a constant pattern; there is no test of one that is wrong.
func matches(args []Value, at int) test {
	if len(args) != 2 || at != 1 {
		return nil
	}
	pattern, ok := args[0].(string)
	if !ok {
		return nil
	}
	e := newExpression(pattern)
	if e == nil {
		return nil
	}
	return func(v Value) verdict {
		switch s := v.(type) {
		case string:
			return e.match(s)
		case longText:
			if re := e.re.Load(); re != nil {
				return truth(re.MatchString(string(s)))
			}
		}
		return strange
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
