package bench

import (
	"fmt"
	"testing"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
)

// BenchmarkCompile reads and compiles n hooks from text to program, as a
// process that decides one event does, and with translation validation, as
// everything else does.
func BenchmarkCompile(b *testing.B) {
	for _, how := range []struct {
		name    string
		options []hookc.Option
	}{{"compile", []hookc.Option{hookc.SkipVerify()}}, {"compile-verify", nil}} {
		for _, kind := range append(kinds[:len(kinds):len(kinds)], ruleKind{"mixed", mixedRule}) {
			for _, n := range []int{10, 100, 1000} {
				b.Run(fmt.Sprintf("%s/%s/%d", how.name, kind.name, n), func(b *testing.B) {
					options := append(how.options, hookc.Text("hooks.yaml", policyOf(kind.rule, n, 10)))
					b.ReportAllocs()
					for b.Loop() {
						compile(b, n, options)
					}
				})
			}
		}
	}
}

// BenchmarkRegister adds a session hook to a policy of n and takes it away:
// two compilations of one event.
func BenchmarkRegister(b *testing.B) {
	for _, n := range []int{10, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			own := open(b, policyOf(mixedRule, n, 10)).Session("s")
			for b.Loop() {
				index, err := own.Register(hookc.Hook{Event: "pre_tool_execution", Deny: `command == "x"`})
				if err != nil {
					b.Fatal(err)
				}
				if err := own.Remove(index); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// compile compiles a policy of n hooks, all of which must be live.
func compile(b *testing.B, n int, options []hookc.Option) {
	program, found := hookc.Compile(options...)
	if found.HasErrors() {
		b.Fatal(found.Render())
	}
	if live := len(program.Plan(hookc.PreToolExecution).Nodes); live != n {
		b.Fatalf("%d of %d hooks are live", live, n)
	}
	for _, e := range program.Hooks {
		if e.Status != dag.Live {
			b.Fatalf("%s is %s", e.Hook.Name, e.Status)
		}
	}
}
