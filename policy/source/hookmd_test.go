package source

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// lay writes files below dir: paths with slashes, a `*` after the path makes
// the file executable.
func lay(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		mode := os.FileMode(0o644)
		if strings.HasSuffix(name, "*") {
			name, mode = strings.TrimSuffix(name, "*"), 0o755
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		require.NoError(t, os.Chmod(path, mode))
	}
}

// codesOf is the IDs of findings with their positions: `HK054 5:9`.
func codesOf(found diag.List) []string {
	var out []string
	for _, d := range found {
		line, col := d.Span.Position()
		out = append(out, strings.TrimSpace(d.Code.ID+" "+position(line, col)))
	}
	return out
}

func position(line, col int) string {
	if line == 0 {
		return ""
	}
	return strings.Join([]string{itoa(line), itoa(col)}, ":")
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

// loadMD loads one HOOK.md with the given content from a folder called h.
func loadMD(t *testing.T, content string) (*policy.Policy, diag.List) {
	t.Helper()
	dir := t.TempDir()
	lay(t, dir, map[string]string{"h/HOOK.md": content, "h/scripts/run*": "#!/bin/sh\n"})
	return Load(Options{Inputs: []Input{{Path: filepath.Join(dir, "h"), Tier: policy.TierProject}}, Dir: dir})
}

const base = "---\nname: h\ndescription: d\ntrigger: pre-tool-call\n"

func TestHookMDWhole(t *testing.T) {
	p, found := loadMD(t, "---\nname: h\ndescription: blocks\ntrigger: pre-tool-call\nmatcher:\n  tool: 'Shell|Bash'\n  pattern: '\\.py$'\n"+
		"timeout: 5000\nasync: false\npriority: 999\nmetadata:\n  author: me\n---\n# Body\n")
	require.Empty(t, found.Render())
	require.Len(t, p.Hooks, 1)
	h := p.Hooks[0]
	dir := h.Dir
	assert.Equal(t, "h", filepath.Base(dir))
	assert.True(t, filepath.IsAbs(dir))
	assert.Equal(t, "Shell|Bash", h.Filter.Conditions[0].Value.Value)
	assert.Equal(t, filepath.Join("h", "HOOK.md")+":6:9", h.Filter.Conditions[0].Value.Span.String())
	assert.Equal(t, `\.py$`, h.Filter.Conditions[1].Value.Value)
	assert.Equal(t, filepath.Join("h", "HOOK.md")+":2:7", h.Span.String())
	load := h.Body.Load
	want := policy.Body{Protocol: policy.AgentHooksProtocol, WorkDir: dir,
		Env: []policy.EnvVar{{Name: "AGENT_HOOK_DIR", Value: dir}, {Name: "PYTHONDONTWRITEBYTECODE", Value: "1"}}}
	h.Body.Load = nil
	assert.Equal(t, &policy.Hook{
		Name: "h", Description: "blocks", Event: policy.PreToolExecution, Kind: policy.KindBash, Tier: policy.TierProject,
		Priority: 999, Timeout: 5 * time.Second, TimeoutSpan: h.TimeoutSpan, Retry: -1, Dir: dir, Span: h.Span,
		File: &policy.FileConfig{Dir: dir}, Body: want,
		Filter: policy.Filter{Span: h.Filter.Span, Conditions: []policy.Condition{
			{Key: policy.FilterToolRegexp, Value: h.Filter.Conditions[0].Value},
			{Key: policy.FilterLeafPattern, Value: h.Filter.Conditions[1].Value}}},
	}, h)
	body, found := load()
	require.Empty(t, found)
	if runtime.GOOS != "windows" {
		want.Args = []string{filepath.Join(dir, "scripts", "run")}
		assert.Equal(t, want, body)
	}
	assert.Equal(t, []policy.SourceFile{{Name: filepath.Join("h", "HOOK.md"), Path: filepath.Join(dir, "HOOK.md"),
		Tier: policy.TierProject, Format: "hookmd", Uses: []string{dir}}}, p.Sources)
}

func TestHookMDTriggers(t *testing.T) {
	want := map[string]policy.Event{
		"pre-session": policy.SessionStart, "post-session": policy.SessionEnd,
		"pre-agent-turn": policy.PreSendMessage, "post-agent-turn": policy.TurnEnd,
		"pre-agent-turn-stop": policy.StopEvent, "post-agent-turn-stop": policy.PostStop,
		"pre-tool-call": policy.PreToolExecution, "post-tool-call": policy.PostToolExecution,
		"post-tool-call-failure": policy.PostToolExecutionFailure,
		"pre-subagent":           policy.SubagentStart, "post-subagent": policy.SubagentStop,
		"pre-context-compact": policy.PreAutoCompact, "post-context-compact": policy.PostAutoCompact,
	}
	got := map[string]policy.Event{}
	for _, trigger := range mdTriggers {
		p, found := loadMD(t, "---\nname: h\ndescription: d\ntrigger: "+trigger+"\n---\n")
		require.Empty(t, found)
		got[trigger] = p.Hooks[0].Event
	}
	assert.Equal(t, want, got)
}

// TestHookMDParsing is the table A of the format's reference, with what hookc
// rules otherwise.
func TestHookMDParsing(t *testing.T) {
	type result struct {
		Timeout  time.Duration
		Async    bool
		Priority int
		Filter   string
		Disabled bool
	}
	plain := result{Timeout: 30 * time.Second, Priority: 100}
	with := func(change func(*result)) *result {
		r := plain
		change(&r)
		return &r
	}
	timeout := func(d time.Duration) *result { return with(func(r *result) { r.Timeout = d }) }
	priority := func(p int) *result { return with(func(r *result) { r.Priority = p }) }
	disabled := with(func(r *result) { r.Disabled = true })
	async := with(func(r *result) { r.Async = true })
	for _, c := range []struct {
		name, content string
		codes         []string
		want          *result // nil: no hook
	}{
		{"A01 defaults", base + "---\n", nil, &plain},
		{"A02 double quotes", base + "matcher:\n  pattern: \"\\.py$\"\n---\n", []string{"HK002 6:3"}, nil},
		{"A03 escaped", base + "matcher:\n  pattern: \"\\\\.py$\"\n---\n", nil, with(func(r *result) { r.Filter = `input_pattern=\.py$` })},
		{"A04 yes", base + "async: yes\n---\n", nil, async},
		{"A04 True", base + "async: True\n---\n", nil, async},
		{"A04 1", base + "async: 1\n---\n", nil, async},
		{"A04 on", base + "async: on\n---\n", []string{"HK055 5:8"}, &plain},
		{"async false", base + "async: false\n---\n", nil, &plain},
		{"A05 timeout", base + "timeout: 5s\n---\n", []string{"HK053 5:10"}, &plain},
		{"A05 priority", base + "priority: 1.5\n---\n", []string{"HK053 5:11"}, &plain},
		{"A06 low", base + "timeout: 99\n---\n", []string{"HK055 5:10"}, timeout(100 * time.Millisecond)},
		{"A06 high", base + "timeout: 600001\n---\n", []string{"HK055 5:10"}, timeout(10 * time.Minute)},
		{"A06 huge", base + "timeout: 99999999999\n---\n", []string{"HK053 5:10"}, &plain},
		{"A07 low", base + "timeout: 100\n---\n", nil, timeout(100 * time.Millisecond)},
		{"A07 high", base + "timeout: 600000\n---\n", nil, timeout(10 * time.Minute)},
		{"A08 low", base + "priority: -1\n---\n", []string{"HK055 5:11"}, priority(-1)},
		{"A08 high", base + "priority: 1001\n---\n", []string{"HK055 5:11"}, priority(1001)},
		{"A09 low", base + "priority: 0\n---\n", nil, priority(0)},
		{"A09 high", base + "priority: 1000\n---\n", nil, priority(1000)},
		{"A10 dashes in a value", "---\nname: h\ndescription: a --- b\ntrigger: pre-tool-call\n---\n", nil, &plain},
		{"A11 empty matcher", base + "matcher:\n---\n", []string{"HK053 5:9"}, disabled},
		{"A12 matcher key", base + "matcher:\n  foo: x\n---\n", []string{"HK056 6:3"}, &plain},
		{"A13 folder", "---\nname: other\ndescription: d\ntrigger: pre-tool-call\n---\n", []string{"HK057 2:7"}, &plain},
		{"A14 CRLF", strings.ReplaceAll(base+"timeout: 200\n---\nbody\n", "\n", "\r\n"), nil, timeout(200 * time.Millisecond)},
		{"A15 BOM", "\ufeff" + base + "---\n", []string{"HK060 1:1"}, &plain},
		{"A15 blank line", "\n" + base + "---\n", []string{"HK050 1:1"}, nil},
		{"A16 four dashes", base + "----\n", nil, &plain},
		{"A17 empty tool", base + "matcher:\n  tool: \"\"\n---\n", nil, &plain},
		{"A18 old name", "---\nname: h\ndescription: d\ntrigger: before_tool\n---\n", []string{"HK052 4:10"}, nil},
		{"A18 letter case", "---\nname: h\ndescription: d\ntrigger: Pre-Tool-Call\n---\n", []string{"HK052 4:10"}, nil},
		{"A22 tool", base + "matcher:\n  tool: '('\n---\n", []string{"HK054 6:9"}, disabled},
		{"A22 pattern", base + "matcher:\n  pattern: '('\n---\n", []string{"HK054 6:12"}, disabled},
		{"A22 both", base + "matcher:\n  tool: '('\n  pattern: '['\n---\n", []string{"HK054 6:9", "HK054 7:12"}, disabled},
		{"A22 Python's own", base + "matcher:\n  tool: '(?!x)'\n  pattern: '(?<=a)b\\Z'\n---\n", nil, with(func(r *result) { r.Filter = `matcher=(?!x)matcher=(?<=a)b\Z` })},
		{"A23 flow style", base + "matcher: {tool: ^Shell$}\n---\n", nil, with(func(r *result) { r.Filter = "tool_pattern=^Shell$" })},
		{"A23 duplicate key", base + "name: h\n---\n", []string{"HK003 5:1"}, &plain},

		{"empty file", "", []string{"HK050 1:1"}, nil},
		{"text only", "# Hook\n", []string{"HK050 1:1"}, nil},
		{"not closed", base, []string{"HK050 1:1"}, nil},
		{"not closed in a value", base + "metadata:\n  a: |\n    ---\n", []string{"HK050 1:1"}, nil},
		{"empty frontmatter", "---\n---\n", []string{"HK051 1:1", "HK051 1:1", "HK055 1:1"}, nil},
		{"no name", "---\ndescription: d\ntrigger: pre-tool-call\n---\n", []string{"HK051 1:1"}, &plain},
		{"no trigger", "---\nname: h\ndescription: d\n---\n", []string{"HK051 1:1"}, nil},
		{"empty trigger", "---\nname: h\ndescription: d\ntrigger:\n---\n", []string{"HK051 1:1"}, nil},
		{"no description", "---\nname: h\ntrigger: pre-tool-call\n---\n", []string{"HK055 1:1"}, &plain},
		{"a list", "---\n- name: h\n---\n", []string{"HK053 2:1"}, nil},
		{"name is a list", "---\nname: [h]\ndescription: d\ntrigger: pre-tool-call\n---\n", []string{"HK053 2:7"}, &plain},
		{"name of another form", "---\nname: My Hook\ndescription: d\ntrigger: pre-tool-call\n---\n", []string{"HK055 2:7"}, &plain},
		{"unknown field", base + "prority: 5\n---\n", []string{"HK056 5:1"}, &plain},
		{"matcher is text", base + "matcher: Shell\n---\n", []string{"HK053 5:10"}, disabled},
		{"tool is a list", base + "matcher:\n  tool: [Shell]\n---\n", []string{"HK053 6:9"}, disabled},
		{"metadata is text", base + "metadata: x\n---\n", []string{"HK055 5:11"}, &plain},
		{"last line without break", base + "---", nil, &plain},
		{"too long", base + "metadata:\n  x: " + strings.Repeat("y", maxFrontmatter) + "\n---\n", []string{"HK050 1:1"}, nil},
		{"bad UTF-8 in the body", base + "---\n\xff\n", nil, &plain},
		{"bad UTF-8", base + "metadata: {a: \xff}\n---\n", []string{"HK016 5:15"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, found := loadMD(t, c.content)
			assert.Equal(t, c.codes, codesOf(found), found.Render())
			if found.HasErrors() { // a hook that fails stands in its place
				require.NotEmpty(t, p.Hooks)
				for _, h := range p.Hooks {
					assert.NotEmpty(t, h.Body.Broken)
					assert.False(t, h.Disabled)
				}
				return
			}
			require.Len(t, p.Hooks, 1)
			h := p.Hooks[0]
			got := result{Timeout: h.Timeout, Async: h.Async, Priority: h.Priority, Disabled: h.Disabled}
			for _, cond := range h.Filter.Conditions {
				got.Filter += string(cond.Key) + "=" + cond.Value.Value
			}
			assert.Equal(t, *c.want, got)
			assert.Equal(t, []any{policy.PostureUnset, policy.PostureUnset}, []any{h.OnError, h.OnTimeout})
		})
	}
}

func TestHookMDHints(t *testing.T) {
	for content, hint := range map[string]string{
		"---\nname: h\ndescription: d\ntrigger: pre-tool-cal\n---\n":     `did you mean "pre-tool-call"?`,
		"---\nname: h\ndescription: d\ntrigger: PreToolUse\n---\n":       `did you mean "pre-tool-call"?`,
		"---\nname: h\ndescription: d\ntrigger: pre_compact\n---\n":      `did you mean "pre-context-compact"?`,
		"---\nname: h\ndescription: d\ntrigger: notify\n---\n":           "one of: " + strings.Join(mdTriggers, ", "),
		"---\ndescription: d\ntrigger: pre-tool-call\n---\n":             "add `name: h`",
		base + "prority: 5\n---\n":                                       `did you mean "priority"?`,
		base + "matcher:\n  tol: x\n---\n":                               `did you mean "tool"?`,
		base + "timeout: 5s\n---\n":                                      "write 5000",
		base + "matcher:\n  pattern: \"\\.py$\"\n---\n":                  `in double quotes a backslash is written \\; single quotes take it as it is`,
		"# no frontmatter\n":                                             exampleFrontmatter,
		"---\nname: a--b\ndescription: d\ntrigger: pre-tool-call\n---\n": "use at most 64 lower-case letters and digits, joined by single hyphens",
	} {
		_, found := loadMD(t, content)
		require.Len(t, found, 1, content)
		assert.Equal(t, hint, found[0].Hint, content)
	}
}

// countingReader counts what is read of it.
type countingReader struct {
	r io.Reader
	n int
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

func TestOnlyTheFrontmatterIsRead(t *testing.T) {
	r := &countingReader{r: io.MultiReader(strings.NewReader(base+"---\n"), strings.NewReader(strings.Repeat("body\n", 1<<18)))}
	front, found := readFrontmatter("HOOK.md", r)
	require.Empty(t, found)
	assert.Equal(t, base+"---\n", front.source.Content)
	assert.LessOrEqual(t, r.n, 4096)
}

// TestScriptsAreLookedForWhenNeeded: loading finds nothing wrong with a hook
// whose script is missing, and sees the script that is there when the event
// comes, not the one that was there at first.
func TestScriptsAreLookedForWhenNeeded(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"h/HOOK.md": base + "---\n"})
	p, found := Load(Options{Inputs: []Input{{Path: filepath.Join(dir, "h"), Tier: policy.TierUser}}})
	require.Empty(t, found)
	load := p.Hooks[0].Body.Load
	body, found := load()
	assert.Equal(t, []string{"HK058 2:7"}, codesOf(found))
	assert.Equal(t, []string{filepath.Join(dir, "h", "scripts", "run")}, body.Args, "running it fails, and on_error decides")
	assert.Nil(t, body.Load)
	lay(t, dir, map[string]string{"h/scripts/run.py": "print()\n"})
	body, found = load()
	assert.Empty(t, found)
	assert.Equal(t, filepath.Join(dir, "h", "scripts", "run.py"), body.Args[1])
}

