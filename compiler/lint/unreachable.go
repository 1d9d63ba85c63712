package lint

import (
	"fmt"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// CodeUnreachable is HK151.
var CodeUnreachable = diag.Define("HK151", diag.Warning, "hook can never be reached").Guarding()

// Unreachable reports a node that no event makes run, and the hook that is
// the reason, if it is one. halters are those of the plan.
func Unreachable(plan *dag.Plan, id int, halters []int) (d diag.Diagnostic, by string, ok bool) {
	n := &plan.Nodes[id]
	for i := range n.Matcher.Atoms {
		if a := &n.Matcher.Atoms[i]; !plan.Spec.CanRead(a.Field) {
			d = CodeUnreachable.Report(a.Origin, "%s: %s never carries %s, so the filter never matches", n.Hook.Name, plan.Event, a.Field)
			return d.WithHook(n.Hook.Name), "", true
		}
	}
	for _, i := range halters {
		g := &plan.Nodes[i]
		if i >= id {
			break
		}
		if g.Item == n.Item || !n.Matcher.Implies(g.Matcher) {
			continue
		}
		where := "always"
		if len(g.Matcher.Atoms) > 0 {
			where = "whenever this filter matches"
		}
		d = CodeUnreachable.Report(n.Hook.Span, "%s: %s, earlier, ends the chain %s", n.Hook.Name, g.Hook.Name, where)
		return d.WithHook(n.Hook.Name).WithHint("put %s before %s, or take it out", n.Hook.Name, g.Hook.Name), g.Hook.Name, true
	}
	return diag.Diagnostic{}, "", false
}

// Halters are the nodes that end the chain whenever their filters match,
// ascending.
func Halters(plan *dag.Plan) []int {
	var out []int
	for id := range plan.Nodes {
		if alwaysHalts(plan, &plan.Nodes[id]) {
			out = append(out, id)
		}
	}
	return out
}

// alwaysHalts reports whether the chain ends whenever g's filter matches, and
// whether that filter sees the same values wherever in the chain it stands.
func alwaysHalts(plan *dag.Plan, g *dag.Node) bool {
	powers := g.Always & g.Effects.May & plan.Strategy.Halt.Powers()
	if g.Effects.MayFail || g.Hook.Async || !g.Exempt() {
		return false
	}
	if item := &plan.Items[g.Item]; len(item.Members) > 1 && item.Fold != policy.FoldMax {
		powers &= policy.MaySkip | policy.MayStop | policy.MayHalt
	}
	return powers != 0 && !g.Matcher.Reads().Overlaps(plan.Spec.Writable())
}

func unreachable(t *Target) diag.List {
	var out diag.List
	for _, plan := range t.Plans {
		halters := Halters(plan)
		for id := range plan.Nodes {
			if d, _, ok := Unreachable(plan, id, halters); ok && original(&plan.Nodes[id]) {
				out.Add(d)
			}
		}
	}
	return out
}

// Because is a finding's text without the name of its hook, for lists that
// show the name beside it.
func Because(d diag.Diagnostic) string {
	prefix := fmt.Sprintf("%s: ", d.Hook)
	if len(d.Text) > len(prefix) && d.Text[:len(prefix)] == prefix {
		return d.Text[len(prefix):]
	}
	return d.Text
}
