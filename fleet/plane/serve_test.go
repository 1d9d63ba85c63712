package plane_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestServe: hookcd serve answers this user's socket by the bundle that is in force,
// and by the next one once it is; `hookc serve --config` and `hookc serve --listen`
// are hookcd serve with all the flags that follow.
func TestServe(t *testing.T) {
	for name, by := range map[string][]string{"hookcd serve": {"hookcd", "serve"}, "hookc serve": {"hookc", "serve"}} {
		t.Run(name, func(t *testing.T) {
			s, k := newSite(t), newSigner(t)
			m := newMachine(t, s, k, "")
			home := m.ownHome()
			s.put(k.pack(t, "v1", 1, policyOf("one")))
			policy := filepath.Join(t.TempDir(), "remote.yaml")
			require.NoError(t, os.WriteFile(policy, []byte("pre_tool_execution:\n  - {name: a, deny: 'true', reason: remote}\n"), 0o600))
			m.log = &journal{}
			m.running = exec.Command(filepath.Join(filepath.Dir(m.hookc), by[0]), "serve", "--config", m.config, "--listen", "127.0.0.1:0", "--policy", policy, "--drain", "5s")
			m.running.Env, m.running.Dir, m.running.Stderr = home, m.empty, m.log
			require.NoError(t, m.running.Start())
			cmd := m.running
			t.Cleanup(func() { cmd.Process.Kill(); _ = cmd.Wait() })
			m.until("v1 in force", func() bool { return m.inForce() == "v1" })
			m.until("it serves", func() bool {
				text := m.log.String()
				return strings.Contains(text, "hookc: serving on ") && strings.Contains(text, "hookcd: deciding events on 127.0.0.1:")
			})
			assert.Contains(t, m.gate(home, "one"), "now")
			assert.Empty(t, m.gate(home, "two"))
			s.put(k.pack(t, "v2", 2, policyOf("two")))
			m.until("v2 in force", func() bool { return m.inForce() == "v2" })
			assert.Contains(t, m.gate(home, "two"), "now")
			status := exec.Command(m.hookc, "serve", "status", "--json")
			status.Env = home
			said, err := status.Output()
			require.NoError(t, err)
			assert.Contains(t, string(said), `"answered": 3`, "the socket answered, and no hookc run")
			m.end(syscall.SIGTERM)
			assert.Zero(t, m.running.ProcessState.ExitCode(), m.log)
		})
	}
}

// ownHome is an environment of the test's own: no serve of whoever tests is met.
func (m *machine) ownHome() []string {
	m.t.Helper()
	home := m.t.TempDir()
	run, err := os.MkdirTemp("", "hookc-run-*") // a socket's name is short
	require.NoError(m.t, err)
	m.t.Cleanup(func() { os.RemoveAll(run) })
	require.NoError(m.t, os.Chmod(run, 0o700))
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + run, "XDG_STATE_HOME=" + home + "/state", "XDG_CONFIG_HOME=" + home + "/config"}
}

// gate is what hookgate answers an agent about a command.
func (m *machine) gate(env []string, command string) string {
	m.t.Helper()
	cmd := exec.Command(filepath.Join(filepath.Dir(m.hookc), "hookgate"), "PreToolUse", "--dialect", "claude")
	cmd.Env, cmd.Dir = env, m.empty
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"hook_event_name":"PreToolUse","session_id":"s","cwd":%q,"tool_name":"Bash","tool_input":{"command":%q}}`, m.empty, command))
	out, err := cmd.CombinedOutput()
	var refused *exec.ExitError
	if errors.As(err, &refused) && refused.ExitCode() == 2 { // and then out has the reason
		err = nil
	}
	require.NoError(m.t, err, string(out))
	return string(out)
}
