package hookc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine opens one policy text and closes it with the test.
func engine(t *testing.T, text string, options ...hookc.Option) *hookc.Engine {
	t.Helper()
	eng, err := hookc.Open(t.Context(), append(options, hookc.Text("hooks.yaml", text))...)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			assert.ErrorIs(t, err, hookc.ErrClosed)
		}
	})
	return eng
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func bash(command string) hookc.Call {
	return hookc.Call{Tool: "Bash", Input: map[string]any{"command": command}}
}

// spots are the codes and places of findings of one severity.
func spots(list diag.List, severity diag.Severity) []string {
	var out []string
	for _, d := range list {
		if d.Severity == severity {
			out = append(out, d.Code.ID+" "+d.Span.String())
		}
	}
	return out
}

func TestOpenReportsEveryFindingWithItsPlace(t *testing.T) {
	_, err := hookc.Open(t.Context(), hookc.Text("guards.yaml", `pre_tool_execution:
  - name: first
    deny: tool_nam == "Bash"
  - name: second
    source: |
      package p
      deny if input.tool_name == undefined_thing
`))
	var list diag.ListError
	require.ErrorAs(t, err, &list)
	assert.Equal(t, []string{"HK081 guards.yaml:3:11", "HK071 guards.yaml:7:15"}, spots(list.List, diag.Error))
	assert.Equal(t, list.Error(), err.Error())
}

func TestOpenReportsAMissingFile(t *testing.T) {
	_, err := hookc.Open(t.Context(), hookc.Dir(t.TempDir()), hookc.Files("absent.yaml"))
	var list diag.ListError
	require.ErrorAs(t, err, &list)
	assert.Len(t, list.List, 1)
}

func TestOpenRefusesOptionsThatHideAPolicy(t *testing.T) {
	for name, options := range map[string][]hookc.Option{
		"empty path":          {hookc.Files("")},
		"builtin tier":        {hookc.Files("builtin=hooks.yaml")},
		"discovered and file": {hookc.Discover(t.TempDir()), hookc.Files("hooks.yaml")},
		"discovered and text": {hookc.Text("hooks.yaml", "{}"), hookc.Discover("")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := hookc.Open(t.Context(), options...)
			require.Error(t, err)
			assert.Panics(t, func() { hookc.Load(options...) })
			assert.Panics(t, func() { hookc.Compile(options...) })
		})
	}
}

func TestOpenOfACancelledContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := hookc.Open(ctx, hookc.Text("hooks.yaml", "{}"))
	assert.ErrorIs(t, err, context.Canceled)
}

func TestUnknownEventIsNotPermitted(t *testing.T) {
	eng := engine(t, "{}")
	for _, fire := range []func(context.Context, policy.Event, *policy.Context) (*policy.Decision, error){eng.Fire, eng.FireSerial} {
		d, err := fire(t.Context(), "pre_tool_exec", nil)
		require.Error(t, err)
		assert.False(t, d.Permits())
		assert.Equal(t, []string{err.Error()}, d.Reasons)
		assert.NotNil(t, d.Final)
	}
}

func TestNativeEventNamesAreCanonicalised(t *testing.T) {
	eng := engine(t, `PreToolUse: [{name: no, deny: "true"}]`)
	for _, name := range []policy.Event{"PreToolUse", "pre_tool_execution", "BeforeTool"} {
		d, err := eng.Fire(t.Context(), name, &policy.Context{ToolName: "Bash"})
		require.NoError(t, err)
		assert.Equal(t, hookc.PreToolExecution, d.Event)
		assert.Equal(t, policy.Block, d.Action)
	}
}

