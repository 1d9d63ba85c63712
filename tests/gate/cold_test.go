//go:build unix

package gate

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/tests/programs"
)

const coldPolicy = `pre_tool_execution:
  - {name: writes, filter: {tool_kind: write}, deny: "true", reason: "no"}
  - {name: pushes, filter: {tool_name: Bash, command: '^git push\b'}, deny: "true", reason: "no push"}
  - {name: planning, filter: {tool_pattern: "^mcp__db__", permission_mode: plan}, deny: "true", reason: "not now"}
stop:
  - {name: end, deny: 'assistant_output contains "failed"', reason: "again"}
`

// newColdHouse is a house with a hookc of its own, whose project is compiled, and
// no server. hookc has recorded events there before.
func newColdHouse(t *testing.T, text string) *gateHouse {
	t.Helper()
	h := newGateHouse(t)
	h.copyHookc()
	h.write("hooks.yaml", text)
	h.ask(lists, nil, h.hookc, "run", "--dialect", "claude")
	h.compile()
	return h
}

// copyHookc gives the house a hookc of its own.
func (h *gateHouse) copyHookc() {
	t := h.t
	t.Helper()
	own := filepath.Join(h.home, "hookc")
	from, err := os.Open(h.hookc)
	require.NoError(t, err)
	defer from.Close()
	to, err := os.OpenFile(own, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(to, from)
	require.NoError(t, err)
	require.NoError(t, to.Close())
	h.hookc = own
}

// rebuilt makes a program another build, or what it was before.
func rebuilt(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	head := make([]byte, 4096)
	_, err = io.ReadFull(f, head)
	require.NoError(t, err)
	owner := []byte("\x04\x00\x00\x00Go\x00\x00")
	at := bytes.Index(head, owner)
	require.Positive(t, at, "no build id")
	at += len(owner)
	_, err = f.WriteAt([]byte{head[at] ^ 1}, int64(at))
	require.NoError(t, err)
}

// TestCopiesAreOneHookc: a hookc and a hookgate that were copied to another place
// take what the originals compiled, and find their server.
func TestCopiesAreOneHookc(t *testing.T) {
	h := newColdHouse(t, coldPolicy)
	h.alone(true)
	bin := filepath.Join(h.home, "copied")
	require.NoError(t, os.Mkdir(bin, 0o755))
	for name, from := range map[string]string{"hookc": programs.Hookc(t), "hookgate": h.gate} {
		data, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, programs.Write(filepath.Join(bin, name), data))
	}
	run := []string{"run", "PreToolUse", "--dialect", "claude", "-f", "policy.hookc"}
	assert.Equal(t, passed, h.ask(lists, nil, filepath.Join(bin, "hookc"), run...))
	gate := []string{"PreToolUse", "--dialect", "claude", "--artifact", "policy.hookc"}
	assert.Equal(t, passed, h.ask(lists, nil, filepath.Join(bin, "hookgate"), gate...))
	copied := *h
	copied.hookc = filepath.Join(bin, "hookc")
	assert.Equal(t, h.socket(), copied.socket())
	rebuilt(t, copied.hookc)
	assert.NotEqual(t, h.socket(), copied.socket())
	got := h.ask(lists, nil, copied.hookc, run...)
	assert.Contains(t, got.Stdout+got.Stderr, "another hookc compiled this policy")
}

func (h *gateHouse) compile() {
	h.t.Helper()
	got := h.ask("", nil, h.hookc, "compile", "-f", "hooks.yaml", "-o", "policy.hookc")
	require.Zero(h.t, got.Exit, "%+v", got)
}

// alone lets nobody start hookc, so that whatever is answered is the gate's own.
func (h *gateHouse) alone(yes bool) {
	h.t.Helper()
	mode := os.FileMode(0o755)
	if yes {
		mode = 0o600
	}
	require.NoError(h.t, os.Chmod(h.hookc, mode))
}

func (h *gateHouse) cold(stdin string, env []string, args ...string) told {
	h.t.Helper()
	return h.ask(stdin, env, h.gate, append([]string{"--hookc", h.hookc, "--artifact", "policy.hookc"}, args...)...)
}

