//go:build unix && !topdown

package gate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/gate/table"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/artifact"
)

const coldRules = `pre_tool_execution:
  - name: shell
    type: rego
    filter: {tool_kind: shell}
    source: |
      package hooks.shell
      deny contains msg if {
        regex.match("rm +-rf", input.command)
        msg := sprintf("no <removing> \"%s\"\nat all", [input.command])
      }
      deny contains "no curl" if contains(input.command, "curl")
      ask contains "really?" if startswith(input.command, "git push")
      context contains "mind the tests" if input.command == "make"
  - name: bare
    type: rego
    source: |
      package hooks.bare
      deny if input.tool_input.command == "bare"
      warn contains "heard" if input.tool_input.command == "warn"
      skip if input.tool_input.command == "skip"
  - name: slow
    type: rego
    source: |
      package hooks.slow
      deny contains "slow" if {
        input.tool_input.command == "slow"
        every a in numbers.range(1, 3000) {
          every b in numbers.range(1, 3000) { a * b > 0 }
        }
      }
stop:
  - name: end
    type: rego
    source: |
      package hooks.end
      deny contains "again" if input.permission_mode == "plan"
`

func commands(list ...string) (out []string) {
	for _, c := range list {
		text, _ := json.Marshal(c) // a text
		out = append(out, strings.Replace(lists, `"ls"`, string(text), 1))
	}
	return out
}

// TestGateRulesAreRun: with the artifact the gate evaluates Rego itself and
// answers, at every event of every agent, byte for byte what hookc run does.
func TestGateRulesAreRun(t *testing.T) {
	h := newColdHouse(t, coldRules)
	type asked struct{ agent, native, stdin string }
	var all []asked
	for _, d := range agent.All() {
		for _, native := range d.Natives() {
			sample := string(d.Sample(native, "Bash", h.project))
			if strings.Contains(sample, `"command"`) {
				all = append(all, asked{d.ID, native, strings.Replace(sample, `"command":"`, `"command":"curl `, 1)})
			}
		}
	}
	for _, stdin := range commands("ls", "rm -rf /", "rm -rf \"é\"; curl <x> & 日本", "git push", "make", "bare", "warn", "skip", "git push; rm  -rf x") {
		all = append(all, asked{"claude", "PreToolUse", stdin}, asked{"gemini", "BeforeTool", strings.Replace(stdin, "PreToolUse", "BeforeTool", 1)})
	}
	for _, more := range []string{`"cmd":"rm -rf /"`, `"Command":"curl x"`, `"x":{"script":"curl x"}`, `"description":"curl x"`} {
		all = append(all, asked{"claude", "PreToolUse", twice(more)})
	}
	want, own, refused := make([]told, len(all)), 0, 0
	for i, a := range all {
		want[i] = h.ask(a.stdin, nil, h.hookc, "run", a.native, "--dialect", a.agent, "-f", "policy.hookc")
		if i%5 == 0 {
			assert.Equal(t, want[i], h.cold(a.stdin, nil, a.native, "--dialect", a.agent), "%+v", a)
		}
	}
	h.alone(true)
	for i, a := range all {
		got := h.cold(a.stdin, nil, a.native, "--dialect", a.agent)
		if strings.Contains(got.Stdout+got.Stderr, helpless) {
			continue // left to hookc, which cannot be started
		}
		own++
		assert.Equal(t, want[i], got, "%+v", a)
		if got.Exit == 2 {
			refused++
		}
	}
	t.Logf("%d of %d on its own, %d refused", own, len(all), refused)
	assert.Greater(t, own, len(all)*2/3)
	assert.Greater(t, refused, 10)
}

// TestGateRulesLeave: what the gate does not evaluate itself, and a section that
// is damaged or of somebody else's making, is left to hookc, which cannot be
// started here.
func TestGateRulesLeave(t *testing.T) {
	h := newColdHouse(t, coldRules)
	run := []string{"PreToolUse", "--dialect", "claude"}
	path := filepath.Join(h.project, "policy.hookc")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	all := commands("rm -rf /", "ls", "skip", "slow")
	removal := all[0]
	refusal := h.ask(removal, nil, h.hookc, append([]string{"run"}, append(run, "-f", "policy.hookc")...)...)
	h.alone(true)
	require.Equal(t, refusal, h.cold(removal, nil, run...))
	require.Equal(t, passed, h.cold(all[1], nil, run...))
	for _, stdin := range []string{all[2], all[3], strings.Replace(removal, `"rm -rf /"`, `["rm","-rf","/"]`, 1), strings.Replace(removal, `"rm -rf /"`, `"rm -rf \ud800"`, 1),
		strings.Replace(removal, `"rm -rf /"`, `"rm -rf `+strings.Repeat("x", 5000)+`"`, 1), strings.Replace(removal, "/", "\xff", 1), strings.Replace(removal, `-rf /"`, `-rf /","command":"x"`, 1),
		strings.Replace(removal, `-rf /"`, `-rf /","cmd":"x"`, 1), strings.Replace(removal, `-rf /"`, `-rf /","Command":"x"`, 1), strings.Replace(removal, `-rf /"`, `-rf /","x":{"command":"x"}`, 1)} {
		require.Equal(t, posture(helpless), h.cold(stdin, nil, run...), stdin[:min(len(stdin), 200)])
	}
	f, err := artifact.Parse(path, whole)
	require.NoError(t, err)
	for _, section := range []string{"rules/pre_tool_execution", "answers/pre_tool_execution"} {
		text, err := f.Section(section)
		require.NoError(t, err)
		at := strings.Index(string(whole), string(text))
		require.Positive(t, at)
		for n := 0; n < len(text); n += 1 + len(text)/5 {
			damaged := slices.Clone(whole)
			damaged[at+n] ^= 0x10
			require.NoError(t, os.WriteFile(path, damaged, 0o644))
			require.Equal(t, posture(helpless), h.cold(removal, nil, run...), "%s byte %d", section, n)
		}
		for _, other := range [][]byte{nil, {}, []byte("x"), {1}, text[:len(text)/2], append(slices.Clone(text), 0), make([]byte, 100)} {
			require.NoError(t, os.WriteFile(path, forged(t, f, section, other), 0o644))
			require.Equal(t, posture(helpless), h.cold(removal, nil, run...), "%s %d bytes", section, len(other))
		}
	}
	require.NoError(t, os.WriteFile(path, whole, 0o644))
	require.Equal(t, refusal, h.cold(removal, nil, run...))
	h.write("hooks.yaml", coldRules+"\n")
	require.Equal(t, posture(helpless), h.cold(removal, nil, run...), "an edited source")
}

