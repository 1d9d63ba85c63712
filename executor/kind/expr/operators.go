package expr

import (
	"math"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm/runtime"

	"github.com/hookc/hookc/builtins"
)

// operator is what a binary operator does with two values that are there. It
// may panic, as expr's own does. Tests are true or false.
type operator struct {
	apply func(f *frame, a, b any) any
	test  bool
}

var operators = map[string]operator{
	"==": {func(f *frame, a, b any) any { return equal(f, a, b) }, true},
	"!=": {func(f *frame, a, b any) any { return !equal(f, a, b) }, true},
	"<":  {ordered(runtime.Less), true},
	"<=": {ordered(runtime.LessOrEqual), true},
	">":  {ordered(runtime.More), true},
	">=": {ordered(runtime.MoreOrEqual), true},
	"in": {func(f *frame, a, b any) any { return contains(f, a, b) }, true},

	"contains":   {textTests["contains"], true},
	"startsWith": {textTests["startsWith"], true},
	"endsWith":   {textTests["endsWith"], true},
	"matches":    {matches, true},

	"+":  {add, false},
	"-":  {minus, false},
	"*":  {multiply, false},
	"/":  {func(_ *frame, a, b any) any { return runtime.Divide(number(a), number(b)) }, false},
	"%":  {func(_ *frame, a, b any) any { return runtime.Modulo(number(a), number(b)) }, false},
	"**": {func(_ *frame, a, b any) any { return runtime.Exponent(number(a), number(b)) }, false},
	"^":  {func(_ *frame, a, b any) any { return runtime.Exponent(number(a), number(b)) }, false},
	"..": {span, false},
}

// textTests are the operators on two texts.
var textTests = map[string]func(f *frame, a, b any) any{
	"contains":   textTest("contains", strings.Contains),
	"startsWith": textTest("startsWith", strings.HasPrefix),
	"endsWith":   textTest("endsWith", strings.HasSuffix),
}

func textTest(name string, test func(s, part string) bool) func(f *frame, a, b any) any {
	return func(f *frame, a, b any) any {
		if a == nil || b == nil {
			return false
		}
		s, okS := a.(string)
		part, okPart := b.(string)
		if !okS || !okPart {
			f.fail(f.at, "%s takes two texts, not %s and %s", name, typeName(a), typeName(b))
		}
		return test(s, part)
	}
}

func matches(f *frame, a, b any) any {
	if a == nil || b == nil {
		return false
	}
	pattern, ok := b.(string)
	if !ok {
		f.fail(f.at, "matches takes a pattern, not %s", typeName(b))
	}
	re, err := builtins.Regexp(pattern)
	if err != nil {
		panic(err)
	}
	return matchText(f, re, a)
}

func matchText(f *frame, re *regexp.Regexp, v any) bool {
	switch s := v.(type) {
	case string:
		return re.MatchString(s)
	case []byte:
		return re.Match(s)
	case nil:
		return false
	}
	f.fail(f.at, "matches takes a text, not %s", typeName(v))
	return false
}

func add(f *frame, a, b any) any {
	if s, ok := a.(string); ok {
		if t, ok := b.(string); ok {
			f.grow(len(s) + len(t))
			return s + t
		}
	}
	return plus(f, a, b)
}

func span(f *frame, a, b any) any {
	from, to := runtime.ToInt(f.inRange(a)), runtime.ToInt(f.inRange(b))
	if to >= from {
		if n := to - from; n < 0 || n > memoryBudget/wordSize {
			f.grow(-1)
		}
		f.grow((to - from + 1) * wordSize)
	}
	return runtime.MakeRange(from, to)
}

func (c *compiler) binary(n *ast.BinaryNode) term {
	switch n.Operator {
	case "and", "&&":
		return c.logical(n, false)
	case "or", "||":
		return c.logical(n, true)
	case "??":
		return c.coalesce(n)
	}
	a, b := c.term(n.Left), c.term(n.Right)
	if t, ok := specialised(n, a, b); ok {
		return fold(t, a, b)
	}
	op, ok := operators[n.Operator]
	if !ok {
		panic("runner: expr operator " + n.Operator + " is not known")
	}
	at, apply := place(n), op.apply
	eval := func(f *frame) any {
		x := a.eval(f)
		y := b.eval(f)
		if isUndefined(x) || isUndefined(y) {
			return undefined
		}
		f.at = at
		return apply(f, x, y)
	}
	sure := (n.Operator == "==" || n.Operator == "!=") && (scalar(a) || scalar(b)) && a.sure && b.sure
	return fold(term{eval: eval, sure: sure, test: op.test}, a, b)
}

