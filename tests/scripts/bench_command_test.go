package scripts

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/programs"
)

// benchHouse is a folder with a policy, an event, and places of its own.
func benchHouse(t *testing.T, policy string) (dir string, bench func(args ...string) *exec.Cmd) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"hooks.yaml": policy,
		"event.json": `{"event":"pre_tool_execution","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}`,
		"tmp/keep":   "",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir, func(args ...string) *exec.Cmd {
		cmd := exec.Command(programs.Hookc(t), append([]string{"bench", "hooks.yaml", "--input", "event.json"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+filepath.Join(dir, "state"), "TMPDIR="+filepath.Join(dir, "tmp"))
		return cmd
	}
}

const benchRules = "pre_tool_execution:\n  - {name: guard, deny: 'command contains \"rm\"', reason: \"no\"}\n  - {name: 'two words', ask: 'command contains \"mv\"', reason: \"really\"}\n"

// benchFormat is the grammar of Go's benchmark format that bench writes: keys
// of the configuration, then a name, a count, and values with units.
var (
	benchConfig = regexp.MustCompile(`^[a-z][^\s:A-Z]*: \S.*$`)
	benchResult = regexp.MustCompile(`^Benchmark[A-Z][^\s]*$`)
	benchUnit   = regexp.MustCompile(`^(ns/op|p50-ns|p99-ns|B/op|allocs/op)$`)
)

// TestBenchGoFormat parses what -f gobench prints as strictly as the format is
// written down, and what benchstat makes of it: six values for each name.
func TestBenchGoFormat(t *testing.T) {
	_, bench := benchHouse(t, benchRules)
	out, err := bench("--count", "12", "-f", "gobench").Output()
	require.NoError(t, err)
	require.True(t, bytes.HasSuffix(out, []byte("\n")))
	var keys []string
	found := map[string]map[string]int{}
	for _, line := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		if benchConfig.MatchString(line) {
			require.Empty(t, found, "the configuration comes first: %s", line)
			keys = append(keys, line[:strings.IndexByte(line, ':')])
			continue
		}
		fields := strings.Fields(line)
		require.GreaterOrEqual(t, len(fields), 4, line)
		require.Regexp(t, benchResult, fields[0])
		require.Zero(t, len(fields)%2, "values have units: %s", line)
		n, err := strconv.ParseInt(fields[1], 10, 64)
		require.NoError(t, err)
		require.Positive(t, n)
		units := found[fields[0]]
		if units == nil {
			units = map[string]int{}
			found[fields[0]] = units
		}
		for i := 2; i < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			require.NoError(t, err, line)
			require.GreaterOrEqual(t, v, 0.0)
			require.NotContains(t, fields[i], "e", line)
			require.Regexp(t, benchUnit, fields[i+1])
			units[fields[i+1]]++
		}
	}
	assert.Equal(t, []string{"goos", "goarch", "pkg"}, keys[:3])
	cores := ""
	if n := runtime.GOMAXPROCS(0); n > 1 {
		cores = "-" + strconv.Itoa(n)
	}
	times := map[string]int{"ns/op": 6, "p50-ns": 6, "p99-ns": 6}
	all := map[string]int{"ns/op": 6, "p50-ns": 6, "p99-ns": 6, "B/op": 6, "allocs/op": 6}
	want := map[string]map[string]int{}
	at := func(units map[string]int, names ...string) {
		for _, name := range names {
			want["Benchmark"+name+cores] = units
		}
	}
	at(all, "Plan/pre_tool_execution/event/in-process", "Hook/pre_tool_execution/event/guard/alone", "Hook/pre_tool_execution/event/two_words/alone")
	at(times, "Hook/pre_tool_execution/event/guard/in-chain", "Hook/pre_tool_execution/event/two_words/in-chain")
	assert.Equal(t, want, found)
}

// benchInterrupted is the part of --json that the test looks at.
type benchInterrupted struct {
	Interrupted bool
	Events      []struct {
		Ways []struct {
			How  string
			Runs int
		}
	}
}

// TestBenchInterrupted: Ctrl-C prints what was measured, ends everything that
// was started and leaves nothing behind.
func TestBenchInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be sent Ctrl-C on its own there")
	}
	dir, bench := benchHouse(t, "pre_tool_execution:\n  - {name: say, command: 'echo >> ran'}\n")
	cmd := bench("--time", "1h", "--warmup", "0s", "--json")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		ran, err := os.ReadFile(filepath.Join(dir, "ran"))
		return err == nil && len(ran) > 20
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	assert.Equal(t, 130, exit.ExitCode(), "%s", &errs)
	var got benchInterrupted
	require.NoError(t, json.Unmarshal(out.Bytes(), &got), "%s", &out)
	require.Len(t, got.Events, 1)
	require.Len(t, got.Events[0].Ways, 1)
	assert.True(t, got.Interrupted)
	assert.Positive(t, got.Events[0].Ways[0].Runs)
	left, err := filepath.Glob(filepath.Join(dir, "tmp", "*"))
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(dir, "tmp", "keep")}, left)
	assert.NoDirExists(t, filepath.Join(dir, "state"))
}
