//go:build unix

package hostile

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/depth"
)

// boundMemory is the limit of [specialHookc], in bytes.
const boundMemory = 64 << 20

// specialHookc builds a hookc with a small limit of memory, whose managed tier is
// in a folder of the test: the machine's own is not the test's to write. One test
// uses both, because linking takes longer than what is tried with it.
func specialHookc(t *testing.T, managed string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "hookc")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, "-ldflags",
		fmt.Sprintf("-w -X github.com/hookc/hookc/policy/source.managedDir=%s -X main.testMemory=%d", managed, boundMemory),
		"github.com/hookc/hookc/cmd/hookc").CombinedOutput()
	require.NoError(t, err, string(out))
	return program
}

// TestSpecialHookc tries what needs a program that is built for it.
func TestSpecialHookc(t *testing.T) {
	t.Parallel()
	managed := t.TempDir()
	program := specialHookc(t, managed)
	t.Run("memory is bounded", func(t *testing.T) { memoryIsBounded(t, program) })
	t.Run("the environment removes no guard", func(t *testing.T) { environmentRemovesNoGuard(t, program, managed) })
	t.Run("nor on any road", func(t *testing.T) { environmentRemovesNoGuardOnAnyRoad(t, program, managed) })
}

var (
	variableName = regexp.MustCompile(`"(HOOKC_[A-Z_]*[A-Z])"`)
	flagName     = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`)
)

// variables are those that hookc reads, taken from its sources and from the
// flags of run.
func variables(t *testing.T, program string) []string {
	t.Helper()
	out := []string{"HOOKC_DEFAULTS_ON_ERROR", "HOOKC_DEFAULTS_CHAIN_TIMEOUT", "HOOKC_DEFAULTS_TIMEOUT", "HOOKC_DEFAULTS_MAX_CONCURRENT",
		"HOOKC_DEFAULTS_MODEL", "HOOKC_DEFAULTS_NO_SUCH_KEY", "HOOKC_ENABLED"}
	root := filepath.Join("..", "..")
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "tests" || d.Name() == ".git"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range variableName.FindAllStringSubmatch(string(text), -1) {
			out = append(out, m[1])
		}
		return err
	}))
	help, err := exec.Command(program, "run", "--help").Output()
	require.NoError(t, err)
	for _, m := range flagName.FindAllStringSubmatch(string(help), -1) {
		out = append(out, "HOOKC_RUN_"+strings.ToUpper(strings.ReplaceAll(m[1], "-", "_")))
	}
	slices.Sort(out)
	out = slices.Compact(out)
	require.Contains(t, out, "HOOKC_RUN_FILE")
	require.Contains(t, out, "HOOKC_TRUST")
	return out
}

// environmentRemovesNoGuard: whatever value a variable that hookc reads has, managed and locked hooks run
// and decide the same; and with a named policy or a profile the managed ones do.
func environmentRemovesNoGuard(t *testing.T, program, managed string) {
	require.NoError(t, put(managed, "hooks.yaml", `pre_tool_execution:
  - {name: managed, filter: {tool_name: Bash}, deny: 'command contains "rm -rf"', reason: the machine says no}
  - {name: process, filter: {tool_name: Write}, command: "sleep 0.3; echo '{\\"decision\\": \\"deny\\", \\"reason\\": \\"the machine says no\\"}'"}
`))
	h := newHouse(t)
	require.NoError(t, put(h.project, "empty.yaml", "stop: []\n"))
	write := strings.Replace(removal, `"tool_name":"Bash"`, `"tool_name":"Write"`, 1)
	check := func(what, event string, args ...string) {
		t.Helper()
		a := h.ask(t, event, append([]string{program, "run", "PreToolUse", "--dialect", "claude"}, args...)...)
		assert.Equal(t, 2, a.code, "%s: %s%s", what, a.stdout, a.stderr)
		assert.Contains(t, a.stdout, "the machine says no", what)
	}
	check("nothing set", removal)
	check("nothing set", write)
	check("a named policy", removal, "-f", "empty.yaml")
	check("a profile", removal, "--profile", "claude")
	check("another profile", removal, "--profile", "gemini")
	env := h.env
	for i, name := range variables(t, program) {
		if name == "HOOKC_CANARY" {
			continue // it refuses every guarded event, in words of its own
		}
		for j, value := range []string{"0", "1", "true", "false", "all", "1ms", "gemini", "empty.yaml", "native", "skip", "/no/such/place"} {
			if !depth.Tries(i+j, 13) {
				continue
			}
			h.env = append(slices.Clone(env), name+"="+value)
			check(name+"="+value, removal)
		}
	}
	for _, set := range []string{"HOOKC_DEFAULTS_CHAIN_TIMEOUT=1ms", "HOOKC_DEFAULTS_TIMEOUT=1ms", "HOOKC_DEFAULTS_ON_ERROR=skip", "HOOKC_ENABLED=0"} {
		h.env = append(slices.Clone(env), set)
		check(set, write)
	}
}

// A variable that is ignored is a warning in the answer.
func TestIgnoredVariablesAreNamed(t *testing.T) {
	h := newHouse(t)
	event := `{"event":"pre_tool_execution","tool_name":"Bash","tool_input":{"command":"ls"}}`
	program := roads(t)["run"][0]
	for _, name := range []string{"FILE", "PROFILE", "DIALECT", "ALLOW_STALE", "FORMAT", "FAITHFUL", "SERIAL", "WITHOUT", "VERIFY", "DEADLINE", "USER_POLICY"} {
		h.env = append(h.env, "HOOKC_RUN_"+name+"=x")
	}
	a := h.ask(t, event, program, "run")
	require.Equal(t, 0, a.code, a.stderr)
	for _, name := range []string{"FILE", "PROFILE", "DIALECT", "ALLOW_STALE", "FORMAT", "FAITHFUL", "SERIAL", "WITHOUT", "VERIFY", "DEADLINE", "USER_POLICY"} {
		assert.Contains(t, a.stdout, "HOOKC_RUN_"+name+" is ignored")
	}
}

// The path that install wrote counts, whatever HOME and XDG_CONFIG_HOME say.
func TestInstalledUserPolicyCounts(t *testing.T) {
	h := newHouse(t)
	h.env = append(h.env, "XDG_CONFIG_HOME="+t.TempDir())
	words := roads(t)
	for road, line := range words {
		a := h.ask(t, removal, append(line, "--user-policy", filepath.Join(h.home, ".config/hookc/hooks.yaml"))...)
		assert.Equal(t, 2, a.code, road)
		assert.Contains(t, a.stdout, refused, road)
	}
}
