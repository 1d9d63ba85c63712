package executor

import (
	"context"
	"errors"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// retryReserve is how much chain time a further attempt needs.
const retryReserve = 50 * time.Millisecond

// lateError is the failure of a node that the chain deadline strikes in its
// attempt a, from 0.
func lateError(plan *dag.Plan, a int) error {
	if a == 0 && plan.Strategy.Rules.Deadline == policy.DeadlinePasses {
		return policy.Failf(policy.ErrDeadline, "chain deadline of %v reached: %w", plan.Deadline, errPassed)
	}
	return policy.Failf(policy.ErrDeadline, "chain deadline of %v reached", plan.Deadline)
}

// errPassed marks a node that its agent would pass over in silence.
var errPassed = errors.New("the hook is passed over")

// cuts reports whether the deadline ends what is running.
func cuts(plan *dag.Plan) bool { return plan.Strategy.Rules.Deadline == policy.DeadlineCuts }

func timeoutError(n *dag.Node) *policy.HookError {
	if n.Exempt() {
		return policy.Failf(policy.ErrBudget, "used up its budget of %v", n.Timeout)
	}
	return policy.Failf(policy.ErrTimeout, "timed out after %v", n.Timeout)
}

// caller makes the attempts of one node.
type caller struct {
	plan *dag.Plan
	n    *dag.Node
	// until is when the chain deadline strikes, zero for never.
	until time.Time
	// expired, if not nil, is told at once when time runs out with no attempt
	// left, while the body may still be ending.
	expired func(err error, attempts int)
}

// calls makes attempts until one succeeds or none is left, and returns how
// many it made.
func (c *caller) calls(ctx context.Context, in *policy.Context) (out *policy.Result, attempts int, err error) {
	for a := 0; ; a++ {
		budget, cause, ok := c.allowance(a)
		if !ok {
			return nil, a, lateError(c.plan, a)
		}
		out, err = c.call(ctx, in, a, budget, cause)
		if err == nil || a >= c.n.Retry || policy.KindOf(err) == policy.ErrDeadline || !c.pause(ctx, err) {
			return out, a + 1, err
		}
	}
}

// pause waits as long as a failed attempt asks for before the next one, and
// reports whether there is to be one: not if the wait is longer than an attempt
// may take or than the chain has time, and not when the caller gave up.
func (c *caller) pause(ctx context.Context, failed error) bool {
	var asks *policy.HookError
	if !errors.As(failed, &asks) || asks.After <= 0 {
		return ctx.Err() == nil
	}
	if c.n.Timeout > 0 && asks.After > c.n.Timeout || !c.until.IsZero() && time.Until(c.until) < asks.After+retryReserve {
		return false
	}
	timer := time.NewTimer(asks.After)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// allowance is how long attempt a may take and what it means when it takes
// longer; ok is false when the chain has no time for it.
func (c *caller) allowance(a int) (budget time.Duration, cause error, ok bool) {
	budget, cause = c.n.Timeout, timeoutError(c.n)
	if c.until.IsZero() {
		return budget, cause, true
	}
	left := time.Until(c.until)
	if !cuts(c.plan) {
		return budget, cause, left > 0
	}
	if left <= 0 || a > 0 && left < retryReserve {
		return 0, nil, false
	}
	if budget <= 0 || left < budget {
		return left, lateError(c.plan, a+1), true
	}
	return budget, cause, true
}

// call makes one attempt, which a budget of 0 does not bound.
func (c *caller) call(ctx context.Context, in *policy.Context, a int, budget time.Duration, cause error) (*policy.Result, error) {
	if budget <= 0 {
		return protect(ctx, c.n, in, a)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, budget, cause)
	defer cancel()
	if last := a >= c.n.Retry || policy.KindOf(cause) == policy.ErrDeadline; last && c.expired != nil {
		defer c.watch(ctx, a, cause)()
	}
	out, err := protect(ctx, c.n, in, a)
	if err != nil && context.Cause(ctx) == cause {
		err = outOfTime(cause, err)
	}
	return out, err
}

// watch tells expired as soon as the attempt's time is up. What it returns
// ends the watch and waits for it.
func (c *caller) watch(ctx context.Context, a int, cause error) (end func()) {
	delivered := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(delivered)
		if context.Cause(ctx) == cause {
			c.expired(cause, a+1)
		}
	})
	return func() {
		if !stop() {
			<-delivered
		}
	}
}

// outOfTime is the failure of a body that ended with err because its time was
// up.
func outOfTime(cause, err error) error {
	if errors.Is(err, cause) {
		return cause
	}
	var late *policy.HookError
	if !errors.As(cause, &late) {
		return err
	}
	return &policy.HookError{Kind: late.Kind, Text: late.Text, At: late.At, Err: err}
}

