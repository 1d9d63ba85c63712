package hostile

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy/state"
	"github.com/hookc/hookc/tests/programs"
)

// recorded is the folder that the files of ../testdata/upgrade name.
const recorded = "/tmp/hookc-upgrade"

// recordedAt is when those files were written, in seconds since 1970. Counters
// are kept for a day, so what is copied says today in its place.
const recordedAt = "1795388744"

// upgraded is what an older hookc left on a disk, with the new programs in the
// place of the old ones.
type upgraded struct {
	*testing.T
	root, project string
	env           []string
}

func upgrade(t *testing.T) *upgraded {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	u := &upgraded{T: t, root: root, project: filepath.Join(root, "project")}
	t.Setenv("XDG_STATE_HOME", filepath.Join(root, "state"))
	for _, dir := range []string{"project/.git", "bin", "run"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o700))
	}
	from := "../testdata/upgrade/tree"
	require.NoError(t, filepath.WalkDir(from, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, path)
		require.NoError(t, err)
		u.copy(path, u.place(filepath.ToSlash(rel)))
		return nil
	}))
	for _, name := range []string{"hookc", "hookgate"} {
		program, err := os.ReadFile(filepath.Join(programs.Dir(t), name))
		require.NoError(t, err)
		require.NoError(t, programs.Write(filepath.Join(root, "bin", name), program))
	}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "HOOKC_") {
			u.env = append(u.env, kv)
		}
	}
	u.env = append(u.env, "HOME="+filepath.Join(root, "home"), "XDG_CONFIG_HOME="+filepath.Join(root, "home", ".config"),
		"XDG_STATE_HOME="+filepath.Join(root, "state"), "XDG_RUNTIME_DIR="+filepath.Join(root, "run"), "NO_COLOR=1")
	t.Cleanup(func() { u.run("", "hookc", "serve", "stop") })
	return u
}

// place is where a recorded file belongs: state folders are named after the
// folders that they are about.
func (u *upgraded) place(rel string) string {
	u.Helper()
	parts := strings.Split(rel, "/")
	for i := range parts {
		if name, dot := strings.CutPrefix(parts[i], "dot."); dot {
			parts[i] = "." + name
		}
	}
	path := filepath.Join(u.root, filepath.Join(parts...))
	if parts[0] == "state" {
		_, about, _ := strings.Cut(parts[2], "-")
		dir, err := state.Open(filepath.Join(u.root, about))
		require.NoError(u, err)
		path = filepath.Join(dir.Path(), parts[3])
	}
	return path
}

// copy writes a recorded file with this folder's path in the place of the
// recorded one. A compiled policy stays as it is.
func (u *upgraded) copy(from, to string) {
	u.Helper()
	data, err := os.ReadFile(from)
	require.NoError(u, err)
	info, err := os.Stat(from)
	require.NoError(u, err)
	if !strings.HasSuffix(from, ".hookc") {
		data = bytes.ReplaceAll(data, []byte(recorded), []byte(u.root))
		data = bytes.ReplaceAll(data, []byte(recordedAt), strconv.AppendInt(nil, time.Now().Unix(), 10))
		if head, content, ok := bytes.Cut(data, []byte("\n")); ok && bytes.HasPrefix(head, []byte("hookc-state-1 sha256:")) {
			data = append(fmt.Appendf(nil, "hookc-state-1 sha256:%x\n", sha256.Sum256(content)), content...)
		}
	}
	require.NoError(u, os.MkdirAll(filepath.Dir(to), 0o700))
	require.NoError(u, os.WriteFile(to, data, info.Mode().Perm()))
}

