package agent

import "github.com/hookc/hookc/policy"

// codexProfile is how Codex runs its hooks: all at once, none stopping
// another, a block before a rewrite, the first blocker giving the reason. Of
// rewrites the one that finishes last holds there, the last in the files here
// (docs/dialects, codex §4.1).
var codexProfile = &Profile{
	Protocol: policy.CodexProtocol,
	Files: []ConfigFile{
		{Tier: policy.TierManaged, Base: System, Path: "etc/codex/hooks.json", Format: "codex"},
		{Tier: policy.TierManaged, Base: System, Path: "etc/codex/config.toml", Format: "codex"},
		{Tier: policy.TierUser, Base: Home, Path: ".codex/hooks.json", Format: "codex", Env: "CODEX_HOME", EnvPath: "hooks.json"},
		{Tier: policy.TierUser, Base: Home, Path: ".codex/config.toml", Format: "codex", Env: "CODEX_HOME", EnvPath: "config.toml"},
		{Tier: policy.TierProject, Base: Project, Path: ".codex/hooks.json", Format: "codex"},
		{Tier: policy.TierProject, Base: Project, Path: ".codex/config.toml", Format: "codex"},
	},
	// A shell command is Bash, whatever the model calls it; patches that are
	// not made through it are apply_patch, which Edit and Write match too.
	Tools: []string{"Bash", "apply_patch", "Edit", "Write", "update_plan", "view_image", "web_search", "write_stdin", "spawn_agent", "send_input", "wait_agent", "close_agent"},
	Open:  []string{"mcp__*"},
	Rules: func(bool) policy.Profile {
		rows := map[policy.Event]func(*policy.EventSpec){
			policy.SessionStart: func(s *policy.EventSpec) {
				watches(true)(s)
				s.Powers = policy.MayHalt
			},
			policy.SessionEnd: watches(false), policy.SubagentStart: watches(true), policy.PostAutoCompact: watches(false),
			policy.PreSendMessage: func(s *policy.EventSpec) {
				obeys(claudeMayDeny, true)(s)
				s.Writes, s.Feedback = nil, false
			},
			// Codex passes over a question and a stop; without --faithful they hold.
			policy.PreToolExecution: func(s *policy.EventSpec) {
				s.Powers = policy.MayAsk | claudeMayDeny
			},
			policy.PermissionRequest: func(s *policy.EventSpec) { s.Writes = nil },
			policy.PostToolExecution: func(s *policy.EventSpec) {
				obeys(policy.MayDeny, true)(s)
				s.Writes = nil
			},
			policy.StopEvent: obeys(claudeMayDeny, false), policy.SubagentStop: obeys(claudeMayDeny, false),
			policy.PreAutoCompact: obeys(policy.MayDeny, false),
			"ext.Interrupt":       watches(false),
		}
		rules := policy.Profile{Flat: true, MaxConcurrent: everyone, Strategies: map[policy.Event]*policy.StrategySpec{}}
		for event, adjust := range rows {
			rules.Strategies[event] = &policy.StrategySpec{
				Strategy: "codex", Snapshot: true, Halt: policy.HaltNever,
				Fold: policy.FoldMax | policy.FoldReasons | policy.FoldLastPatch,
				Doc:  "all run on one snapshot, any block wins", Adjust: adjust, Sink: firstRefusal,
			}
		}
		return rules
	},
}

// firstRefusal: the first hook that refuses gives the reasons, and what is
// refused is not rewritten.
func firstRefusal(_ *policy.Context, r policy.Result) policy.Result {
	if r.Verdict != policy.Deny {
		return r
	}
	r.Patch = policy.Patch{}
	var own []policy.Reason
	for _, reason := range r.Reasons {
		if reason.Hook == r.VerdictBy.Name {
			own = append(own, reason)
		}
	}
	if len(own) > 0 {
		r.Reasons = own
	}
	return r
}
