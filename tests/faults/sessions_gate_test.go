package faults

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/tests/processes"
)

// What holds from one event of a session to the next: the quality gate's
// patience and the duplicate guard; and what a policy's own scripts see of how
// they are run: how many at a time, which together, and which not at all. All
// through real processes.

func openText(t *testing.T, yaml string, more ...hookc.Option) *hookc.Engine {
	t.Helper()
	eng, err := hookc.Open(t.Context(), append(more, hookc.Text("hooks.yaml", yaml))...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = eng.Close() }) // some tests close it themselves
	return eng
}

func fired(t *testing.T, eng *hookc.Engine, e policy.Event, in *policy.Context) *policy.Decision {
	t.Helper()
	d, err := eng.Fire(t.Context(), e, in)
	require.NoError(t, err)
	return d
}

// gate is a policy whose script keeps the agent working until a file is there,
// and denies or fails: a failing gate that denies must not go on for ever
// either.
func gate(mended, says string) string {
	return `
stop:
  - {name: tests-pass, command: 'if [ -e "` + mended + `" ]; then exit 0; fi; ` + says + `', on_error: deny}
`
}

func TestGateGivesUpAfterEightBlocks(t *testing.T) {
	for name, says := range map[string]string{
		"denies":               `echo "{\"decision\": \"deny\", \"reason\": \"red\"}"`,
		"fails":                "exit 3",
		"stops with feedback":  `echo "{\"action\": \"stop\", \"retry_feedback\": \"red\"}"`,
		"does not answer JSON": "echo red",
	} {
		t.Run(name, func(t *testing.T) {
			mended := filepath.Join(t.TempDir(), "mended")
			eng := openText(t, gate(mended, says))
			stop := func(session string) *policy.Decision {
				return fired(t, eng, hookc.StopEvent, policy.NewContext("").Set(policy.FieldSessionID, session))
			}
			blocks := func(n int) {
				t.Helper()
				for i := range n {
					d := stop("s")
					require.Equal(t, policy.KeepWorking, d.Action, "block %d", i+1)
					require.Empty(t, d.Warnings)
				}
			}
			overridden := func() {
				t.Helper()
				d := stop("s")
				require.Equal(t, policy.Proceed, d.Action)
				require.True(t, d.Permits())
				require.Len(t, d.Warnings, 1)
				require.Equal(t, "HK171", d.Warnings[0].Code.ID)
				require.Equal(t, "tests-pass", d.Warnings[0].Hook)
			}
			blocks(8)
			require.Equal(t, policy.KeepWorking, stop("other").Action, "each session has a count of its own")
			overridden()
			blocks(8) // the count began anew
			overridden()

			blocks(5)
			require.NoError(t, os.WriteFile(mended, nil, 0o644))
			d := stop("s")
			require.Equal(t, policy.Proceed, d.Action)
			require.Empty(t, d.Warnings)
			require.NoError(t, os.Remove(mended))
			blocks(8) // a pass forgets the blocks before it

			fired(t, eng, hookc.PreSendMessage, policy.NewContext("").Set(policy.FieldSessionID, "s").Set(policy.FieldUserInput, "next"))
			blocks(8) // and so does a new turn
			overridden()
		})
	}
}

func TestGateOfAMessageGivesUpToo(t *testing.T) {
	eng := openText(t, `
pre_send_message:
  - {name: polite, command: 'echo "{\"action\": \"stop\", \"retry_feedback\": \"say please\"}"'}
`)
	send := func() *policy.Decision {
		return fired(t, eng, hookc.PreSendMessage, policy.NewContext("").Set(policy.FieldSessionID, "s").Set(policy.FieldUserInput, "give"))
	}
	for range 8 {
		d := send()
		require.Equal(t, policy.RetryTurn, d.Action)
		require.Equal(t, []string{"say please"}, d.Feedback)
	}
	d := send()
	require.Equal(t, policy.Proceed, d.Action)
	require.Empty(t, d.Feedback)
	require.Len(t, d.Warnings, 1)
	require.Equal(t, policy.RetryTurn, send().Action)
}

