// Package cases finds the tests in compiled Rego as `opa test` does: rules called
// test_*, each a test or the cases of one.
package cases

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

const (
	testPrefix = "test_"
	skipPrefix = "todo_" + testPrefix
)

// Ref is the part of a rule's name that names a test, with what is before it;
// nil for a rule that is no test.
func Ref(r *ast.Rule) ast.Ref {
	ref := r.Head.Ref().GroundPrefix()
	for i, t := range ref {
		if name := testName(t); strings.HasPrefix(name, testPrefix) || strings.HasPrefix(name, skipPrefix) {
			return ref[:i+1]
		}
	}
	return nil
}

//go:noinline
func testName(t *ast.Term) string {
	if v, ok := t.Value.(ast.Var); ok {
		return string(v)
	}
	s, _ := t.Value.(ast.String)
	return string(s)
}

// Test is a rule that is a test.
type Test struct {
	// Name is its full name, Path what asks for its value.
	Name string
	Path ast.Ref
	// Skip is true of one that is written for later.
	Skip bool
	Rule *ast.Rule
}

// Find gives the tests in the order of their names.
func Find(c *ast.Compiler) []Test {
	var out []Test
	for r := range rules(c) {
		ref := Ref(r)
		pkg := r.Module.Package.Path
		out = append(out, Test{Name: pkg.String() + "." + ref.String(), Path: pkg.Extend(ref), Skip: strings.HasPrefix(testName(ref[len(ref)-1]), skipPrefix), Rule: r})
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Prepare has a compiler give tests of one name names of their own, and tests of
// several cases say which they begin with.
func Prepare(c *ast.Compiler) *ast.Compiler {
	stage := func(name string, each func(*ast.Compiler)) ast.CompilerStageDefinition {
		return ast.CompilerStageDefinition{Name: name, MetricName: name, Stage: func(c *ast.Compiler) *ast.Error {
			each(c)
			return nil
		}}
	}
	return c.WithStageAfterID(ast.StageRewriteRuleHeadRefs, stage("hookc_test_names", number)).
		WithStageAfterID(ast.StageRewriteLocalVars, stage("hookc_test_cases", mark))
}

// rules yields the rules that are tests, in the order of modules and text.
//
//go:noinline
func rules(c *ast.Compiler) func(func(*ast.Rule) bool) {
	return func(yield func(*ast.Rule) bool) {
		for _, name := range slices.Sorted(maps.Keys(c.Modules)) {
			for _, r := range c.Modules[name].Rules {
				if Ref(r) != nil && !yield(r) {
					return
				}
			}
		}
	}
}

// number gives tests of one name names of their own: test_x#01.
func number(c *ast.Compiler) {
	seen := map[string]int{}
	for r := range rules(c) {
		ref := Ref(r)
		key := r.Module.Package.Path.Extend(ref).String()
		if n := seen[key]; n > 0 {
			whole := r.Head.Ref().Copy()
			last := whole[len(ref)-1]
			name := fmt.Sprintf("%s#%02d", testName(last), n)
			if last.Value = ast.Value(ast.String(name)); len(ref) == 1 {
				last.Value = ast.Var(name)
			}
			r.Head.SetRef(whole)
		}
		seen[key]++
	}
}

// mark has a test of several cases, test_x[case], say which of them it begins
// with as soon as their names are known.
func mark(c *ast.Compiler) {
	for r := range rules(c) {
		tail := r.Head.Ref()[len(Ref(r)):]
		if len(tail) == 0 {
			continue
		}
		args, at := make([]*ast.Term, len(tail)), 0
		for i, term := range tail {
			args[i] = term
			for _, x := range r.Body { // what OPA calls by a name of its own
				if x.Generated && (x.IsEquality() || x.IsAssignment()) && x.Operand(0).Equal(term) {
					args[i] = x.Operand(1).Copy()
				}
			}
			at = max(at, knownAfter(r.Body, args[i]))
		}
		call := ast.NewExpr([]*ast.Term{ast.NewTerm(ast.InternalTestCase.Ref()), ast.ArrayTerm(args...)})
		r.Body = slices.Insert(r.Body, at, call)
	}
}

// knownAfter is after how many expressions of a body the variables of a term were
// all named.
func knownAfter(body ast.Body, t *ast.Term) (at int) {
	vars := func(x any) ast.VarSet {
		v := ast.NewVarVisitor().WithParams(ast.VarVisitorParams{SkipRefCallHead: true})
		v.Walk(x)
		return v.Vars().Diff(ast.ReservedVars)
	}
	left := vars(t)
	for i, x := range body {
		if len(left) == 0 {
			break
		}
		before := len(left)
		if left = left.Diff(vars(x)); len(left) < before {
			at = i + 1
		}
	}
	return at
}

// Several reports whether a test has cases.
func Several(r *ast.Rule) bool { return r.Head.DocKind() == ast.PartialObjectDoc }

// Begun are the names of the cases that a test began with.
type Begun struct{ names []*ast.Array }

// Enabled is true: what a test begins with is to be seen.
func (*Begun) Enabled() bool { return true }

// Config wants no values.
func (*Begun) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent notes a case.
func (c *Begun) TraceEvent(e topdown.Event) {
	if x, ok := e.Node.(*ast.Expr); ok && e.Op == topdown.TestCaseOp {
		if name, ok := x.Operand(0).Value.(*ast.Array); ok {
			c.names = append(c.names, name)
		}
	}
}

// Held reports whether a test passed: it is true, or all of its cases are.
func (c *Begun) Held(r *ast.Rule, value *ast.Term) bool {
	if !Several(r) {
		return ast.Boolean(true).Equal(value.Value)
	}
	for _, name := range c.names {
		at := value
		name.Foreach(func(key *ast.Term) {
			if at != nil {
				at = at.Get(key)
			}
		})
		if at == nil {
			return false
		}
	}
	return allTrue(value.Value)
}

func allTrue(v ast.Value) bool {
	o, ok := v.(ast.Object)
	return ok && !o.Until(func(_, e *ast.Term) bool { return !ast.Boolean(true).Equal(e.Value) && !allTrue(e.Value) })
}
