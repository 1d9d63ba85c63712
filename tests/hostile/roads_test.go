//go:build unix

package hostile

import (
	"encoding/json"
	"fmt"
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

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/programs"
)

// served starts `hookc serve` of a house and waits until it answers.
func (h *house) served(t *testing.T, program string, env ...string) {
	t.Helper()
	cmd := exec.Command(program, "serve")
	cmd.Dir, cmd.Env = h.project, append(slices.Clone(h.env), env...)
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL) // it may have ended
		<-ended
	})
	require.Eventually(t, func() bool { return h.answered(t, program) >= 0 }, hang, 10*time.Millisecond)
}

// answered is how many events the server has answered, -1 where none listens.
func (h *house) answered(t *testing.T, program string) int64 {
	t.Helper()
	a := h.ask(t, "", program, "serve", "status", "--json")
	var status struct{ Requests struct{ Answered int64 } }
	if a.code != 0 || json.Unmarshal([]byte(a.stdout), &status) != nil {
		return -1
	}
	return status.Requests.Answered
}

// compiled is the policy of the project as an artifact.
func (h *house) compiled(t *testing.T, program string) string {
	t.Helper()
	path := filepath.Join(h.home, "policy.hookc")
	a := h.ask(t, "", program, "compile", "-o", path)
	require.Equal(t, 0, a.code, "%s%s", a.stdout, a.stderr)
	return path
}

// gate is a hookgate that asks the server of program, or starts program.
func gate(t *testing.T, program, native, dialect string, more ...string) []string {
	return append([]string{programs.Hookgate(t), native, "--dialect", dialect, "--hookc", program, "--deadline", "100s"}, more...)
}

// TestProjectHoldsOnEveryRoad: wherever an agent is, in a folder of the project,
// in a repository nested in it, or outside once the session began inside, the
// server and the gate with a compiled policy answer what run answers, for every
// agent, and the project's locked guard refuses.
func TestProjectHoldsOnEveryRoad(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	require.NoError(t, os.RemoveAll(filepath.Join(h.home, ".config")))
	require.NoError(t, put(h.project, ".hookc/hooks.yaml",
		"pre_tool_execution: [{name: theirs, locked: true, deny: 'command contains \"true\"', reason: the project says no}]\n"))
	nested, outside := filepath.Join(h.project, "nested"), filepath.Join(h.home, "outside")
	require.NoError(t, put(nested, ".git/HEAD", ""))
	require.NoError(t, put(nested, "hooks.yaml", "pre_tool_execution: [{name: theirs, allow: 'true'}]\n"))
	for _, dir := range []string{outside, filepath.Join(nested, "deep"), filepath.Join(h.project, "folder")} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	program := programs.Hookc(t)
	require.Equal(t, 0, h.ask(t, "", program, "trust", "--yes").code)
	require.Equal(t, 0, h.ask(t, "", program, "trust", "--yes", nested).code)
	artifact := h.compiled(t, program)
	h.served(t, program)
	asked := int64(0)
	for i, a := range agent.All() {
		native, ok := guardOf(a)
		if !ok {
			continue
		}
		places := map[string]string{"nested": filepath.Join(nested, "deep"), "outside": outside}
		if depth.Full() { // TestProjectHoldsWhereverTheAgentIs has them in every run
			places["root"], places["folder"] = h.project, filepath.Join(h.project, "folder")
		}
		for j, where := range slices.Sorted(maps.Keys(places)) {
			if !depth.Tries(i+j, 2) {
				continue // daily one of the two, in turn
			}
			cwd := places[where]
			lines := map[string][]string{
				"run":         {program, "run", native, "--dialect", a.ID},
				"serve":       gate(t, program, native, a.ID),
				"run of it":   {program, "run", native, "--dialect", a.ID, "-f", artifact},
				"artifact":    gate(t, program, native, a.ID, "--socket", filepath.Join(h.home, "none"), "--artifact", artifact),
				"served it":   gate(t, program, native, a.ID, "--artifact", artifact),
				"no artifact": gate(t, program, native, a.ID, "--socket", filepath.Join(h.home, "none")),
			}
			said := map[string]answer{}
			for road, line := range lines {
				event := func(cwd string) string {
					return strings.ReplaceAll(string(a.Sample(native, "Bash", cwd)), "hookc-doctor", "s"+a.ID+where+strings.ReplaceAll(road, " ", ""))
				}
				if where == "outside" {
					h.ask(t, event(h.project), line...)
				}
				got := h.ask(t, event(cwd), line...)
				assert.Contains(t, got.stdout+got.stderr, "the project says no", "%s in %s by %s", a.ID, where, road)
				got.took = 0
				said[road] = got
				if strings.HasPrefix(road, "serve") {
					asked++
				}
			}
			for road, as := range map[string]string{"serve": "run", "no artifact": "run", "artifact": "run of it", "served it": "run of it"} {
				assert.Equal(t, said[as], said[road], "%s in %s by %s", a.ID, where, road)
			}
		}
	}
	assert.GreaterOrEqual(t, h.answered(t, program), asked, "the server was asked")
}

