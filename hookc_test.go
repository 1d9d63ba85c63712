package hookc_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/internal/host"
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
		d, err := eng.Fire(t.Context(), name, policy.NewContext("").Set(policy.FieldToolName, "Bash"))
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
	_, err = eng.FireSerial(t.Context(), hookc.PreToolExecution, policy.NewContext(""))
	assert.ErrorIs(t, err, hookc.ErrClosed)
	_, err = eng.Run(t.Context(), "compact", hookc.Actions{}, policy.NewContext(""))
	assert.ErrorIs(t, err, hookc.ErrClosed)
	_, err = own.Register(hookc.Hook{Event: "notify", Command: "cat"})
	assert.ErrorIs(t, err, hookc.ErrClosed)
	assert.ErrorIs(t, own.Remove(0), hookc.ErrClosed)
	assert.ErrorIs(t, eng.Reload(t.Context()), hookc.ErrClosed)
	assert.ErrorIs(t, eng.Close(), hookc.ErrClosed)
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
		without, err := eng.Without(t.Context(), event, policy.NewContext("").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "b"}), d)
		require.NoError(t, err)
		assert.Equal(t, "last", without.By)
		assert.Equal(t, []string{"named"}, without.Reasons)
	}
}

func TestWithoutLeavesNoTrace(t *testing.T) {
	seen := 0
	eng := engine(t, `stop: [{name: a, deny: "true"}, {name: b, deny: "true"}]`,
		host.Execution[hookc.Option](func(o *executor.Options) { o.Observe = func(executor.Run) { seen++ } }))
	d, err := eng.Stop(t.Context(), hookc.Turn{})
	require.NoError(t, err)
	before, counted := seen, eng.Metrics().List()
	for range 10 {
		without, err := eng.Without(t.Context(), hookc.StopEvent, policy.NewContext(""), d)
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
	// The calls of a batch run side by side: in any order, and at once.
	ran := make(chan string, 3)
	tool := func(_ context.Context, in *policy.Context) (map[string]any, error) {
		text, _ := in.Get(policy.FieldToolUseID)
		ran <- fmt.Sprint(text)
		return nil, nil
	}
	call := func(id, command string) *policy.Context {
		return policy.NewContext("").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolUseID, id).Set(policy.FieldToolInput, map[string]any{"command": command})
	}
	out, err := eng.Run(t.Context(), "tool.batch", hookc.Actions{"tool": tool}, call("1", "ls"), call("2", "rm"), call("3", "pwd"))
	require.NoError(t, err)
	require.NoError(t, out.Err)
	assert.Len(t, out.Calls, 3)
	require.Len(t, ran, 2)
	assert.ElementsMatch(t, []string{"1", "3"}, []string{<-ran, <-ran})
}
