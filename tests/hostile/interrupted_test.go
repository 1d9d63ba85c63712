//go:build unix

package hostile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	ossignal "os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/programs"
)

// slow is a user's policy with a hook that ends only when it is told to, and
// that says when it has begun.
const slow = "pre_tool_execution:\n  - {name: slow, command: 'echo > $HOME/begun; sleep 600', timeout: 600, on_error: deny}\ndefaults: {chain_timeout: 600}\n"

// A signal to end, and a deadline, are answered by the posture in the agent's
// words.
func TestInterruptedAnswersFirst(t *testing.T) {
	// A child starts with the default of a signal that its parent handles: with
	// SIGHUP ignored, as by nohup, it would rightly go on.
	hups := make(chan os.Signal, 1)
	ossignal.Notify(hups, syscall.SIGHUP)
	defer ossignal.Stop(hups)
	for road, words := range roads(t) {
		for name, signal := range map[string]os.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT, "SIGHUP": syscall.SIGHUP} {
			t.Run(road+" "+name, func(t *testing.T) {
				h := newHouse(t)
				require.NoError(t, put(h.home, ".config/hookc/hooks.yaml", slow))
				cmd := exec.Command(words[0], words[1:]...)
				cmd.Dir, cmd.Env, cmd.Stdin = h.project, h.env, bytes.NewReader([]byte(removal))
				var out bytes.Buffer
				cmd.Stdout = &out
				require.NoError(t, cmd.Start())
				begun := filepath.Join(h.home, "begun")
				require.Eventually(t, func() bool { _, err := os.Stat(begun); return err == nil }, hang, 10*time.Millisecond)
				require.NoError(t, cmd.Process.Signal(signal))
				assert.Error(t, cmd.Wait())
				assert.Equal(t, 2, cmd.ProcessState.ExitCode())
				assert.Contains(t, out.String(), `"permissionDecision":"deny"`)
				assert.Contains(t, out.String(), "interrupted")
			})
		}
	}
}

// manyRules is a policy that takes longer to read and to compile than the tests
// give it, and more memory.
func manyRules() string {
	out := strings.Builder{}
	out.WriteString("pre_tool_execution:\n")
	for i := range 15_000 {
		fmt.Fprintf(&out, "  - {name: r%d, deny: 'command contains \"x%d\"', reason: no}\n", i, i)
	}
	return out.String()
}

// A deadline is kept whatever the process is doing: a hook runs, a policy is
// compiled, a rule or a regular expression looks on. What is named and is no file
// is not read. None of the policies denies by itself.
func TestDeadlineIsKept(t *testing.T) {
	const late = "no answer before the deadline of "
	guard := func(rule string) string { return "pre_tool_execution:\n  - {name: g, " + rule + "}\n" }
	for name, c := range map[string]struct {
		policy, command, deadline string
		says                      []string
	}{
		"a hook":               {slow, "ls", "2s", []string{late + "2s"}},
		"compile":              {manyRules(), "ls", "100ms", []string{late + "100ms"}},
		"a regular expression": {guard(`deny: 'command matches "(x?x?x?x?x?){150}[yz]"'`), strings.Repeat("x", 4<<20), "1s", []string{late + "1s"}},
		"an expression":        {guard(`deny: 'any(1..100000000, any(1..100000000, # == -1))'`), "ls", "1s", []string{late + "1s", "memory", "took longer", "range"}},
		"Rego": {guard(`source: "package p\ndeny contains \"no\" if count([1 | some i in numbers.range(1, 90000); some j in numbers.range(1, 90000); i * j == -1]) > 0"`),
			"ls", "1s", []string{late + "1s", "took longer", "budget", "longer", "memory"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			require.NoError(t, put(h.home, ".config/hookc/hooks.yaml", c.policy))
			for words, event := range map[string]string{"claude": `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":%q}}`,
				"": `{"event":"pre_tool_execution","tool_name":"Bash","tool_input":{"command":%q}}`} {
				args := []string{programs.Hookc(t), "run", "PreToolUse", "--deadline", c.deadline}
				denied := `"action":"block"`
				if words != "" {
					args, denied = append(args, "--dialect", words), `"permissionDecision":"deny"`
				}
				a := h.ask(t, fmt.Sprintf(event, c.command), args...)
				assert.Equal(t, 2, a.code, a.stderr)
				assert.Contains(t, a.stdout, denied)
				assert.True(t, slices.ContainsFunc(c.says, func(s string) bool { return strings.Contains(a.stdout, s) }), "%s", a.stdout)
			}
		})
	}
	for name, make := range specials() {
		t.Run("-f is "+name, func(t *testing.T) {
			h := newHouse(t)
			path := filepath.Join(h.home, "special.yaml")
			require.NoError(t, make(path))
			a := h.ask(t, removal, append(roads(t)["run"], "-f", path)...)
			assert.Equal(t, 2, a.code)
			assert.Contains(t, a.stdout, `"permissionDecision":"deny"`)
		})
	}
}

// memoryIsBounded: a process that uses too much memory answers by the posture,
// and one that does not answers by itself.
func memoryIsBounded(t *testing.T, program string) {
	h := newHouse(t)
	ask := func() answer {
		return h.ask(t, removal, program, "run", "PreToolUse", "--dialect", "claude", "--deadline", "100s")
	}
	a := ask()
	assert.Contains(t, a.stdout, refused)
	require.NoError(t, put(h.home, ".config/hookc/hooks.yaml", manyRules()))
	a = ask()
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.stdout, `"permissionDecision":"deny"`)
	assert.Contains(t, a.stdout, fmt.Sprintf("hookc uses more than %d MiB of memory", boundMemory>>20))
}

// A refusal stays one when nobody reads it any more: the exit code says so.
func TestClosedOutputRefuses(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]string{"decided": mine, "late": slow} {
		for _, words := range [][]string{{programs.Hookc(t), "run"}, {programs.Hookc(t), "run", "--dialect", "claude"}, {programs.Hookgate(t), "--dialect", "claude"}} {
			h := newHouse(t)
			require.NoError(t, put(h.home, ".config/hookc/hooks.yaml", policy))
			read, write, err := os.Pipe()
			require.NoError(t, err)
			require.NoError(t, read.Close())
			cmd := exec.Command(words[0], append(words[1:], "--deadline", "1s", "PreToolUse")...)
			cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout = h.project, h.env, strings.NewReader(removal), write
			assert.Error(t, cmd.Run())
			require.NoError(t, write.Close())
			assert.Equal(t, 2, cmd.ProcessState.ExitCode(), "%s %s", name, words)
		}
	}
}

// An event is answered when it is whole, also where its stream stays open.
func TestOpenStreamIsAnswered(t *testing.T) {
	for road, words := range roads(t) {
		t.Run(road, func(t *testing.T) {
			h := newHouse(t)
			cmd := exec.Command(words[0], words[1:]...)
			cmd.Dir, cmd.Env = h.project, h.env
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			defer in.Close()
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			_, err = io.WriteString(in, removal+"\n")
			require.NoError(t, err)
			said, err := io.ReadAll(out)
			require.NoError(t, err)
			assert.Contains(t, string(said), refused)
			assert.Error(t, cmd.Wait())
		})
	}
}
