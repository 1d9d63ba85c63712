package source

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// names are the hooks of a policy as tier/event:name@order.
func names(p *policy.Policy) []string {
	var out []string
	for _, h := range p.Hooks {
		out = append(out, h.Tier.String()+"/"+string(h.Event)+":"+h.Name)
	}
	return out
}

func TestIncludesStandWhereTheyAreWritten(t *testing.T) {
	dir, p, found := loadTree(t, `-- hooks.yaml --
defaults: {model: outer}
stop:
  - {name: first, command: a}
include: [more/*.yaml, deep/**/x.yaml, one.json]
post_stop:
  - command: z
-- more/b.yaml --
stop: [{name: b, command: b}]
include: [../again.yaml]
-- more/a.yaml --
defaults: {model: inner}
stop: [{prompt: a}]
post_stop: [{command: y}]
-- again.yaml --
stop: [{command: again}]
-- deep/er/x.yaml --
stop: [{name: x, command: x}]
-- one.json --
{"stop": [{"name": "json", "command": "j"}], "BeforeTool": [{"deny": "tool_name == \"\u0042ash\" "}]}
`)
	require.Empty(t, found.Render())
	assert.Equal(t, []string{"project/stop:first", "project/stop:project/stop#2", "project/post_stop:project/post_stop#1", "project/stop:b",
		"project/stop:project/stop#4", "project/stop:x", "project/stop:json", "project/pre_tool_execution:project/pre_tool_execution#1",
		"project/post_stop:project/post_stop#2"}, names(p))
	assert.Equal(t, []string{"outer", "inner", "", "", "", "", "outer"}, func() (out []string) {
		for _, i := range []int{0, 1, 3, 4, 5, 6, 8} {
			out = append(out, p.Hooks[i].File.Model)
		}
		return out
	}())
	assert.Equal(t, `tool_name == "Bash" `, p.Hooks[7].Body.Rules[0].Condition.Value)
	assert.Equal(t, "one.json:1:86", p.Hooks[7].Body.Rules[0].Condition.At(14, 15).String())
	var sources []string
	for _, s := range p.Sources {
		sources = append(sources, s.Name)
	}
	assert.Equal(t, []string{"hooks.yaml", "more/a.yaml", "more/b.yaml", "again.yaml", "deep/er/x.yaml", "one.json"}, sources)
	assert.Equal(t, []string{filepath.Join(dir, "deep/er/x.yaml"), filepath.Join(dir, "more/a.yaml"), filepath.Join(dir, "more/b.yaml"), filepath.Join(dir, "one.json")}, p.Sources[0].Uses)
}

func TestCycles(t *testing.T) {
	_, p, found := loadTree(t, "-- hooks.yaml --\ninclude: [a.yaml]\nstop: [{command: x}]\n-- a.yaml --\ninclude: [b.yaml]\n-- b.yaml --\ninclude: [a.yaml]\n")
	assert.Equal(t, []string{"1:11 HK012 files include each other: a.yaml → b.yaml → a.yaml; take one of these includes out"}, lines(found))
	assert.Equal(t, "b.yaml", found[0].Span.File())
	assert.Len(t, p.Hooks, 1)

	_, _, found = loadTree(t, "include: ['*.yaml']\n")
	assert.Equal(t, []string{"1:11 HK012 files include each other: hooks.yaml → hooks.yaml; take one of these includes out"}, lines(found))
}

func TestNamedTwice(t *testing.T) {
	dir, _, _ := loadTree(t, "stop: [{command: x}]\n")
	path := filepath.Join(dir, "hooks.yaml")
	p, found := Load(Options{Dir: dir, Inputs: []Input{{Path: path, Tier: policy.TierUser}, {Path: path, Tier: policy.TierProject}, {Path: dir, Tier: policy.TierProject}}})
	assert.Equal(t, []string{"0:0 HK014 hooks.yaml is named a second time; it is read once"}, lines(found))
	assert.Equal(t, []string{"user/stop:user/stop#1", "project/stop:project/stop#1"}, names(p))
}

