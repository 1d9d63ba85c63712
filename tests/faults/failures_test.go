//go:build unix

package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/programs"
)

// decision is the part of a Decision that these tests look at.
type decision struct {
	Action, Verdict, Control, By string
	Reasons                      []string
	Failed                       []failure
	Hooks                        []struct {
		Name, Status string
		Attempts     int
	}
}

type failure struct {
	Error, Hook, Kind string
	OnError           string `json:"on_error"`
}

// place is a folder with a policy, for one run of the command.
type place struct{ dir string }

func newPlace(t *testing.T, policy string) place {
	p := place{t.TempDir()}
	p.write(t, "hooks.yaml", policy, 0o644)
	return p
}

func (p place) write(t *testing.T, name, content string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, name), []byte(content), mode))
}

// run is `hookc run` in the folder, in a session of its own.
func (p place) run(t *testing.T, event string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(programs.Hookc(t), "run", "-f", "hooks.yaml")
	cmd.Dir, cmd.Stdin = p.dir, strings.NewReader(event)
	cmd.Env = append(os.Environ(), "HOME="+p.dir, "XDG_STATE_HOME="+filepath.Join(p.dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(p.dir, "config"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// decide runs the command to its end. It never panics, whatever hooks do.
func (p place) decide(t *testing.T, event string) (d decision, exit int) {
	t.Helper()
	cmd := p.run(t, event)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the exit code is looked at
	require.NotContains(t, stderr.String(), "internal error")
	require.NotContains(t, stderr.String(), "panic")
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &d), "%s%s", &stdout, &stderr)
	return d, cmd.ProcessState.ExitCode()
}

// alive reports whether the process whose id a hook left in a file is there.
func (p place) alive(t *testing.T, name string) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	return syscall.Kill(pid, 0) == nil
}

// wait waits until a file is there and has content.
func (p place) wait(t *testing.T, name string) {
	t.Helper()
	require.Eventually(t, func() bool {
		info, err := os.Stat(filepath.Join(p.dir, name))
		return err == nil && info.Size() > 0
	}, 2*time.Minute, 5*time.Millisecond, name)
}

const bashCall = `{"event": "pre_tool_execution", "tool_name": "Bash", "tool_input": {"command": "ls"}}`

// postures are what on_error makes of a failure at a guard: exit code, action,
// and who is said to decide.
var postures = []struct {
	word, action, by string
	exit             int
}{
	{"skip", "proceed", "", 0},
	{"abort", "block", "h", 2},
	{"deny", "block", "h", 2},
	{"ask", "ask", "h", 4},
}

// failures are the ways in which a hook's process can fail.
var failures = []struct{ name, command, event, kind, error string }{
	{"a missing script", "./missing.sh", "", "exit", "exit status 127: command not found: "},
	{"a script that is not executable", "./plain.sh", "", "exit", "exit status 126: not executable: "},
	{"exit 1", "exit 1", "", "exit", "exit status 1"},
	{"exit 2, which is a failure in jcli", "exit 2", "", "exit", "exit status 2"},
	{"exit 3, and a word about it", "echo oh >&2; exit 3", "", "exit", "exit status 3: oh"},
	{"exit 127", "exit 127", "", "exit", "exit status 127: command not found"},
	{"killed by a signal", "kill -9 $$", "", "signal", "ended by signal: killed"},
	{"a verdict and a failure", `echo '{"decision": "allow"}'; exit 1`, "", "exit", "exit status 1"},
	{"text", "echo hello", "", "parse", "answer is not JSON: "},
	{"half an object", `printf '{"decision":'`, "", "parse", "answer is not JSON: unexpected EOF"},
	{"an array", "echo '[1]'", "", "parse", "answer is not a JSON object"},
	{"two objects", "echo '{}{}'", "", "parse", "answer is not JSON: text after the JSON value"},
	{"an unknown decision", `echo '{"decision": "maybe"}'`, "", "parse", ""},
	{"a value of the wrong type", `echo '{"additional_context": {}}'`, "", "parse", ""},
	{"10 MB", "head -c 10485760 /dev/zero | tr '\\0' x", "", "oversize", "wrote more than 1024 KiB to standard output"},
	{"a missing cwd", "true", `{"event": "pre_tool_execution", "cwd": "/does/not/exist", "tool_name": "Bash", "tool_input": {}}`,
		"spawn", "working directory /does/not/exist does not exist or is not a directory"},
	{"a cwd that is a file", "true", `{"event": "pre_tool_execution", "cwd": "/dev/null", "tool_name": "Bash", "tool_input": {}}`,
		"spawn", "working directory /dev/null does not exist or is not a directory"},
	{"out of time", "sleep 30", "", "timeout", "timed out after 200ms"},
}

// TestProcessFailures: each failure is declared in the Decision with the
// posture that applied, and the posture decides.
func TestProcessFailures(t *testing.T) {
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			for _, posture := range postures {
				p := newPlace(t, fmt.Sprintf("pre_tool_execution:\n  - name: h\n    timeout: 200ms\n    on_error: %s\n    command: |\n      %s\n", posture.word, f.command))
				if f.kind != "timeout" {
					p.write(t, "hooks.yaml", fmt.Sprintf("pre_tool_execution:\n  - name: h\n    on_error: %s\n    command: |\n      %s\n", posture.word, f.command), 0o644)
				}
				p.write(t, "plain.sh", "exit 0\n", 0o644)
				event := f.event
				if event == "" {
					event = bashCall
				}
				d, exit := p.decide(t, event)
				require.Len(t, d.Failed, 1, posture.word)
				assert.True(t, strings.HasPrefix(d.Failed[0].Error, f.error), d.Failed[0].Error)
				d.Failed[0].Error = ""
				assert.Equal(t, failure{Hook: "h", Kind: f.kind, OnError: posture.word}, d.Failed[0])
				assert.Equal(t, []any{posture.exit, posture.action, posture.by, "failed"}, []any{exit, d.Action, d.By, d.Hooks[0].Status}, posture.word)
			}
		})
	}
}

