// Package conditions reads of compiled Rego under which events its rules hold: a
// formula of compiler/solve for each rule. What it does not understand it leaves
// open.
package conditions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/compiler/solve"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/diag"
)

// Reader reads the rules of one compiled program. It is not safe for concurrent use.
type Reader struct {
	Compiler *ast.Compiler
	// Document is what the documents have at a path of data.
	Document func(path []string) (any, bool)
	// Open reports whether what is at a path of data may come to have a key.
	Open func(path []string, key string) bool
	Span func(*ast.Location) diag.Span

	left, elements, depth, opaques, negated int
	// lists are collections that rules make, by the term that means each: each
	// calls over with their keys and elements.
	lists map[*solve.Term]func(over func(key, v *solve.Term) *solve.Formula) *solve.Formula
	at    solve.Place
	// chosen are the values that rules and calls of one value have on the way that is
	// read: what holds on it makes them those.
	chosen map[string]*solve.Term
	// Missing are the references to documents that have nothing there.
	Missing map[string]*ast.Location
}

// Bounds of what one rule is read to.
const (
	mostSteps   = 40000
	deepest     = 24
	mostMembers = 80
)

type formula = solve.Formula

// env are variables and what they are bound to.
type env struct {
	name ast.Var
	t    *solve.Term
	up   *env
}

//go:noinline
func (e *env) get(v ast.Var) *solve.Term {
	for ; e != nil; e = e.up {
		if e.name == v {
			return e.t
		}
	}
	return nil
}

func (e *env) bind(v ast.Var, t *solve.Term) *env { return &env{v, t, e} }

type next func(*env) *formula

type give func(*solve.Term, *env) *formula

// Rule is when one rule, without its else branches, gives a value that is not false.
func (r *Reader) Rule(rule *ast.Rule) *formula {
	r.left, r.elements, r.depth, r.negated = mostSteps, 0, 0, 0
	r.lists = map[*solve.Term]func(func(_, _ *solve.Term) *formula) *formula{}
	r.chosen = map[string]*solve.Term{}
	value := rule.Head.Value
	if rule.Head.RuleKind() == ast.MultiValue {
		value = rule.Head.Key
	}
	return r.body(rule.Body, nil, func(e *env) *formula {
		if value == nil {
			return solve.True
		}
		return r.term(value, e, func(t *solve.Term, _ *env) *formula {
			if _, constant := t.Constant(); !constant && rule.Head.RuleKind() != ast.MultiValue {
				return solve.Is(t, solve.Present&^solve.IsFalse, r.at)
			}
			return solve.Is(t, solve.Present, r.at)
		})
	})
}

// Else is when one of the branches of a rule holds of which earlier ones do not.
func (r *Reader) Else(rule *ast.Rule, nth int) *formula {
	r.Missing = map[string]*ast.Location{}
	before := []*formula{}
	b := rule
	for ; nth > 0; nth-- {
		before = append(before, solve.Not(r.some(func() *formula { return r.Rule(b) })))
		b = b.Else
	}
	return solve.And(append(before, r.Rule(b))...)
}

// some is a formula that holds for some elements, if it is made of any.
//
//go:noinline
func (r *Reader) some(of func() *formula) *formula {
	before := r.elements
	f := of()
	if r.elements > before {
		return solve.Some(f)
	}
	return f
}

func (r *Reader) element(of *solve.Term) *solve.Term {
	r.elements++
	return of.Element(r.elements)
}

func (r *Reader) body(b ast.Body, e *env, k next) *formula {
	if len(b) == 0 {
		return k(e)
	}
	r.left--
	if r.left < 0 {
		return solve.Unknown("the rule is too large")
	}
	return r.expression(b[0], e, func(e *env) *formula { return r.body(b[1:], e, k) })
}

