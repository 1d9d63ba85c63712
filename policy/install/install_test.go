package install

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tailscale/hujson"

	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/source/commandline"
)

func target(t testing.TB, whose string, layout agent.Layout) *Target {
	d, err := agent.Find(whose)
	require.NoError(t, err)
	p, err := d.Settings()
	require.NoError(t, err)
	return &Target{Name: "settings", Layout: layout, Handler: p.Handler, Key: p.Matchers.Key, Unit: p.Unit, Own: commandline.Own}
}

func entry(event, matcher string) Entry {
	return Entry{Event: event, Matcher: matcher, Command: "/bin/hookc run " + event + " --dialect x", Timeout: 35 * time.Second, Guard: event == "PreToolUse"}
}

func TestEditJSON(t *testing.T) {
	one := []Entry{entry("PreToolUse", "Bash")}
	const group = `{"matcher": "Bash", "hooks": [{"type": "command", "command": "/bin/hookc run PreToolUse --dialect x", "timeout": 35, "onFailure": "block"}]}`
	for name, c := range map[string]struct{ before, after string }{
		"one line": {`{"a":1}`, `{"a":1, "hooks": {"PreToolUse": [` + group + `]}}`},
		"one line, list": {`{"hooks":{"PreToolUse":[{"hooks":[]}]}}`,
			`{"hooks":{"PreToolUse":[{"hooks":[]}, ` + group + `]}}`},
		"tabs, comments and a last comma": {`{
	// mine
	"hooks": {
		"PreToolUse": [
			{"hooks": []}, // first
			/* end */
		],
	},
}`, `{
	// mine
	"hooks": {
		"PreToolUse": [
			{"hooks": []}, // first
			/* end */
			{
				"matcher": "Bash",
				"hooks": [
					{
						"type": "command",
						"command": "/bin/hookc run PreToolUse --dialect x",
						"timeout": 35,
						"onFailure": "block"
					}
				]
			},
		],
	},
}`},
		"a comment after the last": {"{\n    \"a\": 1 // one\n}\n", `{
    "a": 1, // one
    "hooks": {
        "PreToolUse": [
            {
                "matcher": "Bash",
                "hooks": [
                    {
                        "type": "command",
                        "command": "/bin/hookc run PreToolUse --dialect x",
                        "timeout": 35,
                        "onFailure": "block"
                    }
                ]
            }
        ]
    }
}
`},
	} {
		t.Run(name, func(t *testing.T) {
			to := target(t, "claude", agent.Groups)
			var memo Memo
			out, changes, err := to.Edit([]byte(c.before), one, &memo)
			require.NoError(t, err)
			assert.Equal(t, c.after, string(out))
			assert.Equal(t, []Change{{"PreToolUse", "added"}}, changes)
			again, changes, err := to.Edit(out, one, &memo)
			require.NoError(t, err)
			assert.Equal(t, c.after, string(again))
			assert.Equal(t, []Change{{"PreToolUse", "kept"}}, changes)
			back, changes, err := to.Edit(out, nil, &memo)
			require.NoError(t, err)
			assert.Equal(t, c.before, string(back))
			assert.Equal(t, []Change{{"PreToolUse", "removed"}}, changes)
		})
	}
}

func TestLineEndsAndMarksStay(t *testing.T) {
	to := target(t, "claude", agent.Groups)
	before := "\xef\xbb\xbf{\r\n\t\"a\": 1\r\n}\r\n"
	out, _, err := to.Edit([]byte(before), []Entry{entry("Stop", "")}, &Memo{})
	require.NoError(t, err)
	assert.Equal(t, strings.Count(string(out), "\n"), strings.Count(string(out), "\r\n"))
	assert.True(t, strings.HasPrefix(string(out), "\xef\xbb\xbf{"))
	back, _, err := to.Edit(out, nil, &Memo{})
	require.NoError(t, err)
	assert.Equal(t, before, string(back))
}

