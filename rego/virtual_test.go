package rego

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The cache of rules answers as OPA's own does, few rules or many.
func TestVirtualsAreAsOPAs(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		ours, theirs := newVirtuals(&stepBudget{ctx: t.Context()}), topdown.NewVirtualCache()
		names := []int{3, 12, 40}[seed%3]
		depth := 0
		scratch := make(ast.Ref, 0, 4) // keys are cut from memory that changes
		for range 300 {
			scratch = append(scratch[:0], ast.DefaultRootDocument, ast.StringTerm(fmt.Sprint("p", rng.IntN(2))), ast.IntNumberTerm(rng.IntN(names)))
			ref := scratch[:1+rng.IntN(3)]
			switch rng.IntN(10) {
			case 0:
				ours.Push()
				theirs.Push()
				depth++
			case 1:
				if depth > 0 {
					ours.Pop()
					theirs.Pop()
					depth--
				}
			case 2, 3, 4:
				if known, undefined := theirs.Get(ref); known != nil || undefined {
					continue // a rule has one value
				}
				var value *ast.Term
				if rng.IntN(4) > 0 {
					value = ast.IntNumberTerm(rng.IntN(9))
				}
				ours.Put(ref, value)
				theirs.Put(append(ast.Ref{}, ref...), value)
			default:
				value, undefined := ours.Get(ref)
				wanted, unwanted := theirs.Get(ref)
				require.Equal(t, []any{wanted, unwanted}, []any{value, undefined}, "seed %d %s", seed, ref)
			}
		}
		assert.ElementsMatch(t, refTexts(theirs.Keys()), refTexts(ours.Keys()))
	}
}

func refTexts(refs []ast.Ref) []string {
	out := []string{}
	for _, r := range refs {
		out = append(out, r.String())
	}
	return out
}
