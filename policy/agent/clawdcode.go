package agent

import (
	"encoding/json"

	"github.com/hookc/hookc/policy"
)

// clawdcode is that of ClawdCode. A call is refused by exit status 2; at the
// end of a turn `continue: true` means "keep working", and `prevent: true`
// keeps a compaction from happening. Text after a tool ran becomes context as
// it is, JSON included.
var _ = register(clawdAt("clawdcode", "1", []string{"clawd", "clawd-code", "clawdcode@code"}, clawdProfile))

// The variant is the same on the wire; its profile reads the answers of other
// hooks as ClawdCode's document has them.
var _ = register(clawdAt("clawdcode@doc", "doc", nil, clawdDocProfile))

func clawdAt(id, version string, aliases []string, profile *Profile) Agent {
	return Agent{
		ID: id, Version: version, Aliases: aliases, Profile: profile,
		Doc:      "ClawdCode: exit code 2 and stderr, or JSON on stdout",
		eventKey: "hook_event_name", eventEnv: "HOOK_EVENT",
		keys: map[string]policy.Field{
			"project_dir": policy.FieldCwd, "prompt_content": policy.FieldUserInput, "tool_output": policy.FieldToolResult,
			"error": policy.FieldToolError, "subagent_id": policy.FieldAgentID,
		},
		env:    []envKey{{"PROJECT_DIR", policy.FieldCwd}, {"SESSION_ID", policy.FieldSessionID}},
		points: clawdPoints,
		// In yolo mode the agent answers every question itself, with yes.
		narrow: func(in *policy.Context, may Power) Power {
			if in.Text(policy.FieldPermissionMode) == "yolo" {
				return may &^ MayAsk
			}
			return may
		},
		// The rewrite is laid over the original, so nothing can be taken away.
		fits: func(c *Call, f policy.Field, v any) bool {
			old, _ := c.Context.Get(policy.FieldToolInput)
			before, _ := old.(map[string]any)
			after, ok := v.(map[string]any)
			return f != policy.FieldToolInput || ok && keeps(before, after)
		},
		join:       "\n\n",
		say:        sayClawd,
		blind:      exit2,
		noticeExit: 1,
	}
}

var clawdPoints = []point{
	{name: "PreToolUse", event: policy.PreToolExecution, may: MayDeny | MayAsk, writes: []policy.Field{policy.FieldToolInput}},
	{name: "PostToolUse", event: policy.PostToolExecution, may: MayContext, writes: []policy.Field{policy.FieldToolResult}},
	{name: "PostToolUseFailure", event: policy.PostToolExecutionFailure},
	{name: "PermissionRequest", event: policy.PermissionRequest, may: MayAllow | MayDeny},
	{name: "UserPromptSubmit", event: policy.PreSendMessage, may: MayContext},
	{name: "SessionStart", event: policy.SessionStart},
	{name: "SessionEnd", event: policy.SessionEnd},
	{name: "Stop", event: policy.StopEvent, may: MayDeny},
	{name: "SubagentStop", event: policy.SubagentStop, may: MayDeny},
	{name: "Notification", event: policy.Notify},
	{name: "Compaction", event: policy.PreAutoCompact, may: MayDeny},
}

func sayClawd(a *answer) Wire {
	out := reply{}
	switch a.point.event {
	case policy.PreToolExecution:
		return clawdTool(a)
	case policy.PermissionRequest:
		switch a.act {
		case allow:
			out["decision"] = "approve"
		case deny:
			out["decision"], out["reason"] = "deny", a.reason
		}
	case policy.StopEvent, policy.SubagentStop:
		if a.act == deny {
			out["continue"], out["reason"] = true, a.reason
		}
	case policy.PreAutoCompact:
		if a.act == deny {
			out["prevent"], out["reason"] = true, a.reason
		}
	case policy.PostToolExecution:
		return clawdResult(a)
	case policy.PreSendMessage:
		return Wire{Stdout: []byte(a.contextText())}
	}
	return out.wire(0, "")
}

// clawdTool answers for a call. A rewrite counts only beside a decision; here
// `allow` is what silence means too, and approves nothing.
func clawdTool(a *answer) Wire {
	out := reply{}
	switch {
	case a.act == deny:
		return exit2(a.reason)
	case a.act == ask:
		out["permissionDecision"] = "ask"
		out.text("permissionDecisionReason", a.reason)
	case a.patch != nil:
		out["permissionDecision"], out["updatedInput"] = "allow", a.patch[policy.FieldToolInput]
	}
	return out.wire(0, "")
}

// clawdResult answers for a result. An answer in JSON would itself be shown to
// the model, so context goes as plain text; a replaced result loses all
// context, which is therefore made part of it.
func clawdResult(a *answer) Wire {
	text := a.contextText()
	v, replaced := a.patch[policy.FieldToolResult]
	if !replaced {
		if json.Valid([]byte(text)) {
			text = "hookc: " + text // a JSON value would be taken for an answer
		}
		return Wire{Stdout: []byte(text)}
	}
	if m, ok := v.(map[string]any); ok {
		if content, ok := m["llmContent"].(string); ok {
			v = content
		}
	}
	result := jsonText(v)
	if text != "" {
		result += "\n\n[Hook Context]\n" + text
	}
	return reply{"additionalContext": "", "updatedOutput": result}.wire(0, "")
}
