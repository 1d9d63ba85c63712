package agent

import "github.com/hookc/hookc/policy"

// copilotProfile is how Copilot CLI runs its hooks: one after another in the
// order of the files, each on what those before it changed, until one denies
// (docs/dialects, copilot §4.4).
var copilotProfile = &Profile{
	Protocol: policy.CopilotProtocol,
	Files: []ConfigFile{
		{Tier: policy.TierManaged, Base: System, Path: "etc/github-copilot/policy.d/*.json", Format: "copilot"},
		{Tier: policy.TierUser, Base: Home, Path: ".copilot/hooks/*.json", Format: "copilot"},
		{Tier: policy.TierUser, Base: Home, Path: ".copilot/settings.json", Format: "copilot"},
		{Tier: policy.TierProject, Base: Project, Path: ".github/hooks/*.json", Format: "copilot"},
	},
	Tools: []string{"bash", "powershell", "view", "create", "edit", "grep", "glob", "web_fetch", "task", "report_intent", "ask_user", "update_todo",
		"read_bash", "write_bash", "stop_bash", "Bash", "Read", "Write", "Edit", "Grep", "Glob", "WebFetch", "Task"},
	Open: []string{"*-*", "mcp__*"},
	Rules: func(bool) policy.Profile {
		rows := map[policy.Event]func(*policy.EventSpec){
			policy.SessionStart: watches(false), policy.SessionEnd: watches(false), policy.PreSendMessage: watches(false),
			policy.PostSendMessage: watches(false), policy.PostToolExecutionFailure: watches(false),
			policy.SubagentStart: watches(false), policy.SubagentStop: watches(false), policy.StopFailure: watches(false),
			policy.PreAutoCompact: watches(false), policy.Notify: watches(false),
			policy.PreToolExecution: func(s *policy.EventSpec) {
				s.Powers, s.Context = policy.MayAllow|policy.MayAsk|policy.MayDeny, false
			},
			policy.PermissionRequest: func(s *policy.EventSpec) { s.Writes = nil },
			policy.PostToolExecution: func(s *policy.EventSpec) { s.Powers = 0 },
			policy.StopEvent:         obeys(policy.MayDeny, false),
		}
		rules := policy.Profile{Flat: true, Strategies: map[policy.Event]*policy.StrategySpec{}}
		for event, adjust := range rows {
			rules.Strategies[event] = &policy.StrategySpec{
				Strategy: "copilot", Halt: policy.HaltDeny, Fold: policy.FoldMax | policy.FoldReasons,
				Doc: "one after another until one denies", Adjust: adjust,
			}
		}
		return rules
	},
}
