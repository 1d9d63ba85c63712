package vectors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/programs"
)

// TestDialectVectors runs every vector through the real binary.
func TestDialectVectors(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("dialect/*/*.json")
	require.NoError(t, err)
	count := map[string]int{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var cases []Exchange
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		require.NoError(t, dec.Decode(&cases), file)
		name := filepath.Base(filepath.Dir(file))
		count[name] += len(cases)
		for i, c := range cases {
			if depth.Skips(i) {
				continue
			}
			t.Run(name+"/"+c.Note, func(t *testing.T) {
				t.Parallel()
				c.check(t, name)
			})
		}
	}
	for _, d := range agent.All() {
		base, _, _ := strings.Cut(d.ID, "@")
		least := 5
		if slices.Contains([]string{"jcli", "gemini", "clawdcode", "agenthooks", "aiagents", "claude"}, base) {
			least = 12
		}
		assert.GreaterOrEqual(t, count[base], least, "vectors of %s", base)
	}
}

func (c *Exchange) check(t *testing.T, name string) {
	dir := t.TempDir()
	project := filepath.Join(dir, "project")
	require.NoError(t, os.Mkdir(project, 0o755))
	if c.Policy != "" {
		require.NoError(t, os.WriteFile(filepath.Join(project, "hooks.yaml"), []byte(c.Policy), 0o644))
	}
	args := c.Args
	if args == nil {
		args = []string{"-f", "hooks.yaml"}
	}
	cmd := exec.Command(programs.Hookc(t), append([]string{"run", "--dialect", name}, args...)...)
	cmd.Dir = project
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "NO_COLOR=1", "HOOKC_TRUST=all"}
	here := func(s string) string { return strings.ReplaceAll(s, "$PROJECT", project) }
	for k, v := range c.Env {
		cmd.Env = append(cmd.Env, k+"="+here(v))
	}
	stdin := string(c.Stdin)
	var text string
	if json.Unmarshal(c.Stdin, &text) == nil {
		stdin = text
	}
	cmd.Stdin = strings.NewReader(here(stdin))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	exit := 0
	if err := cmd.Run(); err != nil {
		var failed *exec.ExitError
		require.True(t, errors.As(err, &failed), "%v", err)
		exit = failed.ExitCode()
	}
	said := fmt.Sprintf("stdout %q\nstderr %q", stdout.String(), stderr.String())
	assert.Equal(t, c.Expect.Exit, exit, said)
	switch {
	case len(c.Expect.Stdout) == 0:
		assert.Empty(t, stdout.String())
	case json.Unmarshal(c.Expect.Stdout, &text) == nil:
		assert.Equal(t, text, stdout.String())
	default:
		assert.JSONEq(t, string(c.Expect.Stdout), stdout.String(), said)
	}
	assert.Equal(t, here(c.Expect.Stderr), stderr.String())
}

// speakRaw runs `run --dialect` with a bare environment in a folder.
func speakRaw(t *testing.T, dir string, stdin []byte, env []string, args ...string) (exit int, stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(programs.Hookc(t), append([]string{"run"}, args...)...)
	cmd.Dir = dir
	home := t.TempDir()
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_STATE_HOME=" + home, "NO_COLOR=1", "HOOKC_TRUST=all"}, env...)
	cmd.Stdin = bytes.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		var failed *exec.ExitError
		require.True(t, errors.As(err, &failed), "%v", err)
		exit = failed.ExitCode()
	}
	return exit, out.String(), errs.String()
}

const guardRemoves = "pre_tool_execution:\n  - {name: guard, deny: 'command contains \"rm\"', reason: \"no\"}\n"

// What cannot be answered in an agent's words is at least refused.
func TestDialectUnknown(t *testing.T) {
	event := []byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`)
	for _, args := range [][]string{{"--dialect", "claud"}, {"--dialect"}, {"PreToolUse", "--dialect="}, {"--dialect", "claude", "--dialect", "nobody"}} {
		exit, stdout, stderr := speakRaw(t, t.TempDir(), event, nil, args...)
		assert.Equal(t, 2, exit, "%q", args)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, "unknown dialect")
	}
	exit, stdout, _ := speakRaw(t, t.TempDir(), nil, nil, "--dialect", "claude", "--help")
	assert.Equal(t, 0, exit)
	assert.Contains(t, stdout, "Usage:")
}

// An event beyond the limit is refused in every dialect, whatever it says
// about itself deep inside.
func TestDialectOversize(t *testing.T) {
	t.Parallel()
	huge := bytes.Repeat([]byte(`{"hook_event_name":"Stop"},`), (32<<20)/27+1)
	event := slices.Concat([]byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"list":[`), huge, []byte(`{}]}}`))
	// The deadline of a busy machine is another: it would be what is answered.
	exit, stdout, stderr := speakRaw(t, t.TempDir(), event, nil, "--dialect", "claude", "--deadline", "10m")
	assert.Equal(t, 2, exit)
	assert.Contains(t, stdout, `"permissionDecision":"deny"`)
	assert.Contains(t, stderr, "larger than 32 MiB")
	exit, stdout, _ = speakRaw(t, t.TempDir(), event, nil, "--dialect", "jcli", "pre_tool_execution", "--deadline", "10m")
	assert.Equal(t, 0, exit)
	assert.Contains(t, stdout, `"action":"skip"`)
}

