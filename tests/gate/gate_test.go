//go:build unix

package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/wire"
	"github.com/hookc/hookc/tests/programs"
	"github.com/hookc/hookc/tests/vectors"
)

// gateHouse is a home with a project, a server and gates. A test that writes a
// program and runs it is not parallel: a process that another test starts may
// hold the program open for writing, and then it cannot be run.
type gateHouse struct {
	t             *testing.T
	home, project string
	env           []string
	hookc, gate   string
	server        *exec.Cmd
	ended         chan struct{} // closed when the server has
	// settles makes write wait until a server takes the file: it leaves out what
	// was written less than a tenth of a second ago.
	settles bool
}

func newGateHouse(t *testing.T) *gateHouse {
	t.Helper()
	home, err := os.MkdirTemp("", "hg") // a socket's name is short
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(home) })
	h := &gateHouse{t: t, home: home, project: filepath.Join(home, "project"), hookc: programs.Hookc(t), gate: programs.Hookgate(t)}
	for _, dir := range []string{"project", "run"} {
		require.NoError(t, os.Mkdir(filepath.Join(home, dir), 0o700))
	}
	h.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + filepath.Join(home, "run"),
		"XDG_STATE_HOME=" + filepath.Join(home, "state"), "NO_COLOR=1", "HOOKC_TRUST=all"}
	return h
}

func (h *gateHouse) write(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.project, name)
	require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(h.t, os.WriteFile(path, []byte(text), 0o644))
	h.settle()
}

// rewrite writes a policy in the place of one by which events were decided, and waits until
// the one before does not decide any more.
func (h *gateHouse) rewrite(name, text string) {
	h.t.Helper()
	h.write(name, text)
	time.Sleep(1100 * time.Millisecond)
}

// settle waits, if the house is one that settles, until a change is old enough.
func (h *gateHouse) settle() {
	if h.settles {
		time.Sleep(150 * time.Millisecond)
	}
}

// command is a command of the house, in the project.
func (h *gateHouse) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = h.project, slices.Clone(h.env)
	return cmd
}

// socket is where the server listens.
func (h *gateHouse) socket() string {
	build, err := wire.BuildOf(h.hookc)
	require.NoError(h.t, err)
	return wire.Socket(filepath.Join(h.home, "run", "hookc"), build)
}

// serve starts a server and waits until it listens.
func (h *gateHouse) serve(args ...string) {
	h.t.Helper()
	cmd := h.command(h.hookc, append([]string{"serve"}, args...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	require.NoError(h.t, cmd.Start())
	var how error
	ended := make(chan struct{})
	go func() { how = cmd.Wait(); close(ended) }()
	h.server, h.ended = cmd, ended
	h.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL) // it may have ended
		<-ended
		if h.t.Failed() {
			h.t.Logf("serve ended: %v; it said: %s", how, &said)
		}
	})
	require.Eventually(h.t, func() bool {
		_, err := h.status()
		return err == nil
	}, 2*time.Minute, 10*time.Millisecond, "%s", &said)
}

// wireStatus is the part of serve status --json that tests look at.
type wireStatus struct {
	Pid      int `json:"pid"`
	Requests struct{ Answered, Refused, Broken, Active int64 }
	Plans    []struct{ Error, Event string }
}

func (h *gateHouse) status() (s wireStatus, err error) {
	reply, err := h.request(&wire.Request{Kind: wire.Status})
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(reply.Stdout, &s)
}

func (h *gateHouse) request(r *wire.Request) (*wire.Reply, error) {
	conn, err := dialUnix(h.socket())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if _, err := conn.Write(wire.AppendRequest(nil, r)); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(conn)
	if err != nil {
		return nil, err
	}
	return wire.DecodeReply(data[wire.Beats(data):])
}

// told is what an agent gets.
type told struct {
	Exit           int
	Stdout, Stderr string
}

