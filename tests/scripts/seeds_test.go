package scripts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/programs"
)

// seedExample is an example of one of the five documents hookc grew from: its files,
// as the document has them; an event that it is about with what is decided, and one
// that it is not about.
type seedExample struct {
	// profile is "" for hookc's own rules.
	profile []string
	// codes are those of the findings that the document implies.
	codes []string
	files map[string]string
	// needle is a text in a prompt and reply what the model says to it; to other
	// prompts it says {}.
	needle, reply string
}

// TestSeeds: every example of the seeds is read, explained, decides what its document
// says, and becomes a hooks.yaml that decides the same.
func TestSeeds(t *testing.T) {
	archives, err := filepath.Glob("../testdata/seeds/*.txtar")
	require.NoError(t, err)
	require.Greater(t, len(archives), 15)
	hookc := programs.Hookc(t)
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			x := readSeed(t, path)
			p := x.lay(t, hookc)
			shown := p.run("", append([]string{"compile", "--explain"}, x.profile...)...)
			require.Zero(t, shown.code, shown.stderr)
			assert.Contains(t, shown.stdout, "EVENT ")
			assert.Equal(t, x.codes, p.codes(x.profile))
			for name, text := range x.files {
				x.files[name] = patient(text)
			}
			p = x.lay(t, hookc)
			p.env = append(p.env, "HOOKC_DEFAULTS_CHAIN_TIMEOUT=10m")
			at := filepath.Join(p.dir, "converted", "hooks.yaml")
			converted := p.run("", append([]string{"convert", "--to", "hooks.yaml", "-o", at}, x.profile...)...)
			require.Zero(t, converted.code, converted.stderr)
			for _, event := range []string{"fires", "passes"} {
				var want any
				require.NoError(t, json.Unmarshal([]byte(x.files[event+".want"]), &want), event)
				assert.Equal(t, want, p.decision(x.files[event+".json"], x.profile...), event)
				assert.Equal(t, want, p.decision(x.files[event+".json"], "-f", at), "%s, converted", event)
			}
		})
	}
}

var (
	seedTimeout = regexp.MustCompile(`\btimeout"?: [0-9]+`)
	seedCommand = regexp.MustCompile(`(?m)^( *)- command: [^|\n]+$`)
)

// patient is a file of an example with timeouts a hundred times as long, and for
// scripts that have none: what hooks decide is tried, and on a busy machine an
// interpreter may take many seconds to start.
func patient(text string) string {
	if !seedTimeout.MatchString(text) {
		return seedCommand.ReplaceAllString(text, "$0\n$1  timeout: 600")
	}
	return seedTimeout.ReplaceAllString(text, "${0}00")
}

func readSeed(t *testing.T, path string) *seedExample {
	archive, err := txtar.ParseFile(path)
	require.NoError(t, err)
	x := &seedExample{files: map[string]string{}, codes: []string{}}
	for _, f := range archive.Files {
		x.files[f.Name] = string(f.Data)
	}
	for line := range strings.Lines(string(archive.Comment)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "profile":
			x.profile = []string{"--profile", value}
		case "findings":
			x.codes = strings.Fields(value)
		case "model":
			x.needle, x.reply, _ = strings.Cut(value, " => ")
		}
	}
	return x
}

// seedPlace is where an example is laid out.
type seedPlace struct {
	t          *testing.T
	hookc, dir string
	env        []string
}

func (x *seedExample) lay(t *testing.T, hookc string) *seedPlace {
	root := t.TempDir()
	p := &seedPlace{t: t, hookc: hookc, dir: filepath.Join(root, "project")}
	home := filepath.Join(root, "home")
	for _, dir := range []string{filepath.Join(p.dir, ".git"), filepath.Join(p.dir, "converted"), home} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	for name, text := range x.files {
		at := filepath.Join(p.dir, filepath.FromSlash(name))
		if rest, ok := strings.CutPrefix(name, "home/"); ok {
			at = filepath.Join(home, filepath.FromSlash(rest))
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		require.NoError(t, programs.Write(at, []byte(text)))
	}
	p.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(root, "state"), "LANG=C.UTF-8", "NO_COLOR=1", "HOOKC_TRUST=all"}
	if x.needle != "" {
		model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			reply := "{}"
			if bytes.Contains(body, []byte(x.needle)) {
				reply = x.reply
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"choices": [{"message": {"role": "assistant", "content": %q}}]}`, reply)
		}))
		t.Cleanup(model.Close)
		p.env = append(p.env, "OPENAI_BASE_URL="+model.URL)
	}
	return p
}

type seedRun struct {
	code           int
	stdout, stderr string
}

func (p *seedPlace) run(stdin string, args ...string) seedRun {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(p.hookc, args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.dir, p.env, strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		require.NoError(p.t, err)
	}
	return seedRun{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// codes are those of the findings of check, each once.
func (p *seedPlace) codes(profile []string) []string {
	var found struct {
		Findings []struct{ Code string }
	}
	require.NoError(p.t, json.Unmarshal([]byte(p.run("", append([]string{"check", "--json"}, profile...)...).stdout), &found))
	out := []string{}
	for _, f := range found.Findings {
		if len(out) == 0 || out[len(out)-1] != f.Code {
			out = append(out, f.Code)
		}
	}
	return out
}

// decision is what is decided, without times, places and names.
func (p *seedPlace) decision(event string, args ...string) any {
	event = strings.ReplaceAll(event, "$PROJECT", p.dir)
	r := p.run(event, append([]string{"run", "--json"}, args...)...)
	require.Contains(p.t, []int{0, 2, 4}, r.code, r.stderr)
	var all map[string]any
	require.NoError(p.t, json.Unmarshal([]byte(r.stdout), &all), r.stderr)
	out := map[string]any{}
	for _, key := range []string{"action", "verdict", "reasons", "feedback", "additional_context", "system_messages", "inject_messages", "patch", "failed"} {
		if v, ok := all[key]; ok {
			out[key] = v
		}
	}
	warnings, _ := all["warnings"].([]any)
	for _, w := range warnings {
		if code := w.(map[string]any)["code"]; code == "HK110" { // what the document says and its event does not obey
			out["ignored"] = true
		}
	}
	return out
}
