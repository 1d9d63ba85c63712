package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// ExplainOptions narrow what Explain shows.
type ExplainOptions struct {
	// Event keeps one event only; "" is all of them.
	Event policy.Event
	// Tool keeps, at events that are about a tool, the hooks that can match a
	// call of it; "" keeps all.
	Tool string
	// Tools are the tools to estimate calls of; nil is the policy's catalogue.
	Tools []string
	// Cold says of each node of a plan why hookgate leaves it to hookc where there is
	// no server, "" of those it decides itself; nil is not known.
	Cold func(*dag.Plan) []string
}

// Explain makes the model of a program that every renderer draws. It runs no
// hook. Equal programs have equal models, but for Compiled.
func Explain(p *dag.Program, opt ExplainOptions) *Model {
	m := &Model{Version: ModelVersion, Hash: p.Hash, Event: opt.Event, Tool: opt.Tool, Agent: p.Agent, Compiled: p.Compiled,
		Events: []EventModel{}, Notes: lists.Copy(p.Notes)}
	for _, s := range p.Sources {
		m.Sources = append(m.Sources, SourceModel{Name: s.Name, Path: s.Path, Tier: s.Tier, Format: s.Format,
			Untrusted: s.Untrusted, Uses: lists.Copy(s.Uses), Opaque: lists.Copy(s.Opaque)})
	}
	if opt.Tools == nil {
		opt.Tools = p.Tools.Known
	}
	for _, event := range eventsOf(p, opt.Event) {
		m.Events = append(m.Events, explainEvent(p, event, &opt))
	}
	for _, pipe := range p.Pipelines {
		if opt.Event == "" || pipe.Has(opt.Event) {
			m.Pipelines = append(m.Pipelines, explainPipeline(p, pipe))
		}
	}
	for _, d := range p.Diagnostics {
		m.Diagnostics = append(m.Diagnostics, diagnosticModel(d))
	}
	for _, w := range p.Warnings {
		said := slices.ContainsFunc(p.Diagnostics, func(d diag.Diagnostic) bool { return d.Code == w.Code && d.Text == w.Text })
		if !said {
			m.Warnings = append(m.Warnings, warningModel(w))
		}
	}
	return m
}

// warningModel is what happened at run time: a warning, however bad the same
// code is where an author can mend it.
func warningModel(w policy.Warning) DiagnosticModel {
	return DiagnosticModel{Code: w.Code.ID, Severity: diag.Warning.String(), Hook: w.Hook, Msg: w.Text}
}

func diagnosticModel(d diag.Diagnostic) DiagnosticModel {
	line, col := d.Span.Position()
	return DiagnosticModel{Code: d.Code.ID, Severity: d.Severity.String(), Hook: d.Hook, File: d.Span.File(),
		Line: line, Column: col, Msg: d.Text, Fix: d.Hint}
}

// eventsOf lists the events that have a loaded hook, or the one asked for.
func eventsOf(p *dag.Program, only policy.Event) []policy.Event {
	if only != "" {
		return []policy.Event{only}
	}
	var out []policy.Event
	for _, plan := range p.Plans {
		out = append(out, plan.Event)
	}
	for _, e := range p.Hooks {
		out = append(out, e.Hook.Event)
	}
	return lists.Compact(lists.Order(out, policy.Event.Compare))
}

func explainEvent(p *dag.Program, event policy.Event, opt *ExplainOptions) EventModel {
	spec := event.Spec()
	strategy := spec.Strategy.Spec()
	m := EventModel{Event: event, Class: spec.Class, Strategy: strategy.Strategy, Halts: strategy.Doc,
		Posture: "closed", Items: []ItemModel{}, Estimate: EstimateModel{Path: []string{}}}
	for _, e := range p.Hooks {
		if e.Hook.Event == event && e.Status != dag.Live {
			m.Dead = append(m.Dead, deadModel(&e))
		}
	}
	plan := p.Plan(event)
	if plan == nil {
		m.Inline = true
		return m
	}
	b := newEventBuilder(plan, opt.Tool)
	if opt.Cold != nil {
		b.cold = opt.Cold(plan)
	}
	b.describe(&m)
	b.items(&m)
	b.edges(&m)
	b.breaks(&m)
	b.timeline(&m)
	m.Estimate = b.estimate(b.keep)
	if plan.AboutTools() {
		b.tools(&m, opt.Tools)
	}
	return m
}

