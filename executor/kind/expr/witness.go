package expr

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/compiler/solve"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Rules are the conditions of the hook, each with its `when`, and its sets and its
// context.
func (h *exprHook) Rules() []solve.Rule {
	var out []solve.Rule
	add := func(name string, at diag.Span, x *formula, fires func(*frame) bool) {
		r := reader{}
		when := solve.True
		if h.when != nil {
			when, _ = r.of(h.when)
		}
		if x != nil {
			holds, _ := r.of(x)
			when = solve.And(when, holds)
		}
		out = append(out, solve.Rule{Name: name, At: at, When: when, Fires: func(in *policy.Context) bool { return h.try(in, fires) }})
	}
	for i := range h.rules {
		rule := &h.rules[i]
		by := rule.result.VerdictBy
		if rule.result.Verdict == policy.None {
			by = rule.result.ControlBy
		}
		add(rule.condition.what, by.At, rule.condition, func(f *frame) bool { return f.fires(rule.condition) })
		out[i].Form = h.Form()
		out[i].Says, out[i].Sure = fmt.Sprint(i, rule.reasons()), rule.condition.sure && (h.when == nil || h.when.sure)
	}
	if len(h.sets)+len(h.rules) == 0 || len(h.sets) > 0 || h.context != nil {
		at := diag.Span{}
		if h.when != nil {
			at = h.when.text.Span
		}
		add("when", at, nil, func(*frame) bool { return true })
	}
	return out
}

func (r *exprRule) reasons() []string {
	var out []string
	for _, reason := range r.result.Reasons {
		out = append(out, reason.Text)
	}
	return out
}

// Form is the expressions as parsed, and what they say.
func (h *exprHook) Form() string {
	var b strings.Builder
	write := func(what string, x *formula) {
		if x != nil {
			fmt.Fprintf(&b, "%s: %s\n", what, x.tree)
		}
	}
	write("when", h.when)
	for i := range h.rules {
		r := &h.rules[i]
		write(fmt.Sprintf("%s %q", r.condition.what, r.reasons()), r.condition)
	}
	for i := range h.sets {
		write(fmt.Sprint("set ", h.sets[i].key, h.sets[i].path, h.sets[i].output), h.sets[i].value)
	}
	write("context", h.context)
	return b.String()
}

// try evaluates `when` and one condition.
func (h *exprHook) try(in *policy.Context, fires func(*frame) bool) (is bool) {
	f := newFrame(context.Background(), in, h.budget, h.vars, h.scopes)
	defer func() {
		if recover() != nil {
			is = false
		}
		f.release()
	}()
	return (h.when == nil || f.fires(h.when)) && fires(f)
}

// reader reads the tree of an expression. A condition is true, false or
// undefined: its formulas are of the first two.
type reader struct {
	text              diag.Text
	vars              map[string][]choice
	elements, opaques int
	element           []*solve.Term
}

// choice is a value that a node has under a condition.
type choice struct {
	when *solve.Formula
	t    *solve.Term
}

func (c *reader) of(x *formula) (is, not *solve.Formula) {
	c.text, c.vars, c.element = x.text, map[string][]choice{}, nil
	return c.truth(x.tree)
}

func (c *reader) place(n ast.Node) solve.Place {
	at := n.Location()
	source := n.String()
	if len(source) > 80 {
		source = source[:77] + "..."
	}
	return solve.Place{Source: source, At: textSpan(c.text, at.From, max(at.To, at.From+1))}
}

func unknown(why string) (is, not *solve.Formula) { return solve.Unknown(why), solve.Unknown(why) }

