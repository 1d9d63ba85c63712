package hookc_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// callOf is one call of a batch.
func callOf(session, id, command string) *policy.Context {
	return policy.NewContext("").Set(policy.FieldSessionID, session).Set(policy.FieldToolName, "Bash").
		Set(policy.FieldToolUseID, id).Set(policy.FieldToolInput, map[string]any{"command": command})
}

// batchOf runs commands as one batch whose tool answers with what it was given.
func batchOf(t *testing.T, eng *hookc.Engine, calls ...*policy.Context) *hookc.Outcome {
	t.Helper()
	echo := func(_ context.Context, in *policy.Context) (map[string]any, error) {
		return map[string]any{"tool_result": in.Text(policy.FieldToolUseID) + ": " + in.Text(policy.FieldCommand)}, nil
	}
	out, err := eng.Run(t.Context(), "tool.batch", hookc.Actions{"tool": echo}, calls...)
	require.NoError(t, err)
	return out
}

// results are what each call of a batch came to, in order; "-" for one that did not
// run and "" for one not started.
func results(out *hookc.Outcome) []string {
	list := make([]string, len(out.Calls))
	for i, c := range out.Calls {
		if c != nil {
			list[i] = "-"
			if text := c.Context.Text(policy.FieldToolResult); text != "" {
				list[i] = text
			}
		}
	}
	return list
}

// custom is a rule that runs a function.
func custom(name string, run func(context.Context, *policy.Context) (policy.Result, error)) hookc.Option {
	return hookc.Rules(rule.Rule{Name: name, Doc: "runs", New: func(*policy.Hook, rule.Options) (rule.Made, diag.List) {
		body := func(ctx context.Context, in *policy.Context, _ int) (policy.Result, error) { return run(ctx, in) }
		return rule.Made{Runner: policy.RunnerFunc(body), Effects: policy.Effects{World: policy.WorldWrite, May: policy.AllPowers,
			Reads: policy.FieldPaths(policy.FieldToolInput, policy.FieldToolUseID), Writes: policy.FieldPaths(policy.FieldToolInput, policy.FieldToolResult)}}, nil
	}})
}

// TestBatchKeepsCallsApart: what is rewritten, refused, hidden or raised in one call
// is in its answer, at its place, and in no other.
func TestBatchKeepsCallsApart(t *testing.T) {
	const text = `
pre_tool_execution:
  - {name: own, use: own}
  - {name: rewrite, set: {tool_input.command: '"safe " + command'}, when: 'command startsWith "fix"'}
  - {name: no-rm, deny: 'command contains "rm"', reason: "no rm"}
  - {name: leave, skip: 'command == "skip"'}
post_tool_execution:
  - {name: mask, set: {tool_result: '"masked"'}, when: 'tool_result contains "secret"'}
`
	panicking := func(_ context.Context, in *policy.Context) (policy.Result, error) {
		switch in.Text(policy.FieldCommand) {
		case "panic":
			panic("the rule's bug")
		case "fail":
			return policy.Result{}, errors.New("the rule's failure")
		}
		return policy.Result{}, nil
	}
	eng := engine(t, text, custom("own", panicking))
	commands := []string{"ls", "fix a", "rm x", "fix rm", "panic", "fail", "skip", "secret", "ls", ""}
	var calls []*policy.Context
	var want []string
	for i, c := range commands {
		id := fmt.Sprint("t", i)
		calls = append(calls, callOf("s", id, c))
		want = append(want, map[string]string{"ls": id + ": ls", "fix a": id + ": safe fix a", "secret": "masked", "": id + ": "}[c])
		if want[i] == "" {
			want[i] = "-"
		}
	}
	out := batchOf(t, eng, calls...)
	require.NoError(t, out.Err)
	assert.Equal(t, want, results(out))
	for i, c := range calls {
		assert.Equal(t, commands[i], c.Text(policy.FieldCommand), "the host's context is as it was")
		assert.Equal(t, fmt.Sprint("t", i), out.Calls[i].Context.Text(policy.FieldToolUseID))
		single, err := eng.Fire(t.Context(), hookc.PreToolExecution, callOf("s", fmt.Sprint("u", i), commands[i]))
		require.NoError(t, err)
		assert.Equal(t, single.Action, out.Calls[i].Steps[0].Decision.Action, commands[i])
	}
}

// TestBatchOfOneID: an id that two calls share stands for neither of them: each is
// decided by what it is.
func TestBatchOfOneID(t *testing.T) {
	eng := engine(t, `
pre_tool_execution: [{name: no-rm, deny: 'command contains "rm"'}, {name: sh, world: read, writes: [], command: 'grep -q evil && exit 2; true', protocol: claude}]
post_tool_execution: [{name: mask, set: {tool_result: '"masked"'}, when: 'tool_result contains "secret"'}]
`)
	for _, id := range []string{"same", ""} {
		calls := []*policy.Context{callOf("s", id, "ls"), callOf("s", id, "rm"), callOf("s", id, "ls"), callOf("s", id, "secret"), callOf("s", id, "evil")}
		if id == "" {
			for i, c := range []string{"ls", "rm", "ls", "secret", "evil"} {
				calls[i] = policy.NewContext("").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": c})
			}
		}
		out := batchOf(t, eng, calls...)
		assert.Equal(t, []string{id + ": ls", "-", id + ": ls", "masked", "-"}, results(out), id)
	}
	one := callOf("s", "one", "ls")
	out := batchOf(t, eng, one, one, one)
	assert.Equal(t, []string{"one: ls", "one: ls", "one: ls"}, results(out), "one Context thrice")
}

