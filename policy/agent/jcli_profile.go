package agent

import (
	"slices"
	"time"

	"github.com/hookc/hookc/policy"
)

// jcliProfile is how jcli runs the hooks of its hooks.yaml and of its hook
// folders: one after another, user before project, until one stops or skips,
// which takes back what those before it changed (docs/dialects, jcli §1.4,
// §1.6).
var jcliProfile = &Profile{
	Protocol: policy.JCLIProtocol,
	Files: []ConfigFile{
		{Tier: policy.TierUser, Base: Home, Path: ".jdata/agent/data/agent_config.json", Format: "jcliconfig"},
		{Tier: policy.TierUser, Base: Home, Path: ".jdata/agent/hooks.yaml", Format: "hooksyaml"},
		{Tier: policy.TierUser, Base: Home, Path: ".jdata/agent/hooks", Format: "jclifolders"},
		{Tier: policy.TierProject, Base: Nearest, Path: ".jcli/hooks.yaml", Format: "hooksyaml"},
		{Tier: policy.TierProject, Base: Nearest, Path: ".jcli/hooks", Format: "jclifolders"},
	},
	Rules: jcliRules,
}

// jcliChain is the time an event's hooks have before no further one begins.
const jcliChain = 30 * time.Second

// jcliRow is what jcli lets a hook change at one of its events; the rest of
// an answer is parsed and dropped.
type jcliRow struct {
	event                     policy.Event
	powers                    policy.Powers
	writes                    []policy.Field
	context, inject, feedback bool
}

var jcliRows = []jcliRow{
	{event: policy.SessionStart},
	{event: policy.SessionEnd},
	{event: policy.PreSendMessage, powers: policy.MayStop, writes: []policy.Field{policy.FieldUserInput}, feedback: true},
	{event: policy.PostSendMessage},
	{event: policy.PreLLMRequest, powers: policy.MayStop, writes: []policy.Field{policy.FieldMessages, policy.FieldSystemPrompt},
		context: true, inject: true, feedback: true},
	{event: policy.PostLLMResponse, powers: policy.MayStop, writes: []policy.Field{policy.FieldAssistantOutput}, feedback: true},
	{event: policy.PreToolExecution, powers: policy.MaySkip, writes: []policy.Field{policy.FieldToolInput}},
	{event: policy.PostToolExecution, writes: []policy.Field{policy.FieldToolResult}},
	// A new text of the error is not shown to the next hook, so it travels as
	// feedback and becomes the error at the end.
	{event: policy.PostToolExecutionFailure, writes: []policy.Field{policy.FieldToolError}, context: true, feedback: true},
	{event: policy.StopEvent, powers: policy.MayStop, context: true, feedback: true},
	{event: policy.PreMicroCompact, powers: policy.MayStop},
	{event: policy.PostMicroCompact, writes: []policy.Field{policy.FieldMessages}},
	{event: policy.PreAutoCompact, powers: policy.MayStop, context: true},
	{event: policy.PostAutoCompact, writes: []policy.Field{policy.FieldMessages}},
}

func jcliRules(faithful bool) policy.Profile {
	out := policy.Profile{Flat: true, ChainTimeout: jcliChain, Strategies: map[policy.Event]*policy.StrategySpec{}}
	for _, row := range jcliRows {
		s := &policy.StrategySpec{Strategy: "jcli", Halt: policy.HaltDeny, Fold: policy.FoldMax | policy.FoldReplace | policy.FoldLastText,
			Doc: "one after another until one stops or skips, which drops earlier changes", Deadline: policy.DeadlineWaits}
		if faithful {
			s.Deadline = policy.DeadlinePasses
		}
		s.Adjust = func(e *policy.EventSpec) {
			e.Powers, e.Writes, e.Refused = row.powers, row.writes, nil
			e.Context, e.Inject, e.Feedback = row.context, row.inject, row.feedback
			e.Retry = row.feedback && row.powers != 0
			if !faithful && row.event.Spec().Powers.Has(policy.MayDeny) {
				e.Powers |= policy.MayDeny // a word of hookc's own; jcli knows none
			}
		}
		s.Sink = jcliSaid
		switch row.event {
		case policy.PostToolExecutionFailure:
			s.Sink = jcliFailed
		case policy.StopEvent:
			s.Sink = jcliStopped
		case policy.PreToolExecution:
			if faithful {
				s.Sink = jcliCalled
			}
		}
		out.Strategies[row.event] = s
	}
	return out
}

// jcliSaid leaves what was said as it is: what a halting hook took back is not
// in the patch any more.
func jcliSaid(_ *policy.Context, r policy.Result) policy.Result { return r }

// jcliFailed makes the last new text of the error the error.
func jcliFailed(_ *policy.Context, r policy.Result) policy.Result {
	if n := len(r.Feedback); n > 0 {
		r.Patch = r.Patch.Then(policy.Replace(policy.Path{Field: policy.FieldToolError}, r.Feedback[n-1]))
		r.Feedback = nil
	}
	return r
}

// jcliStopped: feedback keeps the agent working, whether a hook said stop
// beside it or not.
func jcliStopped(_ *policy.Context, r policy.Result) policy.Result {
	if len(r.Feedback) > 0 && r.Control == policy.Go {
		r.Control = policy.Stop
	}
	return r
}

// jcliCalled: at a tool call jcli obeys `skip` alone, so a hook whose failure
// means abort lets the call through as it was.
func jcliCalled(_ *policy.Context, r policy.Result) policy.Result {
	failed := func(f policy.Failure) bool { return f.Hook == r.ControlBy.Name && f.OnError == policy.OnErrorAbort }
	if r.Control == policy.Skip && slices.ContainsFunc(r.Failed, failed) {
		r.Control, r.ControlBy = policy.Go, policy.By{}
	}
	return r
}
