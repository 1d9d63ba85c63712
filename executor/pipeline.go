package executor

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Action is a step of a sub-pipeline that the host performs: run the tool,
// compact the conversation. It is given the current context and returns the
// fields it changes, by canonical name, for the steps that follow; nil is none
// and a nil value makes a field absent. An error takes the pipeline's error
// branch (tool_error is then the error's text), and ends a pipeline that has
// none.
type Action func(ctx context.Context, in *policy.Context) (map[string]any, error)

// Actions are the host's actions by name. A part of a pipeline that runs only
// when it is needed (compact's micro_compact and auto_compact) is left out
// when its action is not here; an entry micro_compact_needed is asked first
// and returns ErrNotNeeded to leave the part out. When a call must be asked
// about and no permission_request hook allows it, the entry `ask` is: an error
// is a no, and without the entry the call does not run.
type Actions map[string]Action

// ErrNotNeeded is what an entry of Actions returns for a part of a pipeline
// that need not run.
var ErrNotNeeded = errors.New("not needed")

// Outcome is what became of a sub-pipeline.
type Outcome struct {
	// Break is the label that was left and that the pipeline does not enclose,
	// for the host to obey: `turn` after a halt. NoLabel is normal completion,
	// also of a pipeline a stop or a skip ended early.
	Break policy.Label
	// Context is the context at the end.
	Context *policy.Context
	// Steps are the events fired and the actions run, in order.
	Steps []StepOutcome
	// Calls are the outcomes of a batch, one a call in call order. A call that
	// was cancelled before it started has nil.
	Calls []*Outcome
	// Err is why the pipeline could not go on: an action failed that nothing
	// follows up, or ctx ended.
	Err error
}

// StepOutcome is one step that ran: an event with its Decision, or an action.
type StepOutcome struct {
	Decision *policy.Decision
	Action   string
	Err      error
}

// Pipeline runs the sub-pipeline called name (semantics.md §1.2) over one
// context, or, for a pipeline that runs once for each call of a batch, over
// one context a call: the calls run side by side, so their actions must be safe
// for concurrent use, while their gates are asked in call order and a stop
// cancels the calls not yet started. The error says that the request itself is
// wrong: an unknown pipeline, a missing action, no context. It is found before
// anything runs.
func (x *Executor) Pipeline(ctx context.Context, name string, acts Actions, in ...*policy.Context) (*Outcome, error) {
	i := slices.IndexFunc(x.prog.Pipelines, func(p *dag.Pipeline) bool { return p.Name == name })
	if i < 0 {
		return nil, fault.Errorf("no pipeline is called %q", name)
	}
	p := x.prog.Pipelines[i]
	if err := errors.Join(missing(p, acts), x.unknown(acts)); err != nil {
		return nil, err
	}
	if !p.Each {
		if len(in) != 1 {
			return nil, fault.Errorf("pipeline %s takes one context, not %d", name, len(in))
		}
		return x.pipe(ctx, p, acts, in[0], func() {}), nil
	}
	if len(in) == 0 {
		return nil, fault.Errorf("pipeline %s takes a context for each call", name)
	}
	return x.each(ctx, p, acts, in), nil
}

// each runs the calls of a batch side by side and isolates them: what breaks
// inside one is consumed there; the batch's own label cancels the calls not yet
// started; any other is returned, of several that of the earliest call. A call
// starts once the one before it has come to its action or to its end: gates are
// asked in call order, so a stop at one of them cancels every call after it.
func (x *Executor) each(ctx context.Context, p *dag.Pipeline, acts Actions, in []*policy.Context) *Outcome {
	out := &Outcome{Calls: make([]*Outcome, len(in))}
	inner := *p
	inner.Each, inner.Label = false, policy.NoLabel
	var running sync.WaitGroup
	var broken atomic.Bool
	var bug atomic.Pointer[any] // the first panic of an action, nil of one that ended its goroutine
	for i, c := range in {
		begun, begin := context.WithCancel(ctx)
		running.Go(func() {
			defer begin()
			defer func() {
				if out.Calls[i] == nil {
					v := recover()
					bug.CompareAndSwap(nil, &v)
				}
			}()
			call := x.pipe(ctx, &inner, acts, c, begin)
			broken.CompareAndSwap(false, call.Break != policy.NoLabel)
			out.Calls[i] = call
		})
		if <-begun.Done(); broken.Load() || bug.Load() != nil || ctx.Err() != nil {
			break
		}
	}
	running.Wait()
	if v := bug.Load(); v != nil && *v == nil {
		runtime.Goexit() // as of an action that the host had called itself
	} else if v != nil {
		panic(*v) // where the host can recover
	}
	out.Err = ctx.Err()
	for _, call := range out.Calls {
		switch {
		case call == nil:
		case call.Break == p.Label:
			call.Break = policy.NoLabel
		case out.Break == policy.NoLabel:
			out.Break = call.Break
		}
	}
	return out
}

// unknown reports what is in acts and no step of any pipeline asks for: a
// misspelt `ask` would leave a question to nobody.
func (x *Executor) unknown(acts Actions) error {
	names := []string{askAction}
	for _, p := range x.prog.Pipelines {
		names = append(names, entries(p)...)
	}
	var err error
	for _, name := range lists.Keys(acts) {
		if !lists.Has(names, name) {
			err = errors.Join(err, fault.Errorf("no pipeline has an action %q: %s", name,
				diag.DidYouMean(name, names, "there are "+strings.Join(lists.Compact(slices.Sorted(slices.Values(names))), ", "))))
		}
	}
	return err
}

// entries are the names of Actions that a pipeline asks for.
func entries(p *dag.Pipeline) (out []string) {
	walk(p, true, func(_ *dag.Pipeline, s *dag.Step, _ bool) {
		if s.Needed != "" {
			out = append(out, s.Needed+needSuffix)
		}
		if s.Action != "" {
			out = append(out, s.Action)
		}
	})
	return out
}

// missing reports the actions that the pipeline needs and acts lacks. Parts that
// run only when needed are the host's to leave out.
func missing(p *dag.Pipeline, acts Actions) (err error) {
	walk(p, true, func(p *dag.Pipeline, s *dag.Step, required bool) {
		if s.Action != "" && required && acts[s.Action] == nil {
			err = errors.Join(err, fault.Errorf("pipeline %s needs an action %q; it was given %q", p.Name, s.Action, lists.Keys(acts)))
		}
	})
	return err
}

// walk visits the steps of a pipeline and of those inside it, with the pipeline
// that each is in. required is false inside parts that run only when needed.
func walk(p *dag.Pipeline, required bool, visit func(p *dag.Pipeline, s *dag.Step, required bool)) {
	var step func(s *dag.Step)
	step = func(s *dag.Step) {
		if s == nil {
			return
		}
		visit(p, s, required)
		if s.Seq != nil {
			walk(s.Seq, required && s.Needed == "", visit)
		}
		step(s.OK)
		step(s.Err)
	}
	for i := range p.Steps {
		step(&p.Steps[i])
	}
}
