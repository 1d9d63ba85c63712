package agents_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAgentsStartedInASubfolder: whether an agent that is started below the
// folder in whose settings hookc stands runs it is what doctor says there.
func TestAgentsStartedInASubfolder(t *testing.T) {
	each(t, func(t *testing.T, a *realAgent) {
		if a.scope != "project" {
			t.Skip("its settings are the user's: they are read wherever it starts")
		}
		s := begin(t, a)
		s.start = filepath.Join(s.project, "below")
		require.NoError(t, os.MkdirAll(filepath.Join(s.project, ".git"), 0o755))
		require.NoError(t, os.Mkdir(s.start, 0o755))
		s.bare, s.installed = true, true
		s.play(t, func(*session) []turn { return []turn{a.shell("echo open > vault.txt"), {text: "tests pass"}} })
		_, err := os.Stat(filepath.Join(s.start, "vault.txt"))
		doctor := exec.CommandContext(t.Context(), s.hookc, "doctor", a.id, "-f", s.policy)
		doctor.Dir = s.start
		doctor.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "HOOKC_TRUST=all"}, a.env(s)...)
		out, failed := doctor.CombinedOutput()
		assert.Equal(t, os.IsNotExist(err), failed == nil, "%s", out)
	})
}
