package main

import (
	"context"
	"flag"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var updateGuide = flag.Bool("update-guide", false, "write what the commands of docs/guide/fleet.md print")

// patience ends a script that hangs; it is no measure.
const patience = 8 * time.Minute

// guidePort is where the page has its registry.
const guidePort = "1338"

// TestGuide: the script of docs/guide/fleet.md prints what the page says, from building
// the programs to the end of the machines. Only the port of the registry is another one.
func TestGuide(t *testing.T) {
	const name = "docs/guide/fleet.md"
	made := exec.Command("go", "run", "./tests/gen/commands", name)
	made.Dir = "../../.."
	script, err := made.Output()
	require.NoError(t, err)
	text, err := os.ReadFile("../../../" + name)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	require.NoError(t, l.Close())

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", strings.ReplaceAll(string(script), guidePort, port))
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "XDG_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "TMPDIR="+t.TempDir(), "NO_COLOR=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the machines are in it too
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	t.Cleanup(func() { _ = cmd.Cancel() })
	out, err := cmd.CombinedOutput()
	printed := strings.ReplaceAll(string(out), port, guidePort)
	printed = regexp.MustCompile(`(?m)^go: downloading .*\n`).ReplaceAllString(printed, "") // the first time
	require.NoError(t, err, printed)

	sessions := strings.SplitAfter(printed, "\n")
	page := regexp.MustCompile("(?s)\n```console\n(.*?)```").ReplaceAllStringFunc(string(text), func(block string) string {
		now := "\n```console\n"
		for range strings.Count(block, "\n$ ") {
			for first := true; len(sessions) > 1 && (first || !strings.HasPrefix(sessions[0], "$ ")); first = false {
				now += sessions[0]
				sessions = sessions[1:]
			}
		}
		return now + "```"
	})
	if *updateGuide {
		require.NoError(t, os.WriteFile("../../../"+name, []byte(page), 0o644))
		return
	}
	assert.Equal(t, string(text), page)
}
