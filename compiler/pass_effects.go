package compiler

import (
	"errors"
	"fmt"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// effects settles what each node reads, writes, may say and does to the world
// (semantics.md §3), what its failure means and how long it may take (§5.4).
func effects(u *unit) {
	for _, plan := range u.plans {
		var lower policy.Paths // what hooks below the session tier write
		below := false
		for i := range plan.Nodes {
			n := &plan.Nodes[i]
			u.settleEffects(plan, n)
			if !registered(n.Hook) {
				lower, below = lower.Union(n.Effects.Writes), true
			} else if below {
				restrain(plan, n, lower)
			}
			u.knownFacts(n)
			u.settleFailure(plan, n)
			n.MayHalt = mayHalt(plan, n)
		}
		restrict(plan)
		plan.Deadline = deadline(u.policy, plan)
		haltItems(plan)
	}
}

var codeFactUndeclared = diag.Define("HK136", diag.Error, "fact that nobody declares")

// knownFacts reports the facts that a hook reads and nobody declares.
func (u *unit) knownFacts(n *dag.Node) {
	if n.RecheckOf >= 0 {
		return
	}
	var names []string
	for _, f := range u.policy.Facts {
		names = append(names, f.Name)
	}
	for _, p := range n.Effects.Reads.All() {
		if p.Field != policy.FieldFacts || len(p.Keys) == 0 || lists.Has(names, p.Keys[0]) {
			continue
		}
		u.report(n.Hook, codeFactUndeclared.Report(n.Hook.Span, "%s reads facts.%s, which is not declared", n.Hook.Name, p.Keys[0]).
			WithHint("%s", diag.DidYouMean(p.Keys[0], names, "declare it: facts: {"+p.Keys[0]+": string}")))
	}
}

// restrain takes from a hook that an agent registered what could loosen the
// tiers below it, where no halt keeps it from being heard after they spoke.
func restrain(plan *dag.Plan, n *dag.Node, lower policy.Paths) {
	if plan.Strategy.Fold == policy.FoldLast {
		// The last verdict decides: anything but a denial could undo one.
		n.Effects.May &^= policy.MayAllow | policy.MayAsk | policy.MayDefer
	}
	if c := plan.Spec.Class; plan.Strategy.Halt == policy.HaltNever && (c == policy.Quality || c == policy.Transform) {
		// A break is stronger than a denial, and lets the turn end or the
		// result stand that the denial holds back.
		n.Effects.May &^= policy.MayStop | policy.MayHalt
	}
	if offer := policy.FieldPaths(policy.FieldToolConfig); lower.Overlaps(offer) {
		// Offers are joined: one more name widens what others narrowed.
		n.Effects.Writes = policy.Paths{}
	}
}

var codeSpeculative = diag.Define("HK132", diag.Error, "speculative hook with side effects")

// settleEffects lays declarations over what the kind said, and cuts both to
// what the event has. At an event that only observes nothing can be written.
func (u *unit) settleEffects(plan *dag.Plan, n *dag.Node) {
	d := &n.Hook.Declared
	eff := u.bodies[n.Hook].body.Effects
	if eff.World == policy.WorldUnset {
		panic(fmt.Sprintf("compiler: pass effects: kind %s does not say how hook %s uses the world", n.Hook.Kind, n.Hook.Name))
	}
	if d.Reads != nil {
		eff.Reads, eff.Sees, eff.Project = declaredPaths(d.Reads), policy.ExactPaths(parsed(d.Reads)...), true
	}
	if d.Writes != nil {
		eff.Writes = declaredPaths(d.Writes)
	}
	if d.May != nil {
		eff.May = 0
		for _, t := range d.May {
			p, _ := policy.ParsePower(t.Value)
			eff.May |= p
		}
	}
	if d.World != policy.WorldUnset {
		eff.World = d.World
	} else if d.Pure {
		eff.World = policy.WorldNone
	}
	asked := d.Pure
	if d.Speculative != nil {
		asked = *d.Speculative
		eff.Spec = asked
	}
	eff.Spec = eff.Spec || d.Pure && asked
	if eff.World == policy.WorldWrite {
		if asked {
			span := d.Span
			if span.IsZero() {
				span = n.Hook.Span
			}
			u.report(n.Hook, codeSpeculative.Report(span, "%s is speculative and writes the world", n.Hook.Name).
				WithHint("declare world: read or none if it changes nothing"))
		}
		eff.Spec = false
	}
	eff.May &= plan.Spec.PowersFor(n.Hook.Body.Protocol)
	eff.Writes = eff.Writes.Within(plan.Spec.Writable())
	if n.Hook.Async {
		eff.May, eff.Writes, eff.Spec = 0, policy.Paths{}, false
	}
	if n.Hook.Enforcement != "" { // it decides and changes nothing
		n.Would = &dag.Would{Effects: eff}
		eff.May, eff.Writes = 0, policy.Paths{}
	}
	eff.MayFail = eff.MayFail || !n.Hook.Kind.InProcess() // the deadline can strike it
	n.Effects = eff
	n.Reads = eff.Reads.Union(n.Matcher.Reads())
	if n.Hook.Spared > 0 {
		n.Reads = n.Reads.Union(policy.FieldPaths(policy.FieldSessionID))
	}
}

// declaredPaths is the set that the author wrote, with the inputs of derived
// fields.
func declaredPaths(list []diag.Text) policy.Paths { return policy.NewPaths(parsed(list)...) }

// parsed reads paths that validate has found right.
func parsed(list []diag.Text) []policy.Path {
	paths := make([]policy.Path, 0, len(list))
	for _, t := range list {
		p, err := policy.ParsePath(t.Value)
		if err != nil {
			panic("compiler: pass effects: " + err.Error())
		}
		paths = append(paths, p)
	}
	return paths
}

// settleFailure fills in timeouts, retries and postures: the hook's own, else
// its file's default where that means something, else the kind's.
func (u *unit) settleFailure(plan *dag.Plan, n *dag.Node) {
	h, k := n.Hook, u.kind(n.Hook)
	n.Timeout = lists.First(h.Timeout, k.Timeout)
	n.Retry = h.Retry
	if n.Retry < 0 {
		n.Retry = k.Retry
	}
	n.OnError = h.OnError
	if n.OnError == policy.PostureUnset && h.File != nil {
		if p := h.File.OnError[h.Kind]; postureAllowed(plan.Spec, h, p) {
			n.OnError = p
		}
	}
	if n.OnError == policy.PostureUnset {
		n.OnError = k.OnOther
		if plan.Spec.Class == policy.Guard {
			n.OnError = k.OnGuard
		}
	}
	n.OnTimeout = lists.First(h.OnTimeout, n.OnError)
	if n.Would != nil {
		n.Would.OnError, n.Would.OnTimeout = n.OnError, n.OnTimeout
		n.OnError, n.OnTimeout = policy.OnErrorSkip, policy.OnErrorSkip
	}
	if n.OnError == policy.PostureUnset {
		panic(fmt.Sprintf("compiler: pass effects: kind %s does not say what a failure means", h.Kind))
	}
}

// mayHalt reports whether the node's answer, or its failure, can end the
// chain.
func mayHalt(plan *dag.Plan, n *dag.Node) bool {
	if n.Hook.Async {
		return false
	}
	halt := plan.Strategy.Halt
	if n.Effects.May.Has(halt.Powers()) {
		return true
	}
	if !n.Effects.MayFail {
		return false
	}
	for _, p := range []policy.Posture{n.OnError, n.OnTimeout} {
		if r := policy.ErrorResult(plan.Spec, n.Hook, p, errFailed); halt.Halts(&r) {
			return true
		}
	}
	return false
}

var errFailed = errors.New("failed")

// deadline is the event's, else the policy's, else 30 s for chains that speak
// jcli and as long as the longest timeout of the others (semantics.md §5.4).
func deadline(p *policy.Policy, plan *dag.Plan) time.Duration {
	out := lists.First(plan.Deadline, p.ChainTimeout)
	if p.Profile != nil {
		out = lists.First(out, p.Profile.ChainTimeout, everyTimeout(plan))
	}
	if out > 0 {
		return out
	}
	out = 30 * time.Second
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		foreign := n.Hook.Kind == policy.KindBash && n.Hook.Body.Protocol != "" && n.Hook.Body.Protocol != policy.JCLIProtocol
		if foreign && !n.Hook.Async {
			out = max(out, n.Timeout)
		}
	}
	return out
}

// everyTimeout is what the hooks of a plan may take one after another: the
// budget of an agent that has no limit of its own for a whole event.
func everyTimeout(plan *dag.Plan) time.Duration {
	var out time.Duration
	for i := range plan.Nodes {
		if n := &plan.Nodes[i]; !n.Hook.Async && !n.Hook.Kind.InProcess() {
			out += n.Timeout * time.Duration(n.Retry+1)
		}
	}
	return out
}
