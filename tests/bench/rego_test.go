package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/rego"
)

// module is the rules of policyOf(regoRule, n, tools) as one module, which
// tests the tool itself.
func module(n, tools int) string {
	var b strings.Builder
	b.WriteString("package rules\n")
	for i := range n {
		tool := "Bash"
		if i%tools > 0 {
			tool = fmt.Sprintf("Tool%d", i%tools)
		}
		fmt.Fprintf(&b, "deny contains \"no %d\" if { input.tool_name == %q; contains(input.tool_input.command, \"forbidden-%d\") }\n", i, tool, i)
	}
	return b.String()
}

// oneFile is the same as one hook.
func oneFile(n, tools int) string {
	text := strings.ReplaceAll(strings.TrimSuffix(module(n, tools), "\n"), "\n", "\n      ")
	return "pre_tool_execution:\n  - name: all\n    source: |\n      " + text + "\n"
}

// bareOPA evaluates a module by OPA alone with everything off that can be: a
// parsed input, no metrics, a cancel of its own, a transaction that is held.
func bareOPA(b *testing.B, text string) func() {
	b.Helper()
	ctx, store := b.Context(), inmem.New()
	txn, err := store.NewTransaction(ctx)
	if err != nil {
		b.Fatal(err)
	}
	query, err := opa.New(opa.Query("data.rules.deny"), opa.Module("rules.rego", text), opa.Store(store), opa.Transaction(txn)).PrepareForEval(ctx)
	if err != nil {
		b.Fatal(err)
	}
	in := call()
	args, _ := in.Get(policy.FieldToolInput)
	input := ast.MustInterfaceToValue(map[string]any{"tool_name": in.Text(policy.FieldToolName), "tool_input": args})
	cancel := topdown.NewCancel()
	return func() {
		out, err := query.Eval(ctx, opa.EvalParsedInput(input), opa.EvalMetrics(metrics.NoOp()), opa.EvalTransaction(txn), opa.EvalExternalCancel(cancel))
		if err != nil || len(out) != 1 || len(out[0].Expressions[0].Value.([]any)) != 0 {
			b.Fatal(err, out)
		}
	}
}

// spreads are how rules are spread over tools.
var spreads = []struct {
	name  string
	tools int
}{{"same-tool", 1}, {"10-tools", 10}}

// BenchmarkRatioEngine is a whole firing of n Rego hooks against OPA alone on
// one module of the same rules. Both begin with a decoded event; OPA's is a
// Rego value already, which the firing makes of what its rules read.
func BenchmarkRatioEngine(b *testing.B) {
	for _, spread := range spreads {
		for _, n := range []int{1, 30, 100, 1000} {
			b.Run(fmt.Sprintf("%s/%d", spread.name, n), func(b *testing.B) {
				eng, in := open(b, policyOf(regoRule, n, spread.tools)), call().Frozen(hookc.PreToolExecution)
				var memory hookc.Reused
				ratio(b, "fire/opa", 5, func() {
					d, err := eng.FireInto(context.Background(), hookc.PreToolExecution, in, &memory)
					if err != nil || !d.Permits() || len(d.Failed) > 0 {
						b.Fatal(err, d)
					}
				}, bareOPA(b, module(n, spread.tools)))
			})
		}
	}
}

// BenchmarkRatioEyes is a whole firing of n Rego hooks that a second pair of eyes
// looks at, all paths of which were looked at, against the same without eyes.
func BenchmarkRatioEyes(b *testing.B) {
	for _, spread := range spreads {
		for _, n := range []int{1, 30, 100, 1000} {
			b.Run(fmt.Sprintf("%s/%d", spread.name, n), func(b *testing.B) {
				again := func(options ...hookc.Option) func() {
					eng, in, memory := open(b, policyOf(regoRule, n, spread.tools), options...), call().Frozen(hookc.PreToolExecution), new(hookc.Reused)
					return func() {
						if d, err := eng.FireInto(b.Context(), hookc.PreToolExecution, in, memory); err != nil || !d.Permits() || len(d.Failed) > 0 {
							b.Fatal(err, d)
						}
					}
				}
				e := rego.NewEyes(false, nil, nil)
				watched, not := again(hookc.SkipVerify(), host.Eyes[hookc.Option](e)), again(hookc.SkipVerify())
				for range 200 {
					watched()
					not()
					e.Close()
				}
				best(b, "watched/not", 20, watched, not)
			})
		}
	}
}

