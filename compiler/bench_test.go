package compiler

import (
	"fmt"
	"testing"

	"github.com/hookc/hookc/policy"
)

// BenchmarkCompile measures the passes alone: bodies cost nothing here.
func BenchmarkCompile(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		for name, kind := range map[string]policy.Kind{"expr": expr, "opaque": bash} {
			b.Run(fmt.Sprintf("%s-%d", name, n), func(b *testing.B) {
				make := newBench()
				for i := range n {
					make.add(fmt.Sprintf("h%d", i), kind, sees("tool_input.command", "tool_name"), says(policy.MayDeny),
						filter(policy.FilterToolMatcher, "Bash|Shell"), onError(policy.OnErrorDeny))
				}
				for b.Loop() {
					if p, found := make.try(); p == nil {
						b.Fatal(found.Render())
					}
				}
			})
		}
	}
}
