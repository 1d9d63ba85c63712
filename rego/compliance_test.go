package rego

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/test/cases"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/util"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/rego/native"
	"github.com/hookc/hookc/tests/depth"
)

var update = flag.Bool("update", false, "rewrite the list of compliance cases that fall back")

// complianceGolden lists the cases of OPA's suite that topdown must answer,
// with the reasons. It may only shrink.
const complianceGolden = "testdata/compliance.txt"

// verdict is what became of a case: answered natively, refused where topdown
// fails, or left to topdown for a reason.
type verdict struct {
	name   string
	reason string // "" is answered
	failed string // a wrong answer
	// refused says that topdown fails as well, and with which code.
	refused string
}

// TestCompliance runs OPA's own suite natively, as hookc evaluates: builtin
// errors are errors. Every case is answered as topdown answers it, refused
// where topdown fails, or in the list of those that fall back.
func TestCompliance(t *testing.T) {
	depth.NotShort(t)
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/open-policy-agent/opa").Output()
	require.NoError(t, err)
	root := filepath.Join(strings.TrimSpace(string(out)), "v1", "test", "cases", "testdata")
	var todo []complianceCase
	for folder, version := range map[string]ast.RegoVersion{"v0": ast.RegoV0, "v1": ast.RegoV1} {
		set, err := cases.Load(filepath.Join(root, folder))
		require.NoError(t, err)
		for _, c := range set.Cases {
			for k, v := range c.Env {
				t.Setenv(k, v)
			}
			todo = append(todo, complianceCase{c, folder + "/" + c.Note, version})
		}
	}
	slices.SortFunc(todo, func(a, b complianceCase) int { return strings.Compare(a.name, b.name) })
	require.Greater(t, len(todo), 2000)
	verdicts := make([]verdict, len(todo))
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				verdicts[i] = todo[i].run()
			}
		})
	}
	for i := range todo {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, v := range verdicts {
		assert.Empty(t, v.failed, v.name)
	}
	compareCompliance(t, verdicts)
}

// compareCompliance fails when a case joins those that fall back.
func compareCompliance(t *testing.T, verdicts []verdict) {
	text := complianceText(verdicts)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(complianceGolden), 0o755))
		require.NoError(t, os.WriteFile(complianceGolden, []byte(text), 0o644))
		return
	}
	golden, err := os.ReadFile(complianceGolden)
	require.NoError(t, err)
	known := map[string]bool{}
	for line := range strings.Lines(string(golden)) {
		known[strings.TrimSpace(line)] = true
	}
	for _, v := range verdicts {
		if v.reason != "" && !known[v.line()] {
			t.Errorf("falls back now, and did not: %s", v.line())
		}
	}
	if text != string(golden) && !t.Failed() {
		t.Logf("%s can shrink: run with -update", complianceGolden)
	}
}

func (v verdict) line() string { return v.name + ": " + v.reason }

func complianceText(verdicts []verdict) string {
	var list []string
	reasons, refused := map[string]int{}, map[string]int{}
	answered := 0
	for _, v := range verdicts {
		switch {
		case v.reason != "":
			list = append(list, v.line())
			reasons[v.reason]++
		case v.refused != "":
			refused[v.refused]++
		default:
			answered++
		}
	}
	var b strings.Builder
	native := len(verdicts) - len(list)
	fmt.Fprintf(&b, "%d cases, %d native (%.1f %%): %d answered, %d refused as topdown fails\n",
		len(verdicts), native, 100*float64(native)/float64(len(verdicts)), answered, native-answered)
	fmt.Fprintf(&b, "\nRefused, by topdown's error:\n%s\nFall back, by reason:\n%s\nCases that fall back:\n",
		countsText(refused), countsText(reasons))
	for _, line := range list {
		b.WriteString(line + "\n")
	}
	return b.String()
}

func countsText(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if c := counts[b] - counts[a]; c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%4d  %s\n", counts[name], name)
	}
	return b.String()
}

type complianceCase struct {
	cases.TestCase
	name    string
	version ast.RegoVersion
}

// run evaluates a case both ways. The query's solutions are asked for as an
// array of objects, so that both give one value.
func (c complianceCase) run() (v verdict) {
	v.name = strings.Join(strings.Fields(c.name), " ")
	s, err := c.compile()
	if err != nil && strings.Contains(err.Error(), "undefined function test.sleep") {
		v.reason = "uses test.sleep, which only OPA's own tests have"
		return v
	}
	if err != nil {
		v.failed = "does not compile: " + err.Error()
		return v
	}
	want, wantErr := s.topdown(true)
	if v.failed = c.check(s, want, wantErr); v.failed != "" {
		return v
	}
	p := planValues(s.compiler, []ast.Value{s.want}, s.data)
	if p.code == nil {
		v.reason = p.why
		return v
	}
	e := &evaluation{start: s.start}
	got, err := p.eval(&native.Machine{Context: e}, 0, s.input)
	switch {
	case err != nil && wantErr != nil:
		v.refused, v.failed = sameFailure(e.err, wantErr)
	case err != nil:
		v.reason = "bails: " + fmt.Sprint(e.err)
	case wantErr != nil:
		v.failed = fmt.Sprintf("native: %v, topdown: %v", got, wantErr)
	case !sameValue(got, want):
		v.failed = fmt.Sprintf("native: %v, topdown: %v", got, want)
	}
	return v
}

