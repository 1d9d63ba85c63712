//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// prepare makes a bash hook ready as the compiler would.
func prepare(t *testing.T, h *policy.Hook) (dag.Body, diag.List) {
	t.Helper()
	if h.Name == "" {
		h.Name = "h"
	}
	h.Kind = policy.KindBash
	return bashKind(Options{}).Prepare(h)
}

// shell is a hook on pre_tool_execution that runs a command.
func shell(command string, p policy.Protocol) *policy.Hook {
	return &policy.Hook{Name: "h", Event: policy.PreToolExecution, Body: policy.Body{Command: diag.Literal(command), Protocol: p}}
}

// call is an event in a directory of its own.
func call(t *testing.T) *policy.Context {
	t.Helper()
	return policy.NewContext("").
		Set(policy.FieldCwd, t.TempDir()).
		Set(policy.FieldSessionID, "s").
		Set(policy.FieldToolName, "Bash").
		Set(policy.FieldToolUseID, "u").
		Set(policy.FieldToolInput, map[string]any{"command": "ls"}).Frozen(policy.PreToolExecution)
}

func run(t *testing.T, h *policy.Hook, in *policy.Context) (policy.Result, error) {
	t.Helper()
	body, _ := prepare(t, h)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return body.Runner.Run(ctx, in.Frozen(h.Event), 0)
}

func TestBashFailures(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain.sh")
	require.NoError(t, os.WriteFile(plain, []byte("echo {}\n"), 0o644))
	rows := []struct {
		name, command string
		kind          policy.ErrKind
		text          string
	}{
		{"missing script", "./nowhere.sh", policy.ErrExit, "exit status 127: command not found"},
		{"not executable", plain, policy.ErrExit, "exit status 126: not executable"},
		{"exit 1", "echo no such thing >&2; exit 1", policy.ErrExit, "exit status 1: no such thing"},
		{"exit 2", "echo why >&2; exit 2", policy.ErrExit, "exit status 2: why"},
		{"exit 3, first line", "echo; printf 'first\\nsecond\\n' >&2; exit 3", policy.ErrExit, "exit status 3: first"},
		{"its answer does not count", `echo '{"decision":"deny"}'; exit 3`, policy.ErrExit, "exit status 3"},
		{"signal", "kill -9 $$", policy.ErrSignal, "ended by signal: killed"},
		{"child killed", "sh -c 'kill -9 $$'; exit $?", policy.ErrExit, "exit status 137 (signal 9)"},
		{"not JSON", "echo hello", policy.ErrParse, "answer is not JSON"},
		{"half JSON", `printf '{"decision": "deny"'`, policy.ErrParse, "answer is not JSON"},
		{"array", "echo '[]'", policy.ErrParse, "answer is not a JSON object"},
		{"null", "echo null", policy.ErrParse, "answer is not a JSON object"},
		{"trailing text", "echo '{} and more'", policy.ErrParse, "answer is not JSON"},
		{"wrong type", `echo '{"decision": 1}'`, policy.ErrParse, "decision must be a string"},
		{"10 MB", "head -c 10000000 /dev/zero | tr '\\0' x", policy.ErrOversize, "wrote more than 1024 KiB to standard output"},
		{"no command", "", policy.ErrSpawn, "the hook has no command"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r, err := run(t, shell(row.command, policy.JCLIProtocol), call(t))
			var failed *policy.HookError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, row.kind, failed.Kind)
			assert.Equal(t, row.text, failed.Text[:min(len(row.text), len(failed.Text))])
			assert.Equal(t, policy.Result{}, r)
		})
	}
}

func TestBashAnswers(t *testing.T) {
	for _, silent := range []string{"true", "echo ' {} '", "cat > /dev/null"} {
		r, err := run(t, shell(silent, ""), call(t))
		require.NoError(t, err, silent)
		assert.Equal(t, policy.Result{}, r, silent)
	}
	r, err := run(t, shell(`echo '{"decision": "deny", "reason": "no"}'`, ""), call(t))
	require.NoError(t, err)
	by := policy.By{Name: "h"}
	assert.Equal(t, policy.Result{Verdict: policy.Deny, VerdictBy: by, Reasons: []policy.Reason{{Text: "no"}}}, r)
	r, err = run(t, shell(`echo '{"tool_arguments": "{\"command\":\"pwd\"}", "why": 1}'`, ""), call(t))
	require.NoError(t, err)
	assert.Equal(t, policy.Replace(policy.Path{Field: policy.FieldToolInput}, map[string]any{"command": "pwd"}), r.Patch)
	require.Len(t, r.Warnings, 1)
	assert.Equal(t, "HK117", r.Warnings[0].Code.ID)
}