const helpless = "hookgate: hookc run cannot be started"

// TestGateColdIsRun: with the artifact the gate answers, at every event of every
// agent, byte for byte what hookc run does, whoever of the two decides.
func TestGateColdIsRun(t *testing.T) {
	h := newColdHouse(t, coldPolicy)
	type asked struct{ agent, native, stdin string }
	var all []asked
	for _, d := range agent.All() {
		for i, native := range d.Natives() {
			if i%4 == len(d.ID)%4 || strings.Contains(strings.ToLower(native), "pretool") {
				all = append(all, asked{d.ID, native, string(d.Sample(native, "Bash", h.project))})
			}
		}
	}
	for _, stdin := range []string{lists, removes, `{"hook_event_name":"Stop","last_assistant_message":"it failed"}`,
		`{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{}}`, `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push"}}`,
		`{"hook_event_name":"PreToolUse","tool_name":"mcp__db__q","permission_mode":"plan","tool_input":{}}`, `{"hook_event_name":"PreToolUse"}`, `{`, ``, `[]`, `{"a":1}`,
		`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_name":"Bash","tool_input":{}}`, lists + "x",
		twice(`"cmd":"git push"`), twice(`"cmd":"ls"`), twice(`"Command":"git push"`), twice(`"x":{"script":"git push"}`), twice(`"x":[{"argv":["git","push"]}]`), twice(`"command":"git push"`), twice(`"description":"git push"`),
		strings.Replace(twice(`"path":"b","file_path":"a"`), "Bash", "Read", 1)} {
		all = append(all, asked{"claude", "PreToolUse", stdin})
	}
	want := make([]told, len(all))
	for i, a := range all {
		want[i] = h.ask(a.stdin, nil, h.hookc, "run", a.native, "--dialect", a.agent, "-f", "policy.hookc")
		assert.Equal(t, want[i], h.cold(a.stdin, nil, a.native, "--dialect", a.agent), "%+v", a)
	}
	h.alone(true)
	own := 0
	for i, a := range all {
		got := h.cold(a.stdin, nil, a.native, "--dialect", a.agent)
		if strings.Contains(got.Stdout+got.Stderr, helpless) || got.Exit == 0 && got != want[i] {
			continue // left to hookc, which cannot be started
		}
		own++
		assert.Equal(t, want[i], got, "%+v", a)
	}
	assert.Greater(t, own, len(all)/3, "the gate hardly answers on its own")
}

// twice is a call with a further argument.
func twice(more string) string { return strings.Replace(lists, `"ls"`, `"ls",`+more, 1) }

