// Package fuzz holds the fuzz targets of readers that are reached through
// several packages. Those of one package are beside it. It links no provider's
// SDK: instrumented for fuzzing, those take minutes to compile.
package fuzz

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/state"
	"github.com/hookc/hookc/policy/trust"
)

// FuzzFilter: a filter that compiles matches what its grammar says
// (semantics.md §2.7), with the index and without it; one that does not
// compile leaves no policy.
func FuzzFilter(f *testing.F) {
	for key := range filterModels {
		f.Add(byte(key), "Bash|Shell", "Shell", "rm -rf /", "default")
		f.Add(byte(key), "^rm (-[a-z]+ )*/$", "mcp__x__y", "rm -rf /", "plan")
	}
	f.Add(byte(1), " | Bash |", "Bash", "", "")
	f.Add(byte(2), "(", "a|b", "\xff", "")
	f.Add(byte(5), "shell|mcp", "mcp__a__b", "", "")
	f.Fuzz(func(t *testing.T, pick byte, text, tool, command, mode string) {
		m := filterModels[int(pick)%len(filterModels)]
		body, err := json.Marshal(map[string]any{"pre_tool_execution": []any{map[string]any{
			"name": "h", "deny": "true", "reason": "no", "filter": map[string]string{m.key: text}}}})
		require.NoError(t, err)
		eng, err := hookc.Open(t.Context(), hookc.Text("hooks.json", string(body)), hookc.SkipVerify())
		if err != nil {
			return
		}
		defer eng.Close()
		in := policy.NewContext("").
			Set(policy.FieldToolName, tool).
			Set(policy.FieldPermissionMode, mode).
			Set(policy.FieldToolInput, map[string]any{"command": command})
		d, err := eng.Fire(t.Context(), hookc.PreToolExecution, in)
		serial, serialErr := eng.FireSerial(t.Context(), hookc.PreToolExecution, in)
		if strings.Contains(tool+command, "\x00") { // no shell sees what is behind it
			require.Error(t, err)
			require.Error(t, serialErr)
			return
		}
		require.NoError(t, err)
		require.NoError(t, serialErr)
		require.Equal(t, decided(serial), decided(d))
		if !d.Permits() {
			require.True(t, eng.Available(hookc.PreToolExecution, tool), "a tool that is refused must be asked about")
		}
		if want, known := m.matches(clean(t, text), in); known {
			require.Equal(t, want, !d.Permits(), "%s: %q on %q %q %q", m.key, text, tool, command, mode)
		}
	})
}

// decided is a whole Decision without times.
func decided(d *policy.Decision) string {
	out := *d
	out.Hooks = slices.Clone(d.Hooks)
	for i := range out.Hooks {
		out.Hooks[i].Micros = 0
	}
	written, err := out.MarshalJSON()
	if err != nil {
		panic(err)
	}
	return string(written)
}

// clean is text as JSON can carry it.
func clean(t *testing.T, text string) string {
	encoded, err := json.Marshal(text)
	require.NoError(t, err)
	var out string
	require.NoError(t, json.Unmarshal(encoded, &out))
	return out
}

// filterModels say what a condition means, where that can be said in a line.
var filterModels = []struct {
	key     string
	matches func(text string, in *policy.Context) (matches, known bool)
}{
	{"tool_name", func(text string, in *policy.Context) (bool, bool) {
		return in.Text(policy.FieldToolName) == text && in.Text(policy.FieldToolName) != "", text != ""
	}},
	{"tool_matcher", func(text string, in *policy.Context) (bool, bool) {
		return in.Text(policy.FieldToolName) != "" && slices.Contains(listed(text), in.Text(policy.FieldToolName)), true
	}},
	{"command", func(text string, in *policy.Context) (bool, bool) {
		re, err := regexp.Compile(text)
		return err == nil && re.MatchString(commandOf(in)), in.Text(policy.FieldToolName) == "Bash"
	}},
	{"pattern", func(text string, in *policy.Context) (bool, bool) {
		re, err := regexp.Compile(text)
		return err == nil && re.MatchString(commandOf(in)), true
	}},
	{"permission_mode", func(text string, in *policy.Context) (bool, bool) {
		return in.Text(policy.FieldPermissionMode) != "" && slices.Contains(listed(text), in.Text(policy.FieldPermissionMode)), true
	}},
	{"tool_kind", unmodelled}, {"path", unmodelled},
	{"model_prefix", func(string, *policy.Context) (bool, bool) { return false, true }}, // the event sends none
	{"source", func(string, *policy.Context) (bool, bool) { return false, true }},
	{"agent", func(string, *policy.Context) (bool, bool) { return false, true }},
}

// commandOf is the command of any tool's input.
func commandOf(in *policy.Context) string {
	v, _ := in.At(policy.Path{Field: policy.FieldToolInput, Keys: []string{"command"}})
	return v.(string)
}

func unmodelled(string, *policy.Context) (bool, bool) { return false, false }

