package agents_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/tests/programs"
)

// realAgent is a real agent and how it is put to work without a network.
type realAgent struct {
	id string
	// write and shell are the model's calls that create a file and run a
	// command, in the agent's own tools.
	write func(dir, file, text string) turn
	shell func(command string) turn
	// scope is the one of its configurations that `hookc install` is to change.
	scope string
	// rewrites is whether the agent lets a hook change a call.
	rewrites bool
	// demands is how often the agent tells its model what keeps it working.
	demands int
	// start lays out the configuration with hooks, and is the command line.
	start func(t *testing.T, s *session) []string
	// env is what the agent's process gets beside the bare environment.
	env func(s *session) []string
}

// session is one run of an agent in a fresh project and home.
type session struct {
	agent   *realAgent
	hookc   string
	model   *model
	project string
	home    string
	policy  string
	// start is the folder the agent is started in.
	start string
	// prompt is what the user asks.
	prompt string
	// recorder, when set, is the file that every event is written to, instead of
	// hookc.
	recorder string
	// script, when set, is the hook at those events instead of hookc.
	script string
	// events, when set, are those that hookc stands at.
	events []string
	// bare is true when the agent's configuration is written without hooks;
	// installed when `hookc install` then puts them in.
	bare, installed bool
	// environ are further variables of the agent's environment, before what its
	// command line follows.
	environ, before []string
	// stdout and stderr are what the agent said, debug what each hook did.
	stdout, stderr, debug string
}

// patience bounds one run of an agent.
const patience = 90 * time.Second

// play runs an agent on a prompt against a model that gives turns, with hookc
// as its only hook.
func play(t *testing.T, a *realAgent, turns func(s *session) []turn) *session {
	t.Helper()
	return begin(t, a).play(t, turns)
}

// begin lays out a fresh project and home.
func begin(t *testing.T, a *realAgent) *session {
	t.Helper()
	policy, err := filepath.Abs(filepath.Join("testdata", "hooks.yaml"))
	require.NoError(t, err)
	root := t.TempDir()
	s := &session{agent: a, hookc: programs.Hookc(t), project: filepath.Join(root, "project"), home: filepath.Join(root, "home"), policy: policy, prompt: "go"}
	s.start = s.project
	for _, dir := range []string{s.project, s.home} {
		require.NoError(t, os.Mkdir(dir, 0o755))
	}
	return s
}

// play runs the session.
func (s *session) play(t *testing.T, turns func(s *session) []turn) *session {
	t.Helper()
	a, root := s.agent, filepath.Dir(s.project)
	s.model = newModel(t, turns(s))
	argv := append(slices.Clone(s.before), a.start(t, s)...)
	// No agent gets anything else of the environment.
	env := append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "TMPDIR=" + root, "LANG=C.UTF-8", "CI=1", "NO_COLOR=1",
		"HOOKC_TRUST=all", "HOOKC_DEBUG=" + filepath.Join(root, "debug.jsonl"),
	}, append(a.env(s), s.environ...)...)
	if s.installed {
		install := exec.CommandContext(t.Context(), s.hookc, "install", a.id, "--scope", a.scope, "-f", s.policy)
		install.Dir, install.Env = s.project, env
		out, err := install.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = s.start
	cmd.WaitDelay = time.Second
	cmd.Env = env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	s.stdout, s.stderr = stdout.String(), stderr.String()
	if data, err := os.ReadFile(filepath.Join(root, "debug.jsonl")); err == nil {
		s.debug = string(data)
	}
	t.Logf("%s\nstdout: %s\nstderr: %s\nhooks: %s\nrequests: %d, stray: %v", strings.Join(argv, " "), s.stdout, s.stderr, s.debug, len(s.model.sent()), s.model.stray)
	if s.recorder == "" {
		require.NoError(t, err, "%s ended badly", a.id)
	}
	return s
}

// command is the command line of hookc as the agent's hook of an event.
func (s *session) command(event string) string {
	if s.recorder != "" {
		return `sent=$(tr '\n' ' '); printf '%s\n' "$sent" >> ` + s.recorder
	}
	if s.script != "" {
		return s.script
	}
	return s.hookc + " run " + event + " --dialect " + s.agent.id + " -f " + s.policy
}

// put writes a file of the agent's configuration.
func put(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// file is the trimmed content of a file of the project, "" when there is none.
func (s *session) file(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.project, name))
	if os.IsNotExist(err) {
		return ""
	}
	require.NoError(t, err)
	return strings.TrimSpace(string(data))
}

// groups is the hooks of every event named, in the form agents share; seconds
// is the unit of the timeout.
func (s *session) groups(unit int, events ...string) map[string]any {
	out := map[string]any{}
	if s.bare {
		return out
	}
	if s.events != nil {
		events = s.events
	}
	if s.recorder != "" {
		d, err := agent.Find(s.agent.id)
		if err != nil {
			panic(err)
		}
		events = nil
		for _, p := range d.WireFormat().Points {
			events = append(events, p.Native)
		}
	}
	for _, e := range events {
		out[e] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": s.command(e), "timeout": 30 * unit}}}}
	}
	return out
}

// counts is how often each text holds a part.
func counts(texts []string, part string) []int {
	out := make([]int, len(texts))
	for i, text := range texts {
		out[i] = strings.Count(text, part)
	}
	return out
}
