package bench

import (
	"fmt"
	"testing"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
)

var sizes = []int{1, 30, 100, 1000}

// BenchmarkFire decides one event with n rules, one hook each: all on the tool
// of the event, or spread over ten tools.
func BenchmarkFire(b *testing.B) {
	for _, kind := range kinds {
		for _, spread := range []struct {
			name  string
			tools int
		}{{"same-tool", 1}, {"10-tools", 10}} {
			for _, n := range sizes {
				b.Run(fmt.Sprintf("%s/%s/%d", kind.name, spread.name, n), func(b *testing.B) {
					eng := open(b, policyOf(kind.rule, n, spread.tools))
					in := call()
					fire(b, eng, in)
					b.ReportAllocs()
					for b.Loop() {
						fire(b, eng, in)
					}
				})
			}
		}
	}
}

// BenchmarkFireWithoutProjectRoot is one expr rule for a host that sends cwd
// alone: the project's root is looked for on disk.
func BenchmarkFireWithoutProjectRoot(b *testing.B) {
	eng := open(b, policyOf(exprRule, 1, 1))
	in := call().Set(policy.FieldProjectRoot, nil)
	b.ReportAllocs()
	for b.Loop() {
		fire(b, eng, in)
	}
}

// BenchmarkFireNoHook is an event that no hook is on.
func BenchmarkFireNoHook(b *testing.B) {
	eng := open(b, "{}")
	in := call()
	b.ReportAllocs()
	for b.Loop() {
		fire(b, eng, in)
	}
}

// BenchmarkFireBash is one script: what a process costs.
func BenchmarkFireBash(b *testing.B) {
	eng := open(b, policyOf(bashRule, 1, 1))
	in := callIn(b.TempDir())
	b.ReportAllocs()
	for b.Loop() {
		fire(b, eng, in)
	}
}

// BenchmarkFireParallel is 30 expr rules from as many goroutines as there are
// cores.
func BenchmarkFireParallel(b *testing.B) {
	eng := open(b, policyOf(exprRule, 30, 1))
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		in := call()
		for pb.Next() {
			fire(b, eng, in)
		}
	})
}

// BenchmarkAvailable is the question whether any hook can match a tool.
func BenchmarkAvailable(b *testing.B) {
	eng := open(b, policyOf(exprRule, 1000, 10))
	for b.Loop() {
		if eng.Available(hookc.PreToolExecution, "Read") {
			b.Fatal("no hook is on Read")
		}
	}
}
