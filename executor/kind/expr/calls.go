package expr

import (
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// builtin compiles a call of a function of the expr language.
func (c *compiler) builtin(n *ast.BuiltinNode) term {
	if loop, ok := loops[n.Name]; ok {
		return c.loop(n, loop)
	}
	args := c.terms(n.Arguments)
	at := place(n)
	if test, ok := textFuncs[n.Name]; ok && len(args) == 2 {
		return textCall(n.Name, test, args[0], args[1], at)
	}
	apply := libraryFunc(n.Name, len(args))
	t := term{eval: func(f *frame) any {
		values := make([]any, len(args))
		for i, a := range args {
			if values[i] = a.eval(f); isUndefined(values[i]) {
				return undefined
			}
		}
		f.at = at
		return apply(f, values)
	}}
	if n.Name == "now" {
		t.eval = func(f *frame) any { return dag.Now(f.ctx, time.Now()) }
		return t
	}
	return fold(t, args...)
}

// textFuncs are the functions rules call most, without the detour over a list
// of arguments.
var textFuncs = map[string]func(s, t string) any{
	"hasPrefix": func(s, t string) any { return strings.HasPrefix(s, t) },
	"hasSuffix": func(s, t string) any { return strings.HasSuffix(s, t) },
	"indexOf":   func(s, t string) any { return strings.Index(s, t) },
}

func textCall(name string, apply func(s, t string) any, a, b term, at int) term {
	eval := func(f *frame) any {
		x := a.eval(f)
		y := b.eval(f)
		s, okS := x.(string)
		t, okT := y.(string)
		if okS && okT {
			return apply(s, t)
		}
		if isUndefined(x) || isUndefined(y) {
			return undefined
		}
		f.fail(at, "%s takes texts, not %s and %s", name, typeName(x), typeName(y))
		return nil
	}
	return fold(term{eval: eval, test: name != "indexOf"}, a, b)
}

// libraryFunc is a function of the expr library with its budget, or our own
// in its place. It checks what the library would only trip over: that an
// argument is a text.
func libraryFunc(name string, arity int) func(f *frame, args []any) any {
	fn := builtin.Builtins[builtin.Index[name]]
	texts := textParams(fn, arity)
	size, deep, own := funcSizes[name], deepFuncs[name], ownFuncs[name]
	return func(f *frame, args []any) any {
		for i, a := range args {
			if _, ok := a.(string); !ok && texts[i] {
				f.fail(f.at, "%s takes a text, not %s", name, typeName(a))
			}
			if deep {
				f.weigh(a, 0)
			}
			if name != "toJSON" {
				args[i] = numbers(a)
			}
		}
		if size != nil {
			f.grow(size(args))
		}
		if own != nil {
			return own(f, args)
		}
		return callLibrary(fn, args)
	}
}

func callLibrary(fn *builtin.Function, args []any) any {
	var out any
	var err error
	switch {
	case fn.Fast != nil:
		return fn.Fast(args[0])
	case fn.Safe != nil:
		out, _, err = fn.Safe(args...)
	default:
		out, err = fn.Func(args...)
	}
	if err != nil {
		panic(err)
	}
	return out
}

// textParams says which parameters every overload of a function with this
// many arguments wants to be texts.
func textParams(fn *builtin.Function, arity int) []bool {
	out := make([]bool, arity)
	found := false
	for _, t := range fn.Types {
		if t.NumIn() != arity {
			continue
		}
		for i := range out {
			isText := t.In(i).Kind() == reflect.String
			out[i] = isText && (out[i] || !found)
		}
		found = true
	}
	return out
}

// call compiles a call of one of hookc's functions, or of a method of a time.
func (c *compiler) call(n *ast.CallNode) term {
	args := c.terms(n.Arguments)
	fn := c.calls[n]
	if fn == nil {
		return c.method(n, args)
	}
	at := place(n)
	t := term{test: fn.Result == policy.BoolType, eval: func(f *frame) any {
		values := make([]any, len(args))
		for i, a := range args {
			if values[i] = a.eval(f); isUndefined(values[i]) {
				return undefined
			}
		}
		f.at = at
		return callFunc(f, fn, values)
	}}
	if fn.Volatile || fn.World != policy.WorldNone {
		return t
	}
	return fold(t, args...)
}

func callFunc(f *frame, fn *builtins.Func, args []any) any {
	for i, p := range fn.Params {
		v, err := jsonValue(args[i])
		if err != nil || !p.Type.Holds(v) {
			f.fail(f.at, "%s: %s must be %s, not %s", fn.Name, p.Name, p.Type.Article(), typeName(args[i]))
		}
		args[i] = v
	}
	out, err := fn.Call(args)
	switch {
	case errors.Is(err, builtins.ErrUndefined):
		return undefined
	case err != nil:
		panic(err)
	}
	f.grow(len(textOf(out)))
	return out
}

// method compiles a call of a method, which only times and durations have.
func (c *compiler) method(n *ast.CallNode, args []term) term {
	callee := n.Callee.(*ast.MemberNode)
	name := callee.Property.(*ast.StringNode).Value
	base, at := c.term(callee.Node), place(n)
	return term{eval: func(f *frame) any {
		b := base.eval(f)
		if isUndefined(b) {
			return b
		}
		in := make([]reflect.Value, len(args))
		for i, a := range args {
			v := a.eval(f)
			if isUndefined(v) {
				return v
			}
			in[i] = reflect.ValueOf(number(v))
		}
		f.at = at
		return reflect.ValueOf(b).MethodByName(name).Call(in)[0].Interface()
	}}
}
