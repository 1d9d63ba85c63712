package rego

import (
	"context"
	"errors"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/hookc/hookc/policy"
)

// Run evaluates the module on an event. It fails with ErrEval on a builtin
// error or a conflict, at the place in the policy; with ErrBudget when it
// takes longer than its step budget; with ErrParse when an entry point has a
// value of the wrong type; with ErrDeadline when ctx ends first.
func (m *Module) Run(ctx context.Context, in *policy.Context, _ int) (policy.Result, error) {
	return m.Eval(ctx, m.Input(in))
}

// Eval is Run on an input made before, by Input of at least the paths the
// module reads. The input may be shared between modules and goroutines.
func (m *Module) Eval(ctx context.Context, input Value) (policy.Result, error) {
	steps := newStepBudget(ctx, m.budget)
	term := ast.NewTerm(input)
	var bindings topdown.QueryResult
	err := m.query(m.ask, term, steps).Iter(ctx, func(r topdown.QueryResult) error {
		bindings = r
		return nil
	})
	if err != nil {
		return policy.Result{}, m.failure(ctx, steps, err)
	}
	if bindings == nil {
		return policy.Result{}, nil // The only entry point is undefined.
	}
	a := answer{m: m, ctx: ctx, input: term, steps: steps}
	for _, e := range m.entries {
		value := bindings[e.variable]
		if len(m.entries) > 1 {
			list := value.Value.(*ast.Array)
			if list.Len() == 0 {
				continue
			}
			value = list.Elem(0)
		}
		if err := a.add(e, value.Value); err != nil {
			return policy.Result{}, err
		}
	}
	return a.result, nil
}

// code is compiled Rego with the documents it sees.
type code struct {
	compiler *ast.Compiler
	builtins map[string]*topdown.Builtin
	store    storage.Store
	txn      storage.Transaction
}

// query is a query with everything off that a rule does not need.
func (c *code) query(body ast.Body, input *ast.Term, steps *stepBudget) *topdown.Query {
	return topdown.NewQuery(body).
		WithCompiler(c.compiler).
		WithStore(c.store).
		WithTransaction(c.txn).
		WithBuiltins(c.builtins).
		WithMetrics(metrics.NoOp()).
		WithVirtualCache(newVirtuals()).
		WithInput(input).
		WithCancel(steps).
		WithTime(steps.start).
		WithStrictBuiltinErrors(true)
}

// failure makes a hook's failure of an evaluation error.
func (m *Module) failure(ctx context.Context, steps *stepBudget, err error) error {
	if topdown.IsCancel(err) || steps.spent {
		if ctxErr := ctx.Err(); ctxErr != nil {
			return policy.Failf(policy.ErrDeadline, "evaluation was stopped: %w", ctxErr)
		}
		return policy.Failf(policy.ErrBudget, "evaluation took longer than its budget of %s", m.budget)
	}
	failure := policy.Failf(policy.ErrEval, "%w", err)
	var e *topdown.Error
	if errors.As(err, &e) {
		failure.Text = m.where.inPlace(m.names.restore(e.Message))
		failure.At = m.where.span(e.Location)
	}
	return failure
}

const (
	// checkEvery is how many steps pass between two looks at the clock. A
	// step takes about a tenth of a microsecond, the slowest builtin
	// milliseconds.
	checkEvery = 16
	// stall is the part of the budget that one stretch between two looks can
	// use up: on a busy machine most of a long stretch is time in which the
	// process did not run, and a guard must not deny for that.
	stall = 10
	// patience is how many budgets may pass on the clock, whatever was done.
	patience = 10
)

// stepBudget stops an evaluation that takes too long or whose context ended.
// topdown asks it at every step, so no timer and no goroutine is needed, and
// what asking costs is part of what every step costs. It belongs to the
// goroutine that evaluates.
type stepBudget struct {
	ctx   context.Context
	start time.Time
	limit time.Duration
	steps uint32
	last  time.Duration // when the clock was last looked at, since start
	used  time.Duration
	spent bool
}

func newStepBudget(ctx context.Context, limit time.Duration) *stepBudget {
	return &stepBudget{ctx: ctx, start: time.Now(), limit: limit}
}

// Cancel spends the budget.
func (b *stepBudget) Cancel() { b.spent = true }

// Cancelled counts a step and reports whether the evaluation must stop.
func (b *stepBudget) Cancelled() bool {
	if b.steps++; b.steps%checkEvery == 0 {
		b.look(time.Since(b.start))
	}
	return b.spent
}

// look charges the time since the last look.
func (b *stepBudget) look(now time.Duration) {
	b.used += min(now-b.last, b.limit/stall)
	b.last = now
	if b.used > b.limit || now > patience*b.limit || b.ctx.Err() != nil {
		b.spent = true
	}
}