// An entry is known by its command: an older path, other settings, in a group
// with other people's hooks, or twice.
func TestOwnEntriesAreReplaced(t *testing.T) {
	to := target(t, "claude", agent.Groups)
	before := `{"hooks": {
  "PreToolUse": [
    {"hooks": [{"type": "command", "command": "guard.sh"}, {"type": "command", "command": "'/old path/hookc' run PreToolUse --dialect claude"}]},
    {"matcher": "X", "hooks": [{"type": "command", "command": "A=1 hookc run"}]},
    {"matcher": "Y", "hooks": [{"type": "command", "command": "echo hookc run"}]}
  ],
  "Stop": [{"hooks": [{"type": "command", "command": "/usr/bin/hookgate Stop"}]}]
}}`
	out, changes, err := to.Edit([]byte(before), []Entry{entry("PreToolUse", "")}, &Memo{})
	require.NoError(t, err)
	assert.Equal(t, []Change{{"PreToolUse", "updated"}, {"Stop", "removed"}}, changes)
	found, _, err := to.Read(out)
	require.NoError(t, err)
	var commands []string
	for _, f := range found {
		commands = append(commands, f.Command)
	}
	assert.Equal(t, []string{"guard.sh", "/bin/hookc run PreToolUse --dialect x", "echo hookc run"}, commands)
	assert.NotContains(t, string(out), "Stop")
}

func TestEmptyContainersComeBack(t *testing.T) {
	to := target(t, "claude", agent.Groups)
	for _, before := range []string{`{"hooks": {}}`, `{"a": 1, "hooks": {"PreToolUse": []}, "b": 2}`, "{\n  \"hooks\": {\n    \"PreToolUse\": []\n  }\n}"} {
		var memo Memo
		out, _, err := to.Edit([]byte(before), []Entry{entry("PreToolUse", "")}, &memo)
		require.NoError(t, err)
		assert.NotEqual(t, before, string(out))
		back, _, err := to.Edit(out, nil, &memo)
		require.NoError(t, err)
		assert.Equal(t, before, string(back))
	}
}

// A comment that ends with its line never swallows what follows.
func TestCutKeepsCommentsApart(t *testing.T) {
	to := target(t, "claude", agent.Groups)
	const own = `{"hooks":[{"command":"hookc run"}]}`
	for before, after := range map[string]string{
		"{\"hooks\":{\"Stop\":[{\"hooks\":[]}, // c\n  " + own + "]}}":  "{\"hooks\":{\"Stop\":[{\"hooks\":[]} // c\n]}}",
		"{\"hooks\":{\"Stop\":[{\"hooks\":[]}, // c\r\n" + own + " ]}}": "{\"hooks\":{\"Stop\":[{\"hooks\":[]} // c\r\n ]}}",
		"{\"hooks\":{\"Stop\":[// c\n" + own + ", {\"hooks\":[]}]}}":    "{\"hooks\":{\"Stop\":[// c\n {\"hooks\":[]}]}}",
		"{\"hooks\":{\"Stop\":[" + own + " /* c */ , {\"hooks\":[]}]}}": "{\"hooks\":{\"Stop\":[ /* c */  {\"hooks\":[]}]}}",
		"{\"hooks\":{\"Stop\":[\n// mine\n" + own + "\n]}, \"a\": 1}":   "{\"hooks\":{\"Stop\":[\n// mine\n]}, \"a\": 1}",
	} {
		out, _, err := to.Edit([]byte(before), nil, &Memo{})
		require.NoError(t, err, "%q", before)
		assert.Equal(t, after, string(out))
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		layout        agent.Layout
		text, problem string
	}{
		"not JSON":       {agent.Groups, "{\n  \"a\": tru\n}", "settings:2:8: it is not valid JSON: a value cannot begin with 't'"},
		"cut off":        {agent.Groups, "{\"a\":", "settings:1:6: it is not valid JSON: it ends before the value does"},
		"a list":         {agent.Groups, "[]", "settings:1:1: the settings are not an object"},
		"hooks a list":   {agent.Groups, "{\n\"hooks\": []}", "settings:2:10: hooks is not an object"},
		"event a text":   {agent.Groups, `{"hooks": {"Stop": "x"}}`, "settings:1:20: hooks.Stop is not a list"},
		"hooks twice":    {agent.Groups, `{"hooks": {}, "hooks": {}}`, "settings:1:15: a key is written twice"},
		"event twice":    {agent.Groups, `{"hooks": {"Stop": [], "Stop": []}}`, "settings:1:24: an event is written twice"},
		"not TOML":       {agent.FlatTables, "a = 1\nb = \n", "settings:2:5: "},
		"inline TOML":    {agent.FlatTables, "hooks = []\n", "hookc would make it invalid"},
		"open mark":      {agent.FlatTables, "a = 1\n# >>> hookc\n", "settings:2:1: the marks of hookc's lines do not pair"},
		"closing mark":   {agent.FlatTables, "# <<< hookc <<<\n", "settings:1:1: the marks of hookc's lines do not pair"},
		"outside marks":  {agent.FlatTables, beginLine + "\n[[hooks]]\ncommand = \"hookc run\"\n" + endLine + "\n[[hooks]]\nevent = \"Stop\"\ncommand = \"hookc run Stop\"\n", "settings:5:1: a hook of hookc for Stop stands outside"},
		"not YAML":       {agent.EventLists, "a: [\n", "settings:"},
		"a flow list":    {agent.EventLists, "Stop: [{command: x}]\n", "settings:1:7: an item can be added only to a list with a dash"},
		"an empty event": {agent.EventLists, "Stop:\n", "settings:1:6: an item can be added only"},
		"a YAML list":    {agent.EventLists, "- a\n", "settings:1:1: it is no map of events"},
	} {
		t.Run(name, func(t *testing.T) {
			whose := map[agent.Layout]string{agent.Groups: "claude", agent.FlatTables: "kimi", agent.EventLists: "jcli"}[c.layout]
			_, _, err := target(t, whose, c.layout).Edit([]byte(c.text), []Entry{entry("Stop", "")}, &Memo{})
			require.Error(t, err)
			assert.True(t, strings.HasPrefix(err.Error(), c.problem), "%s", err)
		})
	}
}

