package vectors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/programs"
)

// TestVectors runs every conformance case through the real binary.
func TestVectors(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			t.Parallel()
			for i, v := range readVectors(t, file) {
				if !depth.Tries(i, 2) {
					continue
				}
				t.Run(v.ID, func(t *testing.T) {
					t.Parallel()
					wrong := v.run(t)
					if v.Differs != "" {
						assert.NotEmpty(t, wrong, "%s: it differs no more: %s", v.Note, v.Differs)
						return
					}
					assert.Empty(t, wrong, "%s (%s)", v.Note, v.Source)
				})
			}
		})
	}
}

func readVectors(t *testing.T, file string) []Vector {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	var out []Vector
	seen := map[string]bool{}
	for line := range bytes.Lines(content) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var v Vector
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		require.NoError(t, dec.Decode(&v), "%s", line)
		require.False(t, seen[v.ID], "two cases are called %s", v.ID)
		seen[v.ID] = true
		out = append(out, v)
	}
	return out
}

// answered is one run of the binary.
type answered struct {
	exit           int
	stdout, stderr string
	ran            []string
}

// run makes both runs of a case and lists what is not as expected.
func (v *Vector) run(t *testing.T) []string {
	args := []string{"run", v.Event, "--profile", v.Dialect}
	if v.Faithful {
		args = append(args, "--faithful")
	}
	var wrong []string
	for range 5 {
		got := v.start(t, append(slices.Clone(args), "--json"))
		if wrong = v.decision(t, got); len(wrong) == 0 || !v.neverBegan(got) {
			break
		}
	}
	if len(v.Native) > 0 {
		wrong = append(wrong, v.native(t, v.start(t, append(args, "--dialect", v.Dialect)))...)
	}
	return wrong
}

// neverBegan reports whether a hook's time was up before the machine had let it
// write down that it runs: the recorded times are parts of a second. Such a run
// shows nothing and is made again; a hook that is not started at all never is in
// the ledger.
func (v *Vector) neverBegan(got answered) bool {
	want, _ := v.Expect["ran"].([]any)
	return len(got.ran) < len(want) && ranOut.MatchString(got.stdout)
}

// ranOut finds a hook in a Decision that ran out of time.
var ranOut = regexp.MustCompile(`"kind":"(deadline|timeout)"`)

// start lays out the files of the case in a fresh folder and runs hookc.
func (v *Vector) start(t *testing.T, args []string) answered {
	t.Helper()
	dir := folderForDetached(t)
	home, project, ledger := filepath.Join(dir, "home"), filepath.Join(dir, "project"), filepath.Join(dir, "ledger")
	for _, d := range []string{home, project, filepath.Join(dir, "tmp")} {
		require.NoError(t, os.Mkdir(d, 0o755))
	}
	for name, raw := range v.Files {
		v.lay(t, home, project, name, raw)
	}
	cmd := exec.Command(programs.Hookc(t), args...)
	cmd.Dir = project
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LEDGER=" + ledger, "LANG=C.UTF-8", "NO_COLOR=1",
		"TMPDIR=" + filepath.Join(dir, "tmp"), "HOOKC_TRUST=all"}
	for k, value := range v.Env {
		cmd.Env = append(cmd.Env, k+"="+inProject(value, project))
	}
	cmd.Stdin = strings.NewReader(inProject(string(v.Stdin), project))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return answered{cmd.ProcessState.ExitCode(), out.String(), errs.String(), v.ledger(ledger)}
}

// folderForDetached is a fresh folder for a run whose detached hooks may still
// be writing when the case is over.
func folderForDetached(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hookc-vector-*")
	require.NoError(t, err)
	t.Cleanup(func() {
		for range 6000 { // a bound for a hang, not for a slow machine
			if err = os.RemoveAll(dir); err == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		assert.NoError(t, err)
	})
	return dir
}

// ledger reads who ran. Detached hooks may be a moment late.
func (v *Vector) ledger(path string) []string {
	want, _ := v.Expect["ran"].([]any)
	var got []string
	for range 3000 {
		content, _ := os.ReadFile(path)
		if got = strings.Fields(string(content)); len(got) >= len(want) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return got
}

func (v *Vector) lay(t *testing.T, home, project, name string, raw json.RawMessage) {
	t.Helper()
	var file struct {
		Text string `json:"text"`
		Exec bool   `json:"exec"`
	}
	if json.Unmarshal(raw, &file.Text) != nil {
		require.NoError(t, json.Unmarshal(raw, &file))
	}
	path := filepath.Join(project, name)
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		path = filepath.Join(home, rest)
	}
	mode := os.FileMode(0o644)
	if file.Exec {
		mode = 0o755
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(inProject(file.Text, project)), mode))
}

var projectVar = regexp.MustCompile(`\$PROJECT($|[^A-Za-z0-9_])`)

// inProject puts the project's path where a case says $PROJECT.
func inProject(text, project string) string {
	return projectVar.ReplaceAllString(text, strings.ReplaceAll(project, "$", "$$")+"${1}")
}

