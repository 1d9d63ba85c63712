package rego

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/rego/native"
	"github.com/hookc/hookc/tests/depth"
)

// tablePolicies is how many policies of tables the suite tries: more than 200,000
// evaluations at full depth, and a part that still writes each form. In the
// environment HOOKC_NATIVE_TABLES says another number, HOOKC_NATIVE_SEED which
// is the first, and HOOKC_NATIVE_HELD=1 that the classes kept apart are tried.
const tablePolicies = 2400

// tableInputs is on how many inputs each is evaluated, longTableInputs when the
// number of policies is given: they cost less than policies.
const (
	tableInputs     = 24
	longTableInputs = 100
)

// TestNativeTables evaluates policies that look things up in documents of rules,
// natively and by topdown: each rule, each table and each package as a whole.
func TestNativeTables(t *testing.T) {
	policies, first := number(t, "HOOKC_NATIVE_TABLES", depth.Judged(tablePolicies)), number(t, "HOOKC_NATIVE_SEED", 1)
	held := os.Getenv("HOOKC_NATIVE_HELD") != ""
	data := ast.MustParseTerm(tableBase).Value
	var wg sync.WaitGroup
	seeds := make(chan int)
	results := make([]tally, runtime.GOMAXPROCS(0))
	for i := range results {
		results[i].unfit = map[string]int{}
		wg.Go(func() {
			for seed := range seeds {
				results[i].tables(uint64(seed), held, data)
			}
		})
	}
	for i := range policies {
		seeds <- first + i
	}
	close(seeds)
	wg.Wait()
	all := tally{unfit: map[string]int{}}
	for _, r := range results {
		all.add(r)
	}
	show := number(t, "HOOKC_NATIVE_SHOW", 5)
	for i, f := range all.failures {
		if i < show {
			t.Error(f)
		}
	}
	t.Logf("%d policies: %d of %d modules compile; %d evaluations: %d answered, %d of them with a value, %d refused as topdown fails, %d bailed; %d were topdown's",
		policies, all.compiled, all.written, all.answered+all.refused+all.bailed, all.answered, all.values, all.refused, all.bailed, topdowns(all.unfit))
	t.Logf("%s", countsText(all.unfit))
	require.Empty(t, len(all.failures), "policies of which some answers differ")
	if depth.Short() { // so few policies show no share
		return
	}
	assert.GreaterOrEqual(t, all.compiled*10, all.written*6, "modules that compile")
	assert.Greater(t, all.values*4, all.answered, "answers with a value")
	for f := range numForms {
		t.Logf("%8d %s", all.forms[f], formTexts[f].name)
		assert.GreaterOrEqual(t, all.forms[f]*20000, all.answered, "answers of the form %s: what no generator writes is not on the list", formTexts[f].name)
		assert.NotEmpty(t, formTexts[f].argument, formTexts[f].name)
	}
}

func topdowns(by map[string]int) (n int) {
	for _, k := range by {
		n += k
	}
	return n
}

// tables tries the policy of a seed.
func (s *tally) tables(seed uint64, held bool, data ast.Value) {
	g := &tables{Rand: rand.New(rand.NewPCG(seed, 11)), held: held}
	c, files, names := g.policy()
	s.written += g.tried
	s.compiled += g.compiled
	if c == nil {
		return
	}
	count := tableInputs
	if os.Getenv("HOOKC_NATIVE_TABLES") != "" {
		count = longTableInputs
	}
	inputs := make([]ast.Value, count)
	for i := range inputs {
		inputs[i] = ast.MustParseTerm(g.input()).Value
	}
	if differs := s.whole(c, names, data, inputs); differs != "" {
		s.failures = append(s.failures, fmt.Sprintf("seed %d, %s\n%s", seed, differs, filesText(files)))
	}
}

// whole says how documents of a policy differ on inputs, "" for not at all.
func (s *tally) whole(c *ast.Compiler, names []string, data ast.Value, inputs []ast.Value) string {
	wants := make([]ast.Value, len(names))
	for i, name := range names {
		wants[i] = ast.MustParseRef(name)
	}
	p := planValues(c, wants, data)
	var m native.Machine
	for i, want := range wants {
		if why := cmp.Or(p.entries[i].why, p.why); why != "" {
			s.unfit[why] += len(inputs)
			continue
		}
		body := ast.NewBody(ast.Equality.Expr(ast.VarTerm(resultVar), ast.NewTerm(want).Copy()))
		query, err := c.QueryCompiler().Compile(body)
		if err != nil {
			return fmt.Sprintf("%v: %v", want, err)
		}
		for _, in := range inputs {
			sc := scenario{compiler: c, query: query, data: data, input: in, start: time.Now()}
			if differs := s.compare(&sc, p, &m, i); differs != "" {
				return fmt.Sprintf("%v: %s\ninput: %s", want, differs, in)
			}
		}
	}
	return ""
}

func filesText(files map[string]string) string {
	var out []string
	for name, text := range files {
		out = append(out, name+"\n"+text)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// TestTablesAsWritten evaluates modules that people wrote to tell native code
// from topdown: each document of each, and the whole package.
func TestTablesAsWritten(t *testing.T) {
	all := tally{unfit: map[string]int{}}
	for _, name := range []string{"tables_lookups.txt", "tables_torture.txt"} {
		text, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		for i, written := range strings.Split(string(text), "\n---\n") {
			w := readWritten(written)
			c := compileFilesAs(w.version, w.files)
			if c == nil {
				continue
			}
			all.compiled++
			data := ast.MustParseTerm(w.data).Value
			if differs := all.whole(c, documentNames(c), data, []ast.Value{ast.MustParseTerm(w.input).Value}); differs != "" {
				t.Errorf("%s, %d: %s\n%s", name, i+1, differs, written)
			}
		}
	}
	t.Logf("%d modules, %d answered, %d bailed or refused, %d topdown's", all.compiled, all.answered, all.refused+all.bailed, topdowns(all.unfit))
	assert.Greater(t, all.compiled, 230)
	assert.Greater(t, all.answered, 600)
}

// written is a module of a text: what stands in comments at its end are other
// modules, the documents and the input.
type written struct {
	files       map[string]string
	data, input string
	version     ast.RegoVersion
}

func readWritten(text string) written {
	w := written{files: map[string]string{"p.rego": "package p\n"}, data: "{}", input: "{}", version: ast.RegoV1}
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(strings.TrimPrefix(line, "# "), ": ")
		switch {
		case !strings.HasPrefix(line, "# "):
			w.files["p.rego"] += line
		case strings.HasPrefix(name, "lib"):
			w.files[name+".rego"] += rest
		case name == "data":
			w.data = rest
		case name == "input":
			w.input = rest
		case strings.TrimSpace(name) == "v0":
			w.version = ast.RegoV0
		}
	}
	return w
}

// documentNames are the documents that compiled modules have, and their packages.
func documentNames(c *ast.Compiler) []string {
	out := []string{}
	add := func(name string) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, m := range c.Modules {
		add(m.Package.Path.String())
		for _, r := range m.Rules {
			if len(r.Head.Args) == 0 {
				add(r.Ref().StringPrefix().String())
			}
		}
	}
	slices.Sort(out)
	return out
}