func TestFireOfACancelledContext(t *testing.T) {
	eng := engine(t, `pre_tool_execution: [{name: no, deny: "true"}]`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d, err := eng.PreTool(ctx, bash("ls"))
	require.NoError(t, err)
	assert.Equal(t, policy.Cancelled, d.Action)
	assert.False(t, d.Permits())
}

func TestClosedEngineRefuses(t *testing.T) {
	eng := engine(t, "{}")
	own := eng.Session("s")
	_, err := own.Register(hookc.Hook{Event: "pre_tool_execution", Deny: "true"})
	require.NoError(t, err)
	require.NoError(t, eng.Close())

	for _, session := range []string{"", "s"} {
		call := bash("ls")
		call.SessionID = session
		d, err := eng.PreTool(t.Context(), call)
		assert.ErrorIs(t, err, hookc.ErrClosed)
		assert.Equal(t, policy.Block, d.Action)
		assert.False(t, d.Permits())
	}
	_, err = eng.FireSerial(t.Context(), hookc.PreToolExecution, nil)
	assert.ErrorIs(t, err, hookc.ErrClosed)
	_, err = eng.Run(t.Context(), "compact", hookc.Actions{}, &policy.Context{})
	assert.ErrorIs(t, err, hookc.ErrClosed)
	_, err = own.Register(hookc.Hook{Event: "notify", Command: "cat"})
	assert.ErrorIs(t, err, hookc.ErrClosed)
	assert.ErrorIs(t, own.Remove(0), hookc.ErrClosed)
	assert.ErrorIs(t, eng.Reload(t.Context()), hookc.ErrClosed)
	assert.ErrorIs(t, eng.Close(), hookc.ErrClosed)
}

func TestReloadSwapsOrKeeps(t *testing.T) {
	file := write(t, filepath.Join(t.TempDir(), "hooks.yaml"), `pre_tool_execution: [{name: one, deny: "true"}]`)
	eng, err := hookc.Open(t.Context(), hookc.Files(file))
	require.NoError(t, err)
	defer eng.Close()
	by := func() string {
		d, err := eng.PreTool(t.Context(), bash("ls"))
		require.NoError(t, err)
		return d.By
	}
	assert.Equal(t, "one", by())

	write(t, file, `pre_tool_execution: [{name: two, deny: "true"}]`)
	assert.Equal(t, "one", by(), "nothing changes before Reload")
	require.NoError(t, eng.Reload(t.Context()))
	assert.Equal(t, "two", by())

	before := eng.Program()
	write(t, file, `pre_tool_execution: [{name: three, deny: "tru"}]`)
	var list diag.ListError
	require.ErrorAs(t, eng.Reload(t.Context()), &list)
	assert.Equal(t, []string{"HK081 " + file + ":1:43"}, spots(list.List, diag.Error))
	assert.Same(t, before, eng.Program())
	assert.Equal(t, "two", by())
}

// waiting is a model that says when it is asked and answers when it may.
type waiting struct {
	asked  chan struct{}
	answer chan string
}

func newWaiting() waiting {
	return waiting{asked: make(chan struct{}), answer: make(chan string)}
}

func (w waiting) model(ctx context.Context, _ policy.ModelRequest) (string, error) {
	select {
	case w.asked <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	select {
	case text := <-w.answer:
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

type fired struct {
	d   *policy.Decision
	err error
}

func TestEventsInFlightFinishOnTheOldPlan(t *testing.T) {
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, "hooks.yaml"), `pre_tool_execution:
  - {name: ask-model, prompt: "{{tool_name}}?", on_error: deny}
  - {name: note, command: "cat > `+filepath.Join(dir, "noted")+`", async: true}
  - {name: old, deny: "true"}
`)
	w := newWaiting()
	eng, err := hookc.Open(t.Context(), hookc.Files(file), hookc.Model(w.model))
	require.NoError(t, err)
	old := eng.Program().Hash
	answered := make(chan fired, 1)
	go func() {
		d, err := eng.PreTool(context.Background(), bash("ls"))
		answered <- fired{d, err}
	}()
	<-w.asked
	write(t, file, `pre_tool_execution: [{name: new, deny: "true"}]`)
	require.NoError(t, eng.Reload(t.Context()), "Reload does not wait for events in flight")

	d, err := eng.PreTool(t.Context(), bash("ls"))
	require.NoError(t, err)
	assert.Equal(t, "new", d.By)
	assert.Equal(t, eng.Program().Hash, d.Policy)

	time.Sleep(20 * time.Millisecond) // time to close the old plan under the event
	w.answer <- "{}"
	was := <-answered
	require.NoError(t, was.err)
	assert.Equal(t, "old", was.d.By)
	assert.Equal(t, old, was.d.Policy)
	assert.Empty(t, was.d.Failed)
	assert.Empty(t, was.d.Warnings, "the old plan still takes async hooks")
	require.NoError(t, eng.Close())
	assert.FileExists(t, filepath.Join(dir, "noted"))
}

func TestCloseWaitsForEventsInFlight(t *testing.T) {
	w := newWaiting()
	eng := engine(t, `pre_tool_execution: [{name: ask-model, prompt: "ok?", on_error: deny}]`, hookc.Model(w.model))
	answered := make(chan fired, 1)
	go func() {
		d, err := eng.PreTool(context.Background(), bash("ls"))
		answered <- fired{d, err}
	}()
	<-w.asked
	closed := make(chan error, 1)
	go func() { closed <- eng.Close() }()
	require.Eventually(t, func() bool {
		_, err := eng.Notify(t.Context(), hookc.Notification{})
		return errors.Is(err, hookc.ErrClosed)
	}, 5*time.Second, time.Millisecond, "a new event is refused while Close waits")
	select {
	case <-closed:
		t.Fatal("Close returned before the event in flight")
	default:
	}
	// What the event needs of the engine must not wait for Close.
	_, err := eng.Session("s").Register(hookc.Hook{Event: "notify", Command: "cat"})
	require.ErrorIs(t, err, hookc.ErrClosed)

	w.answer <- `{"decision": "allow"}`
	was := <-answered
	require.NoError(t, was.err)
	assert.Equal(t, policy.Allow, was.d.Verdict)
	require.NoError(t, <-closed)
}

// TestEveryAnswerIsOfOnePlan fires while the policy is reloaded and hooks come
// and go: each answer must be one that some plan gives, never a mixture.
func TestEveryAnswerIsOfOnePlan(t *testing.T) {
	file := write(t, filepath.Join(t.TempDir(), "hooks.yaml"), pairPolicy("a"))
	eng, err := hookc.Open(t.Context(), hookc.Files(file))
	require.NoError(t, err)
	defer eng.Close()
	stop := make(chan struct{})
	var workers, changers sync.WaitGroup
	for i := range 3 {
		workers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				call := bash("ls")
				call.SessionID = fmt.Sprintf("s%d", i%2)
				d, err := eng.PreTool(context.Background(), call)
				if !assert.NoError(t, err) || !assert.Contains(t, []string{"a1 a2", "b1 b2"}, first(d.Context)) {
					return
				}
				eng.Available(hookc.PreToolExecution, "Bash")
				eng.Metrics().List()
			}
		})
	}
	changers.Go(func() {
		for i := range 8 {
			write(t, file, pairPolicy(string(rune('a'+i%2))))
			assert.NoError(t, eng.Reload(context.Background()))
		}
	})
	changers.Go(func() {
		own := eng.Session("s1")
		for range 8 {
			index, err := own.Register(hookc.Hook{Event: "PreToolUse", Context: `"session"`})
			assert.NoError(t, err)
			own.List()
			assert.NoError(t, own.Remove(index))
		}
	})
	changers.Wait()
	close(stop)
	workers.Wait()
}

