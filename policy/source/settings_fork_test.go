package source

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// forkLoad reads settings of an agent, the user's before the project's.
func forkLoad(t *testing.T, id string, faithful bool, files ...string) (*policy.Policy, []string) {
	t.Helper()
	d, err := agent.Find(id)
	require.NoError(t, err)
	o := Options{Profile: d, Faithful: faithful}
	tiers := []policy.Tier{policy.TierUser, policy.TierProject, policy.TierManaged}
	if len(files) == 1 {
		tiers = tiers[1:]
	}
	for i, text := range files {
		o.Inputs = append(o.Inputs, Input{Path: tiers[i].String() + "/settings.json", Tier: tiers[i], Format: id, Content: []byte(text)})
	}
	p, found := Load(o)
	var codes []string
	for _, f := range found {
		codes = append(codes, f.Code.ID)
	}
	return p, codes
}

// laid is a hook as laid out: its name without its event, where it is grouped
// and what else it is.
func laid(p *policy.Policy) []string {
	var out []string
	for _, h := range p.Hooks {
		s := strings.Replace(h.Name, "/"+string(h.Event), "", 1)
		if h.Group != nil {
			s += " (" + h.Group.Name + ")"
		}
		if h.Body.Agent.Sequential {
			s += " in turn"
		}
		if h.Disabled {
			s += " off"
		}
		out = append(out, s)
	}
	return out
}

func group1(rest string) string { return `{"hooks": {"BeforeTool": [` + rest + `]}}` }

const hookA, hookB = `"hooks": [{"type": "command", "command": "a"}]`, `"hooks": [{"type": "command", "command": "b"}]`

func TestGeminiLayout(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string
		want  []string
		codes []string
	}{
		{"one hook", []string{group1(`{` + hookA + `}`)}, []string{"project#1"}, nil},
		{"all start at once, the user's first", []string{group1(`{` + hookA + `}`), group1(`{` + hookB + `}`)},
			[]string{"user#1 (at once)", "project#1 (at once)"}, nil},
		{"one key: the first that matches runs", []string{group1(`{` + hookA + `}`), group1(`{` + hookA + `}`)},
			[]string{"project#1 off", "user#1"}, nil},
		{"a sequential group that always matches", []string{group1(`{"sequential": true, ` + hookA + `}, {` + hookB + `}`)},
			[]string{"project#1 in turn", "project#2 in turn"}, []string{"HK035"}},
		{"only true is sequential", []string{group1(`{"sequential": "true", ` + hookA + `}, {` + hookB + `}`)},
			[]string{"project#1 (at once)", "project#2 (at once)"}, nil},
		{"a sequential group that sometimes matches", []string{group1(`{"matcher": "write", "sequential": true, ` + hookA + `}, {` + hookB + `}`)},
			[]string{"project#2 at once", "project#1 in turn", "project#2 in turn"}, []string{"HK035"}},
		{"names that a sequential group never matches", []string{group1(`{"matcher": "write", "sequential": true, ` + hookA + `}, {"matcher": "^glob$", ` + hookB + `}`)},
			[]string{"project#2 at once", "project#1 in turn"}, []string{"HK035"}},
		{"one matcher twice", []string{group1(`{"matcher": "write", "sequential": true, ` + hookA + `}, {"matcher": "write", ` + hookB + `}`)},
			[]string{"project#1 in turn", "project#2 in turn"}, []string{"HK035"}},
		{"disabled by name, by command, and not by the command of a named one", []string{`{"hooksConfig": {"disabled": ["n", "b", "c"]}, "hooks": {"BeforeTool": [{"hooks": [
			{"type": "command", "command": "a", "name": "n"}, {"type": "command", "command": "b"}, {"type": "command", "command": "c", "name": "m"}]}]}}`},
			[]string{"n off", "project#2 off", "m"}, []string{"HK030"}},
		{"all off, and on again in a later file", []string{`{"hooksConfig": {"enabled": false}}`, `{"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": [{` + hookA + `}]}}`},
			[]string{"project#1"}, nil},
		{"all off", []string{`{"hooksConfig": {"enabled": false}, "hooks": {"BeforeTool": [{` + hookA + `}]}}`}, []string{"project#1 off"}, []string{"HK030"}},
		{"old keys, unknown types", []string{`{"hooks": {"disabled": ["x"], "BeforeTool": [{"hooks": [{"type": "http", "command": "a"}, {"command": "b"}, 7]}]}}`},
			nil, []string{"HK030", "HK030", "HK030", "HK030"}},
		{"AfterTool is two events", []string{`{"hooks": {"AfterTool": [{"matcher": "Bash", ` + hookA + `}]}}`}, []string{"project#1", "project#1"}, []string{"HK033"}},
		{"two that may rewrite", []string{group1(`{"hooks": [{"type": "command", "command": "echo '{\"hookSpecificOutput\":{\"tool_input\":{}}}'"},
			{"type": "command", "command": "echo '{\"hookSpecificOutput\":{\"tool_input\":{\"a\":1}}}'"}]}`)}, []string{"project#1 (at once)", "project#2 (at once)"}, []string{"HK035"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, codes := forkLoad(t, "gemini", false, c.files...)
			assert.Equal(t, c.want, laid(p))
			assert.Equal(t, c.codes, codes)
		})
	}
}

