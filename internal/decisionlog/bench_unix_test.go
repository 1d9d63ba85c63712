//go:build unix

package decisionlog

import (
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// worked is the processor time of this process.
func worked(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// everyday is a call as Claude Code makes it, and what five hooks made of it.
func everyday() Decided {
	in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldSessionID, "4be1f1a0-7a52-4f0e-9a0c-5f1d3f0f2b11").
		Set(policy.FieldCwd, "/home/dev/repo").Set(policy.FieldProjectRoot, "/home/dev/repo").Set(policy.FieldPermissionMode, "default").
		Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "go test ./... && git status --short", "description": "Run the tests"})
	d := Decided{Event: policy.PreToolExecution, In: in.Frozen(policy.PreToolExecution), Agent: "claude", Took: time.Millisecond,
		Decision: &policy.Decision{Event: policy.PreToolExecution, Action: policy.Proceed, Verdict: policy.None, Control: policy.Go, Policy: "sha256:" + strings.Repeat("0", 64)}}
	for i := range 5 {
		d.Decision.Hooks = append(d.Decision.Hooks, policy.HookTrace{TracedHook: &policy.TracedHook{Name: "rule-" + strconv.Itoa(i)}, Status: policy.StatusRan, Micros: 2})
	}
	return d
}

// BenchmarkAdd is what a decision costs more on the path of who decides it when it is
// logged, by the clock and of the processor; who writes it is held meanwhile.
func BenchmarkAdd(b *testing.B) {
	const room = 1 << 14
	w, err := Open(b.TempDir(), Options{Buffer: room})
	require.NoError(b, err)
	d, cpu := everyday(), time.Duration(0)
	b.ReportAllocs()
	for left := b.N; left > 0; left -= room {
		b.StopTimer()
		letGo := hold(b, w)
		before := worked(b)
		b.StartTimer()
		for range min(left, room-1) {
			if err := w.Add(b.Context(), d); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		cpu += worked(b) - before
		letGo()
		require.NoError(b, w.Flush(b.Context()))
		b.StartTimer()
	}
	require.NoError(b, w.Close())
	b.ReportMetric(float64(cpu.Nanoseconds())/1000/float64(b.N), "cpu-µs/decision")
}

// BenchmarkSustained is a decision from Add until it is written, chained, signed for and
// compressed: how many a second, and the processor time of one, which a busy machine
// does not change.
func BenchmarkSustained(b *testing.B) {
	for name, d := range map[string]Decided{"everyday": everyday(), "command of 960 bytes": decided(1, strings.Repeat("echo hello; ", 80))} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			signer, err := NewSigner(dir)
			require.NoError(b, err)
			w, err := Open(dir, Options{Sign: signer})
			require.NoError(b, err)
			d.Terms = &Terms{Wait: true}
			before := worked(b)
			for b.Loop() {
				if err := w.Add(b.Context(), d); err != nil {
					b.Fatal(err)
				}
			}
			require.NoError(b, w.Close())
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
			b.ReportMetric(float64((worked(b)-before).Nanoseconds())/1000/float64(b.N), "cpu-µs/decision")
		})
	}
}
