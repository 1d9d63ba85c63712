// Package bench measures hookc; docs/benchmarks.md holds the figures and says
// how to run it again. Nothing here passes or fails by time: a benchmark fails
// only when a Decision is wrong.
package bench

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// ruleText writes the n-th hook of a kind, with a filter on tool.
type ruleText func(n int, tool string) string

func exprRule(n int, tool string) string {
	return fmt.Sprintf("  - {name: r%d, filter: {tool_name: %s}, deny: 'tool_input.command contains \"forbidden-%d\"', reason: no}\n", n, tool, n)
}

func regoRule(n int, tool string) string {
	return fmt.Sprintf(`  - name: r%d
    filter: {tool_name: %s}
    source: |
      package rules
      deny contains "no" if contains(input.tool_input.command, "forbidden-%d")
`, n, tool, n)
}

func bashRule(n int, tool string) string {
	return fmt.Sprintf("  - {name: r%d, filter: {tool_name: %s}, command: \"echo '{}'\", writes: [], on_error: deny}\n", n, tool)
}

// mixedRule is what a policy of a platform team looks like: mostly expr, some
// Rego, few scripts.
func mixedRule(n int, tool string) string {
	switch n % 10 {
	case 0:
		return bashRule(n, tool)
	case 1, 2, 3:
		return regoRule(n, tool)
	}
	return exprRule(n, tool)
}

// ruleKind is a rule and what figures call it.
type ruleKind struct {
	name string
	rule ruleText
}

// kinds are the rules that Fire is measured with.
var kinds = []ruleKind{{"expr", exprRule}, {"rego", regoRule}}

// policyOf writes n hooks over the given number of tools: one is Bash, which
// the event is about, the others are not.
func policyOf(r ruleText, n, tools int) string {
	var b strings.Builder
	b.WriteString("pre_tool_execution:\n")
	for i := range n {
		tool := "Bash"
		if i%tools > 0 {
			tool = fmt.Sprintf("Tool%d", i%tools)
		}
		b.WriteString(r(i, tool))
	}
	return b.String()
}

// nothing is a rule that costs what being a node costs, brief one that says of
// itself that it takes no time.
var nothing, brief = nothingRule("nothing", false), nothingRule("brief", true)

func nothingRule(name string, brief bool) rule.Rule {
	return rule.Rule{
		Name: name, Doc: "says nothing",
		New: func(*policy.Hook, rule.Options) (rule.Made, diag.List) {
			return rule.Made{Runner: silent, Brief: brief, Effects: policy.Effects{May: policy.MayDeny, World: policy.WorldNone, Spec: true}}, nil
		},
	}
}

var silent = policy.RunnerFunc(func(context.Context, *policy.Context, int) (policy.Result, error) {
	return policy.Result{}, nil
})

func silentRule(n int, _ string) string { return fmt.Sprintf("  - {name: r%d, use: nothing}\n", n) }

func briefRule(n int, _ string) string { return fmt.Sprintf("  - {name: r%d, use: brief}\n", n) }

// call is the event: a harmless command, so that every rule that matches the
// tool is evaluated.
func call() *policy.Context {
	return policy.NewContext("").
		Set(policy.FieldSessionID, "s").
		Set(policy.FieldCwd, "/repo").
		Set(policy.FieldProjectRoot, "/repo").
		Set(policy.FieldPermissionMode, "default").
		Set(policy.FieldToolName, "Bash").
		Set(policy.FieldToolInput, map[string]any{"command": "go test ./... && git status --short", "description": "run the tests"})
}

// callIn is call in a folder that exists, for hooks that are processes.
func callIn(dir string) *policy.Context {
	return call().Set(policy.FieldCwd, dir).Set(policy.FieldProjectRoot, dir)
}

func open(b *testing.B, text string, options ...hookc.Option) *hookc.Engine {
	b.Helper()
	eng, err := hookc.Open(b.Context(), append(options, hookc.Rules(nothing, brief), hookc.Text("hooks.yaml", text))...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := eng.Close(); err != nil {
			b.Error(err)
		}
	})
	return eng
}

// fire decides the event, which must proceed.
func fire(b *testing.B, eng *hookc.Engine, in *policy.Context) {
	d, err := eng.Fire(context.Background(), hookc.PreToolExecution, in)
	if err != nil || !d.Permits() || len(d.Failed) > 0 {
		b.Fatalf("%v: %+v", err, d)
	}
}
