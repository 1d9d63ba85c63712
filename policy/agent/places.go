package agent

import "time"

type placed struct {
	id string
	Place
}

// claudeHandler is the form most agents took over from Claude Code.
var claudeHandler = Handler{Type: "command", Command: "command", Timeout: "timeout"}

// places are the agents whose settings hookc is written into, with the facts
// of the references (docs/dialects): files, units, matchers, switches.
var places = []placed{
	{"gemini", Place{
		Files: []PlaceFile{
			{Scope: ManagedScope, Path: "/etc/gemini-cli/system-defaults.json", ReadOnly: true},
			{Scope: UserScope, Path: ".gemini/settings.json", Env: "GEMINI_CLI_HOME"},
			{Scope: ProjectScope, Path: ".gemini/settings.json"},
			{Scope: ManagedScope, Path: "/etc/gemini-cli/settings.json"},
		},
		Handler: Handler{Type: "command", Command: "command", Timeout: "timeout", Name: "name"},
		Unit:    time.Millisecond, Standard: time.Minute,
		Matchers: searched,
		Switches: []Switch{{Path: "hooksConfig.enabled"}, {Path: "hooksConfig.disabled", Names: true}},
		Trust:    "Gemini CLI runs hooks of settings files only in a folder it trusts",
	}},
	{"claude", Place{
		Files: []PlaceFile{
			{Scope: UserScope, Path: ".claude/settings.json", Env: "CLAUDE_CONFIG_DIR", Dir: ".claude"},
			{Scope: ProjectScope, Path: ".claude/settings.json"},
			{Scope: LocalScope, Path: ".claude/settings.local.json", ReadOnly: true},
			{Scope: ManagedScope, Path: "/etc/claude-code/managed-settings.json"},
		},
		Handler: Handler{Type: "command", Command: "command", Timeout: "timeout", Closed: "onFailure", ClosedValue: "block"},
		Unit:    time.Second, Standard: 10 * time.Minute,
		Matchers: listed("-_ ,|", "|,"),
		Switches: []Switch{{Path: "disableAllHooks", Off: true}, {Path: "allowManagedHooksOnly", Off: true, SparesManaged: true}},
		Trust:    "Claude Code runs hooks of settings files only in a workspace that was accepted",
	}},
	{"clawdcode", Place{
		Files: []PlaceFile{
			{Scope: UserScope, Path: ".clawdcode/config.json", ReadOnly: true},
			{Scope: UserScope, Path: ".clawdcode/settings.json"},
			{Scope: ProjectScope, Path: ".clawdcode/config.json", ReadOnly: true},
			{Scope: ProjectScope, Path: ".clawdcode/settings.json"},
			{Scope: LocalScope, Path: ".clawdcode/settings.local.json", ReadOnly: true},
		},
		Handler: claudeHandler,
		Unit:    time.Second, Standard: time.Minute,
		Matchers: underTools,
		Switches: []Switch{{Path: "hooks.enabled"}},
		Replaces: true,
	}},
	{"aiagents", Place{
		Files: []PlaceFile{
			{Scope: UserScope, Path: ".ai_agents/settings.json"},
			{Scope: ProjectScope, Path: ".ai_agents/settings.json"},
			{Scope: LocalScope, Path: ".ai_agents/settings.local.json", ReadOnly: true},
		},
		Handler: claudeHandler,
		Unit:    time.Second, Standard: time.Minute,
		Matchers: listed("-_|", "|"),
	}},
	{"qwen", Place{
		Files: []PlaceFile{
			{Scope: UserScope, Path: ".qwen/settings.json", Env: "QWEN_HOME", Dir: ".qwen"},
			{Scope: ProjectScope, Path: ".qwen/settings.json"},
		},
		Handler: Handler{Type: "command", Command: "command", Timeout: "timeout", Name: "name"},
		Unit:    time.Millisecond, Standard: time.Minute,
		Matchers: searched,
		Switches: []Switch{{Path: "disableAllHooks", Off: true}, {Path: "hooksConfig.enabled"}, {Path: "hooksConfig.disabled", Names: true}},
		Trust:    "Qwen Code runs hooks of settings files only in a folder it trusts",
	}},
	{"codex", Place{
		Files: []PlaceFile{
			{Scope: UserScope, Path: ".codex/hooks.json", Env: "CODEX_HOME", Dir: ".codex"},
			{Scope: UserScope, Layout: GroupTables, Path: ".codex/config.toml", Env: "CODEX_HOME", Dir: ".codex", Instead: true},
			{Scope: ProjectScope, Path: ".codex/hooks.json"},
			{Scope: ProjectScope, Layout: GroupTables, Path: ".codex/config.toml", Instead: true},
		},
		Handler: claudeHandler,
		Unit:    time.Second, Standard: 10 * time.Minute,
		Matchers: listed("_|", "|"),
		Switches: []Switch{{Path: "features.hooks"}},
		Trust:    "Codex skips a hook in silence until its definition is trusted: start codex and accept it under /hooks",
		Trusted:  "hooks.state",
	}},
	{"cursor", Place{
		Files: []PlaceFile{
			{Scope: UserScope, Layout: Flat, Path: ".cursor/hooks.json"},
			{Scope: ProjectScope, Layout: Flat, Path: ".cursor/hooks.json"},
			{Scope: ManagedScope, Layout: Flat, Path: "/etc/cursor/hooks.json"},
		},
		Handler: Handler{Command: "command", Timeout: "timeout", Closed: "failClosed", ClosedValue: true, Version: true},
		Unit:    time.Second, Standard: time.Minute,
		// preToolUse and the event of the tool's kind both fire; what a matcher
		// looks at differs by event, so none is written.
		Covered: []string{"beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "afterShellExecution", "afterMCPExecution", "afterFileEdit"},
		Trust:   "Cursor runs a project's hooks only in a trusted workspace",
	}},
	{"kimi", Place{
		Files:   []PlaceFile{{Scope: UserScope, Layout: FlatTables, Path: ".kimi/config.toml"}},
		Handler: Handler{Command: "command", Timeout: "timeout"},
		Unit:    time.Second, Most: 10 * time.Minute, Standard: 30 * time.Second,
		Matchers: searched,
	}},
	{"copilot", Place{
		Files: []PlaceFile{
			{Scope: UserScope, Layout: Flat, Path: ".copilot/hooks/*.json", Own: "hookc.json"},
			{Scope: ProjectScope, Layout: Flat, Path: ".github/hooks/*.json", Own: "hookc.json"},
			{Scope: ManagedScope, Layout: Flat, Path: "/etc/github-copilot/policy.d/*.json", Own: "hookc.json"},
		},
		Handler: Handler{Type: "command", Command: "bash", Timeout: "timeoutSec", Version: true},
		Unit:    time.Second, Standard: 30 * time.Second,
		Matchers: wrapped,
		// VS Code's names of the same events.
		Covered: []string{"SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure",
			"Stop", "SubagentStart", "SubagentStop", "ErrorOccurred", "PreCompact", "Notification"},
		Switches: []Switch{{Path: "disableAllHooks", Off: true}},
	}},
	{"jcli", Place{
		Files: []PlaceFile{
			{Scope: UserScope, Layout: EventLists, Path: ".jdata/agent/hooks.yaml"},
			{Scope: ProjectScope, Layout: EventLists, Path: ".jcli/hooks.yaml"},
		},
		Handler: Handler{Type: "bash", Command: "command", Timeout: "timeout"},
		Unit:    time.Second, Standard: 10 * time.Second,
		Matchers: exactList,
	}},
	{"agenthooks", Place{
		Files: []PlaceFile{
			{Scope: UserScope, Layout: Folders, Path: ".config/agents/hooks", Env: "XDG_CONFIG_HOME", Dir: ".config"},
			{Scope: ProjectScope, Layout: Folders, Path: ".agents/hooks"},
		},
		Unit: time.Millisecond, Most: 10 * time.Minute, Standard: 30 * time.Second,
		Matchers: searched,
	}},
}