// forged is an artifact with another section, whose hashes are right; a nil one is
// not there.
func forged(t *testing.T, f *artifact.File, name string, data []byte) []byte {
	w := &artifact.Writer{Build: f.Build, Release: f.Release}
	for _, n := range f.Names() {
		content, err := f.Section(n)
		require.NoError(t, err)
		switch {
		case n != name:
			w.Add(n, content)
		case data != nil:
			w.Add(n, data)
		}
	}
	return w.Bytes()
}

// leftBehind are the files in the project's state folder and what is in them, without
// times, and the counters.
func (h *gateHouse) leftBehind() (files []string, counters string) {
	h.t.Helper()
	folders, err := filepath.Glob(filepath.Join(h.home, "state", "hookc", "*-project"))
	require.NoError(h.t, err)
	require.Len(h.t, folders, 1)
	entries, err := os.ReadDir(folders[0])
	require.NoError(h.t, err)
	for _, e := range entries {
		files = append(files, e.Name())
	}
	out, err := h.command(h.hookc, "hooks", "status", "--json", "-f", "hooks.yaml").Output()
	require.NoError(h.t, err)
	var status struct {
		Counters []struct {
			Event, Hook       string
			Runs, OK, Failed  int
			Retries, Squashed int
			Total             int64 `json:"total_ns"`
			P50               int64 `json:"p50_ns"`
		}
	}
	require.NoError(h.t, json.Unmarshal(out, &status))
	for _, c := range status.Counters {
		require.Equal(h.t, c.Runs > 0, c.Total > 0 && c.P50 > 0, "%+v", c)
		counters += fmt.Sprintln(c.Event, c.Hook, c.Runs, c.OK, c.Failed, c.Retries, c.Squashed)
	}
	return files, counters
}

// TestGateRulesLeaveTracks: what the gate leaves behind of rules is what hookc run
// does: as many runs of the same hooks, and nothing else.
func TestGateRulesLeaveTracks(t *testing.T) {
	theirs, ours := newColdHouse(t, coldRules), newColdHouse(t, coldRules)
	events := append(commands("ls", "rm -rf /", "git push", "bare", "make", "warn"), `{"hook_event_name":"Stop","session_id":"s","cwd":"/","permission_mode":"default"}`)
	before, _ := ours.leftBehind()
	for _, e := range events {
		theirs.ask(e, nil, theirs.hookc, "run", "--dialect", "claude", "-f", "policy.hookc")
	}
	ours.alone(true)
	for _, e := range events {
		got := ours.cold(e, nil, "--dialect", "claude")
		require.NotContains(t, got.Stderr, helpless, e)
	}
	ours.alone(false)
	files, want := theirs.leftBehind()
	own, got := ours.leftBehind()
	assert.Equal(t, want, got)
	assert.Subset(t, append(files, "gate-claude.PreToolUse", table.Runs), slices.DeleteFunc(own, func(s string) bool { return slices.Contains(before, s) }))
	ours.ask(events[0], nil, ours.hookc, "run", "--dialect", "claude", "-f", "policy.hookc") // which adds them to its own
	theirs.ask(events[0], nil, theirs.hookc, "run", "--dialect", "claude", "-f", "policy.hookc")
	_, want = theirs.leftBehind()
	own, got = ours.leftBehind()
	assert.Equal(t, want, got)
	assert.NotContains(t, own, table.Runs)
}

// TestGateRulesKeepTheDeadline: a regular expression over a large event takes as
// long as it takes, and the agent has its answer in time: the posture.
func TestGateRulesKeepTheDeadline(t *testing.T) {
	h := newColdHouse(t, `pre_tool_execution:
  - name: looks
    type: rego
    source: |
      package hooks.looks
      deny contains "found" if count([i | some i in numbers.range(1, 5000); regex.match("x[a-z]{100}[0-9]", input.tool_input.content)]) > 0
`)
	h.alone(true)
	small := `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Write","tool_input":{"content":"x"}}`
	require.Equal(t, passed, h.cold(small, nil, "PreToolUse", "--dialect", "claude"), "the gate decides this itself")
	large := strings.Replace(small, `"x"`, `"`+strings.Repeat("x", 4<<20)+`"`, 1)
	cmd := h.command(h.gate, "--hookc", h.hookc, "--artifact", "policy.hookc", "PreToolUse", "--dialect", "claude", "--deadline", "500ms")
	cmd.Stdin = strings.NewReader(large)
	var errs strings.Builder
	cmd.Stderr = &errs
	hangs := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() }) // it would look for many minutes
	defer hangs.Stop()
	require.Error(t, cmd.Run())
	assert.Equal(t, 2, cmd.ProcessState.ExitCode(), "%s", errs.String())
	assert.Contains(t, errs.String(), "hookgate: no answer before the deadline")
}
