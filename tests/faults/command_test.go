package faults

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/state"
	"github.com/hookc/hookc/tests/processes"
	"github.com/hookc/hookc/tests/programs"
)

// hookcCommand is the real command with a state folder of its own and nothing
// of the user's.
func hookcCommand(t *testing.T, dir string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(programs.Hookc(t), args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_STATE_HOME=" + filepath.Join(dir, "state"),
		"XDG_CONFIG_HOME=" + filepath.Join(dir, "config"), "NO_COLOR=1"}, env...)
	return cmd
}

// The same rows through the real command, one process an event.
func TestFaultsThroughTheCommand(t *testing.T) {
	server := newFaultServer(t)
	defer server.close()
	pick := func(list []fault, names ...string) (out []fault) {
		for _, f := range list {
			if slices.Contains(names, f.name) {
				out = append(out, f)
			}
		}
		require.Len(t, out, len(names))
		return out
	}
	faults := slices.Concat(
		pick(scriptFaults(), "cwd missing", "exit 3", "SIGKILL", "half JSON", "oversize by one byte", "pipe closed", "timeout", "deadline, running"),
		pick(ruleFaults()[:4], "conflict", "budget"), pick(modelFaults(), "429", "slow body"), pick(modelFaultsAlone(), "no provider"))
	var rows []*faultRow
	for i := range faults {
		// Every posture somewhere, in other pairs for other faults.
		r := &faultRow{fault: &faults[i], provider: &faultProviders[i%2], id: fmt.Sprint("binary", rowCount.Add(1)), retry: -1,
			onError: faultPostures[i%5], onTimeout: faultPostures[i*2%5], dir: t.TempDir(), calls: new(atomic.Int64)}
		rows = append(rows, r)
	}
	bounded(3, len(rows), func(i int) {
		r := rows[i]
		file := filepath.Join(r.dir, "hooks.yaml")
		assert.NoError(t, os.WriteFile(file, []byte(r.policy()), 0o644))
		env := []string{"HOOKC_MODEL=m"}
		if r.fault.reply != nil {
			env = append(env, r.provider.address+"="+server.route(r.id, r.calls, r.fault.reply(*r.provider)))
		}
		for k := range faultEvents {
			r.command(t, &faultEvents[k], file, env)
		}
		assert.Empty(t, processes.LeftBehind(r.mark()), r.fault.name)
	})
}

func (r *faultRow) command(t *testing.T, e *faultEvent, file string, env []string) {
	place := fmt.Sprintf("%s, %s, %s", r.fault.name, e.name, r.name())
	in, err := r.input(e).Frozen(policy.Event(e.name)).MarshalJSON()
	assert.NoError(t, err)
	cmd := hookcCommand(t, r.dir, env, "run", e.name, "-f", file, "--json")
	cmd.Stdin = bytes.NewReader(in)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the exit status says it
	got, err := readWire(stdout.Bytes())
	if !assert.NoError(t, err, "%s: %s", place, stderr.String()) {
		return
	}
	text := ""
	for i := range got.Failed {
		text = got.Failed[i].Error
		assert.Contains(t, text, r.fault.text, place)
		got.Failed[i].Error = ""
	}
	want := r.expect(e, text)
	r.forgive(&want, &got)
	assert.Equal(t, want, got, place)
	code := map[string]int{"proceed": 0, "ask": 4}[want.Action]
	if want.Action != "proceed" && want.Action != "ask" {
		code = 2
	}
	assert.Equal(t, code, cmd.ProcessState.ExitCode(), place)
	if code != 0 {
		assert.NotEmpty(t, strings.TrimSpace(stderr.String()), "%s: the reason is on stderr", place)
	}
}

