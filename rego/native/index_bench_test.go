package native

import (
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
)

// tooled is n rules, each for a tool of its own: equality alone.
func tooled(n int) *maker {
	m := &maker{}
	tool := m.path("tool_name")
	rules := [][]Stmt{{{Op: OpMakeSet, Target: out, Place: -1}}}
	for i := range n {
		rules = append(rules, []Stmt{in(4, tool), eq(l(4), m.c("Tool"+strconv.Itoa(i))), put(m.c("no"))})
	}
	m.fn("deny", 2, rules...)
	return m
}

// asker evaluates once.
type asker func() (fired bool)

func indexed(tb testing.TB, m *maker, in Input) asker {
	code := m.link(tb).Index()
	var machine Machine
	return func() bool {
		v, ok, err := code.Eval(&machine, 0, in)
		return err != nil || !ok || Len(v) > 0
	}
}

func fusedHooks(tb testing.TB, n int, in Input) asker {
	f := NewFused(hooks(tb, n))
	m := &FusedMachine{}
	return func() bool { return len(f.Eval(m, in, nil)) > 0 }
}

// BenchmarkIndex: what does not fire costs alike however many rules there are.
// "/10" is the time against ten, interleaved in this run.
func BenchmarkIndex(b *testing.B) {
	shapes := []struct {
		name string
		in   slots
		make func(tb testing.TB, n int, in Input) asker
	}{
		{"literals", slots{"Bash", harmless}, func(tb testing.TB, n int, in Input) asker { return indexed(tb, guardrails(n), in) }},
		{"other tool", slots{"Read", harmless}, func(tb testing.TB, n int, in Input) asker { return indexed(tb, guardrails(n), in) }},
		{"tools", slots{"Bash"}, func(tb testing.TB, n int, in Input) asker { return indexed(tb, tooled(n), in) }},
		{"hooks", slots{"Bash", harmless}, fusedHooks},
	}
	for _, shape := range shapes {
		ten := shape.make(b, 10, &shape.in)
		for _, n := range []int{10, 100, 1000, 10000} {
			b.Run(shape.name+"="+strconv.Itoa(n), func(b *testing.B) {
				many := shape.make(b, n, &shape.in)
				b.ReportAllocs()
				ratios := make([]float64, 0, 10000)
				for b.Loop() {
					ratios = append(ratios[:min(len(ratios), 9999)], ratio(b, many, ten))
				}
				slices.Sort(ratios)
				b.ReportMetric(ratios[len(ratios)/2], "/10")
			})
		}
	}
}

// ratio times both, one after the other.
func ratio(b *testing.B, x, y asker) float64 {
	start := time.Now()
	fired := x()
	middle := time.Now()
	fired = y() || fired
	end := time.Now()
	if fired {
		b.Fatal("a rule fired")
	}
	return float64(middle.Sub(start)) / float64(end.Sub(middle))
}

// BenchmarkIndexBuild: what an index costs to make and to keep, a rule.
func BenchmarkIndexBuild(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run("literals="+strconv.Itoa(n), func(b *testing.B) {
			code := guardrails(n).link(b)
			before := heap()
			code.Index()
			kept := heap() - before
			for b.Loop() {
				code.Index()
			}
			b.ReportMetric(float64(kept)/float64(n), "B/rule")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/rule")
		})
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}