func (r *Reader) expression(x *ast.Expr, e *env, k next) *formula {
	old := r.at
	if x.Location != nil {
		text, _, _ := spell.Cut(string(x.Location.Text), "\n")
		if r.negated > 0 {
			text = strings.TrimSpace(strings.TrimPrefix(text, "not "))
		}
		r.at = solve.Place{Source: text, At: r.Span(x.Location)}
	}
	defer func() { r.at = old }()
	switch {
	case len(x.With) > 0:
		return solve.And(solve.Unknown("with"), k(e))
	case x.Negated:
		inner := *x
		inner.Negated = false
		r.negated++
		f := r.some(func() *formula { return r.expression(&inner, e, func(*env) *formula { return solve.True }) })
		r.negated--
		return solve.And(solve.Not(f), k(e))
	}
	switch terms := x.Terms.(type) {
	case *ast.Term:
		return r.term(terms, e, func(t *solve.Term, e *env) *formula {
			return r.and(solve.Is(t, solve.Present&^solve.IsFalse, r.at), e, k)
		})
	case *ast.Every:
		return r.every(terms, e, k)
	case *ast.SomeDecl:
		return k(e)
	case []*ast.Term:
		return r.call(terms, e, k)
	}
	return solve.And(solve.Unknown(x.String()), k(e))
}

// and is a formula and what follows, which is not looked at after what is false.
func (r *Reader) and(f *formula, e *env, k next) *formula {
	if f == solve.False {
		return f
	}
	return solve.And(f, k(e))
}

func (r *Reader) every(x *ast.Every, e *env, k next) *formula {
	return r.term(x.Domain, e, func(of *solve.Term, e *env) *formula {
		inner := func(key, v *solve.Term) *formula {
			in := e
			if name, ok := keyName(x.Key); ok {
				in = in.bind(name, key)
			}
			if name, ok := keyName(x.Value); ok {
				in = in.bind(name, v)
			}
			return r.some(func() *formula { return r.body(x.Body, in, func(*env) *formula { return solve.True }) })
		}
		if v, constant := of.Constant(); constant {
			var all []*formula
			for _, m := range members(v) {
				all = append(all, inner(m[0], m[1]))
			}
			return r.and(solve.And(all...), e, k)
		}
		element := r.element(of)
		hint := solve.And(solve.Is(element, solve.Present, r.at), inner(solve.KeyOf(element), element))
		return r.and(solve.And(solve.Is(of, solve.List|solve.Object|solve.SetKind, r.at), solve.Unknown("every", hint)), e, k)
	})
}

func keyName(t *ast.Term) (ast.Var, bool) {
	if t == nil {
		return "", false
	}
	v, ok := t.Value.(ast.Var)
	return v, ok
}

// members are the keys and elements of a constant collection.
func members(v any) [][2]*solve.Term {
	var out [][2]*solve.Term
	switch v := v.(type) {
	case []any:
		for i, m := range v {
			out = append(out, [2]*solve.Term{solve.Const(i), solve.Const(m)})
		}
	case solve.Set:
		for _, m := range v {
			out = append(out, [2]*solve.Term{solve.Const(m), solve.Const(m)})
		}
	case map[string]any:
		for _, key := range lists.Keys(v) {
			out = append(out, [2]*solve.Term{solve.Const(key), solve.Const(v[key])})
		}
	}
	return out
}

// over goes over the elements of a collection.
func (r *Reader) over(of *solve.Term, each func(key, v *solve.Term) *formula) *formula {
	if made := r.lists[of]; made != nil {
		return made(each)
	}
	var parts []*formula
	if v, constant := of.Constant(); constant {
		list := members(v)
		for i, m := range list {
			if i >= mostMembers {
				parts = append(parts, solve.Unknown("a list of more than 80"))
				break
			}
			parts = append(parts, each(m[0], m[1]))
		}
		return solve.Or(parts...)
	}
	if list, ok := of.List(); ok {
		for i, v := range list {
			parts = append(parts, each(solve.Const(i), v))
		}
		return solve.Or(parts...)
	}
	if name, args := of.Called(); name == "array.concat" || name == "or" {
		in := func(_, v *solve.Term) *formula { return each(r.opaque("an index"), v) }
		return solve.Or(r.over(args[0], in), r.over(args[1], in))
	}
	if of.Made() {
		return solve.Unknown("an object that the rule makes")
	}
	element := r.element(of)
	return solve.And(solve.Is(element, solve.Present, r.at), each(solve.KeyOf(element), element))
}

// unify makes two terms equal, and binds the variables of them.
func (r *Reader) unify(a, b *ast.Term, e *env, k next) *formula {
	for _, pair := range [][2]*ast.Term{{a, b}, {b, a}} {
		switch v := pair[0].Value.(type) {
		case ast.Var:
			if e.get(v) == nil {
				return r.term(pair[1], e, func(t *solve.Term, e *env) *formula { return r.and(r.there(t), e.bind(v, t), k) })
			}
		case *ast.Array:
			if open(v, e) {
				return r.term(pair[1], e, func(t *solve.Term, e *env) *formula { return r.destructure(v, t, e, k) })
			}
		}
	}
	return r.term(a, e, func(x *solve.Term, e *env) *formula {
		return r.term(b, e, func(y *solve.Term, e *env) *formula { return r.and(solve.Equal(x, y, r.at), e, k) })
	})
}