func deadModel(e *dag.Entry) DeadModel {
	d := DeadModel{Name: e.Hook.Name, Tier: e.Hook.Tier, Kind: e.Hook.Kind, Origin: e.Hook.Span.String(),
		Filter: filterText(&e.Hook.Filter), Locked: e.Hook.Locked, Status: e.Status, Reason: e.Reason, By: e.By}
	if e.Code != nil {
		d.Code = e.Code.ID
	}
	return d
}

// filterText is a filter on one line: the bare tool condition and key=value
// for each of the others, `*` for none.
func filterText(f *policy.Filter) string {
	_, named := f.Get(policy.FilterToolName)
	var parts []string
	for _, c := range f.Conditions {
		switch {
		case c.Key == policy.FilterToolMatcher && named:
		case c.Key == policy.FilterToolName, c.Key == policy.FilterToolMatcher:
			parts = append(parts, c.Value.Value)
		default:
			parts = append(parts, string(c.Key)+"="+c.Value.Value)
		}
	}
	if len(parts) == 0 {
		return "*"
	}
	return strings.Join(parts, " ")
}

// eventBuilder makes the model of one plan, narrowed to the nodes kept.
type eventBuilder struct {
	plan *dag.Plan
	tool string
	keep func(int) bool
	// cold is what ExplainOptions.Cold says, nil for nothing.
	cold []string
	// ids are the numbers people see, by node.
	ids []string
	// pos are the numbers of the items.
	pos []string
}

func newEventBuilder(plan *dag.Plan, tool string) *eventBuilder {
	b := &eventBuilder{plan: plan, tool: tool, keep: plan.Matching(tool)}
	b.number()
	return b
}

// number gives each item and node the number people see. A copy made by
// recheck has the number of its original and a prime; numbers are those of the
// whole plan, whatever is kept.
func (b *eventBuilder) number() {
	b.ids = make([]string, len(b.plan.Nodes))
	next := 1
	for _, item := range b.plan.Items {
		pos := ""
		for place, v := range item.Members {
			if of := b.plan.Nodes[v].RecheckOf; of >= 0 {
				b.ids[v] = b.ids[of] + b.plan.Primes(v)
				pos = lists.First(pos, b.ids[v])
				continue
			}
			if pos == "" {
				pos = fmt.Sprint(next)
				next++
			}
			b.ids[v] = pos
			if item.Parallel || len(item.Members) > 1 {
				b.ids[v] = fmt.Sprintf("%s.%d", pos, place+1)
			}
		}
		b.pos = append(b.pos, pos)
	}
}

func (b *eventBuilder) describe(m *EventModel) {
	plan := b.plan
	m.Strategy, m.Halts, m.ByPriority = plan.Strategy.Strategy, plan.Strategy.Doc, plan.ByPriority
	m.DeadlineMS = millis(plan.Deadline)
	m.Losses = plan.Losses
	m.Inline, m.Volatile, m.MaxConcurrent, m.MaxModels = plan.Inline, plan.Volatile, plan.MaxConcurrent, plan.MaxModels
	for _, o := range plan.Open {
		kept := slices.ContainsFunc(b.kept(), func(v int) bool { return plan.Nodes[v].Hook.Name == o.Hook })
		if kept {
			m.Posture = "open"
			m.Open = append(m.Open, OpenModel(o))
		}
	}
}

// kept lists the nodes shown, ascending.
//
//go:noinline
func (b *eventBuilder) kept() []int {
	var out []int
	for v := range b.plan.Nodes {
		if b.keep(v) {
			out = append(out, v)
		}
	}
	return out
}

func (b *eventBuilder) items(m *EventModel) {
	for i, item := range b.plan.Items {
		out := ItemModel{Pos: b.pos[i], Group: item.Group, Parallel: item.Parallel, Fold: item.Fold, MayHalt: item.MayHalt}
		for _, v := range item.Members {
			if b.keep(v) {
				out.Hooks = append(out.Hooks, b.hook(v))
			} else if n := &b.plan.Nodes[v]; n.RecheckOf < 0 {
				m.Unmatched = append(m.Unmatched, UnmatchedModel{ID: b.ids[v], Name: n.Hook.Name, Filter: filterText(&n.Hook.Filter)})
			}
		}
		if len(out.Hooks) > 0 {
			m.Items = append(m.Items, out)
		}
	}
	m.Inline = !slices.ContainsFunc(b.kept(), func(v int) bool { return !b.plan.Nodes[v].Exempt() })
}

