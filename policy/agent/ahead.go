package agent

import (
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// RefusedBefore reports whether the agent lets no hook refuse an event when it
// comes, while the call that begins it can be refused: then whoever refuses the
// event refuses that call ([Call.Ahead]). It is so of the start of a subagent,
// which the call of a tool of kind agent begins.
func (d *Agent) RefusedBefore(e policy.Event) bool {
	refuses := func(e policy.Event) bool {
		return lists.Some(d.allPoints(), func(p *point) bool {
			act, _ := p.settle(deny, p.may)
			return p.event == e && act.refuses()
		})
	}
	return e == policy.SubagentStart && !refuses(e) && refuses(policy.PreToolExecution)
}

// DecidedAhead reports whether the event was decided with the call that began it.
func (c *Call) DecidedAhead() bool { return c.agent.RefusedBefore(c.Event()) }

// Names under which agents say, in a call that starts a subagent, what it is.
var (
	startedType = []string{"subagent_type", "agent_type", "agentType", "agent", "type", "agent_name", "agentName"}
	startedName = []string{"subagent_name", "agent_name", "agentName", "name"}
	startedTask = []string{"prompt", "task", "description", "message", "objective", "instructions"}
)

// Ahead is the start of the subagent that the call begins, as far as the call
// says what will be started, where that is to be decided with the call; nil for
// every other call.
func (c *Call) Ahead() *policy.Context {
	in := c.Context
	if in == nil || c.Event() != policy.PreToolExecution || !c.agent.RefusedBefore(policy.SubagentStart) || in.Text(policy.FieldToolKind) != "agent" {
		return nil
	}
	out := policy.NewContext(policy.SubagentStart)
	for _, f := range in.Fields() {
		if f.Spec().Everywhere && f != policy.FieldEvent && f != policy.FieldAgentID && f != policy.FieldAgentType {
			v, _ := in.Get(f)
			out.Set(f, v)
		}
	}
	v, _ := in.Get(policy.FieldToolInput)
	input, _ := v.(map[string]any)
	for f, names := range map[policy.Field][]string{policy.FieldSubagentType: startedType, policy.FieldAgentType: startedType,
		policy.FieldSubagentName: startedName, policy.FieldTaskDescription: startedTask} {
		for _, name := range names {
			if text, ok := input[name].(string); ok && text != "" {
				out.Set(f, text)
				break
			}
		}
	}
	return out
}
