package bench

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
)

// BenchmarkRatioSelfGuard is a call with the guard that hookc adds of itself, and
// the same call without it: 30 expr rules of which one is locked, which brings
// that guard, and the same rules with none locked. The median of the rounds of
// each is told beside the ratio.
func BenchmarkRatioSelfGuard(b *testing.B) {
	write := call().Set(policy.FieldToolName, "Write").
		Set(policy.FieldToolInput, map[string]any{"file_path": "/repo/main.go", "content": "package main\n"})
	for _, bench := range []struct {
		name string
		in   *policy.Context
	}{{"Bash", call()}, {"Write", write}} {
		b.Run(bench.name, func(b *testing.B) {
			text := policyOf(exprRule, 30, 1)
			with, without := open(b, strings.Replace(text, "{name: r0,", "{name: r0, locked: true,", 1)), open(b, text)
			if guarded, bare := owns(with), owns(without); !guarded || bare {
				b.Fatal("the guard is not where it is to be: ", guarded, bare)
			}
			const turns = 20
			var guarded, bare []float64
			times := func(eng *hookc.Engine) float64 {
				start := time.Now()
				for range turns {
					fire(b, eng, bench.in)
				}
				return float64(time.Since(start)) / turns
			}
			times(with)
			times(without)
			var ratios []float64
			for b.Loop() {
				x, y := times(with), times(without)
				guarded, bare, ratios = append(guarded, x), append(bare, y), append(ratios, x/y)
			}
			for unit, of := range map[string][]float64{"with-ns": guarded, "without-ns": bare, "with/without": ratios} {
				slices.Sort(of)
				b.ReportMetric(of[len(of)/2], unit)
			}
		})
	}
}

// owns reports whether hookc's own guard is among the hooks of a tool's call.
func owns(eng *hookc.Engine) bool {
	for _, n := range eng.Program().Plan(hookc.PreToolExecution).Nodes {
		if hookc.Own(n.Hook) {
			return true
		}
	}
	return false
}