// ask runs a command as an agent would.
func (h *gateHouse) ask(stdin string, env []string, name string, args ...string) told {
	h.t.Helper()
	cmd := h.command(name, args...)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	exit := 0
	if err := cmd.Run(); err != nil {
		var failed *exec.ExitError
		require.True(h.t, errors.As(err, &failed), "%v", err)
		exit = failed.ExitCode()
	}
	return told{exit, out.String(), errs.String()}
}

const gatePolicy = "pre_tool_execution:\n  - {name: guard, deny: 'command contains \"rm\"', reason: \"no\"}\n"

const removes = `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"rm x"}}`
const lists = `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}`

var (
	denied = told{2, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}` + "\n", "no"}
	passed = told{}
)

// posture is the refusal of the claude dialect when nothing answers.
func posture(why string) told {
	text := "hookc could not decide: " + why
	return told{2, fmt.Sprintf(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":%q}}`+"\n", text), text}
}

// TestGateIsRun is the differential test: every vector of the dialects gives
// the same bytes through run --dialect and through hookgate and serve.
func TestGateIsRun(t *testing.T) {
	t.Parallel()
	h := newGateHouse(t)
	h.serve()
	files, err := filepath.Glob("../vectors/dialect/*/*.json")
	require.NoError(t, err)
	asked := 0
	t.Run("vectors", func(t *testing.T) { // ends when all of them have ended
		for _, file := range files {
			var cases []vectors.Exchange
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(data, &cases), file)
			name := filepath.Base(filepath.Dir(file))
			for i, c := range cases {
				if slices.Contains(c.Args, "--nope") || slices.Contains(c.Args, "--json") {
					continue // hookgate has its own flags
				}
				asked++
				t.Run(name+"/"+c.Note, func(t *testing.T) {
					t.Parallel()
					own := *h // the same home and server, another project
					own.t, own.project = t, filepath.Join(h.home, fmt.Sprintf("%s-%s-%d", name, filepath.Base(file), i))
					require.NoError(t, os.Mkdir(own.project, 0o755))
					if c.Policy != "" {
						own.write("hooks.yaml", c.Policy)
					}
					own.same(&c, name, c.Note)
				})
			}
		}
	})
	s, err := h.status()
	require.NoError(t, err)
	assert.Equal(t, int64(asked), s.Requests.Answered, "all were answered by serve")
}

// same asks both ways; run has a memory of its own.
func (h *gateHouse) same(c *vectors.Exchange, name, note string) {
	h.t.Helper()
	args := c.Args
	if args == nil {
		args = []string{"-f", "hooks.yaml"}
	}
	stdin := string(c.Stdin)
	var text string
	if json.Unmarshal(c.Stdin, &text) == nil {
		stdin = text
	}
	here := func(s string) string { return strings.ReplaceAll(s, "$PROJECT", h.project) }
	var env []string
	for _, k := range slices.Sorted(maps.Keys(c.Env)) {
		env = append(env, k+"="+here(c.Env[k]))
	}
	args = append([]string{"--dialect", name}, args...)
	want := h.ask(here(stdin), append(env, "XDG_STATE_HOME="+filepath.Join(h.home, "cold")), h.hookc, append([]string{"run"}, args...)...)
	got := h.ask(here(stdin), env, h.gate, append([]string{"--deadline", "30s"}, args...)...)
	assert.Equal(h.t, want, got, "%s/%s", name, note)
}

// TestGateIsRunForProcesses: policies of the agents themselves, whose hooks are
// commands, from tests/vectors.
func TestGateIsRunForProcesses(t *testing.T) {
	t.Parallel()
	h := newGateHouse(t)
	h.serve()
	data, err := os.ReadFile("../vectors/claude.jsonl")
	require.NoError(t, err)
	asked := 0
	for line := range bytes.Lines(data) {
		var v vectors.Vector
		require.NoError(t, json.Unmarshal(line, &v))
		settings, ok := v.Files[".claude/settings.json"]
		if asked == 20 || !ok || len(v.Files) > 1 || bytes.Contains(settings, []byte("sleep")) {
			continue
		}
		asked++
		h.project = filepath.Join(h.home, v.ID)
		require.NoError(t, os.Mkdir(h.project, 0o755))
		var text string
		if json.Unmarshal(settings, &text) != nil {
			text = string(settings)
		}
		h.write(".claude/settings.json", text)
		h.same(&vectors.Exchange{Args: []string{v.Event, "-f", ".claude/settings.json"}, Stdin: v.Stdin, Env: map[string]string{"LEDGER": "$PROJECT/ledger"}}, "claude", v.ID)
	}
	s, err := h.status()
	require.NoError(t, err)
	assert.Equal(t, []int64{20, 20}, []int64{int64(asked), s.Requests.Answered})
}

