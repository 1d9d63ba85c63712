package expr

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm/runtime"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/policy"
)

// The expr library reads and type-checks an expression; hookc evaluates its
// tree itself, as closures. Three reasons: the library's machine knows no
// undefined (semantics.md §3.2), of which every operator and loop has to; a
// field is read straight from the event's Context, with no environment to
// fill in; and it takes half the time. What an operator or function
// means on values that are there is the library's own code. Inside a loop
// (any, map, …) an element for which the body is undefined is left out, as in
// a comprehension of Rego; all() is then undefined, and so is any() unless
// the body holds for another.

// term is a compiled node.
type term struct {
	eval evalFunc
	// constant is true when the value depends on nothing; it is then value.
	constant bool
	value    any
	// sure is true when evaluation cannot fail, test when the value is true,
	// false or undefined.
	sure, test bool
}

// compiler turns the tree of one expression into closures.
type compiler struct {
	calls map[*ast.CallNode]*builtins.Func
	lets  []string
	// loops is how many loops are open; vars and scopes are how many places a
	// frame needs.
	loops        int
	vars, scopes int
}

func (c *compiler) term(n ast.Node) term {
	switch n := n.(type) {
	case *ast.NilNode:
		return constant(nil)
	case *ast.BoolNode:
		return constant(n.Value)
	case *ast.IntegerNode:
		return constant(n.Value)
	case *ast.FloatNode:
		return constant(n.Value)
	case *ast.StringNode:
		return constant(n.Value)
	case *ast.BytesNode:
		return constant(n.Value)
	case *ast.IdentifierNode:
		return c.identifier(n)
	case *ast.ChainNode:
		return c.term(n.Node)
	case *ast.MemberNode:
		return c.member(n)
	case *ast.SliceNode:
		return c.slice(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.ConditionalNode:
		return c.conditional(n)
	case *ast.VariableDeclaratorNode:
		return c.let(n)
	case *ast.SequenceNode:
		return c.sequence(n)
	case *ast.ArrayNode:
		return c.array(n)
	case *ast.MapNode:
		return c.object(n)
	case *ast.PointerNode:
		return c.pointer(n)
	case *ast.BuiltinNode:
		return c.builtin(n)
	case *ast.CallNode:
		return c.call(n)
	}
	panic(fmt.Sprintf("runner: expr node %T is not known", n))
}

func constant(v any) term {
	_, test := v.(bool)
	return term{eval: func(*frame) any { return v }, constant: true, value: v, sure: true, test: test}
}

// maxFolded is the greatest length of a constant list kept ready-made.
const maxFolded = 1024

// fold evaluates a term whose operands are all constant. One that fails is
// left to fail when it is reached, if it ever is.
func fold(t term, operands ...term) (out term) {
	for _, o := range operands {
		if !o.constant {
			return t
		}
	}
	f := newFrame(context.Background(), nil, 0, 0, 0)
	defer func() {
		if recover() != nil {
			out = t
		}
	}()
	v := t.eval(f)
	if r := reflect.ValueOf(v); r.IsValid() && r.Kind() == reflect.Slice && r.Len() > maxFolded {
		return t
	}
	return constant(v)
}

// place is where a node is, in characters of the expression.
//
//go:noinline
func place(n ast.Node) int { return n.Location().From }

func (c *compiler) identifier(n *ast.IdentifierNode) term {
	if i := slices.Index(c.lets, n.Value); i >= 0 {
		return term{eval: func(f *frame) any { return f.vars[i] }, sure: true}
	}
	if n.Value == "$env" {
		return term{eval: func(f *frame) any { return f.environment() }, sure: true}
	}
	field, ok := policy.ParseField(n.Value)
	if !ok {
		panic("runner: name " + n.Value + " was not resolved")
	}
	return fieldTerm(field)
}

func fieldTerm(field policy.Field) term {
	return term{sure: true, eval: func(f *frame) any {
		if v, ok := f.in.Get(field); ok {
			return v
		}
		return undefined
	}}
}

func (c *compiler) member(n *ast.MemberNode) term {
	if p, ok := fieldPath(n, c.lets); ok {
		return pathTerm(p, place(n))
	}
	at := place(n)
	if id, ok := n.Node.(*ast.IdentifierNode); ok && id.Value == "$env" {
		return c.environmentMember(n)
	}
	base, key := c.term(n.Node), c.term(n.Property)
	eval := func(f *frame) any {
		b := base.eval(f)
		if isUndefined(b) {
			return b
		}
		k := key.eval(f)
		if isUndefined(k) {
			return k
		}
		return fetch(f, at, b, k)
	}
	return fold(term{eval: eval}, base, key)
}

func (c *compiler) environmentMember(n *ast.MemberNode) term {
	key, at := c.term(n.Property), place(n)
	return term{eval: func(f *frame) any {
		k := key.eval(f)
		if isUndefined(k) {
			return k
		}
		name, ok := k.(string)
		if !ok {
			f.fail(at, "$env[…] takes a field's name, not %s", typeName(k))
		}
		field, ok := policy.ParseField(name)
		if !ok {
			return undefined
		}
		if v, ok := f.in.Get(field); ok {
			return v
		}
		return undefined
	}}
}

// pathTerm reads a field's nested value in one step.
func pathTerm(p policy.Path, at int) term {
	field, keys := p.Field, p.Keys
	switch len(keys) {
	case 0:
		return fieldTerm(field)
	case 1:
		return keyTerm(field, keys[0], at)
	}
	return term{eval: func(f *frame) any {
		v, ok := f.in.Get(field)
		if !ok {
			return undefined
		}
		for _, k := range keys {
			m, isObject := v.(map[string]any)
			if !isObject {
				return fetch(f, at, v, k)
			}
			if v, ok = m[k]; !ok {
				return undefined
			}
		}
		return v
	}}
}

// keyTerm is pathTerm of one key, which most paths are.
func keyTerm(field policy.Field, key string, at int) term {
	return term{eval: func(f *frame) any {
		v, ok := f.in.Get(field)
		if !ok {
			return undefined
		}
		m, isObject := v.(map[string]any)
		if !isObject {
			return fetch(f, at, v, key)
		}
		if v, ok = m[key]; !ok {
			return undefined
		}
		return v
	}}
}

// fetch is base[key]. What is not there is undefined, also below null; a
// member of something that has none is a type error.
func fetch(f *frame, at int, base, key any) any {
	switch b := base.(type) {
	case nil:
		return undefined
	case map[string]any:
		k, ok := key.(string)
		if !ok {
			f.fail(at, "an object's key is a text, not %s", typeName(key))
		}
		if v, ok := b[k]; ok {
			return v
		}
		return undefined
	case []any:
		i, ok := index(f, at, key, len(b))
		if !ok {
			return undefined
		}
		return b[i]
	}
	r := reflect.ValueOf(base)
	switch r.Kind() {
	case reflect.Slice, reflect.Array, reflect.String:
		i, ok := index(f, at, key, r.Len())
		if !ok {
			return undefined
		}
		return r.Index(i).Interface()
	case reflect.Map:
		v := r.MapIndex(reflect.ValueOf(key))
		if !v.IsValid() {
			return undefined
		}
		return v.Interface()
	}
	f.fail(at, "%s has no member %v", typeName(base), key)
	return nil
}

// index is a list's index as a position; negative ones count from the end.
func index(f *frame, at int, key any, n int) (int, bool) {
	if name, ok := key.(string); ok {
		f.fail(at, "only an object has a member %s", name)
	}
	f.at = at
	i := runtime.ToInt(number(key))
	if i < 0 {
		i += n
	}
	return i, i >= 0 && i < n
}

func (c *compiler) slice(n *ast.SliceNode) term {
	at := place(n)
	base := c.term(n.Node)
	from, to := constant(0), term{}
	if n.From != nil {
		from = c.term(n.From)
	}
	if n.To != nil {
		to = c.term(n.To)
	}
	return term{eval: func(f *frame) any {
		b := base.eval(f)
		start := from.eval(f)
		if isUndefined(b) || isUndefined(start) {
			return undefined
		}
		var end any
		if to.eval != nil {
			if end = to.eval(f); isUndefined(end) {
				return undefined
			}
		}
		f.at = at
		if end == nil {
			end = runtime.Len(b)
		}
		return runtime.Slice(b, f.inRange(start), f.inRange(end))
	}}
}

func (c *compiler) conditional(n *ast.ConditionalNode) term {
	at := place(n.Cond)
	cond, yes, no := c.term(n.Cond), c.term(n.Exp1), c.term(n.Exp2)
	eval := func(f *frame) any {
		v := cond.eval(f)
		if isUndefined(v) {
			return v
		}
		if f.truth(at, v) {
			return yes.eval(f)
		}
		return no.eval(f)
	}
	return fold(term{eval: eval, sure: cond.sure && cond.test && yes.sure && no.sure, test: yes.test && no.test}, cond, yes, no)
}

// truth is a value that must be true or false.
func (f *frame) truth(at int, v any) bool {
	b, ok := v.(bool)
	if !ok {
		f.fail(at, "%s is neither true nor false", typeName(v))
	}
	return b
}

func (c *compiler) let(n *ast.VariableDeclaratorNode) term {
	value := c.term(n.Value)
	slot := len(c.lets)
	c.lets = append(c.lets, n.Name)
	c.vars = max(c.vars, len(c.lets))
	body := c.term(n.Expr)
	c.lets = c.lets[:slot]
	return term{sure: value.sure && body.sure, test: body.test, eval: func(f *frame) any {
		f.vars[slot] = value.eval(f)
		return body.eval(f)
	}}
}

func (c *compiler) sequence(n *ast.SequenceNode) term {
	terms := c.terms(n.Nodes)
	last := terms[len(terms)-1]
	return term{test: last.test, eval: func(f *frame) any {
		for _, t := range terms[:len(terms)-1] {
			t.eval(f)
		}
		return last.eval(f)
	}}
}

func (c *compiler) terms(nodes []ast.Node) []term {
	out := make([]term, len(nodes))
	for i, n := range nodes {
		out[i] = c.term(n)
	}
	return out
}
