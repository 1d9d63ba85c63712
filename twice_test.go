package hookc_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
)

// TestCallsThatSayTwoThings: what a call says twice, under names of the same thing, hides nothing
// from rules: commands and contents are a line each, and a call of two files or addresses is
// refused where a hook looks at them, as is a name that is there twice.
func TestCallsThatSayTwoThings(t *testing.T) {
	rules := engine(t, `
pre_tool_execution:
  - {name: shell, deny: '(command ?? "") contains "rm -rf" or (content ?? "") contains "EVIL"', reason: "no"}
  - {name: path, deny: '(path ?? "") endsWith ".env" or (url ?? "") startsWith "https://evil"', reason: "no"}
  - name: program
    type: rego
    source: |
      package x
      deny contains "no" if {
        some c in input.shell.commands
        c.name == "shred"
      }
`)
	filters := engine(t, `
pre_tool_execution:
  - {name: shell, filter: {command: "rm -rf"}, deny: "true", reason: "no"}
  - {name: path, filter: {path: "**/.env"}, deny: "true", reason: "no"}
`)
	guards := engine(t, "pre_tool_execution: [{name: shell, type: builtin, use: shell-guard}, {name: files, type: builtin, use: path-guard, hide: [\"**/.env\"]}]")
	for _, c := range []struct {
		text string
		by   []*hookc.Engine
	}{
		{`{"tool_name":"Bash","tool_input":{"command":"ls","cmd":"rm -rf /"}}`, []*hookc.Engine{rules, filters, guards}},
		{`{"tool_name":"Bash","tool_input":{"command":"ls","Command":"rm -rf /"}}`, []*hookc.Engine{rules, filters, guards}},
		{`{"tool_name":"Bash","tool_input":{"command":"echo '","x":[{"script":"rm -rf /"}]}}`, []*hookc.Engine{rules, filters, guards}},
		{`{"tool_name":"Bash","tool_input":{"command":"ls","command":"rm -rf /"}}`, []*hookc.Engine{rules, filters, guards}},
		{`{"tool_name":"Bash","tool_input":{"command":"ls","comm\u0061nd":"rm -rf /"}}`, []*hookc.Engine{rules, filters, guards}},
		{`{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_input":{"command":"rm -rf /"}}`, []*hookc.Engine{rules, filters, guards}},
		{`{"tool_name":"Bash","tool_input":{"command":"cat <<E","cmd":"shred x"}}`, []*hookc.Engine{rules}},
		{`{"tool_name":"Read","tool_input":{"file_path":"a","path":"b/.env"}}`, []*hookc.Engine{rules, filters, guards}},
		{`{"tool_name":"Read","tool_input":{"file_path":"a","PATH":"b/.env"}}`, []*hookc.Engine{rules, filters, guards}},
		{`{"tool_name":"WebFetch","tool_input":{"url":"https://a","uri":"https://evil"}}`, []*hookc.Engine{rules}},
		{`{"tool_name":"Write","tool_input":{"file_path":"a","content":"x","text":"EVIL"}}`, []*hookc.Engine{rules}},
		{`{"tool_name":"Edit","tool_input":{"file_path":"a","new_string":"x","edits":[{"new_string":"y","content":"EVIL"}]}}`, []*hookc.Engine{rules}},
	} {
		for i, eng := range c.by {
			d, err := eng.FireJSON(t.Context(), hookc.PreToolExecution, []byte(c.text))
			assert.Equal(t, policy.Block, d.Action, "%d %s %v", i, c.text, err)
			in, _, err := policy.DecodeContext([]byte(c.text))
			if err != nil {
				continue // which the host is told before
			}
			for _, fire := range []func() (*policy.Decision, error){
				func() (*policy.Decision, error) { return eng.Fire(t.Context(), hookc.PreToolExecution, in) },
				func() (*policy.Decision, error) { return eng.FireSerial(t.Context(), hookc.PreToolExecution, in) },
				func() (*policy.Decision, error) {
					return eng.FireInto(t.Context(), hookc.PreToolExecution, in, new(hookc.Reused))
				},
			} {
				d, _ := fire()
				assert.Equal(t, policy.Block, d.Action, "%d %s", i, c.text)
			}
		}
	}
	for _, text := range []string{
		`{"tool_name":"Bash","tool_input":{"command":"ls","cmd":"ls -la","description":"rm -rf /"}}`,
		`{"tool_name":"Read","tool_input":{"file_path":"a","path":"a","file":""}}`,
		`{"tool_name":"mcp__a__b","tool_input":{"directory":"a","filename":"b"}}`,
	} {
		for i, eng := range []*hookc.Engine{rules, filters, guards} {
			d, err := eng.FireJSON(t.Context(), hookc.PreToolExecution, []byte(text))
			require.NoError(t, err, text)
			assert.Equal(t, policy.Proceed, d.Action, "%d %s", i, text)
		}
	}
	commands := engine(t, `pre_tool_execution: [{name: shell, deny: 'command contains "rm"', reason: "no"}]`)
	_, err := commands.FireJSON(t.Context(), hookc.PreToolExecution, []byte(`{"tool_name":"Read","tool_input":{"file_path":"a","path":"b"}}`))
	require.NoError(t, err, "nobody looks at the file")
}