// TestGateCallersWorld: what a decision depends on is taken from the caller:
// environment, folder, switches.
func TestGateCallersWorld(t *testing.T) {
	t.Parallel()
	h := newGateHouse(t)
	h.write("hooks.yaml", "pre_tool_execution:\n  - {name: say, command: 'echo \"{\\\"reason\\\":\\\"$WHO in $PWD\\\",\\\"decision\\\":\\\"deny\\\"}\"'}\n")
	h.serve()
	for _, who := range []string{"anna", "bert", "anna"} {
		env := []string{"WHO=" + who}
		assert.Equal(t, h.ask(lists, env, h.hookc, "run", "PreToolUse", "--dialect", "claude"), h.ask(lists, env, h.gate, "PreToolUse", "--dialect", "claude", "--deadline", "30s"))
	}
	h.rewrite("hooks.yaml", gatePolicy)
	for _, env := range [][]string{{"HOOKC_ENABLED=0"}, {"HOOKC_DEFAULTS_ON_ERROR=deny"}, {"HOOKC_RUN_FILE=nowhere.yaml"}, {"HOOKC_RUN_SERIAL=true"}} {
		assert.Equal(t, h.ask(removes, env, h.hookc, "run", "PreToolUse", "--dialect", "claude"), h.ask(removes, env, h.gate, "PreToolUse", "--dialect", "claude", "--deadline", "30s"), "%q", env)
	}
	s, err := h.status()
	require.NoError(t, err)
	assert.Equal(t, int64(7), s.Requests.Answered)
	for _, env := range [][]string{{"XDG_CONFIG_HOME=" + h.home}, {"HOOKC_TRUST="}, {"HOOKC_DEBUG=" + filepath.Join(h.home, "debug")}, {"TZ=UTC"}, {"HOOKC_CANARY=x"}} {
		assert.Equal(t, h.ask(removes, env, h.hookc, "run", "PreToolUse", "--dialect", "claude"), h.ask(removes, env, h.gate, "PreToolUse", "--dialect", "claude", "--deadline", "30s"), "%q", env)
	}
	s, err = h.status()
	require.NoError(t, err)
	assert.Equal(t, []int64{7, 5}, []int64{s.Requests.Answered, s.Requests.Refused}, "what cannot be honoured is handed back")
}

// TestGateNeverStale: an edit decides the very next event, whatever is edited,
// also when nothing but its content tells.
func TestGateNeverStale(t *testing.T) {
	t.Parallel()
	h := newGateHouse(t)
	h.settles = true
	h.write("hooks.yaml", gatePolicy)
	h.serve()
	ask := func() told {
		return h.ask(removes, nil, h.gate, "PreToolUse", "--dialect", "claude", "--deadline", "30s")
	}
	assert.Equal(t, denied, ask())
	for i := range 10 {
		h.write("hooks.yaml", strings.Replace(gatePolicy, "rm", "xx", 1)) // of the same length
		require.Equal(t, passed, ask(), i)
		h.write("hooks.yaml", gatePolicy)
		require.Equal(t, denied, ask(), i)
	}
	require.NoError(t, os.Remove(filepath.Join(h.project, "hooks.yaml")))
	h.settle()
	assert.Equal(t, passed, ask())
	h.write(".hookc/hooks.local.yaml", gatePolicy)
	assert.Equal(t, denied, ask(), "a file that was not there")
	require.NoError(t, os.RemoveAll(filepath.Join(h.project, ".hookc")))
	h.settle()
	h.write("hooks.yaml", "pre_tool_execution:\n  - {name: guard, type: rego, file: guard.rego}\n")
	rego := "package guard\n\ndeny contains \"no\" if contains(input.tool_input.command, \"rm\")\n"
	h.write("guard.rego", rego)
	assert.Equal(t, denied, ask())
	h.write("guard.rego", strings.Replace(rego, "rm", "xx", 1))
	assert.Equal(t, passed, ask(), "a file the policy names")
}

