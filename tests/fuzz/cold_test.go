package fuzz

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/gate/build"
	"github.com/hookc/hookc/internal/gate/table"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/source"
)

const coldPolicy = `pre_tool_execution:
  - {name: a, filter: {tool_name: Write}, deny: "true", reason: "no"}
  - {name: b, filter: {command: '^git push\b', permission_mode: plan}, deny: "true", reason: "no"}
  - {name: c, filter: {tool_pattern: "^mcp__"}, deny: "true", reason: "no"}
`

func coldTable(f *testing.F) []byte {
	program, found := hookc.Compile(host.Input[hookc.Option](source.Input{Path: "hooks.yaml", Format: "hooksyaml", Tier: policy.TierUser, Content: []byte(coldPolicy)}))
	require.NotNil(f, program, "%s", found.Render())
	return build.Table(program)
}

// FuzzColdTable: whatever a table holds, nothing panics and reading it ends. One
// word of a table is replaced, so that what lies behind it is reached.
func FuzzColdTable(f *testing.F) {
	whole := coldTable(f)
	event := []byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/"}`)
	f.Add(0, uint32(0), "claude", event)
	f.Add(8, uint32(1<<31), "cursor", event)
	f.Add(len(whole)/2, uint32(8), "jcli", event)
	f.Fuzz(func(t *testing.T, at int, word uint32, whose string, input []byte) {
		b := append([]byte{}, whole...)
		if at >= 0 && at+4 <= len(b) {
			b[at], b[at+1], b[at+2], b[at+3] = byte(word), byte(word>>8), byte(word>>16), byte(word>>24)
		}
		for _, b := range [][]byte{b, b[:max(0, min(len(b), at))], input} {
			if opened, ok := table.Open(b); ok {
				opened.Decide(&table.Asked{Dialect: whose, Event: "PreToolUse", Input: input, Env: func(string) string { return "" }})
			}
		}
	})
}

// FuzzColdEvent: of what the table answers the dialect reads the same event, and
// no hook concerns it.
func FuzzColdEvent(f *testing.F) {
	whole := coldTable(f)
	for _, whose := range []string{"claude", "cursor", "jcli", "copilot", "gemini"} {
		f.Add(whose, []byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/"}`))
		f.Add(whose, []byte(`{"hook_event_name":"beforeShellExecution","command":"ls","workspace_roots":["/a"]}`))
		f.Add(whose, []byte(`{"event":"pre_tool_execution","tool_name":"x","tool_arguments":"{\"a\":1}"}`))
		f.Add(whose, []byte(`{"hook_event_name":"AfterTool","tool_response":{"error":null},"tool_name":"mcp__a","x":[1e5,-0.1,"\u00e9",{"a":{}}]}`))
	}
	f.Fuzz(func(t *testing.T, whose string, input []byte) {
		opened, ok := table.Open(whole)
		require.True(t, ok)
		answer, ok := opened.Decide(&table.Asked{Dialect: whose, Input: input, Env: func(string) string { return "" }})
		if !ok {
			return
		}
		d, err := agent.Find(whose)
		require.NoError(t, err)
		call, err := d.Decode(input, "", func(string) string { return "" })
		require.NoError(t, err)
		require.Equal(t, []string{call.Agent(), call.Native()}, []string{string(answer.Agent), string(answer.Native)})
		if call.Event() != policy.PreToolExecution {
			return
		}
		in := call.Context.Frozen(call.Event())
		require.NotEqual(t, "Write", in.Text(policy.FieldToolName))
		require.NotRegexp(t, "^mcp__", in.Text(policy.FieldToolName))
		if in.Text(policy.FieldPermissionMode) == "plan" {
			require.NotRegexp(t, `^git push\b`, in.Text(policy.FieldCommand))
		}
	})
}
