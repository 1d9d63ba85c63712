package rego

import (
	"context"
	"errors"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// Run evaluates the module on an event. It fails with ErrEval on a builtin
// error or a conflict, at the place in the policy; with ErrBudget when it
// takes longer than its step budget; with ErrParse when an entry point has a
// value of the wrong type; with ErrDeadline when ctx ends first.
func (m *Module) Run(ctx context.Context, in *policy.Context, _ int) (policy.Result, error) {
	return m.run(in, newStepBudget(ctx, m.budget))
}

// run is Run within a budget of which some may be used up.
func (m *Module) run(in *policy.Context, steps *stepBudget) (policy.Result, error) {
	if m.input.long(in) {
		steps.overrun(longNumber)
		return policy.Result{}, steps.failure()
	}
	return m.eval(m.Input(in), steps)
}

// Eval is Run on an input made before, by Input of at least the paths the
// module reads. The input may be shared between modules and goroutines.
func (m *Module) Eval(ctx context.Context, input Value) (policy.Result, error) {
	return m.eval(input, newStepBudget(ctx, m.budget))
}

// eval is Eval within a budget of which some may be used up.
func (m *Module) eval(input Value, steps *stepBudget) (policy.Result, error) {
	term := ast.NewTerm(input)
	values, err := m.values(m.ask, m.entries, term, steps)
	if err != nil {
		return policy.Result{}, err
	}
	return m.result(values, term, steps)
}

// result is what the values of the entry points say.
func (m *Module) result(values []ast.Value, term *ast.Term, steps *stepBudget) (policy.Result, error) {
	a := answer{m: m, ctx: steps.ctx, input: term, steps: steps}
	for i, e := range m.entries {
		if values[i] == nil {
			continue
		}
		if err := a.add(e, values[i]); err != nil {
			return policy.Result{}, err
		}
	}
	return a.result, nil
}

// values evaluates the query of entry points; an undefined one is nil.
func (m *Module) values(ask ast.Body, entries []*entry, input *ast.Term, steps *stepBudget) ([]ast.Value, error) {
	var bindings topdown.QueryResult
	err := m.query(ask, input, steps).Iter(steps.ctx, func(r topdown.QueryResult) error {
		bindings = r
		return nil
	})
	if err != nil {
		return nil, m.failure(steps, err)
	}
	out := make([]ast.Value, len(entries))
	for i, e := range entries {
		value := bindings[e.variable]
		if value == nil { // The only entry point is undefined.
			continue
		}
		if len(entries) > 1 {
			list := value.Value.(*ast.Array)
			if list.Len() == 0 {
				continue
			}
			value = list.Elem(0)
		}
		out[i] = value.Value
	}
	return out, nil
}

// code is compiled Rego with the documents it sees.
type code struct {
	compiler *ast.Compiler
	store    storage.Store
	txn      storage.Transaction
	// bound says that the rules call the functions with bounds.
	bound *sync.Once
	// cover, if not nil, sees what is evaluated.
	cover *cover
}

// query is a query with everything off that a rule does not need.
func (c *code) query(body ast.Body, input *ast.Term, steps *stepBudget) *topdown.Query {
	c.bind()
	steps.given = func() int64 { return measure(input.Value).Size + c.documents() }
	q := topdown.NewQuery(body).
		WithCompiler(c.compiler).
		WithStore(c.store).
		WithTransaction(c.txn).
		WithBuiltins(boundFunctions().funcs).
		WithMetrics(metrics.NoOp()).
		WithVirtualCache(newVirtuals(steps)).
		WithInput(input).
		WithCancel(steps).
		WithTime(dag.Now(steps.ctx, steps.start)).
		WithInterQueryBuiltinValueCache(steps.patterns).
		WithStrictBuiltinErrors(true)
	if c.cover != nil { // what an index leaves out was looked at all the same
		q = q.WithQueryTracer(c.cover).WithIndexing(false)
	}
	return q
}

// failure makes a hook's failure of an evaluation error.
func (m *Module) failure(steps *stepBudget, err error) error {
	if topdown.IsCancel(err) || steps.spent {
		return steps.failure()
	}
	failure := policy.Failf(policy.ErrEval, "%w", err)
	var e *topdown.Error
	if errors.As(err, &e) {
		failure.Text = m.where.inPlace(m.names.restore(e.Message))
		failure.At = m.where.span(e.Location)
	}
	return failure
}

// documents is the size of the documents that the rules see.
func (c *code) documents() int64 {
	v, err := c.store.Read(context.Background(), c.txn, storage.Path{})
	if err != nil {
		return 0
	}
	return measure(toTerm(v).Value).Size
}
