package runner

import (
	"strings"

	"github.com/hookc/hookc/policy"
)

// kimiProtocol is kimi-cli's own: exit 2 blocks with standard error as the
// reason, and at 0 a hookSpecificOutput that denies does. Nothing else is
// heard (docs/dialects, kimi).
var kimiProtocol = &protocol{
	id: policy.KimiProtocol, eventKey: "hook_event_name",
	names: map[policy.Event]string{
		policy.SessionStart: "SessionStart", policy.SessionEnd: "SessionEnd", policy.PreSendMessage: "UserPromptSubmit",
		policy.PreToolExecution: "PreToolUse", policy.PostToolExecution: "PostToolUse",
		policy.PostToolExecutionFailure: "PostToolUseFailure", policy.StopEvent: "Stop", policy.StopFailure: "StopFailure",
		policy.SubagentStart: "SubagentStart", policy.SubagentStop: "SubagentStop",
		policy.PreAutoCompact: "PreCompact", policy.PostAutoCompact: "PostCompact", policy.Notify: "Notification",
	},
	keys: []key{
		{field: policy.FieldSessionID, name: "session_id"},
		{field: policy.FieldCwd, name: "cwd"},
		{field: policy.FieldToolName, name: "tool_name"},
		{field: policy.FieldToolInput, name: "tool_input"},
		{field: policy.FieldToolUseID, name: "tool_call_id"},
		{field: policy.FieldToolResult, name: "tool_output"},
		{field: policy.FieldToolError, name: "error"},
		{field: policy.FieldUserInput, name: "prompt", at: []policy.Event{policy.PreSendMessage}},
		{field: policy.FieldStopHookActive, name: "stop_hook_active"},
		{field: policy.FieldErrorType, name: "error_type"},
		{field: policy.FieldSource, name: "source", at: []policy.Event{policy.SessionStart}},
		{field: policy.FieldReason, name: "reason", at: []policy.Event{policy.SessionEnd}},
		{field: policy.FieldSubagentName, name: "agent_name"},
		{field: policy.FieldTaskDescription, name: "prompt", at: []policy.Event{policy.SubagentStart}},
		{field: policy.FieldAssistantOutput, name: "response", at: []policy.Event{policy.SubagentStop}},
		{field: policy.FieldTrigger, name: "trigger"},
		{field: policy.FieldPreTokens, name: "token_count", at: []policy.Event{policy.PreAutoCompact}},
		{field: policy.FieldNotificationType, name: "notification_type"},
		{field: policy.FieldTitle, name: "title"},
		{field: policy.FieldMessage, name: "body", at: []policy.Event{policy.Notify}},
		{field: policy.FieldLevel, name: "severity", at: []policy.Event{policy.Notify}},
	},
	shape: shapeKimi,
	env:   []envKey{{"KIMI_WORK_DIR", policy.FieldCwd}, {"KIMI_PROJECT_DIR", policy.FieldProjectRoot}, {"KIMI_SESSION_ID", policy.FieldSessionID}},
	read:  readKimi,
}

// kimiLimits are how many characters of a text a hook gets.
var kimiLimits = map[string]int{"tool_output": 2000, "response": 500}

func shapeKimi(out map[string]any) {
	for name, most := range kimiLimits {
		v, ok := out[name]
		if !ok {
			continue
		}
		text := []rune(asText(v))
		out[name] = string(text[:min(len(text), most)])
	}
}

// readKimi passes over everything but the two ways to block. An answer whose
// hookSpecificOutput is not an object makes kimi-cli drop the answers of every
// hook of the event.
func readKimi(a answer) (policy.Result, error) {
	d := a.draft()
	switch {
	case a.exit == 2:
		d.verdict(policy.Deny, strings.TrimSpace(a.stderr.tail))
		return d.done()
	case a.exit != 0:
		return policy.Result{}, a.failure()
	}
	v, err := looseJSON(a.stdout)
	m, ok := v.(map[string]any)
	if err != nil || !ok {
		return policy.Result{}, nil
	}
	own, there := m["hookSpecificOutput"]
	o, isObject := own.(map[string]any)
	switch {
	case !there:
	case !isObject && a.faithful:
		return policy.Result{Void: true}, nil
	case !isObject:
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer: hookSpecificOutput must be an object; kimi-cli itself drops every answer of the event")
	case o["permissionDecision"] == "deny":
		reason, _ := o["permissionDecisionReason"].(string)
		d.verdict(policy.Deny, reason)
	}
	return d.done()
}
