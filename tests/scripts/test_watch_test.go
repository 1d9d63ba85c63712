//go:build unix

package scripts

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/programs"
)

// hookc test --watch runs again when a file changes, shows what is wrong with one
// that is half saved and goes on, and ends when it is interrupted.
func TestWatchOfTests(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	const good = "pre_tool_execution:\n  - {name: guard, deny: 'command startsWith \"rm\"', reason: no}\n"
	write("hooks.yaml", good)
	write("hooks_test.yaml", "cases:\n  - {name: a, event: {event: pre_tool_execution, tool_name: Bash, tool_input: {command: rm}}, expect: {action: block}}\n")
	cmd := exec.Command(programs.Hookc(t), "test", "--watch", "hooks.yaml")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	read, both, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = both, both
	require.NoError(t, cmd.Start())
	require.NoError(t, both.Close())
	lines := bufio.NewScanner(read)
	until := func(want string) { // a file that is written may be seen twice
		t.Helper()
		var out []string
		for lines.Scan() {
			out = append(out, lines.Text())
			if strings.Contains(lines.Text(), "waiting for a change") && strings.Contains(strings.Join(out, "\n"), want) {
				return
			}
		}
		t.Fatalf("it ended: %s", strings.Join(out, "\n"))
	}
	until("1 passed, 0 failed")
	write("hooks.yaml", strings.Replace(good, "rm", "mv", 1)[:40])
	until("error[HK")
	write("hooks.yaml", strings.Replace(good, "rm", "mv", 1))
	until("0 passed, 1 failed")
	write("hooks.yaml", good)
	until("1 passed, 0 failed")
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	err = cmd.Wait()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 130, exit.ExitCode())
}
