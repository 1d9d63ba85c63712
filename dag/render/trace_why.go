package render

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// why is how the hooks' verdicts became the action.
func (t *tracer) why() string {
	said := map[string]bool{}
	var verdicts []string
	control := policy.Go
	for v := range t.did {
		h := &t.did[v]
		if h.Status != policy.StatusRan && h.Status != policy.StatusFailed {
			continue
		}
		if name := h.Verdict.String(); !said[name] {
			said[name] = true
			verdicts = append(verdicts, name)
		}
		control = max(control, h.Control)
	}
	text := "no hook spoke, verdict " + t.d.Verdict.String()
	if len(verdicts) > 0 {
		text = "verdict " + t.plan.Strategy.Fold.String() + "(" + strings.Join(verdicts, ", ") + ") = " + t.d.Verdict.String()
	}
	if t.d.Control != policy.Go {
		text += ", control " + t.d.Control.String()
	}
	return text + "; " + actionText(t.d)
}

// actionText is an action and what it means for the agent.
func actionText(d *policy.Decision) string {
	means := map[policy.Action]string{
		policy.Proceed: "it happens", policy.Block: "it does not happen", policy.Abort: "nothing more of its pipeline happens",
		policy.RetryTurn: "the model tries again with the feedback", policy.KeepWorking: "the agent keeps working",
		policy.Hide: "the model does not see the value", policy.AskUser: "the user is asked",
		policy.DeferCall: "an outside approver is asked", policy.EndTurn: "the turn ends", policy.Cancelled: "the host cancelled it",
	}[d.Action]
	text := "action " + string(d.Action)
	if d.Scope != policy.NoLabel {
		text += " (leaves " + string(d.Scope) + ")"
	}
	text += " → " + means
	if len(d.Reasons) > 0 && (d.Action == policy.Block || d.Action == policy.Hide || d.Action == policy.KeepWorking) {
		text += ", the model is told why"
	}
	return text
}

// without is the counterfactual, and which processes it would need: those
// whose filter matches, up to the hook that would then end the chain.
func (t *tracer) without(d *policy.Decision) *Counterfactual {
	if d == nil || t.decider < 0 {
		return nil
	}
	gone := t.plan.Nodes[t.decider].Hook.Name
	out := &Counterfactual{Hook: gone, Action: d.Action, Verdict: d.Verdict, By: d.By, At: d.At.String(),
		Reasons: lists.Copy(d.Reasons)}
	end := len(t.plan.Nodes)
	if t.plan.Strategy.Halt.Halts(&policy.Result{Verdict: d.Verdict, Control: d.Control}) {
		by := speakerOf(t.plan, d.By)
		at := slices.IndexFunc(t.plan.Nodes, func(n dag.Node) bool { return n.Hook.Name == by })
		if by != "" && at >= 0 {
			end = at
		}
	}
	for v := range end {
		n := &t.plan.Nodes[v]
		if n.Exempt() || n.Hook.Name == gone || n.Matcher != nil && !n.Matcher.Match(t.in) {
			continue
		}
		name := t.plan.Label(v)
		if n.Hook.Async {
			name += " (async)"
		}
		out.WouldRun = append(out.WouldRun, name)
	}
	return out
}

// maxSaw is how much of a value is shown, in characters.
const maxSaw = 80

// saw is what the rule of node v that spoke looks at, with the values that made
// it true; a copy made by recheck saw what the chain made of the event.
func (t *tracer) saw(v int) []string {
	h, n := &t.did[v], &t.plan.Nodes[v]
	body, ok := n.Runner.(dag.Reasoned)
	if !ok || h.Status != policy.StatusRan || h.At.IsZero() {
		return nil
	}
	in := t.in
	if n.RecheckOf >= 0 && t.d.Final != nil {
		in = t.d.Final
	}
	var out []string
	for _, path := range body.Reads(h.At) {
		value := "absent"
		if found, present := in.At(path); present {
			value = cut(valueText(found), maxSaw)
		}
		out = append(out, path.String()+" = "+value)
	}
	return out
}

func valueText(v any) string {
	text, err := policy.EncodeJSON(v)
	if err != nil {
		return "no JSON value"
	}
	return string(text)
}

// leftOut lists the hooks of an event that its plan leaves out, and why: a trace
// names every loaded hook.
func leftOut(p *dag.Program, e policy.Event) []TraceHook {
	var out []TraceHook
	for _, entry := range p.Hooks {
		if h := entry.Hook; h.Event == e && entry.Status != dag.Live {
			out = append(out, TraceHook{ID: "–", Name: h.Name, Label: h.Name, Kind: h.Kind, Status: policy.Status(entry.Status),
				At: h.Span.String(), Why: entry.Reason})
		}
	}
	return out
}
