package runner

import (
	"strings"

	"github.com/hookc/hookc/policy"
)

// agentHooksProtocol is that of HOOK.md folders: exit 2 blocks with standard
// error as the reason; at 0 a JSON object may decide. Names the specification
// leaves open are those its own style suggests.
var agentHooksProtocol = &protocol{
	id: policy.AgentHooksProtocol, eventKey: "event_type",
	names: map[policy.Event]string{
		policy.SessionStart: "pre-session", policy.SessionEnd: "post-session",
		policy.PreSendMessage: "pre-agent-turn", policy.TurnEnd: "post-agent-turn",
		policy.StopEvent: "pre-agent-turn-stop", policy.PostStop: "post-agent-turn-stop",
		policy.PreToolExecution: "pre-tool-call", policy.PostToolExecution: "post-tool-call",
		policy.PostToolExecutionFailure: "post-tool-call-failure",
		policy.SubagentStart:            "pre-subagent", policy.SubagentStop: "post-subagent",
		policy.PreAutoCompact: "pre-context-compact", policy.PostAutoCompact: "post-context-compact",
	},
	keys: []key{
		{field: policy.FieldSessionID, name: "session_id"},
		{field: policy.FieldTimestamp, name: "timestamp"},
		{field: policy.FieldCwd, name: "work_dir"},
		{field: policy.FieldModel, name: "model", at: []policy.Event{policy.SessionStart}},
		{field: policy.FieldDurationSeconds, name: "duration_seconds"},
		{field: policy.FieldTotalSteps, name: "total_steps"},
		{field: policy.FieldExitReason, name: "exit_reason"},
		{field: policy.FieldUserInput, name: "prompt", at: []policy.Event{policy.PreSendMessage}},
		{field: policy.FieldStopReason, name: "stop_reason"},
		{field: policy.FieldStepCount, name: "step_count"},
		{field: policy.FieldAssistantOutput, name: "final_message", at: []policy.Event{policy.StopEvent, policy.SubagentStop}},
		{field: policy.FieldToolName, name: "tool_name"},
		{field: policy.FieldToolInput, name: "tool_input"},
		{field: policy.FieldToolUseID, name: "tool_use_id"},
		{field: policy.FieldToolResult, name: "tool_output"},
		{field: policy.FieldToolError, name: "error"},
		{field: policy.FieldSubagentName, name: "subagent_name"},
		{field: policy.FieldSubagentType, name: "subagent_type"},
		{field: policy.FieldTaskDescription, name: "task_description"},
		{field: policy.FieldTrigger, name: "trigger"},
	},
	shape: func(out map[string]any) {
		if v, ok := out["tool_output"]; ok {
			out["tool_output"] = asText(v)
		}
	},
	read:   readAgentHooks,
	native: nativeAgentHooks,
	nativeEnv: []envKey{
		{"KIMI_SESSION_ID", policy.FieldSessionID}, {"KIMI_WORK_DIR", policy.FieldCwd}, {"KIMI_PROJECT_DIR", policy.FieldProjectRoot},
	},
}

var agentHooksWords = words{"allow": policy.Allow, "ask": policy.Ask, "deny": policy.Deny}

func readAgentHooks(a answer) (policy.Result, error) {
	d := a.draft()
	switch {
	case a.exit == 2:
		d.verdict(policy.Deny, a.complaint("Blocked by hook (exit code 2)"))
		return d.done()
	case a.exit != 0:
		return policy.Result{}, a.failure()
	case strings.TrimSpace(a.stdout) == "":
		return policy.Result{}, nil
	}
	v, err := looseJSON(a.stdout)
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
	return d.done()
}
