package conditions

import (
	"encoding/json"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/hookc/hookc/compiler/solve"
	"github.com/hookc/hookc/internal/lists"
)

// call reads an expression that is a call.
func (r *Reader) call(terms []*ast.Term, e *env, k next) *formula {
	name := plainName(terms[0])
	args := terms[1:]
	switch name {
	case "keep": // what hookc adds to count memory
		return k(e)
	case "eq", "assign":
		return r.unify(args[0], args[1], e, k)
	case "internal.print":
		return k(e)
	}
	if ref, ok := terms[0].Value.(ast.Ref); ok && ref[0].Equal(ast.DefaultRootDocument) {
		return r.function(ref, args, e, k)
	}
	if name == "walk" && len(args) == 2 {
		return r.walked(args, e, k)
	}
	takes := -1
	if b := r.declared(name); b != nil {
		takes = len(b.Decl.FuncArgs().Args)
	}
	if takes >= 0 && len(args) == takes+1 {
		call := append(ast.Call{terms[0]}, args[:takes]...)
		return r.builtin(call, e, func(t *solve.Term, e *env) *formula { return r.match(args[takes], t, e, k) })
	}
	return r.terms(args, e, func(list []*solve.Term, e *env) *formula { return r.and(r.test(name, list), e, k) })
}

// walked reads a walk over all that is in a value: whatever is there, and with it what
// is tried, which is not deep.
func (r *Reader) walked(args []*ast.Term, e *env, k next) *formula {
	return r.term(args[0], e, func(of *solve.Term, e *env) *formula {
		at := func(v *solve.Term) *formula {
			return r.match(args[1], solve.ListOf(r.opaque("a path"), v), e, k)
		}
		var hints []*formula
		for v := of; len(hints) < 3; v = r.element(v) {
			hints = append(hints, solve.And(solve.Unknown("how deep it is"), r.there(v), at(v)))
		}
		return r.and(r.there(of), e, func(*env) *formula {
			return solve.Or(append(hints, solve.And(solve.Unknown("the function walk"), at(r.opaque("what is walked over"))))...)
		})
	})
}

// plainName is the name of a function without the mark of those that hookc bounds.
func plainName(t *ast.Term) string { return strings.TrimPrefix(t.Value.String(), "bounded:") }

func (r *Reader) declared(name string) *ast.Builtin {
	if b := ast.BuiltinMap[name]; b != nil {
		return b
	}
	for _, b := range r.Compiler.Capabilities().Builtins {
		if b.Name == name {
			return b
		}
	}
	return nil
}

// member reads `x in xs`.
func (r *Reader) member(list []*solve.Term) *formula {
	of, at := list[len(list)-1], r.at
	if v, constant := of.Constant(); constant && len(list) == 2 {
		var words []string
		for _, m := range members(v) {
			text, ok := m[1].Text()
			if !ok {
				words = nil
				break
			}
			words = append(words, text)
		}
		if len(words) > 0 {
			return solve.Match(list[0], solve.Words(words...), nil, at)
		}
	}
	if v, constant := of.Constant(); constant && len(members(v)) == 0 {
		return solve.False
	}
	return r.over(of, func(key, v *solve.Term) *formula {
		f := solve.Equal(list[len(list)-2], v, at)
		if len(list) == 3 {
			f = solve.And(solve.Equal(list[0], key, at), f)
		}
		return f
	})
}

// function follows a call into the functions of a policy.
func (r *Reader) function(ref ast.Ref, args []*ast.Term, e *env, k next) *formula {
	rules := r.Compiler.GetRulesExact(ref)
	if r.depth++; r.depth > deepest || len(rules) == 0 {
		r.depth--
		return solve.And(solve.Unknown("a call of "+ref.String()), k(e))
	}
	defer func() { r.depth-- }()
	takes := len(rules[0].Head.Args)
	return r.terms(args[:takes], e, func(given []*solve.Term, e *env) *formula {
		known := func(t *solve.Term) *formula {
			if len(args) > takes {
				return r.match(args[takes], t, e, k)
			}
			return r.and(solve.Is(t, solve.Present&^solve.IsFalse, r.at), e, k)
		}
		name := solve.Call(ref.String(), given...).ID()
		if t := r.chosen[name]; t != nil {
			return known(t)
		}
		result := func(t *solve.Term) *formula {
			return r.choose(name, t, func() *formula { return known(t) })
		}
		enter := func(b *ast.Rule, k next) *formula {
			var at func(i int, in *env) *formula
			at = func(i int, in *env) *formula {
				if i == takes {
					return r.body(b.Body, in, k)
				}
				return r.match(b.Head.Args[i], given[i], in, func(in *env) *formula { return at(i+1, in) })
			}
			return r.and(r.there(given...), nil, func(*env) *formula { return at(0, nil) })
		}
		var out, defined []*formula
		for _, rule := range rules {
			if rule.Default {
				continue
			}
			var before []*formula
			for b := rule; b != nil; b = b.Else {
				out = append(out, solve.And(append(lists.Copy(before), enter(b, func(in *env) *formula { return r.value(b.Head.Value, in, result) }))...))
				if b.Else != nil || hasDefault(rules) {
					holds := r.some(func() *formula { return enter(b, func(*env) *formula { return solve.True }) })
					before, defined = append(before, solve.Not(holds)), append(defined, holds)
				}
			}
		}
		for _, rule := range rules {
			if rule.Default {
				out = append(out, solve.And(solve.Not(solve.Or(defined...)), r.value(rule.Head.Value, nil, result)))
			}
		}
		return solve.Or(out...)
	})
}