func TestEntryPoint(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		goos  string
		args  []string
		codes []string
		hint  string
	}{
		{"run first", map[string]string{"run*": "#!x\n", "run.sh*": "#!x\n", "run.py": ""}, "linux", []string{"run"}, nil, ""},
		{"B15 run.sh before run.py", map[string]string{"run.sh*": "#!/bin/sh\n", "run.py*": "#!x\n"}, "linux", []string{"run.sh"}, nil, ""},
		{"run.sh without +x", map[string]string{"run.sh": "#!/bin/bash\n"}, "linux", []string{"sh", "run.sh"}, nil, ""},
		{"run.sh without #!", map[string]string{"run.sh*": "exit 0\n"}, "linux", []string{"sh", "run.sh"}, nil, ""},
		{"run.py", map[string]string{"run.py*": "#!/usr/bin/env python3\n"}, "linux", []string{"run.py"}, nil, ""},
		{"run.py without +x", map[string]string{"run.py": "#!x\n"}, "linux", []string{"python3", "run.py"}, nil, ""},
		{"empty run.py", map[string]string{"run.py*": ""}, "linux", []string{"python3", "run.py"}, nil, ""},
		{"B16 run without +x", map[string]string{"run": "#!x\n"}, "linux", []string{"run"}, []string{"HK058"}, "chmod +x DIR/run"},
		{"B14 nothing", nil, "linux", []string{"run"}, []string{"HK058"}, ""},
		{"check.sh", map[string]string{"check.sh*": "#!x\n"}, "linux", []string{"run"}, []string{"HK058"}, "rename it to run.sh"},
		{"main.rb", map[string]string{"main.rb*": "#!x\n"}, "linux", []string{"run"}, []string{"HK058"}, "rename it to run"},
		{"a folder", map[string]string{"run/x": "", "run.sh*": "#!x\n"}, "linux", []string{"run.sh"}, nil, ""},
		{"helpers beside", map[string]string{"run*": "#!x\n", "lib.sh": ""}, "linux", []string{"run"}, nil, ""},
		{"windows run", map[string]string{"run": "#!x\n"}, "windows", []string{"sh", "run"}, nil, ""},
		{"windows run.sh", map[string]string{"run.sh*": "#!x\n"}, "windows", []string{"sh", "run.sh"}, nil, ""},
		{"windows run.py", map[string]string{"run.py*": "#!x\n"}, "windows", []string{"python", "run.py"}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			scripts := filepath.Join(dir, "scripts")
			lay(t, scripts, c.files)
			args, found := entryArgs(dir, diag.Span{}, c.goos)
			want := slices.Clone(c.args)
			want[len(want)-1] = filepath.Join(scripts, want[len(want)-1])
			assert.Equal(t, want, args)
			assert.Equal(t, c.codes, codesOf(found))
			if len(found) > 0 {
				assert.Equal(t, strings.ReplaceAll(c.hint, "DIR", scripts), found[0].Hint)
			}
		})
	}
}