func TestInputs(t *testing.T) {
	dir, _, _ := loadTree(t, "stop: [{command: x}]\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes"), []byte("stop: [{command: y}]"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "empty"), 0o700))
	one := func(in Input) []string {
		in.Path = filepath.Join(dir, in.Path)
		p, found := Load(Options{Dir: dir, Inputs: []Input{in}})
		return append(lines(found), names(p)...)
	}
	assert.Equal(t, []string{"builtin/stop:builtin/stop#1"}, one(Input{Path: "."}))
	assert.Equal(t, []string{"0:0 HK001 gone.yaml: there is no such file"}, one(Input{Path: "gone.yaml"}))
	assert.Equal(t, []string{"0:0 HK015 notes is in no format known here; name it .yaml or .json, or force a format with --format: " + strings.Join(Names(), ", ")}, one(Input{Path: "notes"}))
	assert.Equal(t, []string{"builtin/stop:builtin/stop#1"}, one(Input{Path: "notes", Format: "hooksyaml"}))
	assert.Equal(t, []string{`0:0 HK015 no format is called "hooksyml"; did you mean "hooksyaml"?`}, one(Input{Path: "notes", Format: "hooksyml"}))
	assert.Equal(t, []string{"0:0 HK015 empty holds no policy; a policy folder has a hooks.yaml or folders with a HOOK.md"}, one(Input{Path: "empty"}))
	assert.Equal(t, []string{"0:0 HK001 /dev/null: is not a regular file"}, func() []string {
		_, found := Load(Options{Inputs: []Input{{Path: "/dev/null"}}})
		return lines(found)
	}())
}

func TestBytesOfAFile(t *testing.T) {
	text := "# c\nstop:\n  - name: a\n    deny: >\n      x ==\n      TOKEN\n    reason: |\n      r\n"
	for _, c := range []struct{ name, text string }{
		{"line feeds", text},
		{"carriage returns", strings.ReplaceAll(text, "\n", "\r\n")},
		{"byte order mark", "\ufeff" + text},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, found := loadText(c.text)
			require.Empty(t, found.Render())
			rule := p.Hooks[0].Body.Rules[0]
			assert.Equal(t, []string{"x == TOKEN\n", "r\n"}, []string{rule.Condition.Value, rule.Reason.Value})
			at := rule.Condition.At(5, 10)
			assert.Equal(t, "TOKEN", c.text[at.Start:at.End])
			assert.Equal(t, "hooks.yaml:6:7", at.String())
		})
	}
}

func TestUntrustedFilesAreListedAndHarmless(t *testing.T) {
	text := "defaults: {chain_timeout: 0.001}\ntools: {known: [X]}\nstop: {strategy: chain-all, hooks: [{command: x, tiemout: 5}]}\n"
	p, found := Load(Options{Inputs: []Input{{Path: "/p/hooks.yaml", Tier: policy.TierProject, Content: []byte(text), Untrusted: "run hookc trust"}}})
	assert.False(t, found.HasErrors())
	assert.Equal(t, []string{`3:50 HK006 unknown key "tiemout" in a hook; did you mean "timeout"?`}, lines(found))
	require.Len(t, p.Hooks, 1)
	assert.Equal(t, "run hookc trust", p.Hooks[0].Untrusted)
	assert.Equal(t, []any{time.Duration(0), 0, 0}, []any{p.ChainTimeout, len(p.Settings), len(p.Tools.Known)})
}

func TestDefaultsOfSeveralFiles(t *testing.T) {
	in := func(tier policy.Tier, name, text string) Input {
		return Input{Path: "/p/" + name, Tier: tier, Content: []byte(text)}
	}
	p, found := Load(Options{Dir: "/p", Inputs: []Input{
		in(policy.TierProject, "p.yaml", "defaults: {chain_timeout: 1ms, max_concurrent: 3}\n"),
		in(policy.TierUser, "u.yaml", "defaults: {chain_timeout: 60, max_concurrent: 3}\nstop: []\n"),
		in(policy.TierLocal, "l.yaml", "defaults: {chain_timeout: 2s, max_models: 9}\n"),
	}})
	assert.Equal(t, []any{time.Minute, 3, 9}, []any{p.ChainTimeout, p.MaxConcurrent, p.MaxModels})
	assert.Equal(t, []string{
		"1:27 HK018 chain_timeout is not used: u.yaml:1:27 sets it for every event; set chain_timeout on the event, or remove it here",
		"1:27 HK018 chain_timeout is not used: u.yaml:1:27 sets it for every event; set chain_timeout on the event, or remove it here",
	}, lines(found))
	assert.Equal(t, []string{"l.yaml", "p.yaml"}, []string{found[0].Span.File(), found[1].Span.File()})
}

