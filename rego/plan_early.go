package rego

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/rego/native"
)

// earlyKey is the expression of a comprehension that takes a variable of the
// body around it for given, though topdown indexes the comprehension by that
// variable and so evaluates it without; nil if there is none.
func earlyKey(c *ast.Compiler, t *ast.Term) *ast.Expr {
	if !ast.IsComprehension(t.Value) {
		return nil
	}
	index := c.ComprehensionIndex(t)
	if index == nil {
		return nil
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
			return e
		}
		unbound = unbound.Diff(vars)
	}
	return nil
}

// writtenKey is the function that bails when a number has come up that may equal one
// written otherwise. It is called after each comprehension of rules of which one
// hasKeyTwice.
const writtenKey = "hookc.written_key"

func lookAtNumbers(c *native.Call, _ []native.Value) (native.Value, bool, error) {
	if c.Respelled() {
		return nil, false, native.ErrBail
	}
	return true, true, nil
}

// hasKeyTwice reports whether topdown indexes a comprehension by a variable that
// stands in it twice. Of numbers that are one, written apart, the variable is then
// the one that the comprehension met first.
func hasKeyTwice(c *ast.Compiler, t *ast.Term) bool {
	if !ast.IsComprehension(t.Value) || c.ComprehensionIndex(t) == nil {
		return false
	}
	times := map[ast.Var]int{}
	ast.WalkVars(t, func(v ast.Var) bool { times[v]++; return false })
	return slices.ContainsFunc(c.ComprehensionIndex(t).Keys, func(k *ast.Term) bool {
		v, ok := k.Value.(ast.Var)
		return !ok || times[v] > 1
	})
}

// failsElsewhere reports whether topdown indexes a comprehension, and so
// evaluates it for all keys at once, though it may fail for some of them.
func failsElsewhere(c *ast.Compiler, t *ast.Term) bool {
	if !ast.IsComprehension(t.Value) || c.ComprehensionIndex(t) == nil {
		return false
	}
	fails := false
	ast.WalkExprs(t, func(e *ast.Expr) bool {
		fails = fails || e.IsCall() && !e.IsEquality() && !neverFails[e.Operator().String()]
		return fails
	})
	for i, e := range comprehensionBody(t) {
		if i == 0 && !holdsBody(e) {
			continue // What it asks for first it asks for whatever the key is.
		}
		ast.WalkRefs(e, func(ref ast.Ref) bool {
			fails = fails || ref.HasPrefix(ast.DefaultRootRef) && len(c.GetRules(ref)) > 0
			return fails
		})
	}
	return fails
}

// holdsBody reports whether an expression has others in it.
func holdsBody(e *ast.Expr) bool {
	found := false
	ast.WalkBodies(e, func(ast.Body) bool { found = true; return true })
	return found
}

// neverFails are functions that have no errors, whatever their arguments.
var neverFails = map[string]bool{
	ast.Equal.Name: true, ast.NotEqual.Name: true, ast.LessThan.Name: true, ast.LessThanEq.Name: true,
	ast.GreaterThan.Name: true, ast.GreaterThanEq.Name: true, ast.Member.Name: true, ast.MemberWithKey.Name: true,
	ast.IsArray.Name: true, ast.IsBoolean.Name: true, ast.IsNull.Name: true, ast.IsNumber.Name: true,
	ast.IsObject.Name: true, ast.IsSet.Name: true, ast.IsString.Name: true, ast.TypeNameBuiltin.Name: true,
}

// onBothSides reports whether an equation has such variables left and right:
// of x = {"a": x}, topdown without x makes a value that has no end.
func onBothSides(e *ast.Expr, of ast.VarSet) bool {
	return len(of.Intersect(mentioned(e.Operand(0)))) > 0 && len(of.Intersect(mentioned(e.Operand(1)))) > 0
}

// endless reports whether an expression, or a function that it calls, unites a
// variable with a value that contains it: when topdown evaluates that without
// the variable, the process ends for want of stack.
func endless(c *ast.Compiler, e *ast.Expr) bool {
	return unitesItself(c, e, map[*ast.Rule]bool{})
}

func unitesItself(c *ast.Compiler, e *ast.Expr, seen map[*ast.Rule]bool) bool {
	if e.IsEquality() {
		a, b := e.Operand(0), e.Operand(1)
		return !a.Equal(b) && len(united(a).Intersect(united(b))) > 0
	}
	if !e.IsCall() {
		return false
	}
	for _, r := range c.GetRulesExact(e.Operator()) {
		if seen[r] {
			continue
		}
		seen[r] = true
		found := false
		ast.WalkExprs(r, func(e *ast.Expr) bool {
			found = found || unitesItself(c, e, seen)
			return found
		})
		if found {
			return true
		}
	}
	return false
}

// united are the variables of a term that uniting it with another unites:
// those of references and comprehensions are not.
func united(t *ast.Term) ast.VarSet {
	vars := ast.NewVarSet()
	ast.WalkTerms(t, func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.Var:
			vars.Add(v)
		case ast.Ref, *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension:
			return true
		}
		return false
	})
	return vars
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
