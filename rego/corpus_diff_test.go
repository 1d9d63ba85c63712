package rego

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/rego/native"
	"github.com/hookc/hookc/tests/depth"
)

const (
	// corpusEvents are the events of each guardrail module in the suite,
	// exampleEvents those of each of OPA's, mutantEvents of each mutant,
	// mutantsPerModule is how many mutants a guardrail module has.
	// HOOKC_NATIVE_ROUNDS in the environment multiplies the events of modules
	// and the mutants, HOOKC_NATIVE_SEED says with which to begin.
	corpusEvents     = 60
	exampleEvents    = 10
	mutantEvents     = 10
	mutantsPerModule = 5
)

// corpusOutcome is what became of evaluations.
type corpusOutcome struct {
	modules, mutants          int
	answered, refused, values int
	bailed                    map[string]int
	fired                     map[spot]bool
	failures                  []string
}

func newCorpusOutcome() *corpusOutcome {
	return &corpusOutcome{bailed: map[string]int{}, fired: map[spot]bool{}}
}

func (o *corpusOutcome) add(x *corpusOutcome) {
	o.modules += x.modules
	o.mutants += x.mutants
	o.answered += x.answered
	o.refused += x.refused
	o.values += x.values
	maps.Copy(o.fired, x.fired)
	for why, n := range x.bailed {
		o.bailed[why] += n
	}
	o.failures = append(o.failures, x.failures...)
}

func (o *corpusOutcome) bails() int {
	n := 0
	for _, k := range o.bailed {
		n += k
	}
	return n
}

// TestCorpusDifferential evaluates the corpus and OPA's examples on events
// made of their own literals, natively and by topdown. Native gives topdown's
// value, or bails; where topdown fails it never answers. Nearly every rule of
// the corpus says something in some event.
func TestCorpusDifferential(t *testing.T) {
	rounds, seed := number(t, "HOOKC_NATIVE_ROUNDS", 1), number(t, "HOOKC_NATIVE_SEED", 1)
	modules := append(loadCorpus(t), opaExamples(t)...)
	all := inParallel(modules, func(m *corpusModule, o *corpusOutcome) {
		if r := m.open(m.parsed); r != nil {
			o.modules++
			events := corpusEvents
			if m.example() {
				events = exampleEvents
			}
			o.try(r, newEventMaker(r, corpusRandom(m.name, seed)), depth.Of(events*rounds))
		}
	})
	reportCorpus(t, all)
	assert.Greater(t, all.answered*100, (all.answered+all.bails())*98, "of what topdown answers is native's")
	silent := 0
	for _, m := range loadCorpus(t) {
		for _, r := range m.parsed.Rules {
			if isVerdict(string(r.Head.Name)) && !r.Default && !all.fired[spotOf(r.Location)] {
				silent++
				t.Logf("%s says nothing in any event", r.Location)
			}
		}
	}
	if depth.Full() { // fewer events do not reach every rule
		assert.Less(t, silent, 5, "rules that say nothing in any event")
	}
}

// TestCorpusMutants does the same for rules that are like those of the corpus:
// with a literal, operator or reference of another, and with expressions left
// out, repeated, negated or in another order.
func TestCorpusMutants(t *testing.T) {
	depth.NotShort(t)
	rounds, seed := number(t, "HOOKC_NATIVE_ROUNDS", 1), number(t, "HOOKC_NATIVE_SEED", 1)
	modules := append(loadCorpus(t), opaExamples(t)...)
	all := inParallel(modules, func(m *corpusModule, o *corpusOutcome) {
		rng := corpusRandom(m.name, -seed)
		mutants := mutantsPerModule
		if m.example() {
			mutants = 1
		}
		for range depth.Of(mutants * rounds) {
			if r := m.mutant(rng); r != nil {
				o.mutants++
				o.try(r, newEventMaker(r, rng), mutantEvents)
			}
		}
	})
	reportCorpus(t, all)
	assert.Greater(t, all.mutants, depth.Least(len(modules)*rounds), "mutants that compile")
}

// example reports whether a module is one of OPA's.
func (m *corpusModule) example() bool { return strings.Contains(m.name, "/") }

func corpusRandom(name string, seed int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(h.Sum64(), uint64(seed)))
}

func reportCorpus(t *testing.T, o *corpusOutcome) {
	for i, f := range o.failures {
		if i < 5 {
			t.Error(f)
		}
	}
	assert.Empty(t, len(o.failures), "answers differ")
	t.Logf("%d modules, %d mutants: %d answered, %d of them with a value, %d refused as topdown fails, %d bailed",
		o.modules, o.mutants, o.answered, o.values, o.refused, o.bails())
	if testing.Verbose() {
		for i, line := range strings.Split(countsText(o.bailed), "\n") {
			if i < 10 {
				t.Log("bailed:", line)
			}
		}
	}
}

