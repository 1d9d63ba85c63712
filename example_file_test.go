package hookc_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
)

// TestExampleDoesWhatItSays: hooks.example.yaml decides each event as its comments
// say, and says nothing else.
func TestExampleDoesWhatItSays(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("OPENAI_BASE_URL", "")
	t.Setenv("ANTHROPIC_API_KEY", "")
	eng, err := hookc.Open(t.Context(), hookc.Files("hooks.example.yaml"), hookc.SkipVerify())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, eng.Close()) })
	dir := t.TempDir()
	tool := func(name, input string) string { return fmt.Sprintf(`"tool_name":%q,"tool_input":{%s}`, name, input) }
	sh := func(command string) string { return tool("Bash", fmt.Sprintf(`"command":%q`, command)) }
	file := func(name, path, more string) string {
		return tool(name, fmt.Sprintf(`"file_path":%q,"content":%q`, path, more))
	}
	long, err := json.Marshal(slices.Repeat([]int{1}, 5001))
	require.NoError(t, err)
	for _, c := range []struct{ event, fields, by, want string }{
		{"session_start", `"source":"startup"`, "", `{"inject_messages":[{"content":"hi","role":"user"}]}`},
		{"session_start", `"source":"compact"`, "", `{}`},
		{"pre_send_message", `"user_input":"hello"`, "", `{"inject_messages":[{"content":"The project is ` + dir + `","role":"user"}]}`},
		{"pre_send_message", `"messages":[1],"user_input":"sk-ABCDEFGHIJKLMNOPQRSTUVWX"`, "secrets", `{"action":"block","reasons":["the message holds an API key"]}`},
		{"pre_llm_request", `"model":"gpt-4o"`, "", `{"additional_context":["Follow the house rules of ` + dir + `.","Answer in short sentences."],"patch":{"request_config":{"temperature":0,"top_p":0.5}},"system_messages":["the house rules hold"]}`},
		{"pre_llm_request", `"model":"gpt-4o","permission_mode":"plan"`, "", `{"additional_context":["Follow the house rules of ` + dir + `."],"patch":{"request_config":{"temperature":0}}}`},
		{"pre_llm_request", `"messages":[]`, "", `{"feedback":["name a model"]}`},
		{"pre_llm_request", `"model":"x","messages":` + string(long), "enough", `{"action":"end_turn","reasons":["the conversation is too long"],"system_messages":["start a new session"]}`},
		{"pre_tool_execution", file("Write", "/etc/passwd", "x"), "path-jail", `{"action":"block","reasons":["path is outside the project"]}`},
		{"pre_tool_execution", sh("rm -rf /"), "guard-shell", `{"action":"block","reasons":["recursive delete of a root path"]}`},
		{"pre_tool_execution", sh("git push origin main"), "guard-shell", `{"action":"ask","reasons":["pushes to main"]}`},
		{"pre_tool_execution", file("Read", dir+"/.env", ""), "dotenv#1", `{"action":"block","reasons":["dotenv files are off limits"]}`},
		{"pre_tool_execution", file("Read", "/etc/hosts", ""), "dotenv#2", `{"action":"ask","reasons":["reads system configuration"]}`},
		{"pre_tool_execution", sh("ls"), "dotenv#3", `{"reasons":["only looks"]}`},
		{"pre_tool_execution", sh("sleep 1000"), "dotenv#4", `{"action":"block","reasons":["nobody waits that long"]}`},
		{"pre_tool_execution", sh("sleep 9"), "", `{"patch":{"tool_input":{"command":"true"}}}`},
		{"pre_tool_execution", sh("npm install"), "", `{"patch":{"tool_input":{"command":"pnpm install"}}}`},
		{"pre_tool_execution", tool("mcp__github__delete_repo", ""), "mcp-servers", `{"action":"block"}`},
		{"pre_tool_execution", tool("mcp__github__get", ""), "mcp-servers", `{}`},
		{"pre_tool_execution", tool("mcp__slack__post", ""), "servers", `{"action":"ask"}`},
		{"pre_tool_execution", sh("kubectl apply -f x"), "deploys", `{"action":"defer","reasons":["a person approves deployments"]}`},
		{"pre_tool_execution", `"permission_mode":"default",` + file("Write", dir+"/a", "-----BEGIN RSA PRIVATE KEY-----"), "secret-scan", `{"action":"block","reasons":["a private key"]}`},
		{"pre_tool_execution", file("Write", dir+"/a", "ghp_0123456789012345678901234567890abcdE"), "keys", `{"action":"block"}`},
		{"pre_tool_execution", sh("git push --force origin x"), "shell", `{"action":"block"}`},
		{"pre_tool_execution", sh("cat sub/.env"), "files", `{"action":"block"}`},
		{"pre_tool_execution", sh("curl x | sh"), "llm-review", `{"action":"ask"}`},
		{"permission_request", file("Read", dir+"/a", ""), "reads-are-fine", `{"reasons":["reading is allowed"]}`},
		{"post_tool_execution", sh("x") + `,"tool_result":"sk-ABCDEFGHIJKLMNOPQRSTUVWX"`, "", `{"patch":{"tool_result":"***"}}`},
		{"stop", `"assistant_output":"done"`, "", `{}`},
		{"stop", `"assistant_output":"a TODO"`, "finished", `{"action":"keep_working","feedback":["do what the TODO says"]}`},
		{"stop", `"assistant_output":""`, "rego-result", `{"action":"keep_working","reasons":["say what was done"]}`},
		{"stop", `"assistant_output":"the tests fail"`, "tests-pass", `{"action":"keep_working","reasons":["the tests fail"]}`},
		{"subagent_start", `"agent_type":"Explore"`, "", `{"system_messages":["a scout sets out"]}`},
		{"subagent_start", `"agent_type":"Other"`, "", `{}`},
		{"pre_auto_compact", `"trigger":"manual"`, "", `{"system_messages":["compacting"]}`},
		{"pre_auto_compact", `"trigger":"auto"`, "", `{}`},
		{"pre_micro_compact", `"messages":[]`, "keep-short", `{"action":"abort","reasons":["nothing to compact"]}`},
		{"post_auto_compact", `"messages":[]`, "", `{}`}, {"session_end", `"reason":"exit"`, "", `{}`},
		{"notify", `"notification_type":"permission_prompt"`, "", `{}`}, {"ext.Deploy", `"x":1`, "", `{}`},
	} {
		event := fmt.Sprintf(`{"cwd":%q,"project_root":%q,%s}`, dir, dir, c.fields)
		d, err := eng.FireJSON(t.Context(), policy.Event(c.event), []byte(event))
		require.NoError(t, err, c.fields)
		text, err := d.MarshalJSON()
		require.NoError(t, err)
		var got, want map[string]any
		require.NoError(t, json.Unmarshal(text, &got))
		require.NoError(t, json.Unmarshal([]byte(c.want), &want))
		if want["action"] == nil {
			want["action"] = "proceed"
		}
		for _, key := range []string{"action", "additional_context", "feedback", "inject_messages", "patch", "system_messages"} {
			assert.Equal(t, want[key], got[key], "%s of %s {%.200s}", key, c.event, c.fields)
		}
		if want["reasons"] != nil {
			assert.Equal(t, want["reasons"], got["reasons"], c.fields)
		}
		assert.Equal(t, c.by, d.By, "%s {%.200s}", c.event, c.fields)
		for _, f := range d.Failed {
			assert.Equal(t, "llm-review", f.Hook, "%s {%.200s}: %s", c.event, c.fields, f.Error)
		}
	}
}
