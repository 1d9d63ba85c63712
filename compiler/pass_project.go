package compiler

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// projected finds which parts of an event its plan looks at, so that an event
// that is decoded for the plan need not be made whole.
func projected(u *unit) {
	for _, plan := range u.plans {
		plan.Projection = projection(plan)
	}
}

// projection wants what filters and bodies read, what the duplicate guard
// tells calls apart by, and the whole of each field that may change: the
// Decision tells its final value, and whether it is another one. A script that
// does not declare its reads looks at anything, and so does what an agent makes
// of its hooks' answers.
func projection(plan *dag.Plan) *policy.Projection {
	if plan.Strategy.Rules.Conclude != nil {
		return policy.WholeProjection()
	}
	reads, whole := plan.Reads, policy.Paths{}
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		if n.Hook.Kind == policy.KindBash && !n.Effects.Project {
			return policy.WholeProjection()
		}
		reads = reads.Union(n.Effects.Sees)
		whole = whole.Union(n.Effects.Writes).Union(policy.FieldPaths(extended(plan.Spec, n.Hook)...))
	}
	if plan.Memoised() && !plan.Strategy.Rules.PassRepeats {
		whole = whole.Union(policy.FieldPaths(policy.FieldToolInput))
	}
	return policy.NewProjection(reads, whole)
}

// extended are the fields that what a hook may say is added to in the end:
// context to the system prompt, injected messages to the conversation. Rules
// that only judge add nothing.
func extended(spec *policy.EventSpec, h *policy.Hook) []policy.Field {
	if h.Kind == policy.KindExpr && h.Body.Context.IsZero() && len(h.Body.Set) == 0 {
		return nil
	}
	var out []policy.Field
	if spec.Context && spec.CanRead(policy.FieldSystemPrompt) {
		out = append(out, policy.FieldSystemPrompt)
	}
	if spec.Inject && spec.CanRead(policy.FieldMessages) {
		out = append(out, policy.FieldMessages)
	}
	return out
}