// inParallel tries modules on all cores; what comes of it does not depend on
// how many there are.
func inParallel(modules []*corpusModule, try func(*corpusModule, *corpusOutcome)) *corpusOutcome {
	outcomes := make([]*corpusOutcome, len(modules))
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				outcomes[i] = newCorpusOutcome()
				try(modules[i], outcomes[i])
			}
		})
	}
	for i := range modules {
		next <- i
	}
	close(next)
	wg.Wait()
	all := newCorpusOutcome()
	for _, o := range outcomes {
		all.add(o)
	}
	return all
}

// try evaluates a module's documents on events.
func (o *corpusOutcome) try(r *corpusRun, g *eventMaker, events int) {
	var m native.Machine
	for n := range events {
		event := any(nil)
		if n < len(g.seeds) {
			event = g.seeds[n]
		} else {
			event = g.event()
		}
		input := ast.MustInterfaceToValue(event)
		for i := range r.wants {
			if r.plan.reason(i) != "" {
				continue
			}
			if differs := o.compare(r, &m, i, input); differs != "" {
				o.failures = append(o.failures, r.shrink(i, input).describe(r.wants[i], input, differs))
				return
			}
		}
	}
}

// compare says how a document differs, "" for not at all.
func (o *corpusOutcome) compare(r *corpusRun, m *native.Machine, i int, input ast.Value) string {
	e := &evaluation{start: time.Now()}
	want, wantErr := r.topdown(i, input, e)
	m.Context = e
	got, err := r.plan.eval(m, i, input)
	switch {
	case err != nil && !errors.Is(err, native.ErrBail):
		return err.Error()
	case err != nil && wantErr != nil:
		o.refused++
	case err != nil:
		o.bailed[fmt.Sprintf("%s: %v", r.name, r.wants[i])]++
	case differ(got, want, wantErr) != "":
		return differ(got, want, wantErr)
	default:
		o.answered++
		if got != nil {
			o.values++
		}
	}
	return o.rules(r, m, i, input, want, wantErr)
}

// differ says how native's value differs from what topdown came to.
func differ(got, want ast.Value, wantErr error) string {
	switch {
	case wantErr != nil:
		return fmt.Sprintf("native: %v, topdown: %s", got, strings.SplitN(wantErr.Error(), "\n", 2)[0])
	case !sameValue(got, want):
		return fmt.Sprintf("\nnative:  %v\ntopdown: %v", got, want)
	}
	return ""
}

// rules notes which rules give values when the code has an index, and says how
// what they give differs from topdown's value.
func (o *corpusOutcome) rules(r *corpusRun, m *native.Machine, i int, input, want ast.Value, wantErr error) string {
	program := r.plan.program
	fn := program.Funcs[r.plan.entries[i].fn]
	in := &valueInput{paths: program.Paths, whole: toNative(input), defined: true}
	var given []native.Value
	var at []spot
	err := r.indexed.Rules(m, r.plan.entries[i].fn, in, func(block int, v native.Value) bool {
		given = append(given, v)
		if place := fn.Blocks[block].Place; place >= 0 {
			p := program.Places[place]
			at = append(at, spot{program.Files[p.File], int(p.Row), int(p.Col)})
		}
		return true
	})
	if err != nil {
		return ""
	}
	for _, place := range at {
		o.fired[place] = true
	}
	if differs := differ(together(given, want), want, wantErr); differs != "" {
		return "by rules and index: " + differs
	}
	return ""
}

// together is what values of rules make, which is of the kind of another value.
func together(given []native.Value, kind ast.Value) ast.Value {
	if len(given) == 1 && kind != nil && sameValue(fromNative(given[0]), kind) {
		return kind // A complete rule, or a document of several.
	}
	switch kind.(type) {
	case ast.Set:
		all := native.NewSet()
		for _, v := range given {
			all.Add(v)
		}
		return fromNative(all)
	case ast.Object:
		all := native.NewObject()
		for _, v := range given {
			if pair, ok := v.([]native.Value); ok && len(pair) == 2 {
				all.Put(pair[0], pair[1])
			}
		}
		return fromNative(all)
	}
	if len(given) == 0 {
		return nil
	}
	return fromNative(given[0])
}

// describe is a failure as a person wants to see it.
func (r *corpusRun) describe(want, input ast.Value, differs string) string {
	return fmt.Sprintf("%s, %v: %s\ninput: %v\n%s", r.name, want, differs, input, moduleText(r.module))
}

func moduleText(m *ast.Module) string {
	lines := []string{m.Package.String()}
	for _, i := range m.Imports {
		lines = append(lines, i.String())
	}
	for _, r := range m.Rules {
		lines = append(lines, r.String())
	}
	return strings.Join(slices.Compact(lines), "\n")
}