// run runs a program in the project and returns its exit code, stdout and
// stderr.
func (u *upgraded) run(stdin, program string, args ...string) (int, string, string) {
	if !filepath.IsAbs(program) && program != "sh" {
		program = filepath.Join(u.root, "bin", program)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = u.project, u.env, strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		u.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

func (u *upgraded) event(tool, command string) string {
	return fmt.Sprintf(`{"event":"pre_tool_execution","session_id":"s","tool_name":%q,"tool_input":{"command":%q},"cwd":%q}`, tool, command, u.project)
}

func (u *upgraded) native(event, command string) string {
	return fmt.Sprintf(`{"hook_event_name":%q,"session_id":"s","tool_name":"Bash","tool_input":{"command":%q},"cwd":%q}`, event, command, u.project)
}

// words are the calls that the recorded policies deny, with who denies them.
var words = map[string]string{"user-denies": "user-guard", "project-denies": "project-guard", "rego-denies": "rego-guard", "script-denies": "script-guard"}

func TestUpgradeKeepsConsentAndGuards(t *testing.T) {
	u := upgrade(t)
	code, out, errs := u.run("", "hookc", "trust", "--check")
	assert.Equal(t, 0, code, "consent stays valid: %s%s", out, errs)
	for word, by := range words {
		code, out, errs := u.run(u.event("Bash", word), "hookc", "run")
		assert.Equal(t, 2, code, "%s: %s%s", word, out, errs)
		var d struct{ By string }
		require.NoError(t, json.Unmarshal([]byte(out), &d), out)
		assert.Equal(t, by, d.By)
	}
	code, out, errs = u.run(u.event("Bash", "ls"), "hookc", "run")
	assert.Equal(t, 0, code, out+errs)

	// A user's relative command is no longer looked for where the event is.
	code, out, errs = u.run(u.event("Write", "x"), "hookc", "run")
	assert.NotEqual(t, 0, code, "%s%s", out, errs)
	assert.Contains(t, out+errs, "scripts/user.sh", "it says which file it wants")
}

func TestUpgradeKeepsState(t *testing.T) {
	u := upgrade(t)
	stop := fmt.Sprintf(`{"event":"stop","session_id":"s","assistant_output":"failed","cwd":%q}`, u.project)
	for refusal := 4; refusal <= 8; refusal++ { // the older hookc counted three
		code, out, errs := u.run(stop, "hookc", "run")
		require.Equal(t, 2, code, "refusal %d: %s%s", refusal, out, errs)
	}
	code, out, errs := u.run(stop, "hookc", "run")
	assert.Equal(t, 0, code, out+errs)
	assert.Contains(t, out, "HK171")
	_, out, _ = u.run("", "hookc", "hooks", "status", "--json")
	var status struct {
		Counters []struct {
			Hook string
			Runs int
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &status), out)
	runs := map[string]int{}
	for _, c := range status.Counters {
		runs[c.Hook] = c.Runs
	}
	assert.Equal(t, 3+6, runs["gate"], "counters go on")
}

func TestUpgradeRefusesTheOldArtifact(t *testing.T) {
	u := upgrade(t)
	code, out, errs := u.run(u.event("Bash", "ls"), "hookc", "run", "-f", "policy.hookc")
	assert.Equal(t, 3, code, out+errs)
	assert.Contains(t, errs, "compile it again")
	_, out, errs = u.run(u.native("PreToolUse", "ls"), "hookc", "run", "PreToolUse", "--dialect", "claude", "-f", "policy.hookc")
	assert.Contains(t, out+errs, "deny")
	assert.Contains(t, out+errs, "compile it again")
}

func TestUpgradeOfInstalledEntries(t *testing.T) {
	u := upgrade(t)
	commands := map[string]string{}
	for agent, file := range map[string]string{"PreToolUse claude": "project/.claude/settings.json", "BeforeTool gemini": "project/.gemini/settings.json",
		"PreToolUse codex": "home/.codex/hooks.json"} {
		event, name, _ := strings.Cut(agent, " ")
		data, err := os.ReadFile(filepath.Join(u.root, file))
		require.NoError(t, err)
		var settings struct {
			Hooks map[string][]struct{ Hooks []struct{ Command string } }
		}
		require.NoError(t, json.Unmarshal(data, &settings))
		command := settings.Hooks[event][0].Hooks[0].Command
		commands[name] = command
		_, out, errs := u.run(u.native(event, "user-denies"), "sh", "-c", command)
		assert.Contains(t, out+errs, "the user denies it", "%s: %s", name, command)
	}
	require.Len(t, commands, 3)
	code, out, errs := u.run(`{"tool_name":"Bash","tool_input":{"command":"user-denies"},"cwd":"`+u.project+`"}`, "sh", ".agents/hooks/hookc-pre-tool-call/scripts/run.sh")
	assert.NotEqual(t, 0, code)
	assert.Contains(t, out+errs, "the user denies it")

	code, out, errs = u.run("", "hookc", "install", "claude")
	assert.Equal(t, 0, code, "an older entry is brought up to date: %s%s", out, errs)
	code, out, errs = u.run("", "hookc", "uninstall", "claude")
	assert.Equal(t, 0, code, out+errs)
	assert.NotContains(t, string(readOrNothing(filepath.Join(u.project, ".claude", "settings.json"))), "hookc")
	code, out, errs = u.run("", "hookc", "uninstall", "gemini")
	assert.Equal(t, 0, code, out+errs)
	assert.NoFileExists(t, filepath.Join(u.project, ".gemini", "settings.json"), "the record of what install made is not lost")
}

func TestUpgradeIgnoresVariables(t *testing.T) {
	u := upgrade(t)
	lay(t, u.project, map[string]string{"open.yaml": "{}\n"})
	u.env = append(u.env, "HOOKC_RUN_FILE=open.yaml", "HOOKC_RUN_PROFILE=gemini") // which chose the policy
	code, out, errs := u.run(u.event("Bash", "user-denies"), "hookc", "run")
	assert.Equal(t, 2, code, out+errs)
	assert.Contains(t, out+errs, "HOOKC_RUN_FILE")
	assert.Contains(t, out+errs, "HOOKC_RUN_PROFILE")
	code, out, errs = u.run(u.event("Bash", "ls"), "hookc", "run")
	assert.Equal(t, 0, code, out+errs)
	assert.Contains(t, out+errs, "HOOKC_RUN_FILE", "it is said where nothing is refused too")
}

func TestUpgradeOfEmptyPolicies(t *testing.T) {
	u := upgrade(t)
	path := filepath.Join(u.root, "home", ".config", "hookc", "hooks.yaml")
	require.NoError(t, os.WriteFile(path, []byte("# nothing yet\n"), 0o644)) // which an older hookc let through
	code, out, errs := u.run(u.event("Bash", "ls"), "hookc", "run")
	assert.Equal(t, 3, code, out+errs)
	assert.Contains(t, errs, "{} says that there are none", "it says what to do")
}

func readOrNothing(path string) []byte {
	data, _ := os.ReadFile(path) // uninstall may have taken the file away
	return data
}
