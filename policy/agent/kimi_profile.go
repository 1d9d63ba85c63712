package agent

import (
	"fmt"

	"github.com/hookc/hookc/policy"
)

// kimiProfile is how kimi-cli runs its hooks: all at once, the first block in
// the file's order counting; at three events a block is heard at all
// (docs/dialects, kimi §3).
var kimiProfile = &Profile{
	Protocol: policy.KimiProtocol,
	Files: []ConfigFile{
		{Tier: policy.TierUser, Base: Home, Path: ".kimi/config.toml", Format: "kimi"},
		{Tier: policy.TierUser, Base: Home, Path: ".kimi-code/config.toml", Format: "kimi"},
	},
	Tools: []string{"Agent", "AskUserQuestion", "CreateSubagent", "EnterPlanMode", "ExitPlanMode", "FetchURL", "Glob", "Grep", "ReadFile", "ReadMediaFile",
		"SearchWeb", "SendDMail", "SetTodoList", "Shell", "StrReplaceFile", "Task", "TaskList", "TaskOutput", "TaskStop", "Think", "WriteFile"},
	// MCP tools go by the names their servers give them.
	Open: []string{"*"},
	Rules: func(faithful bool) policy.Profile {
		rules := policy.Profile{Flat: true, MaxConcurrent: everyone, Strategies: map[policy.Event]*policy.StrategySpec{}}
		for _, p := range kimiPoints {
			s := &policy.StrategySpec{Strategy: "kimi", Snapshot: true, Halt: policy.HaltNever, Fold: policy.FoldMax | policy.FoldReasons,
				Doc: "all run on one snapshot, the first block counts", Adjust: watches(false), Sink: firstRefusal}
			switch {
			case p.event == policy.StopEvent:
				s.Adjust, s.Sink = kimiObeys, kimiStop(faithful)
			case p.may.Has(MayDeny):
				s.Adjust = kimiObeys
			}
			rules.Strategies[p.event] = s
		}
		return rules
	},
}

// kimiObeys: a block and nothing else.
func kimiObeys(s *policy.EventSpec) {
	obeys(policy.MayDeny, false)(s)
	s.Writes, s.Feedback = nil, false
}

// kimiStop: the turn goes on once, and only for a reason. What blocks without
// one is heard all the same unless faithful.
func kimiStop(faithful bool) func(*policy.Context, policy.Result) policy.Result {
	return func(before *policy.Context, r policy.Result) policy.Result {
		if r.Verdict != policy.Deny {
			return r
		}
		active, _ := before.Get(policy.FieldStopHookActive)
		by := r.VerdictBy
		r = firstRefusal(before, r)
		switch {
		case active == true:
			r.Verdict, r.VerdictBy, r.Reasons = policy.None, policy.By{}, nil
			r.Warnings = append(r.Warnings[:len(r.Warnings):len(r.Warnings)], safeSide(by, "kimi-cli keeps a turn going once; it ends now"))
		case len(r.Reasons) == 0 && faithful:
			r.Verdict, r.VerdictBy = policy.None, policy.By{}
		case len(r.Reasons) == 0:
			r.Reasons = []policy.Reason{{Text: fmt.Sprintf("blocked by %s", by.Name), Hook: by.Name, At: by.At}}
			r.Warnings = append(r.Warnings[:len(r.Warnings):len(r.Warnings)], safeSide(by, "kimi-cli itself lets a turn end when a block has no reason"))
		}
		return r
	}
}
