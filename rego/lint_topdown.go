package rego

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/diag"
)

var codeOpenMembership = diag.Define("HK116", diag.Warning, "in over a literal with variables does not see them")
var codeEarlyKey = diag.Define("HK088", diag.Warning, "comprehension takes a variable for given that it is indexed by")
var codeEndless = diag.Define("HK089", diag.Error, "comprehension whose evaluation has no end")

// lintTopdown finds what OPA evaluates otherwise than Rego means it, in the
// hook's own module and in those of its library: a guard may not fire for it,
// or the process end.
func (u *unit) lintTopdown(c *ast.Compiler) {
	for _, file := range lists.Keys(c.Modules) {
		for _, r := range c.Modules[file].Rules {
			for _, e := range openMemberships(r) {
				u.reportHint(codeOpenMembership, e.Location, apart(e), "left out unless it is one of the constants")
			}
			ast.WalkTerms(r, func(t *ast.Term) bool {
				if e := earlyKey(c, t); e != nil && !settlesItself(e) {
					u.reportEarly(c, e)
				}
				return false
			})
		}
	}
}

// settlesItself reports whether an expression comes to nothing at worst without its
// variable, and OPA then evaluates the comprehension again with it.
func settlesItself(e *ast.Expr) bool {
	_, term := e.Terms.(*ast.Term)
	return e.Negated && (term || e.IsEquality())
}

func (u *unit) reportEarly(c *ast.Compiler, e *ast.Expr) {
	const hint = "put it behind what looks the variable up"
	if endless(c, e) {
		u.reportHint(codeEndless, e.Location, hint, "builds a value without end, which ends the process")
		return
	}
	u.reportHint(codeEarlyKey, e.Location, hint, "is evaluated before its variable has a value")
}

// apart is how to write a test of membership so that no index knows it.
func apart(e *ast.Expr) string {
	value, of, ok := spell.Cut(string(e.Location.Text), " in ")
	if !ok || strings.Contains(of, "\n") {
		return "give the collection a name first"
	}
	return "write `choices := " + of + "` before it, and `" + value + " in choices`"
}
