//go:build unix

package hostile

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/programs"
)

// homesOf are values of HOME and of the XDG variables that a repository can have an
// agent set: they lie in it.
func homesOf(project string) map[string][]string {
	inner := filepath.Join(project, ".h")
	return map[string][]string{
		"below":    {"HOME=" + inner},
		"root":     {"HOME=" + project},
		"link":     {"HOME=" + filepath.Join(project, "link")},
		"unclean":  {"HOME=" + project + "/./x/../.h/"},
		"relative": {"HOME=.h"},
		"none":     {"HOME="},
		"all": {"HOME=" + inner, "XDG_STATE_HOME=" + inner + "/.local/state", "XDG_CONFIG_HOME=" + inner + "/.config", "XDG_DATA_HOME=" + inner,
			"XDG_CACHE_HOME=" + inner, "XDG_RUNTIME_DIR=" + inner + "/run", "XDG_CONFIG_DIRS=" + inner, "XDG_DATA_DIRS=" + inner},
		"state": {"XDG_STATE_HOME=" + inner + "/.local/state", "HOME=" + inner},
		"place": {"XDG_STATE_HOME=" + inner + "/.s"},
	}
}

// TestHomeInTheProject: a home that lies in the project gives it no say. It cannot say that
// it is trusted, its files are not the user's, and a hook of the user gets none of it as
// its home.
func TestHomeInTheProject(t *testing.T) {
	h := newHouse(t)
	policy := filepath.Join(h.home, ".config", "hookc", "hooks.yaml")
	told := filepath.Join(h.home, "told")
	require.NoError(t, os.WriteFile(policy, []byte(mine+"  - {name: tells, command: \"cat >/dev/null; env | grep -e ^HOME= -e ^XDG_ >> "+told+"\"}\n"), 0o644))
	inner := filepath.Join(h.project, ".h")
	ran := filepath.Join(h.project, "ran")
	theirs := "pre_tool_execution:\n  - {name: theirs, command: \"touch " + ran + "\"}\n"
	require.NoError(t, put(h.project, ".hookc/hooks.yaml", theirs))
	require.NoError(t, put(h.project, ".claude/settings.json", `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"touch `+ran+`"}]}]}}`))
	require.NoError(t, put(inner, ".config/hookc/hooks.yaml", theirs))
	require.NoError(t, put(h.project, ".config/hookc/hooks.yaml", theirs))
	require.NoError(t, os.Symlink(inner, filepath.Join(h.project, "link")))
	// The author of the repository trusts it on a machine where its home is there.
	for _, home := range []string{inner, h.project} {
		outside := t.TempDir()
		trust := exec.Command(programs.Hookc(t), "trust", "--yes")
		trust.Dir, trust.Env = h.project, []string{"HOME=" + outside, "PATH=" + os.Getenv("PATH")}
		text, err := trust.CombinedOutput()
		require.NoError(t, err, "%s", text)
		require.NoError(t, os.CopyFS(filepath.Join(home, ".local"), os.DirFS(filepath.Join(outside, ".local"))))
		require.NoError(t, os.Chmod(filepath.Join(home, ".local"), 0o700))
	}
	event := strings.Replace(removal, "rm -rf /", "ls", 1)
	for name, env := range homesOf(h.project) {
		for road, line := range roads(t) {
			asked := *h
			asked.env = append(slices.Clone(h.env), env...)
			a := asked.ask(t, removal, append(line, "--user-policy", policy)...)
			assert.Contains(t, a.stdout, refused, "%s %s", name, road)
			asked.ask(t, event, append(line, "--user-policy", policy)...)
			assert.NoFileExists(t, ran, "%s %s: a hook of a project that nobody trusts ran", name, road)
			os.Remove(ran)
			said, err := os.ReadFile(told)
			require.NoError(t, err, "%s %s", name, road)
			for line := range strings.Lines(string(said)) {
				_, value, _ := strings.Cut(strings.TrimSpace(line), "=")
				assert.True(t, filepath.IsAbs(value), "%s %s %s", name, road, line)
				assert.NotContains(t, value, h.project, "%s %s %s", name, road, line)
			}
			require.NoError(t, os.Remove(told))
		}
	}
}

// TestProjectsAroundHaveNoSay: what lies in a project around the one that the agent is in
// comes after the machine's own, and is in no list of libraries.
func TestProjectsAroundHaveNoSay(t *testing.T) {
	h := newHouse(t)
	told := filepath.Join(h.home, "told")
	require.NoError(t, put(filepath.Join(h.home, ".config", "hookc"), "hooks.yaml",
		"pre_tool_execution:\n  - {name: tells, command: \"env >> "+told+"\"}\n"))
	inner := filepath.Join(h.project, "vendor", "lib")
	require.NoError(t, os.MkdirAll(filepath.Join(inner, ".git"), 0o755))
	for _, dir := range []string{h.project, filepath.Join(h.project, "vendor"), inner, filepath.Join(inner, "deep")} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
		for _, at := range []string{filepath.Join(h.project, "bin"), filepath.Join(inner, "bin"), h.project} {
			asked := *h
			asked.project = dir
			asked.env = append(slices.Clone(h.env), "PATH="+at+":"+os.Getenv("PATH"), "PERL5LIB="+at, "NODE_PATH="+at, "LD_LIBRARY_PATH="+at)
			a := asked.ask(t, `{"hook_event_name":"PreToolUse","session_id":"s","cwd":"`+dir+`","tool_name":"Bash","tool_input":{"command":"ls"}}`, roads(t)["run"]...)
			require.Equal(t, 0, a.code, a.stderr)
			said, err := os.ReadFile(told)
			require.NoError(t, err)
			for line := range strings.Lines(string(said)) {
				name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
				switch name {
				case "PATH":
					assert.False(t, strings.HasPrefix(value, at), "%s in %s: %s", at, dir, line)
				case "PERL5LIB", "NODE_PATH", "LD_LIBRARY_PATH":
					assert.NotContains(t, value, h.project, "in %s: %s", dir, line)
				}
			}
			require.NoError(t, os.Remove(told))
		}
	}
}