func (b *eventBuilder) hook(v int) HookModel {
	n := &b.plan.Nodes[v]
	h := n.Hook
	spec := b.plan.Spec
	obeyed := spec.PowersFor(h.Body.Protocol)
	m := HookModel{
		ID: b.ids[v], Name: h.Name, Label: b.plan.Label(v), Node: v, Kind: h.Kind, Engine: n.Engine, Tier: h.Tier,
		Priority: h.Priority, Origin: h.Span.String(), Description: h.Description, Locked: h.Locked, Async: h.Async, Durable: h.Durable, Enforcement: h.Enforcement, Rollout: n.Rollout(),
		Filter: filterText(&h.Filter), Reads: n.Effects.Reads.Names(), Writes: n.Effects.Writes.Names(), May: n.Effects.May.Names(),
		MayAll: obeyed != 0 && n.Effects.May&obeyed == obeyed, World: n.Effects.World, Spec: n.Effects.Spec, MayHalt: n.MayHalt, Volatile: n.Effects.Volatile,
		Always: n.Always.Names(), Slot: n.Slot, Mode: modeOf(n), EstUS: micros(n.Cost), Measured: n.Measured,
		OnError: n.OnError, OnTimeout: n.OnTimeout, TimeoutMS: millis(n.Timeout), Retry: n.Retry,
	}
	if b.cold != nil && strings.Contains(n.Engine, "(") {
		if m.Cold = "yes"; b.cold[v] != "" {
			m.Cold = "no: " + b.cold[v]
		}
	}
	if readable := spec.Readable(); readable.Within(n.Effects.Reads).Equal(readable) {
		m.Reads = []string{"*"}
	}
	if n.RecheckOf >= 0 {
		m.RecheckOf = b.ids[n.RecheckOf]
		m.Because = b.rewriters(v)
	}
	return m
}

// rewriters names the hooks between a recheck copy and its original, or its
// copy before, that may change what it reads, and what they may change.
func (b *eventBuilder) rewriters(v int) string {
	n := &b.plan.Nodes[v]
	var names []string
	var fields policy.Paths
	for u := n.RecheckOf + 1; u < v; u++ {
		w := &b.plan.Nodes[u]
		if over := w.Effects.Writes.Within(n.Reads); !over.Empty() && w.RecheckOf < 0 && b.keep(u) {
			names, fields = append(names, w.Hook.Name), fields.Union(over)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, ", ") + " may change " + fields.String()
}

func modeOf(n *dag.Node) string {
	switch {
	case n.Hook.Async:
		return ModeAsync
	case n.Exempt():
		return ModeInline
	case n.Hook.Kind == policy.KindLLM:
		return ModeLLM
	}
	return ModeProcess
}

func (b *eventBuilder) estimate(keep func(int) bool) EstimateModel {
	e := b.plan.Estimated(keep)
	m := EstimateModel{SerialUS: micros(e.Serial), CriticalUS: micros(e.Critical), Path: e.Path, FirstDenyUS: micros(e.FirstDeny)}
	if m.Path == nil {
		m.Path = []string{}
	}
	s := b.plan.Timeline(keep)
	for v := range b.plan.Nodes {
		n := &b.plan.Nodes[v]
		if !keep(v) || n.Exempt() {
			continue
		}
		if n.Hook.Kind == policy.KindLLM {
			m.Models++
		} else {
			m.Processes++
		}
		if s.Start(v) < e.FirstDeny {
			m.FirstDenyStarts++
		}
	}
	return m
}

// tools estimates a call of each tool; tools that the same hooks look at
// share a line.
func (b *eventBuilder) tools(m *EventModel, tools []string) {
	at := map[string]int{}
	for _, tool := range tools {
		matches := b.plan.Matching(tool)
		key := make([]byte, len(b.plan.Nodes))
		for v := range key {
			if matches(v) {
				key[v] = 1
			}
		}
		i, seen := at[string(key)]
		if !seen {
			i = len(m.Tools)
			at[string(key)] = i
			m.Tools = append(m.Tools, ToolsModel{EstimateModel: b.estimate(matches)})
		}
		m.Tools[i].Tools = append(m.Tools[i].Tools, tool)
		if m.Tools[i].Processes+m.Tools[i].Models == 0 {
			m.NoProcess = append(m.NoProcess, tool)
		}
	}
}