// A repeated call gets the answer it got: a denial stays one, although the
// script would now say something else. The id alone is no reason to allow.
func TestDuplicateGuardRemembersADenial(t *testing.T) {
	dir := t.TempDir()
	count, mended := filepath.Join(dir, "count"), filepath.Join(dir, "mended")
	eng := openText(t, `
pre_tool_execution:
  - name: scan
    command: |
      echo called >>`+count+`
      if [ -e `+mended+` ]; then echo '{"decision": "allow"}'; else echo '{"decision": "deny", "reason": "found one"}'; fi
`)
	call := func(session, id, command string) *policy.Decision {
		return fired(t, eng, hookc.PreToolExecution, policy.NewContext("").
			Set(policy.FieldSessionID, session).
			Set(policy.FieldToolUseID, id).
			Set(policy.FieldToolName, "Bash").
			Set(policy.FieldCwd, dir).
			Set(policy.FieldToolInput, map[string]any{"command": command}))
	}
	calls := func() int { return len(lines(t, count)) }
	first := call("s", "c1", "ls")
	require.Equal(t, policy.Block, first.Action)
	require.NoError(t, os.WriteFile(mended, nil, 0o644))
	for range 3 {
		again := call("s", "c1", "ls")
		require.Equal(t, []any{policy.Block, policy.Deny, "scan", []string{"found one"}},
			[]any{again.Action, again.Verdict, again.By, again.Reasons})
	}
	require.Equal(t, 1, calls(), "a repeat runs nothing")

	require.Equal(t, policy.Allow, call("s", "c1", "ls -l").Verdict, "other arguments are another call")
	require.Equal(t, policy.Allow, call("s", "c2", "ls").Verdict, "and so is another id")
	require.Equal(t, policy.Allow, call("t", "c1", "ls").Verdict, "and another session")
	require.Equal(t, 4, calls())
	require.NoError(t, os.Remove(mended))
	require.Equal(t, policy.Block, call("s", "", "ls").Action, "a call without an id is never known")
	require.Equal(t, policy.Block, call("s", "", "ls").Action)
	require.Equal(t, 6, calls())
	require.Equal(t, policy.Allow, call("s", "c2", "ls").Verdict)
	require.Equal(t, policy.Block, call("s", "c1", "ls").Action)
	require.Equal(t, 6, calls())
}

// lines are the lines of a log that scripts append to; none without the file.
func lines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	return strings.Fields(string(text))
}

// logged is a policy of n scripts that note when they begin and when they end. One
// ends when so many have begun, and 20 ms later.
func logged(n, begun int, log, head string) string {
	out := head
	for i := range n {
		out += fmt.Sprintf("      - {name: h%d, command: 'echo begin >>%s; while [ $(grep -c begin %s) -lt %d ]; do sleep 0.01; done; sleep 0.02; echo end >>%s'}\n", i, log, log, begun, log)
	}
	return out
}

// deepest is how many scripts of a log ran at a time, at most.
func deepest(t *testing.T, log string, n int) int {
	t.Helper()
	all, now, most := lines(t, log), 0, 0
	require.Len(t, all, 2*n)
	for _, line := range all {
		if line == "begin" {
			now++
		} else {
			now--
		}
		most = max(most, now)
	}
	return most
}

func TestMaxConcurrentIsHonoured(t *testing.T) {
	for limit := 1; limit <= 3; limit++ {
		log := filepath.Join(t.TempDir(), "log")
		eng := openText(t, logged(6, limit, log, fmt.Sprintf("defaults: {max_concurrent: %d}\nnotify:\n  - name: g\n    parallel:\n", limit)))
		fired(t, eng, hookc.Notify, policy.NewContext("").Set(policy.FieldMessage, "x"))
		assert.LessOrEqual(t, deepest(t, log, 6), limit)
		assert.Equal(t, limit, deepest(t, log, 6), "the room there is is used")
	}
}