func listed(text string) []string {
	var out []string
	for name := range strings.SplitSeq(text, "|") {
		out = append(out, strings.TrimSpace(name))
	}
	return out
}

// FuzzPath: a path that is read is written back as itself.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"tool_input", "tool_input.command", "tool_input.a.b", "raw.x", "", ".", "tool_input.", "tool_arguments", "nope"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := policy.ParsePath(text)
		if err != nil {
			return
		}
		again, err := policy.ParsePath(p.String())
		require.NoError(t, err)
		require.Equal(t, p, again)
	})
}

// projectedPolicy looks at an event in every way there is: rules, filters and
// derived fields that name parts of it, a rule that takes all of it, sets.
var projectedPolicy = []string{`
pre_tool_execution:
  - {name: part, deny: 'tool_input.command contains "rm"', reason: part}
  - {name: kind, filter: {tool_kind: shell, permission_mode: plan}, ask: 'tool_input.x.y == 1', reason: kind}
  - {name: path, filter: {path: "/etc/**"}, deny: 'content != ""', reason: path}
  - {name: tidy, filter: {tool_name: Tidy}, set: {tool_input.a: 'tool_input.b'}}
  - name: rego
    source: |
      package rules
      deny contains "rego" if input.tool_input.list[_] == "x"
pre_llm_request:
  - {name: add, context: '"more"'}
stop:
  - {name: gate, deny: 'stop_reason == "todo"', reason: todo}
`, `
pre_tool_execution:
  - {name: all, deny: 'len($env) > 6', reason: many}
  - {name: odd, deny: 'raw.odd != nil', reason: odd}
pre_llm_request:
  - {name: talk, deny: 'len(messages) > 2', reason: long}
`}

// FuzzFireJSON: an event decoded for its plan gets the Decision that it gets
// decoded whole, and is refused where that is, but for keys repeated in what
// nobody looks at.
func FuzzFireJSON(f *testing.F) {
	var engines []*hookc.Engine
	for _, text := range projectedPolicy {
		eng, err := hookc.Open(f.Context(), hookc.Text("hooks.yaml", text), hookc.SkipVerify())
		require.NoError(f, err)
		f.Cleanup(func() { eng.Close() })
		engines = append(engines, eng)
	}
	for _, seed := range []string{
		`{"event":"pre_tool_execution","tool_name":"Bash","tool_input":{"command":"rm -rf /","list":["x"]}}`,
		`{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/etc/passwd","content":"x"},"messages":[{"role":"user"}],"odd":1}`,
		`{"event":"pre_tool_execution","tool_name":"Tidy","tool_input":{"a":1,"b":{"c":[2]},"more":3},"permission_mode":"plan"}`,
		`{"event":"pre_llm_request","system_prompt":"be kind","messages":[1,2,3]}`,
		`{"event":"stop","stop_reason":"todo","event_type":"Stop"}`,
		`{"event":"pre_tool_execution","event":"stop"}`, `{"messages":[{"a":1,"a":2}],"event":"stop"}`, `{"event":"nothing"}`, `{`, `[]`, `{"tool_name":7}`,
	} {
		f.Add("", []byte(seed))
		f.Add("PreToolUse", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, event string, data []byte) {
		for _, eng := range engines {
			d, err := eng.FireJSON(t.Context(), policy.Event(event), data)
			in, sent, failed := policy.DecodeContext(data)
			if failed != nil {
				if err == nil {
					require.ErrorContains(t, failed, "appears twice")
					continue
				}
				require.False(t, d.Permits())
				continue
			}
			name := policy.Event(event)
			if event == "" {
				name = policy.Event(sent)
			}
			want, wrong := eng.Fire(t.Context(), name, in)
			require.Equal(t, wrong, err)
			require.Equal(t, decided(want), decided(d))
			if wrong != nil {
				continue
			}
			for _, f := range d.Final.Fields() {
				_, ok := want.Final.Get(f)
				require.True(t, ok, "%s is there", f)
				require.Equal(t, want.Final.Text(f), d.Final.Text(f), "%s", f)
			}
		}
	})
}

