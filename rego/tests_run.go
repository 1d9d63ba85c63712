package rego

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/hookc/hookc/rego/cases"
)

const (
	// testMemory is the event that a test counts as given, of which it may hold
	// eight times as much (bounds.Given): it evaluates rules on many events.
	testMemory = 16 << 20
)

// testCode are tests that are compiled.
type testCode struct {
	code
	u    *unit
	only *regexp.Regexp
	// limit is how long each may take.
	limit time.Duration
	// seen, if not nil, sees what is evaluated.
	seen  topdown.QueryTracer
	found []cases.Test
}

var testValue = ast.Var("hookc_value")

// compile compiles the modules, and finds the tests.
func (t *testCode) compile() bool {
	modules := make(map[string]*ast.Module, len(t.u.modules))
	for name, m := range t.u.modules {
		modules[name] = m.Copy() // which compiling changes
	}
	c := cases.Prepare(newOPACompiler(t.u.version, t.u.forbid).WithEnablePrintStatements(true))
	if c.Compile(modules); c.Failed() {
		for _, e := range c.Errors {
			t.u.found.Add(codeCompile.Report(t.u.where.span(e.Location), "%s", e.Message))
		}
		t.u.found.Sort()
		return false
	}
	t.code = code{compiler: c, store: t.u.data.store, txn: t.u.data.txn, bound: new(sync.Once)}
	for _, test := range cases.Find(c) {
		if t.only == nil || t.only.MatchString(test.Name) {
			t.found = append(t.found, test)
		}
	}
	return true
}

// run evaluates the tests, some at a time, and those that failed once more to see
// which line of them did and with which values, and with trace every one.
func (t *testCode) run(ctx context.Context, trace bool) []TestResult {
	out := make([]TestResult, len(t.found))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(t.found)) {
		workers.Go(func() {
			for i := range next {
				out[i] = t.one(ctx, &t.found[i], t.seen)
			}
		})
	}
	ran := 0
	for ; ran < len(t.found) && ctx.Err() == nil; ran++ {
		next <- ran
	}
	close(next)
	workers.Wait()
	out = out[:ran]
	failed := 0
	for i := range out {
		r := &out[i]
		if r.Skip || !trace && (r.Pass || r.Error != "") {
			continue
		}
		if failed++; failed > mostFailing && !trace {
			break
		}
		w := &witness{u: t.u, at: r.At, defs: map[ast.Var]string{}, depth: map[uint64]int{}, tracing: trace}
		t.one(ctx, &t.found[i], w)
		if !r.Pass {
			r.Failed, r.Values = w.span, w.values
		}
		r.Trace = w.lines
	}
	return out
}

// one evaluates a test.
func (t *testCode) one(ctx context.Context, f *cases.Test, seen topdown.QueryTracer) TestResult {
	out := TestResult{Name: f.Name, Skip: f.Skip, At: t.u.where.span(f.Rule.Location)}
	if f.Skip {
		return out
	}
	ask, err := t.compiler.QueryCompiler().Compile(ast.NewBody(ast.Equality.Expr(ast.NewTerm(testValue), ast.NewTerm(f.Path))))
	if err != nil {
		out.Error = err.Error()
		return out
	}
	steps := newStepBudget(ctx, t.limit)
	var printed bytes.Buffer
	var begun cases.Begun
	q := t.query(ask, nil, steps).WithPrintHook(topdown.NewPrintHook(&printed))
	if cases.Several(f.Rule) {
		q = q.WithQueryTracer(&begun)
	}
	steps.given = func() int64 { return t.documents() + testMemory }
	if seen != nil {
		q = q.WithQueryTracer(seen)
	}
	err = q.Iter(ast.WithCompiler(ctx, t.compiler), func(r topdown.QueryResult) error {
		out.Pass = begun.Held(f.Rule, r[testValue])
		return nil
	})
	if err != nil {
		out.Pass = false
		if topdown.IsCancel(err) || steps.spent {
			err = steps.failure()
		}
		text := err.Error()
		var e *topdown.Error
		if errors.As(err, &e) && e.Location != nil { // whose file is known by another name here
			text = t.u.where.span(e.Location).String() + ": " + e.Code + ": " + e.Message
		}
		out.Error = strings.ReplaceAll(text, boundPrefix, "")
	}
	out.Duration, out.Output = time.Since(steps.start), printed.String()
	return out
}
