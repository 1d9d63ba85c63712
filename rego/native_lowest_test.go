package rego

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hookc/hookc/policy"
)

// BenchmarkNativeLowest is what compares two commits: the time of an evaluation in
// the shortest of many short rounds, in which nothing else ran. Run the test binaries
// of both by turns.
func BenchmarkNativeLowest(b *testing.B) {
	rules := func(name, text, command string, turns int) {
		b.Run(name, func(b *testing.B) {
			eval, _ := nativeRules(b, text, commandInput(command))
			lowest(b, turns, eval)
		})
	}
	rules("rule/miss", literalRules(1), harmless, 200)
	rules("rule/hit", literalRules(1), forbidden, 200)
	rules("hundred/miss", literalRules(100), harmless, 100)
	rules("hundred/hit", literalRules(100), forbidden, 100)
	rules("rich/miss", richRules, harmless, 20)
	rules("rich/hit", richRules, forcePush, 20)
	rules("helpers/miss", helperRules(100), harmless, 50)
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint("hook/", n), func(b *testing.B) {
			own, engine := compiled(b, inline("rules", policy.PreToolExecution, literalRules(n))).Native()
			if own == nil {
				b.Fatal(engine)
			}
			event := bash(harmless)
			lowest(b, 100, func() {
				if r, err := own.Tell(context.Background(), event, 0); r != nil || err != nil {
					b.Fatal(r, err)
				}
			})
		})
	}
}

func lowest(b *testing.B, turns int, f func()) {
	f()
	shortest := time.Hour
	for b.Loop() {
		start := time.Now()
		for range turns {
			f()
		}
		shortest = min(shortest, time.Since(start))
	}
	b.ReportMetric(float64(shortest)/float64(turns), "lowest-ns")
}
