package rego

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/rego/native"
)

// These benchmarks compare native evaluation with OPA's own, with everything
// off that can be, turn by turn in one run: the same module, the same input,
// parsed for either. They fail when the two differ.

// literalRules are n rules on one tool, each with a literal of its own.
func literalRules(n int) string {
	var b strings.Builder
	b.WriteString("package rules\n")
	for i := range n {
		fmt.Fprintf(&b, "deny contains \"no %d\" if { input.tool_name == \"Bash\"; contains(input.tool_input.command, \"forbidden-%d\") }\n", i, i)
	}
	return b.String()
}

// richRules have what Rego offers: helpers, regular expressions, negation,
// iteration, comprehensions, formatted messages.
const richRules = `package rules

deny contains sprintf("force push to %s", [b]) if {
	is_bash
	regex.match("git\\s+push\\b.*(--force|-f)", command)
	some b in protected
	b in words
}

deny contains sprintf("%s runs as root", [w]) if {
	is_bash
	some i, w in words
	i > 0
	words[i - 1] in {"sudo", "doas"}
	not w in safe
}

deny contains sprintf("%d of %d words are flags", [n, count(words)]) if {
	is_bash
	n := count([w | some w in words; startswith(w, "-")])
	n > 8
}

deny contains "every path leaves the project" if {
	paths := [w | some w in words; startswith(w, "/")]
	count(paths) > 0
	every p in paths {
		not startswith(p, input.cwd)
	}
}

deny contains reason if {
	some pattern, reason in {"(?i)drop\\s+table": "drops a table", "\\bmkfs\\b": "makes a file system", ">\\s*/dev/sd": "writes a device"}
	regex.match(pattern, command)
}

is_bash if input.tool_name in {"Bash", "Shell"}

command := input.tool_input.command

words := split(command, " ")

protected := ["main", "master", "release"]

safe := {"ls", "cat"}
`

func commandInput(command string) ast.Value {
	return ast.MustInterfaceToValue(map[string]any{
		"tool_name": "Bash", "cwd": "/repo", "session_id": "s", "permission_mode": "default",
		"tool_input": map[string]any{"command": command, "description": "run the tests"},
	})
}

// decodedInput is an event as a decoder leaves it.
type decodedInput struct {
	paths [][]string
	whole native.Value
}

func (in *decodedInput) Slot(i int) (v native.Value, ok bool) {
	v, ok = in.whole, true
	for _, key := range in.paths[i] {
		o, _ := v.(map[string]native.Value)
		v, ok = o[key]
	}
	return v, ok
}

// leanOPA is OPA's prepared query of data.rules.deny.
func leanOPA(b *testing.B, text string, input ast.Value) func() ast.Value {
	ctx, store := b.Context(), inmem.New()
	txn, err := store.NewTransaction(ctx)
	if err != nil {
		b.Fatal(err)
	}
	query, err := opa.New(opa.Query("data.rules.deny"), opa.Module("rules.rego", text), opa.Store(store), opa.Transaction(txn)).PrepareForEval(ctx)
	if err != nil {
		b.Fatal(err)
	}
	cancel := topdown.NewCancel()
	return func() ast.Value {
		out, err := query.Eval(ctx, opa.EvalParsedInput(input), opa.EvalMetrics(metrics.NoOp()), opa.EvalTransaction(txn), opa.EvalExternalCancel(cancel))
		if err != nil {
			b.Fatal(err)
		}
		return ast.MustInterfaceToValue(out[0].Expressions[0].Value)
	}
}

// nativeRules is the same natively: every value with the rule that gave it, as
// a hook is evaluated.
func nativeRules(b *testing.B, text string, input ast.Value) (eval func(), deny func() ast.Value) {
	c := newOPACompiler(ast.RegoV1, nil)
	module, err := parseModule("rules.rego", text, ast.RegoV1)
	if err != nil {
		b.Fatal(err)
	}
	if c.Compile(map[string]*ast.Module{"rules.rego": module}); c.Failed() {
		b.Fatal(c.Errors)
	}
	p := planValues(c, []ast.Value{ast.MustParseRef("data.rules.deny")}, ast.NewObject())
	if p.reason(0) != "" {
		b.Fatal(p.reason(0))
	}
	code := p.code.Index()
	m, fn := &native.Machine{}, p.entries[0].fn
	in := &decodedInput{paths: p.program.Paths, whole: toNative(input)}
	ignore := func(int, native.Value) bool { return true }
	eval = func() {
		if err := code.Rules(m, fn, in, ignore); err != nil {
			b.Fatal(err)
		}
	}
	return eval, func() ast.Value {
		v, _, err := code.Eval(m, fn, in)
		if err != nil {
			b.Fatal(err)
		}
		list := slices.Clone(v.(*native.Set).Elems())
		return fromNative([]native.Value(list))
	}
}

