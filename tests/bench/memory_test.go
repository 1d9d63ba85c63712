//go:build linux

package bench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// bigHooks is how many hooks the big policy has: of ten, seven are expr, two
// are scripts and one is Rego in a file of its own.
const bigHooks = 10_000

// bigPolicy is the policy of issue 5's last row: bigHooks hooks over every
// event, on a hundred tools where the event has one. It maps the names of its
// files to their text.
func bigPolicy() map[string]string {
	files := map[string]string{}
	draw, events := rand.New(rand.NewPCG(1, 2)), policy.Events()
	chains := make([]strings.Builder, len(events))
	for n := range bigHooks {
		spec := events[n%len(events)].Spec()
		field, filter := "session_id", ""
		if spec.CanRead(policy.FieldToolName) {
			field, filter = "tool_name", fmt.Sprintf("filter: {tool_name: Tool%d}, ", draw.IntN(100))
		}
		says, body := "message", fmt.Sprintf(`set: {system_message: '%s contains "forbidden-%d" ? "no" : nil'}`, field, n)
		if spec.Powers.Has(policy.MayDeny) {
			says, body = "deny", fmt.Sprintf(`deny: '%s contains "forbidden-%d"', reason: "no"`, field, n)
		}
		switch n / len(events) % 10 {
		case 0:
			name := fmt.Sprintf("rules/r%d.rego", n)
			body = "file: " + name
			files[name] = fmt.Sprintf("package rules.r%d\n\n# number %d\nmust_not if contains(input.%s, \"forbidden-%d\")\n\n%s contains \"no\" if must_not\n", n, n, field, n, says)
		case 1, 2:
			body = `command: "echo '{}'", writes: [], may: [], world: read`
		}
		fmt.Fprintf(&chains[n%len(events)], "  - {name: r%d, %s%s}\n", n, filter, body)
	}
	var all strings.Builder
	for i, event := range events {
		fmt.Fprintf(&all, "%s:\n%s", event, chains[i].String())
	}
	files["hooks.yaml"] = all.String()
	return files
}

// memoryOf is what a process holds of real memory and has held at most, in MiB.
func memoryOf(b *testing.B, pid int) (now, most float64) {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[2] != "kB" {
			continue
		}
		kib, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			b.Fatal(err)
		}
		switch fields[0] {
		case "VmRSS:":
			now = kib / 1024
		case "VmHWM:":
			most = kib / 1024
		}
	}
	return now, most
}

// settling is how long a server is left alone before what it holds is taken for
// what it goes on holding.
const settling = 3 * time.Second

// BenchmarkRatioBigPolicy is what a thousand Rego files and ten thousand hooks
// cost: how long hookc compile takes, without and with translation validation;
// and from the start of hookc serve how long the first answer takes, what a
// later one does, and the memory the server holds: with one event's plan, with
// those of every event Claude Code has, and at most on the way.
func BenchmarkRatioBigPolicy(b *testing.B) {
	r := newGateRig(b)
	for name, text := range bigPolicy() {
		r.write(b, filepath.Join("project", name), text)
	}
	claude, err := agent.Find("claude")
	if err != nil {
		b.Fatal(err)
	}
	figures := map[string][]float64{}
	note := func(unit string, value float64) { figures[unit] = append(figures[unit], value) }
	timed := func(unit string, size time.Duration, do func()) {
		start := time.Now()
		do()
		note(unit, float64(time.Since(start))/float64(size))
	}
	run := func(name string, stdin []byte, args ...string) {
		cmd := r.command(filepath.Join(r.dir, name), args...)
		cmd.Stdin = bytes.NewReader(stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
	}
	for b.Loop() {
		timed("compile-s", time.Second, func() { run("hookc", nil, "compile", "hooks.yaml", "--without", "verify") })
		timed("compile-verify-s", time.Second, func() { run("hookc", nil, "compile", "hooks.yaml") })
		pid, end := r.serve(b)
		asked := 0
		ask := func(event policy.Event) {
			native := claude.Can(event)[0].Native
			run("hookgate", claude.Sample(native, "Tool1", filepath.Join(r.dir, "project")), native, "--dialect", "claude", "--deadline", "5m")
			asked++
		}
		peak := 0.0
		held := func(unit string) {
			now, most := memoryOf(b, pid)
			note(unit, now)
			peak = most
		}
		held("empty-MiB")
		timed("first-answer-s", time.Second, func() { ask(policy.PreToolExecution) })
		held("one-event-MiB")
		time.Sleep(settling)
		held("one-event-settled-MiB")
		for range 20 {
			timed("later-answer-ms", time.Millisecond, func() { ask(policy.PreToolExecution) })
		}
		for _, event := range policy.Events() {
			if event != policy.PreToolExecution && len(claude.Can(event)) > 0 {
				ask(event)
			}
		}
		held("all-events-MiB")
		time.Sleep(settling)
		held("all-events-settled-MiB")
		note("peak-MiB", peak)
		r.answered(b, asked)
		end()
	}
	for unit, all := range figures {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], unit)
	}
}
