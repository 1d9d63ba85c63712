package dag

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// Until a fusion is ready its members are evaluated alone, and the first event
// that wants it begins the making.
func TestLazyFusion(t *testing.T) {
	var waiting []func()
	built := 0
	l := NewLazyFusion(func() FusedRun {
		built++
		return func(_ context.Context, _ *policy.Context, _ Chosen, contributions []FusedAnswer) error {
			for i := range contributions {
				contributions[i].Result = &policy.Result{System: []string{"fused"}}
			}
			return nil
		}
	}, func(f func()) { waiting = append(waiting, f) })
	f := Fusion{Nodes: []int{0, 1}, Run: l.Run, Lazy: l}
	ask := func() []FusedAnswer {
		contributions := make([]FusedAnswer, 2)
		require.NoError(t, f.Run(t.Context(), nil, Choose([]int{0, 1}), contributions))
		return contributions
	}
	assert.False(t, f.Pending(), "nobody wants it yet")
	for range 2 {
		assert.Equal(t, []FusedAnswer{{Alone: true}, {Alone: true}}, ask())
		assert.True(t, f.Pending())
	}
	require.Len(t, waiting, 1)
	waiting[0]()
	l.Make()
	assert.False(t, f.Pending())
	assert.Equal(t, []string{"fused"}, ask()[1].Result.System)
	assert.Equal(t, 1, built)
}

// Without a background the first event that wants a fusion makes it; what
// cannot be made leaves each member alone, and a panic is told.
func TestLazyFusionFails(t *testing.T) {
	for fault, build := range map[string]func() FusedRun{
		"internal error: no": func() FusedRun { panic("no") },
		"":                   func() FusedRun { return nil },
	} {
		l := NewLazyFusion(build, nil)
		f := Fusion{Nodes: []int{0, 1}, Run: l.Run, Lazy: l}
		p := Program{Plans: []*Plan{{Fused: []Fusion{f}}}}
		assert.Len(t, p.Unready(), 1)
		contributions := make([]FusedAnswer, 2)
		require.NoError(t, l.Run(t.Context(), nil, Choose([]int{0, 1}), contributions))
		assert.Equal(t, []FusedAnswer{{Alone: true}, {Alone: true}}, contributions)
		assert.Equal(t, fault, f.Fault())
		assert.Empty(t, p.Unready())
	}
}
