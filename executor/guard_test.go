package executor

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

func counting(n *atomic.Int32, body bodyFunc) bodyFunc {
	return func(ctx context.Context, in *policy.Context, a int) (policy.Result, error) {
		n.Add(1)
		return body(ctx, in, a)
	}
}

func call(id, command string) *policy.Context {
	return bashCall().Set(policy.FieldToolUseID, id).Set(policy.FieldToolInput, map[string]any{"command": command})
}

func TestRepeatIsAnsweredFromMemory(t *testing.T) {
	var n atomic.Int32
	plan := planOf(t, policy.PreToolExecution, policy.Chain, hook{name: "a", run: counting(&n, says(deny("no")))})
	x := New(programOf(plan), Options{GuardSize: 2})
	defer x.Close()
	for _, fire := range []fireHow{x.Fire, x.FireSerial} {
		first := fire(t.Context(), plan.Event, call("t1", "ls"))
		assert.Equal(t, policy.Block, first.Action)
		again := fire(t.Context(), plan.Event, call("t1", "ls"))
		first.Hooks[0].Micros, again.Hooks[0].Micros = 0, 0
		assert.Equal(t, first, again)
	}
	assert.EqualValues(t, 1, n.Load())
	x.Fire(t.Context(), plan.Event, call("t1", "rm")) // other arguments
	x.Fire(t.Context(), plan.Event, call("", "ls"))   // no id
	x.Fire(t.Context(), plan.Event, call("", "ls"))
	assert.EqualValues(t, 4, n.Load())
	x.Fire(t.Context(), plan.Event, call("t2", "ls")) // pushes out t1 ls
	x.Fire(t.Context(), plan.Event, call("t1", "ls"))
	assert.EqualValues(t, 6, n.Load())
}

func TestFailedAndVolatileAnswersAreNotRemembered(t *testing.T) {
	var n atomic.Int32
	failing := planOf(t, policy.PreToolExecution, policy.Chain, hook{name: "a", run: counting(&n, func(context.Context, *policy.Context, int) (policy.Result, error) {
		return policy.Result{}, policy.Failf(policy.ErrExit, "exit 1")
	})})
	volatile := planOf(t, policy.PostToolExecution, policy.Chain, hook{name: "b", run: counting(&n, quiet)})
	volatile.Volatile = true
	x := New(programOf(failing, volatile), Options{})
	defer x.Close()
	for range 2 {
		x.Fire(t.Context(), failing.Event, call("t", "ls"))
		x.Fire(t.Context(), volatile.Event, call("t", "ls"))
	}
	assert.EqualValues(t, 4, n.Load())
}

func TestConcurrentRepeatsShareOneRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int32
		plan := planOf(t, policy.PreToolExecution, policy.Chain, hook{name: "a", run: counting(&n, takes(20*ms, deny("no")))})
		x := New(programOf(plan), Options{})
		defer x.Close()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				assert.Equal(t, policy.Block, x.Fire(t.Context(), plan.Event, call("t", "ls")).Action)
			})
		}
		assert.Equal(t, 20*ms, elapsed(wg.Wait))
		assert.EqualValues(t, 1, n.Load())
	})
}

// Whoever shares a run that is cancelled makes its own; a follower may give up
// by itself.
func TestCancelledRunIsNoAnswerForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := planOf(t, policy.PreToolExecution, policy.Chain, hook{name: "a", run: takes(20*ms, deny("no"))})
		x := New(programOf(plan), Options{})
		defer x.Close()
		var wg sync.WaitGroup
		fire := func(limit int, want policy.Action) {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), ms*10*2*8)
				if limit > 0 {
					ctx, cancel = context.WithTimeout(t.Context(), ms*5)
				}
				defer cancel()
				assert.Equal(t, want, x.Fire(ctx, plan.Event, call("t", "ls")).Action)
			})
			synctest.Wait()
		}
		fire(1, policy.Cancelled)
		fire(0, policy.Block)
		fire(1, policy.Cancelled)
		assert.Equal(t, 25*ms, elapsed(wg.Wait))
	})
}