// truth is when a node is true, and when false.
func (c *reader) truth(n ast.Node) (is, not *solve.Formula) {
	switch n := n.(type) {
	case *ast.BoolNode:
		if n.Value {
			return solve.True, solve.False
		}
		return solve.False, solve.True
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			is, _ = c.truth(n.Node)
			return solve.Not(is), is
		}
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.ConditionalNode:
		i, e := c.truth(n.Cond)
		a, na := c.truth(n.Exp1)
		b, nb := c.truth(n.Exp2)
		return solve.Or(solve.And(i, a), solve.And(e, b)), solve.Or(solve.And(i, na), solve.And(e, nb))
	case *ast.VariableDeclaratorNode:
		old, had := c.vars[n.Name]
		c.vars[n.Name] = c.values(n.Value)
		is, not = c.truth(n.Expr)
		delete(c.vars, n.Name)
		if had {
			c.vars[n.Name] = old
		}
		return is, not
	case *ast.BuiltinNode:
		if is, not = c.loop(n); is != nil {
			return is, not
		}
		if len(n.Arguments) == 2 && (n.Name == "hasPrefix" || n.Name == "hasSuffix") {
			return c.textTest(n, n.Name, n.Arguments[0], n.Arguments[1])
		}
	case *ast.CallNode:
		if id, ok := n.Callee.(*ast.IdentifierNode); ok {
			return c.call(n, id.Value)
		}
	}
	return c.either(c.values(n), func(t *solve.Term) *solve.Formula { return solve.Is(t, solve.IsTrue, c.place(n)) },
		func(t *solve.Term) *solve.Formula { return solve.Is(t, solve.IsFalse, c.place(n)) })
}

func (c *reader) either(of []choice, is, not func(*solve.Term) *solve.Formula) (_, _ *solve.Formula) {
	var yes, no []*solve.Formula
	for _, v := range of {
		yes, no = append(yes, solve.And(v.when, is(v.t))), append(no, solve.And(v.when, not(v.t)))
	}
	return solve.Or(yes...), solve.Or(no...)
}

func (c *reader) binary(n *ast.BinaryNode) (is, not *solve.Formula) {
	switch n.Operator {
	case "and", "&&", "or", "||":
		a, na := c.truth(n.Left)
		b, nb := c.truth(n.Right)
		if n.Operator == "and" || n.Operator == "&&" {
			return solve.And(a, b), solve.Or(na, nb)
		}
		return solve.Or(a, b), solve.And(na, nb)
	case "matches", "contains", "startsWith", "endsWith":
		return c.textTest(n, n.Operator, n.Left, n.Right)
	case "in":
		return c.member(n)
	case "==", "!=", "<", ">", "<=", ">=":
		return c.compare(n)
	}
	return c.either(c.values(n), func(t *solve.Term) *solve.Formula { return solve.Is(t, solve.IsTrue, c.place(n)) },
		func(t *solve.Term) *solve.Formula { return solve.Is(t, solve.IsFalse, c.place(n)) })
}

// pairs makes the formulas of a test of two nodes, of which one that is not there
// makes it undefined.
func (c *reader) pairs(a, b ast.Node, at solve.Place, test func(x, y *solve.Term) *solve.Formula) (is, not *solve.Formula) {
	var yes, no []*solve.Formula
	for _, x := range c.values(a) {
		for _, y := range c.values(b) {
			there := solve.And(x.when, y.when, solve.Is(x.t, solve.Present, at), solve.Is(y.t, solve.Present, at))
			f := test(x.t, y.t)
			yes, no = append(yes, solve.And(there, f)), append(no, solve.And(there, solve.Not(f)))
		}
	}
	return solve.Or(yes...), solve.Or(no...)
}

func (c *reader) compare(n *ast.BinaryNode) (is, not *solve.Formula) {
	at := c.place(n)
	is, not = c.pairs(n.Left, n.Right, at, func(x, y *solve.Term) *solve.Formula {
		switch n.Operator {
		case "<", ">=":
			return solve.Less(x, y, true, at)
		case ">", "<=":
			return solve.Less(y, x, true, at)
		}
		return solve.Equal(x, y, at)
	})
	switch n.Operator {
	case "==":
		return is, not
	case "!=":
		return not, is
	}
	not = solve.And(not, c.comparable(n, at)) // Values that are not compared make it fail.
	if n.Operator == ">=" || n.Operator == "<=" {
		return not, is
	}
	return is, not
}