func TestEditYAML(t *testing.T) {
	to := target(t, "jcli", agent.EventLists)
	before := `# mine
stop:
- command: |
    a

    b
  # about b

pre_send_message:
    - command: x   # the end`
	want := []Entry{entry("stop", ""), entry("pre_send_message", ""), entry("pre_tool_execution", "Bash|Write")}
	out, _, err := to.Edit([]byte(before), want, &Memo{})
	require.NoError(t, err)
	assert.Equal(t, `# mine
stop:
- command: |
    a

    b
`+beginLine+`
- type: bash
  command: "/bin/hookc run stop --dialect x"
  timeout: 35
`+endLine+`
  # about b

pre_send_message:
    - command: x   # the end
    `+beginLine+`
    - type: bash
      command: "/bin/hookc run pre_send_message --dialect x"
      timeout: 35
    `+endLine+`
`+beginLine+`
pre_tool_execution:
  - type: bash
    command: "/bin/hookc run pre_tool_execution --dialect x"
    timeout: 35
    filter:
      tool_matcher: "Bash|Write"
`+endLine, string(out))
	again, _, err := to.Edit(out, want, &Memo{})
	require.NoError(t, err)
	assert.Equal(t, string(out), string(again))
	back, _, err := to.Edit(out, nil, &Memo{})
	require.NoError(t, err)
	assert.Equal(t, before, string(back))
}

func TestEditTOML(t *testing.T) {
	for whose, c := range map[string]struct {
		layout agent.Layout
		lines  string
	}{
		"kimi": {agent.FlatTables, "[[hooks]]\nevent = \"PreToolUse\"\nmatcher = \"^(Shell)$\"\ncommand = \"/bin/hookc run PreToolUse --dialect x\"\ntimeout = 35\n"},
		"codex": {agent.GroupTables, "[[hooks.PreToolUse]]\nmatcher = \"^(Shell)$\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\n" +
			"command = \"/bin/hookc run PreToolUse --dialect x\"\ntimeout = 35\n"},
	} {
		to := target(t, whose, c.layout)
		for _, before := range []string{"", "model = \"m\"\n", "[a]\nb = 1"} {
			want := []Entry{entry("PreToolUse", "^(Shell)$")}
			out, _, err := to.Edit([]byte(before), want, &Memo{})
			require.NoError(t, err)
			assert.Contains(t, string(out), beginLine+"\n"+c.lines+endLine)
			again, _, err := to.Edit(out, want, &Memo{})
			require.NoError(t, err)
			assert.Equal(t, string(out), string(again))
			back, _, err := to.Edit(out, nil, &Memo{})
			require.NoError(t, err)
			assert.Equal(t, before, string(back))
		}
	}
}

