package diff

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

func pastOf(event policy.Event, command string, answers map[string]any) Past {
	in := policy.NewContext(event).Set(policy.FieldEvent, string(event)).Set(policy.FieldToolName, "Bash").Set(policy.FieldToolUseID, "same").
		Set(policy.FieldToolInput, map[string]any{"command": command})
	return Past{In: in, Answers: answers}
}

func answeredWith(stdout string) map[string]any {
	return map[string]any{"audit": map[string]any{"Outcome": map[string]any{"Exit": 0, "Stdout": stdout}, "Kind": "", "Error": ""}}
}

// TestRecordedAnswers: a script answers what it answered then where it is the same on
// both sides, and says nothing where it is another; nothing is started.
func TestRecordedAnswers(t *testing.T) {
	const old = `pre_tool_execution:
- {name: audit, command: ./none.sh}
- {name: no, deny: 'tool_input.command contains "zap"', reason: old}`
	const renamed = `pre_tool_execution:
- {name: audit, command: ./other.sh}
- {name: no, deny: 'tool_input.command contains "zap"', reason: new}`
	const reworded = `pre_tool_execution:
- {name: audit, command: ./none.sh}
- {name: no, deny: 'tool_input.command contains "zap"', reason: new}`
	refuses := pastOf(policy.PreToolExecution, "zap", answeredWith(`{"decision":"deny","reason":"then"}`))
	speaks := pastOf(policy.PreToolExecution, "zap", answeredWith(`{"additional_context":"then"}`))
	run := func(new string, past ...Past) *Report {
		return compare(t, old, new, Options{Events: 1, Recorded: func(give func(Past) error) error {
			for _, p := range past {
				if err := give(p); err != nil {
					return err
				}
			}
			return nil
		}})
	}
	recorded := func(r *Report) (n int) {
		for _, c := range r.Decisions {
			n += c.Recorded
		}
		return n
	}
	r := run(reworded, refuses)
	require.Zero(t, recorded(r), "the script refused first: %v", seen(r))
	require.Equal(t, 1, r.Tried[0].Recorded)
	require.Equal(t, 1, recorded(run(reworded, speaks)))
	r = run(renamed, refuses)
	require.Equal(t, 1, recorded(r))
	require.Equal(t, 1, r.Past.Unanswered)
	r = run(reworded, pastOf(policy.SessionEnd, "", nil), Past{In: pastOf(policy.PreToolExecution, "zap", nil).In, Masked: true})
	require.Equal(t, PastReport{LeftOut: 1, Masked: 1}, *r.Past)
	require.Contains(t, r.Text(), "1 recorded event not tried: another event or tool, or no hook of either policy\n")
}

// TestRecordedIsNotKept: what is tried of many events stays within bounds, and their
// error ends the comparison.
func TestRecordedIsNotKept(t *testing.T) {
	old, new := compiled(t, `pre_tool_execution: [{name: a, deny: 'tool_input.command contains "zap"', reason: no}]`), compiled(t, `pre_tool_execution: [{name: a, deny: 'tool_input.command contains "zip"', reason: no}]`)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const n = 20_000
	r, err := Compare(t.Context(), old, new, Options{Events: 1, Recorded: func(give func(Past) error) error {
		for i := range n {
			command := fmt.Sprintf("%02000d", i) // 40 MB of them
			if i%2 == 0 {
				command += "zap"
			}
			if err := give(pastOf(policy.PreToolExecution, command, nil)); err != nil {
				return err
			}
		}
		return nil
	}})
	require.NoError(t, err)
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(8<<20))
	require.Equal(t, n, r.Tried[0].Recorded)
	require.Equal(t, n/2, r.Decisions[0].Recorded)
	wrong := errors.New("damaged")
	_, err = Compare(t.Context(), old, new, Options{Events: 1, Recorded: func(func(Past) error) error { return wrong }})
	require.ErrorIs(t, err, wrong)
}
