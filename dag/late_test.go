package dag

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

type named struct{ name string }

func (named) Run(context.Context, *policy.Context, int) (policy.Result, error) {
	return policy.Result{}, nil
}

// A fusion that is yet to be made asks an older one for the members it has as
// they are, in its own numbers, and leaves the others to be asked alone.
func TestLateAsksTheOlder(t *testing.T) {
	parts := make([]FusePart, 6)
	for i := range parts {
		parts[i] = FusePart{Runner: &named{string(rune('a' + i))}, Filter: &policy.Matcher{}}
	}
	says := func(who string, heard *[][]int) FusedRun {
		return func(_ context.Context, _ *policy.Context, chosen Chosen, said []FusedSaid) error {
			*heard = append(*heard, chosen.Places)
			for i := range said {
				said[i].Result = &policy.Result{System: []string{who}}
			}
			return nil
		}
	}
	var old, own [][]int
	older := &Made{Parts: parts[:5], Run: says("old", &old)}
	changed := FusePart{Runner: &named{"c2"}, Filter: parts[2].Filter}
	filtered := FusePart{Runner: parts[3].Runner, Filter: &policy.Matcher{}}
	l := NewLate([]FusePart{parts[1], parts[0], changed, filtered, parts[4], parts[5]}, func() FusedRun { return says("own", &own) },
		func() *Made { return older })
	ask := func(chosen ...int) (out []string) {
		said := make([]FusedSaid, len(chosen))
		require.NoError(t, l.Run(context.Background(), nil, Chosen{Places: chosen}, said))
		for _, s := range said {
			switch {
			case s.Alone:
				out = append(out, "alone")
			case s.Result == nil:
				out = append(out, "")
			default:
				out = append(out, s.Result.System[0])
			}
		}
		return out
	}
	assert.Equal(t, []string{"old", "alone", "alone", "alone", "old", "alone"}, ask(0, 1, 2, 3, 4, 5), "b stands before a now: a is asked alone")
	assert.Equal(t, []string{"alone", "alone"}, ask(3, 4), "one alone is no gain")
	assert.Equal(t, [][]int{{1, 4}}, old)
	assert.Same(t, older, l.Newest())
	l.Make()
	assert.Equal(t, []string{"own", "own"}, ask(3, 4))
	assert.Equal(t, [][]int{{3, 4}}, own)
	assert.True(t, l.Newest().SameParts(l.parts))
	assert.False(t, l.Newest().SameParts(parts))
}

// What cannot be made, or panics while it is, leaves the older one in place.
func TestLateFails(t *testing.T) {
	a, b := FusePart{Runner: &named{"a"}}, FusePart{Runner: &named{"b"}}
	l := NewLate([]FusePart{a, b}, func() FusedRun { panic("no") }, func() *Made { return nil })
	f := Fusion{Nodes: []int{0, 1}, Run: l.Run, Late: l}
	assert.True(t, f.pending())
	l.Make()
	assert.Equal(t, "internal error: no", f.fault())
	assert.False(t, f.pending())
	said := make([]FusedSaid, 2)
	require.NoError(t, l.Run(context.Background(), nil, Choose([]int{0, 1}), said))
	assert.Equal(t, []FusedSaid{{Alone: true}, {Alone: true}}, said)
}
