package builtins

import (
	"cmp"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/hookc/hookc/policy"
)

// segment is one step of a query, on the value itself or, with deep, on it and
// all below it.
type segment struct {
	deep      bool
	selectors []selector
}

// selector gives each child of a value that it selects to yield, until that says
// no.
type selector func(s *search, v any, yield func(step, any) bool) bool

// step is a member of an object, or an element of a list.
type step struct {
	key   string
	index int
}

// search is one evaluation of a query.
type search struct {
	root    any
	visited int
	// at is where the value that is looked at lies. A query within a filter goes on
	// from there, and its own steps are gone when it has ended.
	at     []step
	failed error
}

// walk gives what a query selects, from v on, to yield, until that says no. It
// reports whether all was given.
func (s *search) walk(v any, query []segment, yield func(any) bool) bool {
	if s.visited++; s.visited > maxVisited || s.failed != nil {
		return false
	}
	if len(query) == 0 {
		return yield(v)
	}
	into := func(rest []segment) func(step, any) bool {
		return func(at step, child any) bool {
			s.at = append(s.at, at)
			defer func() { s.at = s.at[:len(s.at)-1] }()
			return s.walk(child, rest, yield)
		}
	}
	for _, selector := range query[0].selectors {
		if !selector(s, v, into(query[1:])) {
			return false
		}
	}
	return !query[0].deep || everyChild(s, v, into(query))
}

//go:noinline
func everyChild(_ *search, v any, yield func(step, any) bool) bool {
	switch x := v.(type) {
	case map[string]any:
		for k, child := range x {
			if !yield(step{key: k}, child) {
				return false
			}
		}
	case []any:
		for i, child := range x {
			if !yield(step{index: i}, child) {
				return false
			}
		}
	}
	return true
}

func member(name string) selector {
	return func(_ *search, v any, yield func(step, any) bool) bool {
		object, _ := v.(map[string]any)
		child, ok := object[name]
		return !ok || yield(step{key: name}, child)
	}
}

func element(i int) selector {
	return func(_ *search, v any, yield func(step, any) bool) bool {
		list, _ := v.([]any)
		at := i
		if at < 0 {
			at += len(list)
		}
		return at < 0 || at >= len(list) || yield(step{index: at}, list[at])
	}
}

// slice is [from:to:by] as RFC 9535 has it, each nil where it is not written.
func slice(from, to, by *int) selector {
	return func(_ *search, v any, yield func(step, any) bool) bool {
		list, _ := v.([]any)
		pace := 1
		if by != nil {
			pace = *by
		}
		if pace == 0 {
			return true
		}
		low, high := 0, len(list) // of what may be taken
		first, last := 0, len(list)
		if pace < 0 {
			low, high = -1, len(list)-1
			first, last = high, low
		}
		bound := func(p *int, usual int) int {
			switch {
			case p == nil:
				return usual
			case *p < 0:
				return max(low, min(high, *p+len(list)))
			}
			return max(low, min(high, *p))
		}
		end := bound(to, last)
		for i := bound(from, first); pace > 0 && i < end || pace < 0 && i > end; i += pace {
			if !yield(step{index: i}, list[i]) {
				return false
			}
		}
		return true
	}
}

// test is a condition of a filter on the value that @ means.
type test func(s *search, current any) bool

func filtered(holds test) selector {
	return func(s *search, v any, yield func(step, any) bool) bool {
		return everyChild(s, v, func(at step, child any) bool { return !holds(s, child) || yield(at, child) })
	}
}

// operand is one side of a comparison; it has no value where there is nothing.
type operand func(s *search, current any) (any, bool)

// query is a query within a filter.
type query struct {
	fromRoot bool
	segments []segment
}

func (q query) walk(s *search, current any, yield func(any) bool) {
	if q.fromRoot {
		current = s.root
	}
	s.walk(current, q.segments, yield)
}

// count is how many values the query selects, up to limit.
func (q query) count(s *search, current any, limit int) int {
	n := 0
	q.walk(s, current, func(any) bool { n++; return n < limit })
	return n
}

// only is the value that the query selects where it is the only one.
func (q query) only(s *search, current any) (any, bool) {
	var found any
	n := 0
	q.walk(s, current, func(v any) bool { found = v; n++; return n < 2 })
	return found, n == 1
}

func compared(op string, left, right operand) test {
	return func(s *search, current any) bool {
		a, okA := left(s, current)
		b, okB := right(s, current)
		a, b = decimal(a), decimal(b)
		same := okA == okB && (!okA || policy.SameValue(a, b))
		switch op {
		case "==":
			return same
		case "!=":
			return !same
		case "<=", ">=":
			if same {
				return true
			}
		}
		n, ok := ordered(a, b)
		return ok && okA && okB && (n < 0 && op[0] == '<' || n > 0 && op[0] == '>')
	}
}

// decimal is a number that is written with a point or an exponent as a float, so
// that 5.0 is 5; any other value as it is.
func decimal(v any) any {
	n, ok := v.(json.Number)
	if !ok || !strings.ContainsAny(string(n), ".eE") {
		return v
	}
	if f, err := n.Float64(); err == nil {
		return f
	}
	return v
}

// ordered compares two numbers or two texts.
func ordered(a, b any) (int, bool) {
	if x, ok := a.(string); ok {
		y, ok := b.(string)
		return strings.Compare(x, y), ok
	}
	if x, ok := whole(a); ok {
		if y, ok := whole(b); ok {
			return cmp.Compare(x, y), true
		}
	}
	x, okX := float(a)
	y, okY := float(b)
	return cmp.Compare(x, y), okX && okY
}

func whole(v any) (int64, bool) {
	switch n := v.(type) {
	case int:
		return int64(n), true
	case int64:
		return n, true
	case json.Number:
		i, err := n.Int64()
		return i, err == nil
	}
	return 0, false
}

func float(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case json.Number:
		f, _ := n.Float64() // infinite where it is too large
		return f, true
	}
	i, ok := whole(v)
	return float64(i), ok
}

// length is that of a text in characters, and of a list or an object in values.
func length(of operand) operand {
	return func(s *search, current any) (any, bool) {
		v, _ := of(s, current)
		switch x := v.(type) {
		case string:
			return utf8.RuneCountInString(x), true
		case []any:
			return len(x), true
		case map[string]any:
			return len(x), true
		}
		return nil, false
	}
}

// matched is whether a text matches a pattern, all of it or, with part, a part.
func matched(part bool, of, pattern operand) test {
	return func(s *search, current any) bool {
		v, _ := of(s, current)
		p, _ := pattern(s, current)
		text, isText := v.(string)
		re, isPattern := p.(string)
		if !isText || !isPattern {
			return false
		}
		if !part {
			re = `^(?:` + re + `)$`
		}
		compiled, err := Regexp(re)
		if err != nil {
			s.failed = err
			return false
		}
		return compiled.MatchString(text)
	}
}