type memory struct {
	mu   sync.Mutex
	data map[string][]byte
}

func (m *memory) Load(key string) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.data[key]
	return v, ok
}

func (m *memory) Save(key string, value []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.data[key] = value
}

func TestMemoOutlivesTheExecutor(t *testing.T) {
	src := diag.NewSource("hooks.yaml", "a:\n  b: c\n")
	at := diag.Span{Source: src, Start: 5, End: 6}
	contributed := policy.Result{
		Verdict: policy.Ask, VerdictBy: policy.By{Name: "a#2", At: at}, Reasons: []policy.Reason{{Text: "why", At: at}},
		Patch:   policy.Merge(policy.FieldToolInput, map[string]any{"n": 1.5, "s": []any{"x"}}).Then(policy.Remove(policy.Path{Field: policy.FieldToolInput, Keys: []string{"command"}})),
		Context: []string{"c"}, System: []string{"s"}, Suppress: true, Inject: []any{"dropped"},
	}
	var n atomic.Int32
	plan := planOf(t, policy.PreToolExecution, policy.Chain, hook{name: "a", run: counting(&n, says(contributed))})
	plan.Nodes[0].Hook.Span = at
	m := &memory{data: map[string][]byte{}}
	var answers []*policy.Decision
	for range 2 {
		x := New(programOf(plan), Options{Memo: m})
		d := x.Fire(t.Context(), plan.Event, call("t", "ls"))
		final, err := d.Final.MarshalJSON()
		require.NoError(t, err)
		assert.JSONEq(t, `{"event":"pre_tool_execution","session_id":"s","tool_name":"Bash","tool_use_id":"t","tool_input":{"n":1.5,"s":["x"]}}`, string(final))
		d.Final = nil
		answers = append(answers, d)
		x.Close()
	}
	assert.Equal(t, answers[0], answers[1])
	assert.Equal(t, "hooks.yaml:2:3", answers[1].At.String())
	assert.Len(t, answers[1].Warnings, 1)
	assert.EqualValues(t, 1, n.Load())
	for key := range m.data {
		m.data[key] = []byte(`{"verdict": 9}`)
	}
	x := New(programOf(plan), Options{Memo: m})
	defer x.Close()
	x.Fire(t.Context(), plan.Event, call("t", "ls"))
	assert.EqualValues(t, 2, n.Load(), "a damaged answer is not known")
}

func TestGateIsOverriddenAfterEightBlocks(t *testing.T) {
	block := true
	plan := planOf(t, policy.StopEvent, policy.Chain, hook{name: "gate", kind: policy.KindExpr, run: func(context.Context, *policy.Context, int) (policy.Result, error) {
		if !block {
			return policy.Result{}, nil
		}
		return deny("not yet"), nil
	}})
	x := New(programOf(plan), Options{})
	defer x.Close()
	in := policy.NewContext("").Set(policy.FieldSessionID, "s")
	blocks := func(n int) {
		for range n {
			d := x.Fire(t.Context(), policy.StopEvent, in)
			require.Equal(t, policy.KeepWorking, d.Action)
			require.Empty(t, d.Warnings)
		}
	}
	blocks(8)
	d := x.Fire(t.Context(), policy.StopEvent, in)
	assert.Equal(t, policy.Proceed, d.Action)
	assert.Equal(t, policy.None, d.Verdict)
	assert.Equal(t, []policy.Warning{{Code: codeGate, Hook: "gate", Text: "gate: overridden after 8 blocks running; it said keep_working"}}, d.Warnings)
	blocks(8)
	x.Fire(t.Context(), policy.PreSendMessage, in) // a new turn
	blocks(8)
	block = false
	assert.Equal(t, policy.Proceed, x.Fire(t.Context(), policy.StopEvent, in).Action)
	block = true
	blocks(8)
	other := x.Fire(t.Context(), policy.StopEvent, policy.NewContext("").Set(policy.FieldSessionID, "t"))
	assert.Equal(t, policy.KeepWorking, other.Action)
}