// ratioOf reports the median of how many times longer x takes than y, each
// many times in turn, and what memory x takes.
func ratioOf(b *testing.B, unit string, turns, other int, x, y func()) {
	x()
	y()
	var rounds []float64
	for b.Loop() {
		start := time.Now()
		for range turns {
			x()
		}
		middle := time.Now()
		for range other {
			y()
		}
		rounds = append(rounds, float64(middle.Sub(start))/float64(turns)/(float64(time.Since(middle))/float64(other)))
	}
	slices.Sort(rounds)
	b.ReportMetric(rounds[len(rounds)/2], unit)
	b.ReportMetric(testing.AllocsPerRun(100, x), "own-allocs")
}

func nativeAgainstOPA(b *testing.B, text, command string, turns int) {
	input := commandInput(command)
	lean := leanOPA(b, text, input)
	eval, deny := nativeRules(b, text, input)
	if own, theirs := deny(), lean(); own.Compare(theirs) != 0 {
		b.Fatal(own, theirs)
	}
	ratioOf(b, "native/opa", 20*turns, turns, eval, func() { lean() })
}

const (
	harmless  = "go test ./... && git status --short"
	forbidden = "go test ./... && echo forbidden-0"
	forcePush = "sudo git push --force origin main release"
)

// BenchmarkNativeRule is one guardrail rule that says nothing, and one that
// does.
func BenchmarkNativeRule(b *testing.B) {
	b.Run("miss", func(b *testing.B) { nativeAgainstOPA(b, literalRules(1), harmless, 20) })
	b.Run("hit", func(b *testing.B) { nativeAgainstOPA(b, literalRules(1), forbidden, 20) })
}

// BenchmarkNativeRules are many rules, all on the tool of the event.
func BenchmarkNativeRules(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n, "/miss"), func(b *testing.B) { nativeAgainstOPA(b, literalRules(n), harmless, 2) })
		b.Run(fmt.Sprint(n, "/hit"), func(b *testing.B) { nativeAgainstOPA(b, literalRules(n), forbidden, 2) })
	}
}

// BenchmarkNativeFlat is 1,000 rules with a literal each against ten.
func BenchmarkNativeFlat(b *testing.B) {
	input := commandInput(harmless)
	many, _ := nativeRules(b, literalRules(1000), input)
	few, _ := nativeRules(b, literalRules(10), input)
	ratioOf(b, "1000/10", 200, 200, many, few)
}

// helperRules are n rules as teams write them: the tool and the command behind
// helper rules, tests in other case, over constants, of words, of patterns.
func helperRules(n int) string {
	var b strings.Builder
	b.WriteString("package rules\n")
	for i := range n {
		fmt.Fprintf(&b, "deny contains \"no %d\" if { ", i)
		fmt.Fprintf(&b, []string{
			`is_bash; contains(command, "forbidden-%d")`,
			`is_bash; contains(lower(command), "drop table t%d")`,
			`is_shell; has("--unsafe-%d")`,
			`is_bash; some bad in ["rm -rf /srv%[1]d", "dd of=/dev/sd%[1]d"]; startswith(command, bad)`,
			`is_write; glob.match("/etc/app%d/**", ["/"], input.tool_input.file_path)`,
			`is_bash; "tool-%d" in words`,
			`is_bash; regex.match("curl\\s+.*host%d\\.example", command)`,
			`input.tool_name == tools[_]; command == "exact %d"`,
		}[i%8], i)
		b.WriteString(" }\n")
	}
	b.WriteString(`
is_bash if input.tool_name == "Bash"

is_shell if is_bash

is_shell if input.tool_name == "Shell"

is_write if input.tool_name in writers

writers := {"Write", "Edit"}

tools := ["Bash", "Shell"]

command := trim_space(input.tool_input.command)

words := split(command, " ")

has(part) if contains(command, part)
`)
	return b.String()
}

// BenchmarkNativeFlatHelpers is 1,000 of those against ten.
func BenchmarkNativeFlatHelpers(b *testing.B) {
	input := commandInput(harmless)
	many, _ := nativeRules(b, helperRules(1000), input)
	few, _ := nativeRules(b, helperRules(10), input)
	ratioOf(b, "1000/10", 200, 200, many, few)
}

// storedHook is a hook whose code was written and read, after so many events
// that it has an index.
func storedHook(b *testing.B, text string) func() {
	c, h := new(Compiler), inline("rules", policy.PreToolExecution, text)
	m, found := c.Compile(h)
	if m == nil {
		b.Fatal(found.Render())
	}
	own, engine := m.Native()
	if own == nil {
		b.Fatal(engine)
	}
	if own.Verify(h) != nil {
		b.Fatal("differs")
	}
	stored, event := c.Load(h, own.Append(nil)), bash(harmless)
	tell := func() {
		if r, err := stored.Tell(context.Background(), event, 0); r != nil || err != nil {
			b.Fatal(r, err)
		}
	}
	for range 200 {
		tell()
	}
	return tell
}

