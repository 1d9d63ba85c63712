package expr

import (
	"context"
	"fmt"
	"testing"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// BenchmarkExpr evaluates one hook of 1, 30 and 1,000 rules of which none
// fires; library is the same rule on a reused machine of the expr library.
func BenchmarkExpr(b *testing.B) {
	const condition = `tool_name == "Bash" && tool_input.command contains "rm -rf %d"`
	env := exprWhole()
	in, _, err := policy.ContextFromMap(env)
	require.NoError(b, err)
	for _, n := range []int{1, 30, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var body policy.Body
			for i := range n {
				body.Rules = append(body.Rules, policy.Rule{Says: policy.MayDeny, Condition: diag.Literal(fmt.Sprintf(condition, i)), Reason: diag.Literal("no")})
			}
			made, found := Kind(testBudget, nil).Prepare(exprHookOn(policy.PreToolExecution, body))
			require.Empty(b, found)
			b.ReportAllocs()
			for b.Loop() {
				if r, err := made.Runner.Run(context.Background(), in, 0); err != nil || !r.Quiet() {
					b.Fatal(r, err)
				}
			}
		})
	}
	b.Run("fired", func(b *testing.B) {
		made, _ := Kind(testBudget, nil).Prepare(exprHookOn(policy.PreToolExecution, policy.Body{Rules: []policy.Rule{
			{Says: policy.MayDeny, Condition: diag.Literal(`tool_name == "Bash"`), Reason: diag.Literal("no")}}}))
		b.ReportAllocs()
		for b.Loop() {
			if r, err := made.Runner.Run(context.Background(), in, 0); err != nil || r.Verdict != policy.Deny {
				b.Fatal(r, err)
			}
		}
	})
	b.Run("compile", func(b *testing.B) {
		hook := exprHookOn(policy.PreToolExecution, policy.Body{Rules: []policy.Rule{
			{Says: policy.MayDeny, Condition: diag.Literal(fmt.Sprintf(condition, 1)), Reason: diag.Literal("no")}}})
		b.ReportAllocs()
		for b.Loop() {
			Kind(testBudget, nil).Prepare(hook)
		}
	})
	b.Run("library", func(b *testing.B) {
		program, err := expr.Compile(fmt.Sprintf(condition, 1), expr.Env(env))
		require.NoError(b, err)
		var boxed any = env
		var machine vm.VM
		b.ReportAllocs()
		for b.Loop() {
			if _, err := machine.Run(program, boxed); err != nil {
				b.Fatal(err)
			}
		}
	})
}