// builtin gives the result of a function of OPA or hookc.
func (r *Reader) builtin(call ast.Call, e *env, k give) *formula {
	name := plainName(call[0])
	return r.terms(call[1:], e, func(args []*solve.Term, e *env) *formula {
		if v, ok := r.folded(name, args); ok {
			if v == nil {
				return solve.False
			}
			return k(v, e)
		}
		if name == "object.get" && len(args) == 3 {
			return r.objectGet(args, e, k)
		}
		if t := patched(name, args); t != nil {
			return r.and(solve.And(solve.Is(args[0], solve.Object, r.at), r.there(args[1])), e, func(e *env) *formula { return k(t, e) })
		}
		if b := r.declared(name); b != nil && b.Decl.Result().String() == "boolean" {
			f := r.test(name, args)
			there := make([]*formula, len(args))
			for i, a := range args {
				there[i] = solve.Is(a, solve.Present, r.at)
			}
			return solve.Or(solve.And(f, k(solve.Const(true), e)), solve.And(append(there, solve.Not(f), k(solve.Const(false), e))...))
		}
		return k(r.computed(name, args), e)
	})
}

// patched is an object of which json.patch sets the value below one known key, nil for
// other calls.
func patched(name string, args []*solve.Term) *solve.Term {
	if name != "json.patch" {
		return nil
	}
	steps, _ := args[1].List()
	if len(steps) != 1 {
		return nil
	}
	var parts [3]*solve.Term
	for i, key := range []string{"op", "path", "value"} {
		if parts[i] = steps[0].Member(key); parts[i] == nil {
			return nil
		}
	}
	op, _ := parts[0].Text()
	path, _ := parts[1].Text()
	path = strings.TrimLeft(path, "/")
	if op != "add" || path == "" || strings.ContainsAny(path, "/~") || strings.Trim(path, "0123456789-") == "" {
		return nil
	}
	return solve.Over(args[0], path, parts[2])
}

// objectGet gives what is there, or else the default.
func (r *Reader) objectGet(args []*solve.Term, e *env, k give) *formula {
	path, constant := args[1].Constant()
	keys, list := path.([]any)
	if !list {
		keys = []any{path}
	}
	at := args[0]
	for _, key := range keys {
		switch key.(type) {
		case string, float64:
		default:
			constant = false
		}
		if at != nil && constant {
			at = at.Member(key)
		}
	}
	if table, known := args[0].Constant(); known && !constant && !list {
		var out, none []*formula
		for _, m := range members(table) {
			is := solve.Equal(args[1], m[0], r.at)
			out, none = append(out, r.and(is, e, func(e *env) *formula { return k(m[1], e) })), append(none, solve.Not(is))
		}
		if _, object := table.(map[string]any); object && len(none) <= mostMembers {
			path := solve.And(solve.Is(args[1], solve.List, r.at), solve.Unknown("object.get with a path that is computed"), k(r.opaque("object.get"), e))
			return solve.Or(append(out, solve.And(append(none, r.there(args[1]), k(args[2], e))...), path)...)
		}
	}
	switch {
	case !constant:
		return solve.And(solve.Unknown("object.get with a key that is computed"), k(r.opaque("object.get"), e))
	case at == nil:
		return k(args[2], e)
	}
	return solve.Or(solve.And(solve.Is(at, solve.Present, r.at), k(at, e)), solve.And(solve.Is(at, solve.Absent, r.at), k(args[2], e)))
}