// comparable is when two nodes have an order.
func (c *reader) comparable(n *ast.BinaryNode, at solve.Place) *solve.Formula {
	is, _ := c.pairs(n.Left, n.Right, at, func(x, y *solve.Term) *solve.Formula {
		return solve.Or(solve.And(solve.Is(x, solve.Number, at), solve.Is(y, solve.Number, at)), solve.And(solve.Is(x, solve.String, at), solve.Is(y, solve.String, at)))
	})
	return is
}

func (c *reader) textTest(n ast.Node, operator string, a, b ast.Node) (is, not *solve.Formula) {
	at := c.place(n)
	return c.pairs(a, b, at, func(x, y *solve.Term) *solve.Formula {
		text, ok := y.Text()
		if !ok {
			return solve.Unknown("a comparison of texts", solve.Equal(x, y, at))
		}
		var l *solve.Lang
		switch operator {
		case "contains":
			l = solve.Containing(text)
		case "startsWith", "hasPrefix":
			l = solve.Prefix(text)
		case "endsWith", "hasSuffix":
			l = solve.Suffix(text)
		default:
			var err error
			if l, err = solve.Expression(text); err != nil {
				return solve.Unknown("the pattern " + text + ": " + err.Error())
			}
		}
		return solve.Match(x, l, nil, at)
	})
}

func (c *reader) member(n *ast.BinaryNode) (is, not *solve.Formula) {
	at := c.place(n)
	return c.pairs(n.Left, n.Right, at, func(x, of *solve.Term) *solve.Formula {
		if list, ok := of.List(); ok {
			var any []*solve.Formula
			for _, v := range list {
				any = append(any, solve.Equal(x, v, at))
			}
			return solve.Or(any...)
		}
		if v, ok := of.Constant(); ok {
			object, _ := v.(map[string]any)
			return solve.Match(x, solve.Words(slices.Collect(maps.Keys(object))...), nil, at)
		}
		key, isText := x.Text()
		if isText && !of.Made() {
			return solve.Or(solve.Is(of.Member(key), solve.Present, at), solve.Some(solve.And(solve.Is(of, solve.List, at), solve.Equal(c.next(of), x, at))))
		}
		return solve.Some(solve.Equal(c.next(of), x, at))
	})
}

// next is an element of its own.
func (c *reader) next(of *solve.Term) *solve.Term {
	c.elements++
	return of.Element(c.elements)
}

// loop reads any, all, none and one; nil for other functions.
func (c *reader) loop(n *ast.BuiltinNode) (is, not *solve.Formula) {
	if !lists.Has([]string{"any", "all", "none", "one"}, n.Name) || len(n.Arguments) != 2 {
		return nil, nil
	}
	p, ok := n.Arguments[1].(*ast.PredicateNode)
	of := c.values(n.Arguments[0])
	if !ok || len(of) != 1 {
		return unknown(n.Name)
	}
	inner := func(t *solve.Term) (is, not *solve.Formula) {
		c.element = append(c.element, t)
		defer func() { c.element = c.element[:len(c.element)-1] }()
		return c.truth(p.Node)
	}
	var each, none []*solve.Formula
	list, known := of[0].t.List()
	for _, t := range list {
		a, b := inner(t)
		each, none = append(each, a), append(none, b)
	}
	if !known {
		element := c.next(of[0].t)
		a, b := inner(element)
		if n.Name == "none" {
			a = b
		}
		there := solve.Is(of[0].t, solve.List|solve.Object, c.place(n))
		some := solve.Some(solve.And(solve.Is(element, solve.Present, c.place(n)), a))
		if n.Name == "any" {
			return some, solve.And(there, solve.Unknown("none of a list"))
		}
		return solve.And(there, solve.Unknown(n.Name+" of a list", some)), solve.And(there, solve.Unknown(n.Name+" of a list"))
	}
	switch n.Name {
	case "any":
		return solve.Or(each...), solve.And(none...)
	case "all":
		return solve.And(each...), solve.Or(none...)
	case "none":
		return solve.And(none...), solve.Or(each...)
	}
	return unknown(n.Name)
}

