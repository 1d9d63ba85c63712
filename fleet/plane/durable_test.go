package plane_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDurable: a durable hook is kept by hookcd serve, whoever decides the event, until it
// has run: it is run again when it fails and when hookcd is killed. Without hookcd the
// Decision says that nothing keeps it.
func TestDurable(t *testing.T) {
	m := newMachine(t, newSite(t), newSigner(t), "")
	home := m.ownHome()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	has := func(name string) bool { _, err := os.Stat(at(name)); return err == nil }
	policy := at("hooks.yaml")
	require.NoError(t, os.WriteFile(policy, []byte(`post_tool_execution:
  - name: audit
    timeout: 5m
    async: true
    durable: true
    filter: {tool_name: Bash}
    command: |
      cd "`+dir+`"; echo "$HOOKC_WORK_ID" >> ran
      case $(wc -l < ran) in 2) echo broken >&2; exit 1;; 4) touch begun; exec sleep 600;; esac
      echo done >> ended
`), 0o600))
	ended := func() int { data, _ := os.ReadFile(at("ended")); return strings.Count(string(data), "\n") }
	ids := func() []string { data, _ := os.ReadFile(at("ran")); return strings.Fields(string(data)) }
	run := func(id string) string {
		cmd := exec.Command(m.hookc, "run", "post_tool_execution", "--json", "-f", policy)
		cmd.Env, cmd.Dir = home, m.empty
		cmd.Stdin = strings.NewReader(`{"event":"post_tool_execution","session_id":"s","tool_use_id":"` + id + `","tool_name":"Bash","tool_input":{"command":"x"}}`)
		out, err := cmd.Output()
		require.NoError(t, err)
		var d struct {
			Action   string
			Warnings []struct{ Code, Text string }
		}
		require.NoError(t, json.Unmarshal(out, &d))
		assert.Equal(t, "proceed", d.Action)
		if len(d.Warnings) == 0 {
			return ""
		}
		return d.Warnings[0].Code + " " + d.Warnings[0].Text
	}
	serve := func() {
		m.log = &journal{}
		m.running = exec.Command(filepath.Join(filepath.Dir(m.hookc), "hookcd"), "serve")
		m.running.Env, m.running.Dir, m.running.Stderr = home, m.empty, m.log
		require.NoError(t, m.running.Start())
		cmd := m.running
		t.Cleanup(func() { cmd.Process.Kill(); _ = cmd.Wait() })
		m.until("it serves", func() bool { return strings.Contains(m.log.String(), "hookc: serving on ") })
	}

	assert.Equal(t, "HK173 audit is durable, and it is started once, without a queue: no hookcd serve is running", run("a"))
	m.until("the hook ran all the same", func() bool { return ended() == 1 })
	assert.Empty(t, ids(), "without a queue it has no id")

	serve()
	assert.Empty(t, run("b"), "hookc run gives it to hookcd serve")
	m.until("it failed, and ran again", func() bool { return ended() == 2 })
	require.Len(t, ids(), 2)
	assert.Equal(t, ids()[0], ids()[1])
	assert.Empty(t, run("b"), "the same event again, decided by another process")
	assert.Empty(t, run("c"))
	m.until("it is under way", func() bool { return has("begun") })
	require.Len(t, ids(), 3)

	m.until("hooks status shows it", func() bool {
		status := exec.Command(m.hookc, "hooks", "status", "-f", policy)
		status.Env, status.Dir = home, m.empty
		said, err := status.Output()
		require.NoError(t, err)
		return strings.Contains(string(said), "durable hooks that wait to run: 1 here, 0 in the fleet")
	})
	require.NoError(t, m.running.Process.Signal(syscall.SIGKILL))
	_ = m.running.Wait()
	serve()
	m.until("what was under way is taken over", func() bool { return ended() == 3 })
	require.Len(t, ids(), 4)
	assert.Equal(t, ids()[2], ids()[3])
	m.end(syscall.SIGTERM)
	assert.Zero(t, m.running.ProcessState.ExitCode(), m.log)
}