// TestBatchStops: a stop at a gate cancels the calls after it and none before it; of
// a batch that is refused as a whole nothing runs.
func TestBatchStops(t *testing.T) {
	eng := engine(t, `
pre_tool_execution:
  - {name: stop, stop: 'command == "stop"'}
  - {name: halt, halt: 'command == "halt"'}
  - {name: ask, ask: 'command == "ask"'}
`)
	for _, c := range []struct {
		third string
		left  policy.Label
		want  []string
	}{
		{"stop", policy.NoLabel, []string{"1: ls", "2: ls", "-", "", ""}},
		{"halt", policy.LabelTurn, []string{"1: ls", "2: ls", "-", "", ""}},
		{"ask", policy.NoLabel, []string{"1: ls", "2: ls", "-", "4: ls", "5: ls"}},
	} {
		out := batchOf(t, eng, callOf("s", "1", "ls"), callOf("s", "2", "ls"), callOf("s", "3", c.third), callOf("s", "4", "ls"), callOf("s", "5", "ls"))
		assert.Equal(t, c.want, results(out), c.third)
		assert.Equal(t, c.left, out.Break, c.third)
		assert.NoError(t, out.Err)
	}
	ran := false
	tool := func(context.Context, *policy.Context) (map[string]any, error) { ran = true; return nil, nil }
	for name, calls := range map[string][]*policy.Context{
		"none": nil, "nil": {callOf("s", "1", "ls"), nil}, "no tool": {callOf("s", "1", "ls"), policy.NewContext("")},
		"no JSON": {callOf("s", "1", "ls"), callOf("s", "2", "ls").Set(policy.FieldRaw, map[string]any{"x": func() {}})},
	} {
		_, err := eng.Run(t.Context(), "tool.batch", hookc.Actions{"tool": tool}, calls...)
		assert.Error(t, err, name)
		assert.False(t, ran, name)
	}
}

// TestBatchOfASession: the hooks and the state of a session hold for each call of it,
// in call order, as if the calls had come one after another.
func TestBatchOfASession(t *testing.T) {
	var asked []string
	note := func(_ context.Context, in *policy.Context) (policy.Result, error) {
		asked = append(asked, in.Text(policy.FieldToolUseID)) // gates are asked in turn: -race tells
		if in.Text(policy.FieldCommand) == "counted" && len(asked) > 5 {
			return policy.Result{Verdict: policy.Deny}, nil
		}
		return policy.Result{}, nil
	}
	eng := engine(t, `pre_tool_execution: [{name: own, use: own}]`, custom("own", note))
	register(t, eng.Session("s"), hookc.Hook{Event: "pre_tool_execution", Name: "mine", Deny: `command == "mine"`})
	register(t, eng.Session("s"), hookc.Hook{Event: "post_tool_execution", Name: "after", Set: map[string]any{"tool_result": `"seen"`}})
	out := batchOf(t, eng, callOf("s", "1", "mine"), callOf("other", "2", "mine"), callOf("s", "3", "ls"))
	assert.Equal(t, []string{"-", "2: mine", "seen"}, results(out))
	assert.Equal(t, []string{"1", "2", "3"}, asked)
	out = batchOf(t, eng, callOf("o", "4", "counted"), callOf("o", "5", "counted"), callOf("o", "6", "counted"))
	assert.Equal(t, []string{"4: counted", "5: counted", "-"}, results(out))
}

