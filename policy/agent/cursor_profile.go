package agent

import "github.com/hookc/hookc/policy"

// cursorProfile is how Cursor runs its hooks: those of the machine before the
// project's and the user's. Whether they wait for each other its documents do
// not say; here all run at once and the most restrictive answer holds
// (docs/dialects, cursor §4.3).
var cursorProfile = &Profile{
	Protocol: policy.CursorProtocol,
	Files: []ConfigFile{
		{Tier: policy.TierManaged, Base: System, Path: "etc/cursor/hooks.json", Format: "cursor"},
		{Tier: policy.TierProject, Base: Project, Path: ".cursor/hooks.json", Format: "cursor"},
		{Tier: policy.TierUser, Base: Home, Path: ".cursor/hooks.json", Format: "cursor"},
	},
	Tools: []string{"Shell", "Read", "Write", "Edit", "Grep", "Delete", "Task", "Glob", "WebSearch"},
	Open:  []string{"MCP:*"},
	Rules: func(bool) policy.Profile {
		rows := map[policy.Event]func(*policy.EventSpec){
			policy.SessionStart: watches(true), policy.SessionEnd: watches(false),
			policy.PreSendMessage: func(s *policy.EventSpec) {
				obeys(policy.MayDeny, false)(s)
				s.Writes, s.Feedback = nil, false
			},
			policy.PreToolExecution: func(s *policy.EventSpec) {
				s.Powers, s.Context = policy.MayAllow|policy.MayAsk|policy.MayDeny, false
			},
			policy.PostToolExecution: func(s *policy.EventSpec) {
				s.Powers, s.Class, s.Context = 0, policy.Transform, true
			},
			policy.PostToolExecutionFailure: func(s *policy.EventSpec) {
				s.Powers, s.Writes = 0, nil
			},
			policy.PostLLMResponse: watches(false), policy.PreAutoCompact: watches(false),
			policy.StopEvent: obeys(policy.MayDeny, false), policy.SubagentStop: obeys(policy.MayDeny, false),
			policy.SubagentStart:    obeys(policy.MayAllow|policy.MayDeny, false),
			"ext.afterAgentThought": watches(false), "ext.workspaceOpen": watches(false),
		}
		rules := policy.Profile{Flat: true, MaxConcurrent: everyone, Strategies: map[policy.Event]*policy.StrategySpec{}}
		for event, adjust := range rows {
			rules.Strategies[event] = &policy.StrategySpec{
				Strategy: "cursor", Snapshot: true, Halt: policy.HaltNever,
				Fold: policy.FoldMax | policy.FoldReasons | policy.FoldLastPatch,
				Doc:  "all run on one snapshot, the most restrictive wins", Adjust: adjust,
			}
		}
		return rules
	},
}