// pairPolicy has two hooks whose contexts belong together.
func pairPolicy(name string) string {
	return fmt.Sprintf(`pre_tool_execution: [{name: x, context: '"%[1]s1"'}, {name: y, context: '"%[1]s2"'}]`, name)
}

// first joins the first two, those of the policy; a session's comes last.
func first(list []string) string {
	if len(list) < 2 {
		return fmt.Sprint(list)
	}
	return list[0] + " " + list[1]
}

func TestWithoutLeavesTheDeciderOut(t *testing.T) {
	eng := engine(t, `pre_tool_execution:
  - rules: [{deny: 'command == "a"'}, {deny: 'command == "b"', reason: unnamed}]
  - {name: last, deny: "true", reason: named}
  - {name: script, command: "exit 1", on_error: deny}
`)
	d, err := eng.PreTool(t.Context(), bash("b"))
	require.NoError(t, err)
	assert.Equal(t, "project/pre_tool_execution#1#2", d.By)
	for _, event := range []policy.Event{"pre_tool_execution", "PreToolUse"} {
		without, err := eng.Without(t.Context(), event, &policy.Context{ToolName: "Bash", ToolInput: map[string]any{"command": "b"}}, d)
		require.NoError(t, err)
		assert.Equal(t, "last", without.By)
		assert.Equal(t, []string{"named"}, without.Reasons)
	}
}