func TestBashReadsTheEvent(t *testing.T) {
	in := call(t)
	want, err := in.MarshalJSON()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "stdin")
	_, err = run(t, shell("cat > '"+file+"'", ""), in)
	require.NoError(t, err)
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.JSONEq(t, string(want), string(got))
}

func TestBashNeverReadsHugeEvent(t *testing.T) {
	in := call(t).With(policy.Replace(policy.Path{Field: policy.FieldToolInput}, map[string]any{"content": strings.Repeat("x", 5<<20)}))
	began := time.Now()
	r, err := run(t, shell(`echo '{"decision": "deny"}'`, ""), in)
	require.NoError(t, err)
	assert.Equal(t, policy.Deny, r.Verdict)
	assert.Less(t, time.Since(began), time.Minute)
}

func TestBashWorkingDirectory(t *testing.T) {
	in := call(t)
	cwd, err := filepath.EvalSymlinks(in.Text(policy.FieldCwd))
	require.NoError(t, err)
	r, err := run(t, shell(`printf '{"additional_context": "%s"}' "$(pwd -P)"`, ""), in)
	require.NoError(t, err)
	assert.Equal(t, []string{cwd}, r.Context)

	gone := filepath.Join(cwd, "gone")
	_, err = run(t, shell("true", ""), policy.NewContext("").Set(policy.FieldCwd, gone).Frozen(policy.PreToolExecution))
	assert.Equal(t, policy.ErrSpawn, policy.KindOf(err))
	assert.EqualError(t, err, "working directory "+gone+" does not exist or is not a directory")

	own, err := os.Getwd()
	require.NoError(t, err)
	r, err = run(t, shell(`printf '{"additional_context": "%s"}' "$(pwd)"`, ""), policy.NewContext(policy.PreToolExecution))
	require.NoError(t, err)
	assert.Equal(t, []string{own}, r.Context)

	folder := t.TempDir()
	h := shell(`printf '{"additional_context": "%s"}' "$PWD"`, "")
	h.Body.WorkDir = folder
	r, err = run(t, h, in)
	require.NoError(t, err)
	assert.Equal(t, []string{folder}, r.Context)
}

func TestBashEnvironment(t *testing.T) {
	t.Setenv("FILE_PATH", "stale")
	t.Setenv("TOOL_NAME", "stale")
	t.Setenv("KEPT", "yes")
	in := policy.NewContext("").
		Set(policy.FieldCwd, t.TempDir()).
		Set(policy.FieldSessionID, "s").
		Set(policy.FieldToolName, "Write").
		Set(policy.FieldToolInput, map[string]any{"file_path": "/x/a.go"}).Frozen(policy.PreToolExecution)
	h := shell("", "clawdcode")
	h.Dir = "/policy"
	h.Body.Env = []policy.EnvVar{{Name: "MINE", Value: "1"}, {Name: "EMPTY"}}
	body, _ := prepare(t, h)
	seen := map[string]string{}
	read := func(in *policy.Context) {
		clear(seen)
		for _, kv := range body.Runner.(*bash).env(t.Context(), in) {
			k, v, _ := strings.Cut(kv, "=")
			seen[k] = v
		}
	}
	read(in)
	cwd := in.Text(policy.FieldCwd)
	for k, want := range map[string]string{
		"JCLI_HOOK_EVENT": "pre_tool_execution", "JCLI_CWD": cwd, "HOOK_EVENT": "PreToolUse", "TOOL_NAME": "Write",
		"FILE_PATH": "/x/a.go", "EDITED_FILE": "/x/a.go", "CLAUDE_PROJECT_DIR": cwd, "HOOKC_PROJECT_ROOT": cwd,
		"HOOKC_POLICY_DIR": "/policy", "SESSION_ID": "s", "PROJECT_DIR": cwd, "MINE": "1", "EMPTY": "", "KEPT": "yes",
	} {
		got, ok := seen[k]
		assert.True(t, ok, k)
		assert.Equal(t, want, got, k)
	}
	assert.NotContains(t, seen, "AGENT_HOOK_DIR")

	for _, tool := range []string{"Bash", "Read", "mcp__notes__add", "Frobnicate", ""} {
		read(in.With(policy.Replace(policy.Path{Field: policy.FieldToolName}, tool)))
		assert.Equal(t, "/x/a.go", seen["FILE_PATH"], "%s: the file that a call names, whatever the tool", tool)
		assert.Equal(t, "/x/a.go", seen["EDITED_FILE"], tool)
	}

	read(in.Project(policy.Paths{}))
	assert.NotContains(t, seen, "TOOL_NAME", "what the hook may not read is not in its environment, nor is another event's")
	assert.NotContains(t, seen, "FILE_PATH")
	assert.Equal(t, cwd, seen["JCLI_CWD"])
}

