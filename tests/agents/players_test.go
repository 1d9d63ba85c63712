package agents_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// closedDoor is where whatever is not on loopback is sent to.
var closedDoor = []string{"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost"}

// gemini is Gemini CLI.
var gemini = &realAgent{
	id: "gemini", scope: "project", rewrites: true, demands: 1,
	write: func(_, file, text string) turn {
		return turn{tool: "write_file", args: map[string]any{"file_path": file, "content": text}}
	},
	shell: func(command string) turn {
		return turn{tool: "run_shell_command", args: map[string]any{"command": command}}
	},
	start: func(t *testing.T, s *session) []string {
		settings := map[string]any{
			"general":     map[string]any{"enableAutoUpdate": false},
			"telemetry":   map[string]any{"enabled": false},
			"privacy":     map[string]any{"usageStatisticsEnabled": false},
			"security":    map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}, "folderTrust": map[string]any{"enabled": false}},
			"ide":         map[string]any{"enabled": false, "hasSeenNudge": true},
			"hooksConfig": map[string]any{"enabled": true},
			"mcpServers":  desk(t),
			"hooks":       s.groups(1000, "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent"),
		}
		put(t, filepath.Join(s.project, ".gemini", "settings.json"), jsonText(settings))
		if s.start != s.project { // where it finds no settings of the project
			put(t, filepath.Join(s.home, ".gemini", "settings.json"), jsonText(settings))
		}
		return []string{
			node(t), installed(t, "@google", "gemini-cli", "bundle", "gemini.js"),
			"--approval-mode=yolo", "-m", "gemini-2.5-flash", "-p", s.prompt,
		}
	},
	env: func(s *session) []string {
		return append([]string{
			"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + s.model.url, "GEMINI_CLI_HOME=" + s.home,
			"GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_CLI_NO_RELAUNCH=true",
		}, closedDoor...)
	},
}

// codex is OpenAI Codex.
var codex = &realAgent{
	id: "codex", scope: "user", rewrites: true, demands: 1,
	write: func(_, file, text string) turn {
		return turn{tool: "apply_patch", input: "*** Begin Patch\n*** Add File: " + file + "\n+" + text + "\n*** End Patch\n"}
	},
	shell: func(command string) turn {
		return turn{tool: "exec_command", args: map[string]any{"cmd": command}}
	},
	start: func(t *testing.T, s *session) []string {
		put(t, filepath.Join(s.home, "config.toml"), `model = "gpt-5.5"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.fake]
name = "fake"
base_url = "`+s.model.url+`/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
[analytics]
enabled = false
[otel]
exporter = "none"
[mcp_servers.desk]
command = "`+node(t)+`"
args = ["`+deskScript(t)+`"]
`)
		put(t, filepath.Join(s.home, "hooks.json"), jsonText(map[string]any{
			"hooks": s.groups(1, "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"),
		}))
		return []string{
			node(t), installed(t, "@openai", "codex", "bin", "codex.js"), "exec", "--dangerously-bypass-hook-trust",
			"--skip-git-repo-check", "--ephemeral", s.prompt,
		}
	},
	env: func(s *session) []string {
		return append([]string{"CODEX_HOME=" + s.home, "FAKE_KEY=none"}, closedDoor...)
	},
}

// qwen is Qwen Code.
var qwen = &realAgent{
	id: "qwen", scope: "project", demands: 1,
	write: func(dir, file, text string) turn {
		return turn{tool: "write_file", args: map[string]any{"file_path": filepath.Join(dir, file), "content": text}}
	},
	shell: func(command string) turn {
		return turn{tool: "run_shell_command", args: map[string]any{"command": command, "is_background": false}}
	},
	start: func(t *testing.T, s *session) []string {
		settings := map[string]any{
			"general":    map[string]any{"enableAutoUpdate": false},
			"telemetry":  map[string]any{"enabled": false},
			"privacy":    map[string]any{"usageStatisticsEnabled": false},
			"security":   map[string]any{"auth": map[string]any{"selectedType": "openai"}, "folderTrust": map[string]any{"enabled": false}},
			"mcpServers": desk(t),
			"hooks":      s.groups(1000, "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"),
		}
		put(t, filepath.Join(s.project, ".qwen", "settings.json"), jsonText(settings))
		return []string{
			node(t), installed(t, "@qwen-code", "qwen-code", "cli.js"),
			"--auth-type", "openai", "-m", "fake-model", "--approval-mode", "yolo", "-p", s.prompt,
		}
	},
	env: func(s *session) []string {
		return []string{
			"QWEN_HOME=" + filepath.Join(s.home, ".qwen"), "OPENAI_API_KEY=none", "OPENAI_BASE_URL=" + s.model.url + "/v1",
			"OPENAI_MODEL=fake-model", "QWEN_CODE_NO_RELAUNCH=1",
		}
	},
}

// claude is Claude Code.
var claude = &realAgent{
	id: "claude", scope: "project", rewrites: true, demands: 2,
	write: func(dir, file, text string) turn {
		return turn{tool: "Write", args: map[string]any{"file_path": filepath.Join(dir, file), "content": text}}
	},
	shell: func(command string) turn {
		return turn{tool: "Bash", args: map[string]any{"command": command, "description": "as asked"}}
	},
	start: func(t *testing.T, s *session) []string {
		settings := map[string]any{
			"hooks": s.groups(1, "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"),
		}
		if at := filepath.Join(".claude", "settings.json"); !s.bare || s.file(t, at) == "" {
			put(t, filepath.Join(s.project, at), jsonText(settings))
		}
		put(t, filepath.Join(s.home, "mcp.json"), jsonText(map[string]any{"mcpServers": desk(t)}))
		if s.recorder != "" {
			put(t, filepath.Join(s.project, "CLAUDE.md"), "be brief\n")
			put(t, filepath.Join(s.project, ".claude", "commands", "greet.md"), "say hello to $ARGUMENTS\n")
		}
		return []string{claudeProgram(t), "-p", s.prompt, "--model", "claude-opus-5-5",
			"--allowedTools", "Bash,Read,Write,Glob,Grep,Agent,Skill,mcp__desk__look_up", "--mcp-config", filepath.Join(s.home, "mcp.json")}
	},
	env: func(s *session) []string {
		return append([]string{
			"ANTHROPIC_BASE_URL=" + s.model.url, "ANTHROPIC_API_KEY=none", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_ERROR_REPORTING=1",
		}, closedDoor...)
	},
}

// claudeProgram is Claude Code's program. The registry keeps one a platform.
func claudeProgram(t *testing.T) string {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	return installed(t, "@anthropic-ai", "claude-code-"+runtime.GOOS+"-"+arch, "claude")
}

// desk is the configuration of the MCP server in testdata.
func desk(t *testing.T) map[string]any {
	return map[string]any{"desk": map[string]any{"command": node(t), "args": []string{deskScript(t)}}}
}

func deskScript(t *testing.T) string {
	path, err := filepath.Abs(filepath.Join("testdata", "desk.mjs"))
	require.NoError(t, err)
	return path
}