// joined are the parts of a text that sprintf or concat makes, nil where that is
// not known.
func joined(name string, args []*solve.Term) []*solve.Term {
	parts, ok := args[len(args)-1].List()
	text, constant := args[0].Text()
	if !ok || !constant {
		return nil
	}
	var out []*solve.Term
	if name == "concat" {
		for i, p := range parts {
			if i > 0 && text != "" {
				out = append(out, solve.Const(text))
			}
			out = append(out, p)
		}
		return out
	}
	text = strings.ReplaceAll(text, "%%", "\x00")
	function := "text of"
	if strings.Contains(text, "%d") {
		text, function = strings.ReplaceAll(text, "%d", "%s"), "number as text"
	}
	between := strings.Split(strings.ReplaceAll(text, "%v", "%s"), "%s")
	if len(between) != len(parts)+1 || strings.Contains(strings.Join(between, ""), "%") {
		return nil
	}
	for i, b := range between {
		if b != "" {
			out = append(out, solve.Const(strings.ReplaceAll(b, "\x00", "%")))
		}
		if i < len(parts) {
			part := parts[i]
			if _, isText := part.Text(); !isText {
				part = solve.Call(function, part)
			}
			out = append(out, part)
		}
	}
	return out
}

func (r *Reader) computed(name string, args []*solve.Term) *solve.Term {
	if name == "sprintf" || name == "concat" {
		if parts := joined(name, args); len(parts) > 0 {
			return solve.Call("join", parts...)
		}
	}
	for _, a := range args {
		if r.lists[a] != nil && name != "count" && name != "sum" && name != "max" && name != "min" {
			return r.opaque(name)
		}
	}
	if b := r.declared(name); b == nil || b.Nondeterministic {
		return r.opaque(name)
	}
	return solve.Call(name, args...)
}

// folded is what a function gives of constants; nil for nothing.
func (r *Reader) folded(name string, args []*solve.Term) (*solve.Term, bool) {
	b := ast.BuiltinMap[name]
	if b == nil || b.Nondeterministic || topdown.GetBuiltin(name) == nil {
		return nil, false
	}
	operands := make([]*ast.Term, len(args))
	for i, a := range args {
		v, constant := a.Constant()
		if !constant {
			return nil, false
		}
		operands[i] = ast.NewTerm(astOf(v))
	}
	var out *solve.Term
	err := topdown.GetBuiltin(name)(topdown.BuiltinContext{}, operands, func(t *ast.Term) error {
		if v, ok := valueOf(t.Value); ok {
			out = solve.Const(v)
		}
		return nil
	})
	return out, err != nil || out != nil
}

// astOf is a constant as OPA has it.
func astOf(v any) ast.Value {
	switch v := v.(type) {
	case solve.Set:
		out := ast.NewSet()
		for _, m := range v {
			out.Add(ast.NewTerm(astOf(m)))
		}
		return out
	case []any:
		list := make([]*ast.Term, len(v))
		for i, m := range v {
			list[i] = ast.NewTerm(astOf(m))
		}
		return ast.NewArray(list...)
	case map[string]any:
		out := ast.NewObject()
		for key, m := range v {
			out.Insert(ast.StringTerm(key), ast.NewTerm(astOf(m)))
		}
		return out
	}
	return ast.MustInterfaceToValue(v)
}

// valueOf is a constant of OPA; false for what is none, or has no place here.
func valueOf(v ast.Value) (any, bool) {
	ok := true
	one := func(t *ast.Term) any {
		out, is := valueOf(t.Value)
		ok = ok && is
		return out
	}
	switch v := v.(type) {
	case ast.Null:
		return nil, true
	case ast.Boolean:
		return bool(v), true
	case ast.String:
		return string(v), true
	case ast.Number:
		return solve.Float(json.Number(v)), true
	case *ast.Array:
		out := make([]any, 0, v.Len())
		v.Foreach(func(t *ast.Term) { out = append(out, one(t)) })
		return out, ok
	case ast.Set:
		out := make([]any, 0, v.Len())
		v.Foreach(func(t *ast.Term) { out = append(out, one(t)) })
		return solve.NewSet(out), ok
	case ast.Object:
		out := map[string]any{}
		v.Foreach(func(key, value *ast.Term) {
			name, text := key.Value.(ast.String)
			ok = ok && text
			out[string(name)] = one(value)
		})
		return out, ok
	}
	return nil, false
}

// jsonValue is a value of a document.
func jsonValue(v any) any {
	switch v := v.(type) {
	case json.Number:
		return solve.Float(v)
	case []any:
		out := make([]any, len(v))
		for i, m := range v {
			out[i] = jsonValue(m)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, m := range v {
			out[key] = jsonValue(m)
		}
		return out
	}
	return v
}
