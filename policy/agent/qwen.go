package agent

import "github.com/hookc/hookc/policy"

// qwen is that of Qwen Code: Gemini CLI's hooks under Claude Code's names. A
// call is refused by exit status 2, which no other hook's `allow` undoes;
// rewrites and blocks after the fact have no effect there. At an ending
// `continue: false` keeps some releases working, so it is not written.
var _ = register(Agent{
	ID: "qwen", Version: "0.15.10", Aliases: []string{"qwen-code"},
	Doc:      "Qwen Code: exit code 2 and stderr, or JSON on stdout",
	eventKey: "hook_event_name",
	keys: map[string]policy.Field{
		"prompt": policy.FieldUserInput, "tool_response": policy.FieldToolResult, "error": policy.FieldToolError,
		"last_assistant_message": policy.FieldAssistantOutput, "mcp_context": policy.FieldMCP,
	},
	env:        []envKey{{"QWEN_PROJECT_DIR", policy.FieldCwd}, {"GEMINI_PROJECT_DIR", policy.FieldCwd}},
	points:     qwenPoints,
	Profile:    qwenProfile,
	say:        sayQwen,
	blind:      exit2,
	noticeExit: 1, spoken: true,
})

var qwenPoints = []point{
	{name: "SessionStart", event: policy.SessionStart, may: qwenSays | MayContext},
	{name: "SessionEnd", event: policy.SessionEnd},
	{name: "UserPromptSubmit", event: policy.PreSendMessage, may: qwenSays | MayDeny | MayContext},
	{name: "PreToolUse", event: policy.PreToolExecution, may: qwenSays | MayAllow | MayAsk | MayDeny | MayContext},
	{name: "PermissionRequest", event: policy.PermissionRequest, may: qwenSays | MayAllow | MayDeny},
	{name: "PostToolUse", event: policy.PostToolExecution, may: qwenSays | MayContext},
	{name: "PostToolUseFailure", event: policy.PostToolExecutionFailure, may: qwenSays | MayContext},
	{name: "Stop", event: policy.StopEvent, may: qwenSays | MayDeny},
	{name: "SubagentStart", event: policy.SubagentStart, may: qwenSays | MayContext, shape: shapeClaudeAgent},
	{name: "SubagentStop", event: policy.SubagentStop, may: qwenSays | MayDeny, shape: shapeClaudeAgent},
	// What the model said last has no field at this event.
	{name: "StopFailure", event: policy.StopFailure,
		keys: map[string]policy.Field{"error": policy.FieldErrorType, "last_assistant_message": policy.FieldRaw}},
	{name: "Notification", event: policy.Notify},
	{name: "PreCompact", event: policy.PreAutoCompact},
	{name: "PostCompact", event: policy.PostAutoCompact},
}

const qwenSays = MaySystem | MaySuppress

func sayQwen(a *answer) Wire {
	out, own := reply{}, reply{}
	switch {
	case a.point.event == policy.PermissionRequest && a.act == allow:
		own.under("decision", reply{"behavior": "allow"})
	case a.point.event == policy.PermissionRequest && a.act == deny:
		own.under("decision", reply{"behavior": "deny", "message": a.reason})
	case a.point.event == policy.PreToolExecution && a.act == deny:
		return exit2(a.reason)
	case a.act == deny:
		out["decision"], out["reason"] = "block", a.reason
	case a.act == allow, a.act == ask:
		own["permissionDecision"] = a.act.String()
		own.text("permissionDecisionReason", a.reason)
	}
	out.text("systemMessage", a.systemText())
	out.flag("suppressOutput", a.suppress)
	if !a.act.refuses() {
		own.text("additionalContext", a.contextText())
	}
	if len(own) > 0 {
		own["hookEventName"] = a.point.name
	}
	out.under("hookSpecificOutput", own)
	return out.wire(0, "")
}
