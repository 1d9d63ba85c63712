package rego

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
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

// fuzzModules is how many modules the suite tries; HOOKC_NATIVE_FUZZ in the
// environment says another number, and HOOKC_NATIVE_SEED with which to begin.
const fuzzModules = 150

// TestNativeFuzz evaluates random policies on random inputs natively and by
// topdown. Native gives topdown's value, or bails; where topdown fails it never
// answers.
func TestNativeFuzz(t *testing.T) {
	modules, first := number(t, "HOOKC_NATIVE_FUZZ", depth.Judged(fuzzModules)), number(t, "HOOKC_NATIVE_SEED", 1)
	data := ast.MustParseTerm(fuzzData).Value
	var wg sync.WaitGroup
	seeds := make(chan int)
	results := make([]tally, runtime.GOMAXPROCS(0))
	for i := range results {
		results[i].unfit = map[string]int{}
		wg.Go(func() {
			for seed := range seeds {
				results[i].module(uint64(seed), data)
			}
		})
	}
	for i := range modules {
		seeds <- first + i
	}
	close(seeds)
	wg.Wait()
	var all tally
	all.unfit = map[string]int{}
	for _, r := range results {
		all.add(r)
	}
	for i, f := range all.failures {
		if i < 5 {
			t.Error(f)
		}
	}
	require.Empty(t, len(all.failures), "answers differ")
	t.Logf("%+v", all)
	// The test has teeth only while most of this compiles and is answered.
	assert.Greater(t, all.compiled*2, modules)
	assert.Greater(t, all.answered*10, (all.answered+all.bailed)*8)
	assert.Greater(t, all.values*10, all.answered)
}

func number(t *testing.T, name string, otherwise int) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv(name), strconv.Itoa(otherwise)))
	require.NoError(t, err)
	return n
}

// tally counts what became of the modules of one goroutine.
type tally struct {
	written, compiled, answered, values, refused, bailed int
	unfit                                                map[string]int
	failures                                             []string
	// forms counts the answers that native code gave by what it was written in.
	forms [numForms]int
}

func (s *tally) add(o tally) {
	s.written += o.written
	s.compiled += o.compiled
	s.answered += o.answered
	s.values += o.values
	s.refused += o.refused
	s.bailed += o.bailed
	s.failures = append(s.failures, o.failures...)
	for f, n := range o.forms {
		s.forms[f] += n
	}
	for why, n := range o.unfit {
		s.unfit[why] += n
	}
}

// inputsPerModule is on how many inputs a module is evaluated, longInputs when
// the number of modules is given: they cost less than modules.
const (
	inputsPerModule = 6
	longInputs      = 24
)

// module tries the module of a seed.
func (s *tally) module(seed uint64, data ast.Value) {
	g := &grammar{Rand: rand.New(rand.NewPCG(seed, 7))}
	c, text, rules := g.module()
	if len(rules) == 0 {
		return
	}
	s.compiled++
	wants := []ast.Value{ast.MustParseRef("data.p")}
	for _, name := range rules[max(0, len(rules)-4):] {
		wants = append(wants, ast.MustParseRef("data.p."+name))
	}
	p := planValues(c, wants, data)
	queries := make([]ast.Body, len(wants))
	for i, want := range wants {
		body := ast.NewBody(ast.Equality.Expr(ast.VarTerm(resultVar), ast.NewTerm(want).Copy()))
		query, err := c.QueryCompiler().Compile(body)
		if err != nil {
			s.failures = append(s.failures, fmt.Sprintf("seed %d, %v: %v\n%s", seed, want, err, text))
			return
		}
		queries[i] = query
	}
	inputs := inputsPerModule
	if os.Getenv("HOOKC_NATIVE_FUZZ") != "" {
		inputs = longInputs
	}
	var m native.Machine
	for range inputs {
		in := g.input()
		for i, want := range wants {
			if why := cmp.Or(p.entries[i].why, p.why); why != "" {
				s.unfit[why]++
				continue
			}
			sc := scenario{compiler: c, query: queries[i], data: data, input: ast.MustParseTerm(in).Value, start: time.Now()}
			if differs := s.compare(&sc, p, &m, i); differs != "" {
				s.failures = append(s.failures, fmt.Sprintf("seed %d, %v: %s\ninput: %s\n%s", seed, want, differs, in, text))
				return
			}
		}
	}
}

// compare says how the value of an entry point differs, "" for not at all.
func (s *tally) compare(sc *scenario, p *plan, m *native.Machine, i int) string {
	expected, wantErr := sc.topdown(true)
	m.Context = &evaluation{start: sc.start}
	got, err := p.eval(m, i, sc.input)
	switch {
	case err != nil && !errors.Is(err, native.ErrBail):
		return err.Error()
	case err != nil && wantErr != nil:
		s.refused++
	case err != nil:
		s.bailed++
	case wantErr != nil:
		return fmt.Sprintf("native: %v, topdown: %v", got, strings.SplitN(wantErr.Error(), "\n", 2)[0])
	case !sameValue(got, expected):
		return fmt.Sprintf("\nnative:  %v\ntopdown: %v", got, expected)
	default:
		s.answered++
		for f := range numForms {
			if p.entries[i].forms.has(f) {
				s.forms[f]++
			}
		}
		if got != nil {
			s.values++
		}
	}
	return ""
}
