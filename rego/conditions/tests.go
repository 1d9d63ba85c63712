package conditions

import (
	"github.com/hookc/hookc/compiler/solve"
)

// kindTests are the functions that ask for a type.
var kindTests = map[string]solve.Kinds{"is_string": solve.String, "is_number": solve.Number, "is_boolean": solve.Boolean,
	"is_array": solve.List, "is_object": solve.Object, "is_set": solve.SetKind, "is_null": solve.Null}

// test is when a function that is true or false is true.
func (r *Reader) test(name string, args []*solve.Term) *formula {
	if v, ok := r.folded(name, args); ok {
		if v == nil {
			return solve.False
		}
		return solve.Is(v, solve.Present&^solve.IsFalse, r.at)
	}
	if kinds, ok := kindTests[name]; ok {
		return solve.Is(args[0], kinds, r.at)
	}
	switch name {
	case "internal.member_2", "internal.member_3":
		return r.some(func() *formula { return r.member(args) })
	case "equal":
		return solve.Equal(args[0], args[1], r.at)
	case "neq":
		return solve.And(solve.Is(args[0], solve.Present, r.at), solve.Is(args[1], solve.Present, r.at), solve.Not(solve.Equal(args[0], args[1], r.at)))
	case "lt", "lte", "gt", "gte":
		return r.compare(name, args[0], args[1])
	}
	if f := r.textTest(name, args); f != nil {
		return f
	}
	there := make([]*formula, len(args))
	for i, a := range args {
		there[i] = solve.Is(a, solve.Present, r.at)
	}
	return solve.And(append(there, solve.Function(name, args, r.at))...)
}

// mostHinted bounds the elements that are made for their number.
const mostHinted = 5

// compare reads an order. How many elements a collection has that rules make is
// known as far as whether it has any.
func (r *Reader) compare(name string, a, b *solve.Term) *formula {
	flip := map[string]string{"lt": "gt", "gt": "lt", "lte": "gte", "gte": "lte"}
	if _, constant := a.Constant(); constant {
		a, b, name = b, a, flip[name]
	}
	there := solve.And(solve.Is(a, solve.Present, r.at), solve.Is(b, solve.Present, r.at))
	if f, args := a.Called(); f == "count" && r.lists[args[0]] != nil {
		n, ok := b.Constant()
		least, number := n.(float64)
		one := func() *formula {
			return r.lists[args[0]](func(_, _ *solve.Term) *formula { return solve.True })
		}
		some := r.some(one)
		switch {
		case !ok || !number:
			return solve.Unknown("how many there are")
		case name == "gt" && least == 0, name == "gte" && least == 1:
			return some
		case name == "lt" && least == 1, name == "lte" && least == 0:
			return solve.Not(some)
		case name == "gt" && least > 0, name == "gte" && least > 1:
			more := []*formula{}
			for range int(min(least, mostHinted)) {
				more = append(more, one())
			}
			return solve.And(some, solve.Unknown("how many there are", more...))
		}
		return solve.Unknown("how many there are")
	}
	if f, args := a.Called(); (f == "sum" || f == "max" || f == "min") && r.lists[args[0]] != nil {
		return solve.Unknown("the function "+f, r.lists[args[0]](func(_, v *solve.Term) *formula { return r.compare(name, v, b) }))
	}
	switch name {
	case "lt":
		return solve.Less(a, b, false, r.at)
	case "gt":
		return solve.Less(b, a, false, r.at)
	case "lte":
		return solve.And(there, solve.Not(solve.Less(b, a, false, r.at)))
	}
	return solve.And(there, solve.Not(solve.Less(a, b, false, r.at)))
}

// textTest reads tests of texts; nil for others.
func (r *Reader) textTest(name string, args []*solve.Term) *formula {
	one := map[string]func(string) *solve.Lang{"startswith": solve.Prefix, "endswith": solve.Suffix, "contains": solve.Containing}
	several := map[string]func(string) *solve.Lang{"strings.any_prefix_match": solve.Prefix, "strings.any_suffix_match": solve.Suffix}
	switch {
	case one[name] != nil:
		text, ok := args[1].Text()
		if !ok {
			return solve.And(solve.Is(args[0], solve.String, r.at), solve.Is(args[1], solve.String, r.at),
				solve.Unknown("a comparison of texts", solve.Equal(args[0], args[1], r.at)))
		}
		return solve.Match(args[0], one[name](text), nil, r.at)
	case several[name] != nil:
		lists := make([][]*solve.Term, 2)
		for i, a := range args {
			list, ok := a.List()
			if !ok {
				list = []*solve.Term{a}
			}
			lists[i] = list
		}
		var out []*formula
		for _, a := range lists[0] {
			for _, b := range lists[1] {
				text, ok := b.Text()
				if !ok {
					return nil
				}
				out = append(out, solve.Match(a, several[name](text), nil, r.at))
			}
		}
		return solve.Or(out...)
	case name == "regex.match" || name == "re_match":
		pattern, ok := args[0].Text()
		if !ok {
			return solve.And(solve.Is(args[1], solve.String, r.at), solve.Unknown("a pattern that is computed"))
		}
		return r.matching(args[1], pattern)
	case name == "glob.match" && len(args) == 3:
		return r.glob(args)
	}
	return nil
}

func (r *Reader) matching(t *solve.Term, pattern string) *formula {
	l, err := solve.Expression(pattern)
	if err != nil {
		return solve.And(solve.Is(t, solve.String, r.at), solve.Unknown("the pattern "+pattern+": "+err.Error()))
	}
	return solve.Match(t, l, nil, r.at)
}

func (r *Reader) glob(args []*solve.Term) *formula {
	pattern, ok := args[0].Text()
	delimiters, known := args[1].Constant()
	if !ok || !known {
		return solve.And(solve.Is(args[2], solve.String, r.at), solve.Unknown("a glob that is computed"))
	}
	separators := ""
	if list, is := delimiters.([]any); is {
		for _, d := range list {
			text, _ := d.(string)
			separators += text
		}
		if separators == "" {
			separators = "."
		}
	}
	l, err := solve.GlobOf(pattern, separators)
	if err != nil {
		return solve.And(solve.Is(args[2], solve.String, r.at), solve.Unknown("the glob "+pattern))
	}
	return solve.Match(args[2], l, solve.UsualPath(args[2]), r.at)
}
