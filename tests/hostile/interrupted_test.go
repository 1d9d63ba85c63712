//go:build unix

package hostile

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slow is a user's policy with a hook that ends only when it is told to, and
// that says when it has begun.
const slow = "pre_tool_execution:\n  - {name: slow, command: 'echo > $HOME/begun; sleep 600', timeout: 600, on_error: deny}\ndefaults: {chain_timeout: 600}\n"

// A signal to end, and a deadline, are answered by the posture in the agent's
// words.
func TestInterruptedAnswersFirst(t *testing.T) {
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

// A deadline is kept whatever the process is doing: here a hook runs, there a
// policy is read that never ends.
func TestDeadlineIsKept(t *testing.T) {
	h := newHouse(t)
	require.NoError(t, put(h.home, ".config/hookc/hooks.yaml", slow))
	a := h.ask(t, removal, append(roads(t)["run"], "--deadline", "3s")...)
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.stdout, "no answer before the deadline of 3s")
	canonical := `{"event":"pre_tool_execution","tool_name":"Bash","tool_input":{"command":"ls"}}`
	a = h.ask(t, canonical, roads(t)["run"][0], "run", "--deadline", "3s")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.stdout, `"action":"block"`)
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