// TestGateBrokenEdit: the last plan that compiled stays in force, and that is
// said; a server that never saw one refuses, as run does.
func TestGateBrokenEdit(t *testing.T) {
	t.Parallel()
	h := newGateHouse(t)
	h.settles = true
	h.write("hooks.yaml", gatePolicy)
	h.serve()
	ask := func(stdin string) told {
		return h.ask(stdin, nil, h.gate, "PreToolUse", "--dialect", "claude", "--deadline", "30s")
	}
	assert.Equal(t, denied, ask(removes))
	h.write("hooks.yaml", "pre_tool_execution: [{name: x, deny: '))'}]\n")
	assert.Equal(t, denied, ask(removes))
	said := ask(lists)
	assert.Equal(t, []any{0, ""}, []any{said.Exit, said.Stdout})
	assert.Contains(t, said.Stderr, "the policy does not compile any more")
	assert.Contains(t, said.Stderr, "HK080")
	out := h.ask("", nil, h.hookc, "serve", "status")
	assert.Equal(t, 1, out.Exit)
	assert.Contains(t, out.Stdout, "HK080")
	h.write("hooks.yaml", gatePolicy)
	assert.Equal(t, passed, ask(lists))
	assert.Equal(t, 0, h.ask("", nil, h.hookc, "serve", "status").Exit)

	h.project = filepath.Join(h.home, "other")
	h.write("hooks.yaml", "pre_tool_execution: [{name: x, deny: '))'}]\n")
	assert.Equal(t, h.ask(lists, nil, h.hookc, "run", "PreToolUse", "--dialect", "claude"), ask(lists))
}

// TestGateTrust: consent, and what takes it away, count from the next event on.
func TestGateTrust(t *testing.T) {
	t.Parallel()
	h := newGateHouse(t)
	h.settles = true
	h.env = slices.DeleteFunc(h.env, func(kv string) bool { return strings.HasPrefix(kv, "HOOKC_TRUST=") })
	h.write("guard.sh", "echo '{\"decision\":\"deny\",\"reason\":\"no\"}'\n")
	h.write("hooks.yaml", "pre_tool_execution:\n  - {name: guard, command: sh guard.sh}\n")
	h.serve()
	same := func() told {
		t.Helper()
		got := h.ask(removes, nil, h.gate, "PreToolUse", "--dialect", "claude", "--deadline", "30s")
		assert.Equal(t, h.ask(removes, nil, h.hookc, "run", "PreToolUse", "--dialect", "claude"), got)
		return got
	}
	assert.Equal(t, 0, same().Exit, "not trusted yet")
	require.Equal(t, 0, h.ask("", nil, h.hookc, "trust", "--yes").Exit)
	assert.Equal(t, denied, same())
	h.write("guard.sh", "echo '{\"decision\":\"deny\",\"reason\":\"na\"}'\n")
	kept := same()
	assert.Equal(t, 2, kept.Exit, "a script that was changed: the one that was trusted decides")
	assert.Contains(t, kept.Stdout+kept.Stderr, "no")
	require.Equal(t, 0, h.ask("", nil, h.hookc, "trust", "--yes").Exit)
	assert.Equal(t, "na", same().Stderr)
	require.Equal(t, 0, h.ask("", nil, h.hookc, "trust", "--forget").Exit)
	assert.Equal(t, 0, same().Exit)
	s, err := h.status()
	require.NoError(t, err)
	assert.Equal(t, int64(5), s.Requests.Answered)
}