func TestFolderOfHooks(t *testing.T) {
	dir := t.TempDir()
	hook := func(name string) string {
		return "---\nname: " + name + "\ndescription: d\ntrigger: pre-tool-call\n---\n"
	}
	lay(t, dir, map[string]string{
		"zeta/HOOK.md": hook("zeta"), "alpha/HOOK.md": hook("alpha"), "mid/HOOK.md": hook("mid"),
		"shared/lib.sh": "", "README.md": "x", "lower/hook.md": hook("lower"), "bad/HOOK.md": "x",
		"none/HOOK.md/x": "a folder in the place of the file",
	})
	require.NoError(t, os.Symlink(filepath.Join(dir, "mid"), filepath.Join(dir, "beta")))
	p, found := Load(Options{Inputs: []Input{{Path: dir, Tier: policy.TierUser}}, Dir: dir})
	var names []string
	for _, h := range p.Hooks {
		if h.Event == policy.PreToolExecution {
			names = append(names, itoa(h.Order)+" "+h.Name)
		}
	}
	assert.Equal(t, []string{"0 alpha", "1 bad", "2 mid", "3 mid", "4 none", "5 zeta"}, names)
	var where []string
	for _, d := range found {
		where = append(where, d.Code.ID+" "+filepath.ToSlash(d.Span.File()))
	}
	assert.Equal(t, []string{"HK050 bad/HOOK.md", "HK057 beta/HOOK.md", "HK059 lower/hook.md", "HK001 none/HOOK.md"}, where)
}