// there is that a term has a value, of those terms that may have none.
func (r *Reader) there(terms ...*solve.Term) *formula {
	var out []*formula
	for _, t := range terms {
		if r.lists[t] == nil && !t.Made() {
			out = append(out, solve.Is(t, solve.Present, r.at))
		}
	}
	return solve.And(out...)
}

// match makes a pattern equal to a term.
func (r *Reader) match(pattern *ast.Term, t *solve.Term, e *env, k next) *formula {
	switch v := pattern.Value.(type) {
	case ast.Var:
		if bound := e.get(v); bound == nil {
			return k(e.bind(v, t))
		}
	case *ast.Array:
		if open(v, e) {
			return r.destructure(v, t, e, k)
		}
	}
	return r.term(pattern, e, func(x *solve.Term, e *env) *formula { return r.and(solve.Equal(x, t, r.at), e, k) })
}

func open(a *ast.Array, e *env) bool {
	is := false
	a.Foreach(func(t *ast.Term) {
		if v, ok := t.Value.(ast.Var); ok && e.get(v) == nil {
			is = true
		}
	})
	return is
}

func (r *Reader) destructure(a *ast.Array, t *solve.Term, e *env, k next) *formula {
	if list, ok := t.List(); ok && len(list) != a.Len() {
		return solve.False
	}
	var at func(i int, e *env) *formula
	at = func(i int, e *env) *formula {
		if i == a.Len() {
			return k(e)
		}
		m := t.Member(i)
		if m == nil {
			return solve.False
		}
		return solve.And(solve.Is(m, solve.Present, r.at), r.match(a.Elem(i), m, e, func(e *env) *formula { return at(i+1, e) }))
	}
	if _, known := t.List(); known {
		return at(0, e)
	}
	return solve.And(solve.Is(t, solve.List, r.at), solve.Unknown("the length of a list"), at(0, e))
}

// term gives the values that a term may have.
func (r *Reader) term(t *ast.Term, e *env, k give) *formula {
	r.left--
	if r.left < 0 {
		return solve.Unknown("the rule is too large")
	}
	if v, ok := valueOf(t.Value); ok {
		return k(solve.Const(v), e)
	}
	switch v := t.Value.(type) {
	case ast.Var:
		if bound := e.get(v); bound != nil {
			return k(bound, e)
		}
		return solve.And(solve.Unknown("the variable "+string(v)), k(r.opaque(string(v)), e))
	case *ast.Array:
		var list []*ast.Term
		v.Foreach(func(t *ast.Term) { list = append(list, t) })
		return r.terms(list, e, func(parts []*solve.Term, e *env) *formula { return k(solve.ListOf(parts...), e) })
	case ast.Set:
		return r.terms(v.Slice(), e, func(parts []*solve.Term, e *env) *formula { return k(solve.SetOf(parts...), e) })
	case ast.Object:
		var keys []string
		var values []*ast.Term
		v.Foreach(func(key, value *ast.Term) {
			if s, ok := key.Value.(ast.String); ok {
				keys, values = append(keys, string(s)), append(values, value)
			}
		})
		if len(keys) == v.Len() {
			return r.terms(values, e, func(parts []*solve.Term, e *env) *formula { return k(solve.ObjectOf(keys, parts...), e) })
		}
	case ast.Ref:
		return r.ref(v, e, k)
	case ast.Call:
		return r.builtin(v, e, k)
	case *ast.ArrayComprehension:
		return k(r.comprehension(v.Term, v.Body, e), e)
	case *ast.SetComprehension:
		return k(r.comprehension(v.Term, v.Body, e), e)
	}
	return k(r.opaque(t.String()), e)
}

// opaque is a value of its own of which nothing is known.
func (r *Reader) opaque(name string) *solve.Term {
	r.opaques++
	return solve.Opaque(fmt.Sprintf("%s #%d", name, r.opaques))
}