// An answer that cannot be written is a refusal: nobody reads the pipe, or the
// disk is full.
func TestDialectStdoutGone(t *testing.T) {
	r, gone, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	outputs := []*os.File{gone}
	if full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0); err == nil {
		outputs = append(outputs, full)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hooks.yaml"), []byte("pre_tool_execution:\n  - {name: q, ask: 'true', reason: sure}\n"), 0o644))
	for _, out := range outputs {
		cmd := exec.Command(programs.Hookc(t), "run", "--dialect", "claude", "-f", "hooks.yaml")
		cmd.Dir, cmd.Stdout = dir, out
		cmd.Stdin = strings.NewReader(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"cwd":"/"}`)
		var failed *exec.ExitError
		require.ErrorAs(t, cmd.Run(), &failed)
		assert.Equal(t, 2, failed.ExitCode(), failed.String())
		require.NoError(t, out.Close())
	}
}

// The policy of the project holds when the agent has wandered off.
func TestDialectProject(t *testing.T) {
	t.Parallel()
	project, elsewhere := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(project, "hooks.yaml"), []byte(guardRemoves), 0o644))
	event := fmt.Appendf(nil, `{"hook_event_name":"PreToolUse","cwd":%q,"tool_name":"Bash","tool_input":{"command":"rm x"}}`, elsewhere)
	exit, _, stderr := speakRaw(t, elsewhere, event, []string{"CLAUDE_PROJECT_DIR=" + project}, "--dialect", "claude")
	assert.Equal(t, 2, exit)
	assert.Equal(t, "no", stderr)
	exit, stdout, _ := speakRaw(t, elsewhere, event, nil, "--dialect", "claude")
	assert.Equal(t, 0, exit, "without it the policy of the project is not found: %s", stdout)
}

// A gate that was overridden is not overridden in silence.
func TestDialectGateOverridden(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hooks.yaml"), []byte("stop:\n  - {name: never, deny: 'true', reason: more}\n"), 0o644))
	state := []string{"XDG_STATE_HOME=" + t.TempDir()}
	event := []byte(`{"hook_event_name":"Stop","session_id":"s","cwd":"` + dir + `"}`)
	for range 8 {
		exit, _, stderr := speakRaw(t, dir, event, state, "--dialect", "claude", "-f", "hooks.yaml")
		require.Equal(t, 2, exit)
		require.Equal(t, "more", stderr)
	}
	exit, stdout, _ := speakRaw(t, dir, event, state, "--dialect", "claude", "-f", "hooks.yaml")
	assert.Equal(t, 0, exit)
	assert.Contains(t, stdout, `"systemMessage":"hookc: HK171: never: overridden after 8 blocks running`)
}

// TestDialectTable holds the table in docs/reference/cli.md against the code.
func TestDialectTable(t *testing.T) {
	var rows strings.Builder
	for _, d := range agent.All() {
		if strings.Contains(d.ID, "@") {
			continue
		}
		row := d.Can(policy.PreToolExecution)[0]
		var lost []string
		for _, l := range row.Losses {
			lost = append(lost, l.From+" → "+l.To)
		}
		rewrite := "rewrite"
		if len(row.Writes) == 0 {
			rewrite = ""
		}
		can := strings.Join(strings.Fields(strings.Join(row.May.Names(), " ")+" "+rewrite), ", ")
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", d.ID, can, strings.Join(lost, " · "))
	}
	page, err := os.ReadFile("../../docs/reference/cli.md")
	require.NoError(t, err)
	assert.Contains(t, string(page), rows.String(), "the table in docs/reference/cli.md is stale; it must be\n%s", rows.String())
}
