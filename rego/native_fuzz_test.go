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
)

// fuzzModules is how many modules the suite tries; HOOKC_NATIVE_FUZZ in the
// environment says another number, and HOOKC_NATIVE_SEED with which to begin.
const fuzzModules = 150

// TestNativeFuzz evaluates random policies on random inputs natively and by
// topdown. Native gives topdown's value, or bails; where topdown fails it never
// answers.
func TestNativeFuzz(t *testing.T) {
	modules, first := number(t, "HOOKC_NATIVE_FUZZ", fuzzModules), number(t, "HOOKC_NATIVE_SEED", 1)
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
	compiled, answered, values, refused, bailed int
	// unsound are topdown's values that no text of Rego gives.
	unsound  int
	unfit    map[string]int
	failures []string
}

func (s *tally) add(o tally) {
	s.compiled += o.compiled
	s.answered += o.answered
	s.values += o.values
	s.refused += o.refused
	s.bailed += o.bailed
	s.unsound += o.unsound
	s.failures = append(s.failures, o.failures...)
	for why, n := range o.unfit {
		s.unfit[why] += n
	}
}

const inputsPerModule = 6

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
	var m native.Machine
	for range inputsPerModule {
		in := g.input()
		for i, want := range wants {
			if why := cmp.Or(p.entries[i].why, p.why); why != "" {
				s.unfit[why]++
				continue
			}
			if differs := s.compare(c, p, &m, i, want, ast.MustParseTerm(in).Value, data); differs != "" {
				s.failures = append(s.failures, fmt.Sprintf("seed %d, %v: %s\ninput: %s\n%s", seed, want, differs, in, text))
				return
			}
		}
	}
}

// compare says how the value of an entry point differs, "" for not at all.
func (s *tally) compare(c *ast.Compiler, p *plan, m *native.Machine, i int, want, input, data ast.Value) string {
	sc := scenario{compiler: c, data: data, input: input, start: time.Now()}
	query, err := c.QueryCompiler().Compile(ast.NewBody(ast.Equality.Expr(ast.VarTerm(resultVar), ast.NewTerm(want).Copy())))
	if err != nil {
		return err.Error()
	}
	sc.query = query
	expected, wantErr := sc.topdown(true)
	m.Context = &evaluation{start: sc.start}
	got, err := p.eval(m, i, input)
	switch {
	case err != nil && !errors.Is(err, native.ErrBail):
		return err.Error()
	case err != nil && wantErr != nil:
		s.refused++
	case err != nil:
		s.bailed++
	case wantErr != nil:
		return fmt.Sprintf("native: %v, topdown: %v", got, strings.SplitN(wantErr.Error(), "\n", 2)[0])
	case !sameValue(got, expected) && !sound(expected):
		s.unsound++
	case !sameValue(got, expected):
		return fmt.Sprintf("\nnative:  %v\ntopdown: %v", got, expected)
	default:
		s.answered++
		if got != nil {
			s.values++
		}
	}
	return ""
}

// sound reports whether a value is one: OPA gives an object one key twice when
// it sets null, false or 0, or true or 1, of those that stand together in one
// object, again. Whether native bails there is for its own tests.
func sound(v ast.Value) bool {
	twice := false
	if v != nil {
		ast.WalkTerms(ast.NewTerm(v), func(t *ast.Term) bool {
			if o, ok := t.Value.(ast.Object); ok {
				keys := map[string]bool{}
				for _, k := range o.Keys() {
					twice = twice || keys[k.String()]
					keys[k.String()] = true
				}
			}
			return twice
		})
	}
	return !twice
}