// BenchmarkNativeFlatStored is the same of code from an artifact: both kinds of
// rules, 1,000 against ten, from an event to what the hook says.
func BenchmarkNativeFlatStored(b *testing.B) {
	stored := func(name string, rules func(n int) string) {
		b.Run(name, func(b *testing.B) {
			ratioOf(b, "1000/10", 100, 100, storedHook(b, rules(1000)), storedHook(b, rules(10)))
		})
	}
	stored("literals", literalRules)
	stored("helpers", helperRules)
}

// BenchmarkNativeStoredFirst is the first event of code from an artifact, of
// which nobody makes an index, and what making one would take against it.
func BenchmarkNativeStoredFirst(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, h := new(Compiler), inline("rules", policy.PreToolExecution, literalRules(n))
			m, found := c.Compile(h)
			if m == nil {
				b.Fatal(found.Render())
			}
			own, _ := m.Native()
			if own.Verify(h) != nil {
				b.Fatal("differs")
			}
			code, event := own.Append(nil), bash(harmless)
			linked := own.code
			ratioOf(b, "index/first-event", 1, 1, func() { linked.Index() }, func() {
				if r, err := c.Load(h, code).Tell(context.Background(), event, 0); r != nil || err != nil {
					b.Fatal(r, err)
				}
			})
		})
	}
}

// BenchmarkNativeHook is a hook of n rules on an event, from its fields to a
// Result, against OPA's own engine on its input.
func BenchmarkNativeHook(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text := literalRules(n)
			m, found := new(Compiler).Compile(inline("rules", policy.PreToolExecution, text))
			if m == nil {
				b.Fatal(found.Render())
			}
			own, engine := m.Native()
			if own == nil {
				b.Fatal(engine)
			}
			event, lean := bash(harmless), leanOPA(b, text, commandInput(harmless))
			ratioOf(b, "hook/opa", 100, 5, func() {
				if r, err := own.Tell(context.Background(), event, 0); r != nil || err != nil {
					b.Fatal(r, err)
				}
			}, func() { lean() })
		})
	}
}

// BenchmarkNativeRich is a policy of many of Rego's features.
func BenchmarkNativeRich(b *testing.B) {
	b.Run("miss", func(b *testing.B) { nativeAgainstOPA(b, richRules, harmless, 5) })
	b.Run("hit", func(b *testing.B) { nativeAgainstOPA(b, richRules, forcePush, 5) })
}

// BenchmarkNativeCompile is compiling a hook of n rules and making it native,
// against compiling it.
func BenchmarkNativeCompile(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			hook := guard(strings.TrimPrefix(literalRules(n), "package rules\n"))
			compile := func() *Module {
				m, found := new(Compiler).Compile(hook)
				if m == nil {
					b.Fatal(found.Render())
				}
				return m
			}
			ratioOf(b, "native/without", 1, 1, func() { planModule(compile()) }, func() { compile() })
		})
	}
}

// BenchmarkNativeCorpus is the whole corpus of guardrails on one event, module
// by module, against OPA's own engine as hookc runs it.
func BenchmarkNativeCorpus(b *testing.B) {
	var runs []*corpusRun
	for _, m := range loadCorpus(b) {
		runs = append(runs, m.open(m.parsed))
	}
	input := commandInput(harmless)
	in := &decodedInput{whole: toNative(input)}
	e := &evaluation{start: time.Now()}
	m := &native.Machine{Context: e}
	each := func(eval func(r *corpusRun, i int)) func() {
		return func() {
			for _, r := range runs {
				for i, want := range r.wants {
					if isVerdict(nameOf(r.module, want)) && r.plan.reason(i) == "" {
						eval(r, i)
					}
				}
			}
		}
	}
	ignore := func(int, native.Value) bool { return true }
	bails := 0
	own := each(func(r *corpusRun, i int) {
		in.paths = r.plan.program.Paths
		if r.indexed.Rules(m, r.plan.entries[i].fn, in, ignore) != nil {
			bails++
		}
	})
	lean := each(func(r *corpusRun, i int) {
		q := topdown.NewQuery(r.queries[i]).WithCompiler(r.compiler).WithStore(r.store).WithTransaction(r.txn).
			WithTime(e.start).WithBuiltins(functions().eval).WithStrictBuiltinErrors(true).WithInput(ast.NewTerm(input)).
			WithMetrics(metrics.NoOp()).WithCancel(neverCancelled)
		_, _ = q.Run(context.Background())
	})
	ratioOf(b, "native/topdown", 1, 1, own, lean)
	b.ReportMetric(float64(bails)/float64(b.N), "bails")
}

// neverCancelled lets the reference run to its end.
var neverCancelled = topdown.NewCancel()
