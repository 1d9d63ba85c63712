package expr

import "github.com/expr-lang/expr/ast"

// array is a list of values; with an undefined one it is undefined.
func (c *compiler) array(n *ast.ArrayNode) term {
	terms := c.terms(n.Nodes)
	eval := func(f *frame) any {
		f.grow(len(terms) * wordSize)
		out := make([]any, len(terms))
		for i, t := range terms {
			if out[i] = t.eval(f); isUndefined(out[i]) {
				return undefined
			}
		}
		return out
	}
	return fold(term{eval: eval}, terms...)
}

// object is an object; with an undefined key or value it is undefined.
func (c *compiler) object(n *ast.MapNode) term {
	var keys, values []term
	for _, p := range n.Pairs {
		pair := p.(*ast.PairNode)
		keys = append(keys, c.term(pair.Key))
		values = append(values, c.term(pair.Value))
	}
	at := place(n)
	return term{eval: func(f *frame) any {
		f.grow(len(keys) * 2 * wordSize)
		out := make(map[string]any, len(keys))
		for i := range keys {
			k, v := keys[i].eval(f), values[i].eval(f)
			if isUndefined(k) || isUndefined(v) {
				return undefined
			}
			key, ok := k.(string)
			if !ok {
				f.fail(at, "an object's key is a text, not %s", typeName(k))
			}
			out[key] = v
		}
		return out
	}}
}

func (c *compiler) pointer(n *ast.PointerNode) term {
	slot := c.loops - 1
	switch n.Name {
	case "index":
		return term{eval: func(f *frame) any { return f.scopes[slot].index }, sure: true}
	case "acc":
		return term{eval: func(f *frame) any { return f.scopes[slot].acc }, sure: true}
	}
	return term{eval: func(f *frame) any { return f.scopes[slot].item }, sure: true}
}
