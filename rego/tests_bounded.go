package rego

import (
	"errors"
	"maps"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/types"
)

// testMemory is the event that a test counts as given, of which it may hold eight
// times as much (bounds.Given): it evaluates rules on many events, and all that
// functions make counts until it ends, because the runner does not say when it is
// garbage.
const testMemory = 16 << 20

// testBudgets bound what tests may take as an evaluation is bounded: the same
// functions, each test with a budget of its own. OPA's runner makes the
// evaluations, which are known by what cancels them.
type testBudgets struct {
	given int64
	mu    sync.Mutex
	of    map[topdown.Cancel]*stepBudget
}

// budget is that of the test that calls a function.
func (b *testBudgets) budget(c topdown.BuiltinContext) *stepBudget {
	b.mu.Lock()
	defer b.mu.Unlock()
	steps := b.of[c.Cancel]
	if steps == nil {
		steps = newStepBudget(c.Context, testTimeout)
		steps.given = func() int64 { return b.given + testMemory }
		b.of[c.Cancel] = steps
	}
	return steps
}

// relation gives several results, which OPA's runner takes of no function but its
// own: it gives parts of a document that is there, and what is kept of them
// counts.
const relation = "walk"

// stage has compiled rules call the functions with bounds.
func (b *testBudgets) stage() ast.CompilerStageDefinition {
	names := maps.Clone(boundFunctions().refs)
	delete(names, relation)
	return ast.CompilerStageDefinition{Name: "BindFunctions", MetricName: "bind_functions", Stage: func(c *ast.Compiler) *ast.Error {
		bindModules(c, names)
		return nil
	}}
}

// functions are hookc's functions and those with bounds, as the runner wants them.
func (b *testBudgets) functions() []*tester.Builtin {
	var out []*tester.Builtin
	for name, f := range boundFunctions().funcs {
		decl := f.Decl
		if decl.Relation {
			continue
		}
		if name == keepName { // what says nothing is undefined to the runner
			decl = &ast.Builtin{Name: name, Decl: types.NewFunction(types.Args(types.N), types.B)}
		}
		out = append(out, &tester.Builtin{Decl: decl, Func: opa.FunctionDyn(
			&opa.Function{Name: decl.Name, Decl: decl.Decl, Nondeterministic: decl.Nondeterministic},
			func(c opa.BuiltinContext, args []*ast.Term) (*ast.Term, error) { return b.call(f, c, args) })})
	}
	return out
}

// call calls a function within the budget of its test.
func (b *testBudgets) call(f *topdown.Builtin, c topdown.BuiltinContext, args []*ast.Term) (result *ast.Term, err error) {
	steps := b.budget(c)
	c.Cancel = steps
	err = f.Func(c, args, func(t *ast.Term) error {
		if result = t; t == nil {
			result = ast.InternedTerm(true)
		}
		steps.kept++
		return nil
	})
	var own *topdown.Error
	switch {
	case steps.spent:
		return nil, opa.NewHaltError(steps.failure())
	case errors.As(err, &own): // the runner adds the name again
		return nil, errors.New(strings.TrimPrefix(own.Message, strings.TrimPrefix(f.Decl.Name, boundPrefix)+": "))
	}
	return result, err
}
