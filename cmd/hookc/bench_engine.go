package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/internal/casetest"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// benchEngine decides events in process. It has no memory of earlier events.
type benchEngine struct {
	eng     *hookc.Engine
	program *dag.Program
	// watched is the same policy with each hook timed, opened when it is
	// wanted; runs is told of every hook then.
	watched *hookc.Engine
	runs    atomic.Pointer[func(executor.Run)]
	open    func(...hookc.Option) (*hookc.Engine, error)
}

// engine compiles the policy for a project and those around, with answers in the
// place of hooks.
// The policy that -f names is one for all projects.
func (b *bencher) engine(project string, around []string, answers map[string]map[string]any) (*benchEngine, error) {
	key, err := policy.EncodeJSON(answersValue(answers))
	if err != nil {
		return nil, cannot("%v", err)
	}
	if len(b.Files)+len(b.args) == 0 {
		key = append(key, strings.Join(append([]string{project}, around...), "\x00")...)
	}
	if known := b.engines[string(key)]; known != nil {
		return known, nil
	}
	options, done, err := b.Options(b.cmd, b.args, project)
	if err != nil {
		return nil, err
	}
	b.done = append(b.done, done)
	options = append(options, hookc.Answers(answers), hookc.SkipVerify(), hookc.Around(around...), host.Execution[hookc.Option](func(o *executor.Options) {
		o.Gates, o.Async = executor.FirstBlock{}, func(context.Context, *dag.Node, *policy.Context) error { return nil }
	}))
	e := &benchEngine{open: func(more ...hookc.Option) (*hookc.Engine, error) {
		eng, err := openFindings(b.ctx, append(lists.Copy(options), more...))
		if err == nil {
			b.done = append(b.done, func() { _ = eng.Close() }) // ErrClosed, at most
		}
		return eng, err
	}}
	if e.eng, err = e.open(); err != nil {
		return nil, err
	}
	e.program = e.eng.Program()
	b.engines[string(key)] = e
	return e, nil
}

// watch is the engine in which each hook is timed.
func (e *benchEngine) watch() (*hookc.Engine, error) {
	if e.watched != nil {
		return e.watched, nil
	}
	var err error
	e.watched, err = e.open(host.Execution[hookc.Option](func(o *executor.Options) {
		o.Observe = func(r executor.Run) { (*e.runs.Load())(r) }
	}))
	return e.watched, err
}

// tell says who is told of the runs of hooks from here on.
func (e *benchEngine) tell(runs func(executor.Run)) { e.runs.Store(&runs) }

// openFindings is open for a command whose own subject is the policy: findings
// are exit 1.
func openFindings(ctx context.Context, options []hookc.Option) (*hookc.Engine, error) {
	eng, err := hookc.Open(ctx, options...)
	var list diag.ListError
	switch {
	case errors.As(err, &list):
		return nil, exitError{Code: exitFindings, Text: list.List.Render() + summary(list.List)}
	case ctx.Err() != nil:
		return nil, exitError{Code: exitInterrupted, Text: ""}
	case err != nil:
		return nil, cannot("%v", err)
	}
	return eng, nil
}

func answersValue(answers map[string]map[string]any) map[string]any {
	out := map[string]any{}
	for name, answer := range answers {
		out[name] = answer
	}
	return out
}

// first settles which hooks an event leaves out and what its Decision is.
func (b *bencher) first(e *benchEvent) (err error) {
	base, err := b.engine(e.project(), e.around(), nil)
	if err != nil {
		return err
	}
	plan := base.program.Plan(e.event)
	if plan != nil && plan.Memoised() && e.in.Has(policy.FieldToolUseID) {
		if err := b.unidentified(e); err != nil {
			return err
		}
	}
	b.leaveOut(e, plan)
	if e.engine, err = b.engine(e.project(), e.around(), e.answers); err != nil {
		return err
	}
	if e.want, err = e.engine.eng.Fire(b.ctx, e.event, e.in); err != nil {
		return cannot("%v", err)
	}
	if b.ctx.Err() != nil {
		return exitError{Code: exitInterrupted, Text: ""}
	}
	e.same = observable(e.want)
	return nil
}

