package rego

import (
	"encoding/json"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// defect is why a rule is evaluated by topdown for the sake of what only
// topdown makes of it: where OPA's plan leaves out what topdown evaluates, and
// where topdown itself is not as Rego is, which is what hookc promises anyhow.
// "" is none.
func defect(c *ast.Compiler, r *ast.Rule) string {
	why := ""
	ast.WalkExprs(r, func(e *ast.Expr) bool {
		switch {
		case why != "":
		case holdsComprehension(e):
			why = "planner: a comprehension stands alone"
		case mixesWith(c, e):
			why = "planner: with replaces a function before a document"
		}
		return why != ""
	})
	if why == "" && asksBeyond(r) {
		why = "topdown: a number beyond float64 is found by how it is written"
	}
	if why == "" && len(openMemberships(r)) > 0 {
		why = "topdown: in over a literal with variables is indexed without them"
	}
	ast.WalkBodies(r, func(b ast.Body) bool {
		if why == "" && pairsUnknown(b) {
			why = "planner: variables without values are united"
		}
		return false
	})
	ast.WalkTerms(r, func(t *ast.Term) bool {
		switch {
		case why != "":
		case earlyKey(c, t) != nil:
			why = "topdown: a comprehension is indexed by a variable it needs before"
		case failsElsewhere(c, t):
			why = "topdown: a comprehension is indexed, and may fail for other keys than those asked for"
		}
		return why != ""
	})
	return why
}

// asksBeyond reports whether a rule asks for a number that is no float64, where
// OPA's index may see it: of two that are one number, written apart, it leaves out
// the rule that has the other.
func asksBeyond(r *ast.Rule) bool {
	found := false
	look := func(t *ast.Term) bool {
		if n, ok := t.Value.(ast.Number); ok {
			_, err := json.Number(n).Float64()
			found = found || err != nil
		}
		return found
	}
	for ; r != nil; r = r.Else {
		for _, t := range r.Head.Args {
			ast.WalkTerms(t, look)
		}
		ast.WalkExprs(r, func(e *ast.Expr) bool {
			if e.IsEquality() || e.IsCall() && (e.Operator().Equal(ast.Equal.Ref()) || e.Operator().Equal(ast.Member.Ref())) {
				ast.WalkTerms(e, look)
			}
			return found
		})
	}
	return found
}

// holdsComprehension reports whether an expression is a term, not a call or an
// equation, with a comprehension in it: the plan leaves it out, for it is
// never false, but it may fail.
func holdsComprehension(e *ast.Expr) bool {
	t, ok := e.Terms.(*ast.Term)
	if !ok {
		return false
	}
	found := false
	ast.WalkTerms(t, func(t *ast.Term) bool {
		found = found || ast.IsComprehension(t.Value)
		return found
	})
	return found
}

// pairsUnknown reports whether an equation of a body that has a variable on
// both sides unites a variable with another, or with itself, neither of which
// has a value yet for all that the body says: the plan gives them none.
func pairsUnknown(b ast.Body) bool {
	seen := ast.NewVarSet()
	for _, e := range b {
		if e.IsEquality() && len(united(e.Operand(0)).Intersect(united(e.Operand(1)))) > 0 &&
			pairs(e.Operand(0), e.Operand(1), seen) {
			return true
		}
		seen.Update(mentioned(e))
	}
	return false
}

func pairs(a, b *ast.Term, seen ast.VarSet) bool {
	switch x := a.Value.(type) {
	case ast.Var:
		y, ok := b.Value.(ast.Var)
		return ok && !seen.Contains(x) && !seen.Contains(y)
	case *ast.Array:
		y, ok := b.Value.(*ast.Array)
		if !ok || x.Len() != y.Len() {
			return false
		}
		for i := range x.Len() {
			if pairs(x.Elem(i), y.Elem(i), seen) {
				return true
			}
		}
	case ast.Object:
		y, ok := b.Value.(ast.Object)
		return ok && x.Until(func(k, v *ast.Term) bool {
			w := y.Get(k)
			return w != nil && pairs(v, w, seen)
		})
	}
	return false
}

// mixesWith reports whether an expression replaces functions and documents so
// that the plan replaces input for data, or the other way round: it takes the
// modifiers that replace documents for the first, and a builtin for the input.
func mixesWith(c *ast.Compiler, e *ast.Expr) bool {
	documents := 0
	for _, w := range e.With {
		ref, ok := w.Target.Value.(ast.Ref)
		if !ok || isFunction(c, ref) {
			continue
		}
		first, ok := e.With[documents].Target.Value.(ast.Ref)
		if !ok || first[0].Equal(ast.DefaultRootDocument) != ref[0].Equal(ast.DefaultRootDocument) {
			return true
		}
		documents++
	}
	return false
}

func isFunction(c *ast.Compiler, ref ast.Ref) bool {
	if !ref[0].Equal(ast.InputRootDocument) && !ref[0].Equal(ast.DefaultRootDocument) {
		return true
	}
	return slices.ContainsFunc(c.GetRulesExact(ref), func(r *ast.Rule) bool { return len(r.Head.Args) > 0 })
}

// openMemberships are the expressions that ask for an element of an array,
// object or set that is written with variables beside other things in it. Of
// what a rule's body demands OPA's rule index takes the other things for all
// there is, and leaves the rule out.
func openMemberships(r *ast.Rule) []*ast.Expr {
	var out []*ast.Expr
	for ; r != nil; r = r.Else {
		for _, e := range r.Body {
			_, and := e.Terms.(*ast.LogicalAnd)
			_, or := e.Terms.(*ast.LogicalOr)
			switch {
			case e.Negated || len(e.With) > 0:
			case and || or:
				ast.WalkExprs(e, func(inner *ast.Expr) bool {
					if openMembership(inner) {
						out = append(out, e)
					}
					return false
				})
			case openMembership(e) && stands(r, e.Operand(0)):
				out = append(out, e)
			}
		}
	}
	return out
}

func openMembership(e *ast.Expr) bool {
	if !e.IsCall() || !e.Operator().Equal(ast.Member.Ref()) || len(e.Operands()) != 2 {
		return false
	}
	vars, others := 0, 0
	count := func(t *ast.Term) {
		if _, ok := t.Value.(ast.Var); ok {
			vars++
		} else {
			others++
		}
	}
	switch v := e.Operand(1).Value.(type) {
	case *ast.Array:
		v.Foreach(count)
	case ast.Set:
		v.Foreach(count)
	case ast.Object:
		v.Foreach(func(_, t *ast.Term) { count(t) })
	}
	return vars > 0 && others > 0
}

// stands reports whether a term means a reference or an argument of the
// rule, as an index knows it.
func stands(r *ast.Rule, t *ast.Term) bool {
	name, ok := t.Value.(ast.Var)
	if !ok {
		_, ok = t.Value.(ast.Ref)
		return ok
	}
	names := []ast.Value{name}
	for range r.Body { // A name may mean another that means one.
		for _, e := range r.Body {
			if e.IsEquality() {
				names = append(names, equated(e, names)...)
			}
		}
	}
	return slices.ContainsFunc(names, func(v ast.Value) bool {
		_, ok := v.(ast.Ref)
		return ok || slices.ContainsFunc(r.Head.Args, func(arg *ast.Term) bool { return arg.Value.Compare(v) == 0 })
	})
}

// equated are the names and references that an equation has for one of names.
func equated(e *ast.Expr, names []ast.Value) []ast.Value {
	var out []ast.Value
	for i := range 2 {
		other := e.Operand(1 - i).Value
		switch other.(type) {
		case ast.Var, ast.Ref:
			if has(names, e.Operand(i).Value) && !has(names, other) {
				out = append(out, other)
			}
		}
	}
	return out
}

func has(values []ast.Value, v ast.Value) bool {
	return slices.ContainsFunc(values, func(have ast.Value) bool { return have.Compare(v) == 0 })
}
