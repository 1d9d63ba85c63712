package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/builtins/secret"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// guard makes a builtin guard ready, in the place of the labelled cases.
func guard(b *testing.B, use string, options ...policy.Option) policy.Runner {
	b.Helper()
	b.Setenv("HOME", "/home/dev")
	rules := builtins.Rules()
	i := slices.IndexFunc(rules, func(r rule.Rule) bool { return r.Name == use })
	made, found := rules[i].Make(&policy.Hook{Name: use, Event: policy.PreToolExecution, Kind: policy.KindBuiltin,
		Body: policy.Body{Use: diag.Literal(use), Options: options}})
	if found.HasErrors() {
		b.Fatal(found)
	}
	return made.Runner
}

func everyPack() policy.Option { return policy.Option{Key: diag.Literal("packs"), Value: "all"} }

// bashCall is a shell call as an engine hands it to a rule: nothing derived is
// known yet.
func bashCall(command, cwd string) *policy.Context {
	return policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Bash").
		Set(policy.FieldToolInput, map[string]any{"command": command}).
		Set(policy.FieldCwd, cwd).Set(policy.FieldProjectRoot, "/home/dev/project")
}

// guardCases are the labelled cases, each as a call.
func guardCases(b *testing.B) (commands, cwds []string) {
	b.Helper()
	f, err := os.Open("../guard/cases.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c struct{ Command, Cwd string }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			b.Fatal(err)
		}
		commands, cwds = append(commands, c.Command), append(cwds, c.Cwd)
	}
	return commands, cwds
}

// BenchmarkGuardCases is a guard on the labelled cases, parsing included: the
// mean, and the median and the 99th percentile of the cases, each by the
// fastest of its runs.
func BenchmarkGuardCases(b *testing.B) {
	for _, use := range []string{"shell-guard", "path-guard", "secret-guard"} {
		b.Run(use, func(b *testing.B) {
			var options []policy.Option
			if use == "shell-guard" {
				options = append(options, everyPack())
			}
			g := guard(b, use, options...)
			commands, cwds := guardCases(b)
			best := make([]time.Duration, len(commands))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				at := i % len(commands)
				in := bashCall(commands[at], cwds[at])
				start := time.Now()
				if _, err := g.Run(context.Background(), in, 0); err != nil {
					b.Fatal(err)
				}
				if took := time.Since(start); best[at] == 0 || took < best[at] {
					best[at] = took
				}
			}
			seen := slices.DeleteFunc(best, func(d time.Duration) bool { return d == 0 })
			slices.Sort(seen)
			b.ReportMetric(float64(seen[len(seen)/2].Nanoseconds())/1e3, "p50-µs")
			b.ReportMetric(float64(seen[len(seen)*99/100].Nanoseconds())/1e3, "p99-µs")
		})
	}
}

// BenchmarkGuardEveryday is a command of the kind that agents run all day.
func BenchmarkGuardEveryday(b *testing.B) {
	g := guard(b, "shell-guard", everyPack())
	b.ReportAllocs()
	for b.Loop() {
		r, err := g.Run(context.Background(), bashCall("cd packages/web && npm ci && npm test 2>&1 | tail -20", "/home/dev/project"), 0)
		if err != nil || r.Verdict != policy.None {
			b.Fatal(err, r)
		}
	}
}

// BenchmarkGuardHostile are command lines of 128 KiB that are made to be dear.
func BenchmarkGuardHostile(b *testing.B) {
	g := guard(b, "shell-guard", everyPack())
	const size = 128 << 10
	for _, bench := range []struct{ name, unit string }{
		{"commands", "rm -rf a; "}, {"substitutions", "$("}, {"groups", "("}, {"braces", "{a,b}"}, {"variables", "a=$a$a;"}, {"heredocs", "cat <<E\nx\nE\n"},
		{"nested-code", "bash -c 'bash -c \"x\"';"}, {"loops", "for i in 1 2 3; do x; done;"}, {"functions", "f(){ f; };f;"}, {"globs", "*?[a] "}, {"quotes", "'\"\\"},
		{"python", "python3 -c \"import os; os.system('x')\";"}, {"pipes", "x|"}, {"git", "git push -f;"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			line := strings.Repeat(bench.unit, size/len(bench.unit))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := g.Run(context.Background(), bashCall(line, "/home/dev/project"), 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSecretFind is a text of 128 KiB without and with a secret.
func BenchmarkSecretFind(b *testing.B) {
	text := strings.Repeat("func main() { fmt.Println(\"hello, world\") } // a line of code\n", 128<<10/64)
	for _, bench := range []struct{ name, text string }{{"none", text}, {"one", text + "key AKIAIQKWP5GZ7ZRNLOEV\n"}} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := secret.Find(bench.text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
