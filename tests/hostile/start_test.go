//go:build unix

package hostile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/programs"
)

// TestEventsStartNothingElse: whatever variables set the flags of serve, and whatever lies
// in PATH, the server that an event starts is hookc's own, with the flags that it has
// without them, and no program of the project runs.
func TestEventsStartNothingElse(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	program := programs.Hookc(t)
	ran := filepath.Join(h.home, "ran")
	for _, name := range []string{"hookc", "hookcd", "hookgate", "git"} {
		require.NoError(t, put(h.project, "bin/"+name, "#!/bin/sh\necho $0 \"$@\" >> "+ran+"\n"))
		require.NoError(t, os.Chmod(filepath.Join(h.project, "bin", name), 0o755))
	}
	h.env = append(h.env, "PATH="+filepath.Join(h.project, "bin")+":"+os.Getenv("PATH"))
	help := h.ask(t, "", program, "serve", "--help")
	var flags []string
	for _, m := range flagName.FindAllStringSubmatch(help.stdout, -1) {
		flags = append(flags, "HOOKC_SERVE_"+strings.ToUpper(strings.ReplaceAll(m[1], "-", "_")))
	}
	require.Contains(t, flags, "HOOKC_SERVE_LISTEN")
	plain := h.env
	for _, name := range append(flags, strings.Join(flags, " ")) {
		asked := *h
		run := t.TempDir()
		asked.env = append(slices.Clone(plain), "XDG_RUNTIME_DIR="+run)
		clean := asked
		for v := range strings.FieldsSeq(name) {
			asked.env = append(asked.env, v+"=x")
		}
		a := asked.ask(t, removal, programs.Hookgate(t), "PreToolUse", "--dialect", "claude", "--start", "--deadline", "60s")
		assert.Contains(t, a.stdout, refused, name)
		assert.Eventually(t, func() bool { return clean.answered(t, program) >= 0 }, hang/4, 10*time.Millisecond, "%s: no server", name)
		clean.ask(t, "", program, "serve", "stop")
		text, _ := os.ReadFile(ran)
		assert.Empty(t, string(text), name)
		os.Remove(ran)
	}

	// Who starts it in the project's folder does not start the project's program either.
	a := h.ask(t, "", program, "serve", "--listen", "x")
	assert.Equal(t, 3, a.code, a.stderr)
	assert.NoFileExists(t, ran)
	elsewhere := t.TempDir()
	require.NoError(t, os.Rename(filepath.Join(h.project, "bin", "hookcd"), filepath.Join(elsewhere, "hookcd")))
	h.env = append(slices.Clone(plain), "PATH="+elsewhere+":"+os.Getenv("PATH"))
	assert.Equal(t, 0, h.ask(t, "", program, "serve", "--listen", "x").code)
	assert.FileExists(t, ran, "the user's own hookcd")
}