// TestGeminiMatchers: on a tool's name, on a trigger, and what is said of them.
func TestGeminiMatchers(t *testing.T) {
	for _, c := range []struct {
		event, matcher string
		field          policy.Field
		hits, misses   []string
		codes          []string
	}{
		{"BeforeTool", `"write"`, policy.FieldToolName, []string{"write_file", "mcp_x_write_file"}, []string{"replace", ""}, nil},
		{"BeforeTool", `"^(write_file|replace)$"`, policy.FieldToolName, []string{"write_file", "replace"}, []string{"mcp_write_file"}, nil},
		{"BeforeTool", `"Bash"`, policy.FieldToolName, []string{"Bash"}, []string{"run_shell_command"}, []string{"HK033"}},
		{"BeforeTool", `"(?i)bash"`, policy.FieldToolName, []string{"(?i)bash"}, []string{"bash"}, []string{"HK033"}},
		{"BeforeTool", `"mcp_jira_.*"`, policy.FieldToolName, []string{"mcp_jira_get"}, []string{"glob"}, nil},
		{"BeforeTool", `" * "`, policy.FieldToolName, []string{"x"}, nil, nil},
		{"BeforeTool", `0`, policy.FieldToolName, []string{"x"}, nil, nil},
		{"BeforeTool", `["x"]`, policy.FieldToolName, []string{"y"}, nil, []string{"HK033"}},
		{"SessionStart", `"startup"`, policy.FieldSource, []string{"startup", ""}, []string{"startup2"}, nil},
		{"SessionStart", `"startup|resume"`, policy.FieldSource, nil, []string{"startup"}, []string{"HK033"}},
		{"BeforeAgent", `"x"`, policy.FieldUserInput, []string{"anything"}, nil, []string{"HK033"}},
	} {
		p, codes := forkLoad(t, "gemini", false, `{"hooks": {"`+c.event+`": [{"matcher": `+c.matcher+`, `+hookA+`}]}}`)
		assert.Equal(t, c.codes, codes, c.matcher)
		require.Len(t, p.Hooks, 1)
		match := runs(p.Hooks)
		for _, text := range c.hits {
			assert.True(t, match(policy.NewContext(p.Hooks[0].Event).Set(c.field, text)), "%s on %q", c.matcher, text)
		}
		for _, text := range c.misses {
			assert.False(t, match(policy.NewContext(p.Hooks[0].Event).Set(c.field, text)), "%s on %q", c.matcher, text)
		}
	}
	p, _ := forkLoad(t, "gemini", false, group1(`{"matcher": "^(replace|glob)$", `+hookA+`}`))
	assert.Equal(t, []string{"glob", "replace"}, p.Hooks[0].Filter.Conditions[0].Atom.Values, "exact names, for the index")
	p, _ = forkLoad(t, "gemini", true, group1(`{"matcher": 5, `+hookA+`}, {`+hookB+`}`))
	assert.Equal(t, []string{"project#1 off", "project#2 off"}, laid(p), "its planner throws: nothing of the event runs")
}