// TestUnreadInput: a hook need not read its event, however large it is.
func TestUnreadInput(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "pre_tool_execution:\n  - {name: h, on_error: deny, command: 'echo ''{\"decision\": \"allow\"}'''}\n")
	big := strings.Repeat("x", 5<<20)
	d, exit := p.decide(t, `{"event": "pre_tool_execution", "tool_name": "Bash", "tool_input": {"command": "`+big+`"}}`)
	assert.Empty(t, d.Failed)
	assert.Equal(t, []any{0, "proceed", "allow"}, []any{exit, d.Action, d.Verdict})
}

// TestLargeInputIsReadWhole: what is read is the whole event.
func TestLargeInputIsReadWhole(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "pre_tool_execution:\n  - {name: h, on_error: deny, protocol: claude, command: 'test $(wc -c) -gt 5242880 || exit 2'}\n")
	d, exit := p.decide(t, `{"event": "pre_tool_execution", "tool_name": "Bash", "tool_input": {"command": "`+strings.Repeat("x", 5<<20)+`"}}`)
	assert.Empty(t, d.Failed)
	assert.Equal(t, []any{0, "proceed"}, []any{exit, d.Action})
}

// TestStubbornChild: a hook that runs out of time is ended with all it
// started, also what refuses to.
func TestStubbornChild(t *testing.T) {
	t.Parallel()
	p := newPlace(t, `pre_tool_execution:
  - name: h
    timeout: 400ms
    on_error: deny
    command: |
      trap "" TERM
      sh -c 'trap "" TERM; echo $$ > child; while :; do sleep 1; done' &
      echo $$ > parent
      while :; do sleep 1; done
`)
	begun := time.Now()
	d, exit := p.decide(t, bashCall)
	assert.Less(t, time.Since(begun), 5*time.Minute, "it waited for its hook")
	assert.Equal(t, []any{2, "block"}, []any{exit, d.Action})
	assert.Equal(t, []failure{{"timed out after 400ms", "h", "timeout", "deny"}}, d.Failed)
	for _, name := range []string{"child", "parent"} {
		require.Eventually(t, func() bool { return !p.alive(t, name) }, 2*time.Minute, 10*time.Millisecond, "%s is left", name)
	}
}