// sameFailure is the code of topdown's error; a function that bailed failed
// with the same, when it is OPA's own.
func sameFailure(own, wantErr error) (code, failed string) {
	var e *topdown.Error
	if !errors.As(wantErr, &e) {
		return "error", ""
	}
	var o *topdown.Error
	if errors.As(own, &o) && o.Code != e.Code {
		return e.Code, fmt.Sprintf("native bails for %v, topdown for %v", own, wantErr)
	}
	return e.Code, ""
}

// sameValue compares values and how their numbers are written.
func sameValue(a, b ast.Value) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Compare(b) == 0 && a.String() == b.String()
}

// scenario is a compiled case.
type scenario struct {
	compiler *ast.Compiler
	want     ast.Value
	query    ast.Body
	data     ast.Value
	input    ast.Value
	start    time.Time
}

func (c complianceCase) compile() (s *scenario, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	options := ast.ParserOptions{RegoVersion: c.version}
	if c.ExperimentalKeywords {
		options.Capabilities = ast.CapabilitiesForThisVersion(ast.CapabilitiesExperimentalKeywords(true))
	}
	modules := map[string]string{}
	for i, m := range c.Modules {
		modules[fmt.Sprintf("test-%d.rego", i)] = m
	}
	s = &scenario{start: time.Now(), data: ast.NewObject()}
	if s.compiler, err = ast.CompileModulesWithOpt(modules, ast.CompileOpts{ParserOptions: options}); err != nil {
		return nil, err
	}
	body, err := ast.ParseBodyWithOpts(c.Query, options)
	if err != nil {
		if body, err = ast.ParseBody(c.Query); err != nil {
			return nil, err
		}
	}
	s.want = &ast.ArrayComprehension{Term: bindings(body), Body: body}
	if c.Data != nil {
		s.data = ast.MustInterfaceToValue(*c.Data)
	}
	switch {
	case c.InputTerm != nil:
		s.input = ast.MustParseTerm(*c.InputTerm).Value
	case c.Input != nil:
		s.input = ast.MustInterfaceToValue(*c.Input)
	}
	term := ast.NewTerm(s.want).Copy()
	s.query, err = s.compiler.QueryCompiler().Compile(ast.NewBody(ast.Equality.Expr(ast.VarTerm(resultVar), term)))
	return s, err
}

// bindings is the object of a query's variables by their names.
func bindings(body ast.Body) *ast.Term {
	vars := body.Vars(ast.VarVisitorParams{SkipRefCallHead: true, SkipClosures: true}).Diff(ast.ReservedVars)
	o := ast.NewObject()
	for _, v := range vars.Sorted() {
		if !v.IsWildcard() && !v.IsGenerated() {
			o.Insert(ast.StringTerm(string(v)), ast.VarTerm(string(v)))
		}
	}
	return ast.NewTerm(o)
}

// topdown is what OPA says. Where it panics, as json.patch does of some patches, it
// fails.
func (s *scenario) topdown(strict bool) (v ast.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, fmt.Errorf("%v", r)
		}
	}()
	ctx := context.Background()
	store := inmem.NewFromASTObject(s.data.(ast.Object))
	txn, err := store.NewTransaction(ctx)
	if err != nil {
		return nil, err
	}
	q := topdown.NewQuery(s.query).WithCompiler(s.compiler).WithStore(store).WithTransaction(txn).
		WithTime(s.start).WithBuiltins(functions().eval).WithStrictBuiltinErrors(strict)
	if s.input != nil {
		q = q.WithInput(ast.NewTerm(s.input))
	}
	rs, err := q.Run(ctx)
	if err != nil || len(rs) == 0 {
		return nil, err
	}
	return rs[0][resultVar].Value, nil
}

// check says what topdown's value has against what the case wants, "" for
// nothing. A case that is lenient towards errors of functions is evaluated so
// again: hookc is not.
func (c complianceCase) check(s *scenario, got ast.Value, err error) string {
	if err != nil && !c.StrictError {
		got, err = s.topdown(false)
	}
	switch {
	case c.WantError != nil || c.WantErrorCode != nil:
		if err == nil {
			return fmt.Sprintf("topdown: %v, wanted is an error", got)
		}
		return ""
	case err != nil:
		return "topdown: " + err.Error()
	case c.WantResult == nil:
		return ""
	}
	want, have := ast.NewSet(), ast.NewSet()
	for _, b := range *c.WantResult {
		want.Add(ast.NewTerm(ast.MustInterfaceToValue(b)))
	}
	got.(*ast.Array).Foreach(func(t *ast.Term) { have.Add(ast.NewTerm(ast.MustInterfaceToValue(c.plain(t.Value)))) })
	if want.Compare(have) != 0 {
		return fmt.Sprintf("topdown: %v, wanted: %v", have, want)
	}
	return ""
}

// plain is a solution as the case writes it.
func (c complianceCase) plain(v ast.Value) any {
	out, err := ast.JSON(v)
	if err != nil {
		panic(err)
	}
	solution := out.(map[string]any)
	for name, value := range solution {
		if list, ok := value.([]any); ok && c.SortBindings {
			slices.SortFunc(list, util.Compare)
		}
		if c.IgnoreGeneratedVars && strings.HasPrefix(name, "__localq") {
			delete(solution, name)
		}
	}
	return solution
}
