package codes

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

	"github.com/hookc/hookc/tests/processes"
	"github.com/hookc/hookc/tests/programs"
)

// TestCodes lays out the Bad and the Good example of every code and reports
// what hookc finds in them: exactly the code, and nothing. A few
// codes have none.
func TestCodes(t *testing.T) {
	for _, c := range All(t) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if why := NoExample[c.Name]; why != "" {
				out, err := exec.Command(programs.Hookc(t), "help", c.Name).Output()
				require.NoError(t, err)
				assert.True(t, bytes.HasSuffix(out, []byte("\n\n"+why+"\n")), "%s", out)
				return
			}
			bad, good := Examples(t, c.Name)
			assert.Equal(t, []string{c.Name}, findings(t, c.Name, bad), "the Bad example")
			assert.Empty(t, findings(t, c.Name, good), "the Good example")
		})
	}
}

// laid is an example on disk, with how hookc is asked about it.
type laid struct {
	dir          string
	env, profile []string
	event        []byte
	cases        bool
}

// lay lays an example out: with the environment, the event, and the flags of the
// profile that it names, if any.
func lay(t *testing.T, example string) *laid {
	t.Helper()
	l := &laid{dir: t.TempDir()}
	archive := txtar.Parse([]byte(example))
	if len(archive.Files) == 0 {
		archive.Files = []txtar.File{{Name: "hooks.yaml", Data: []byte(example)}}
	}
	l.env = append(os.Environ(), "HOME="+filepath.Join(l.dir, "home"), "XDG_STATE_HOME="+filepath.Join(l.dir, ".state"),
		"XDG_CONFIG_HOME="+filepath.Join(l.dir, ".config"), "HOOKC_TRUST=all", "NO_COLOR=1")
	for _, f := range archive.Files {
		switch {
		case f.Name == "event.json":
			l.event = f.Data
			t.Cleanup(func() { // the folder is written in until the asynchronous hooks have ended
				for len(processes.With("XDG_STATE_HOME", filepath.Join(l.dir, ".state"))) > 0 {
				}
			})
			continue
		case f.Name == "profile":
			l.profile = append([]string{"--profile"}, strings.Fields(string(f.Data))...)
			continue
		case f.Name == "dialect":
			l.profile = append([]string{"--dialect"}, strings.Fields(string(f.Data))...)
			continue
		case f.Name == "env":
			l.env = append(l.env, strings.Fields(string(f.Data))...)
			continue
		}
		l.cases = l.cases || strings.HasSuffix(f.Name, "_test.yaml")
		l.put(t, f.Name, f.Data)
	}
	return l
}

func (l *laid) put(t *testing.T, name string, data []byte) {
	t.Helper()
	path := filepath.Join(l.dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	mode := os.FileMode(0o644)
	if bytes.HasPrefix(data, []byte("#!")) {
		mode = 0o755
	}
	require.NoError(t, os.WriteFile(path, data, mode))
}

// run runs hookc there. It always has something to say; the exit code says what the
// findings say.
func (l *laid) run(t *testing.T, stdin []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(programs.Hookc(t), append(args, l.profile...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = l.dir, l.env, bytes.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run()
	require.NotEmpty(t, stdout.Bytes(), "hookc %v: %s", args, &stderr)
	return stdout.Bytes()
}

// findings are the distinct codes that an example reports: by check, or
// compile where hints are asked for, by test where it has test cases, and in
// the Decision where it has an event.
func findings(t *testing.T, code, example string) []string {
	t.Helper()
	l := lay(t, example)
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
	collect(l.run(t, nil, args...))
	if l.cases {
		collect(l.run(t, nil, "test", "--json"))
	}
	for dec := json.NewDecoder(bytes.NewReader(l.event)); dec.More(); { // one event after another
		var one json.RawMessage
		require.NoError(t, dec.Decode(&one))
		collect(l.run(t, one, "run", "--json"))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
