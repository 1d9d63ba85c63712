package faults

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An llm hook that names no model asks one with nothing set but an address: the
// example of seed 0, as it is written. HOOKC_MODEL comes before the event's model,
// and that before the provider's own.
func TestModelThatNobodyNames(t *testing.T) {
	example, err := os.ReadFile(filepath.Join("..", "testdata", "seeds", "seed0-example5.yaml"))
	require.NoError(t, err)
	for _, p := range faultProviders {
		for _, row := range []struct{ env, event, want string }{
			{"", "", map[string]string{"openai": "gpt-4o-mini", "anthropic": "claude-haiku-4-5"}[p.name]},
			{"", `"model": "the-events", `, "the-events"},
			{"HOOKC_MODEL=mine", `"model": "the-events", `, "mine"},
		} {
			asked := make(chan string, 2)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct{ Model string }
				text, _ := io.ReadAll(r.Body)
				assert.NoError(t, json.Unmarshal(text, &body))
				asked <- body.Model
				answers(200, p.says(`{"action": "skip"}`))(w, r)
			}))
			dir := t.TempDir()
			file := filepath.Join(dir, "hooks.yaml")
			require.NoError(t, os.WriteFile(file, example, 0o644))
			env := []string{p.address + "=" + server.URL}
			if row.env != "" {
				env = append(env, row.env)
			}
			cmd := hookcCommand(t, dir, env, "run", "pre_tool_execution", "-f", file, "--json")
			cmd.Stdin = bytes.NewReader([]byte(`{` + row.event + `"tool_name": "Bash", "tool_input": {"command": "ls"}}`))
			var stdout bytes.Buffer
			cmd.Stdout = &stdout
			_ = cmd.Run() // the exit status says it
			assert.Equal(t, 2, cmd.ProcessState.ExitCode(), "%s", stdout.String())
			require.Len(t, asked, 1, "%s %q", p.name, row)
			assert.Equal(t, row.want, <-asked, "%s %q", p.name, row)
			server.Close()
		}
	}
}
