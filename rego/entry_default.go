package rego

import (
	"slices"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/policy"
)

// DefaultAllow is the entry point that `default allow := false` makes, by a name that
// no rule of an author has.
const DefaultAllow = "default allow"

// closeByDefault makes `default allow := false` mean what it means to OPA's users,
// where a call is guarded (semantics.md §2.8): what the package does not allow is
// denied, unless the hook says that its allow is an opinion. It is a rule like those
// of the author, so that all that evaluates Rego evaluates it; contribute passes it
// over where the package decided otherwise.
func (u *unit) closeByDefault(allow *entry) {
	guarded := u.hook.Event == policy.PreToolExecution || u.hook.Event == policy.PermissionRequest
	if allow == nil || !guarded || u.hook.Body.AllowIsOpinion {
		return
	}
	i := slices.IndexFunc(allow.rules, func(r *ast.Rule) bool {
		return r.Default && r.Head.Value != nil && r.Head.Value.Value.Compare(ast.Boolean(false)) == 0
	})
	if i < 0 {
		return
	}
	text := "unallowed := " + strconv.Quote("not allowed by "+u.own.Package.Path.String()[len("data."):]+".allow")
	if slices.ContainsFunc(u.own.Rules, isReason) {
		text = "unallowed := reason if { reason != set(); reason != \"\"; reason != [] } else" + text[len("unallowed"):]
	}
	module, err := parseModule(ownFile, "package p\n"+text, ast.RegoV1)
	if err != nil {
		panic("rego: the rule of default allow does not parse: " + err.Error())
	}
	rule := module.Rules[0]
	rule.Module = u.own
	for r := rule; r != nil; r = r.Else {
		r.Head.Name, r.Head.Reference = DefaultAllow, ast.Ref{ast.VarTerm(DefaultAllow)}
	}
	place(rule, allow.rules[i].Location)
	u.own.Rules = append(u.own.Rules, rule)
	row := contractRow(DefaultAllow)
	u.entries = append(u.entries, &entry{name: DefaultAllow, order: row, part: partUnallowed, powers: contract[row].powers,
		variable: "hookc_unallowed", rules: []*ast.Rule{rule}})
}

// isReason reports whether a rule gives the texts of a refusal by default.
func isReason(r *ast.Rule) bool {
	return len(r.Head.Ref()) == 1 && r.Head.Ref()[0].Equal(ast.VarTerm("reason")) && len(r.Head.Args) == 0
}

// place says that a rule is written at another one's place.
func place(rule *ast.Rule, at *ast.Location) {
	ast.NewGenericVisitor(func(x any) bool {
		if node, ok := x.(ast.Node); ok {
			node.SetLoc(at)
		}
		return false
	}).Walk(rule)
}