func TestOverrides(t *testing.T) {
	text := "defaults: {chain_timeout: 60, on_error: {bash: skip}, model: m, timeout: 3}\n" +
		"stop: [{name: a, command: x}, {name: l, locked: true, command: x}, {name: own, command: x, timeout: 1}, {name: e, deny: x}]\n"
	load := func(tier policy.Tier, overrides map[string]string) (*policy.Policy, diag.List) {
		return Load(Options{Inputs: []Input{{Path: "/p/hooks.yaml", Tier: tier, Content: []byte(text)}}, Overrides: overrides})
	}
	all := map[string]string{"CHAIN_TIMEOUT": "90", "ON_ERROR": "deny", "MODEL": "n", "TIMEOUT": "5s", "MAX_CONCURRENT": "1"}
	show := func(p *policy.Policy) (out []any) {
		out = append(out, p.ChainTimeout, p.MaxConcurrent)
		for _, h := range p.Hooks {
			out = append(out, h.Name, h.Timeout, h.File.Model, h.File.OnError[policy.KindBash], h.File.OnError[policy.KindExpr])
		}
		return out
	}
	sec := time.Second
	// The limits of the whole policy are those of the locked hook as well.
	p, found := load(policy.TierUser, all)
	require.Empty(t, found)
	assert.Equal(t, []any{60 * sec, 0,
		"a", 5 * sec, "n", policy.OnErrorDeny, policy.OnErrorDeny,
		"l", 3 * sec, "m", policy.OnErrorSkip, policy.PostureUnset,
		"own", sec, "n", policy.OnErrorDeny, policy.OnErrorDeny,
		"e", time.Duration(0), "n", policy.OnErrorDeny, policy.OnErrorDeny}, show(p))
	assert.Equal(t, []string{"HOOKC_DEFAULTS_CHAIN_TIMEOUT=90 is ignored: managed or locked hooks share this limit",
		"HOOKC_DEFAULTS_MAX_CONCURRENT=1 is ignored: managed or locked hooks share this limit",
		"HOOKC_DEFAULTS_MODEL=n overrides defaults.model", "HOOKC_DEFAULTS_ON_ERROR=deny overrides defaults.on_error", "HOOKC_DEFAULTS_TIMEOUT=5s overrides defaults.timeout"}, p.Notes)

	p, found = load(policy.TierManaged, all)
	require.Empty(t, found)
	assert.Equal(t, []any{60 * sec, 0, "a", 3 * sec, "m", policy.OnErrorSkip, policy.PostureUnset}, show(p)[:7])

	text = strings.Replace(text, "locked: true, ", "", 1)
	p, found = load(policy.TierUser, all)
	require.Empty(t, found)
	assert.Equal(t, []any{90 * sec, 1}, show(p)[:2], "no hook is locked")

	// A variable that is wrong keeps no policy from deciding.
	p, found = load(policy.TierUser, map[string]string{"ON_ERROR": "deni", "CHAIN_TIMEOUT": "", "RETRY": "1"})
	require.Empty(t, found)
	assert.Equal(t, []string{
		"HOOKC_DEFAULTS_CHAIN_TIMEOUT= is ignored: chain_timeout takes a duration; this is empty",
		`HOOKC_DEFAULTS_ON_ERROR=deni is ignored: on_error: "deni" is not one of its words`,
		`HOOKC_DEFAULTS_RETRY=1 is ignored: unknown key "retry" in defaults`,
	}, p.Notes)
}

func TestGroupsKeepTheirPlace(t *testing.T) {
	p, found := loadText("stop:\n  - {command: a}\n  - parallel: [{command: b}, {command: c}]\n  - {command: d}\n")
	require.Empty(t, found)
	hooks := slices.Clone(p.Hooks)
	slices.SortFunc(hooks, func(a, b *policy.Hook) int { return policy.Compare(a, b, false) })
	assert.Equal(t, p.Hooks, hooks)
	assert.Equal(t, "project/stop#2..3", p.Hooks[1].Group.Name)
	assert.Equal(t, "project/stop#4", p.Hooks[3].Name)
}

