package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
)

// nap is a script that takes 20 ms.
func nap(n int, declared string) string {
	return fmt.Sprintf("  - {name: s%d, command: \"sleep 0.02; echo '{}'\"%s}\n", n, declared)
}

func five(hook func(n int, declared string) string, declared string) string {
	var b strings.Builder
	b.WriteString("pre_tool_execution:\n")
	for n := range 5 {
		b.WriteString(hook(n, declared))
	}
	return b.String()
}

const (
	observing   = ", world: read, writes: [], may: []"
	speculating = ", world: read, writes: [], may: [deny], speculative: true, on_error: deny"
)

// BenchmarkRatioWall is the wall time of five scripts of 20 ms, in units of
// what the slowest of the same five took: 1 is perfect concurrency, 5 none.
// Both are of one firing, so a slow machine slows both.
func BenchmarkRatioWall(b *testing.B) {
	for _, c := range []struct{ name, declared string }{{"observers", observing}, {"speculative-guards", speculating}, {"undeclared", ""}} {
		b.Run(c.name, func(b *testing.B) {
			eng, in := open(b, five(nap, c.declared)), callIn(b.TempDir())
			var ratios []float64
			for b.Loop() {
				begun := time.Now()
				d, err := eng.Fire(context.Background(), hookc.PreToolExecution, in)
				wall := time.Since(begun)
				if err != nil || !d.Permits() || len(d.Failed) > 0 {
					b.Fatal(err, d)
				}
				slowest := slices.MaxFunc(d.Hooks, func(x, y policy.HookTrace) int { return int(x.Micros - y.Micros) })
				ratios = append(ratios, float64(wall.Microseconds())/float64(slowest.Micros))
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "wall/slowest")
			b.ReportMetric(ratios[len(ratios)*95/100], "wall/slowest-p95")
			reportQuantiles(b, eng)
		})
	}
}

// reportQuantiles shows what Metrics says of the scripts, which take 20 ms and
// what it takes to start a shell.
func reportQuantiles(b *testing.B, eng *hookc.Engine) {
	list := eng.Metrics().List()
	for _, m := range list {
		if m.Runs != m.OK || m.P50 < 20*time.Millisecond || m.P95 < m.P50 || m.Total < time.Duration(m.Runs)*20*time.Millisecond {
			b.Fatalf("%+v", m)
		}
	}
	b.ReportMetric(float64(list[0].P50.Microseconds())/1000, "hook-p50-ms")
	b.ReportMetric(float64(list[0].P95.Microseconds())/1000, "hook-p95-ms")
}

// BenchmarkRatioDenyToGone is the time from the Decision of a guard that denies
// while five speculative guards are running until the last process of theirs
// is reaped: of scripts that end when told to, and of those that must be
// killed, which they are 250 ms later. The Decision waits for neither.
func BenchmarkRatioDenyToGone(b *testing.B) {
	for _, c := range []struct{ name, script string }{
		{"obedient", "exec sleep 60"},
		{"stubborn", "trap '' TERM; while :; do sleep 1; done"},
	} {
		b.Run(c.name, func(b *testing.B) {
			dir := b.TempDir()
			sibling := func(n int, declared string) string {
				return fmt.Sprintf("  - {name: s%[1]d, command: \"echo $$ >%[2]s/%[1]d; mv %[2]s/%[1]d %[2]s/pid%[1]d; %[3]s\", timeout: 60%[4]s}\n", n, dir, c.script, declared)
			}
			text := five(sibling, speculating)
			first := fmt.Sprintf(`  - {name: no, command: "until [ $(ls %s | grep -c pid) = 5 ]; do sleep 0.002; done; echo '{\"decision\":\"deny\"}'", timeout: 60, world: read, writes: [], may: [deny]}`+"\n", dir)
			eng, in := open(b, strings.Replace(text, "\n", "\n"+first, 1)), callIn(b.TempDir())
			var gone time.Duration
			for b.Loop() {
				d, err := eng.Fire(context.Background(), hookc.PreToolExecution, in)
				if err != nil || d.Action != policy.Block {
					b.Fatal(err, d)
				}
				begun := time.Now()
				for n := range 5 {
					awaitGone(b, filepath.Join(dir, fmt.Sprint("pid", n)))
				}
				gone += time.Since(begun)
			}
			b.ReportMetric(float64(gone.Microseconds())/1000/float64(b.N), "deny-to-gone-ms")
		})
	}
}

