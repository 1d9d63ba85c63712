package hostile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/programs"
)

// example is a policy of several files, of which one is cut, and a call that the
// whole of it denies.
type example struct {
	name, file, text string
	beside           map[string]string
	call             hookc.Call
}

func shell(command string) hookc.Call {
	return hookc.Call{Tool: "Bash", Input: map[string]any{"command": command}}
}

const included = "pre_tool_execution:\n  - {name: g, deny: 'command contains \"rm -rf\"', reason: no removing}\n"

const regoGuard = "package guard\n\ndeny contains \"no removing\" if contains(input.tool_input.command, \"rm -rf\")\n"

// examples are one policy for each place that a policy can be written in.
func examples(t *testing.T) []example {
	t.Helper()
	whole, err := os.ReadFile("../../hooks.example.yaml")
	require.NoError(t, err)
	beside := map[string]string{}
	require.NoError(t, filepath.WalkDir("../testdata/example", func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		beside[strings.Replace(filepath.ToSlash(path), "..", "tests", 1)] = string(text)
		return err
	}))
	hook := "---\nname: log\ndescription: refuses removals\ntrigger: pre-tool-call\n---\n"
	return []example{
		{"the example", "hooks.yaml", string(whole), beside, shell("rm -rf /")},
		{"one hook", "hooks.yaml", included, nil, shell("rm -rf /")},
		{"JSON", "hooks.json", `{"pre_tool_execution": [{"name": "g", "deny": "command contains \"rm -rf\"", "reason": "no removing"}]}`, nil, shell("rm -rf /")},
		{"an include", "more.yaml", included, map[string]string{"hooks.yaml": "include: [more.yaml]\n"}, shell("rm -rf /")},
		{"a Rego file", "guard.rego", regoGuard, map[string]string{"hooks.yaml": "pre_tool_execution:\n  - {name: g, file: guard.rego}\n"}, shell("rm -rf /")},
		{"a HOOK.md", "log/HOOK.md", hook, map[string]string{"log/scripts/run.sh": "#!/bin/sh\necho no removing >&2; exit 2\n"}, shell("rm -rf /")},
	}
}

// TestCutAtEveryByte cuts each example at every byte. Where the rest does not
// parse, is empty, or has an event without a value, the call that the whole
// denies is refused or the failure is declared. What is left of a list is a
// smaller policy: nothing in the bytes tells it from one that is meant.
func TestCutAtEveryByte(t *testing.T) {
	t.Parallel()
	for _, e := range examples(t) {
		t.Run(e.name, func(t *testing.T) {
			dir := t.TempDir()
			lay(t, dir, e.beside)
			main := filepath.Join(dir, "hooks.yaml")
			switch {
			case strings.HasSuffix(e.file, "HOOK.md"):
				main = filepath.Join(dir, "log")
			case strings.HasSuffix(e.file, ".json"):
				main = filepath.Join(dir, e.file)
			}
			lay(t, dir, map[string]string{e.file: e.text})
			require.Equal(t, "refused", outcome(t, main, e.call), "the whole")
			broken := 0
			for cut := range len(e.text) {
				if !depth.Full() && (cut%16 != 0 || !depth.Tries(cut/16, 4)) && len(e.text) > 1000 {
					continue // a part of the cuts of the long example
				}
				text := e.text[:cut]
				lay(t, dir, map[string]string{e.file: text})
				got := outcome(t, main, e.call)
				if !mustFail(e.file, text) {
					continue
				}
				broken++
				require.NotEqual(t, "proceeds", got, "cut at byte %d: %q", cut, text[max(0, cut-60):])
			}
			assert.Positive(t, broken)
		})
	}
}

// outcome is what a policy makes of a call: refused, a failure that is declared,
// or proceeds.
func outcome(t *testing.T, path string, call hookc.Call) string {
	t.Helper()
	eng, err := hookc.Open(t.Context(), hookc.Files(path), hookc.SkipVerify())
	if err != nil {
		return "declared: " + err.Error()
	}
	defer eng.Close()
	d, err := eng.PreTool(t.Context(), call)
	require.NoError(t, err)
	switch {
	case !d.Permits():
		return "refused"
	case len(d.Failed)+len(d.Warnings) > 0:
		return "declared"
	}
	return "proceeds"
}

// mustFail says by the text alone, without the reader of policies, whether a cut
// left something broken: it does not parse, holds nothing, or ends in a key.
func mustFail(file, text string) bool {
	meat := strings.TrimSpace(text)
	lines := strings.Split(meat, "\n")
	last := lines[len(lines)-1]
	switch filepath.Ext(file) {
	case ".json":
		return !json.Valid([]byte(text))
	case ".rego":
		return strings.Count(text, "{") != strings.Count(text, "}") || strings.Count(text, "(") != strings.Count(text, ")") ||
			strings.Count(text, `"`)%2 == 1 || !strings.HasPrefix(meat, "package guard")
	case ".md":
		return strings.Count("\n"+meat+"\n", "\n---\n") < 2
	}
	content := slices.ContainsFunc(lines, func(l string) bool { return l != "" && !strings.HasPrefix(strings.TrimSpace(l), "#") })
	if _, found := tree.ParseYAML(diag.NewSource(file, text), 0, len(text)); found.HasErrors() {
		return true
	}
	return !content || !strings.HasPrefix(last, " ") && !strings.HasPrefix(last, "#") && strings.HasSuffix(last, ":")
}

// lay writes files below a folder.
func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, programs.Write(path, []byte(text)))
	}
}

// TestSavesThatTruncate decides events while a writer truncates and writes the
// policy, through hookc run and through hookgate with a resident server. Each
// answer refuses or says what is wrong.
func TestSavesThatTruncate(t *testing.T) {
	t.Parallel()
	runs := depth.Of(160)
	dir := t.TempDir()
	policy := filepath.Join(dir, "config", "hookc", "hooks.yaml")
	lay(t, dir, map[string]string{"config/hookc/hooks.yaml": included, "project/.git/HEAD": ""})
	env := append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "XDG_STATE_HOME="+filepath.Join(dir, "state"),
		"XDG_RUNTIME_DIR="+dir)
	project := filepath.Join(dir, "project")
	event := fmt.Sprintf(`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"rm -rf /"},"cwd":%q}`, project)
	answer := func(program string, args ...string) string {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env, cmd.Stdin = project, env, strings.NewReader(event)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run() // the words say what the code does
		return out.String()
	}
	t.Cleanup(func() { answer(programs.Hookc(t), "serve", "stop") })
	saves, stop, done := 0, make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if err := os.WriteFile(policy, []byte(included), 0o644); err != nil {
				done <- err
				return
			}
			saves++
		}
	}()
	silent := 0
	for i := range runs {
		program, args := programs.Hookc(t), []string{"run", "PreToolUse", "--dialect", "claude"}
		if i%2 == 1 {
			program, args = programs.Hookgate(t), []string{"PreToolUse", "--dialect", "claude", "--start", "--deadline", "30s"}
		}
		if out := answer(program, args...); !strings.Contains(out, "deny") && !strings.Contains(out, "hookc") {
			silent++
			t.Log(out)
		}
	}
	close(stop)
	require.NoError(t, <-done)
	t.Logf("%d answers during %d saves", runs, saves)
	assert.Zero(t, silent)
	assert.Greater(t, saves, runs)
}
