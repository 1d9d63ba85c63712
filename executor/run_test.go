package executor

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

const ms = time.Millisecond

var (
	ran        = policy.StatusRan
	squashed   = policy.StatusSquashed
	failedHook = policy.StatusFailed
	notStarted = policy.StatusNotStarted
)

// elapsed is the fake time a body of the test takes.
func elapsed(f func()) time.Duration {
	begun := time.Now()
	f()
	return time.Since(begun)
}

func TestHaltAtSlotZeroStartsNoProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var started atomic.Int32
		process := func(ctx context.Context, in *policy.Context, a int) (policy.Result, error) {
			started.Add(1)
			return takes(20*ms, policy.Result{})(ctx, in, a)
		}
		plan := planOf(t, policy.PreToolExecution, policy.Chain,
			hook{name: "guard", kind: policy.KindExpr, run: says(deny("no"))},
			hook{name: "spec", reads: []string{}, writes: []string{}, mute: true, world: policy.WorldRead, spec: true, run: process},
			hook{name: "opaque", run: process})
		d := fireOnce(t, plan, bashCall())
		assert.Equal(t, policy.Block, d.Action)
		assert.Equal(t, "guard", d.By)
		assert.Equal(t, []string{"no"}, d.Reasons)
		assert.Equal(t, []policy.Status{ran, notStarted, notStarted}, statuses(d))
		assert.Zero(t, started.Load())
	})
}

func TestIndependentHooksOverlapAndOpaqueOnesDoNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var declared, guards, opaque []hook
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			body := takes(20*ms, policy.Result{})
			declared = append(declared, hook{name: name, world: policy.WorldRead, writes: []string{}, mute: true, run: body})
			guards = append(guards, hook{name: name, world: policy.WorldRead, writes: []string{}, spec: true, run: body})
			opaque = append(opaque, hook{name: name, run: body})
		}
		for _, c := range []struct {
			hooks []hook
			want  time.Duration
		}{{declared, 20 * ms}, {guards, 20 * ms}, {opaque, 100 * ms}} {
			plan := planOf(t, policy.PreToolExecution, policy.Chain, c.hooks...)
			assert.Equal(t, c.want, elapsed(func() { fireOnce(t, plan, bashCall()) }))
		}
	})
}

func TestWidthBoundsProcessesAndModelsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hooks []hook
		for _, name := range []string{"a", "b", "c", "d"} {
			hooks = append(hooks, hook{name: name, world: policy.WorldRead, writes: []string{}, mute: true, run: takes(20*ms, policy.Result{})})
		}
		for _, name := range []string{"l", "m"} {
			hooks = append(hooks, hook{name: name, kind: policy.KindLLM, writes: []string{}, mute: true, run: takes(30*ms, policy.Result{})})
		}
		plan := planOf(t, policy.PreToolExecution, policy.Chain, hooks...)
		plan.MaxConcurrent, plan.MaxModels = 2, 1
		assert.Equal(t, 60*ms, elapsed(func() { fireOnce(t, plan, bashCall()) }))
	})
}

func TestHaltSquashesLaterRunsAndDoesNotWaitForThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := planOf(t, policy.PreToolExecution, policy.Chain,
			hook{name: "first", world: policy.WorldRead, writes: []string{}, run: takes(10*ms, deny("no"))},
			hook{name: "slow", world: policy.WorldRead, writes: []string{}, spec: true, run: stubborn(500 * ms)},
			hook{name: "late", kind: policy.KindExpr, run: says(policy.Result{Context: []string{"never"}})})
		x := New(programOf(plan), Options{})
		var d *policy.Decision
		assert.Equal(t, 10*ms, elapsed(func() { d = x.Fire(t.Context(), policy.PreToolExecution, bashCall()) }))
		assert.Equal(t, []policy.Status{ran, squashed, squashed}, statuses(d))
		assert.Equal(t, policy.Block, d.Action)
		assert.Empty(t, d.Context)
		assert.Equal(t, 500*ms, elapsed(x.Close))
	})
}

