package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
)

// hooks are n rules as a policy: a hook each, or all in one, on the tool of the
// event.
var hooks = []struct {
	name string
	text func(n int) string
}{
	{"hooks", func(n int) string { return policyOf(regoRule, n, 1) }},
	{"one-hook", func(n int) string { return oneFile(n, 1) }},
}

// engines says once how an engine's rules are evaluated.
func engines(b *testing.B, eng *hookc.Engine) {
	counts := map[string]int{}
	for _, plan := range eng.Program().Plans {
		for _, n := range plan.Nodes {
			counts[n.Engine]++
		}
	}
	var list []string
	for name, n := range counts {
		list = append(list, fmt.Sprintf("%d %s", n, name))
	}
	slices.Sort(list)
	b.Log(strings.Join(list, ", "))
}

// topdownOnly is a compiler that makes no native code.
var topdownOnly = host.Compiler[hookc.Option](func(c *compiler.Config) { c.Without = []string{"native"} })

// into decides the event in memory that is used again.
func into(b *testing.B, eng *hookc.Engine) func() {
	memory, in := new(hookc.Reused), call().Frozen(hookc.PreToolExecution)
	return func() {
		d, err := eng.FireInto(context.Background(), hookc.PreToolExecution, in, memory)
		if err != nil || !d.Permits() || len(d.Failed) > 0 {
			b.Fatal(err, d)
		}
	}
}

// BenchmarkRatioNative is a firing of n Rego rules against OPA alone on one
// module of the same rules, and against the same engine without native code.
func BenchmarkRatioNative(b *testing.B) {
	for _, shape := range hooks {
		for _, n := range []int{1, 100} {
			b.Run(fmt.Sprintf("%s/%d/opa", shape.name, n), func(b *testing.B) {
				eng := open(b, shape.text(n))
				engines(b, eng)
				ratio(b, "fire/opa", 5, into(b, eng), bareOPA(b, module(n, 1)))
			})
			b.Run(fmt.Sprintf("%s/%d/topdown", shape.name, n), func(b *testing.B) {
				ratio(b, "native/topdown", 5, into(b, open(b, shape.text(n))), into(b, open(b, shape.text(n), topdownOnly)))
			})
		}
	}
}

// BenchmarkRatioNativeFlat is 1,000 rules of the event's tool, each with a
// literal of its own, against ten.
func BenchmarkRatioNativeFlat(b *testing.B) {
	for _, shape := range hooks {
		b.Run(shape.name, func(b *testing.B) {
			ratio(b, "1000/10", 20, into(b, open(b, shape.text(1000))), into(b, open(b, shape.text(10))))
		})
	}
}

// BenchmarkRatioSilent is an event that 1,000 hooks of one Rego rule each concern
// against one that ten do: in memory that is used again, with a Decision for the
// host to keep, which lists every hook, and where the hook in the middle denies.
func BenchmarkRatioSilent(b *testing.B) {
	fires := func(n int, denied bool, memory func() *hookc.Reused) func() {
		eng, in := open(b, policyOf(regoRule, n, 1)), call()
		if denied {
			in.Set(policy.FieldToolInput, map[string]any{"command": fmt.Sprintf("git status --short forbidden-%d", n/2)})
		}
		in = in.Frozen(hookc.PreToolExecution)
		return func() {
			d, err := eng.FireInto(context.Background(), hookc.PreToolExecution, in, memory())
			if err != nil || d.Permits() == denied || len(d.Failed) > 0 || len(d.Hooks) != n {
				b.Fatal(err, d)
			}
		}
	}
	for _, c := range []struct {
		name         string
		kept, denied bool
	}{{"reused", false, false}, {"kept", true, false}, {"reused-denied", false, true}} {
		b.Run(c.name, func(b *testing.B) {
			memory := func() func() *hookc.Reused {
				own := new(hookc.Reused)
				return func() *hookc.Reused {
					if c.kept {
						return new(hookc.Reused)
					}
					return own
				}
			}
			ratio(b, "1000/10", 20, fires(1000, c.denied, memory()), fires(10, c.denied, memory()))
		})
	}
}

// BenchmarkRatioNativeFireJSON is an event of 1.2 KB as text to a Decision by
// 100 Rego rules on its tool, in memory that is used again, against decoding it
// with the standard library and asking OPA, as its documentation has it.
func BenchmarkRatioNativeFireJSON(b *testing.B) {
	data := eventText(1)
	usual := usualOPA(b, module(100, 1))
	for _, shape := range hooks {
		b.Run(shape.name, func(b *testing.B) {
			eng := open(b, shape.text(100))
			engines(b, eng)
			memory := new(hookc.Reused)
			decide := func() {
				d, err := eng.FireJSONInto(context.Background(), hookc.PreToolExecution, data, memory)
				if err != nil || !d.Permits() || len(d.Failed) > 0 {
					b.Fatal(err, d)
				}
			}
			ratio(b, "fire-json/opa", 5, decide, func() { usual(data) })
			b.ReportMetric(testing.AllocsPerRun(100, decide), "own-allocs")
		})
	}
}