// protect runs a body once and turns a panic in it into a failure of its own.
// The Result is nil when the body says nothing.
func protect(ctx context.Context, n *dag.Node, in *policy.Context, attempt int) (out *policy.Result, err error) {
	returned := false // asking is cheaper than recovering from nothing
	defer func() {
		if !returned {
			out, err = nil, panicked(n, recover())
		}
	}()
	switch body := n.Runner.(type) {
	case policy.RunnerFunc:
		out, err = invoke(ctx, body, in, attempt)
	case policy.Teller:
		out, err = tell(ctx, body, in, attempt)
	default:
		out, err = ask(ctx, n.Runner, in, attempt)
	}
	returned = true
	return out, err
}

// protectTeller is protect for the first attempt at a body of which it is known
// how it is asked: to find out costs what a brief body does.
func protectTeller(ctx context.Context, n *dag.Node, body policy.Teller, in *policy.Context) (out *policy.Result, err error) {
	returned := false
	defer func() {
		if !returned {
			out, err = nil, panicked(n, recover())
		}
	}()
	out, err = tell(ctx, body, in, 0)
	returned = true
	return out, err
}

// panicked is the failure of a body that did not return.
func panicked(n *dag.Node, p any) error {
	return policy.Failf(policy.ErrPanic, "panic in %s: %v", n.Hook.Name, p)
}

func tell(ctx context.Context, body policy.Teller, in *policy.Context, attempt int) (*policy.Result, error) {
	out, err := body.Tell(ctx, in, attempt)
	if err != nil || out != nil && silent(out) {
		return nil, err
	}
	return out, nil
}

// ask calls a body. Most say nothing, and then copying an empty Result is most
// of what a node costs.
func ask(ctx context.Context, body policy.Runner, in *policy.Context, attempt int) (*policy.Result, error) {
	r, err := body.Run(ctx, in, attempt)
	if err != nil || silent(&r) {
		return nil, err
	}
	return new(r), nil
}

// invoke is ask for a function, whose method would copy the Result once more.
func invoke(ctx context.Context, body policy.RunnerFunc, in *policy.Context, attempt int) (*policy.Result, error) {
	r, err := body(ctx, in, attempt)
	if err != nil || silent(&r) {
		return nil, err
	}
	return new(r), nil
}

// teller is a body as what is asked by Tell.
func teller(body policy.Runner) policy.Teller {
	switch body := body.(type) {
	case policy.RunnerFunc:
		return invoked(body)
	case policy.Teller:
		return body
	}
	return asked{body}
}

// invoked and asked are bodies that invoke and ask call.
type (
	invoked policy.RunnerFunc
	asked   struct{ policy.Runner }
)

func (f invoked) Run(ctx context.Context, in *policy.Context, attempt int) (policy.Result, error) {
	return f(ctx, in, attempt)
}

func (f invoked) Tell(ctx context.Context, in *policy.Context, attempt int) (*policy.Result, error) {
	return invoke(ctx, policy.RunnerFunc(f), in, attempt)
}

func (a asked) Tell(ctx context.Context, in *policy.Context, attempt int) (*policy.Result, error) {
	return ask(ctx, a.Runner, in, attempt)
}

// evaluate runs an in-process body on the caller's goroutine, its retries
// included; it begins at so much time after b was started. b may be used again
// for another node if the body has not asked when to stop.
func evaluate(ctx context.Context, n *dag.Node, in *policy.Context, at time.Duration, b *budget) (out *policy.Result, attempts int, err error) {
	for a := 0; ; a++ {
		b.begin(at, n.Timeout, false)
		out, err = step(ctx, n, in, a, b)
		if err == nil || a >= n.Retry || ctx.Err() != nil {
			return out, a + 1, err
		}
		b, at = newBudget(ctx, clock()), 0
	}
}

// step is one attempt at an in-process body, within b. A node without a
// timeout has no budget.
func step(ctx context.Context, n *dag.Node, in *policy.Context, a int, b *budget) (*policy.Result, error) {
	if n.Timeout <= 0 {
		return protect(ctx, n, in, a)
	}
	out, err := protect(b, n, in, a)
	return b.finish(ctx, n, out, err)
}

// finish ends an attempt within b, whose caller's context is ctx: what a body
// answered when its time was up counts for nothing.
func (b *budget) finish(ctx context.Context, n *dag.Node, out *policy.Result, err error) (*policy.Result, error) {
	if b.ended(err) && ctx.Err() == nil {
		out, err = nil, outOfTime(timeoutError(n), err)
	}
	b.close()
	return out, err
}
