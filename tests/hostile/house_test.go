//go:build unix

package hostile

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/programs"
)

// hang is when a test gives up: a bound against waiting for ever, no figure.
const hang = 2 * time.Minute

// mine is the user's policy, and what it says of what it refuses.
const (
	mine    = "pre_tool_execution:\n  - {name: mine, locked: true, filter: {tool_name: Bash}, deny: 'command contains \"rm -rf\"', reason: the user says no}\n"
	refused = "the user says no"
	removal = `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}`
)

// house is a user with a policy, and a project.
type house struct {
	home, project string
	env           []string
}

func newHouse(t *testing.T) *house {
	t.Helper()
	dir, err := os.MkdirTemp("", "hookc-hostile-")
	require.NoError(t, err)
	h := &house{home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project")}
	require.NoError(t, put(h.home, ".config/hookc/hooks.yaml", mine))
	require.NoError(t, os.MkdirAll(filepath.Join(h.project, ".git"), 0o755))
	h.env = []string{"HOME=" + h.home, "PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + filepath.Join(h.home, "run")}
	t.Cleanup(func() { // what nobody may look into cannot be removed either
		os.Chmod(filepath.Join(h.project, ".hookc"), 0o755)
		// What the gate started may write a last file after the gate has answered.
		assert.Eventually(t, func() bool { return os.RemoveAll(dir) == nil }, hang, 10*time.Millisecond)
	})
	return h
}

// answer is what a program said.
type answer struct {
	stdout, stderr string
	code           int
	took           time.Duration
}

// ask runs a program on an event in the project.
func (h *house) ask(t *testing.T, event string, args ...string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = h.project, h.env, bytes.NewReader([]byte(event))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	require.True(t, err == nil || errors.As(err, &exit), "%v", err)
	require.NoError(t, ctx.Err(), "no answer")
	return answer{out.String(), errs.String(), cmd.ProcessState.ExitCode(), time.Since(began)}
}

// roads are the ways an event is decided by a process of its own.
func roads(t *testing.T) map[string][]string {
	return map[string][]string{
		"run":  {programs.Hookc(t), "run", "PreToolUse", "--dialect", "claude"},
		"gate": {programs.Hookgate(t), "PreToolUse", "--dialect", "claude", "--deadline", "60s"},
	}
}
