package compiler

import (
	"fmt"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// link makes the sub-pipelines of the lifecycle (semantics.md §1.2): which
// events, actions of the host and nested pipelines follow each other, and
// under which label each is left. All are made, whether or not a hook is on
// one of their events: the host runs them by name.
func link(u *unit) {
	u.pipelines = pipelines()
	for _, p := range u.pipelines {
		checkLabels(p, nil)
	}
}

func pipelines() []*dag.Pipeline {
	event := func(e policy.Event) dag.Step { return dag.Step{Event: e} }
	act := func(name string) dag.Step { return dag.Step{Action: name} }
	tool := func() *dag.Pipeline {
		prompt := &dag.Pipeline{Name: "permission", Steps: []dag.Step{event(policy.PermissionRequest)}}
		ok, failed := event(policy.PostToolExecution), event(policy.PostToolExecutionFailure)
		return &dag.Pipeline{Name: "tool", Label: policy.LabelTool, Steps: []dag.Step{
			event(policy.PreToolExecution),
			{Seq: prompt, Needed: "permission"},
			act("tool"),
			{OK: &ok, Err: &failed},
		}}
	}
	micro := &dag.Pipeline{Name: "compact.micro", Label: policy.LabelCompactMicro, Steps: []dag.Step{
		event(policy.PreMicroCompact), act("micro_compact"), event(policy.PostMicroCompact)}}
	auto := &dag.Pipeline{Name: "compact.auto", Label: policy.LabelCompactAuto, Steps: []dag.Step{
		event(policy.PreAutoCompact), act("auto_compact"), event(policy.PostAutoCompact)}}
	return []*dag.Pipeline{
		{Name: "compact", Label: policy.LabelCompact, Steps: []dag.Step{
			{Seq: micro, Needed: "micro_compact"}, {Seq: auto, Needed: "auto_compact"}}},
		tool(),
		{Name: "tool.batch", Label: policy.LabelBatch, Each: true, Steps: []dag.Step{{Seq: tool()}}},
		{Name: "agent", Label: policy.LabelAgent, Steps: []dag.Step{
			event(policy.SubagentStart), act("agent"), event(policy.SubagentStop)}},
	}
}

// labels are those of the lifecycle; a break to one that encloses the event
// is consumed there, any other is given back to the host.
var labels = []policy.Label{policy.LabelSession, policy.LabelTurn, policy.LabelLoop, policy.LabelModel, policy.LabelTool,
	policy.LabelBatch, policy.LabelAgent, policy.LabelCompact, policy.LabelCompactMicro, policy.LabelCompactAuto}

// checkLabels panics unless the step of every guard in a pipeline encloses it:
// leaving the step must leave the action it guards.
func checkLabels(p *dag.Pipeline, around []policy.Label) {
	around = append(lists.Copy(around), p.Label)
	for _, s := range p.Steps {
		if s.Seq != nil {
			checkLabels(s.Seq, around)
		}
		if s.Event == "" {
			continue
		}
		spec := s.Event.Spec()
		known := lists.Among(labels, spec.Scope) && (spec.Step == policy.NoLabel || lists.Among(labels, spec.Step))
		if !known || spec.Class == policy.Guard && !lists.Among(around, spec.Step) {
			panic(fmt.Sprintf("compiler: pass link: %s breaks to %q and %q, which %s has no place for", s.Event, spec.Step, spec.Scope, p.Name))
		}
	}
}
