package lint

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeFold = diag.Define("HK162", diag.Warning, "the order of hooks decides between allow and deny").Guarding()

func folds(t *Target) diag.List {
	var out diag.List
	for _, plan := range t.Plans {
		whole := make([]int, len(plan.Nodes))
		for i := range whole {
			whole[i] = i
		}
		out.Add(orderSensitive(plan, plan.Strategy.Fold, whole)...)
		for _, item := range plan.Items {
			if item.Group != "" {
				out.Add(orderSensitive(plan, item.Fold, item.Members)...)
			}
		}
	}
	return out
}

func orderSensitive(plan *dag.Plan, fold policy.Fold, nodes []int) diag.List {
	if fold != policy.FoldFirst && fold != policy.FoldLast {
		return nil
	}
	for _, i := range nodes {
		for _, j := range nodes {
			a, d := &plan.Nodes[i], &plan.Nodes[j]
			if i == j || !decides(a, policy.MayAllow) || !decides(d, policy.MayDeny) || !Meet(plan, a, d) {
				continue
			}
			return diag.List{codeFold.Report(plan.Nodes[max(i, j)].Hook.Span,
				"%s may allow what %s denies, and the %s verdict decides", a.Hook.Name, d.Hook.Name, fold).
				WithHook(plan.Nodes[max(i, j)].Hook.Name)}
		}
	}
	return nil
}

// decides reports whether a hook is known to be able to say p. A hook that
// declares nothing may say anything, which is no reason to suspect it.
func decides(n *dag.Node, p policy.Powers) bool {
	return original(n) && n.Effects.May.Has(p) && (n.Hook.Kind.InProcess() || n.Hook.Declared.May != nil)
}