func (r *Reader) terms(list []*ast.Term, e *env, k func([]*solve.Term, *env) *formula) *formula {
	var at func(i int, done []*solve.Term, e *env) *formula
	at = func(i int, done []*solve.Term, e *env) *formula {
		if i == len(list) {
			return k(lists.Copy(done), e)
		}
		return r.term(list[i], e, func(t *solve.Term, e *env) *formula { return at(i+1, append(slices.Clip(done), t), e) })
	}
	return at(0, nil, e)
}

// comprehension is a collection of which the elements are those of a body.
func (r *Reader) comprehension(of *ast.Term, body ast.Body, e *env) *solve.Term {
	out := r.opaque(of.String() + " | …")
	r.lists[out] = func(over func(_, _ *solve.Term) *formula) *formula {
		return r.body(body, e, func(e *env) *formula {
			return r.term(of, e, func(t *solve.Term, _ *env) *formula { return over(r.opaque("an index"), t) })
		})
	}
	return out
}

// ref reads a reference.
func (r *Reader) ref(ref ast.Ref, e *env, k give) *formula {
	switch {
	case ref[0].Equal(ast.InputRootDocument):
		return r.walk(solve.Input, ref[1:], e, k)
	case ref[0].Equal(ast.DefaultRootDocument):
		return r.data(ref, e, k)
	}
	return r.term(ref[0], e, func(t *solve.Term, e *env) *formula { return r.walk(t, ref[1:], e, k) })
}

// walk follows the rest of a reference into a term.
func (r *Reader) walk(t *solve.Term, rest []*ast.Term, e *env, k give) *formula {
	if len(rest) == 0 {
		return k(t, e)
	}
	on := func(m *solve.Term, e *env) *formula { return r.walk(m, rest[1:], e, k) }
	if name, ok := rest[0].Value.(ast.Var); ok && e.get(name) == nil {
		return r.over(t, func(key, v *solve.Term) *formula { return on(v, e.bind(name, key)) })
	}
	return r.term(rest[0], e, func(key *solve.Term, e *env) *formula {
		constant, is := key.Constant()
		_, list := r.lists[t]
		if is && !list {
			switch constant.(type) {
			case string, float64:
				m := t.Member(constant)
				if m == nil {
					return solve.False
				}
				return on(m, e)
			}
		}
		if at := key.KeyIn(t); at != nil {
			return on(at, e)
		}
		return r.over(t, func(at, v *solve.Term) *formula { return solve.And(solve.Equal(at, key, r.at), on(v, e)) })
	})
}

// data reads a reference to rules or documents.
func (r *Reader) data(ref ast.Ref, e *env, k give) *formula {
	path := []string{}
	for i, t := range ref[1:] {
		s, ok := t.Value.(ast.String)
		if !ok {
			break
		}
		path = append(path, string(s))
		if rules := r.Compiler.GetRulesExact(ref[:i+2]); len(rules) > 0 {
			return r.rules(ref[:i+2], rules, ref[i+2:], e, k)
		}
	}
	if len(r.Compiler.GetRulesDynamicWithOpts(ref, ast.RulesOptions{IncludeHiddenModules: true})) > 0 {
		return solve.And(solve.Unknown("a table that rules make"), k(r.opaque(ref.String()), e))
	}
	for n := len(path); n >= 0; n-- {
		v, ok := r.Document(path[:n])
		if !ok {
			continue
		}
		if n < len(path) && r.Open(path[:n], path[n]) {
			t := r.opaque(ref.String())
			if len(path) == len(ref)-1 { // the same wherever it is read
				t = solve.Opaque(ref.String())
			}
			return solve.And(solve.Unknown(ref.String()+", which its document may come to have"), k(t, e))
		}
		if n < len(path) {
			if lacks := ref[:n+2].String(); r.negated == 0 && r.Missing[lacks] == nil {
				r.Missing[lacks] = ref[n+1].Location
			}
			return solve.False
		}
		return r.walk(solve.Const(jsonValue(v)), ref[n+1:], e, k)
	}
	return k(r.opaque(ref.String()), e)
}