// call reads a function of hookc's that is true or false.
func (c *reader) call(n *ast.CallNode, name string) (is, not *solve.Formula) {
	at := c.place(n)
	there := []*solve.Formula{}
	var args []*solve.Term
	for _, a := range n.Arguments {
		v := c.values(a)
		if len(v) != 1 {
			return unknown("the function " + name)
		}
		args = append(args, v[0].t)
		there = append(there, v[0].when, solve.Is(v[0].t, solve.Present, at))
	}
	return solve.And(append(there, solve.Function(name, args, at))...), solve.And(append(there, solve.Unknown("the function "+name))...)
}

// values are what a node may come to.
func (c *reader) values(n ast.Node) []choice {
	one := func(t *solve.Term) []choice { return []choice{{solve.True, t}} }
	switch n := n.(type) {
	case *ast.NilNode:
		return one(solve.Const(nil))
	case *ast.BoolNode:
		return one(solve.Const(n.Value))
	case *ast.IntegerNode:
		return one(solve.Const(n.Value))
	case *ast.FloatNode:
		return one(solve.Const(n.Value))
	case *ast.StringNode:
		return one(solve.Const(n.Value))
	case *ast.ChainNode:
		return c.values(n.Node)
	case *ast.IdentifierNode:
		if v, ok := c.vars[n.Value]; ok {
			return v
		}
		if n.Value == "$env" {
			return one(solve.Input)
		}
		return one(solve.Input.Member(n.Value))
	case *ast.PointerNode:
		if len(c.element) > 0 && n.Name == "" {
			return one(c.element[len(c.element)-1])
		}
	case *ast.MemberNode:
		return c.within(n)
	case *ast.ArrayNode:
		parts := make([]*solve.Term, len(n.Nodes))
		for i, e := range n.Nodes {
			v := c.values(e)
			if len(v) != 1 {
				return c.opaque(n)
			}
			parts[i] = v[0].t
		}
		return one(solve.ListOf(parts...))
	case *ast.ConditionalNode:
		is, not := c.truth(n.Cond)
		var out []choice
		for _, v := range c.values(n.Exp1) {
			out = append(out, choice{solve.And(is, v.when), v.t})
		}
		for _, v := range c.values(n.Exp2) {
			out = append(out, choice{solve.And(not, v.when), v.t})
		}
		return out
	case *ast.BinaryNode:
		return c.computed(n)
	case *ast.BuiltinNode:
		if made := c.selected(n); made != nil {
			return made
		}
		return c.function(n, n.Name, n.Arguments)
	case *ast.CallNode:
		if id, ok := n.Callee.(*ast.IdentifierNode); ok {
			return c.function(n, id.Value, n.Arguments)
		}
	}
	return c.opaque(n)
}

// mostSelected is how many elements are tried where a number of them is asked for.
const mostSelected = 3

// selected reads what is made of the elements of which something holds; nil for other
// functions.
func (c *reader) selected(n *ast.BuiltinNode) []choice {
	if !lists.Has([]string{"count", "filter", "find"}, n.Name) || len(n.Arguments) != 2 {
		return nil
	}
	p, ok := n.Arguments[1].(*ast.PredicateNode)
	of := c.values(n.Arguments[0])
	if !ok || len(of) != 1 {
		return nil
	}
	var hints []*solve.Formula
	for range mostSelected {
		c.element = append(c.element, c.next(of[0].t))
		is, _ := c.truth(p.Node)
		hints = append(hints, is)
		c.element = c.element[:len(c.element)-1]
	}
	out := c.opaque(n)
	out[0].when = solve.And(of[0].when, solve.Unknown(n.String(), hints...))
	return out
}

func (c *reader) opaque(n ast.Node) []choice {
	c.opaques++
	return []choice{{solve.Unknown(n.String()), solve.Opaque(fmt.Sprintf("%s #%d", n, c.opaques))}}
}