// guardOf is the agent's name of the event before a call of a tool.
func guardOf(a *agent.Agent) (string, bool) {
	for _, native := range a.Natives() {
		if slices.Contains(a.EventsOf(native), policy.PreToolExecution) && (a.ID != "cursor" || native == "preToolUse") {
			return native, true
		}
	}
	return "", false
}

// TestUnreadableCallsAreRefused: a call that names no tool, one with two
// different inputs, and one with a NUL are refused by every agent's words, by
// run, by the server and by the gate with a compiled policy, although no hook
// would have refused the call.
func TestUnreadableCallsAreRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	require.NoError(t, put(h.home, ".config/hookc/hooks.yaml", "pre_tool_execution:\n  - {name: g, filter: {tool_name: Bash}, deny: 'command contains \"rm -rf\"', reason: no}\n"))
	program := programs.Hookc(t)
	artifact := h.compiled(t, program)
	h.served(t, program)
	for _, a := range agent.All() {
		native, ok := guardOf(a)
		if !ok {
			continue
		}
		sample := string(a.Sample(native, "Bash", h.project))
		require.Contains(t, sample, `"Bash"`, a.ID)
		lines := [][]string{{program, "run", native, "--dialect", a.ID}, gate(t, program, native, a.ID),
			gate(t, program, native, a.ID, "--socket", filepath.Join(h.home, "none"), "--artifact", artifact)}
		passed := h.ask(t, sample, lines[0]...)
		passed.took = 0
		events := malformed(t, sample)
		for tried, name := range slices.Sorted(maps.Keys(events)) {
			event := events[name]
			var first answer
			for i, line := range lines {
				if i > 0 && !depth.Full() && (tried+i)%2 == 0 {
					continue // one of the two in turn
				}
				got := h.ask(t, event, line...)
				got.took = 0
				if i == 0 {
					first = got
				}
				assert.Equal(t, first, got, "%s: %s: %s", a.ID, name, line)
				assert.NotEqual(t, passed, got, "%s: %s: %s", a.ID, name, event)
				assert.Contains(t, got.stdout+got.stderr, "could not decide", "%s: %s: %s", a.ID, name, event)
			}
		}
	}
}

// malformed are calls that cannot be read, made of one that can.
func malformed(t *testing.T, sample string) map[string]string {
	t.Helper()
	edit := func(change func(name, input string, event map[string]any)) string {
		event := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(sample), &event))
		name, input := "", ""
		for key, value := range event {
			switch {
			case value == "Bash":
				name = key
			case strings.Contains(fmt.Sprint(value), "command"):
				input = key
			}
		}
		require.NotEmpty(t, name, sample)
		change(name, input, event)
		text, err := json.Marshal(event)
		require.NoError(t, err)
		return string(text)
	}
	out := map[string]string{
		"no tool":           edit(func(name, _ string, event map[string]any) { delete(event, name) }),
		"an empty tool":     edit(func(name, _ string, event map[string]any) { event[name] = "" }),
		"a tool of null":    edit(func(name, _ string, event map[string]any) { event[name] = nil }),
		"a tool of a list":  edit(func(name, _ string, event map[string]any) { event[name] = []any{"Bash"} }),
		"another key":       edit(func(name, _ string, event map[string]any) { delete(event, name); event["TOOL_NAME"] = "Bash" }),
		"a NUL in the tool": edit(func(name, _ string, event map[string]any) { event[name] = "Ba\x00sh" }),
		"a NUL in the input": edit(func(_, input string, event map[string]any) {
			event[input] = map[string]any{"command": "rm\x00 -rf /"}
		}),
		"a NUL deep in the input": edit(func(_, input string, event map[string]any) {
			event[input] = map[string]any{"command": "ls", "more": []any{map[string]any{"x": "a\x00b"}}}
		}),
	}
	if strings.Contains(sample, `"tool_input"`) {
		out["two inputs"] = edit(func(_, _ string, event map[string]any) { event["tool_arguments"] = map[string]any{"command": "ls"} })
	}
	return out
}