// A path too long for an environment must not keep the guard from running.
func TestBashHugePathStillRuns(t *testing.T) {
	in := call(t).With(policy.Replace(policy.Path{Field: policy.FieldToolInput}, map[string]any{"file_path": strings.Repeat("a", 3<<20)}))
	for _, path := range []string{strings.Repeat("a", 3<<20), "nul\x00byte"} {
		in = in.With(policy.Replace(policy.Path{Field: policy.FieldToolInput}, map[string]any{"file_path": path}))
		in = in.With(policy.Replace(policy.Path{Field: policy.FieldToolName}, "Write"))
		r, err := run(t, shell(`echo '{"decision": "deny"}'`, ""), in)
		require.NoError(t, err)
		assert.Equal(t, policy.Deny, r.Verdict)
	}
}

// alive lists the members of a process group that are not zombies.
func alive(t *testing.T, group int) []string {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pgid=,stat=,pid=,args=").Output()
	require.NoError(t, err)
	var left []string
	for line := range strings.SplitSeq(string(out), "\n") {
		f := strings.Fields(line)
		if len(f) > 2 && f[0] == strconv.Itoa(group) && !strings.HasPrefix(f[1], "Z") {
			left = append(left, line)
		}
	}
	return left
}

// groupOf reads the group's number that a hook wrote.
func groupOf(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	return n
}

func TestBashLeavesNothingBehind(t *testing.T) {
	rows := []struct {
		name, command string
		limit, within time.Duration
		kind          policy.ErrKind
	}{
		{"polite", "sleep 600", time.Second, 30 * time.Second, policy.ErrTimeout},
		{"ignores SIGTERM", "trap '' TERM; sleep 600; sleep 60", time.Second, 30 * time.Second, policy.ErrTimeout},
		{"child ignores SIGTERM", "(trap '' TERM; while :; do sleep 1; done) & wait", time.Second, 30 * time.Second, policy.ErrTimeout},
		{"child ignores SIGTERM and holds no pipe", "(trap '' TERM; exec >/dev/null 2>&1 </dev/null; while :; do sleep 1; done) & wait",
			time.Second, 30 * time.Second, policy.ErrTimeout},
		{"grandchild holds stdout", "sleep 600 & echo '{}'", 60 * time.Second, 30 * time.Second, ""},
		{"grandchild holds no pipe", "sleep 600 >/dev/null 2>&1 </dev/null & echo '{}'", 60 * time.Second, 30 * time.Second, ""},
		{"writes for ever", "sleep 600 & yes", 60 * time.Second, 30 * time.Second, policy.ErrOversize},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			body, _ := prepare(t, shell("echo $$ > '"+file+"'; "+row.command, ""))
			ctx, cancel := context.WithTimeout(t.Context(), row.limit)
			defer cancel()
			began := time.Now()
			_, err := body.Runner.Run(ctx, call(t), 0)
			took := time.Since(began)
			if row.kind == "" {
				assert.NoError(t, err)
			} else {
				assert.Equal(t, row.kind, policy.KindOf(err))
			}
			assert.Less(t, took, row.within)
			group := groupOf(t, file)
			assert.Eventually(t, func() bool { return len(alive(t, group)) == 0 }, 2*time.Minute, 20*time.Millisecond,
				"left behind: %v", alive(t, group))
		})
	}
}

func TestBashCancelled(t *testing.T) {
	body, _ := prepare(t, shell("sleep 60", ""))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err := body.Runner.Run(ctx, call(t), 0)
	assert.ErrorIs(t, err, context.Canceled)
	_, err = body.Runner.Run(ctx, call(t), 0)
	assert.ErrorIs(t, err, context.Canceled, "a context that is over starts nothing")

	cause := policy.Failf(policy.ErrDeadline, "the chain is out of time")
	late, stop := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { stop(cause) })
	_, err = body.Runner.Run(late, call(t), 0)
	assert.Same(t, cause, err)
}

func TestBashConcurrently(t *testing.T) {
	body, _ := prepare(t, shell(`cat >/dev/null; echo '{"decision": "deny"}'`, ""))
	in := call(t)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			r, err := body.Runner.Run(t.Context(), in, 0)
			assert.NoError(t, err)
			assert.Equal(t, policy.Deny, r.Verdict)
		})
	}
	wg.Wait()
}

func TestBashEffects(t *testing.T) {
	spec := policy.SessionStart.Spec()
	h := shell("true", policy.AgentHooksProtocol)
	h.Event = policy.SessionStart
	body, list := prepare(t, h)
	assert.Empty(t, list)
	assert.Equal(t, policy.Effects{Reads: spec.Readable(), Writes: spec.Writable(), May: policy.MayDeny,
		World: policy.WorldWrite, MayFail: true}, body.Effects)
}