func (c *reader) within(n *ast.MemberNode) []choice {
	var out []choice
	for _, of := range c.values(n.Node) {
		for _, key := range c.values(n.Property) {
			k, _ := key.t.Constant()
			switch k := k.(type) {
			case string:
				if m := of.t.Member(k); m != nil {
					out = append(out, choice{solve.And(of.when, key.when), m})
				}
				continue
			case float64:
				if m := of.t.Member(k); m != nil && k >= 0 {
					at, when := c.place(n), solve.And(of.when, key.when)
					if made, _ := of.t.Called(); made == "" && !of.t.Made() { // It may be a text, of which that is a number.
						part := c.opaque(n)[0]
						out = append(out, choice{solve.And(when, solve.Is(of.t, solve.String, at), part.when), part.t})
						when = solve.And(when, solve.Is(of.t, solve.List|solve.Object, at))
					}
					out = append(out, choice{when, m})
					continue
				}
			}
			return c.opaque(n)
		}
	}
	return out
}

// computed reads operators that give values.
func (c *reader) computed(n *ast.BinaryNode) []choice {
	if n.Operator == "??" {
		var out []choice
		at := c.place(n)
		for _, v := range c.values(n.Left) {
			out = append(out, choice{solve.And(v.when, solve.Is(v.t, solve.Present&^solve.Null, at)), v.t})
			for _, d := range c.values(n.Right) {
				out = append(out, choice{solve.And(v.when, solve.Is(v.t, solve.Absent|solve.Null, at), d.when), d.t})
			}
		}
		if len(out) == 0 {
			return c.values(n.Right)
		}
		return out
	}
	name := map[string]string{"+": "plus", "-": "minus", "%": "rem"}[n.Operator]
	a, b := c.values(n.Left), c.values(n.Right)
	if name == "" || len(a) != 1 || len(b) != 1 {
		return c.opaque(n)
	}
	first, text := a[0].t.Text()
	second, other := b[0].t.Text()
	if name == "plus" && text && other {
		return []choice{{solve.True, solve.Const(first + second)}}
	}
	if made, _ := a[0].t.Called(); name == "plus" && (text || other || made == "join") {
		return []choice{{solve.And(a[0].when, b[0].when), solve.Call("join", a[0].t, b[0].t)}}
	}
	_, number := b[0].t.Constant()
	if name == "plus" && !number { // of texts or of numbers
		return c.opaque(n)
	}
	return []choice{{solve.And(a[0].when, b[0].when), solve.Call(name, a[0].t, b[0].t)}}
}

// functions are those of expr under their names in Rego.
var functions = map[string]string{"lower": "lower", "upper": "upper", "trimPrefix": "trim_prefix", "trimSuffix": "trim_suffix", "split": "split",
	"len": "count", "indexOf": "indexof", "replace": "replace"}

func (c *reader) function(n ast.Node, name string, args []ast.Node) []choice {
	rego := functions[name]
	if name == "trim" && len(args) == 1 {
		rego = "trim_space"
	}
	if lists.Has([]string{"lower", "upper", "count", "trim_space"}, rego) && len(args) == 1 { // of each value
		out := lists.Copy(c.values(args[0]))
		for i, v := range out {
			out[i].t = solve.Call(rego, v.t)
		}
		return out
	}
	when := solve.True
	var terms []*solve.Term
	for _, a := range args {
		v := c.values(a)
		if len(v) != 1 {
			return c.opaque(n)
		}
		when, terms = solve.And(when, v[0].when), append(terms, v[0].t)
	}
	want := map[string]int{"trim_prefix": 2, "trim_suffix": 2, "split": 2, "indexof": 2, "replace": 3}[rego]
	if f := builtins.Lookup(name); rego == "" && f != nil && !f.Volatile {
		return []choice{{when, solve.Call(name, terms...)}}
	}
	if rego == "" || want > 0 && len(terms) != want || want == 0 && len(terms) != 1 {
		return c.opaque(n)
	}
	return []choice{{when, solve.Call(rego, terms...)}}
}
