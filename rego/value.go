package rego

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/govalue"
	"github.com/hookc/hookc/rego/native"
)

// toTerm makes a Rego value of a JSON value. Numbers keep their exact value;
// integers and decimals are written as encoding/json writes them.
func toTerm(v any) *ast.Term {
	switch x := v.(type) {
	case nil:
		return ast.NullTerm()
	case bool:
		return ast.InternedTerm(x)
	case string:
		return ast.StringTerm(x)
	case int:
		return ast.IntNumberTerm(x)
	case int64:
		return ast.NumberTerm(json.Number(strconv.FormatInt(x, 10)))
	case float64:
		if x-x != 0 {
			return ast.FloatNumberTerm(x) // no JSON, which only a host's mistake is
		}
		return ast.NumberTerm(json.Number(native.Text(x)))
	case json.Number:
		return ast.NumberTerm(x)
	case []any:
		terms := make([]*ast.Term, len(x))
		for i, e := range x {
			terms[i] = toTerm(e)
		}
		return ast.ArrayTerm(terms...)
	case map[string]any:
		pairs := make([][2]*ast.Term, 0, len(x))
		for k, e := range x {
			pairs = append(pairs, [2]*ast.Term{ast.StringTerm(k), toTerm(e)})
		}
		return ast.ObjectTerm(pairs...)
	}
	value, err := ast.InterfaceToValue(v)
	if err != nil {
		panic(fmt.Sprintf("rego: %T is not a JSON value: %v", v, err))
	}
	return ast.NewTerm(value)
}

// toJSON makes a JSON value of a ground Rego value: a set becomes a sorted
// list, a key that is not a string its text.
func toJSON(v ast.Value) any {
	switch x := v.(type) {
	case ast.Boolean:
		return bool(x)
	case ast.String:
		return string(x)
	case ast.Number:
		return govalue.Number(json.Number(x))
	case *ast.Array:
		out := make([]any, 0, x.Len())
		x.Foreach(func(t *ast.Term) { out = append(out, toJSON(t.Value)) })
		return out
	case ast.Set:
		out := make([]any, 0, x.Len())
		for _, t := range x.Slice() {
			out = append(out, toJSON(t.Value))
		}
		return out
	case ast.Object:
		out := make(map[string]any, x.Len())
		x.Foreach(func(k, e *ast.Term) { out[keyText(k.Value)] = toJSON(e.Value) })
		return out
	}
	return nil
}

func keyText(v ast.Value) string {
	if s, ok := v.(ast.String); ok {
		return string(s)
	}
	return v.String()
}

// projection is what of an event becomes input, as Rego sees it: an object of
// fields, derived ones included, without those that are absent.
type projection struct {
	whole  bool
	fields []projected
}

// projected is a field or key and, when only parts of it are wanted, those.
type projected struct {
	field policy.Field
	key   *ast.Term
	name  string
	parts []projected
}

func newProjection(paths []policy.Path) projection {
	var p projection
	for _, path := range paths {
		list := &p.fields
		i := slices.IndexFunc(*list, func(f projected) bool { return f.field == path.Field })
		if i < 0 {
			*list = append(*list, projected{field: path.Field, key: ast.StringTerm(path.Field.String()), parts: []projected{}})
			i = len(*list) - 1
		}
		(*list)[i].add(path.Keys)
	}
	return p
}

// add wants the part under keys. Nil parts mean the whole.
func (p *projected) add(keys []string) {
	if len(keys) == 0 {
		p.parts = nil
	}
	if p.parts == nil {
		return
	}
	i := slices.IndexFunc(p.parts, func(q projected) bool { return q.name == keys[0] })
	if i < 0 {
		p.parts = append(p.parts, projected{name: keys[0], key: ast.StringTerm(keys[0]), parts: []projected{}})
		i = len(p.parts) - 1
	}
	p.parts[i].add(keys[1:])
}

func (p projection) value(c *policy.Context) ast.Value {
	if p.whole {
		return wholeInput(c)
	}
	var room [8][2]*ast.Term
	pairs := room[:0]
	for i := range p.fields {
		f := &p.fields[i]
		v, ok := c.Get(f.field)
		if !ok {
			continue
		}
		if t := f.term(v); t != nil {
			pairs = append(pairs, [2]*ast.Term{f.key, t})
		}
	}
	return ast.NewObject(pairs...)
}

// term is the wanted part of v, nil when there is none of it: a rule that
// reads only a.b cannot tell an a without b from no a.
func (p *projected) term(v any) *ast.Term {
	if p.parts == nil {
		return toTerm(v)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	var room [8][2]*ast.Term
	pairs := room[:0]
	for i := range p.parts {
		q := &p.parts[i]
		inner, ok := m[q.name]
		if !ok {
			continue
		}
		if t := q.term(inner); t != nil {
			pairs = append(pairs, [2]*ast.Term{q.key, t})
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	return ast.ObjectTerm(pairs...)
}

func wholeInput(c *policy.Context) ast.Value {
	var pairs [][2]*ast.Term
	for _, f := range policy.Fields() {
		if v, ok := c.Get(f); ok {
			pairs = append(pairs, [2]*ast.Term{ast.StringTerm(f.String()), toTerm(v)})
		}
	}
	return ast.NewObject(pairs...)
}