// environmentRemovesNoGuardOnAnyRoad: with every variable that hookc reads set
// to a value, for the gate or for the server, the managed guard refuses through
// the server and through the gate with a compiled policy; so it does where the
// policy was compiled before there was a managed one.
func environmentRemovesNoGuardOnAnyRoad(t *testing.T, program, managed string) {
	require.NoError(t, os.RemoveAll(filepath.Join(managed, "hooks.yaml")))
	h := newHouse(t)
	require.NoError(t, os.RemoveAll(filepath.Join(h.home, ".config")))
	require.NoError(t, put(h.home, ".config/hookc/hooks.yaml", "stop: []\n"))
	for _, name := range []string{"empty.yaml", "named.yaml"} { // HOOKC_DEBUG writes into the file it names
		require.NoError(t, put(h.project, name, "stop: []\n"))
	}
	before := filepath.Join(h.home, "before.hookc")
	require.Equal(t, 0, h.ask(t, "", program, "compile", "-o", before).code)
	require.NoError(t, put(managed, "hooks.yaml",
		"pre_tool_execution:\n  - {name: managed, filter: {tool_name: Bash}, deny: 'command contains \"rm -rf\"', reason: the machine says no}\n"))
	after := h.compiled(t, program)
	none := filepath.Join(h.home, "none")
	lines := map[string][]string{
		"serve":      gate(t, program, "PreToolUse", "claude"),
		"a profile":  gate(t, program, "PreToolUse", "claude", "--profile", "gemini"),
		"a file":     gate(t, program, "PreToolUse", "claude", "-f", "empty.yaml"),
		"artifact":   gate(t, program, "PreToolUse", "claude", "--socket", none, "--artifact", after),
		"older":      gate(t, program, "PreToolUse", "claude", "--socket", none, "--artifact", before),
		"served":     gate(t, program, "PreToolUse", "claude", "--artifact", after),
		"no server":  gate(t, program, "PreToolUse", "claude", "--socket", none),
		"run of it":  {program, "run", "PreToolUse", "--dialect", "claude", "-f", after},
		"run of old": {program, "run", "PreToolUse", "--dialect", "claude", "-f", before},
	}
	check := func(what string) {
		t.Helper()
		for road, line := range lines {
			a := h.ask(t, removal, line...)
			assert.Equal(t, 2, a.code, "%s by %s: %s%s", what, road, a.stdout, a.stderr)
			if road != "older" && road != "run of old" && !strings.Contains(what, "HOOKC_") {
				assert.Contains(t, a.stdout, "the machine says no", "%s by %s", what, road)
			}
		}
	}
	values := []string{"0", "1", "true", "false", "all", "gemini", "named.yaml", "skip"}
	names := slices.DeleteFunc(variables(t, program), func(name string) bool { return name == "HOOKC_CANARY" }) // it refuses in its own words
	env := h.env
	every := func(value string) (set []string) {
		for _, name := range names {
			set = append(set, name+"="+value)
		}
		return set
	}
	h.served(t, program)
	check("nothing set")
	for _, value := range values {
		h.env = append(slices.Clone(env), every(value)...)
		check("all HOOKC_ = " + value)
	}
	if depth.Full() {
		for _, name := range names {
			for _, value := range values {
				h.env = append(slices.Clone(env), name+"="+value)
				check(name + "=" + value)
			}
		}
	}
	h.env = env
	for _, value := range []string{"0", "all", "named.yaml"} {
		t.Run("a server with "+value, func(t *testing.T) {
			h.env = env
			h.ask(t, "", program, "serve", "stop")
			h.served(t, program, every(value)...)
			check("the server has all = " + value)
		})
	}
}