func TestBashEntryPoint(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	entry := func(path string) *policy.Hook {
		h := shell("", policy.AgentHooksProtocol)
		h.Body.Args, h.Body.WorkDir, h.Dir = []string{path, "arg"}, dir, dir
		return h
	}
	script := "echo \"$1 $AGENT_HOOK_DIR\" >&2; exit 2\n"
	direct := entry(write("run", "#!/bin/sh\n"+script, 0o755))
	given := entry("sh")
	given.Body.Args = []string{"sh", write("run.sh", script, 0o644), "arg"}
	for _, h := range []*policy.Hook{direct, given} {
		_, list := prepare(t, h)
		assert.Empty(t, list)
		r, err := run(t, h, call(t))
		require.NoError(t, err)
		assert.Equal(t, []policy.Reason{{Text: "arg " + dir}}, r.Reasons)
	}
	for _, path := range []string{write("bare", "#!/bin/sh\n", 0o644), filepath.Join(dir, "none")} {
		_, err := run(t, entry(path), call(t))
		assert.Equal(t, policy.ErrSpawn, policy.KindOf(err))
	}
	_, list := prepare(t, entry("no-such-interpreter"))
	assert.Equal(t, []string{"HK090"}, ids(list))
	_, err := run(t, entry("no-such-interpreter"), call(t))
	assert.Equal(t, policy.ErrSpawn, policy.KindOf(err))
}

func TestBashDebug(t *testing.T) {
	t.Setenv("ACME_TOKEN", "hunter2hunter2")
	var got []DebugRecord
	o := Options{Debug: func(r DebugRecord) { got = append(got, r) }}
	h := shell("echo \"$ACME_TOKEN sk-abcdefghijklmnopqrstuvwx\" >&2; exit 3", "")
	body, _ := bashKind(o).Prepare(h)
	_, err := body.Runner.Run(t.Context(), call(t), 2)
	require.Error(t, err)
	require.Len(t, got, 1)
	assert.Positive(t, got[0].Micros)
	got[0].Micros = 0
	assert.Equal(t, DebugRecord{Hook: "h", Event: policy.PreToolExecution, Kind: policy.KindBash, Command: `echo "$ACME_TOKEN [redacted]" >&2; exit 3`,
		Exit: 3, Stderr: "[redacted] [redacted]\n", Error: "exit status 3: [redacted] [redacted]", Attempt: 2}, got[0])
}

func TestRedactor(t *testing.T) {
	hide := newRedactor([]string{"ACME_TOKEN=hunter2hunter2", "LANG=C.UTF-8", "KEY=short"})
	for text, want := range map[string]string{
		"x hunter2hunter2 y C.UTF-8 short":             "x [redacted] y C.UTF-8 short",
		"password=hunter2; exit 3":                     "password=[redacted]; exit 3",
		`{"api_key": "abc123", "user": "u"}`:           `{"api_key": "[redacted]", "user": "u"}`,
		`curl -H "Authorization: Bearer abc.d-e" http`: `curl -H "Authorization: Bearer [redacted]" http`,
		"Authorization: Basic dXNlcjpw":                "Authorization: Basic [redacted]",
		"ghp_abcdefghijklmnopqrstuvwxyz0123456789 end": "[redacted] end",
		`echo "$ACME_TOKEN" monkey=banana`:             `echo "$ACME_TOKEN" monkey=banana`,
		"TOKEN=$ACME_TOKEN":                            "TOKEN=$ACME_TOKEN",
	} {
		assert.Equal(t, want, hide.text(text), text)
	}
}

func TestStderrIsBounded(t *testing.T) {
	var w tail
	for i := range 100_000 {
		_, err := fmt.Fprintf(&w, "line %d\n", i)
		require.NoError(t, err)
	}
	head, end := w.kept()
	assert.True(t, strings.HasPrefix(head, "line 0\n"))
	assert.Len(t, end, stderrTail)
	assert.True(t, strings.HasSuffix(end, "line 99999\n"))
	assert.LessOrEqual(t, cap(w.end), 4*stderrTail)
}

func TestBashWithoutShell(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	body, list := prepare(t, shell("true", ""))
	assert.Equal(t, []string{"HK090"}, ids(list))
	_, err := body.Runner.Run(t.Context(), call(t), 0)
	assert.Equal(t, policy.ErrSpawn, policy.KindOf(err))
	assert.ErrorIs(t, err, exec.ErrNotFound)
	assert.False(t, errors.Is(err, os.ErrPermission))
}
