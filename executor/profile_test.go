package executor

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// replaced: what denies takes back what was said before it.
func replaced(earlier, later *policy.Result) {
	if later.Verdict == policy.Deny {
		*earlier = policy.Result{Failed: earlier.Failed, Warnings: earlier.Warnings}
	}
}

// jcli's chain (reference J-42): the time that is up ends nothing that runs,
// and begins nothing more.
func TestDeadlineThatWaits(t *testing.T) {
	slow := func(name, text string, onError policy.Posture) hook {
		r := policy.Result{}
		if text != "" {
			r = rewrite(text)
		}
		return hook{name: name, timeout: 15 * time.Second, onError: onError, run: takes(12*time.Second, r)}
	}
	for _, row := range []struct {
		name   string
		kind   policy.DeadlineKind
		last   policy.Posture
		action policy.Action
	}{
		{"a hook that has not begun has failed", policy.DeadlineWaits, policy.OnErrorDeny, policy.Block},
		{"which may let the call through", policy.DeadlineWaits, policy.OnErrorSkip, policy.Proceed},
		{"or is passed over", policy.DeadlinePasses, policy.OnErrorDeny, policy.Proceed},
	} {
		t.Run(row.name, func(t *testing.T) {
			plan := planOf(t, policy.PreToolExecution, policy.Chain, slow("a", "1", policy.OnErrorDeny), slow("b", "2", policy.OnErrorDeny),
				slow("c", "3", policy.OnErrorDeny), slow("d", "", row.last))
			plan.Strategy = &policy.StrategySpec{Strategy: "jcli", Halt: policy.HaltDeny, Fold: policy.FoldMax, Rules: policy.Rules{Deadline: row.kind}}
			plan.Deadline = 30 * time.Second
			both(t, plan, func(t *testing.T, d *policy.Decision, took time.Duration) {
				assert.Equal(t, 36*time.Second, took)
				assert.Equal(t, row.action, d.Action)
				require.Len(t, d.Failed, 1)
				assert.Equal(t, []any{"d", policy.ErrDeadline}, []any{d.Failed[0].Hook, d.Failed[0].Kind})
				assert.Equal(t, map[string]any{"tool_input": map[string]any{"command": "3"}}, d.Patch, "what the others said holds")
				assert.Zero(t, d.Hooks[3].Attempts)
			})
		})
	}
}

// Between attempts the time counts too, and then on_error decides, whatever
// the kind (reference §1.8).
func TestDeadlineBetweenAttempts(t *testing.T) {
	for _, kind := range []policy.DeadlineKind{policy.DeadlineWaits, policy.DeadlinePasses} {
		plan := planOf(t, policy.PreToolExecution, policy.Chain, hook{name: "a", timeout: 20 * time.Second, retry: 5, onError: policy.OnErrorDeny,
			run: func(ctx context.Context, in *policy.Context, a int) (policy.Result, error) {
				_, _ = takes(12*time.Second, policy.Result{})(ctx, in, a)
				return policy.Result{}, policy.Failf(policy.ErrExit, "exit status 1")
			}})
		plan.Strategy = &policy.StrategySpec{Strategy: "jcli", Halt: policy.HaltDeny, Fold: policy.FoldMax, Rules: policy.Rules{Deadline: kind}}
		plan.Deadline = 30 * time.Second
		both(t, plan, func(t *testing.T, d *policy.Decision, took time.Duration) {
			assert.Equal(t, []any{36 * time.Second, policy.Block, 3}, []any{took, d.Action, d.Hooks[0].Attempts})
			assert.Equal(t, policy.ErrDeadline, d.Failed[0].Kind)
		})
	}
}

// Validation holds a plan of such a chain against its definition with random
// deadlines.
func TestValidateDeadlineKinds(t *testing.T) {
	for _, kind := range []policy.DeadlineKind{policy.DeadlineWaits, policy.DeadlinePasses} {
		plan := planOf(t, policy.PreToolExecution, policy.Chain, hook{name: "a", retry: 2, onError: policy.OnErrorDeny},
			hook{name: "b", retry: 1, onError: policy.OnErrorSkip}, hook{name: "c"})
		plan.Strategy = &policy.StrategySpec{Strategy: "jcli", Halt: policy.HaltDeny, Fold: policy.FoldMax, Rules: policy.Rules{Deadline: kind, Supersede: replaced}}
		require.NoError(t, Validate(programOf(plan), plan))
	}
}

// ClawdCode lets the second call with one id through, even when the first was
// denied, with other arguments too, and forgets what no hook looked at.
func TestRepeatGoesThroughOnce(t *testing.T) {
	var runs atomic.Int32
	plan := planOf(t, policy.PreToolExecution, policy.Chain, hook{name: "a", run: counting(&runs, says(deny("no"))), tool: "Bash"})
	plan.Strategy = &policy.StrategySpec{Strategy: "clawdcode", Halt: policy.HaltAsk, Fold: policy.FoldMax, Rules: policy.Rules{PassRepeats: true, Supersede: replaced}}
	for name, fire := range map[string]func(*Executor) fireHow{
		"scheduled": func(x *Executor) fireHow { return x.Fire }, "serial": func(x *Executor) fireHow { return x.FireSerial },
	} {
		t.Run(name, func(t *testing.T) {
			runs.Store(0)
			x := New(programOf(plan), Options{GuardSize: 8})
			defer x.Close()
			how := fire(x)
			other := call("t1", "ls").Set(policy.FieldToolName, "Write")
			assert.Equal(t, policy.Proceed, how(t.Context(), plan.Event, other).Action, "no hook was asked")
			first := how(t.Context(), plan.Event, call("t1", "ls"))
			second := how(t.Context(), plan.Event, call("t1", "rm"))
			third := how(t.Context(), plan.Event, call("t2", "ls"))
			assert.Equal(t, []policy.Action{policy.Block, policy.Proceed, policy.Block}, []policy.Action{first.Action, second.Action, third.Action})
			assert.Equal(t, []policy.Status{policy.StatusNotStarted}, statuses(second))
			assert.EqualValues(t, 2, runs.Load())
		})
	}
}

// The Agent Hooks format bounds its gate at three (reference §2.9, 15).
func TestProfileBoundsItsGate(t *testing.T) {
	plan := planOf(t, policy.StopEvent, policy.Chain, hook{name: "gate", run: says(deny("tests fail"))})
	plan.Strategy = &policy.StrategySpec{Strategy: "agenthooks", Halt: policy.HaltDeny, Fold: policy.FoldMax, Rules: policy.Rules{MaxBlocks: 3}}
	x := New(programOf(plan), Options{})
	defer x.Close()
	var got []policy.Action
	for range 5 {
		got = append(got, x.Fire(t.Context(), plan.Event, policy.NewContext(plan.Event).Set(policy.FieldSessionID, "s")).Action)
	}
	assert.Equal(t, []policy.Action{policy.KeepWorking, policy.KeepWorking, policy.KeepWorking, policy.Proceed, policy.KeepWorking}, got)
}
