package hostile

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/programs"
)

// nobody is a user that no line of /etc/passwd names.
const nobody = 471147

// unnamed runs a program as nobody, whose files ours are; it skips the test where this
// machine does not let us.
func (h *house) unnamed(t *testing.T, dir, event string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, h.env, strings.NewReader(event)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getgid(), Size: 1}}}
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.Process == nil {
		t.Skip("this machine lets us be nobody else:", err)
	}
	return string(out)
}

// TestNobodySaysWhoTheAccountIs: a released hookc, which knows of accounts what /etc/passwd
// says, takes neither their home nor their name from the environment where it says nothing.
func TestNobodySaysWhoTheAccountIs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	program := filepath.Join(t.TempDir(), "hookc")
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-w", "-o", program, "github.com/hookc/hookc/cmd/hookc")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	text, err := build.CombinedOutput()
	require.NoError(t, err, "%s", text)
	ran, nested, inner := filepath.Join(h.project, "ran"), filepath.Join(h.project, "nested"), filepath.Join(h.project, ".h")
	outside := t.TempDir()
	for _, root := range []string{h.project, nested} {
		require.NoError(t, put(root, ".git/HEAD", ""))
		require.NoError(t, put(root, ".hookc/hooks.yaml", "pre_tool_execution:\n  - {name: theirs, command: \"touch "+ran+"\"}\n"))
		trust := exec.Command(programs.Hookc(t), "trust", "--yes")
		trust.Dir, trust.Env = root, []string{"HOME=" + outside, "PATH=" + os.Getenv("PATH")}
		text, err := trust.CombinedOutput()
		require.NoError(t, err, "%s", text)
	}
	for _, home := range []string{inner, h.project} { // what a checkout brings
		require.NoError(t, os.CopyFS(filepath.Join(home, ".local"), os.DirFS(filepath.Join(outside, ".local"))))
	}
	require.NoError(t, os.Symlink(inner, filepath.Join(h.project, "link")))
	base := h.env
	for name, env := range homesOf(h.project) {
		h.env = append(slices.Clone(base), append(env, "USER=x", "LOGNAME=x")...)
		for _, root := range []string{h.project, nested} {
			event := strings.Replace(removal, `"session_id"`, `"cwd":"`+root+`","session_id"`, 1)
			said := h.unnamed(t, root, event, program, "run", "PreToolUse", "--dialect", "claude")
			assert.NoFileExists(t, ran, "%s in %s: nobody trusts this project: %s", name, root, said)
			h.ask(t, event, programs.Hookc(t), "run", "PreToolUse", "--dialect", "claude")
			assert.NoFileExists(t, ran, "%s in %s: nor as somebody", name, root)
			os.Remove(ran)
		}
	}

	h.env = append(slices.Clone(base), "HOOKC_HEADLESS=1", "USER=bob", "LOGNAME=bob")
	require.NoError(t, put(h.home, "team.yaml", "approval: {approvers: [bob]}\npre_tool_execution: [{name: asks, ask: 'true', reason: may it}]\n"))
	h.unnamed(t, h.home, strings.Replace(removal, "rm -rf /", "ls", 1), program, "run", "PreToolUse", "--dialect", "claude", "-f", filepath.Join(h.home, "team.yaml"))
	id, _, _ := strings.Cut(h.unnamed(t, h.home, "", program, "approvals", "list"), " ")
	require.NotEmpty(t, id)
	said := h.unnamed(t, h.home, "", program, "approvals", "grant", id)
	assert.Contains(t, h.unnamed(t, h.home, "", program, "approvals", "show", id), "pending", "USER says who answers: %s", said)
}
