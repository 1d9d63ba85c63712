package dag

import (
	"fmt"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/rollout"
)

// guards is what a hook can say that keeps an event from going on as it is.
const guards = policy.MayAsk | policy.MayDefer | denials

// Guards reports whether a second look of the node can still add something.
func (n *Node) Guards() bool { return n.Effects.May.Has(guards) }

// Declared reports whether the author says that the node guards: its hook lists what
// it may say, says recheck, is locked or of the machine, or is evaluated in process. Of another
// script or model nobody knows whether it refuses or only looks.
func (n *Node) Declared() bool {
	h := n.Hook
	return n.Guards() && (h.Declared.May != nil || h.Recheck || h.Locked || h.Tier <= policy.TierManaged || h.Kind.InProcess())
}

// Unseen tells, in a sentence each, which guards of a lower tier have not seen what
// the session hook at node w made of the event: it changed what they read, and no
// copy repeats them. hooks is what the nodes did, before the event that the first
// session hook saw, after the one that is acted upon. A value that is again what it
// was has not changed.
func (p *Plan) Unseen(hooks []policy.HookTrace, w int, change policy.Patch, before, after *policy.Context) []string {
	var out []string
	writer := &p.Nodes[w]
	for id := range p.Nodes {
		n := &p.Nodes[id]
		if rollout.In(n.Hook, before) != "" || n.Item > writer.Item || n.RecheckOf >= 0 || n.Hook.Async || n.Hook.Tier >= policy.TierSession || !n.Declared() ||
			p.repeated(id, writer.Item) || !asked(n, hooks[id].Status, after) {
			continue
		}
		seen, _ := change.Within(n.Reads)
		for _, e := range seen.Edits() {
			was, _ := before.At(e.Path)
			if is, _ := after.At(e.Path); !policy.SameValue(was, is) {
				out = append(out, fmt.Sprintf("%s rewrote %s after %s had its turn, and %s is not asked again",
					writer.Hook.Name, e.Path, n.Hook.Name, n.Hook.Name))
				break
			}
		}
	}
	return out
}

// repeated reports whether a copy behind an item repeats a guard.
func (p *Plan) repeated(guard, item int) bool {
	for id := range p.Nodes {
		if p.Nodes[id].RecheckOf == guard && p.Nodes[id].Item > item {
			return true
		}
	}
	return false
}

// asked reports whether a guard has looked, or would now that the event is another.
func asked(n *Node, s policy.Status, now *policy.Context) bool {
	return s == policy.StatusRan ||
		s == policy.StatusFiltered && n.Matcher != nil && (n.Matcher.OrNow || !n.Matcher.AsSent) && n.Matcher.Match(now)
}
