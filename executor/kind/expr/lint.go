package expr

import (
	"github.com/expr-lang/expr/ast"

	"github.com/hookc/hookc/policy"
)

// lint reports what a rule probably does not mean. Both findings are hints and
// err on the side of silence.
func (b *exprBuilder) lint(rule policy.Rule, x *formula) {
	if rule.Says != policy.MayAllow && b.hook.Body.When.IsZero() {
		if n := missedDifference(x.tree); n != nil {
			at := n.Location()
			b.found.Add(CodeGuardUndefined.Report(textSpan(x.text, at.From, at.To), "%s does not fire when the value is missing", x.what).
				WithHint("give it a default: (value ?? \"\") != …, or write !(value == …)"))
		}
	}
	if rule.Says.Has(policy.MayDeny|policy.MayAsk) && rule.Reason.Value == "" {
		b.found.Add(CodeNoReason.Report(ruleSpan(b.hook, rule), "%s gives no reason", x.what).WithHint("add reason:"))
	}
}

// missedDifference is a `!=` on which a condition depends as a whole, of which
// one side looks into an object: when it is missing the condition is
// undefined. Fields themselves are taken to be there, and a comparison with
// nil has a finding of its own.
func missedDifference(n ast.Node) ast.Node {
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return nil
	}
	switch b.Operator {
	case "and", "&&":
		if found := missedDifference(b.Left); found != nil {
			return found
		}
		return missedDifference(b.Right)
	case "!=":
		if isNil(b.Left) || isNil(b.Right) {
			return nil
		}
		if looksInside(b.Left) || looksInside(b.Right) {
			return n
		}
	}
	return nil
}

func isNil(n ast.Node) bool {
	_, ok := n.(*ast.NilNode)
	return ok
}

func looksInside(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ChainNode:
		return looksInside(n.Node)
	case *ast.MemberNode:
		return true
	}
	return false
}
