package executor

import (
	"context"
	"errors"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// jumped is t as taken before the clock on the wall was put back by d (forward
// if d is negative): t then shows d more than the clock does, while the
// monotonic reading, which nobody can put back, is as it was.
func jumped(tb testing.TB, t time.Time, d time.Duration) time.Time {
	type parts struct {
		wall uint64 // a flag, 33 bits of seconds, 30 bits of nanoseconds
		ext  int64
		loc  *time.Location
	}
	require.Equal(tb, unsafe.Sizeof(parts{}), unsafe.Sizeof(t))
	out := t
	(*parts)(unsafe.Pointer(&out)).wall += uint64(int64(d/time.Second)) << 30
	require.Equal(tb, d, out.Round(0).Sub(t.Round(0)), "the clock on the wall")
	require.Zero(tb, out.Sub(t), "the monotonic clock")
	return out
}

// Whatever the executor measures, it measures with a clock that cannot jump:
// attempts, the chain deadline, step budgets and what hooks took. The times
// are real ones, as those of synctest have no monotonic reading.
func TestClockJump(t *testing.T) {
	about := func(want time.Duration, f func()) {
		t.Helper()
		begun := time.Now()
		f()
		took := time.Since(begun)
		assert.True(t, took >= want && took < want+time.Minute, "took %v, not %v", took, want)
	}
	in := bashCall().Frozen(policy.PreToolExecution)
	for name, jump := range map[string]time.Duration{"back": 24 * time.Hour, "forward": -24 * time.Hour, "not at all": 0} {
		t.Run(name, func(t *testing.T) {
			plan := planOf(t, policy.PreToolExecution, policy.Chain,
				hook{name: "slow", timeout: 60 * ms, retry: 1, run: takes(time.Hour, policy.Result{})})
			n := &plan.Nodes[0]
			until := func(d time.Duration) time.Time { return jumped(t, time.Now().Add(d), jump) }
			for _, c := range []struct {
				until    time.Time
				want     time.Duration
				attempts int
				kind     policy.ErrKind
			}{
				{until(time.Hour), 120 * ms, 2, policy.ErrTimeout},
				{until(-ms), 0, 0, policy.ErrDeadline},
			} {
				about(c.want, func() {
					_, attempts, err := (&caller{plan: plan, n: n, until: c.until}).calls(t.Context(), in)
					assert.Equal(t, []any{c.attempts, c.kind}, []any{attempts, policy.KindOf(err)})
				})
			}
			serial := realWorld{schedule: newSchedule(plan, &Options{}), ctx: t.Context(), until: until(time.Hour)}
			assert.Equal(t, -1, serial.Late(n))
			serial.until = until(-ms)
			assert.Equal(t, 0, serial.Late(n))
		})
		t.Run(name+", in process", func(t *testing.T) {
			defer func(was time.Time) { zero = was }(zero)
			start := clock()
			zero = jumped(t, zero, jump)
			b := newBudget(t.Context(), start)
			b.limit = time.Hour
			assert.NoError(t, b.Err())
			assert.False(t, b.ended(context.DeadlineExceeded))
			b.limit = 50 * ms
			<-b.Done()
			assert.ErrorIs(t, b.Err(), context.DeadlineExceeded)
			assert.True(t, b.ended(errors.New("interrupted")))
			b.close()

			w := newWatch()
			zero = jumped(t, zero, -jump)
			time.Sleep(2 * ms)
			lap := w.lap()
			assert.True(t, lap >= 2*ms && lap < time.Minute, "%v", lap)

			rule := dag.Node{Hook: &policy.Hook{Name: "rule", Kind: policy.KindBuiltin}, Timeout: 50 * ms,
				Runner: policy.RunnerFunc(takes(time.Hour, policy.Result{}))}
			about(50*ms, func() {
				begun := clock()
				zero = jumped(t, zero, jump)
				_, _, err := evaluate(t.Context(), &rule, in, 0, newBudget(t.Context(), begun))
				assert.Equal(t, policy.ErrBudget, policy.KindOf(err))
			})
		})
	}
}
