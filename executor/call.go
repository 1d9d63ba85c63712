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

// lateError is the failure of a node that the chain deadline strikes.
func lateError(plan *dag.Plan) error {
	return policy.Failf(policy.ErrDeadline, "chain deadline of %v reached", plan.Deadline)
}

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
func (c *caller) calls(ctx context.Context, in *policy.Context) (out policy.Result, attempts int, err error) {
	for a := 0; ; a++ {
		budget, cause, ok := c.allowance(a)
		if !ok {
			return policy.Result{}, a, lateError(c.plan)
		}
		err = c.call(ctx, in, a, budget, cause, &out)
		if err == nil || a >= c.n.Retry || policy.KindOf(err) == policy.ErrDeadline || ctx.Err() != nil {
			return out, a + 1, err
		}
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
	if left <= 0 || a > 0 && left < retryReserve {
		return 0, nil, false
	}
	if budget <= 0 || left < budget {
		return left, lateError(c.plan), true
	}
	return budget, cause, true
}

// call makes one attempt, which a budget of 0 does not bound.
func (c *caller) call(ctx context.Context, in *policy.Context, a int, budget time.Duration, cause error, out *policy.Result) error {
	if budget <= 0 {
		return protect(ctx, c.n, in, a, out)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, budget, cause)
	defer cancel()
	if last := a >= c.n.Retry || policy.KindOf(cause) == policy.ErrDeadline; last && c.expired != nil {
		defer c.watch(ctx, a, cause)()
	}
	err := protect(ctx, c.n, in, a, out)
	if err != nil && context.Cause(ctx) == cause {
		err = outOfTime(cause, err)
	}
	return err
}

// watch tells expired as soon as the attempt's time is up. What it returns
// ends the watch and waits for it.
func (c *caller) watch(ctx context.Context, a int, cause error) (end func()) {
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		if context.Cause(ctx) == cause {
			c.expired(cause, a+1)
		}
	})
	return func() {
		if !stop() {
			<-told
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
// out, which is empty, is set if the body says anything.
func protect(ctx context.Context, n *dag.Node, in *policy.Context, attempt int, out *policy.Result) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = policy.Failf(policy.ErrPanic, "panic in %s: %v", n.Hook.Name, p)
		}
	}()
	r, err := n.Runner.Run(ctx, in, attempt)
	if err == nil && !silent(&r) {
		*out = r
	}
	return err
}

// evaluate runs an in-process body on the caller's goroutine, its retries
// included; it begins at so much time after b was started. b may be used again
// for another node if the body has not asked when to stop.
func evaluate(ctx context.Context, n *dag.Node, in *policy.Context, at time.Duration, b *budget, out *policy.Result) (attempts int, err error) {
	for a := 0; ; a++ {
		b.limit = at + n.Timeout
		err = step(ctx, n, in, a, b, out)
		if err == nil || a >= n.Retry || ctx.Err() != nil {
			return a + 1, err
		}
		b, at = newBudget(ctx, time.Now()), 0
	}
}

// step is one attempt at an in-process body, within b. A node without a
// timeout has no budget.
func step(ctx context.Context, n *dag.Node, in *policy.Context, a int, b *budget, out *policy.Result) error {
	if n.Timeout <= 0 {
		return protect(ctx, n, in, a, out)
	}
	err := protect(b, n, in, a, out)
	if err != nil && ctx.Err() == nil && b.ended(err) {
		err = outOfTime(timeoutError(n), err)
	}
	b.close()
	return err
}