// BenchmarkRatioEyesText is the same from an event as text, which is decoded, to a
// Decision that the host keeps.
func BenchmarkRatioEyesText(b *testing.B) {
	data := eventText(1)
	e := rego.NewEyes(false, nil, nil)
	again := func(options ...hookc.Option) func() {
		eng := open(b, policyOf(regoRule, 100, 10), options...)
		return func() {
			if d, err := eng.FireJSON(b.Context(), hookc.PreToolExecution, data); err != nil || !d.Permits() || len(d.Failed) > 0 {
				b.Fatal(err, d)
			}
		}
	}
	watched, not := again(hookc.SkipVerify(), host.Eyes[hookc.Option](e)), again(hookc.SkipVerify())
	for range 200 {
		watched()
		not()
		e.Close()
	}
	best(b, "watched/not", 20, watched, not)
}

// best reports how much longer x takes than y where nothing disturbs them: the
// shortest of many short rounds of each, by turns.
func best(b *testing.B, unit string, turns int, x, y func()) {
	x()
	y()
	lowest := [2]time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		for i, f := range []func(){x, y} {
			start := time.Now()
			for range turns {
				f()
			}
			lowest[i] = min(lowest[i], time.Since(start))
		}
	}
	b.ReportMetric(float64(lowest[0])/float64(lowest[1]), unit)
	b.ReportMetric(float64(lowest[1])/float64(turns), "ns/event")
}

// BenchmarkRatioFiles is a hundred hooks of one Rego rule each against one
// hook of the same hundred rules.
func BenchmarkRatioFiles(b *testing.B) {
	for _, spread := range spreads {
		b.Run(spread.name, func(b *testing.B) {
			many, one, in := open(b, policyOf(regoRule, 100, spread.tools)), open(b, oneFile(100, spread.tools)), call()
			ratio(b, "files/one", 5, func() { fire(b, many, in) }, func() { fire(b, one, in) })
		})
		b.Run(spread.name+"-reused", func(b *testing.B) {
			again := func(text string) func() {
				eng, in, own := open(b, text), call().Frozen(hookc.PreToolExecution), new(hookc.Reused)
				return func() {
					if d, err := eng.FireInto(b.Context(), hookc.PreToolExecution, in, own); err != nil || !d.Permits() {
						b.Fatal(err, d)
					}
				}
			}
			ratio(b, "files/one", 20, again(policyOf(regoRule, 100, spread.tools)), again(oneFile(100, spread.tools)))
		})
	}
}

// BenchmarkRatioFused is n Rego hooks fused against the same hooks each in a
// query of its own.
func BenchmarkRatioFused(b *testing.B) {
	for _, n := range []int{2, 30, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text, in := policyOf(regoRule, n, 1), call()
			fused := open(b, text)
			single := open(b, text, host.Compiler[hookc.Option](func(c *compiler.Config) { c.Without = []string{"fuse"} }))
			ratio(b, "fused/single", 2, func() { fire(b, fused, in) }, func() { fire(b, single, in) })
		})
	}
}

// usualOPA decides an event as text as OPA's own documentation has it: the
// standard library's decoder, a query of the module's rules that is prepared
// once, and its defaults.
func usualOPA(b *testing.B, text string) func(data []byte) {
	b.Helper()
	ctx := b.Context()
	query, err := opa.New(opa.Query("data.rules.deny"), opa.Module("rules.rego", text)).PrepareForEval(ctx)
	if err != nil {
		b.Fatal(err)
	}
	return func(data []byte) {
		var in map[string]any
		if err := json.Unmarshal(data, &in); err != nil {
			b.Fatal(err)
		}
		out, err := query.Eval(ctx, opa.EvalInput(in))
		if err != nil || len(out) != 1 || len(out[0].Expressions[0].Value.([]any)) != 0 {
			b.Fatal(err, out)
		}
	}
}

// BenchmarkRatioFireJSONRego is an event as text to a Decision by 100 Rego
// rules over ten tools, each a hook, against decoding it with the standard
// library and asking OPA for the same rules as one module. The Decision is the
// host's to keep, or in memory that is used again.
func BenchmarkRatioFireJSONRego(b *testing.B) {
	eng := open(b, policyOf(regoRule, 100, 10))
	usual := usualOPA(b, module(100, 10))
	for _, c := range []struct {
		name     string
		messages int
		turns    int
	}{{"1KB", 1, 10}, {"190KB", 190, 1}} {
		data := eventText(c.messages)
		fire := func(d *policy.Decision, err error) {
			if err != nil || !d.Permits() || len(d.Failed) > 0 {
				b.Fatal(err, d)
			}
		}
		b.Run(c.name+"/kept", func(b *testing.B) {
			ratio(b, "fire-json/opa", c.turns, func() {
				fire(eng.FireJSON(context.Background(), hookc.PreToolExecution, data))
			}, func() { usual(data) })
		})
		b.Run(c.name+"/reused", func(b *testing.B) {
			var memory hookc.Reused
			ratio(b, "fire-json/opa", c.turns, func() {
				fire(eng.FireJSONInto(context.Background(), hookc.PreToolExecution, data, &memory))
			}, func() { usual(data) })
		})
	}
}
