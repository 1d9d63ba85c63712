package bench

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
)

// The ratios compare two things of one binary in one run, turn by turn, so
// that a slow machine or a busy one slows both.

// ratio reports how many times longer x takes than y: the median over rounds,
// each running turns times the one and then the other. A round in which the
// machine had something else to do is one of few that are not in the middle.
func ratio(b *testing.B, unit string, turns int, x, y func()) {
	x()
	y()
	var rounds []float64
	for b.Loop() {
		start := time.Now()
		for range turns {
			x()
		}
		middle := time.Now()
		for range turns {
			y()
		}
		rounds = append(rounds, float64(middle.Sub(start))/float64(time.Since(middle)))
	}
	slices.Sort(rounds)
	b.ReportMetric(rounds[len(rounds)/2], unit)
}

// BenchmarkRatioSerial is the executor against the serial definition, for 30
// rules of one tool.
func BenchmarkRatioSerial(b *testing.B) {
	for _, kind := range kinds {
		b.Run(kind.name, func(b *testing.B) {
			eng, in := open(b, policyOf(kind.rule, 30, 1)), call()
			ratio(b, "fire/serial", 10, func() { fire(b, eng, in) }, func() {
				d, err := eng.FireSerial(context.Background(), hookc.PreToolExecution, in)
				if err != nil || !d.Permits() {
					b.Fatal(err, d)
				}
			})
		})
	}
}

// BenchmarkRatioSpread is 1,000 rules of which a tenth is on the tool, against
// 1,000 that all are.
func BenchmarkRatioSpread(b *testing.B) {
	for _, kind := range kinds {
		b.Run(kind.name, func(b *testing.B) {
			spread, same, in := open(b, policyOf(kind.rule, 1000, 10)), open(b, policyOf(kind.rule, 1000, 1)), call()
			ratio(b, "10-tools/same-tool", 1, func() { fire(b, spread, in) }, func() { fire(b, same, in) })
		})
	}
}

// BenchmarkRatioKinds is 30 Rego rules against 30 expr rules that say the
// same.
func BenchmarkRatioKinds(b *testing.B) {
	rego, expr, in := open(b, policyOf(regoRule, 30, 1)), open(b, policyOf(exprRule, 30, 1)), call()
	ratio(b, "rego/expr", 5, func() { fire(b, rego, in) }, func() { fire(b, expr, in) })
}

// BenchmarkRatioNode is what a node costs beyond its body: a hundred bodies
// that do nothing as nodes of a plan, less what an event with one such node
// costs, against a plain loop that calls them. The Decision is in memory that is
// used again.
func BenchmarkRatioNode(b *testing.B) {
	const nodes = 100
	many, one := open(b, policyOf(silentRule, nodes+1, 1)), open(b, policyOf(silentRule, 1, 1))
	in := call()
	frozen := in.Frozen(hookc.PreToolExecution)
	runners := make([]policy.Runner, nodes)
	for i := range runners {
		runners[i] = silent
	}
	loop := func() {
		for _, r := range runners {
			if _, err := r.Run(context.Background(), frozen, 0); err != nil {
				b.Fatal(err)
			}
		}
	}
	const turns = 10
	fire(b, many, in)
	fire(b, one, in)
	var long, short, plain time.Duration
	into := func(eng *hookc.Engine) func() {
		memory := new(hookc.Reused)
		return func() {
			if d, err := eng.FireInto(context.Background(), hookc.PreToolExecution, frozen, memory); err != nil || !d.Permits() {
				b.Fatal(err, d)
			}
		}
	}
	manyInto, oneInto := into(many), into(one)
	for b.Loop() {
		marks := [4]time.Time{time.Now()}
		for i, f := range []func(){manyInto, oneInto, loop} {
			for range turns {
				f()
			}
			marks[i+1] = time.Now()
		}
		long += marks[1].Sub(marks[0])
		short += marks[2].Sub(marks[1])
		plain += marks[3].Sub(marks[2])
	}
	calls := float64(b.N) * turns * nodes
	b.ReportMetric(float64(long-short-plain)/calls, "overhead-ns/node")
	b.ReportMetric(float64(plain)/calls, "loop-ns/node")
}
