package render

import (
	"cmp"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

func (b *eventBuilder) edges(m *EventModel) {
	keep := b.keep
	if b.tool == "" {
		keep = nil
	}
	for _, e := range b.plan.Sub(keep) {
		from, to := &b.plan.Nodes[e.From], &b.plan.Nodes[e.To]
		out := EdgeModel{From: b.ids[e.From], FromHook: b.plan.Label(e.From), To: b.ids[e.To], ToHook: b.plan.Label(e.To),
			Kind: e.Kind, Start: e.Start, Why: e.Why}
		if e.Kind == dag.DataEdge {
			out.Fields = from.Effects.Writes.Within(to.Reads).Names()
		}
		m.Edges = append(m.Edges, out)
	}
}

// says is what a node can make the chain say, by answering and by failing.
func (b *eventBuilder) says(v int) (answer, fail policy.Powers) {
	n := &b.plan.Nodes[v]
	obeyed := b.plan.Spec.PowersFor(n.Hook.Body.Protocol)
	if n.Hook.Async {
		return 0, 0
	}
	for _, posture := range []policy.Posture{n.OnError, n.OnTimeout} {
		switch {
		case !n.Effects.MayFail:
		case posture == policy.OnErrorDeny:
			fail |= policy.MayDeny
		case posture == policy.OnErrorAbort && obeyed.Has(policy.MaySkip):
			fail |= policy.MaySkip
		case posture == policy.OnErrorAbort:
			fail |= policy.MayStop
		}
	}
	return n.Effects.May & obeyed, fail & obeyed
}

// breaks lists where the end of the chain can lead (semantics.md §1.2, §2.4).
func (b *eventBuilder) breaks(m *EventModel) {
	spec := b.plan.Spec
	refuse := BreakModel{Action: policy.Block, To: spec.Step}
	switch spec.Class {
	case policy.Quality:
		refuse = BreakModel{Action: policy.KeepWorking}
	case policy.Transform:
		refuse = BreakModel{Action: policy.Hide}
	}
	b.addBreak(m, refuse, policy.MayDeny|policy.MaySkip, "")
	b.addBreak(m, BreakModel{Action: policy.Abort, To: spec.Scope}, policy.MayStop, "")
	if spec.Retry {
		again := BreakModel{Action: policy.RetryTurn}
		if spec.Class == policy.Quality {
			again.Action = policy.KeepWorking
		}
		b.addBreak(m, again, policy.MayStop, " with feedback")
	}
	b.addBreak(m, BreakModel{Action: policy.EndTurn, To: policy.LabelTurn}, policy.MayHalt, "")
}

// addBreak adds the break with the hooks that can say one of the powers.
func (b *eventBuilder) addBreak(m *EventModel, out BreakModel, on policy.Powers, how string) {
	var said, failed policy.Powers
	out.Any = true
	for _, v := range b.kept() {
		n := &b.plan.Nodes[v]
		if n.RecheckOf >= 0 {
			continue
		}
		answer, fail := b.says(v)
		if (answer|fail)&on != 0 {
			said, failed = said|answer&on, failed|fail&on
			out.Hooks = append(out.Hooks, n.Hook.Name)
		}
		out.Any = out.Any && ((answer|fail)&on != 0) == n.MayHalt
	}
	for _, name := range (said | failed).Names() {
		if power, _ := policy.ParsePower(name); !said.Has(power) {
			name += " on error"
		}
		out.On = append(out.On, name+how)
	}
	if len(out.Hooks) > 0 {
		m.Breaks = append(m.Breaks, out)
	}
}

// timeline lists the slots, and what is expected to start when.
func (b *eventBuilder) timeline(m *EventModel) {
	s := b.plan.Timeline(b.keep)
	type moment struct {
		at    time.Duration
		slot  int
		nodes []int
	}
	var moments []moment
	add := func(at time.Duration, slot, v int) {
		for i := range moments {
			if moments[i].at == at && moments[i].slot == slot || slot >= 0 && moments[i].slot == slot {
				moments[i].nodes = append(moments[i].nodes, v)
				return
			}
		}
		moments = append(moments, moment{at, slot, []int{v}})
	}
	for _, v := range b.kept() {
		add(s.Start(v), b.plan.Nodes[v].Slot, v)
	}
	sort.SliceStable(moments, func(i, j int) bool { // a slot before what starts with it, which has slot -1
		x, y := moments[i], moments[j]
		return lists.First(cmp.Compare(x.at, y.at), cmp.Compare(uint(x.slot), uint(y.slot))) < 0
	})
	for _, at := range moments {
		names := b.labels(at.nodes)
		m.Timeline = append(m.Timeline, MomentModel{AtUS: micros(at.at), Slot: at.slot, Hooks: names})
		if at.slot >= 0 {
			m.Slots = append(m.Slots, SlotModel{Slot: at.slot, Hooks: names, Holds: b.holds(at.nodes), Fused: b.fused(at.slot),
				EstUS: micros(s.Slot(at.slot))})
		}
	}
	sort.SliceStable(m.Slots, func(i, j int) bool { return m.Slots[i].Slot < m.Slots[j].Slot })
}

func (b *eventBuilder) labels(nodes []int) []string {
	out := make([]string, len(nodes))
	for i, v := range nodes {
		out[i] = b.plan.Label(v)
	}
	return out
}

// holds counts nodes by kind, and of each kind those that are one evaluation.
func (b *eventBuilder) holds(nodes []int) string {
	var parts []string
	for _, name := range policy.KindNames() {
		kind, n := policy.Kind(name), 0
		for _, v := range nodes {
			if b.plan.Nodes[v].Hook.Kind == kind {
				n++
			}
		}
		if n == 0 {
			continue
		}
		part := fmt.Sprintf("%d %s", n, kind)
		for _, f := range b.fused(b.plan.Nodes[nodes[0]].Slot) {
			if f.Kind == kind && f.Fault == "" {
				part += fmt.Sprintf(", %d at once", len(f.Hooks))
				if f.Pending {
					part += " soon"
				}
			}
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " + ")
}

// fused are the fusions of a slot, as far as their nodes are shown. A fusion
// of which one node is left is none.
func (b *eventBuilder) fused(slot int) []FusionModel {
	var out []FusionModel
	for _, f := range b.plan.Fused {
		nodes := lists.DeleteFunc(lists.Copy(f.Nodes), func(v int) bool { return !b.keep(v) })
		if f.Slot == slot && len(nodes) > 1 {
			out = append(out, FusionModel{Kind: f.Kind, Hooks: b.labels(nodes), Fault: f.Fault(), Pending: f.Pending()})
		}
	}
	return out
}

func explainPipeline(p *dag.Program, pipe *dag.Pipeline) PipelineModel {
	m := pipelineModel(p, pipe)
	pipeBreaks(p, pipe, nil, &m.Breaks)
	return m
}

func pipelineModel(p *dag.Program, pipe *dag.Pipeline) PipelineModel {
	m := PipelineModel{Name: pipe.Name, Label: pipe.Label, Each: pipe.Each, Steps: []StepModel{}}
	for i := range pipe.Steps {
		m.Steps = append(m.Steps, *stepModel(p, &pipe.Steps[i]))
	}
	return m
}

func stepModel(p *dag.Program, s *dag.Step) *StepModel {
	if s == nil {
		return nil
	}
	m := &StepModel{Event: s.Event, Action: s.Action, Needed: s.Needed, OK: stepModel(p, s.OK), Err: stepModel(p, s.Err)}
	if plan := p.Plan(s.Event); plan != nil {
		for v := range plan.Nodes {
			if plan.Nodes[v].RecheckOf < 0 {
				m.Hooks = append(m.Hooks, plan.Nodes[v].Hook.Name)
			}
		}
	}
	if s.Seq != nil {
		inner := pipelineModel(p, s.Seq)
		m.Pipeline = &inner
	}
	return m
}

// place is a step within the pipelines around it, outermost first.
type place struct {
	pipe *dag.Pipeline
	step int
}

// pipeBreaks adds the break edges of every event of pipe, which lies at the
// end of the places around it.
func pipeBreaks(p *dag.Program, pipe *dag.Pipeline, around []place, out *[]PipeBreakModel) {
	for i := range pipe.Steps {
		at := append(lists.Copy(around), place{pipe, i})
		stepBreaks(p, &pipe.Steps[i], at, out)
	}
}

func stepBreaks(p *dag.Program, s *dag.Step, at []place, out *[]PipeBreakModel) {
	if s == nil {
		return
	}
	if plan := p.Plan(s.Event); plan != nil {
		for _, b := range eventBreaks(plan) {
			b.Skips, b.Exported = leaves(at, b.To)
			*out = append(*out, b)
		}
	}
	if s.Seq != nil {
		pipeBreaks(p, s.Seq, at, out)
	}
	stepBreaks(p, s.OK, at, out)
	stepBreaks(p, s.Err, at, out)
}

// eventBreaks lists the breaks out of the lifecycle an event's hooks can make.
func eventBreaks(plan *dag.Plan) []PipeBreakModel {
	var m EventModel
	newEventBuilder(plan, "").breaks(&m)
	var out []PipeBreakModel
	for _, b := range m.Breaks {
		if b.To != policy.NoLabel {
			out = append(out, PipeBreakModel{Event: plan.Event, Hooks: b.Hooks, On: b.On, To: b.To})
		}
	}
	return out
}

// leaves lists the events and actions that do not happen when the step at the
// end of the places breaks out of the pipeline labelled label, and whether no
// pipeline around it has that label.
func leaves(at []place, label policy.Label) (skips []string, exported bool) {
	skips = []string{}
	for level := len(at) - 1; level >= 0; level-- {
		here := at[level]
		for i := here.step + 1; i < len(here.pipe.Steps) && !here.pipe.Each; i++ {
			here.pipe.Steps[i].Names(&skips)
		}
		if here.pipe.Label == label {
			return skips, false
		}
	}
	return skips, true
}
