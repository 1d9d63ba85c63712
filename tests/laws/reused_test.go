package laws

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/tests/depth"
)

// TestReusedDecision: a Decision in memory that was used before, for other
// events and other plans, is the one in new memory. Policies of in-process
// rules, which are decided there, and of every kind. Killed by a trace of which
// only the hooks that ran the last time were reset, where the chain had ended
// early.
func TestReusedDecision(t *testing.T) {
	cut := 0
	roomy := calm
	roomy.MaxAsync = 1 << 10 // the first firing leaves the second its room
	synctest.Test(t, func(t *testing.T) {
		memory := new(executor.Reused)
		for seed := range depth.Of(uint64(2000)) {
			w := newWorld(seed)
			if seed%4 > 0 {
				for _, h := range w.policy.Hooks {
					h.Kind, h.Async = policy.KindExpr, false
					h.Declared = policy.Declared{}
				}
			}
			prog := w.compile(t)
			x := executor.New(prog, roomy)
			for n := range 6 {
				in := w.context(n)
				want := x.Fire(t.Context(), w.fixture.event, in)
				got := x.FireInto(t.Context(), w.fixture.event, in, memory)
				require.Equal(t, w.observe(prog, want, nil), w.observe(prog, got, nil), "seed %d event %d", seed, n)
				if !want.Permits() {
					cut++
				}
			}
			x.Close()
		}
	})
	require.Greater(t, cut, depth.Least(1000))
}
