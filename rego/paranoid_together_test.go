package rego

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// What several hooks say together is looked at as it was said, and the stricter
// counts: so `hookc test` tests what serve decides by.
func TestParanoidTogether(t *testing.T) {
	var delivered []Difference
	e := NewEyes(true, nil, func(d Difference) { delivered = append(delivered, d) })
	n, other := watchedGuard(t, e, noRm), watchedGuard(t, e, `deny contains "no mv" if input.command == "mv"`)
	n.digest()
	right := n.code
	corrupt(t, n) // Together it is wrong,
	f := FuseNative([]*Native{n, other})
	n.code = right // and by itself it is not.
	contribution := make([]dag.FusedAnswer, 2)
	require.NoError(t, f.Run(t.Context(), bash("rm"), dag.Choose([]int{0, 1}), contribution))
	require.False(t, contribution[0].Alone)
	assert.Equal(t, policy.Deny, contribution[0].Result.Verdict)
	require.Len(t, delivered, 1)
	assert.Equal(t, "none go", delivered[0].Native)
	assert.Nil(t, contribution[1].Result)
}
