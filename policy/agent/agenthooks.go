package agent

import (
	"strings"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent/supersede"
)

// agenthooks is that of the Agent Hooks specification (HOOK.md folders): exit
// status 2 with the reason on stderr refuses at every event, whatever reading
// of the specification a runtime follows; all else is JSON at status 0. Any
// other status is a warning.
var agentHooksAgent, _ = Agent{
	ID: "agenthooks", Version: "1", Aliases: []string{"agent-hooks", "agent_hooks"},
	Doc:      "Agent Hooks (HOOK.md): exit code 2 and stderr, or JSON on stdout",
	eventKey: "event_type",
	keys: lists.Concat(
		[]key{
			{name: "work_dir", field: policy.FieldCwd},
			{name: "prompt", field: policy.FieldUserInput, at: []policy.Event{policy.PreSendMessage}},
			{name: "final_message", field: policy.FieldAssistantOutput, at: []policy.Event{policy.StopEvent, policy.SubagentStop}},
			{name: "tool_output", field: policy.FieldToolResult},
			{name: "error", field: policy.FieldToolError},
		},
		same(policy.FieldSessionID, policy.FieldTimestamp, policy.FieldDurationSeconds, policy.FieldTotalSteps, policy.FieldExitReason,
			policy.FieldToolName, policy.FieldToolInput, policy.FieldToolUseID,
			policy.FieldSubagentName, policy.FieldSubagentType, policy.FieldTaskDescription),
		sameAt([]policy.Event{policy.StopEvent, policy.PostStop}, policy.FieldStopReason, policy.FieldStepCount),
		sameAt([]policy.Event{policy.PreAutoCompact, policy.PostAutoCompact}, policy.FieldTrigger),
		sameAt([]policy.Event{policy.SessionStart}, policy.FieldModel),
	),
	env: []envKey{
		{"KIMI_WORK_DIR", policy.FieldCwd}, {"KIMI_PROJECT_DIR", policy.FieldProjectRoot}, {"KIMI_SESSION_ID", policy.FieldSessionID},
	},
	points: []point{
		{name: "pre-session", event: policy.SessionStart, may: agentHooksSays},
		{name: "post-session", event: policy.SessionEnd, may: agentHooksSays, complains: true},
		{name: "pre-agent-turn", event: policy.PreSendMessage, may: agentHooksSays, promptOptional: true},
		{name: "post-agent-turn", event: policy.TurnEnd, may: agentHooksSays, complains: true},
		{name: "pre-agent-turn-stop", event: policy.StopEvent, may: agentHooksSays},
		{name: "post-agent-turn-stop", event: policy.PostStop, may: agentHooksSays, complains: true},
		{name: "pre-tool-call", event: policy.PreToolExecution, may: agentHooksSays | MayAllow | MayAsk,
			writes: []policy.Field{policy.FieldToolInput}, askKeepsInput: true},
		{name: "post-tool-call", event: policy.PostToolExecution, may: agentHooksSays},
		{name: "post-tool-call-failure", event: policy.PostToolExecutionFailure, may: agentHooksSays},
		{name: "pre-subagent", event: policy.SubagentStart, may: agentHooksSays},
		{name: "post-subagent", event: policy.SubagentStop, may: agentHooksSays},
		{name: "pre-context-compact", event: policy.PreAutoCompact, may: agentHooksSays},
		{name: "post-context-compact", event: policy.PostAutoCompact, may: agentHooksSays, complains: true},
	},
	Profile: agentHooksProfile,
	Files: []File{
		{Tier: policy.TierUser, Base: Home, Path: ".config/agents/hooks", Env: "XDG_CONFIG_HOME", EnvPath: "agents/hooks", Format: "hookmd", Install: Writes, Layout: Folders},
		{Tier: policy.TierUser, Base: Home, Path: ".config/agents/hooks.toml", Env: "XDG_CONFIG_HOME", EnvPath: "agents/hooks.toml", Format: "hookstoml"},
		{Tier: policy.TierProject, Base: Project, Path: ".agents/hooks", Format: "hookmd", Install: Writes, Layout: Folders},
		{Tier: policy.TierProject, Base: Project, Path: ".agents/hooks.toml", Format: "hookstoml"},
	},
	protects: []string{"~/.config/agents"},
	settings: &Settings{
		Unit: time.Millisecond, Most: 10 * time.Minute, Standard: 30 * time.Second,
		Matchers: searched,
	},
	deliver:       deliverAgentHooks,
	refuseUnknown: exit2,
	noticeExit:    1, warns: true,
	scripts: scripts{
		shape: func(out map[string]any) {
			if v, ok := out["tool_output"]; ok {
				out["tool_output"] = JSONText(v)
			}
		},
		chooses: true,
		read:    readAgentHooks,
		native:  nativeAgentHooks,
		nativeEnv: []envKey{
			{"KIMI_SESSION_ID", policy.FieldSessionID}, {"KIMI_WORK_DIR", policy.FieldCwd}, {"KIMI_PROJECT_DIR", policy.FieldProjectRoot},
		},
	},
}, register(agentHooksAgent)