// A halt that is known before its turn to retire ends what comes after it at
// once, and what comes before is still waited for.
func TestKnownHaltBeforeItRetires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Int64
		begun := time.Now()
		plan := planOf(t, policy.PreToolExecution, policy.Chain,
			hook{name: "slow", world: policy.WorldRead, writes: []string{}, run: takes(100*ms, policy.Result{Context: []string{"kept"}})},
			hook{name: "guard", world: policy.WorldRead, writes: []string{}, spec: true, run: takes(10*ms, deny("no"))},
			hook{name: "after", world: policy.WorldRead, writes: []string{}, spec: true, run: func(ctx context.Context, _ *policy.Context, _ int) (policy.Result, error) {
				<-ctx.Done()
				ended.Store(int64(time.Since(begun)))
				return policy.Result{}, ctx.Err()
			}})
		d := fireOnce(t, plan, bashCall())
		assert.Equal(t, []policy.Status{ran, ran, squashed}, statuses(d))
		assert.Equal(t, []string{"kept"}, d.Context)
		assert.Equal(t, int64(10*ms), ended.Load())
	})
}

// After a known halt nothing has its turn any more, rule or process, although
// what it waited for is there.
func TestNothingIsStartedAfterAKnownHalt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := func(context.Context, *policy.Context, int) (policy.Result, error) { panic("started") }
		only := []string{"tool_input.command"}
		plan := planOf(t, policy.PreToolExecution, policy.Chain,
			hook{name: "slow", group: "g", world: policy.WorldRead, writes: []string{}, mute: true, run: takes(100*ms, policy.Result{})},
			hook{name: "quick", group: "g", world: policy.WorldRead, writes: only, mute: true, run: takes(20*ms, rewrite("rm"))},
			hook{name: "guard", world: policy.WorldRead, reads: []string{}, writes: []string{}, spec: true, run: takes(10*ms, deny("no"))},
			hook{name: "rule", kind: policy.KindExpr, reads: only, writes: []string{}, run: began},
			hook{name: "spec", world: policy.WorldRead, reads: only, writes: []string{}, spec: true, run: began})
		d := fireOnce(t, plan, bashCall())
		assert.Equal(t, []policy.Status{ran, ran, ran, notStarted, notStarted}, statuses(d))
		assert.Equal(t, "guard", d.By)
	})
}

func TestByIsOnlyWhoSpoke(t *testing.T) {
	someone := policy.By{Name: "someone"}
	plan := planOf(t, policy.PreToolExecution, policy.First,
		hook{name: "mute", kind: policy.KindExpr, run: says(policy.Result{VerdictBy: someone, ControlBy: someone, Context: []string{"c"}})})
	assert.Empty(t, fireOnce(t, plan, bashCall()).By)
	plan = planOf(t, policy.PreToolExecution, policy.First,
		hook{name: "rule", kind: policy.KindExpr, run: says(policy.Result{Verdict: policy.Allow, VerdictBy: policy.By{Name: "rule#2"}})})
	assert.Equal(t, "rule#2", fireOnce(t, plan, bashCall()).By)
}

func TestResultsRetireInItemOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hooks []hook
		for i, name := range []string{"a", "b", "c"} {
			hooks = append(hooks, hook{name: name, world: policy.WorldRead, writes: []string{}, mute: true,
				run: takes(time.Duration(30-10*i)*ms, policy.Result{Context: []string{name}, System: []string{name}})})
		}
		d := fireOnce(t, planOf(t, policy.PreToolExecution, policy.Chain, hooks...), bashCall())
		assert.Equal(t, []string{"a", "b", "c"}, d.Context)
		assert.Equal(t, []string{"a", "b", "c"}, d.SystemMessages)
	})
}

func rewrite(command string) policy.Result {
	return policy.Result{Patch: policy.Merge(policy.FieldToolInput, map[string]any{"command": command})}
}

func sees(command string) bodyFunc {
	return func(_ context.Context, in *policy.Context, _ int) (policy.Result, error) {
		if v, _ := in.At(policy.Path{Field: policy.FieldToolInput, Keys: []string{"command"}}); v == command {
			return deny("saw " + command), nil
		}
		return policy.Result{}, nil
	}
}

func TestRuleWaitsForTheRewriteItReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := fireOnce(t, planOf(t, policy.PreToolExecution, policy.Chain,
			hook{name: "pnpm", reads: []string{"tool_input.command"}, writes: []string{"tool_input.command"}, mute: true, run: takes(5*ms, rewrite("rm"))},
			hook{name: "guard", kind: policy.KindExpr, reads: []string{"tool_input.command"}, writes: []string{}, run: sees("rm")}), bashCall())
		assert.Equal(t, policy.Block, d.Action)
		assert.Equal(t, map[string]any{"tool_input": map[string]any{"command": "rm"}}, d.Patch)
	})
}

func TestMembersOfAGroupSeeOneSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := fireOnce(t, planOf(t, policy.PreToolExecution, policy.Chain,
			hook{name: "w", group: "g", run: takes(5*ms, rewrite("rm"))},
			hook{name: "r", group: "g", run: sees("rm")},
			hook{name: "after", run: sees("rm")}), bashCall())
		assert.Equal(t, "after", d.By)
		assert.Equal(t, []policy.Status{ran, ran, ran}, statuses(d))
	})
}

func TestRecheckAddsNoSecondCopy(t *testing.T) {
	guard := func(_ context.Context, in *policy.Context, _ int) (policy.Result, error) {
		return policy.Result{Verdict: policy.Ask, Reasons: []policy.Reason{{Text: "look"}}, Context: []string{"said"}}, nil
	}
	plan := planOf(t, policy.PreToolExecution, policy.Chain,
		hook{name: "guard", kind: policy.KindExpr, writes: []string{}, run: guard},
		hook{name: "w", kind: policy.KindBuiltin, run: says(rewrite("rm"))},
		hook{recheckOf: "guard", kind: policy.KindExpr, writes: []string{}, run: guard})
	d := fireOnce(t, plan, bashCall())
	assert.Equal(t, []string{"look"}, d.Reasons)
	assert.Equal(t, []string{"said"}, d.Context)
	assert.True(t, d.Hooks[2].Recheck)
	assert.Equal(t, []string{"look"}, d.Hooks[2].Reasons)
}

func TestNoPlanProceeds(t *testing.T) {
	x := New(programOf(), Options{})
	defer x.Close()
	d := x.Fire(t.Context(), policy.Notify, nil)
	assert.Equal(t, policy.Proceed, d.Action)
	assert.Equal(t, "sha256:test", d.Policy)
}

func TestCancelledContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := planOf(t, policy.PreToolExecution, policy.Chain,
			hook{name: "first"}, hook{name: "slow", run: takes(time.Hour, policy.Result{})}, hook{name: "next"})
		x := New(programOf(plan), Options{})
		defer x.Close()
		for _, fire := range []fireHow{x.Fire, x.FireSerial} {
			ctx, cancel := context.WithTimeout(t.Context(), 10*ms)
			var d *policy.Decision
			assert.Equal(t, 10*ms, elapsed(func() { d = fire(ctx, policy.PreToolExecution, bashCall()) }))
			assert.Equal(t, policy.Cancelled, d.Action)
			var did []policy.Status
			for _, h := range d.Hooks {
				did = append(did, h.Status)
			}
			assert.Equal(t, []policy.Status{policy.StatusRan, policy.StatusSquashed, policy.StatusNotStarted}, did)
			assert.Equal(t, policy.Cancelled, fire(ctx, policy.PreToolExecution, bashCall()).Action)
			cancel()
		}
	})
}

type fireHow func(context.Context, policy.Event, *policy.Context) *policy.Decision

