package tests

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/programs"
)

// codeInfo is what `hookc list code --json` says of a code.
type codeInfo struct{ Name, Doc string }

// noExample are the codes that no policy is an example of, with the reason: a
// bug of hookc, and a file that was written less than a second ago.
var noExample = map[string]string{
	"HK079": "Only a bug of hookc reports it, so there is no example.",
	"HK023": "It depends on the time of a change, so there is no example.",
}

// TestCodes lays out the Bad and the Good example of every code and reports
// what hookc finds in them: exactly the code, and nothing. A few
// codes have none.
func TestCodes(t *testing.T) {
	out, err := exec.Command(programs.Hookc(t), "list", "code", "--json").Output()
	require.NoError(t, err)
	var codes []codeInfo
	require.NoError(t, json.Unmarshal(out, &codes))
	require.NotEmpty(t, codes)
	for _, c := range codes {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if why := noExample[c.Name]; why != "" {
				out, err := exec.Command(programs.Hookc(t), "help", c.Name).Output()
				require.NoError(t, err)
				assert.True(t, bytes.HasSuffix(out, []byte("\n\n"+why+"\n")), "%s", out)
				return
			}
			bad, good := codeExamples(t, c.Name)
			assert.Equal(t, []string{c.Name}, findings(t, c.Name, bad), "the Bad example")
			assert.Empty(t, findings(t, c.Name, good), "the Good example")
		})
	}
}

// codeExamples reads the examples where users read them, in `hookc help CODE`.
func codeExamples(t *testing.T, code string) (bad, good string) {
	t.Helper()
	out, err := exec.Command(programs.Hookc(t), "help", code).Output()
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(out), "\nReported for:\n\n")
	require.True(t, ok)
	bad, good, ok = strings.Cut(rest, "\nNot reported for:\n\n")
	require.True(t, ok)
	return unindent(bad), unindent(good)
}

func unindent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimPrefix(line, "  "))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// findings are the distinct codes that an example reports: by check, or
// compile where hints are asked for, by test where it has test cases, and in
// the Decision where it has an event; under the profile it names, if any, with
// flags that go with it.
func findings(t *testing.T, code, example string) []string {
	t.Helper()
	dir := t.TempDir()
	archive := txtar.Parse([]byte(example))
	if len(archive.Files) == 0 {
		archive.Files = []txtar.File{{Name: "hooks.yaml", Data: []byte(example)}}
	}
	env := append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "XDG_STATE_HOME="+filepath.Join(dir, ".state"),
		"XDG_CONFIG_HOME="+filepath.Join(dir, ".config"), "HOOKC_TRUST=all", "NO_COLOR=1")
	var event []byte
	var profile []string
	cases := false
	for _, f := range archive.Files {
		switch {
		case f.Name == "event.json":
			event = f.Data
			continue
		case f.Name == "profile":
			profile = append([]string{"--profile"}, strings.Fields(string(f.Data))...)
			continue
		case f.Name == "env":
			env = append(env, strings.Fields(string(f.Data))...)
			continue
		}
		cases = cases || strings.HasSuffix(f.Name, "_test.yaml")
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		mode := os.FileMode(0o644)
		if bytes.HasPrefix(f.Data, []byte("#!")) {
			mode = 0o755
		}
		require.NoError(t, os.WriteFile(path, f.Data, mode))
	}
	run := func(stdin []byte, args ...string) []byte {
		cmd := exec.Command(programs.Hookc(t), append(args, profile...)...)
		cmd.Dir, cmd.Env, cmd.Stdin = dir, env, bytes.NewReader(stdin)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run() // the exit code says what the findings say
		require.NotEmpty(t, stdout.Bytes(), "hookc %v: %s", args, &stderr)
		return stdout.Bytes()
	}
	command := "check"
	if strings.HasPrefix(code, "HK21") {
		command = "compile"
	}
	args := []string{command, "--json"}
	if code == "HK040" {
		args = []string{"convert", "--to", "hooks.yaml", "--json"}
	}
	var out []string
	collect := func(text []byte) {
		var report struct{ Findings, Warnings []struct{ Code string } }
		require.NoError(t, json.Unmarshal(text, &report), "%s", text)
		for _, f := range slices.Concat(report.Findings, report.Warnings) {
			if !strings.HasPrefix(f.Code, "HK21") || f.Code == code {
				out = append(out, f.Code) // hints on speed are many, and asked for
			}
		}
	}
	collect(run(nil, args...))
	if cases {
		collect(run(nil, "test", "--json"))
	}
	for dec := json.NewDecoder(bytes.NewReader(event)); dec.More(); { // one event after another
		var one json.RawMessage
		require.NoError(t, dec.Decode(&one))
		collect(run(one, "run", "--json"))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
