package executor

import (
	"context"
	"errors"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// askAction is the entry of Actions that puts a question to the user.
const askAction = "ask"

// needSuffix makes the name of a need the name of its entry in Actions.
const needSuffix = "_needed"

// failedLabel is the break of a pipeline that cannot go on; nothing encloses
// it.
const failedLabel policy.Label = "\x00failed"

// pipelineRun is one run of a pipeline.
type pipelineRun struct {
	x    *Executor
	acts Actions
	out  *Outcome
	// acted is the error of the last action, for the branch that follows.
	acted error
	// asked is the label of the step that must be left unless someone says
	// yes, NoLabel when nobody was asked for.
	asked policy.Label
	// begin is called when a step's action begins.
	begin func()
}

// pipe runs a pipeline over one context.
func (x *Executor) pipe(ctx context.Context, p *dag.Pipeline, acts Actions, in *policy.Context, begin func()) *Outcome {
	r := &pipelineRun{x: x, acts: acts, begin: begin, out: &Outcome{Context: in.Whole(firstEvent(p))}}
	if b := r.seq(ctx, p); b != failedLabel {
		r.out.Break = b
	}
	return r.out
}

// firstEvent is the first event a pipeline may fire.
func firstEvent(p *dag.Pipeline) policy.Event {
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Event != "" {
			return s.Event
		}
		if s.Seq != nil {
			if e := firstEvent(s.Seq); e != "" {
				return e
			}
		}
	}
	return ""
}

// seq runs the steps until one breaks, and consumes the pipeline's own label.
func (r *pipelineRun) seq(ctx context.Context, p *dag.Pipeline) policy.Label {
	for i := range p.Steps {
		s := &p.Steps[i]
		branches := s.OK != nil || s.Err != nil || i+1 < len(p.Steps) && p.Steps[i+1].Err != nil
		if b := r.step(ctx, s, branches); b == p.Label {
			return policy.NoLabel
		} else if b != policy.NoLabel {
			return b
		}
	}
	return policy.NoLabel
}

// step runs one step and then, if it has any, its branch on the last action's
// outcome. branches is true when a failed action is followed up.
func (r *pipelineRun) step(ctx context.Context, s *dag.Step, branches bool) policy.Label {
	if ctx.Err() != nil {
		return r.fail(ctx.Err())
	}
	if s.Needed != "" {
		needed, err := r.needed(ctx, s)
		switch {
		case err != nil:
			return r.fail(err)
		case !needed:
			return policy.NoLabel
		}
	}
	b := policy.NoLabel
	switch {
	case s.Seq != nil:
		b = r.seq(ctx, s.Seq)
	case s.Event != "":
		b = r.event(ctx, s.Event)
	case s.Action != "":
		b = r.act(ctx, s.Action, branches)
	}
	next := s.OK
	if r.acted != nil {
		next = s.Err
	}
	if b != policy.NoLabel || next == nil {
		return b
	}
	return r.step(ctx, next, false)
}

func (r *pipelineRun) fail(err error) policy.Label {
	r.out.Err = err
	return failedLabel
}

// needed reports whether a part that runs only when needed runs: the host says
// so, or it is a question and one was asked, or the host brought its actions.
func (r *pipelineRun) needed(ctx context.Context, s *dag.Step) (bool, error) {
	if ask := r.acts[s.Needed+needSuffix]; ask != nil {
		_, err := ask(ctx, r.out.Context)
		if errors.Is(err, ErrNotNeeded) {
			return false, nil
		}
		return err == nil, err
	}
	alone := dag.Pipeline{Steps: []dag.Step{*s}}
	if s.Seq != nil {
		alone.Steps = s.Seq.Steps
	}
	if asks(&alone) {
		return r.asked != policy.NoLabel, nil
	}
	return missing(&alone, r.acts) == nil, nil
}

func asks(p *dag.Pipeline) bool {
	return lists.Some(p.Steps, func(s *dag.Step) bool { return s.Event == policy.PermissionRequest })
}

// event fires an event on the current context and goes on with the context it
// leaves.
func (r *pipelineRun) event(ctx context.Context, e policy.Event) policy.Label {
	d := r.x.options.Fire(ctx, e, r.out.Context)
	r.out.Steps = append(r.out.Steps, StepOutcome{Decision: d})
	r.out.Context = d.Final.Carry(r.out.Context, e)
	if d.Action == policy.Cancelled {
		err := ctx.Err()
		if err == nil {
			err = context.DeadlineExceeded // of which ctx is yet to be told
		}
		return r.fail(err)
	}
	spec := e.Spec()
	switch {
	case d.Action == policy.AskUser, d.Action == policy.DeferCall:
		r.asked = spec.Step
	case e == policy.PermissionRequest && d.Verdict == policy.Allow:
		r.asked = policy.NoLabel
	}
	return spec.Break(&policy.Result{Verdict: d.Verdict, Control: d.Control})
}

// act runs an action of the host. A question nobody has answered is put to the
// host first; a no leaves the step.
func (r *pipelineRun) act(ctx context.Context, name string, branches bool) policy.Label {
	if left := r.asked; left != policy.NoLabel {
		ask := r.acts[askAction]
		if ask == nil {
			return left
		}
		_, err := ask(ctx, r.out.Context)
		r.out.Steps = append(r.out.Steps, StepOutcome{Action: askAction, Err: err})
		if err != nil {
			return left
		}
		r.asked = policy.NoLabel
	}
	action := r.acts[name]
	if action == nil {
		return r.fail(fault.Errorf("there is no action %q", name))
	}
	r.begin()
	fields, err := action(ctx, r.out.Context)
	r.acted = err
	r.out.Steps = append(r.out.Steps, StepOutcome{Action: name, Err: err})
	if err != nil {
		if !branches {
			return r.fail(err)
		}
		fields = map[string]any{policy.FieldToolError.String(): err.Error()}
	}
	patch, err := patchOf(name, fields)
	if err != nil {
		return r.fail(err)
	}
	r.out.Context = r.out.Context.With(patch)
	return policy.NoLabel
}

// patchOf is the patch that sets the fields an action returned.
func patchOf(action string, fields map[string]any) (policy.Patch, error) {
	var p policy.Patch
	for _, name := range lists.Keys(fields) {
		f, ok := policy.ParseField(name)
		if !ok || f.Derived() {
			return p, fault.Errorf("action %s returned %q, which is no field it can set", action, name)
		}
		v, err := policy.JSONValue(fields[name], name)
		if err != nil {
			return p, fault.Errorf("action %s: %w", action, err)
		}
		if v != nil && !f.Spec().Type.Holds(v) {
			return p, fault.Errorf("action %s returned a %s that is not %s", action, name, f.Spec().Type.Article())
		}
		p = p.Then(policy.Replace(policy.Path{Field: f}, v))
	}
	return p, nil
}
