package plane_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDurableEntryIsThereFirst: with `log: durable: true` the entry is on the disk before
// the answer is written; without it the answer does not wait for a slow disk.
func TestDurableEntryIsThereFirst(t *testing.T) {
	m := newMachine(t, newSite(t), newSigner(t), "")
	home, dir := m.ownHome(), t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env, cmd.Dir = home, dir
		cmd.Stdin = strings.NewReader(`{"event":"pre_tool_execution","session_id":"s","tool_name":"Bash","tool_input":{"command":"x"}}`)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	run(m.hookc, "log", "enable")
	for durable, first := range map[string]string{"true": "fsync", "false": "answer"} {
		policy, calls := filepath.Join(dir, durable+".yaml"), filepath.Join(dir, durable+".calls")
		require.NoError(t, os.WriteFile(policy, []byte("log: {durable: "+durable+"}\npre_tool_execution:\n  - {name: no-rm, deny: 'command == \"rm\"', reason: 'no'}\n"), 0o600))
		run(tool(t, "strace"), "-f", "-qq", "-y", "-o", calls, "-e", "trace=fsync,write", "-e", "inject=fsync:delay_exit=500000", m.hookc, "run", "--json", "-f", policy)
		text, err := os.ReadFile(calls)
		require.NoError(t, err)
		// A call that another thread interrupts has two lines: it ends at the second.
		answer, synced, thread := -1, -1, ""
		for i, line := range strings.Split(string(text), "\n") {
			switch {
			case strings.Contains(line, "write(1<") && answer < 0:
				answer = i
			case strings.Contains(line, "fsync(") && strings.Contains(line, ".jsonl") && thread == "": // not that of a key made before
				thread, _, _ = strings.Cut(line, " ")
				if !strings.Contains(line, "unfinished") {
					synced = i
				}
			case strings.HasPrefix(line, thread+" ") && thread != "" && strings.Contains(line, "fsync resumed") && synced < 0:
				synced = i
			}
		}
		require.NotEqual(t, -1, answer, "%s", text)
		if first == "fsync" {
			require.NotEqual(t, -1, synced, "%s", text)
			assert.Less(t, synced, answer, "%s", text)
		} else if synced >= 0 {
			assert.Less(t, answer, synced, "%s", text)
		}
	}
}
