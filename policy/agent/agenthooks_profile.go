package agent

import "github.com/hookc/hookc/policy"

// agentHooksProfile is how HOOK.md folders run: one after another by priority
// over both tiers, until the first block; async ones after the others
// (docs/dialects, agenthooks §2.4, §2.6, §2.9).
var agentHooksProfile = &Profile{
	Protocol: policy.AgentHooksProtocol,
	Files: []ConfigFile{
		{Tier: policy.TierUser, Base: Home, Path: ".config/agents/hooks", Env: "XDG_CONFIG_HOME", EnvPath: "agents/hooks", Format: "hookmd"},
		{Tier: policy.TierUser, Base: Home, Path: ".config/agents/hooks.toml", Env: "XDG_CONFIG_HOME", EnvPath: "agents/hooks.toml", Format: "hookstoml"},
		{Tier: policy.TierProject, Base: Project, Path: ".agents/hooks", Format: "hookmd"},
		{Tier: policy.TierProject, Base: Project, Path: ".agents/hooks.toml", Format: "hookstoml"},
	},
	Rules: func(bool) policy.Profile {
		out := policy.Profile{Flat: true, Strategies: map[policy.Event]*policy.StrategySpec{}}
		for event, powers := range agentHooksPowers {
			out.Strategies[event] = &policy.StrategySpec{Strategy: "agenthooks", Halt: policy.HaltDeny, Fold: policy.FoldMax | policy.FoldReasons,
				Doc:       "by priority, one after another until one blocks",
				MaxBlocks: 3,
				Adjust: func(e *policy.EventSpec) {
					e.Powers, e.Retry, e.Context, e.Inject, e.Feedback = powers, false, true, false, powers == 0
					if event != policy.PreToolExecution {
						e.Writes = nil
					}
				},
				Sink: agentHooksAsked}
		}
		return out
	},
}

// agentHooksPowers is what each event obeys. Where nothing can be blocked any
// more a block is feedback, and ends the chain all the same.
var agentHooksPowers = map[policy.Event]policy.Powers{
	policy.SessionStart: policy.MayDeny, policy.SessionEnd: 0,
	policy.PreSendMessage: policy.MayDeny, policy.TurnEnd: 0,
	policy.StopEvent: policy.MayDeny, policy.PostStop: 0,
	policy.PreToolExecution:  policy.MayAllow | policy.MayAsk | policy.MayDeny,
	policy.PostToolExecution: policy.MayDeny, policy.PostToolExecutionFailure: policy.MayDeny,
	policy.SubagentStart: policy.MayDeny, policy.SubagentStop: 0,
	policy.PreAutoCompact: policy.MayDeny, policy.PostAutoCompact: 0,
}

// agentHooksAsked: of several hooks that ask, the first says why.
func agentHooksAsked(_ *policy.Context, r policy.Result) policy.Result {
	if r.Verdict == policy.Ask && len(r.Reasons) > 1 {
		r.Reasons = r.Reasons[:1]
	}
	return r
}