// FuzzRego: no text makes the Rego compiler panic, and a rule that compiles is
// decided the same both ways.
func FuzzRego(f *testing.F) {
	for _, s := range []string{
		"package p\ndeny contains \"x\" if input.tool_name == \"Bash\"", "package p\nimport rego.v1\nresult := {\"decision\": \"deny\"}",
		"package p\npatch := {\"command\": data.d.x}", "package p\ndeny if { some i; input.tool_input[i] == \"a\" }\nask contains m if m := sprintf(\"%v\", [input])",
		"package p\ndeny if deny", "package", "package p\ndeny contains 1 / 0", "# comment",
	} {
		f.Add(s, []byte(`{"d": {"x": "y"}}`), false)
	}
	f.Add("package p\ndeny if data.x[_] == 1", []byte("x: [1, .nan, {a: ~}]\n"), true)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, source string, data []byte, yaml bool) {
		name := "data.json"
		if yaml {
			name = "data.yaml"
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
		body, err := json.Marshal(map[string]any{"rego": map[string]any{"data": []string{name}},
			"pre_tool_execution": []any{map[string]any{"name": "h", "type": "rego", "source": source}}})
		require.NoError(t, err)
		eng, err := hookc.Open(t.Context(), hookc.Text(filepath.Join(dir, "hooks.json"), string(body)), hookc.SkipVerify())
		if err != nil {
			return
		}
		defer eng.Close()
		in := policy.NewContext("").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "ls"})
		d, err := eng.Fire(t.Context(), hookc.PreToolExecution, in)
		require.NoError(t, err)
		if len(eng.Program().Plans) == 1 && eng.Program().Plans[0].Volatile || slow(d) {
			return
		}
		serial, err := eng.FireSerial(t.Context(), hookc.PreToolExecution, in)
		require.NoError(t, err)
		if !slow(serial) {
			require.Equal(t, decided(serial), decided(d))
		}
	})
}

// slow reports whether a budget was used up, which depends on the machine.
func slow(d *policy.Decision) bool {
	return slices.ContainsFunc(d.Failed, func(f policy.Failure) bool { return f.Kind == policy.ErrBudget })
}

// FuzzRegisterHook: whatever a model sends to register_hook gets a JSON
// object, never a panic, and never loosens the policy in force.
func FuzzRegisterHook(f *testing.F) {
	for _, s := range []string{
		`{"action":"register","event":"pre_tool_execution","allow":"true"}`, `{"action":"register","event":"PreToolUse","name":"guard","deny":"false"}`,
		`{"action":"register","event":"pre_tool_execution","source":"package p\npatch := {\"command\": \"ls\"}"}`, `{"action":"list"}`, `{"action":"remove","index":0}`,
		`{"action":"register","event":"stop","filter":{"tool_name":["x"]},"timeout":-1,"retry":1e9}`, `{`, `[]`, "null", `{"action":"register","event":"notify","prompt":"{{x}}"}`,
	} {
		f.Add([]byte(s))
	}
	eng, err := hookc.Open(f.Context(), hookc.SkipVerify(), hookc.Text("hooks.yaml",
		`pre_tool_execution: [{name: guard, deny: 'command == "rm"', reason: "no"}]`))
	require.NoError(f, err)
	f.Cleanup(func() { _ = eng.Close() })
	f.Fuzz(func(t *testing.T, request []byte) {
		own := eng.Session("s")
		var reply map[string]any
		require.NoError(t, json.Unmarshal(own.Call(t.Context(), request), &reply))
		require.Len(t, reply, 1)
		list := own.List()
		if !slices.ContainsFunc(list, func(l hookc.Listed) bool { return l.Command != "" }) { // nobody runs what a fuzzer wrote
			d, err := eng.PreTool(t.Context(), hookc.Call{Where: hookc.Where{SessionID: "s"}, Tool: "Bash", Input: map[string]any{"command": "rm"}})
			require.NoError(t, err)
			require.Equal(t, policy.Block, d.Action)
		}
		for _, l := range list {
			require.NoError(t, own.Remove(l.Index))
		}
	})
}

// FuzzMetrics: counters that can be read are written as they are.
func FuzzMetrics(f *testing.F) {
	for _, s := range []string{`[]`, `null`, `[{"event":"stop","hook":"h","runs":2,"ok":2,"buckets":{"0":1,"487":1,"488":3,"-1":2}}]`, `[{},{}]`, `{`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var m, again hookc.Metrics
		if json.Unmarshal(text, &m) != nil {
			return
		}
		written, err := json.Marshal(&m)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(written, &again))
		require.Equal(t, m.List(), again.List())
	})
}

// FuzzState: a state file that somebody wrote is not read as consent, and does
// not stop the next write.
func FuzzState(f *testing.F) {
	f.Setenv("XDG_STATE_HOME", f.TempDir())
	f.Setenv("HOOKC_TRUST", "")
	root := f.TempDir()
	dir, err := state.Open(root)
	require.NoError(f, err)
	files := []trust.Input{{Path: filepath.Join(root, "hooks.yaml")}}
	require.NoError(f, os.WriteFile(files[0].Path, []byte("{}"), 0o600))
	const name = "trust.json"
	require.NoError(f, dir.Update(name, func([]byte) ([]byte, error) {
		return []byte(`{"version":1,"files":[{"path":"hooks.yaml","sha256":"00"}]}`), nil
	}))
	written, err := os.ReadFile(filepath.Join(dir.Path(), name))
	require.NoError(f, err)
	f.Add(written)
	f.Add(written[:len(written)/2])
	f.Add([]byte("{}"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, content []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir.Path(), name), content, 0o600))
		kind := trust.Open(root).Consult("", files).Kind
		require.Contains(t, []trust.Kind{trust.Never, trust.Broken}, kind)
		if got, err := dir.Read(name); err == nil {
			require.True(t, bytes.Contains(content, got), "what is read was written")
		}
	})
}
