package hookc_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

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
	}, 2*time.Minute, time.Millisecond, "a new event is refused while Close waits")
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