// TestForkTimeouts: milliseconds, and what setTimeout makes of the rest.
func TestForkTimeouts(t *testing.T) {
	for written, want := range map[string]struct {
		took, faithful time.Duration
		code           bool
	}{
		`30000`:      {30 * time.Second, 30 * time.Second, false},
		`null`:       {time.Minute, time.Minute, false},
		`"2000"`:     {2 * time.Second, 2 * time.Second, false},
		`30`:         {30 * time.Millisecond, 30 * time.Millisecond, true},
		`0`:          {time.Minute, time.Nanosecond, true},
		`-1`:         {time.Minute, time.Nanosecond, true},
		`"5s"`:       {time.Minute, time.Nanosecond, true},
		`2147483648`: {time.Minute, time.Nanosecond, true},
	} {
		for _, faithful := range []bool{false, true} {
			p, codes := forkLoad(t, "gemini", faithful, group1(`{"hooks": [{"type": "command", "command": "a", "timeout": `+written+`}]}`))
			took := want.took
			if faithful {
				took = want.faithful
			}
			assert.Equal(t, took, p.Hooks[0].Timeout, written)
			assert.Equal(t, want.code, len(codes) == 1 && codes[0] == "HK034", written)
		}
	}
}

// TestUntrustedSwitchesNothing: a file that is not trusted turns no other
// file's hooks off.
func TestUntrustedSwitchesNothing(t *testing.T) {
	for id, text := range map[string]string{"gemini": `{"hooksConfig": {"enabled": false, "disabled": ["a"]}}`, "qwen": `{"disableAllHooks": true}`} {
		d, err := agent.Find(id)
		require.NoError(t, err)
		event := map[string]string{"gemini": "BeforeTool", "qwen": "PreToolUse"}[id]
		p, _ := Load(Options{Profile: d, Inputs: []Input{
			{Path: "u/settings.json", Tier: policy.TierUser, Format: id, Content: []byte(`{"hooks": {"` + event + `": [{` + hookA + `}]}}`)},
			{Path: "p/settings.json", Tier: policy.TierProject, Format: id, Untrusted: "no", Content: []byte(text)}}})
		assert.Equal(t, []string{"user#1"}, laid(p), id)
	}
}

// TestExtensionVariables: commands of an extension name its folder.
func TestExtensionVariables(t *testing.T) {
	d, err := agent.Find("gemini")
	require.NoError(t, err)
	p, _ := Load(Options{Profile: d, Inputs: []Input{{Path: "/e/x/hooks/hooks.json", Tier: policy.TierExtension, Format: "gemini",
		Content: []byte(group1(`{"hooks": [{"type": "command", "command": "${extensionPath}${/}run.sh"}]}`))}}})
	assert.Equal(t, "/e/x/run.sh", p.Hooks[0].Body.Command.Value)
}

func TestQwenLayout(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
		codes      []string
	}{
		{"one name under one matcher is registered once", `{"hooks": {"PreToolUse": [{"hooks": [
			{"type": "command", "command": "a", "name": "n"}, {"type": "command", "command": "b", "name": "n"}]}]}}`, []string{"n"}, []string{"HK030"}},
		{"under two it is there twice", `{"hooks": {"PreToolUse": [{"matcher": "edit", "hooks": [{"type": "command", "command": "a", "name": "n"}]},
			{"hooks": [{"type": "command", "command": "b", "name": "n"}]}]}}`, []string{"n (at once)", "n#2 (at once)"}, nil},
		{"hooks that are no commands", `{"hooks": {"PreToolUse": [{"hooks": [{"type": "http", "command": "x", "url": "u"}]}]}}`, nil, []string{"HK030"}},
		{"all off", `{"disableAllHooks": true, "hooks": {"Stop": [{` + hookA + `}]}}`, []string{"project#1 off"}, []string{"HK030"}},
		{"a word, not an expression", `{"hooks": {"PreCompact": [{"matcher": "auto|manual", ` + hookA + `}]}}`, []string{"project#1"}, []string{"HK033"}},
		{"another agent's name of a tool", `{"hooks": {"PreToolUse": [{"matcher": "Shell", ` + hookA + `}]}}`, []string{"project#1"}, []string{"HK033"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, codes := forkLoad(t, "qwen", false, c.text)
			assert.Equal(t, c.want, laid(p))
			assert.Equal(t, c.codes, codes)
		})
	}
	p, _ := forkLoad(t, "qwen", false, `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "a", "async": true}]}]}}`)
	assert.True(t, p.Hooks[0].Async)
}

// TestJSONComments: agents' settings may hold comments, with places kept.
func TestJSONComments(t *testing.T) {
	p, codes := forkLoad(t, "gemini", false, "// one\n{\"hooks\": /* two */ {\n  \"BeforeTool\": [{"+hookA+"}] // \"x\"\n}} /* open")
	require.Len(t, p.Hooks, 1)
	assert.Empty(t, codes)
	line, _ := p.Hooks[0].Span.Position()
	assert.Equal(t, 3, line)
}
