package build

import (
	"context"
	"reflect"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/internal/gate/table"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// firer decides events as the program does where no hook concerns them.
type firer struct{ *executor.Executor }

// emptied is an executor of the program without its hooks: the real one makes
// the Decision.
func emptied(program *dag.Program) firer {
	p := &dag.Program{Hash: program.Hash, Warnings: program.Warnings, Agent: program.Agent}
	for _, plan := range program.Plans {
		p.Plans = append(p.Plans, &dag.Plan{Event: plan.Event, Spec: plan.Spec, Strategy: plan.Strategy, Deadline: plan.Deadline, Inline: true, Volatile: true})
	}
	p.Seal()
	return firer{executor.New(p, executor.Options{})}
}

// situations are contexts in which some agent might be told something else.
var situations = []func(*policy.Context){
	func(*policy.Context) {},
	func(c *policy.Context) { c.Set(policy.FieldPermissionMode, "bypassPermissions") },
	func(c *policy.Context) { c.Set(policy.FieldPermissionMode, "yolo") },
	func(c *policy.Context) { c.Set(policy.FieldPermissionMode, "plan") },
	func(c *policy.Context) {
		c.Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "ls"}).Set(policy.FieldToolResult, "out")
	},
	func(c *policy.Context) {
		c.Set(policy.FieldToolName, "MCP:tool").Set(policy.FieldToolInput, map[string]any{}).Set(policy.FieldToolResult, map[string]any{"a": []any{1}})
	},
	func(c *policy.Context) {
		c.Set(policy.FieldUserInput, "text").Set(policy.FieldMessages, []any{}).Set(policy.FieldSystemPrompt, "prompt").Set(policy.FieldStopHookActive, true)
	},
}

// answer is what the agent is told of an event that no hook concerns; nil when
// that is not the same in every situation.
func (b *builder) answer(d *agent.Agent, p *agent.PointReading) *table.Delivered {
	var contribution *agent.Wire
	for _, situation := range situations {
		call := reach(d, p)
		if call == nil {
			return nil
		}
		in := policy.NewContext(p.Event)
		situation(in)
		in = in.Frozen(p.Event)
		call.Context = in
		w := call.Encode(b.empty.Fire(context.Background(), p.Event, in))
		if contribution != nil && !reflect.DeepEqual(*contribution, w) {
			return nil
		}
		contribution = &w
	}
	return &table.Delivered{Stdout: string(contribution.Stdout), Stderr: contribution.Stderr, Exit: contribution.Exit}
}

// reach is a call at a point; nil when there is no way to it.
func reach(d *agent.Agent, p *agent.PointReading) *agent.Call {
	for _, input := range []string{`{}`, `{"tool_response":{"error":"x"}}`} {
		call, _ := d.Decode([]byte(input), p.Native, func(string) string { return "" }) // what it lacks makes no difference
		if call.Native() == p.Native && call.Event() == p.Event {
			return call
		}
	}
	return nil
}
