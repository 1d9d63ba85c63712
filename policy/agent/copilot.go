package agent

import (
	"time"

	"github.com/hookc/hookc/policy"
)

// copilot is that of GitHub Copilot CLI, under the camelCase names of its
// events and, as VS Code has them too, the PascalCase ones with snake_case
// input. camelCase input does not name the event. Before a tool any status but
// 0 refuses.
var _ = register(Agent{
	ID: "copilot", Version: "1", Aliases: []string{"copilot-cli", "github-copilot"},
	Doc:      "GitHub Copilot CLI: JSON on stdout, exit code 0",
	eventKey: "hook_event_name",
	keys: map[string]policy.Field{
		"sessionId": policy.FieldSessionID, "toolName": policy.FieldToolName, "toolArgs": policy.FieldToolInput,
		"toolResult": policy.FieldToolResult, "tool_response": policy.FieldToolResult, "tool_result": policy.FieldToolResult,
		"prompt": policy.FieldUserInput, "error": policy.FieldToolError, "stopReason": policy.FieldStopReason,
		"transcriptPath": policy.FieldTranscriptPath, "agentName": policy.FieldSubagentName, "agent_name": policy.FieldSubagentName,
	},
	points:  copilotPoints(),
	Profile: copilotProfile,
	join:    "\n\n",
	say:     sayCopilot,
	blind: func(reason string) Wire {
		return reply{"permissionDecision": "deny", "permissionDecisionReason": reason}.wire(2, reason)
	},
	noticeExit: 1,
})

// copilotPoints lists each event under both of its names.
func copilotPoints() []point {
	var out []point
	for _, row := range []struct {
		names []string
		point point
	}{
		{[]string{"sessionStart", "SessionStart"}, point{event: policy.SessionStart}},
		{[]string{"sessionEnd", "SessionEnd"}, point{event: policy.SessionEnd}},
		{[]string{"userPromptSubmitted", "UserPromptSubmit"}, point{event: policy.PreSendMessage}},
		{[]string{"userPromptTransformed"}, point{event: policy.PostSendMessage}},
		{[]string{"preToolUse", "PreToolUse"}, point{event: policy.PreToolExecution, may: MayAllow | MayAsk | MayDeny,
			writes: []policy.Field{policy.FieldToolInput}}},
		{[]string{"permissionRequest", "PermissionRequest"}, point{event: policy.PermissionRequest, may: MayAllow | MayDeny | MayEnd}},
		{[]string{"postToolUse", "PostToolUse"}, point{event: policy.PostToolExecution, may: MayContext, writes: []policy.Field{policy.FieldToolResult}}},
		{[]string{"postToolUseFailure", "PostToolUseFailure"}, point{event: policy.PostToolExecutionFailure}},
		{[]string{"agentStop", "Stop"}, point{event: policy.StopEvent, may: MayDeny}},
		{[]string{"subagentStart", "SubagentStart"}, point{event: policy.SubagentStart}},
		{[]string{"subagentStop", "SubagentStop"}, point{event: policy.SubagentStop}},
		{[]string{"errorOccurred", "ErrorOccurred"}, point{event: policy.StopFailure}},
		{[]string{"preCompact", "PreCompact"}, point{event: policy.PreAutoCompact}},
		{[]string{"notification", "Notification"}, point{event: policy.Notify}},
	} {
		for _, name := range row.names {
			p := row.point
			p.name, p.shape = name, shapeCopilot
			out = append(out, p)
		}
	}
	return out
}

// shapeCopilot reads arguments sent as text, and the time from milliseconds.
func shapeCopilot(sent map[string]any) {
	if text, ok := sent["toolArgs"].(string); ok {
		sent["toolArgs"] = objectIn(text)
	}
	if ms, ok := sent["timestamp"].(int); ok {
		sent["timestamp"] = time.UnixMilli(int64(ms)).UTC().Format("2006-01-02T15:04:05.000Z")
	}
}

func sayCopilot(a *answer) Wire {
	out := reply{}
	switch a.point.event {
	case policy.PreToolExecution:
		switch a.act {
		case allow, ask, deny:
			out["permissionDecision"] = a.act.String()
			out.text("permissionDecisionReason", a.reason)
		}
	case policy.PermissionRequest:
		switch a.act {
		case allow:
			out["behavior"] = "allow"
		case deny, end:
			out["behavior"], out["message"] = "deny", a.reason
			out.flag("interrupt", a.act == end)
		}
	case policy.StopEvent:
		if a.act == deny {
			out["decision"], out["reason"] = "block", a.reason
		}
	}
	if input, ok := a.patch[policy.FieldToolInput]; ok {
		out["modifiedArgs"] = input
	}
	if v, ok := a.patch[policy.FieldToolResult]; ok {
		out["modifiedResult"] = copilotResult(a.call, v)
	}
	out.text("additionalContext", a.contextText())
	return out.wire(0, "")
}

// copilotResult is a result in Copilot's shape, of the original's type.
func copilotResult(c *Call, v any) any {
	old, _ := c.Context.Get(policy.FieldToolResult)
	before, _ := old.(map[string]any)
	kind, ok := before["resultType"].(string)
	if !ok {
		kind = "success"
	}
	if m, ok := v.(map[string]any); ok && m["textResultForLlm"] != nil {
		if m["resultType"] == nil {
			return map[string]any{"resultType": kind, "textResultForLlm": jsonText(m["textResultForLlm"])}
		}
		return m
	}
	return map[string]any{"resultType": kind, "textResultForLlm": jsonText(v)}
}