// TestNobodyReadsTheAnswer: a refusal is exit 2 also when the decision cannot
// be written; what would proceed is then exit 3.
func TestNobodyReadsTheAnswer(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "pre_tool_execution:\n  - {name: h, deny: 'tool_name == \"Bash\"', reason: no}\n")
	for event, exit := range map[string]int{bashCall: 2, strings.Replace(bashCall, `"Bash"`, `"Read"`, 1): 3} {
		reader, writer, err := os.Pipe()
		require.NoError(t, err)
		require.NoError(t, reader.Close())
		cmd := p.run(t, event)
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = writer, &stderr
		_ = cmd.Run() // the exit code is looked at
		require.NoError(t, writer.Close())
		assert.Equal(t, exit, cmd.ProcessState.ExitCode(), &stderr)
		assert.Contains(t, stderr.String(), "hookc: the decision cannot be written")
	}
}

// TestInterrupted: Ctrl-C and SIGTERM end hookc at once, with everything it
// started, and the answer lets nothing through.
func TestInterrupted(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, "pre_tool_execution:\n  - {name: h, timeout: 900, command: 'sleep 900 & echo $! > child; wait'}\n")
			cmd := p.run(t, bashCall)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			require.NoError(t, cmd.Start())
			p.wait(t, "child")
			begun := time.Now()
			require.NoError(t, syscall.Kill(-cmd.Process.Pid, signal)) // as a terminal does: the whole group
			_ = cmd.Wait()
			assert.Less(t, time.Since(begun), 10*time.Minute, "it waited for its hook")
			assert.Equal(t, 130, cmd.ProcessState.ExitCode())
			assert.Equal(t, "hookc: cancelled\n", stderr.String())
			var d decision
			require.NoError(t, json.Unmarshal(stdout.Bytes(), &d))
			assert.Equal(t, "cancelled", d.Action)
			require.Eventually(t, func() bool { return !p.alive(t, "child") }, 2*time.Minute, 10*time.Millisecond)
		})
	}
}

// TestInterruptedWhileReading: Ctrl-C ends a command that waits for the rest
// of its event.
func TestInterruptedWhileReading(t *testing.T) {
	for name, args := range map[string][]string{"run": {"run", "-f", "hooks.yaml"}, "explain": {"explain", "-f", "hooks.yaml", "--input", "-"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, "notify: []\n")
			cmd := p.run(t, "")
			cmd.Args, cmd.Stdin = append(cmd.Args[:1], args...), nil
			stdin, err := cmd.StdinPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			_, err = stdin.Write(bytes.Repeat([]byte(" "), 1<<20)) // more than a pipe holds: it is being read
			require.NoError(t, err)
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
			late := time.AfterFunc(2*time.Minute, func() { _ = stdin.Close() })
			_ = cmd.Wait() // the exit code is looked at
			assert.True(t, late.Stop(), "it went on reading")
			assert.Equal(t, 130, cmd.ProcessState.ExitCode())
		})
	}
}

// TestAsyncIsNotWaitedFor: a one-shot run hands an async hook over and
// returns; the hook ends later all the same, and is counted once.
func TestAsyncIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "pre_tool_execution:\n  - {name: h, async: true, timeout: 900, command: 'while [ ! -e go ]; do sleep 0.05; done; echo done > effect'}\n")
	d, exit := p.decide(t, bashCall)
	assert.NoFileExists(t, filepath.Join(p.dir, "effect"))
	assert.Equal(t, []any{0, "proceed", "async"}, []any{exit, d.Action, d.Hooks[0].Status})
	p.write(t, "go", "", 0o644)
	p.wait(t, "effect")
	require.Eventually(t, func() bool { return p.runs(t) == 1 }, 2*time.Minute, 50*time.Millisecond)
}

// TestAsyncTimeout: the supervisor enforces the timeout of an async hook.
func TestAsyncTimeout(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "pre_tool_execution:\n  - {name: h, async: true, timeout: 300ms, command: 'sleep 60 & echo $! > child; wait'}\n")
	_, exit := p.decide(t, bashCall)
	assert.Equal(t, 0, exit)
	p.wait(t, "child")
	require.Eventually(t, func() bool { return !p.alive(t, "child") }, 2*time.Minute, 10*time.Millisecond)
}

// runs is how often the first hook ran, by `hooks status`.
func (p place) runs(t *testing.T) int {
	cmd := p.run(t, "")
	cmd.Args = []string{"hookc", "hooks", "status", "--json", "-f", "hooks.yaml"}
	out, err := cmd.Output()
	require.NoError(t, err)
	var status struct{ Counters []struct{ Runs int } }
	require.NoError(t, json.Unmarshal(out, &status))
	if len(status.Counters) == 0 {
		return 0
	}
	return status.Counters[0].Runs
}
