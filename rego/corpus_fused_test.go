package rego

import (
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/rego/native"
	"github.com/hookc/hookc/tests/depth"
)

// fusedEvents are how many events the suite asks the whole corpus about at
// once.
const fusedEvents = 60

// TestCorpusFused evaluates all of the corpus as one, as the hooks of an event
// are: every document says what topdown says of it, or bails.
func TestCorpusFused(t *testing.T) {
	rounds, seed := number(t, "HOOKC_NATIVE_ROUNDS", 1), number(t, "HOOKC_NATIVE_SEED", 1)
	var runs []*corpusRun
	var makers []*eventMaker
	var natives [][]int // of each, the documents that are native
	var members []native.Member
	for _, m := range loadCorpus(t) {
		r := m.open(m.parsed)
		member := native.Member{Code: r.plan.code}
		var wants []int
		for i := range r.wants {
			if r.plan.reason(i) == "" {
				wants = append(wants, i)
				member.Entries = append(member.Entries, r.plan.entries[i].fn)
			}
		}
		natives = append(natives, wants)
		runs, members = append(runs, r), append(members, member)
		makers = append(makers, newEventMaker(r, corpusRandom(m.name, seed)))
	}
	fused, answered, all := native.NewFused(members), 0, 0
	for n := range depth.Of(fusedEvents * rounds) {
		g := makers[n%len(makers)]
		input := ast.MustInterfaceToValue(g.event())
		e := &evaluation{start: time.Now()}
		contribution, bailed := fusedAnswers(fused, e, input)
		for i, r := range runs {
			for j, at := range natives[i] {
				want, wantErr := r.topdown(at, input, e)
				got, ok := contribution[[2]int{i, j}]
				if !ok {
					got.Value, got.Defined = fused.Quiet(i, j)
				}
				if all++; bailed[i] {
					continue
				}
				answered++
				var value ast.Value
				if got.Defined {
					value = fromNative(got.Value)
				}
				if differs := differ(value, want, wantErr); differs != "" {
					require.Fail(t, "answers differ", r.describe(r.wants[at], input, differs))
				}
			}
		}
	}
	t.Logf("%d of %d answered", answered, all)
	assert.Greater(t, answered*100, all*85)
}

// fusedAnswers are the answers about an event, by member and entry, and the
// members that bailed, whose other entries are then not asked.
func fusedAnswers(fused *native.Fused, e *evaluation, input ast.Value) (map[[2]int]native.Answer, map[int]bool) {
	m := native.FusedMachine{}
	m.Machine.Context = e
	in := &valueInput{paths: fused.Paths(), whole: toNative(input), defined: true}
	out, bailed := map[[2]int]native.Answer{}, map[int]bool{}
	for _, a := range fused.Eval(&m, in, nil) {
		out[[2]int{a.Member, a.Entry}] = a
		bailed[a.Member] = bailed[a.Member] || a.Bailed
	}
	return out, bailed
}
