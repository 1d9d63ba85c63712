package agent

import "github.com/hookc/hookc/policy"

// kimi is that of kimi-cli's own hooks: exit status 2 refuses a call, a prompt
// or the end of a turn, the latter with a reason; nothing else is heard.
var _ = register(Agent{
	ID: "kimi", Version: "1", Aliases: []string{"kimi-cli", "kimi-code"},
	Doc:      "kimi-cli: exit code 2 and stderr",
	eventKey: "hook_event_name",
	keys: map[string]policy.Field{
		"prompt": policy.FieldUserInput, "tool_call_id": policy.FieldToolUseID, "tool_output": policy.FieldToolResult,
		"error": policy.FieldToolError, "token_count": policy.FieldPreTokens, "body": policy.FieldMessage, "severity": policy.FieldLevel,
	},
	env:     []envKey{{"KIMI_WORK_DIR", policy.FieldCwd}, {"KIMI_PROJECT_DIR", policy.FieldProjectRoot}, {"KIMI_SESSION_ID", policy.FieldSessionID}},
	points:  kimiPoints,
	Profile: kimiProfile,
	say: func(a *answer) Wire {
		if a.act == deny {
			return exit2(a.reason)
		}
		return Wire{}
	},
	blind:      exit2,
	noticeExit: 1,
})

var kimiPoints = []point{
	{name: "PreToolUse", event: policy.PreToolExecution, may: MayDeny},
	{name: "PostToolUse", event: policy.PostToolExecution},
	{name: "PostToolUseFailure", event: policy.PostToolExecutionFailure},
	{name: "UserPromptSubmit", event: policy.PreSendMessage, may: MayDeny},
	{name: "Stop", event: policy.StopEvent, may: MayDeny},
	{name: "StopFailure", event: policy.StopFailure},
	{name: "SessionStart", event: policy.SessionStart},
	{name: "SessionEnd", event: policy.SessionEnd},
	{name: "SubagentStart", event: policy.SubagentStart,
		keys: map[string]policy.Field{"agent_name": policy.FieldSubagentName, "prompt": policy.FieldTaskDescription}},
	{name: "SubagentStop", event: policy.SubagentStop,
		keys: map[string]policy.Field{"agent_name": policy.FieldSubagentName, "response": policy.FieldAssistantOutput}},
	{name: "PreCompact", event: policy.PreAutoCompact},
	{name: "PostCompact", event: policy.PostAutoCompact},
	{name: "Notification", event: policy.Notify},
}