// Five scripts that each wait until all five have begun: they end only if they
// run together, whatever the clock says.
func TestIndependentScriptsOverlap(t *testing.T) {
	for name, declared := range map[string]string{
		"observers":          "world: read, writes: [], may: []",
		"speculative guards": "world: read, writes: [], speculative: true, on_error: deny",
	} {
		t.Run(name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "log")
			yaml := "pre_tool_execution:\n"
			for i := range 5 {
				yaml += fmt.Sprintf("  - {name: h%d, %s, command: 'echo begin >>%s; while [ $(wc -l <%s) -lt 5 ]; do sleep 0.01; done'}\n", i, declared, log, log)
			}
			d := fired(t, openText(t, yaml), hookc.PreToolExecution, faultCall(t.TempDir(), ""))
			assert.Equal(t, policy.Proceed, d.Action)
			assert.Empty(t, d.Failed)
			assert.Len(t, lines(t, log), 5)
		})
	}
	t.Run("undeclared ones are serial", func(t *testing.T) {
		log := filepath.Join(t.TempDir(), "log")
		eng := openText(t, logged(5, 1, log, "pre_tool_execution:\n"))
		fired(t, eng, hookc.PreToolExecution, faultCall(t.TempDir(), ""))
		assert.Equal(t, 1, deepest(t, log, 5))
	})
}

