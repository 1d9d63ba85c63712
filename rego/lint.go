package rego

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeNegated = diag.Define("HK115", diag.Hint, "negated call that never holds for a missing value")

// Lints are the findings rego shares with other kinds of rules; a nil one is
// not looked for.
type Lints struct {
	// NoReason: a rule that denies or asks without saying why (HK114).
	NoReason *diag.Code
	// MissingPasses: a guard that lets a missing value through (HK113).
	MissingPasses *diag.Code
}

// lint looks at the guards as they are written. A guard is a rule that denies
// or asks: an allow that never fires harms nobody.
func (u *unit) lint(shared Lints) {
	for _, e := range u.entries {
		if e.part != partDeny && e.part != partAsk {
			continue
		}
		silent := false
		for _, r := range e.rules {
			if shared.NoReason != nil && !silent && saysTrue(r) {
				silent = true
				u.reportHint(shared.NoReason, r.Location, "write `"+e.name+" contains \"why\" if { ... }`",
					"%s gives no reason", e.name)
			}
			for b := r; b != nil; b = b.Else {
				u.lintNegated(b)
				if shared.MissingPasses != nil {
					u.lintDiffers(shared.MissingPasses, b)
				}
			}
		}
	}
}

func saysTrue(r *ast.Rule) bool {
	return !r.Default && r.Head.RuleKind() == ast.SingleValue && r.Head.Value != nil &&
		r.Head.Value.Value.Compare(ast.Boolean(true)) == 0
}

// lintNegated finds `not f(input.x)` where x may be missing and no other
// expression of the body requires it.
func (u *unit) lintNegated(r *ast.Rule) {
	var required []ast.Ref
	for _, x := range r.Body {
		if !x.Negated {
			ast.WalkRefs(x, func(ref ast.Ref) bool {
				required = append(required, ref)
				return false
			})
		}
	}
	for _, x := range r.Body {
		if !x.Negated {
			continue
		}
		for _, ref := range calledOn(x) {
			covered := slices.ContainsFunc(required, func(q ast.Ref) bool { return q.HasPrefix(ref) })
			if missable(ref) && !covered {
				u.reportHint(codeNegated, x.Location, "test it in a helper rule and write `not helper`",
					"never holds when %s is missing", ref)
				break
			}
		}
	}
}

// calledOn are the references to input among the arguments of calls in x; the
// operands of its own == are none, for `not a == b` holds when a is missing.
func calledOn(x *ast.Expr) []ast.Ref {
	terms, ok := x.Terms.([]*ast.Term)
	if !ok {
		return nil
	}
	equality := x.IsEquality() || x.Operator().String() == ast.Equal.Name
	var out []ast.Ref
	for _, operand := range terms[1:] {
		switch v := operand.Value.(type) {
		case ast.Ref:
			if !equality {
				out = append(out, v)
			}
		case ast.Call:
			out = append(out, argumentsOf(v)...)
		}
	}
	return out
}

func argumentsOf(c ast.Call) []ast.Ref {
	var out []ast.Ref
	for _, operand := range c[1:] {
		switch v := operand.Value.(type) {
		case ast.Ref:
			out = append(out, v)
		case ast.Call:
			out = append(out, argumentsOf(v)...)
		}
	}
	return out
}

// surely are the fields that are there whenever their event is.
var surely = []policy.Field{policy.FieldEvent, policy.FieldCwd, policy.FieldProjectRoot, policy.FieldSessionID,
	policy.FieldToolName, policy.FieldToolKind, policy.FieldToolInput, policy.FieldUserInput, policy.FieldMessages}

// missable reports whether a reference to input may be undefined although the
// event is what the hook expects.
func missable(ref ast.Ref) bool {
	if !ref[0].Equal(ast.InputRootDocument) || len(ref) < 2 {
		return false
	}
	name, ok := ref[1].Value.(ast.String)
	if !ok {
		return false
	}
	f, known := policy.ParseField(string(name))
	return known && (len(ref) > 2 || !lists.Among(surely, f))
}

// lintDiffers finds a guard whose only test is `input.x != constant`.
func (u *unit) lintDiffers(code *diag.Code, r *ast.Rule) {
	if len(r.Body) != 1 || r.Body[0].Negated || !r.Body[0].IsCall() {
		return
	}
	x := r.Body[0]
	if x.Operator().String() != ast.NotEqual.Name || len(x.Operands()) != 2 {
		return
	}
	for i, operand := range x.Operands() {
		ref, ok := operand.Value.(ast.Ref)
		if ok && missable(ref) && ast.IsConstant(x.Operands()[1-i].Value) {
			u.reportHint(code, x.Location, "write `not "+strings.Replace(string(x.Location.Text), "!=", "==", 1)+"`",
				"does not hold when %s is missing", ref)
		}
	}
}
