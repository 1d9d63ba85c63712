// Package withhold takes from what a hook says all that would count, where the hook is
// not in force, and keeps it for the Decision to tell (semantics.md §2.11).
package withhold

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// InForce is a node as it would be if its hook decided.
func InForce(n *dag.Node) *dag.Node {
	h, out := *n.Hook, *n
	h.Enforcement, h.Spared = "", 0
	out.Hook = &h
	if w := n.Would; w != nil {
		out.Effects, out.OnError, out.OnTimeout = w.Effects, w.OnError, w.OnTimeout
	}
	return &out
}

// From makes of what a node in force would contribute what it contributes: that
// it failed, its warnings, what it would have said, and under `warn` what the user
// is shown.
func From(plan *dag.Plan, n *dag.Node, how policy.Enforcement, r policy.Result) policy.Result {
	out := policy.Result{Failed: lists.Copy(r.Failed), Warnings: r.Warnings}
	for i := range out.Failed {
		out.Failed[i].OnError = policy.OnErrorSkip
	}
	if how == policy.EnforceWarn {
		out.System, r.System = r.System, nil
	}
	if r.Quiet() && len(r.Failed) == 0 {
		return out
	}
	w := would(plan, n, r)
	d := diag.Lookup("HK111").Report(diag.Span{}, "%s: %s; it %s", n.Hook.Name, why(n.Hook, how), text(w))
	out.Warnings = append(slices.Clip(out.Warnings), policy.Warning{Code: d.Code, Hook: n.Hook.Name, Text: d.Text, Would: w})
	if how == policy.EnforceWarn && w.Says != policy.None.String() {
		out.System = append(slices.Clip(out.System), n.Hook.Name+" "+text(w))
	}
	return out
}

func why(h *policy.Hook, how policy.Enforcement) string {
	if h.Enforcement == how {
		return "enforcement is " + string(how)
	}
	return "its rollout leaves this session out"
}

// failed is what a hook says that failed.
const failed = "failed"

// would is what the event would have come to if the hook were alone. What it would
// have changed is told without the event, which other hooks may have changed.
func would(plan *dag.Plan, n *dag.Node, r policy.Result) *policy.Would {
	before := policy.NewContext(plan.Event).Frozen(plan.Event)
	after, last := plan.Strategy.Conclude(before, before.With(r.Patch), &r)
	d := policy.Decide(plan.Spec, before, after, last)
	w := &policy.Would{Action: d.Action, Context: d.Context, Hook: n.Hook.Name, Messages: d.SystemMessages, Reasons: lists.Concat(d.Reasons, d.Feedback)}
	for _, a := range r.Agent { // who concludes may have no use for its reason
		if own, _ := a.Value["reason"].(string); own != "" && len(w.Reasons) == 0 {
			w.Reasons = []string{own}
		}
	}
	switch verdict, control := r.Alone(); {
	case len(r.Failed) > 0:
		w.Says, w.Reasons = failed, []string{r.Failed[0].Error}
	case control != policy.Go:
		w.Says = control.String()
	case r.EndChain: // a refusal where nothing can be refused any more
		w.Says = policy.Deny.String()
	default:
		w.Says = verdict.String()
	}
	if changes := changes(last.Patch.Lasting(), d.Patch); len(changes) > 0 {
		w.Patch, _ = policy.EncodeJSON(changes) // a patch holds JSON values
	}
	return w
}

// changes are the values of a patch where they stand, null where one is taken away,
// and what else becomes of the event.
func changes(p policy.Patch, more map[string]any) map[string]any {
	out := maps.Clone(more)
	if out == nil {
		out = map[string]any{}
	}
	for _, e := range p.Edits() {
		at, name := out, e.Path.Field.String()
		for _, k := range e.Path.Keys {
			inner, _ := at[name].(map[string]any)
			if inner = maps.Clone(inner); inner == nil {
				inner = map[string]any{}
			}
			at[name] = inner
			at, name = inner, k
		}
		at[name] = e.Value
	}
	return out
}

// text is a sentence about a hook.
func text(w *policy.Would) string {
	out := "would have said " + w.Says
	switch {
	case w.Says == failed && w.Action == policy.Proceed:
		out = "failed"
	case w.Says == failed:
		out = "failed, which would have come to " + string(w.Action)
	case w.Says == policy.None.String():
		out = "would have changed the event or added to it"
	}
	return strings.Join(append([]string{out}, w.Reasons...), ": ")
}

// Unfit is what failed of an answer: err, or that it puts into a call of the event what
// may hide a word from the rules after it (policy.ErrNUL). What is refused from an agent
// is not taken from a hook either.
func Unfit(plan *dag.Plan, in *policy.Context, answer *policy.Result, err error) error {
	if err != nil || in == nil || answer == nil || answer.Patch.Empty() || !plan.Event.NeedsTool() {
		return err
	}
	if unfit := in.With(answer.Patch).Unfit(plan.Event); errors.Is(unfit, policy.ErrNUL) {
		return policy.Failf(policy.ErrParse, "its answer: %w", unfit)
	}
	return nil
}