func TestPanicInABodyIsAFailureOfThatHook(t *testing.T) {
	for _, h := range []hook{{kind: policy.KindBuiltin}, {kind: policy.KindBuiltin, timeout: time.Second},
		{kind: policy.KindBuiltin, timeout: time.Second, retry: 1}, {kind: policy.KindBash}} {
		h.name, h.onError = "bad", policy.OnErrorDeny
		h.run = func(context.Context, *policy.Context, int) (policy.Result, error) { panic("boom") }
		plan := planOf(t, policy.PreToolExecution, policy.Chain, h)
		x := New(programOf(plan), Options{})
		for _, fire := range []fireHow{x.Fire, x.FireSerial} {
			d := fire(t.Context(), policy.PreToolExecution, bashCall())
			assert.Equal(t, policy.Block, d.Action)
			assert.Equal(t, []policy.Failure{{Hook: "bad", Kind: policy.ErrPanic, Error: "panic in bad: boom", OnError: policy.OnErrorDeny}}, d.Failed)
			assert.Equal(t, []policy.Status{failedHook}, statuses(d))
		}
		x.Close()
	}
}

func TestPlanThatWaitsForItselfPanics(t *testing.T) {
	plan := planOf(t, policy.PreToolExecution, policy.Chain, hook{name: "a"}, hook{name: "b"})
	plan.Nodes[0].Wait = []int{1}
	assert.PanicsWithValue(t, "executor: the plan of pre_tool_execution waits for itself", func() { fireOnce(t, plan, bashCall()) })
}

func TestDispatchPicksByToolAndKeepsOrder(t *testing.T) {
	plan := planOf(t, policy.PreToolExecution, policy.Chain,
		hook{name: "a", run: says(policy.Result{Context: []string{"a"}})},
		hook{name: "b", tool: "Edit", run: says(deny("edit"))},
		hook{name: "c", kind: policy.KindExpr, tool: "Bash", run: says(policy.Result{Context: []string{"c"}})})
	plan.Index.Always, plan.Index.Exact = []int{0}, map[string][]int{"Edit": {1}, "Bash": {2}}
	d := fireOnce(t, plan, bashCall())
	assert.Equal(t, []string{"a", "c"}, d.Context)
	assert.Equal(t, []policy.Status{ran, policy.StatusFiltered, ran}, statuses(d))
	d = fireOnce(t, plan, policy.NewContext("").Set(policy.FieldToolName, "Edit"))
	assert.Equal(t, []policy.Status{ran, ran, notStarted}, statuses(d))
}

func TestObserveTellsEveryRun(t *testing.T) {
	for _, kind := range []policy.Kind{policy.KindExpr, policy.KindBash} {
		var runs, counted []Run
		plan := planOf(t, policy.PreToolExecution, policy.Chain,
			hook{name: "a", kind: kind, retry: 1, run: func(_ context.Context, _ *policy.Context, a int) (policy.Result, error) {
				if a == 0 {
					return policy.Result{}, policy.Failf(policy.ErrExit, "exit 1")
				}
				return policy.Result{}, nil
			}},
			hook{name: "b", kind: kind, tool: "Edit"})
		x := New(programOf(plan), Options{
			Observe: func(r Run) {
				r.Took, r.Node = 0, nil
				runs = append(runs, r)
			},
			Count: func(n *dag.Node) func(policy.Status, int, time.Duration) {
				return func(s policy.Status, attempts int, _ time.Duration) {
					counted = append(counted, Run{Event: n.Hook.Event, Status: s, Attempts: attempts})
				}
			},
		})
		want := []Run{{Event: policy.PreToolExecution, Status: ran, Attempts: 2}, {Event: policy.PreToolExecution, Status: policy.StatusFiltered}}
		x.Fire(t.Context(), policy.PreToolExecution, bashCall())
		assert.Equal(t, want, runs)
		assert.Equal(t, want, counted)
		runs, counted = nil, nil
		x.FireSerial(t.Context(), policy.PreToolExecution, bashCall())
		assert.Equal(t, want, runs)
		assert.Equal(t, want, counted)
		x.Close()
	}
}

func TestEmptyPlanIsValid(t *testing.T) {
	plan := planOf(t, policy.PreToolExecution, policy.Chain)
	assert.NoError(t, Validate(programOf(plan), plan), "every hook of an event may be dead or untrusted")
}
