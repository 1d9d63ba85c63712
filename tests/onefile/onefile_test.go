// Package onefile_test adds to hookc an agent, two kinds of hook and a source
// format, by one file each, which are laid over their packages for one build, and
// asks of everything that knows agents, kinds and formats whether it knows these.
package onefile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hookc/hookc/tests/depth"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// built is the folder of that hookc, "" before it is built.
var built string

// added are the files, and the packages that have them.
var added = map[string]string{"sorrel.go": "policy/agent", "post.go": "executor/runner", "words.go": "executor/runner", "lines.go": "policy/source"}

// hookc is a hookc with one more file for each of added.
var hookc = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "onefile")
	if err != nil {
		return "", err
	}
	built = dir
	repository, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, dir := range added {
		replace[filepath.Join(repository, filepath.FromSlash(dir), name)] = filepath.Join(repository, "tests", "onefile", "testdata", name)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return "", err
	}
	program := filepath.Join(dir, "bin", "hookc")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-w", "-overlay", file, "-o", program, "./cmd/hookc")
	cmd.Dir, cmd.Stderr = repository, os.Stderr
	return program, cmd.Run()
})

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(built)
	os.Exit(code)
}

// place is a project and a home in which commands run.
type place struct {
	t             *testing.T
	program       string
	project, home string
}