const agentHooksSays = MayDeny | MayContext

func deliverAgentHooks(a *answer) Wire {
	out := reply{}
	switch a.act {
	case deny:
		return exit2(a.reason)
	case allow, ask:
		out["decision"] = a.act.String()
		out.text("reason", a.reason)
	}
	if input, ok := a.patch[policy.FieldToolInput]; ok {
		out["modified_input"] = input
	}
	out.text("additional_context", a.contextText())
	return out.wire(0, "")
}

// agentHooksProfile is how HOOK.md folders run: one after another by priority
// over both tiers, until the first block; async ones after the others
// (docs/reference/dialects, agenthooks §2.4, §2.6, §2.9).
var agentHooksProfile = &Profile{
	Rules: func(bool) policy.Profile {
		out := policy.Profile{Flat: true, Strategies: map[policy.Event]*policy.StrategySpec{}}
		for event, powers := range agentHooksPowers {
			out.Strategies[event] = &policy.StrategySpec{Strategy: "agenthooks", Halt: policy.HaltDeny, Fold: policy.FoldMax,
				Doc: "by priority, one after another until one blocks",
				Rules: policy.Rules{Supersede: supersede.ApprovesOwn, Conclude: agentHooksAsked, MaxBlocks: 3, Row: func(e *policy.EventSpec) {
					e.Powers, e.Retry, e.Context, e.Inject, e.Feedback = powers, false, true, false, powers == 0
					if event != policy.PreToolExecution {
						e.Writes = nil
					}
				}}}
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

// agentHooksAsked: of several hooks that ask, the first says why; a block takes no input.
func agentHooksAsked(c *policy.Context, r policy.Result) policy.Result {
	if r.Verdict == policy.Ask && len(r.Reasons) > 1 {
		r.Reasons = r.Reasons[:1]
	}
	return supersede.Unchanged(c, r)
}

var agentHooksWords = words{"allow": policy.Allow, "ask": policy.Ask, "deny": policy.Deny}

func readAgentHooks(a output) (policy.Result, error) {
	d := a.draft()
	switch {
	case a.Exit == 2:
		d.verdict(policy.Deny, a.complaint("Blocked by hook (exit code 2)"))
		return d.done()
	case a.Exit != 0:
		return policy.Result{}, a.failure()
	case strings.TrimSpace(a.Stdout) == "":
		return policy.Result{}, nil
	}
	v, err := looseJSON(a.Stdout)
	if err != nil {
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not JSON: %w", err)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not a JSON object")
	}
	o := d.object(m)
	d.decide(agentHooksWords, o.text("decision"), o.text("reason"))
	d.context(o.text("additional_context"))
	if input := o.sub("modified_input"); input.m != nil {
		d.replace(policy.FieldToolInput, input.m)
	}
	if a.native != "" && (!a.closed || d.r.Verdict > policy.Allow) { // one key that is wrong costs no other
		return d.lenient(), nil
	}
	return d.done()
}

// agentHooksAfter are the events at which nothing can be blocked any more: a
// block is feedback, and no later hook runs.
var agentHooksAfter = map[policy.Event]bool{
	policy.SessionEnd: true, policy.TurnEnd: true, policy.PostStop: true, policy.SubagentStop: true, policy.PostAutoCompact: true,
}

// nativeAgentHooks reads an answer of a HOOK.md folder under the profile
// (docs/reference/dialects, agenthooks §2.3, §2.9).
func nativeAgentHooks(a output) (policy.Result, error) {
	if a.Signal != "" {
		return policy.Result{}, a.failure()
	}
	r, err := readAgentHooks(a)
	if err != nil {
		return policy.Result{}, err
	}
	switch {
	case r.Verdict == policy.Ask && a.event != policy.PreToolExecution:
		r.Verdict, r.VerdictBy, r.Reasons = policy.None, policy.By{}, nil
		r.Warnings = append(r.Warnings, misread(a.by, "a question has no effect at %s", a.event))
	case r.Verdict == policy.Deny && agentHooksAfter[a.event]:
		for _, reason := range r.Reasons {
			r.Feedback = append(r.Feedback, reason.Text)
		}
		r.Verdict, r.VerdictBy, r.Reasons, r.EndChain = policy.None, policy.By{}, nil, true
	case r.Verdict == policy.Deny && len(r.Reasons) == 0:
		r.Reasons = []policy.Reason{{Text: "Blocked by hook", At: a.by.At}}
	}
	return r, nil
}
