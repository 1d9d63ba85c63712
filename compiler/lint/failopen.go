package lint

import (
	"errors"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeFailOpen = diag.Define("HK141", diag.Warning, "guard fails open").Guarding()

// Opens lists the hooks through which a failure lets the guarded action pass;
// it is empty at events that guard nothing (semantics.md §5.4).
func Opens(plan *dag.Plan) []dag.OpenHook {
	if !plan.Spec.Guarded() {
		return nil
	}
	var out []dag.OpenHook
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		if why := opens(plan.Spec, n); why != "" && original(n) {
			out = append(out, dag.OpenHook{Hook: n.Hook.Name, Why: why})
		}
	}
	return out
}

func opens(spec *policy.EventSpec, n *dag.Node) string {
	if !n.Effects.May.Has(denies) || !n.Effects.MayFail || n.Hook.Async {
		return ""
	}
	onError, onTimeout := passes(spec, n, n.OnError), passes(spec, n, n.OnTimeout)
	switch {
	case onError && n.OnTimeout == n.OnError:
		return "on_error: " + n.OnError.String() + " lets a failure and a timeout through"
	case onError && onTimeout:
		return "on_error: " + n.OnError.String() + " and on_timeout: " + n.OnTimeout.String() + " let failures through"
	case onError:
		return "on_error: " + n.OnError.String() + " lets a failure through"
	case onTimeout:
		return "on_timeout: " + n.OnTimeout.String() + " lets a timeout through"
	}
	return ""
}

// passes reports whether a failure under the posture lets the action happen.
func passes(spec *policy.EventSpec, n *dag.Node, posture policy.Posture) bool {
	r := policy.ErrorResult(spec, n.Hook, posture, errors.New("failed"))
	return r.Verdict < policy.Ask && r.Control == policy.Go
}

func failOpen(t *Target) diag.List {
	var out diag.List
	for _, plan := range t.Plans {
		if plan.Spec.Class != policy.Guard {
			continue // elsewhere skip is the safer default: a broken gate must not burn turns
		}
		for i := range plan.Nodes {
			n := &plan.Nodes[i]
			why := opens(plan.Spec, n)
			if why == "" || !original(n) || n.Hook.Body.Agent.Event != "" {
				continue // an agent's own configuration has no word for it; the posture says OPEN
			}
			d := codeFailOpen.Report(n.Hook.Span, "%s: %s", n.Hook.Name, why).WithHook(n.Hook.Name).
				WithHint("set on_error: deny, ask or abort; or may: [] if %s decides nothing", n.Hook.Name)
			if n.Hook.OnError == policy.OnErrorSkip || n.Hook.OnTimeout == policy.OnErrorSkip {
				d.Severity = diag.Hint
			}
			out.Add(d)
		}
	}
	return out
}
