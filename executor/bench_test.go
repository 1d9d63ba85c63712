package executor

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/policy"
)

// BenchmarkInline is the cost of a plan of in-process nodes whose bodies do
// nothing. ns/node is the scheduling overhead.
func BenchmarkInline(b *testing.B) {
	for _, n := range []int{1, 30, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x := New(programOf(planOf(nil, policy.PreToolExecution, policy.Chain, rules(n)...)), Options{})
			in := bashCall().Frozen(policy.PreToolExecution)
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				x.Fire(ctx, policy.PreToolExecution, in)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
		})
	}
}

// BenchmarkScheduled is the same through the scheduler, by one process node
// that does nothing.
func BenchmarkScheduled(b *testing.B) {
	for _, n := range []int{1, 30} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			hooks := append(rules(n), hook{name: "p", writes: []string{}, mute: true})
			x := New(programOf(planOf(nil, policy.PreToolExecution, policy.Chain, hooks...)), Options{})
			in := bashCall().Frozen(policy.PreToolExecution)
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				x.Fire(ctx, policy.PreToolExecution, in)
			}
		})
	}
}

func rules(n int) []hook {
	hooks := make([]hook, n)
	for i := range hooks {
		hooks[i] = hook{name: fmt.Sprint("rule", i), kind: policy.KindExpr, writes: []string{}, timeout: 100 * ms}
	}
	return hooks
}

// The allocations of a firing do not grow with the rules that say nothing.
func TestInlineAllocations(t *testing.T) {
	ctx := context.Background()
	in := bashCall().Frozen(policy.PreToolExecution)
	var got []float64
	for _, n := range []int{1, 30, 300} {
		x := New(programOf(planOf(t, policy.PreToolExecution, policy.Chain, rules(n)...)), Options{})
		got = append(got, testing.AllocsPerRun(100, func() { x.Fire(ctx, policy.PreToolExecution, in) }))
	}
	assert.Equal(t, []float64{got[0], got[0], got[0]}, got)
	assert.LessOrEqual(t, got[0], 8.0)
}