// TestGateColdLeaves: whatever is out of the ordinary is left to hookc, which
// cannot be started here.
func TestGateColdLeaves(t *testing.T) {
	h := newColdHouse(t, coldPolicy)
	artifact := filepath.Join(h.project, "policy.hookc")
	whole, err := os.ReadFile(artifact)
	require.NoError(t, err)
	h.alone(true)
	run := []string{"PreToolUse", "--dialect", "claude"}
	itself := func() { t.Helper(); require.Equal(t, passed, h.cold(lists, nil, run...)) }
	left := func(what, stdin string, env []string, args ...string) {
		t.Helper()
		got := h.cold(stdin, env, append(run, args...)...)
		require.Contains(t, got.Stderr, "hookgate: ", what)
		require.Equal(t, 2, got.Exit, what)
	}
	itself()
	for _, stdin := range []string{"", "{", lists + "}", `[` + lists + `]`, strings.Replace(lists, `"s"`, `"s","session_id":"t"`, 1),
		strings.Replace(lists, `"ls"`, `"ls","x":{"a":1,"a":2}`, 1), strings.Replace(lists, `"ls"`, strings.Repeat("[", 600)+strings.Repeat("]", 600), 1),
		strings.Replace(lists, `"ls"`, "\"l\x01s\"", 1), strings.Replace(lists, "Bash", "Write", 1), strings.Replace(lists, `"ls"`, `"git push -f"`, 1),
		strings.Replace(lists, `"ls"`, `["git","push"]`, 1), strings.Replace(lists, "PreToolUse", "Stop", 1), strings.Replace(lists, "PreToolUse", "Nothing", 1),
		twice(`"cmd":"git push"`), twice(`"cmd":"x"`), twice(`"Command":"x"`), twice(`"COMMAND_line":"x"`), twice(`"x":{"script":"git push"}`), twice(`"x":[{"argv":["git","push"]}]`), twice(`"command":"x"`)} {
		left(stdin[:min(len(stdin), 100)], stdin, nil)
	}
	for _, env := range []string{"HOOKC_ENABLED=0", "HOOKC_DEBUG=/dev/null", "HOOKC_DEFAULTS_TIMEOUT=1s", "HOOKC_MODEL_PROVIDER=nobody", "OPENAI_BASE_URL=nonsense", "HOOKC_RUN_SERIAL=1"} {
		left(env, lists, []string{env})
	}
	left("another policy too", lists, nil, "-f", "hooks.yaml")
	left("a profile", lists, nil, "--profile", "claude")
	for n := 0; n < len(whole); n += 1 + len(whole)/40 {
		damaged := append([]byte{}, whole...)
		damaged[n] ^= 0x40
		require.NoError(t, os.WriteFile(artifact, damaged, 0o644))
		if got := h.cold(lists, nil, run...); got != passed { // a part the gate does not read may be damaged
			require.Equal(t, posture(helpless), got, "byte %d", n)
		}
		require.NoError(t, os.WriteFile(artifact, whole[:n], 0o644))
		left(fmt.Sprintf("cut at %d", n), lists, nil)
	}
	require.NoError(t, os.Remove(artifact))
	left("no artifact", lists, nil)
	require.NoError(t, os.Mkdir(artifact, 0o755))
	left("a folder", lists, nil)
	require.NoError(t, os.Remove(artifact))
	require.NoError(t, os.WriteFile(artifact, whole, 0o644))
	itself()
	h.write("hooks.yaml", coldPolicy+"\n")
	left("an edited source", lists, nil)
	h.write("hooks.yaml", coldPolicy)
	itself()
	require.NoError(t, os.Remove(filepath.Join(h.project, "hooks.yaml")))
	left("a source that is gone", lists, nil)
	h.write("hooks.yaml", coldPolicy)
	now := time.Now()
	require.NoError(t, os.Chtimes(h.hookc, now, now.Add(time.Hour)))
	itself()
	rebuilt(t, h.hookc)
	left("another hookc", lists, nil)
	rebuilt(t, h.hookc)
	itself()
	require.NoError(t, os.RemoveAll(filepath.Join(h.home, "state")))
	left("no state folder", lists, nil)
}

// TestGateColdLeavesTracks: doctor knows that the agent's hook fires, and a gate
// that has blocked before is asked.
func TestGateColdLeavesTracks(t *testing.T) {
	h := newColdHouse(t, "stop:\n  - {name: end, filter: {permission_mode: plan}, deny: 'assistant_output contains \"failed\"', reason: \"again\"}\n")
	ends := `{"hook_event_name":"Stop","session_id":"s","last_assistant_message":"done"}`
	blocked := h.cold(`{"hook_event_name":"Stop","session_id":"s","permission_mode":"plan","last_assistant_message":"it failed"}`, nil, "Stop", "--dialect", "claude")
	require.NotEqual(t, passed, blocked)
	folders, err := filepath.Glob(filepath.Join(h.home, "state", "hookc", "*-project"))
	require.NoError(t, err)
	require.Len(t, folders, 1)
	require.FileExists(t, filepath.Join(folders[0], "gates.json"))
	h.alone(true)
	assert.NotEqual(t, passed, h.cold(ends, nil, "Stop", "--dialect", "claude"), "hookc forgets the blocks")
	assert.Equal(t, passed, h.cold(lists, nil, "PreToolUse", "--dialect", "claude"))
	assert.FileExists(t, filepath.Join(folders[0], "gate-claude.PreToolUse"))
	assert.NoFileExists(t, filepath.Join(folders[0], "gate-claude.Stop"))
}