// An interrupt ends the command and what its hook has started.
func TestFaultInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no interrupt to send to one process")
	}
	dir := t.TempDir()
	mark := fmt.Sprintf("%d.interrupt", os.Getpid())
	file := filepath.Join(dir, "hooks.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
pre_tool_execution:
  - {name: slow, command: 'trap "" INT TERM; : >begun; sleep 30 & sleep 30', env: {FAULT_MARK: "`+mark+`"}, on_error: skip}
`), 0o644))
	for _, serial := range []string{"--serial=false", "--serial"} {
		cmd := hookcCommand(t, dir, nil, "run", "-f", file, "--json", serial)
		cmd.Stdin = strings.NewReader(`{"event": "pre_tool_execution", "tool_name": "Bash", "tool_input": {}, "cwd": ` + quoted(dir) + `}`)
		var stdout bytes.Buffer
		cmd.Stdout = &stdout
		require.NoError(t, cmd.Start())
		begun := filepath.Join(dir, "begun")
		require.Eventually(t, func() bool { _, err := os.Stat(begun); return err == nil }, 2*time.Minute, 5*time.Millisecond)
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		_ = cmd.Wait() // the exit status says it
		assert.Equal(t, 130, cmd.ProcessState.ExitCode())
		got, err := readWire(stdout.Bytes())
		require.NoError(t, err)
		assert.Equal(t, "cancelled", got.Action)
		assert.Empty(t, processes.LeftBehind(mark))
		require.NoError(t, os.Remove(begun))
	}
}

// The clock jumps between two processes. What one process measures it measures
// with a clock that cannot jump, and the executor takes none from its host;
// but the state folder holds times of day. A gate's count may then be lost,
// which costs blocks and lets nothing through; a remembered denial stays one.
func TestFaultClockJump(t *testing.T) {
	for name, shift := range map[string]int64{"back": 10 * 365 * 86400, "forward": -10 * 365 * 86400} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
			t.Setenv("HOME", dir)
			file := filepath.Join(dir, "hooks.yaml")
			require.NoError(t, os.WriteFile(file, []byte(`
stop:
  - {name: gate, deny: 'stop_reason != "enough"', reason: not yet}
pre_tool_execution:
  - {name: scan, command: 'echo called >>count; echo "{\"decision\": \"deny\", \"reason\": \"no\"}"'}
`), 0o644))
			fire := func(event string) wireDecision {
				cmd := hookcCommand(t, dir, nil, "run", "-f", file, "--json")
				cmd.Stdin = strings.NewReader(event)
				out, err := cmd.Output()
				require.Error(t, err, "it blocks")
				d, err := readWire(out)
				require.NoError(t, err)
				return d
			}
			stop := `{"event": "stop", "session_id": "s", "stop_reason": "done", "cwd": ` + quoted(dir) + `}`
			call := `{"event": "pre_tool_execution", "session_id": "s", "tool_use_id": "c", "tool_name": "Bash", "tool_input": {}, "cwd": ` + quoted(dir) + `}`
			for range 3 {
				require.Equal(t, "keep_working", fire(stop).Action)
				require.Equal(t, "block", fire(call).Action)
				require.Equal(t, 2, shiftTimes(t, dir, shift), "a count and an answer")
			}
			for range 4 {
				require.Equal(t, "keep_working", fire(stop).Action)
			}
			require.Equal(t, []string{"no"}, fire(call).Reasons)
			fire(strings.Replace(stop, `"s"`, `"another"`, 1))
			shiftTimes(t, dir, shift)
			fire(stop)
			assert.LessOrEqual(t, latest(t, dir, "gates.json"), time.Now().Unix(), "a record outlives the clock that wrote it by a day at most")
		})
	}
}

// latest is the last time of day in a file of a project's state.
func latest(t *testing.T, project, file string) int64 {
	memory, err := state.Open(project)
	require.NoError(t, err)
	text, err := memory.Read(file)
	require.NoError(t, err)
	var records []struct{ Time int64 }
	require.NoError(t, json.Unmarshal(text, &records))
	require.NotEmpty(t, records)
	return slices.MaxFunc(records, func(a, b struct{ Time int64 }) int { return cmp.Compare(a.Time, b.Time) }).Time
}

// shiftTimes changes the times of day in a project's state, as a jump of the
// clock would, and says how many there were.
func shiftTimes(t *testing.T, project string, seconds int64) int {
	changed := 0
	memory, err := state.Open(project)
	require.NoError(t, err)
	for _, file := range []string{"gates.json", "answers.json"} {
		require.NoError(t, memory.Update(file, func(text []byte) ([]byte, error) {
			var records []map[string]any
			if err := json.Unmarshal(text, &records); err != nil {
				return nil, err
			}
			for _, r := range records {
				r["time"] = int64(r["time"].(float64)) + seconds
				changed++
			}
			return json.Marshal(records)
		}))
	}
	return changed
}