// A rule that is known to end the chain before any process is needed: none is
// started, not even one that might have been.
func TestHaltAtSlotZeroStartsNoScript(t *testing.T) {
	early := "world: read, writes: [], speculative: true"
	for name, rule := range map[string]string{
		"deny":                         `{name: rule, type: expr, deny: 'tool_name == "Bash"', reason: no}`,
		"skip":                         `{name: rule, type: expr, skip: 'tool_name == "Bash"'}`,
		"stop":                         `{name: rule, type: expr, stop: 'tool_name == "Bash"'}`,
		"rego":                         `{name: rule, type: rego, source: "package p\n\ndeny contains \"no\" if input.tool_name == \"Bash\""}`,
		"ask and the error of another": `{name: rule, type: expr, rules: [{ask: 'tool_name == "Bash"'}, {deny: 'len(raw.number) > 0'}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var attempts atomic.Int64
			yaml := "pre_tool_execution:\n  - " + rule + "\n"
			for i, declared := range []string{early, early, "pure: true", "world: read, writes: [], may: []", "on_error: deny"} {
				yaml += fmt.Sprintf("  - {name: h%d, command: 'echo h%d >>%s/log', %s}\n", i, i, dir, declared)
			}
			eng := openText(t, yaml, host.Debug[hookc.Option](func(runner.DebugRecord) { attempts.Add(1) }))
			in := faultCall(dir, "")
			in.Set(policy.FieldRaw, map[string]any{"number": 5})
			d := fired(t, eng, hookc.PreToolExecution, in)
			require.NoError(t, eng.Close())
			assert.False(t, d.Permits())
			assert.Equal(t, "rule", d.By)
			assert.Zero(t, attempts.Load())
			assert.Empty(t, lines(t, filepath.Join(dir, "log")))
			for _, h := range d.Hooks[1:] {
				assert.Equal(t, policy.StatusNotStarted, h.Status, h.Name)
			}
		})
	}
}

// A rule ends the chain behind scripts that must run all the same: they run,
// and what comes after the rule is not started although it could be.
func TestKnownHaltStartsNothingBehindIt(t *testing.T) {
	dir := t.TempDir()
	eng := openText(t, `
pre_tool_execution:
  - {name: before, command: 'echo before >>`+dir+`/log; sleep 0.1'}
  - {name: rule, type: expr, deny: 'tool_name == "Bash"', reason: "no"}
  - {name: after, command: 'echo after >>`+dir+`/log', world: read, reads: [], writes: [], speculative: true}
`)
	d := fired(t, eng, hookc.PreToolExecution, faultCall(dir, ""))
	require.NoError(t, eng.Close())
	assert.Equal(t, []string{"no"}, d.Reasons)
	assert.Equal(t, []string{"before"}, lines(t, filepath.Join(dir, "log")))
}

// A halt that becomes known while later scripts run ends them: with their
// families and within a second. The answer does not wait for that.
func TestKnownHaltEndsLaterScripts(t *testing.T) {
	dir := t.TempDir()
	mark := fmt.Sprintf("%d.halt", os.Getpid())
	eng := openText(t, `
pre_tool_execution:
  - name: guard
    command: |
      while [ "$(wc -l <`+dir+`/begun)" -lt 3 ]; do sleep 0.01; done
      echo '{"decision": "deny", "reason": "no"}'
    world: read
    writes: []
    speculative: true
  - {name: plain, command: 'echo x >>`+dir+`/begun; sleep 30', env: {FAULT_MARK: "`+mark+`"}, world: read, writes: [], speculative: true}
  - {name: family, command: 'echo x >>`+dir+`/begun; sleep 30 & sh -c "sleep 30; :" & wait', env: {FAULT_MARK: "`+mark+`"}, world: read, writes: [], speculative: true}
  - {name: deaf, command: 'trap "" TERM; echo x >>`+dir+`/begun; sleep 30', env: {FAULT_MARK: "`+mark+`"}, world: read, writes: [], speculative: true}
`)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "begun"), nil, 0o644))
	d := fired(t, eng, hookc.PreToolExecution, faultCall(dir, ""))
	assert.Equal(t, []string{"no"}, d.Reasons)
	assert.Empty(t, d.Failed)
	for _, h := range d.Hooks[1:] {
		assert.Equal(t, policy.StatusSquashed, h.Status, h.Name)
	}
	assert.Empty(t, processes.LeftBehind(mark), "a second later, and before the engine is closed")
	assert.Empty(t, processes.Children(), "reaped")
}

// A later script is ended as soon as the halt is known, and not only when what
// comes before the halt has ended too: here that waits for it.
func TestKnownHaltEndsLaterScriptsAtOnce(t *testing.T) {
	dir := t.TempDir()
	eng := openText(t, `
pre_tool_execution:
  - {name: before, command: 'until [ -e `+dir+`/ended ]; do sleep 0.01; done', world: read, writes: [], may: [], on_error: skip}
  - name: guard
    command: |
      until [ -e `+dir+`/begun ]; do sleep 0.01; done
      echo '{"decision": "deny", "reason": "no"}'
    world: read
    writes: []
    speculative: true
  - {name: after, command: 'trap ": >`+dir+`/ended; exit" TERM; : >`+dir+`/begun; sleep 30 & wait', world: read, writes: [], speculative: true}
`)
	d := fired(t, eng, hookc.PreToolExecution, faultCall(dir, ""))
	assert.Equal(t, []string{"no"}, d.Reasons)
	assert.Empty(t, d.Failed)
	assert.Equal(t, []policy.Status{policy.StatusRan, policy.StatusRan, policy.StatusSquashed},
		[]policy.Status{d.Hooks[0].Status, d.Hooks[1].Status, d.Hooks[2].Status})
}

// The count of a gate is one under load: of many stops at once of one session
// exactly every ninth is let through.
func TestGateCountsUnderLoad(t *testing.T) {
	eng := openText(t, "stop:\n  - {name: never, type: expr, deny: 'stop_reason != \"enough\"', reason: not yet}\n")
	var passed, blocked atomic.Int64
	var all sync.WaitGroup
	for range 9 {
		all.Go(func() {
			for range 10 {
				d, err := eng.Fire(context.Background(), hookc.StopEvent, policy.NewContext("").Set(policy.FieldSessionID, "s").Set(policy.FieldStopReason, "done"))
				switch {
				case !assert.NoError(t, err):
				case d.Action == policy.Proceed:
					passed.Add(1)
				default:
					blocked.Add(1)
				}
			}
		})
	}
	all.Wait()
	assert.Equal(t, []int64{10, 80}, []int64{passed.Load(), blocked.Load()})
}
