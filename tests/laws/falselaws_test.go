package laws

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/policy"
)

// Plausible laws that are false (semantics.md §7.3), each with a fixed
// counterexample, so that nobody mends the engine towards them.
var falseLaws = []struct {
	text string
	// before and after are the chain without and with the hook the law is
	// about; want are the actions.
	before, after []hookRow
	strategy      policy.Strategy
	deadline      time.Duration
	want          [2]policy.Action
}{
	{text: "an allow never permits more under first",
		strategy: policy.First,
		before:   []hookRow{{"deny", denies, 0}},
		after:    []hookRow{{"allow", allows, 0}, {"deny", denies, 0}},
		want:     [2]policy.Action{policy.Block, policy.Proceed}},
	{text: "an allow never permits more under last",
		strategy: policy.ParallelLast,
		before:   []hookRow{{"deny", denies, 0}},
		after:    []hookRow{{"deny", denies, 0}, {"allow", allows, 0}},
		want:     [2]policy.Action{policy.Block, policy.Proceed}},
	{text: "a deny never lowers control: it halts before the stop is said",
		strategy: policy.Chain,
		before:   []hookRow{{"stop", policy.Result{Control: policy.Stop}, 0}},
		after:    []hookRow{{"deny", denies, 0}, {"stop", policy.Result{Control: policy.Stop}, 0}},
		want:     [2]policy.Action{policy.Abort, policy.Block}},
	{text: "a hook that only patches never turns a denial into a permission: recheck is for that",
		strategy: policy.Chain,
		before:   []hookRow{{"guard", denies, 0}},
		after:    []hookRow{{"rewrite", policy.Result{Patch: policy.Merge(policy.FieldToolInput, map[string]any{"a": "safe"})}, 0}, {"guard", denies, 0}},
		want:     [2]policy.Action{policy.Block, policy.Proceed}},
	{text: "a process that can only deny never permits more: under a deadline it starves a later guard that fails open",
		strategy: policy.Chain, deadline: 15 * ms,
		before: []hookRow{{"guard", denies, 10 * ms}},
		after:  []hookRow{{"slow", policy.Result{}, 10 * ms}, {"guard", denies, 10 * ms}},
		want:   [2]policy.Action{policy.Block, policy.Proceed}},
}

// hookRow is one hook: a bash hook if it takes time, else an expr rule. A guard
// denies only what has not been made safe.
type hookRow struct {
	name  string
	says  policy.Result
	takes time.Duration
}

var allows = policy.Result{Verdict: policy.Allow}

func TestFalseLaws(t *testing.T) {
	for _, l := range falseLaws {
		t.Run(l.text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				assert.Equal(t, l.want, [2]policy.Action{decide(t, l.strategy, l.deadline, l.before), decide(t, l.strategy, l.deadline, l.after)})
			})
		})
	}
}

func decide(t *testing.T, strategy policy.Strategy, deadline time.Duration, rules []hookRow) policy.Action {
	w := emptyWorld(1, policy.PreToolExecution)
	w.policy.ChainTimeout = deadline
	w.strategy(strategy)
	for i, r := range rules {
		kind, says := policy.KindExpr, says(r.says)
		if r.takes > 0 {
			kind = policy.KindBash
		}
		if r.name == "guard" {
			says = func(in *policy.Context, _ int) (policy.Result, error) {
				if v, _ := in.At(policy.Path{Field: policy.FieldToolInput, Keys: []string{"a"}}); v == "safe" {
					return policy.Result{}, nil
				}
				return r.says, nil
			}
		}
		w.insert(i, r.name, kind, body{may: policy.AllPowers, reads: pathSet([]string{"tool_input.a"}), writes: pathSet([]string{"tool_input.a"}), fixed: says, takes: r.takes})
	}
	in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"a": "1"})
	_, d := w.result(t, in)
	return d.Action
}