// decision compares the canonical Decision with what the case expects.
func (v *Vector) decision(t *testing.T, got answered) (wrong []string) {
	t.Helper()
	miss := func(what string, want, have any) {
		wrong = append(wrong, fmt.Sprintf("%s: want %s, have %s\nstdout %s\nstderr %s", what, inJSON(want), inJSON(have), got.stdout, got.stderr))
	}
	if text, ok := v.Expect["error"].(string); ok {
		if got.exit != 3 || got.stdout != "" || !strings.Contains(got.stderr, text) {
			miss("error", text, got.stderr)
		}
		return wrong
	}
	v2, err := policy.DecodeJSON([]byte(got.stdout))
	d, ok := v2.(map[string]any)
	if err != nil || !ok {
		return []string{fmt.Sprintf("no decision: exit %d\nstdout %s\nstderr %s", got.exit, got.stdout, got.stderr)}
	}
	for _, key := range sorted(v.Expect) {
		want := v.Expect[key]
		have := v.part(d, key)
		switch key {
		case "context_join", "ran_unordered":
		case "ran":
			have := got.ran
			names := []string{}
			for _, n := range want.([]any) {
				names = append(names, n.(string))
			}
			if v.Expect["ran_unordered"] == true {
				sort.Strings(names)
				have = slices.Sorted(slices.Values(have))
			}
			if !slices.Equal(names, have) {
				miss("ran", names, have)
			}
		case "action":
			all, several := want.([]any)
			if !several {
				all = []any{want}
			}
			if !slices.Contains(all, have) {
				miss("action", want, have)
			}
			if code := map[any]int{"proceed": 0, "block": 2, "ask": 4}; code[have] != got.exit && slices.Contains([]any{"proceed", "block", "ask"}, have) {
				miss("exit", code[have], got.exit)
			}
		case "verdict", "reason", "stop_reason", "context", "feedback", "system", "inject_messages", "patch":
			if !policy.SameValue(want, have) {
				miss(key, want, have)
			}
		default:
			wrong = append(wrong, "the case expects an unknown key "+key)
		}
	}
	return wrong
}

// part is what the Decision says about a key of `expect`.
func (v *Vector) part(d map[string]any, key string) any {
	joined := func(name, by string) any {
		list, _ := d[name].([]any)
		var texts []string
		for _, s := range list {
			texts = append(texts, s.(string))
		}
		return strings.Join(texts, by)
	}
	switch key {
	case "verdict":
		if d[key] == nil {
			return "none"
		}
	case "reason":
		return strings.TrimRight(joined("reasons", "\n").(string), "\n")
	case "stop_reason":
		if d[key] == nil {
			return ""
		}
	case "context":
		by := "\n"
		if j, ok := v.Expect["context_join"].(string); ok {
			by = j
		}
		return joined("additional_context", by)
	case "feedback":
		return joined("feedback", "\n")
	case "system":
		return joined("system_messages", "\n")
	case "inject_messages":
		if d[key] == nil {
			return []any{}
		}
	case "patch":
		if d[key] == nil {
			return map[string]any{}
		}
	}
	return d[key]
}

// native compares the answer in the agent's own protocol: any of the forms
// the case allows.
func (v *Vector) native(t *testing.T, got answered) []string {
	t.Helper()
	var forms []map[string]any
	if json.Unmarshal(v.Native, &forms) != nil {
		var one map[string]any
		require.NoError(t, json.Unmarshal(v.Native, &one))
		forms = []map[string]any{one}
	}
	for _, form := range forms {
		if sameForm(form, got) {
			return nil
		}
	}
	return []string{fmt.Sprintf("native: want %s\nexit %d\nstdout %s\nstderr %s", v.Native, got.exit, got.stdout, got.stderr)}
}

func sameForm(form map[string]any, got answered) bool {
	for key, want := range form {
		switch key {
		case "exit":
			if want != float64(got.exit) {
				return false
			}
		case "stderr":
			if want != strings.TrimSuffix(got.stderr, "\n") {
				return false
			}
		case "stdout":
			if !sameOutput(want, got.stdout) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func sameOutput(want any, stdout string) bool {
	text := strings.TrimSpace(stdout)
	if want == nil {
		return text == "" || text == "{}"
	}
	if s, ok := want.(string); ok {
		return strings.TrimSuffix(s, "\n") == strings.TrimSuffix(stdout, "\n")
	}
	have, err := policy.DecodeJSON([]byte(text))
	return err == nil && subset(want, have)
}

// subset reports whether have holds everything that want says.
func subset(want, have any) bool {
	w, ok := want.(map[string]any)
	if !ok {
		return policy.SameValue(want, have)
	}
	h, ok := have.(map[string]any)
	for k, v := range w {
		if !ok || !subset(v, h[k]) {
			return false
		}
	}
	return ok
}

func sorted(m map[string]any) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func inJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
