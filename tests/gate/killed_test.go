//go:build unix

package gate

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/tests/depth"
)

// TestKilledAfterTheAnswer: with `log: durable: true` who has read an answer finds its
// entry, though hookc run, or serve, is killed before it can do anything more.
func TestKilledAfterTheAnswer(t *testing.T) {
	h := newGateHouse(t)
	h.env = append(h.env, "GOMAXPROCS=1") // who writes has its turn when who answers waits
	h.settles = true
	h.write("hooks.yaml", "log: {durable: true}\n"+gatePolicy)
	require.Equal(t, 0, h.ask("", nil, h.hookc, "log", "enable").Exit)
	log := decisionlog.Folder(filepath.Join(h.home, "state", "hookc"))
	ask := func(cmd *exec.Cmd, what string, kill func() error) {
		cmd.Stdin = strings.NewReader(strings.Replace(removes, "rm x", "rm "+what, 1))
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = bufio.NewReader(out).ReadByte()
		require.NoError(t, err, what)
		require.NoError(t, kill())
		_ = cmd.Wait() // of one that was killed
		entries := 0
		for e, err := range decisionlog.Entries(log) {
			require.NoError(t, err)
			if input, _ := e.Input["tool_input"].(map[string]any); input["command"] == "rm "+what {
				entries++
			}
		}
		require.Equal(t, 1, entries, "of %s", what)
	}
	for i := range depth.Of(20) {
		cmd := h.command(h.hookc, "run", "PreToolUse", "--dialect", "claude")
		ask(cmd, fmt.Sprint("run ", i), func() error { return cmd.Process.Kill() })
	}
	for i := range depth.Of(5) {
		h.serve()
		if i == 0 {
			require.Equal(t, denied, h.removes())
			s, err := h.status()
			require.NoError(t, err)
			require.Equal(t, int64(1), s.Requests.Answered, "serve decides")
		}
		ask(h.command(h.gate, "PreToolUse", "--dialect", "claude", "--deadline", "30s"), fmt.Sprint("serve ", i), h.server.Process.Kill)
		<-h.ended
	}
}
