package hookc

import (
	"errors"
	"regexp"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
)

// Agent names the agent that will be told what is decided, an id of `hookc
// list dialect`: the compiled program then knows, for each event, what its
// hooks may say that this agent cannot be told, and what becomes of it.
// Profile implies its own agent.
func Agent(name string) Option {
	return func(c *config) {
		d, err := agent.Find(name)
		if err != nil {
			c.misuse = errors.Join(c.misuse, fault.Errorf("hookc: %w", err))
			return
		}
		c.agent = d
	}
}

// degrade notes on each plan what the agent cannot be told. Where the agent was
// named, what hooks read in vain and say in vain is found.
func (c *config) degrade(p *dag.Program) (found diag.List) {
	d := c.agent
	if d == nil {
		d = c.profile
	}
	if d == nil || p == nil {
		return nil
	}
	p.Agent = d.ID
	for _, plan := range p.Plans {
		plan.Losses = losses(d, plan)
	}
	if c.agent != nil {
		found = agentFindings(c.agent, p)
	}
	return found
}

func losses(d *agent.Agent, plan *dag.Plan) []dag.Loss {
	can := d.Can(plan.Event)
	if len(can) == 0 && d.RefusedBefore(plan.Event) {
		return []dag.Loss{{From: "the event", To: string(policy.PreToolExecution), Why: d.ID + " does not fire it; it is decided with the call of the tool that begins it"}}
	}
	if len(can) == 0 {
		return []dag.Loss{{From: "the event", To: "none", Why: d.ID + " does not fire it"}}
	}
	var out []dag.Loss
	for _, at := range can {
		for _, l := range at.Losses {
			loss := dag.Loss{From: l.From, To: l.To, Why: l.Why}
			if says(plan, l.From) && !lists.Among(out, loss) {
				out = append(out, loss)
			}
		}
	}
	return out
}

// powersOf are the powers behind the names of what is lost.
var powersOf = map[string]policy.Powers{
	"allow": policy.MayAllow, "ask": policy.MayAsk, "defer": policy.MayDefer, "deny": policy.MayDeny,
	"stop": policy.MayStop, "end_turn": policy.MayHalt, "retry": policy.MayStop,
}

// says reports whether a hook of the plan may say what is lost: a verdict, a
// control, a change of a field, or context, which any may add.
func says(plan *dag.Plan, what string) bool {
	return lists.Some(plan.Nodes, func(n *dag.Node) bool { return nodeSays(plan, n, what) })
}

// refusals are the powers whose use is told with a reason.
const refusals = policy.MayAsk | policy.MayDefer | policy.MayDeny | policy.MaySkip | policy.MayStop | policy.MayHalt

var feedbackRule = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^feedback\b`) })

// givesFeedback reports whether a rule is written to say what is to be done better.
func givesFeedback(h *policy.Hook) bool {
	return feedbackRule().MatchString(h.Body.Source.Value) ||
		lists.Some(h.Body.Set, func(a *policy.Assign) bool { return a.Path.Value == "retry_feedback" })
}

func nodeSays(plan *dag.Plan, n *dag.Node, what string) bool {
	if p, ok := powersOf[what]; ok {
		return n.Effects.May.Has(p)
	}
	if what == "feedback" {
		return n.Effects.May&refusals == 0 && givesFeedback(n.Hook)
	}
	for _, f := range plan.Spec.Writes {
		if what == "rewrite of "+f.String() {
			return n.Effects.Writes.Overlaps(policy.ExactPaths(policy.Path{Field: f}))
		}
	}
	return true
}