func TestWithoutLeavesNoTrace(t *testing.T) {
	seen := 0
	eng := engine(t, `stop: [{name: a, deny: "true"}, {name: b, deny: "true"}]`,
		hookc.Execution(func(o *executor.Options) { o.Observe = func(executor.Run) { seen++ } }))
	d, err := eng.Stop(t.Context(), hookc.Turn{})
	require.NoError(t, err)
	before, counted := seen, eng.Metrics().List()
	for range 10 {
		without, err := eng.Without(t.Context(), hookc.StopEvent, &policy.Context{}, d)
		require.NoError(t, err)
		assert.Equal(t, policy.KeepWorking, without.Action)
	}
	assert.Equal(t, before, seen)
	assert.Equal(t, counted, eng.Metrics().List())
}

func TestAvailableErrsOnlyTowardsTrue(t *testing.T) {
	eng := engine(t, `pre_tool_execution: [{name: a, filter: {tool_matcher: "Bash|Shell"}, deny: "true"}]`)
	assert.True(t, eng.Available("PreToolUse", "Shell"))
	assert.False(t, eng.Available("PreToolUse", "Read"))
	assert.False(t, eng.Available(hookc.StopEvent, ""))
	assert.True(t, eng.Available("no_such_event", "Read"))

	own := eng.Session("s")
	_, err := own.Register(hookc.Hook{Event: "pre_tool_execution", Deny: "true", Filter: map[string]any{"tool_name": "Write"}})
	require.NoError(t, err)
	assert.True(t, eng.Available("PreToolUse", "Write"))
	assert.False(t, eng.Available("PreToolUse", "Read"))
	require.NoError(t, own.Remove(0))
	assert.False(t, eng.Available("PreToolUse", "Write"))
}

func TestRunOfABatchTakesAContextForEachCall(t *testing.T) {
	eng := engine(t, `pre_tool_execution: [{name: no-rm, deny: 'command == "rm"'}]`)
	var ran []string
	tool := func(_ context.Context, in *policy.Context) (map[string]any, error) {
		text, _ := in.Get(policy.FieldToolUseID)
		ran = append(ran, fmt.Sprint(text))
		return nil, nil
	}
	call := func(id, command string) *policy.Context {
		return &policy.Context{ToolName: "Bash", ToolUseID: id, ToolInput: map[string]any{"command": command}}
	}
	out, err := eng.Run(t.Context(), "tool.batch", hookc.Actions{"tool": tool}, call("1", "ls"), call("2", "rm"), call("3", "pwd"))
	require.NoError(t, err)
	require.NoError(t, out.Err)
	assert.Len(t, out.Calls, 3)
	assert.Equal(t, []string{"1", "3"}, ran)
}
