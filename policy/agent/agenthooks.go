package agent

import "github.com/hookc/hookc/policy"

// agenthooks is that of the Agent Hooks specification (HOOK.md folders): exit
// status 2 with the reason on stderr refuses at every event, whatever reading
// of the specification a runtime follows; all else is JSON at status 0. Any
// other status is a warning.
var _ = register(Agent{
	ID: "agenthooks", Version: "1", Aliases: []string{"agent-hooks", "agent_hooks"},
	Doc:      "Agent Hooks (HOOK.md): exit code 2 and stderr, or JSON on stdout",
	eventKey: "event_type",
	keys: map[string]policy.Field{
		"work_dir": policy.FieldCwd, "prompt": policy.FieldUserInput, "tool_output": policy.FieldToolResult,
		"error": policy.FieldToolError, "final_message": policy.FieldAssistantOutput,
	},
	env: []envKey{
		{"KIMI_WORK_DIR", policy.FieldCwd}, {"KIMI_PROJECT_DIR", policy.FieldProjectRoot}, {"KIMI_SESSION_ID", policy.FieldSessionID},
	},
	points: []point{
		{name: "pre-session", event: policy.SessionStart, may: agentHooksSays},
		{name: "post-session", event: policy.SessionEnd, may: agentHooksSays},
		{name: "pre-agent-turn", event: policy.PreSendMessage, may: agentHooksSays, loose: true},
		{name: "post-agent-turn", event: policy.TurnEnd, may: agentHooksSays},
		{name: "pre-agent-turn-stop", event: policy.StopEvent, may: agentHooksSays},
		{name: "post-agent-turn-stop", event: policy.PostStop, may: agentHooksSays},
		{name: "pre-tool-call", event: policy.PreToolExecution, may: agentHooksSays | MayAllow | MayAsk,
			writes: []policy.Field{policy.FieldToolInput}, askKeepsInput: true},
		{name: "post-tool-call", event: policy.PostToolExecution, may: agentHooksSays},
		{name: "post-tool-call-failure", event: policy.PostToolExecutionFailure, may: agentHooksSays},
		{name: "pre-subagent", event: policy.SubagentStart, may: agentHooksSays},
		{name: "post-subagent", event: policy.SubagentStop, may: agentHooksSays},
		{name: "pre-context-compact", event: policy.PreAutoCompact, may: agentHooksSays},
		{name: "post-context-compact", event: policy.PostAutoCompact, may: agentHooksSays},
	},
	Profile:    agentHooksProfile,
	say:        sayAgentHooks,
	blind:      exit2,
	noticeExit: 1,
})

const agentHooksSays = MayDeny | MayContext

func sayAgentHooks(a *answer) Wire {
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
