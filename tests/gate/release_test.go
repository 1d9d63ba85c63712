//go:build unix

package gate

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/programs"
)

// TestTwoReleases: two releases of different formats side by side. Consent and counters
// are kept both ways; neither takes what the other compiled, and says what to do; a gate
// gets no answer of the other's server, and what it answers instead is its own hookc's.
func TestTwoReleases(t *testing.T) {
	hookc, gate := builtWith(t, map[string][2]string{
		"policy/artifact/artifact.go": {"\nconst Version = 2\n", "\nconst Version = 3\n"},
		"internal/wire/wire.go":       {"\nconst Version = 1\n", "\nconst Version = 2\n"},
	})
	now := [2]string{programs.Hookc(t), programs.Hookgate(t)}
	next := [2]string{hookc, gate}
	for name, pair := range map[string][2][2]string{"an upgrade": {now, next}, "a downgrade": {next, now}} {
		t.Run(name, func(t *testing.T) {
			h := newGateHouse(t)
			h.env = h.env[:len(h.env)-1] // nothing is trusted unasked
			h.write(".git/HEAD", "")
			h.write("hooks.yaml", "stop:\n  - {name: gate, deny: 'true', reason: again}\n"+gatePolicy)
			h.settle()
			h.hookc, h.gate = pair[0][0], pair[0][1]
			require.Zero(t, h.ask("", nil, h.hookc, "trust", "--yes").Exit)
			require.Equal(t, denied, h.ask(removes, nil, h.hookc, "run", "PreToolUse", "--dialect", "claude"))
			h.compile()
			other := *h
			other.hookc, other.gate = pair[1][0], pair[1][1]

			assert.Zero(t, other.ask("", nil, other.hookc, "trust", "--check").Exit, "consent stays")
			assert.Equal(t, denied, other.ask(removes, nil, other.hookc, "run", "PreToolUse", "--dialect", "claude"))
			assert.Regexp(t, `"runs": 2\b`, other.ask("", nil, other.hookc, "hooks", "status", "--json").Stdout, "counters go on")

			for _, got := range []told{
				other.ask(lists, nil, other.hookc, "run", "PreToolUse", "--dialect", "claude", "-f", "policy.hookc"),
				other.ask(lists, nil, other.hookc, "check", "-f", "policy.hookc"),
			} {
				assert.NotZero(t, got.Exit)
				assert.Contains(t, got.Stdout+got.Stderr, "compile it again")
			}
			cold := []string{"PreToolUse", "--dialect", "claude", "--hookc", other.hookc, "--artifact", "policy.hookc", "--deadline", "60s"}
			got := other.ask(lists, nil, other.gate, cold...)
			assert.Equal(t, 2, got.Exit, "what cannot be read lets nothing through: %+v", got)
			assert.Contains(t, got.Stderr, "compile it again")

			// The server of the one is not found by the gate of the other, nor obeyed where
			// it is named.
			socket := h.serves()
			h.write("hooks.yaml", strings.ReplaceAll(gatePolicy, `"no"`, `"new"`))
			require.Zero(t, other.ask("", nil, other.hookc, "trust", "--yes").Exit)
			for _, args := range [][]string{nil, {"--socket", socket}} {
				args = append([]string{"PreToolUse", "--dialect", "claude", "--hookc", other.hookc, "--deadline", "60s"}, args...)
				for event, want := range map[string]told{removes: other.ask(removes, nil, other.hookc, "run", "PreToolUse", "--dialect", "claude"), lists: passed} {
					got := other.ask(event, nil, other.gate, args...)
					assert.Equal(t, want.Exit, got.Exit, "%q: %+v", args, got)
					assert.Equal(t, want.Stdout, got.Stdout, "%q", args)
				}
			}
			var status wireStatus
			require.NoError(t, json.Unmarshal([]byte(h.ask("", nil, h.hookc, "serve", "status", "--json").Stdout), &status))
			assert.NotZero(t, status.Pid)
			assert.Zero(t, status.Requests.Answered, "the other's server decided nothing")
		})
	}
}

// serves starts a server of a hookc whose wire format may be another one than this
// test's, and says where it listens.
func (h *gateHouse) serves() (socket string) {
	h.t.Helper()
	cmd := h.command(h.hookc, "serve")
	require.NoError(h.t, cmd.Start())
	h.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	require.Eventually(h.t, func() bool { return h.ask("", nil, h.hookc, "serve", "status").Exit == 0 }, 2*time.Minute, 50*time.Millisecond)
	all, err := filepath.Glob(filepath.Join(h.home, "run", "hookc", "*.sock"))
	require.NoError(h.t, err)
	require.Len(h.t, all, 1)
	return all[0]
}

// builtWith are hookc and hookgate built of sources in which a text is another one
// wherever it stands, by the name of the file.
func builtWith(t *testing.T, changes map[string][2]string) (hookc, gate string) {
	t.Helper()
	depth.NotDaily(t)
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	dir, replace := t.TempDir(), map[string]string{}
	for name, change := range changes {
		source := filepath.Join(root, filepath.FromSlash(name))
		text, err := os.ReadFile(source)
		require.NoError(t, err)
		require.Contains(t, string(text), change[0], "what is changed")
		replace[source] = filepath.Join(dir, filepath.Base(name))
		require.NoError(t, os.WriteFile(replace[source], []byte(strings.ReplaceAll(string(text), change[0], change[1])), 0o600))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-w", "-overlay", filepath.Join(dir, "overlay.json"), "-o", dir+string(filepath.Separator), "./cmd/hookc", "./cmd/hookgate")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return filepath.Join(dir, "hookc"), filepath.Join(dir, "hookgate")
}