// scalar reports whether a term is a constant that holds nothing else:
// comparing with it takes one step.
func scalar(t term) bool {
	switch t.value.(type) {
	case nil, string, bool, int, float64:
		return t.constant
	}
	return false
}

// specialised is a faster closure for the tests most rules are made of: those
// against a constant.
func specialised(n *ast.BinaryNode, a, b term) (term, bool) {
	text, isText := b.value.(string)
	switch {
	case !b.constant:
		return term{}, false
	case isText && (n.Operator == "==" || n.Operator == "!="):
		negate := n.Operator == "!="
		return term{sure: a.sure, test: true, eval: func(f *frame) any {
			v := a.eval(f)
			if s, ok := v.(string); ok {
				return (s == text) != negate
			}
			if isUndefined(v) {
				return v
			}
			return negate
		}}, true
	case isText && n.Operator == "matches":
		re, err := regexp.Compile(text)
		if err != nil {
			return term{}, false
		}
		return constantMatch(re, a, place(n)), true
	case isText && textTests[n.Operator] != nil:
		return constantText(n.Operator, text, a, place(n)), true
	case n.Operator == "in":
		if set, ok := textSet(b.value); ok {
			return term{sure: a.sure, test: true, eval: func(f *frame) any {
				v := a.eval(f)
				if s, ok := v.(string); ok {
					return set[s]
				}
				if isUndefined(v) {
					return v
				}
				return false
			}}, true
		}
	}
	return term{}, false
}

// constantText is a test of a text for a constant part.
func constantText(operator, part string, a term, at int) term {
	slow, boxed := textTests[operator], any(part)
	test := strings.Contains
	switch operator {
	case "startsWith":
		test = strings.HasPrefix
	case "endsWith":
		test = strings.HasSuffix
	}
	return term{test: true, eval: func(f *frame) any {
		v := a.eval(f)
		if s, ok := v.(string); ok {
			return test(s, part)
		}
		if isUndefined(v) {
			return v
		}
		f.at = at
		return slow(f, v, boxed)
	}}
}

func constantMatch(re *regexp.Regexp, a term, at int) term {
	return term{test: true, eval: func(f *frame) any {
		v := a.eval(f)
		if s, ok := v.(string); ok {
			return re.MatchString(s)
		}
		if isUndefined(v) {
			return v
		}
		f.at = at
		return matchText(f, re, v)
	}}
}

// textSet is a constant list of nothing but texts as a set.
func textSet(v any) (map[string]bool, bool) {
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	set := make(map[string]bool, len(list))
	for _, e := range list {
		s, ok := e.(string)
		if !ok {
			return nil, false
		}
		set[s] = true
	}
	return set, true
}

// logical is `and` (settled by false) or `or` (settled by true), three-valued:
// undefined unless one side settles it. The right side is evaluated unless
// the left has.
func (c *compiler) logical(n *ast.BinaryNode, settles bool) term {
	a, b := c.term(n.Left), c.term(n.Right)
	atA, atB := place(n.Left), place(n.Right)
	eval := func(f *frame) any {
		x := a.eval(f)
		if !isUndefined(x) && f.truth(atA, x) == settles {
			return settles
		}
		y := b.eval(f)
		if isUndefined(y) {
			return y
		}
		if f.truth(atB, y) == settles {
			return settles
		}
		return x
	}
	t := term{eval: eval, sure: a.sure && b.sure && a.test && b.test, test: true}
	if a.constant && a.value == settles {
		return constant(settles)
	}
	return fold(t, a, b)
}

// coalesce is the left value, or the right where it is undefined or null.
func (c *compiler) coalesce(n *ast.BinaryNode) term {
	a, b := c.term(n.Left), c.term(n.Right)
	eval := func(f *frame) any {
		if v := a.eval(f); v != nil && !isUndefined(v) {
			return v
		}
		return b.eval(f)
	}
	return fold(term{eval: eval, sure: a.sure && b.sure, test: a.test && b.test}, a, b)
}

func (c *compiler) unary(n *ast.UnaryNode) term {
	a, at := c.term(n.Node), place(n.Node)
	var t term
	switch n.Operator {
	case "!", "not":
		// An undefined term under `not` is true: the safe side for a guard.
		t = term{sure: a.sure && a.test, test: true, eval: func(f *frame) any {
			v := a.eval(f)
			return isUndefined(v) || !f.truth(at, v)
		}}
	case "-":
		t = term{eval: func(f *frame) any {
			v := a.eval(f)
			if isUndefined(v) {
				return v
			}
			f.at = at
			if n := number(v); n != math.MinInt {
				return runtime.Negate(n)
			}
			return minus(f, 0, v) // which fails
		}}
	default:
		t = a
	}
	return fold(t, a)
}
