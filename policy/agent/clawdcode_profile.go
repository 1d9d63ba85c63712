package agent

import (
	"slices"

	"github.com/hookc/hookc/policy"
)

// clawdProfile is how ClawdCode runs the hooks of its settings: those of a
// call, a permission and an ending one after another until one decides, all
// others at once (docs/dialects, clawdcode §2.4, §2.6). clawdDocProfile is the
// same with answers read as its document has them.
var (
	clawdProfile    = clawdProfileOf(policy.ClawdCodeProtocol)
	clawdDocProfile = clawdProfileOf(policy.ClawdDocProtocol)
)

func clawdProfileOf(p policy.Protocol) *Profile {
	return &Profile{
		Protocol: p,
		Tools:    []string{"Bash", "Edit", "Glob", "Grep", "Read", "Skill", "Write"}, Open: []string{"mcp__*"},
		Files: []ConfigFile{
			{Tier: policy.TierUser, Base: Home, Path: ".clawdcode/config.json", Format: "clawdcode"},
			{Tier: policy.TierUser, Base: Home, Path: ".clawdcode/settings.json", Format: "clawdcode"},
			{Tier: policy.TierProject, Base: Project, Path: ".clawdcode/config.json", Format: "clawdcode"},
			{Tier: policy.TierProject, Base: Project, Path: ".clawdcode/settings.json", Format: "clawdcode"},
			{Tier: policy.TierLocal, Base: Project, Path: ".clawdcode/settings.local.json", Format: "clawdcode"},
		},
		Rules: clawdRules,
	}
}

func clawdRules(faithful bool) policy.Profile {
	serial := func(halt policy.HaltKind, fold policy.Fold, powers policy.Powers, doc string) *policy.StrategySpec {
		return &policy.StrategySpec{Strategy: "clawdcode", Halt: halt, Fold: fold, Doc: doc, Once: faithful, Adjust: clawdObeys(powers, false)}
	}
	together := func(powers policy.Powers, context bool, writes ...policy.Field) *policy.StrategySpec {
		return &policy.StrategySpec{Strategy: "clawdcode", Snapshot: true, Halt: policy.HaltNever, Fold: policy.FoldMax, Once: faithful,
			Doc: "all run on one snapshot, results in the order of the files", Adjust: clawdObeys(powers, context, writes...)}
	}
	call := serial(policy.HaltAsk, policy.FoldMax|policy.FoldReplace, policy.MayAsk|policy.MayDeny, "one after another until one denies or asks")
	call.Adjust, call.Sink = clawdObeys(policy.MayAsk|policy.MayDeny, false, policy.FieldToolInput), clawdCall
	ending := serial(policy.HaltDeny, policy.FoldMax, policy.MayDeny, "one after another until one holds it up")
	prompt := policy.MayDeny // ClawdCode cannot block a prompt; a script that says so is heard all the same
	if faithful {
		prompt = 0
	}
	out := policy.Profile{Flat: true, Strategies: map[policy.Event]*policy.StrategySpec{
		policy.PreToolExecution:  call,
		policy.PermissionRequest: serial(policy.HaltExplicit, policy.FoldFirst, policy.MayAllow|policy.MayDeny, "the first answer decides"),
		policy.StopEvent:         ending,
		policy.PreAutoCompact:    ending,
		policy.PostToolExecution: together(0, true, policy.FieldToolResult),
		policy.PreSendMessage:    together(prompt, true),
	}}
	for _, e := range []policy.Event{policy.PostToolExecutionFailure, policy.SessionStart, policy.SessionEnd, policy.SubagentStop, policy.Notify} {
		out.Strategies[e] = together(0, false)
	}
	return out
}

// clawdObeys narrows an event to what ClawdCode obeys there.
func clawdObeys(powers policy.Powers, context bool, writes ...policy.Field) func(*policy.EventSpec) {
	return func(e *policy.EventSpec) {
		e.Powers, e.Writes, e.Refused, e.Retry = powers, writes, nil, false
		e.Context, e.Inject, e.Feedback = context, false, false
	}
}

// clawdCall: in yolo mode a question answers itself with yes, and what time
// ran out for is told in the agent's own words.
func clawdCall(before *policy.Context, r policy.Result) policy.Result {
	late := func(f policy.Failure) bool { return f.Hook == r.VerdictBy.Name && f.Kind.Late() }
	if r.Verdict > policy.Allow && slices.ContainsFunc(r.Failed, late) {
		text := "Timeout"
		if r.Verdict == policy.Ask {
			text = "Hook timed out"
		}
		r.Reasons = []policy.Reason{{Text: text, Hook: r.VerdictBy.Name, At: r.VerdictBy.At}}
	}
	if r.Verdict == policy.Ask && before.Text(policy.FieldPermissionMode) == "yolo" {
		return policy.Result{Failed: r.Failed, Warnings: r.Warnings}
	}
	return r
}

// ClawdNever lists the events that ClawdCode declares and never fires.
func ClawdNever() []string { return []string{"SessionEnd", "SubagentStop", "Notification"} }