func TestHookMDNamedDirectly(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"h/hook.md": base + "---\n", "g/HOOK.md": "---\nname: g\ndescription: d\ntrigger: pre-session\n---\n"})
	p, found := Load(Options{Inputs: []Input{{Path: filepath.Join(dir, "h", "hook.md")}, {Path: filepath.Join(dir, "g", "HOOK.md")}}})
	assert.Equal(t, []string{"HK059 1:1"}, codesOf(found))
	require.Len(t, p.Hooks, 2)
	assert.Equal(t, filepath.Join(dir, "g"), p.Hooks[1].Body.WorkDir)
}

func TestUntrustedHookMDIsListed(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"a/HOOK.md": base + "---\n", "b/HOOK.md": "no frontmatter"})
	p, found := Load(Options{Inputs: []Input{{Path: dir, Tier: policy.TierProject, Untrusted: "because"}}})
	assert.False(t, found.HasErrors(), found.Render())
	require.Len(t, p.Hooks, 1)
	assert.Equal(t, "because", p.Hooks[0].Untrusted)
	assert.Equal(t, []string{"because", "because"}, []string{p.Sources[0].Untrusted, p.Sources[1].Untrusted})
}

func FuzzHookMD(f *testing.F) {
	for _, s := range []string{base + "---\n", "\ufeff---\r\n----\r\n", "---\nmatcher: {tool: '('}\n---", "---\n- x\n---\n", "---\n? [a]\n: &a *a\n---\n", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		l := &Loader{places: map[place]int{}, read: map[reading]bool{}}
		readHook(l, &File{Name: "h/HOOK.md", Path: "/nowhere/h/HOOK.md"}, strings.NewReader(string(content)))
		if len(l.policy.Hooks) == 0 && !l.diags.HasErrors() {
			t.Fatal("a file that is no hook must say why")
		}
		l.diags.Sort()
		_ = l.diags.Render()
		for _, h := range l.policy.Hooks {
			if h.Event == "" || h.Name == "" {
				t.Fatalf("half a hook: %+v", h)
			}
		}
	})
}

// TestHookMDOfTwoMinds: of a key that is written twice nobody knows which was meant, so
// the hook fails wherever either would have had it run.
func TestHookMDOfTwoMinds(t *testing.T) {
	for _, triggers := range [][2]string{{"pre-tool-call", "post-tool-call"}, {"post-tool-call", "pre-tool-call"}, {"pre-tool-call", "pre-tool-call"}} {
		for _, more := range []string{"", "matcher: {tool: Write}\n", "matcher: {tool: Write}\nmatcher: {tool: Bash}\n", "async: true\n"} {
			p, found := loadMD(t, "---\nname: h\ndescription: d\ntrigger: "+triggers[0]+"\n"+more+"trigger: "+triggers[1]+"\n---\n")
			assert.True(t, found.HasErrors())
			for _, trigger := range triggers {
				event, ok := policy.ParseEvent(trigger)
				require.True(t, ok)
				assert.True(t, slices.ContainsFunc(p.Hooks, func(h *policy.Hook) bool {
					return h.Event == event && reflect.DeepEqual(h.Filter, policy.Filter{}) && !h.Async && !h.Disabled
				}), "%v %s: %+v", triggers, more, p.Hooks)
			}
		}
	}
}
