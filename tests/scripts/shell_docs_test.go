package scripts

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/policy"
)

var shellExample = regexp.MustCompile("(?s)<!-- example ([^>]*) -->\n```rego\n(.*?)```\n```expr\n(.*?)```\n```\n(.*?)```")

// TestShellExamples: each example of docs/reference/shell.md decides the same commands
// in Rego and in expr, as the page says, in the engine and in the definition.
func TestShellExamples(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/shell.md")
	require.NoError(t, err)
	examples := shellExample.FindAllStringSubmatch(string(page), -1)
	require.Len(t, examples, strings.Count(string(page), "<!-- example "))
	require.GreaterOrEqual(t, len(examples), 5)
	for _, ex := range examples {
		t.Run(ex[1], func(t *testing.T) {
			hooks := []map[string]any{
				{"name": "rego", "type": "rego", "source": "package hooks.example\n" + ex[2]},
				{"name": "expr", "deny": strings.TrimSpace(ex[3]), "reason": "no"},
			}
			for _, hook := range hooks {
				body, err := json.Marshal(map[string]any{"pre_tool_execution": []any{hook}})
				require.NoError(t, err)
				eng, err := hookc.Open(t.Context(), hookc.Text("hooks.json", string(body)), hookc.SkipVerify())
				require.NoError(t, err)
				defer eng.Close()
				for line := range strings.SplitSeq(strings.TrimSpace(ex[4]), "\n") {
					command, denied := strings.CutPrefix(line, "# ")
					in := policy.NewContext("").
						Set(policy.FieldToolName, "Bash").
						Set(policy.FieldCwd, "/repo").
						Set(policy.FieldProjectRoot, "/repo").
						Set(policy.FieldToolInput, map[string]any{"command": command})
					d, err := eng.Fire(t.Context(), hookc.PreToolExecution, in)
					require.NoError(t, err)
					serial, err := eng.FireSerial(t.Context(), hookc.PreToolExecution, in)
					require.NoError(t, err)
					assert.Equal(t, !denied, d.Permits(), "%s: %q", hook["name"], command)
					assert.Equal(t, !denied, serial.Permits(), "%s: %q, serially", hook["name"], command)
					assert.Empty(t, d.Failed, "%s: %q", hook["name"], command)
				}
			}
		})
	}
}

// TestShellPageIsComplete: every name that `shell` shows is in the page.
func TestShellPageIsComplete(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/shell.md")
	require.NoError(t, err)
	shell := shell.Parse("sudo A=1 rm -rf /etc > x", shell.At{Cwd: "/repo", Root: "/repo"}).JSON()
	names := func(value any) {
		for _, element := range value.([]any) {
			for name := range element.(map[string]any) {
				assert.True(t, strings.Contains(string(page), "`"+name+"`"), name)
			}
		}
	}
	names(shell["commands"])
	names(shell["effects"])
	for name := range shell {
		assert.True(t, strings.Contains(string(page), "\""+name+"\""), name)
	}
}
