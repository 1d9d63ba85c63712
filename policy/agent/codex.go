package agent

import "github.com/hookc/hookc/policy"

// codex is that of OpenAI Codex. Anything it does not expect, an unknown key,
// a refusal without a reason, makes the hook "failed" and lets the action
// through, so answers are as plain as they can be: exit status 2 with a reason
// wherever that refuses. `allow` is written only to carry a rewrite, the one
// form Codex takes it in; it approves nothing.
var _ = register(Agent{
	ID: "codex", Version: "0.169.0", Aliases: []string{"codex-cli", "openai-codex"},
	Doc:      "OpenAI Codex: exit code 2 and stderr, or JSON on stdout",
	eventKey: "hook_event_name",
	keys: map[string]policy.Field{
		"prompt": policy.FieldUserInput, "tool_response": policy.FieldToolResult, "last_assistant_message": policy.FieldAssistantOutput,
	},
	points: []point{
		{name: "SessionStart", event: policy.SessionStart, may: MayContext | MaySystem},
		{name: "SessionEnd", event: policy.SessionEnd},
		{name: "UserPromptSubmit", event: policy.PreSendMessage, may: MayDeny | MayContext | MaySystem},
		{name: "PreToolUse", event: policy.PreToolExecution, may: MayDeny | MayContext | MaySystem, writes: []policy.Field{policy.FieldToolInput}},
		{name: "PermissionRequest", event: policy.PermissionRequest, may: MayAllow | MayDeny | MaySystem},
		// What blocks a result replaces it by the reason: a rewrite in full.
		{name: "PostToolUse", event: policy.PostToolExecution, may: MayDeny | MayContext | MaySystem, writes: []policy.Field{policy.FieldToolResult}},
		{name: "Stop", event: policy.StopEvent, may: MayDeny | MayEnd | MaySystem},
		{name: "SubagentStart", event: policy.SubagentStart, may: MayContext | MaySystem, shape: shapeClaudeAgent},
		{name: "SubagentStop", event: policy.SubagentStop, may: MayDeny | MayEnd | MaySystem, shape: shapeClaudeAgent},
		{name: "PreCompact", event: policy.PreAutoCompact, may: MayDeny | MaySystem},
		{name: "PostCompact", event: policy.PostAutoCompact, may: MaySystem},
		{name: "Interrupt", event: "ext.Interrupt"},
	},
	Profile:    codexProfile,
	say:        sayCodex,
	blind:      exit2,
	noticeExit: 1,
})

func sayCodex(a *answer) Wire {
	out, own := reply{}, reply{}
	switch {
	case a.act == deny && a.point.event == policy.PreAutoCompact:
		out["continue"], out["stopReason"] = false, a.reason
	case a.act == deny && a.point.event == policy.PostToolExecution:
		out["decision"], out["reason"] = "block", a.reason
	case a.act == deny:
		return exit2(a.reason)
	case a.act == end:
		out["continue"], out["stopReason"] = false, a.reason
	case a.act == allow:
		own.under("decision", reply{"behavior": "allow"})
	}
	if input, ok := a.patch[policy.FieldToolInput]; ok {
		own["permissionDecision"], own["updatedInput"] = "allow", input
	}
	if v, ok := a.patch[policy.FieldToolResult]; ok && a.act != deny {
		out["decision"], out["reason"] = "block", some(jsonText(v), "(no output)")
	}
	out.text("systemMessage", a.systemText())
	own.text("additionalContext", a.contextText())
	if len(own) > 0 {
		own["hookEventName"] = a.point.name
	}
	out.under("hookSpecificOutput", own)
	return out.wire(0, "")
}
