package rego

import (
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
		case openMembership(e):
			why = "topdown: in over a literal with variables is indexed without them"
		}
		return why != ""
	})
	ast.WalkTerms(r, func(t *ast.Term) bool {
		switch {
		case why != "":
		case ast.IsComprehension(t.Value) && earlyKey(c, t):
			why = "topdown: a comprehension is indexed by a variable it needs before"
		case mayCoincide(t.Value):
			why = "topdown: elements of a written set, or keys of an object, that are equal when evaluated count twice"
		}
		return why != ""
	})
	return why
}

// mayCoincide reports whether elements of a set, or keys of an object, are
// written apart and may turn out equal. Topdown looks at each of them all the
// same where it iterates or looks one up.
func mayCoincide(v ast.Value) bool {
	count, open := 0, false
	switch v := v.(type) {
	case ast.Set:
		count, open = v.Len(), !v.IsGround()
	case ast.Object:
		count = v.Len()
		v.Foreach(func(k, _ *ast.Term) { open = open || !k.IsGround() })
	}
	return open && count > 1
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

// openMembership reports whether an expression asks for an element of an array,
// object or set that is written with variables in it. OPA's rule index takes
// the constants among them for all there is, and leaves the rule out.
func openMembership(e *ast.Expr) bool {
	if !e.IsCall() || !e.Operator().Equal(ast.Member.Ref()) {
		return false
	}
	switch v := e.Operand(1).Value.(type) {
	case *ast.Array, ast.Set, ast.Object:
		return !v.IsGround()
	}
	return false
}

// earlyKey reports whether topdown indexes a comprehension by a variable of
// the body around it, which it then evaluates without, though an expression in
// it takes the variable for given.
func earlyKey(c *ast.Compiler, t *ast.Term) bool {
	index := c.ComprehensionIndex(t)
	if index == nil {
		return false
	}
	unbound := ast.NewVarSet()
	for _, k := range index.Keys {
		if v, ok := k.Value.(ast.Var); ok {
			unbound.Add(v)
		}
	}
	for _, e := range comprehensionBody(t) {
		vars := mentioned(e)
		switch {
		case len(unbound.Intersect(vars)) == 0:
		case !e.IsEquality() || e.Negated || len(e.With) > 0 || onBothSides(e, unbound):
			return true
		}
		unbound = unbound.Diff(vars)
	}
	return false
}

// onBothSides reports whether an equation has such variables left and right:
// of x = {"a": x}, topdown without x makes a value that has no end.
func onBothSides(e *ast.Expr, of ast.VarSet) bool {
	return len(of.Intersect(mentioned(e.Operand(0)))) > 0 && len(of.Intersect(mentioned(e.Operand(1)))) > 0
}

func comprehensionBody(t *ast.Term) ast.Body {
	switch v := t.Value.(type) {
	case *ast.ArrayComprehension:
		return v.Body
	case *ast.SetComprehension:
		return v.Body
	case *ast.ObjectComprehension:
		return v.Body
	}
	return nil
}

func mentioned(x any) ast.VarSet {
	vars := ast.NewVarSet()
	ast.WalkVars(x, func(v ast.Var) bool { vars.Add(v); return false })
	return vars
}
