package rego

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/rego/native"
)

// leastIndexed is how many of the corpus's rules that say something an index
// finds by what fields of an event hold, of those that say it under a
// condition. It may only grow.
const leastIndexed = 185

// TestCorpusIndexed counts the rules that an index finds, and those that are
// evaluated for every event that has the fields they read.
func TestCorpusIndexed(t *testing.T) {
	found, all := 0, 0
	for _, m := range loadCorpus(t) {
		r := m.open(m.parsed)
		require.NotNil(t, r, m.name)
		for i, want := range r.wants {
			if r.plan.reason(i) != "" || !isVerdict(nameOf(r.module, want)) {
				continue
			}
			fn := r.plan.entries[i].fn
			findable := r.plan.code.Findable(fn)
			for block := range r.plan.program.Funcs[fn].Blocks {
				b := &r.plan.program.Funcs[fn].Blocks[block]
				if b.Place < 0 || unconditional(b) {
					continue
				}
				all++
				if findable[block] {
					found++
				} else if testing.Verbose() {
					at := r.plan.program.Places[b.Place]
					t.Logf("not found: %s:%d", r.plan.program.Files[at.File], at.Row)
				}
			}
		}
	}
	t.Logf("%d of %d rules are found by an index (%.1f %%)", found, all, 100*float64(found)/float64(all))
	assert.GreaterOrEqual(t, found, leastIndexed)
}

// unconditional reports whether a block is a default or a fact.
func unconditional(b *native.Block) bool {
	for i := range b.Stmts {
		switch b.Stmts[i].Op {
		case native.OpIsUndefined, native.OpReset, native.OpAssignOnce, native.OpSetAdd, native.OpAssign:
		default:
			return false
		}
	}
	return true
}