func TestDiff(t *testing.T) {
	before := "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk"
	after := "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n"
	assert.Equal(t, `--- a/x
+++ b/x
@@ -1,5 +1,5 @@
 a
-b
+B
 c
 d
 e
@@ -8,4 +8,5 @@
 h
 i
 j
-k
\ No newline at end of file
+k
+l
`, Diff("x", []byte(before), []byte(after)))
	assert.Empty(t, Diff("x", []byte(before), []byte(before)))
	assert.Equal(t, "--- /dev/null\n+++ b/x\n@@ -0,0 +1,1 @@\n+a\n", Diff("x", nil, []byte("a\n")))
}

// FuzzJSON: whatever the settings, installing adds and takes nothing away,
// twice is once, taking out again leaves the same values, and the record gives
// back the same bytes.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1}`, "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": []} // x\n    ],\n  },\n}\n", "{ }", "{/**/}", "{//\n}",
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"},],},],},}`, "\xef\xbb\xbf{\r\n\"a\" : [ ] }\r\n", "{\"hooks\": {\"PreToolUse\": [\n]}}",
		`{"hooks":{"Stop":[{"hooks":[{"command":"hookc run"},{"command":"y"}]}]}}`, "{\"a\":1 //\n}", "{\"a\":1 //\r\n,//\n}", `{"version":2,"hooks":{}}`} {
		f.Add([]byte(s))
	}
	want := []Entry{entry("PreToolUse", "Bash"), entry("Stop", "")}
	f.Fuzz(func(t *testing.T, before []byte) {
		for whose, layout := range map[string]agent.Layout{"claude": agent.Groups, "clawdcode": agent.Groups, "cursor": agent.Flat} {
			checkJSON(t, target(t, whose, layout), before, want)
		}
	})
}

func checkJSON(t *testing.T, to *Target, before []byte, want []Entry) {
	var memo Memo
	out, _, err := to.Edit(before, want, &memo)
	if err != nil {
		return
	}
	record := Remember(before, out)
	undone, ok := record.Undo(out)
	require.True(t, ok)
	require.Equal(t, string(before), string(undone))

	again, _, err := to.Edit(out, want, &memo)
	require.NoError(t, err)
	require.Equal(t, string(out), string(again))

	old, _, err := to.Read(before)
	require.NoError(t, err)
	for _, f := range old {
		if f.Own {
			return // its own entries were there: they do not come back
		}
	}
	if !blank(before) {
		require.True(t, subsequence(before, out), "%q\n%q", before, out)
	}
	back, _, err := to.Edit(out, nil, &memo)
	require.NoError(t, err)
	if blank(before) {
		return
	}
	require.Equal(t, values(t, before), values(t, back), "%q → %q", before, back)
}

func subsequence(a, b []byte) bool {
	for _, c := range b {
		if len(a) > 0 && a[0] == c {
			a = a[1:]
		}
	}
	return len(a) == 0
}

func values(t *testing.T, content []byte) any {
	std, err := hujson.Standardize([]byte(strings.TrimPrefix(string(content), "\xef\xbb\xbf")))
	require.NoError(t, err)
	var v any
	if json.Unmarshal(std, &v) != nil {
		return nil
	}
	return v
}

// FuzzLines: the same of the formats that are edited by lines.
func FuzzLines(f *testing.F) {
	for _, s := range []string{"", "a = 1", "a = 1\r\n[b]\r\n", "stop:\n- command: x\n", "stop:\n  - command: |\n     x\nb: 1", "a: 1\n...\n", "a: |+\n  x\n\n\n"} {
		f.Add([]byte(s))
	}
	want := []Entry{entry("PreToolUse", "Bash"), entry("stop", "")}
	f.Fuzz(func(t *testing.T, before []byte) {
		for whose, layout := range map[string]agent.Layout{"kimi": agent.FlatTables, "codex": agent.GroupTables, "jcli": agent.EventLists} {
			to := target(t, whose, layout)
			out, _, err := to.Edit(before, want, &Memo{})
			if err != nil {
				continue
			}
			again, _, err := to.Edit(out, want, &Memo{})
			require.NoError(t, err)
			require.Equal(t, string(out), string(again))
			back, _, err := to.Edit(out, nil, &Memo{})
			require.NoError(t, err)
			if !strings.Contains(string(before), beginMark) {
				require.Equal(t, string(before), string(back))
			}
		}
	})
}