func open(t *testing.T, files map[string]string) *place {
	depth.NotDaily(t)
	program, err := hookc()
	require.NoError(t, err)
	root := t.TempDir()
	p := &place{t, program, filepath.Join(root, "project"), filepath.Join(root, "home")}
	require.NoError(t, os.MkdirAll(filepath.Join(p.project, ".git"), 0o755))
	require.NoError(t, os.MkdirAll(p.home, 0o755))
	for name, text := range files {
		path := filepath.Join(p.project, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return p
}

// run is what a command prints; it must end with the code.
func (p *place) run(code int, stdin string, args ...string) string {
	p.t.Helper()
	stdout, stderr, got := p.end(stdin, args...)
	require.Equal(p.t, code, got, "hookc %s\n%s%s", strings.Join(args, " "), stdout, stderr)
	return stdout
}

// end is what a command prints, and the code with which it ends.
func (p *place) end(stdin string, args ...string) (stdout, stderr string, code int) {
	cmd := exec.Command(p.program, args...)
	cmd.Dir, cmd.Stdin = p.project, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "HOME="+p.home, "XDG_CONFIG_HOME="+filepath.Join(p.home, ".config"), "XDG_STATE_HOME="+filepath.Join(p.home, ".state"),
		"XDG_RUNTIME_DIR="+p.home, "HOOKC_TRUST=all", "PATH="+filepath.Dir(p.program)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	_ = cmd.Run()
	return out.String(), complaints.String(), cmd.ProcessState.ExitCode()
}

func TestListAndSchema(t *testing.T) {
	p := open(t, nil)
	list := p.run(0, "", "list")
	for _, kind := range []string{"dialect", "protocol", "format"} {
		assert.Regexp(t, `(?m)^`+kind+` +sorrel `, list)
	}
	assert.Regexp(t, `"enum":\s*\[[^\]]*"sorrel"`, p.run(0, "", "schema"), "a hooks.yaml may name the protocol")
	assert.Contains(t, p.run(0, "", "schema", "--markdown"), "sorrel")
}

// TestVectors: what the agent sends is read, and what it is told is what its own
// file says.
func TestVectors(t *testing.T) {
	p := open(t, map[string]string{"policy.yaml": `
pre_tool_execution:
  - {type: expr, deny: 'command startsWith "rm"', reason: not that}
  - {type: expr, ask: 'command startsWith "git"', reason: are you sure}
  - name: script
    protocol: sorrel
    filter: {tool_matcher: Script}
    command: |
      grep -q '"moment":"beforeCall".*"tool":"Script"' && echo '{"word": "deny", "because": "the script read it"}'
post_tool_execution:
  - {type: expr, when: 'true', context: '"seen"'}
stop:
  - {type: expr, deny: 'true', reason: go on}
`})
	for _, v := range []struct{ stdin, want string }{
		{`{"moment": "beforeCall", "tool": "Bash", "args": {"command": "rm -r x"}, "folder": "/w"}`, `{"because":"not that","word":"deny"}`},
		{`{"moment": "beforeCall", "tool": "Bash", "args": {"command": "git push"}}`, `{"because":"are you sure","word":"ask"}`},
		{`{"moment": "beforeCall", "tool": "Bash", "args": {"command": "ls"}}`, ``},
		{`{"moment": "beforeCall", "tool": "Script", "args": {"command": "ls"}}`, `{"because":"the script read it","word":"deny"}`},
		{`{"moment": "afterCall", "tool": "Bash", "args": {"command": "ls"}, "tool_result": "x"}`, `{"note":"seen"}`},
		{`{"moment": "finished"}`, `{"because":"go on","word":"deny"}`},
		{`{"moment": "beforeCall"}`, `{"because":"hookc could not decide: the event has no tool_name","word":"deny"}`},
		{`{`, `{"because":"hookc could not decide: stdin is not JSON: unexpected EOF`},
	} {
		got := p.run(0, v.stdin, "run", "--dialect", "sorrel-cli", "-f", "policy.yaml")
		if !strings.HasSuffix(v.want, "}") && v.want != "" {
			assert.Contains(t, got, v.want, v.stdin)
			continue
		}
		assert.Equal(t, v.want, strings.TrimSpace(got), v.stdin)
	}
}

// TestOwnSettings: its own hooks are found, read and combined by its rules.
func TestOwnSettings(t *testing.T) {
	p := open(t, map[string]string{".sorrel/hooks.json": `{"hooks": {
  "beforeCall": [{"matcher": "Run|Write", "patience": 5, "run": "grep -q nope && { echo no >&2; exit 2; }; exit 0"},
    {"run": "echo '{\"word\": \"deny\", \"because\": \"the second\"}'"}],
  "elsewhere": [{"run": "true"}]}}`})
	assert.Contains(t, p.run(0, "", "compile", "--profile", "sorrel", "--explain"), "one after another until one refuses")
	for tool, want := range map[string]string{"Run": "no", "Other": "the second"} {
		got := p.run(0, `{"moment": "beforeCall", "tool": "`+tool+`", "args": {"command": "nope"}}`, "run", "--dialect", "sorrel", "--profile", "sorrel")
		assert.Equal(t, `{"because":"`+want+`","word":"deny"}`, strings.TrimSpace(got), tool)
	}
}

// TestSettingsShape: the shape of its settings, what its matchers look at, what a
// hook may say and what becomes of bad entries are its own file's to say.
func TestSettingsShape(t *testing.T) {
	p := open(t, map[string]string{".sorrel/hooks.json": `{ // a comment
"hooks": {
  "theme": "dark",
  "before": [],
  "typed": [{"matcher": "please.*", "run": "echo polite >&2; exit 2", "with": {"TONE": "kind"}}],
  "beforeCall": [
    {"matcher": "(", "run": "exit 2"},
    {"matcher": 5, "run": "exit 2"},
    {"type": "spell", "run": "exit 2"},
    {"type": "oracle", "matcher": "Ask"},
    {"matcher": "Write", "run": "test \"$TONE\" = loud && { echo \"loud $SORREL_DREAM\" >&2; exit 2; }; exit 0", "with": {"TONE": "loud"}},
    {"run": "hookc run beforeCall --dialect sorrel"}]}}`})
	var report struct {
		Findings []struct {
			Code, Text   string
			Line, Column int
		} `json:"findings"`
	}
	require.NoError(t, json.Unmarshal([]byte(p.run(0, "", "check", "--profile", "sorrel", "--json")), &report))
	var got []string
	for _, f := range report.Findings {
		got = append(got, fmt.Sprintf("%d:%d %s %s", f.Line, f.Column, f.Code, f.Text))
	}
	assert.Equal(t, []string{
		"4:3 HK030 hooks.before is passed over",
		"7:17 HK030 \"(\" is no pattern of Sorrel's (unterminated group): it never runs",
		"8:17 HK030 a matcher is text; this is a number: its hooks never run",
		"9:14 HK030 Sorrel has no hooks of type \"spell\"",
		"10:14 HK036 only Sorrel asks its oracle",
		"10:35 HK033 \"Ask\" matches no tool of sorrel: these hooks never run",
		"11:73 HK045 sorrel never sets $SORREL_DREAM: it is empty",
	}, got)
	for stdin, want := range map[string]string{
		`{"moment": "typed", "typed": "please go"}`:                         `{"because":"polite","word":"deny"}`,
		`{"moment": "typed", "typed": "go"}`:                                "",
		`{"moment": "beforeCall", "tool": "Write", "args": {}}`:             `{"because":"loud","word":"deny"}`,
		`{"moment": "beforeCall", "tool": "Run", "args": {"command": "x"}}`: "",
	} {
		assert.Equal(t, want, strings.TrimSpace(p.run(0, stdin, "run", "--dialect", "sorrel", "--profile", "sorrel")), stdin)
	}
	muted := open(t, map[string]string{".sorrel/hooks.json": `{"ways": {"mute": true}, "hooks": {"typed": [{"run": "exit 2"}]}}`})
	assert.Empty(t, muted.run(0, `{"moment": "typed", "typed": "please"}`, "run", "--dialect", "sorrel", "--profile", "sorrel"))
}

// TestInstallAndDoctor: hookc is written where the agent looks, and the doctor
// has the very command refuse a canary in the agent's words.
func TestInstallAndDoctor(t *testing.T) {
	p := open(t, map[string]string{"hooks.yaml": "pre_tool_execution:\n  - {type: expr, deny: 'command startsWith \"rm\"', reason: no}\n"})
	p.run(0, "", "install", "sorrel", "--scope", "project", "-f", filepath.Join(p.project, "hooks.yaml"))
	written, err := os.ReadFile(filepath.Join(p.project, ".sorrel", "hooks.json"))
	require.NoError(t, err)
	assert.Regexp(t, `"beforeCall": \[\s*\{\s*"run": "[^"]*hookc run beforeCall --dialect sorrel `, string(written))
	assert.Regexp(t, `"patience": \d+`, string(written))
	var report struct {
		Checks []struct{ Check, Status, Text string } `json:"checks"`
	}
	require.NoError(t, json.Unmarshal([]byte(p.run(0, "", "doctor", "sorrel", "-f", "hooks.yaml", "--json")), &report))
	refused := false
	for _, c := range report.Checks {
		assert.NotEqual(t, "fail", c.Status, "%s: %s", c.Check, c.Text)
		refused = refused || strings.Contains(c.Text, "beforeCall: refused")
	}
	assert.True(t, refused, "the canary: %v", report.Checks)
	p.run(0, "", "uninstall", "sorrel")
	left, err := os.ReadFile(filepath.Join(p.project, ".sorrel", "hooks.json"))
	assert.False(t, err == nil && strings.Contains(string(left), "hookc"), "%s", left)
}

// TestProtectedPaths: no hook needs to know where the agent keeps its hooks.
func TestProtectedPaths(t *testing.T) {
	p := open(t, map[string]string{"policy.yaml": "pre_tool_execution:\n  - {use: path-guard}\n"})
	for path, want := range map[string]string{
		".sorrel/hooks.json": "deny", filepath.Join(p.home, ".sorrel", "hooks.json"): "deny", filepath.Join(p.home, ".sorrel-rc"): "deny", "other.json": "",
	} {
		input, err := json.Marshal(map[string]any{"moment": "beforeCall", "tool": "Write", "folder": p.project,
			"args": map[string]any{"file_path": path, "content": "{}"}})
		require.NoError(t, err)
		var answer struct{ Word string }
		if got := p.run(0, string(input), "run", "--dialect", "sorrel", "-f", "policy.yaml"); got != "" {
			require.NoError(t, json.Unmarshal([]byte(got), &answer), got)
		}
		assert.Equal(t, want, answer.Word, path)
	}
}
