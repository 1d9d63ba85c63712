package hookc

import (
	"context"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// tried is a body that asks the trial first.
func (c *config) tried(h *policy.Hook, body dag.Body) dag.Body {
	if !c.trials || h.Kind.InProcess() && !lists.Has(c.given, h.Name) {
		return body
	}
	run := body.Runner
	body.Runner = policy.RunnerFunc(func(ctx context.Context, in *policy.Context, attempt int) (policy.Result, error) {
		t := dag.TrialOf(ctx)
		if t == nil {
			return run.Run(ctx, in, attempt)
		}
		if t.Say != nil {
			if r, err, ok := t.Say(h); ok {
				return r, err
			}
		}
		r, err := run.Run(ctx, in, attempt)
		if t.Received != nil {
			t.Received(h, r, err)
		}
		return r, err
	})
	return body
}

// Policy is the policy in force. It is not to be changed.
func (e *Engine) Policy() *policy.Policy { return e.live.Load().policy }

// Variant is an engine configured as e is that has decided nothing yet: no gate
// has blocked, no call is a repeated one, no fact is known. p is its policy, of
// which only what e has not compiled is compiled; nil is the policy of e, which
// is not compiled again. The error is Open's. The caller closes the Variant.
func (e *Engine) Variant(p *policy.Policy) (*Engine, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := &Engine{config: e.config, metrics: &Metrics{}}
	c := &out.config
	c.borrow, c.execute.Gates, c.execute.Memo = true, executor.NewGates(), nil
	c.compile.Background = out.retired.Go
	c.execute.Fire = func(ctx context.Context, event policy.Event, in *policy.Context) *policy.Decision {
		d, _ := out.Fire(ctx, event, in) // the Decision of an error refuses
		return d
	}
	l := e.live.Load()
	if p == nil {
		out.live.Store(c.begun(l.policy, l.program, out.metrics))
		return out, nil
	}
	next, err := c.compiled(p, nil, out.metrics)
	if err != nil {
		return nil, err
	}
	out.live.Store(next)
	return out, nil
}