// TestBatchIsCancelled: calls not yet started when the host gives up do not start,
// those that run are waited for, and the batch says why.
func TestBatchIsCancelled(t *testing.T) {
	for name, at := range map[string]string{"in an action": "tool", "at a gate": "rule"} {
		ctx, cancel := context.WithCancel(t.Context())
		var ended atomic.Int32
		give := func(in *policy.Context, place string) {
			if place == at && in.Text(policy.FieldToolUseID) == "2" {
				cancel()
			}
		}
		eng := engine(t, `pre_tool_execution: [{name: own, use: own}]`, custom("own", func(_ context.Context, in *policy.Context) (policy.Result, error) {
			give(in, "rule")
			return policy.Result{}, nil
		}))
		begun := make(chan struct{})
		tool := func(ctx context.Context, in *policy.Context) (map[string]any, error) {
			defer ended.Add(1)
			if in.Text(policy.FieldToolUseID) == "1" {
				close(begun)
				<-ctx.Done() // a call that ends only when it is told to
			}
			<-begun
			give(in, "tool")
			return map[string]any{"tool_result": "r"}, nil
		}
		out, err := eng.Run(ctx, "tool.batch", hookc.Actions{"tool": tool}, callOf("s", "1", "a"), callOf("s", "2", "b"), callOf("s", "3", "c"), callOf("s", "4", "d"))
		require.NoError(t, err, name)
		assert.ErrorIs(t, out.Err, context.Canceled, name)
		require.NotNil(t, out.Calls[0], name)
		assert.Error(t, out.Calls[0].Err, name)
		for i, c := range out.Calls[1:] {
			if c != nil { // of an action that was cancelled late, others may have come to their end
				assert.True(t, c.Err != nil || at == "tool" && len(c.Steps) == 3, "%s: call %d", name, i+2)
			}
		}
		if at == "rule" {
			assert.Equal(t, int32(1), ended.Load(), "%s: the call whose gate was cut did not run", name)
		}
		cancel()
	}
}

// TestBatchOfActionsThatDoNotReturn: an action that panics or ends its goroutine does
// not look like a call that was never started, and the others are waited for.
func TestBatchOfActionsThatDoNotReturn(t *testing.T) {
	eng := engine(t, `{}`)
	var ended atomic.Int32
	for name, leave := range map[string]func(){"panic": func() { panic("the host's bug") }, "exit": runtime.Goexit} {
		ended.Store(0)
		var all sync.WaitGroup
		all.Add(3)
		tool := func(_ context.Context, in *policy.Context) (map[string]any, error) {
			all.Done()
			all.Wait() // all have begun
			if in.Text(policy.FieldToolUseID) == "2" {
				leave()
			}
			ended.Add(1)
			return nil, nil
		}
		returned, raised := false, any(nil)
		var run sync.WaitGroup
		run.Go(func() {
			defer func() { raised = recover() }()
			_, _ = eng.Run(t.Context(), "tool.batch", hookc.Actions{"tool": tool}, callOf("s", "1", "a"), callOf("s", "2", "b"), callOf("s", "3", "c"))
			returned = true
		})
		run.Wait()
		assert.False(t, returned, "%s: as if it had run in the host's goroutine", name)
		assert.Equal(t, int32(2), ended.Load(), name)
		if name == "panic" {
			assert.Equal(t, "the host's bug", raised)
		}
	}
}

// TestBatchAndOneSlowCall: a slow call holds up no other.
func TestBatchAndOneSlowCall(t *testing.T) {
	eng := engine(t, `post_tool_execution: [{name: mask, set: {tool_result: '"masked"'}}]`)
	var others sync.WaitGroup
	others.Add(4)
	tool := func(_ context.Context, in *policy.Context) (map[string]any, error) {
		if in.Text(policy.FieldToolUseID) == "0" {
			others.Wait()
			return map[string]any{"tool_result": "slow"}, nil
		}
		defer others.Done()
		return map[string]any{"tool_result": "r"}, nil
	}
	var calls []*policy.Context
	for i := range 5 {
		calls = append(calls, callOf("s", fmt.Sprint(i), "ls"))
	}
	out, err := eng.Run(t.Context(), "tool.batch", hookc.Actions{"tool": tool}, calls...)
	require.NoError(t, err)
	assert.Equal(t, []string{"masked", "masked", "masked", "masked", "masked"}, results(out))
}

// TestBatchWhileThePolicyChanges: a reload and a Close in the middle of a batch leave
// each call with a whole decision; of a closed engine that is a refusal.
func TestBatchWhileThePolicyChanges(t *testing.T) {
	eng := engine(t, `{pre_tool_execution: [{name: no-rm, deny: 'command contains "rm"'}], post_tool_execution: [{name: mask, set: {tool_result: '"masked"'}}]}`)
	var calls []*policy.Context
	for i := range 8 {
		calls = append(calls, callOf("s", fmt.Sprint(i), []string{"ls", "rm"}[i%2]))
	}
	tool := func(ctx context.Context, in *policy.Context) (map[string]any, error) {
		if err := eng.Reload(ctx); err != nil {
			return nil, err
		}
		return map[string]any{"tool_result": "r"}, nil
	}
	out, err := eng.Run(t.Context(), "tool.batch", hookc.Actions{"tool": tool}, calls...)
	require.NoError(t, err)
	assert.Equal(t, []string{"masked", "-", "masked", "-", "masked", "-", "masked", "-"}, results(out))

	closing := func(context.Context, *policy.Context) (map[string]any, error) {
		_ = eng.Close()
		return map[string]any{"tool_result": "r"}, nil
	}
	out, err = eng.Run(t.Context(), "tool.batch", hookc.Actions{"tool": closing}, calls[0], calls[1], calls[2])
	require.NoError(t, err)
	for _, step := range out.Calls[0].Steps[2:] {
		assert.Equal(t, policy.Block, step.Decision.Action, "the engine is closed")
	}
}