func TestCommandFilesAreUsed(t *testing.T) {
	dir, p, found := loadTree(t, "-- .git/HEAD --\n-- hooks.yaml --\ninclude: [.hookc/h.yaml]\nstop: [{command: make lint}]\n-- .hookc/h.yaml --\nstop: [{command: ./check.sh}]\n-- check.sh --\n")
	require.Empty(t, found)
	assert.Equal(t, []string{filepath.Join(dir, ".hookc/h.yaml")}, p.Sources[0].Uses)
	assert.Equal(t, []string{"make lint"}, p.Sources[0].Opaque)
	assert.Equal(t, []string{filepath.Join(dir, "check.sh")}, p.Sources[1].Uses)
	assert.Empty(t, p.Sources[1].Opaque)
}

// TestOpaqueCommands: a command runs at the project's root, so what is clear
// only in the folder of the policy is opaque, as is what env: redirects.
func TestOpaqueCommands(t *testing.T) {
	dir, p, found := loadTree(t, "-- .git/HEAD --\n-- hooks.yaml --\ninclude: [.hookc/h.yaml]\n-- .hookc/check.sh --\n-- root.sh --\n-- .hookc/h.yaml --\n"+
		"stop:\n  - {command: ./check.sh}\n  - {command: ./root.sh}\n"+
		"  - {command: cat x, env: {PATH: /tmp}}\n  - {command: cat y, env: {BASH_ENV: x.sh}}\n  - {command: cat z, env: {LC_ALL: C}}\n")
	require.Empty(t, found)
	assert.Equal(t, []string{"./check.sh", "cat x", "cat y"}, p.Sources[1].Opaque)
	assert.Equal(t, []string{filepath.Join(dir, "check.sh"), filepath.Join(dir, "root.sh")}, p.Sources[1].Uses, "a program that comes to be there is covered too")
}

// TestFormatCodes runs the examples of the codes this package defines for
// policies; those of HOOK.md have a test of their own.
func TestFormatCodes(t *testing.T) {
	mine := regexp.MustCompile(`^HK0(0[1-9]|1[0-9]|20)$`)
	n := 0
	for _, c := range diag.Codes() {
		if !mine.MatchString(c.ID) {
			continue
		}
		n++
		t.Run(c.ID, func(t *testing.T) {
			_, _, found := loadTree(t, c.Bad)
			ids := map[string]bool{}
			for _, d := range found {
				ids[d.Code.ID] = true
			}
			assert.Equal(t, map[string]bool{c.ID: true}, ids, found.Render())
			_, _, found = loadTree(t, c.Good)
			assert.Empty(t, found.Render())
		})
	}
	assert.Equal(t, 20, n)
}

func FuzzHooksYAML(f *testing.F) {
	seeds, err := filepath.Glob("../../tests/testdata/seeds/*.yaml")
	require.NoError(f, err)
	for _, path := range seeds {
		content, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(content, false)
	}
	f.Add([]byte("stop:\n  - &a {parallel: [{deny: &b 'x', <<: *a}], filter: {tool_name: *b}}\n  - {set: {a.b: c}, timeout: 1e9, use: x, y: [1, {z: .nan}]}\n"), false)
	f.Add([]byte(`{"defaults": {"on_error": {"bash": "deny"}}, "stop": {"hooks": [{"rules": [{"deny": true}]}]}}`), true)
	f.Add([]byte("rego: {paths: [.]}\ntools: {known: [x]}\nstop:\n- file: x.rego\n- reads: []\n  pure: true\n  prompt: |\n    a\n"), false)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte, json bool) {
		if strings.Contains(string(content), "include") || strings.Contains(string(content), "/") {
			t.Skip("what is on the disk is no business of this test")
		}
		path := filepath.Join(dir, "hooks.yaml")
		if json {
			path = filepath.Join(dir, "hooks.json")
		}
		in := Options{Dir: dir, Inputs: []Input{{Path: path, Tier: policy.TierProject, Content: content}}}
		p, found := Load(in)
		_ = found.Render()
		for _, h := range p.Hooks {
			require.NotEmpty(t, h.Name)
			require.False(t, h.Span.IsZero())
		}
		again, more := Load(in)
		require.Equal(t, names(p), names(again))
		require.Equal(t, found.Render(), more.Render())
	})
}

func BenchmarkLoad1000Hooks(b *testing.B) {
	text := "pre_tool_execution:\n" + strings.Repeat("  - {type: expr, filter: {tool_matcher: Bash|Shell}, deny: 'tool_input.command contains \"rm\"', reason: no}\n", 1000)
	b.ReportAllocs()
	for b.Loop() {
		p, found := loadText(text)
		if len(p.Hooks) != 1000 || len(found) > 0 {
			b.Fatal(found.Render())
		}
	}
}