// unidentified takes the id of its call out of an event, since a repeated call
// is answered from memory.
func (b *bencher) unidentified(e *benchEvent) error {
	v, err := policy.DecodeJSON(e.data)
	if err != nil {
		return cannot("%v", err)
	}
	sent := v.(map[string]any)
	for _, key := range lists.Keys(sent) {
		less := maps.Clone(sent)
		delete(less, key)
		data, err := policy.EncodeJSON(less)
		if err != nil {
			return cannot("%v", err)
		}
		in, event, err := b.read(data)
		if err != nil || event != e.event || in.Has(policy.FieldToolUseID) {
			continue
		}
		e.data, e.in = data, in.Frozen(event)
		e.note("sent without %s: a repeated call would be answered from memory", key)
		return nil
	}
	return cannot("%s: its tool_use_id cannot be taken out, and a repeated call is answered from memory", e.from)
}

// leaveOut gives the hooks that are not to be run the answer of one that has
// nothing to say.
func (b *bencher) leaveOut(e *benchEvent, plan *dag.Plan) {
	answers := map[string]map[string]any{}
	maps.Copy(answers, e.answers)
	e.why = map[string]string{}
	for name := range e.answers {
		e.why[name] = "answered by the test case"
	}
	if plan != nil {
		for i := range plan.Nodes {
			n := &plan.Nodes[i]
			why := b.leftOut(e, n)
			if _, answered := answers[n.Hook.Name]; why == "" || answered {
				continue
			}
			e.why[n.Hook.Name] = why
			if !n.Hook.Async { // it is not started anyway
				answers[n.Hook.Name] = map[string]any{}
			}
		}
	}
	e.answers = answers
}

// leftOut says why a hook is not run on an event, "" when it is.
func (b *bencher) leftOut(e *benchEvent, n *dag.Node) string {
	switch {
	case n.Hook.Async:
		return "async hooks are not started"
	case n.Hook.Kind.InProcess():
		return ""
	case b.rules:
		return "--rules-only"
	case n.Hook.Kind == policy.KindLLM && !b.llm:
		return "an llm hook, see --llm"
	case e.madeUp && n.Effects.World == policy.WorldWrite && !b.effects:
		return "may change something and the event is made up, see --effects"
	}
	return ""
}

// concerned lists the hooks left out that an event would start.
func (e *benchEvent) concerned() []string {
	early := map[string]bool{}
	if plan := e.engine.program.Plan(e.event); plan != nil {
		for i := range plan.Nodes {
			early[plan.Nodes[i].Hook.Name] = plan.Nodes[i].Effects.Spec
		}
	}
	var out []string
	for _, t := range e.want.Hooks {
		_, left := e.why[t.Name]
		started := t.Status != policy.StatusFiltered && t.Status != policy.StatusDisabled && (t.Status != policy.StatusNotStarted || early[t.Name])
		if left && started && !lists.Has(out, t.Name) {
			out = append(out, t.Name)
		}
	}
	lists.Sort(out)
	return out
}

// because says of hooks that are left out why.
func (e *benchEvent) because(names []string) string {
	return strings.Join(lists.Each(names, func(name string) string { return fmt.Sprintf("%s (%s)", name, e.why[name]) }), ", ")
}

// observable is what of a Decision is the same each time and each way.
//
//go:noinline
func observable(d *policy.Decision) map[string]any {
	out := casetest.Object(d)
	for _, key := range []string{"hooks", "policy", "degraded"} {
		delete(out, key)
	}
	return out
}

// differ says how a Decision is not the one of the first time, "" in nothing.
func (e *benchEvent) differ(d *policy.Decision) string {
	return strings.Join(casetest.Whole("", e.same, observable(d)), "; ")
}
