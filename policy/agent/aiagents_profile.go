package agent

import "github.com/hookc/hookc/policy"

// aiAgentsProfile is how ai_agents runs the hooks of its settings: all that
// match at once, folded in the order of the files (docs/dialects, ai_agents
// §3.4, §3.6).
var aiAgentsProfile = &Profile{
	Protocol: policy.AIAgentsProtocol,
	Files: []ConfigFile{
		{Tier: policy.TierUser, Base: Home, Path: ".ai_agents/settings.json", Format: "aiagents"},
		{Tier: policy.TierProject, Base: Project, Path: ".ai_agents/settings.json", Format: "aiagents"},
		{Tier: policy.TierLocal, Base: Project, Path: ".ai_agents/settings.local.json", Format: "aiagents"},
	},
	Rules: func(bool) policy.Profile {
		row := func(powers policy.Powers, context bool, sink func(*policy.Context, policy.Result) policy.Result) *policy.StrategySpec {
			return &policy.StrategySpec{Strategy: "aiagents", Snapshot: true, Halt: policy.HaltNever, Fold: policy.FoldMax | policy.FoldReasons,
				Doc: "all run on one snapshot, deny over ask over allow",
				Adjust: func(e *policy.EventSpec) {
					e.Powers, e.Writes, e.Retry, e.Refused = powers, nil, false, nil
					e.Context, e.Inject, e.Feedback = context, false, false
				}, Sink: sink}
		}
		return policy.Profile{Flat: true, Strategies: map[policy.Event]*policy.StrategySpec{
			policy.PreToolExecution:  row(policy.MayAllow|policy.MayAsk|policy.MayDeny|policy.MayHalt, false, aiAgentsFirst),
			policy.PostToolExecution: row(policy.MayDeny|policy.MayHalt, false, aiAgentsEnd),
			policy.PreSendMessage:    row(policy.MayDeny|policy.MayHalt, true, aiAgentsPrompt),
		}}
	},
}

// aiAgentsEnd: of several hooks that end the turn, the first says why.
func aiAgentsEnd(_ *policy.Context, r policy.Result) policy.Result {
	if len(r.StopReasons) > 1 {
		r.StopReasons = r.StopReasons[:1]
	}
	return r
}

// aiAgentsFirst keeps the first reason of the verdict that holds.
func aiAgentsFirst(c *policy.Context, r policy.Result) policy.Result {
	if len(r.Reasons) > 1 {
		r.Reasons = r.Reasons[:1]
	}
	return aiAgentsEnd(c, r)
}

// aiAgentsPrompt: a blocked prompt gets no context.
func aiAgentsPrompt(c *policy.Context, r policy.Result) policy.Result {
	if r.Verdict == policy.Deny || r.Control != policy.Go {
		r.Context = nil
	}
	return aiAgentsEnd(c, r)
}
