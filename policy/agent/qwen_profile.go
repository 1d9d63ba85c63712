package agent

import "github.com/hookc/hookc/policy"

// qwenProfile is how Qwen Code runs the hooks of its settings: the project's
// before the user's, at once unless a group that matches is sequential
// (docs/dialects, qwen §4.2).
var qwenProfile = &Profile{
	Protocol: policy.QwenProtocol,
	Files: []ConfigFile{
		{Tier: policy.TierProject, Base: Project, Path: ".qwen/settings.json", Format: "qwen"},
		{Tier: policy.TierUser, Base: Home, Path: ".qwen/settings.json", Format: "qwen", Env: "QWEN_HOME", EnvPath: "settings.json"},
		{Tier: policy.TierExtension, Base: Home, Path: ".qwen/extensions/*/hooks/hooks.json", Format: "qwen", Env: "QWEN_HOME", EnvPath: "extensions/*/hooks/hooks.json"},
	},
	Tools: []string{"agent", "ask_user_question", "cron_create", "cron_delete", "cron_list", "edit", "exit_plan_mode", "glob", "grep_search",
		"list_directory", "lsp", "monitor", "read_file", "run_shell_command", "save_memory", "send_message", "skill", "structured_output",
		"task_stop", "todo_write", "tool_search", "web_fetch", "write_file"},
	Open: []string{"mcp__*"},
	Rules: func(faithful bool) policy.Profile {
		out := policy.Profile{Flat: true, Strategies: map[policy.Event]*policy.StrategySpec{}}
		for i := range qwenPoints {
			event := qwenPoints[i].event
			out.Strategies[event] = &policy.StrategySpec{
				Strategy: "qwen", Halt: policy.HaltNever, Fold: policy.FoldMax,
				Doc: "all run, at once unless a group that matches is sequential; " + qwenWord(event), Sink: qwenSink(event, faithful),
				Adjust: forkRow(qwenMay(&qwenPoints[i])),
			}
		}
		return out
	},
}

// qwenMay is what a hook of Qwen Code's own may bring about: more than a hook
// is let say as the last one, since at a result its word stands here.
func qwenMay(p *point) Power {
	switch p.event {
	case policy.PermissionRequest:
		return p.may | MayEnd
	case policy.PostToolExecution:
		return p.may | MayDeny
	}
	return p.may
}

// qwenWord says in a few words how answers combine at an event.
func qwenWord(e policy.Event) string {
	switch e {
	case policy.PreToolExecution:
		return "any block holds, of permissions the last"
	case policy.PermissionRequest:
		return "any deny holds"
	case policy.PreSendMessage, policy.StopEvent, policy.SubagentStop:
		return "any block holds"
	}
	return "contexts are joined"
}