// awaitGone waits until the process whose id a file holds is reaped, and
// removes the file.
func awaitGone(b *testing.B, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	id, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		b.Fatal(err)
	}
	p, err := os.FindProcess(id)
	for err == nil {
		if err = p.Signal(syscall.Signal(0)); err == nil {
			time.Sleep(100 * time.Microsecond)
		}
	}
	if !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH) {
		b.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRatioHaltAtSlotZero is how many processes an event costs whose
// first rule denies: those after it are undeclared scripts, or speculative
// ones, which may start early but not after a known halt.
func BenchmarkRatioHaltAtSlotZero(b *testing.B) {
	var scripts strings.Builder
	for n := range 4 {
		scripts.WriteString(nap(n, speculating))
	}
	for _, c := range []struct{ name, text string }{
		{"before-undeclared", "pre_tool_execution:\n  - {name: no, deny: 'command != \"\"', reason: no}\n" + five(nap, "")[len("pre_tool_execution:\n"):]},
		{"before-speculative", "pre_tool_execution:\n  - {name: no, deny: 'command != \"\"', reason: no}\n" + scripts.String()},
	} {
		b.Run(c.name, func(b *testing.B) {
			var started atomic.Int64
			eng, in := open(b, c.text, host.Debug[hookc.Option](func(runner.DebugRecord) { started.Add(1) })), callIn(b.TempDir())
			for b.Loop() {
				d, err := eng.Fire(context.Background(), hookc.PreToolExecution, in)
				if err != nil || d.By != "no" {
					b.Fatal(err, d)
				}
			}
			for _, m := range eng.Metrics().List() {
				if m.Hook != "no" && m.Runs > 0 {
					b.Fatalf("%+v", m)
				}
			}
			b.ReportMetric(float64(started.Load())/float64(b.N), "processes/op")
		})
	}
}

// BenchmarkRatioInlineNodes is a plan of in-process rules that do nothing: the
// goroutines it starts, and the time a node takes.
func BenchmarkRatioInlineNodes(b *testing.B) {
	for _, n := range []int{30, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			eng, one, in := open(b, policyOf(silentRule, n+1, 1)), open(b, policyOf(silentRule, 1, 1)), call()
			fire(b, eng, in)
			fire(b, one, in)
			var many, single time.Duration
			before := goroutinesCreated()
			for b.Loop() {
				begun := time.Now()
				fire(b, eng, in)
				middle := time.Now()
				fire(b, one, in)
				many += middle.Sub(begun)
				single += time.Since(middle)
			}
			b.ReportMetric(float64(goroutinesCreated()-before)/float64(b.N), "goroutines/op")
			b.ReportMetric(float64(many-single)/float64(b.N)/float64(n), "ns/node")
		})
	}
}

func goroutinesCreated() uint64 {
	sample := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestUndeclaredScriptsSayWhatToDeclare: five undeclared scripts run one after
// another, as the order of their effects demands; compile says what would let
// them run together, and explain shows the edges that keep them apart.
func TestUndeclaredScriptsSayWhatToDeclare(t *testing.T) {
	program := compiled(t, five(nap, ""))
	var hints []string
	for _, d := range program.Diagnostics {
		if d.Code.ID == "HK210" {
			hints = append(hints, d.Text)
		}
	}
	if len(hints) != 1 || !strings.Contains(hints[0], "`writes: [], may: [], world: read`") {
		t.Errorf("hints: %q", hints)
	}
	plan := program.Plan(hookc.PreToolExecution)
	for i := 1; i < 5; i++ {
		if !slices.Contains(plan.Nodes[i].Wait, i-1) {
			t.Errorf("node %d does not wait for %d: %v", i, i-1, plan.Nodes[i].Wait)
		}
	}
	for _, declared := range []string{observing, speculating} {
		program := compiled(t, five(nap, declared))
		for i, n := range program.Plan(hookc.PreToolExecution).Nodes {
			if len(n.Wait) > 0 || n.Gate >= 0 {
				t.Errorf("%s: node %d waits for %v, gate %d", declared, i, n.Wait, n.Gate)
			}
		}
		for _, d := range program.Diagnostics {
			if d.Code.ID == "HK210" {
				t.Errorf("%s: %s", declared, d.Text)
			}
		}
	}
}

func compiled(t *testing.T, text string) *dag.Program {
	t.Helper()
	program, found := hookc.Compile(hookc.Text("hooks.yaml", text), host.Compiler[hookc.Option](func(c *compiler.Config) { c.Hints = true }))
	if found.HasErrors() {
		t.Fatal(found.Render())
	}
	return program
}