// rules gives what the rules of one name give.
func (r *Reader) rules(name ast.Ref, rules []*ast.Rule, rest []*ast.Term, e *env, k give) *formula {
	if r.depth++; r.depth > deepest {
		r.depth--
		return solve.And(solve.Unknown("rules call each other too deeply"), k(r.opaque(name.String()), e))
	}
	defer func() { r.depth-- }()
	if rules[0].Head.RuleKind() == ast.MultiValue && len(rules[0].Ref()) == len(name) {
		if len(rest) == 0 {
			return k(r.setOf(name, rules), e)
		}
		return r.walkSet(r.setOf(name, rules), rest, e, k)
	}
	if t := r.chosen[name.String()]; t != nil {
		return r.walk(t, rest, e, k)
	}
	one := func(t *solve.Term) *formula {
		return r.choose(name.String(), t, func() *formula { return r.walk(t, rest, e, k) })
	}
	var out, defined []*formula
	var byDefault *ast.Rule
	for _, rule := range rules {
		switch {
		case rule.Default:
			byDefault = rule
		case len(rule.Head.Args) > 0:
			return solve.Unknown("a function as a value")
		case len(rule.Ref()) > len(name):
			out = append(out, r.entryOf(rule, rule.Ref()[len(name):], rest, e, k))
		default:
			var before []*formula
			for b := rule; b != nil; b = b.Else {
				var holds *formula
				if b.Else != nil || byDefault != nil || hasDefault(rules) {
					holds = r.some(func() *formula { return r.body(b.Body, nil, func(*env) *formula { return solve.True }) })
					defined = append(defined, holds)
				}
				out = append(out, solve.And(append(lists.Copy(before), r.body(b.Body, nil, func(in *env) *formula {
					return r.value(b.Head.Value, in, one)
				}))...))
				before = append(before, notOf(holds))
			}
		}
	}
	if byDefault != nil {
		out = append(out, solve.And(solve.Not(solve.Or(defined...)), r.value(byDefault.Head.Value, nil, one)))
	}
	return solve.Or(out...)
}

// choose is what follows where a rule, or a call, has a value. It has no second one:
// what follows need not look for it again.
func (r *Reader) choose(name string, t *solve.Term, then func() *formula) *formula {
	r.chosen[name] = t
	defer delete(r.chosen, name)
	return then()
}

func notOf(f *formula) *formula {
	if f == nil {
		return solve.True
	}
	return solve.Not(f)
}

func hasDefault(rules []*ast.Rule) bool {
	return slices.ContainsFunc(rules, func(r *ast.Rule) bool { return r.Default })
}

// value gives what a head says, in the environment of its rule.
func (r *Reader) value(of *ast.Term, in *env, k func(*solve.Term) *formula) *formula {
	if of == nil {
		return k(solve.Const(true))
	}
	return r.term(of, in, func(t *solve.Term, _ *env) *formula { return k(t) })
}

// entryOf is one rule of a table that rules make, below its keys.
func (r *Reader) entryOf(rule *ast.Rule, keys ast.Ref, rest []*ast.Term, e *env, k give) *formula {
	value := rule.Head.Value
	if rule.Head.RuleKind() == ast.MultiValue {
		keys, value = append(slices.Clip(keys), rule.Head.Key), rule.Head.Key
	}
	return r.body(rule.Body, nil, func(in *env) *formula {
		var at func(i int, e *env) *formula
		at = func(i int, e *env) *formula {
			switch {
			case i == len(keys):
				return r.value(value, in, func(t *solve.Term) *formula { return r.walk(t, rest[i:], e, k) })
			case i == len(rest):
				return solve.And(solve.Unknown("a table that rules make"), k(r.opaque("a table"), e))
			}
			return r.value(keys[i], in, func(name *solve.Term) *formula {
				return r.match(rest[i], name, e, func(e *env) *formula { return at(i+1, e) })
			})
		}
		return at(0, e)
	})
}

// setOf is the set that rules make.
func (r *Reader) setOf(name ast.Ref, rules []*ast.Rule) *solve.Term {
	out := r.opaque(name.String())
	r.lists[out] = func(over func(_, _ *solve.Term) *formula) *formula {
		var parts []*formula
		for _, rule := range rules {
			parts = append(parts, r.body(rule.Body, nil, func(in *env) *formula {
				return r.value(rule.Head.Key, in, func(t *solve.Term) *formula { return over(t, t) })
			}))
		}
		return solve.Or(parts...)
	}
	return out
}

// walkSet follows a reference into a set that rules make.
func (r *Reader) walkSet(set *solve.Term, rest []*ast.Term, e *env, k give) *formula {
	return r.lists[set](func(_, t *solve.Term) *formula {
		return r.match(rest[0], t, e, func(e *env) *formula { return r.walk(t, rest[1:], e, k) })
	})
}
