package agent

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/policy"
)

// claude is Claude Code's. Exit status 2 with the reason on stderr refuses
// whatever is on stdout and in every version, so a refusal is said both ways;
// a permission prompt takes its answer from JSON alone. `defer` is never
// written: outside a headless turn of one call it is passed over.
var _ = register(claudeAt("claude", "2.1.296", []string{"claude-code", "claudecode"}, policy.ClaudeProtocol,
	append(slices.Clone(claudeOthers), "PreModelSwitch", "PostModelSwitch")))

// The older release has no hooks on model switches.
var _ = register(claudeAt("claude@2.1.240", "2.1.240", []string{"claude-code@2.1.240"}, policy.Claude240Protocol, claudeOthers))

// claudeOthers are events hookc has no names for. Its own hooks only watch
// them; those of Claude Code's settings may say what claudeOwn lists.
var claudeOthers = []string{
	"Setup", "InstructionsLoaded", "UserPromptExpansion", "MessageDisplay", "PermissionDenied", "PostToolBatch", "TaskCreated",
	"TaskCompleted", "TeammateIdle", "ConfigChange", "CwdChanged", "DirectoryAdded", "FileChanged", "WorktreeCreate", "WorktreeRemove",
	"Elicitation", "ElicitationResult",
}

var claudeOwn = map[string]Power{
	"UserPromptExpansion": claudeSays | MayDeny | MayContext, "PostToolBatch": claudeSays | MayDeny | MayContext,
	"TaskCreated": MayDeny, "TaskCompleted": MayDeny | MayEnd, "TeammateIdle": MayDeny | MayEnd, "ConfigChange": MayDeny,
	"Elicitation": MayDeny, "ElicitationResult": MayDeny, "WorktreeCreate": MayDeny | MayContext, "WorktreeRemove": MayDeny,
	"PreModelSwitch": MayAllow | MayAsk | MayDeny | MaySystem, "PostModelSwitch": MayContext | MaySystem,
	"CwdChanged": MaySystem, "DirectoryAdded": MaySystem, "FileChanged": MaySystem,
}

func claudeAt(id, version string, aliases []string, protocol policy.Protocol, others []string) Agent {
	points := slices.Clone(claudePoints)
	for _, name := range others {
		points = append(points, point{name: name, event: policy.Event("ext." + name), may: claudeOwn[name]})
	}
	return Agent{
		ID: id, Version: version, Aliases: aliases,
		Doc:      "Claude Code " + version + ": JSON on stdout, a refusal also by exit code 2 and stderr",
		eventKey: "hook_event_name",
		keys:     claudeKeys,
		env:      []envKey{{"CLAUDE_PROJECT_DIR", policy.FieldProjectRoot}},
		points:   points,
		Profile:  claudeProfile(protocol),
		narrow:   narrowClaude,
		fits:     fitsClaude,
		say:      sayClaude,
		blind:    exit2,
		// A notice "hook error" with the text; nothing else happens.
		noticeExit: 1,
	}
}

var claudeKeys = map[string]policy.Field{
	"prompt": policy.FieldUserInput, "tool_response": policy.FieldToolResult, "error": policy.FieldToolError,
	"last_assistant_message": policy.FieldAssistantOutput,
}

const claudeSays = MayEnd | MaySystem | MaySuppress

var claudePoints = []point{
	{name: "SessionStart", event: policy.SessionStart, may: MaySystem | MaySuppress | MayContext},
	{name: "SessionEnd", event: policy.SessionEnd},
	{name: "UserPromptSubmit", event: policy.PreSendMessage, may: claudeSays | MayDeny | MayContext},
	{name: "PreToolUse", event: policy.PreToolExecution, may: claudeSays | MayAllow | MayAsk | MayDeny | MayContext,
		writes: []policy.Field{policy.FieldToolInput}, askKeepsInput: true},
	{name: "PermissionRequest", event: policy.PermissionRequest, may: claudeSays | MayAllow | MayDeny,
		writes: []policy.Field{policy.FieldToolInput}, allowed: true},
	{name: "PostToolUse", event: policy.PostToolExecution, may: claudeSays | MayDeny | MayContext, writes: []policy.Field{policy.FieldToolResult}},
	{name: "PostToolUseFailure", event: policy.PostToolExecutionFailure, may: claudeSays | MayDeny | MayContext},
	// Context at an ending would keep the agent working.
	{name: "Stop", event: policy.StopEvent, may: claudeSays | MayDeny},
	{name: "SubagentStop", event: policy.SubagentStop, may: claudeSays | MayDeny, shape: shapeClaudeAgent},
	{name: "SubagentStart", event: policy.SubagentStart, may: claudeSays | MayContext, shape: shapeClaudeAgent},
	{name: "StopFailure", event: policy.StopFailure, keys: map[string]policy.Field{"error": policy.FieldErrorType}},
	{name: "Notification", event: policy.Notify},
	{name: "PreCompact", event: policy.PreAutoCompact, may: MayDeny},
	{name: "PostCompact", event: policy.PostAutoCompact},
}

// shapeClaudeAgent: at a subagent's own events agent_type is its type.
func shapeClaudeAgent(sent map[string]any) {
	if v, ok := sent["agent_type"]; ok {
		sent["subagent_type"] = v
	}
}

// narrowClaude: where permissions are bypassed a question is not put to
// anyone.
func narrowClaude(in *policy.Context, may Power) Power {
	if in.Text(policy.FieldPermissionMode) == "bypassPermissions" {
		return may &^ MayAsk
	}
	return may
}

// fitsClaude: a result is replaced only by one of the built-in tool's own
// shape, else the original is shown in silence; MCP results are not checked.
func fitsClaude(c *Call, f policy.Field, v any) bool {
	if f != policy.FieldToolResult {
		return f.Spec().Type.Holds(v)
	}
	old, ok := c.Context.Get(f)
	return ok && (strings.HasPrefix(c.Context.Text(policy.FieldToolName), "mcp__") || SameShape(old, v))
}

// SameShape reports whether two values have the same type and, if they are
// objects, the same keys with values of the same shape. Claude Code takes a
// built-in tool's result in its own shape alone.
func SameShape(old, v any) bool {
	before, isObject := old.(map[string]any)
	if !isObject {
		for _, t := range []policy.FieldType{policy.StringType, policy.NumberType, policy.BoolType, policy.ListType} {
			if t.Holds(old) {
				return t.Holds(v)
			}
		}
		return old == nil && v == nil
	}
	after, ok := v.(map[string]any)
	if !ok || len(after) != len(before) {
		return false
	}
	for k, inner := range before {
		other, has := after[k]
		if !has || !SameShape(inner, other) {
			return false
		}
	}
	return true
}

func sayClaude(a *answer) Wire {
	out, own := reply{}, reply{}
	out.text("systemMessage", a.systemText())
	out.flag("suppressOutput", a.suppress)
	own.text("additionalContext", a.contextText())
	if a.act == end {
		out["continue"], out["stopReason"] = false, a.reason
	}
	class := a.point.event.Spec().Class
	switch a.point.event {
	case "ext.WorktreeCreate":
		if a.act != deny {
			return Wire{Stdout: []byte(a.contextText())}
		}
	case policy.PreToolExecution, "ext.PreModelSwitch":
		claudeCall(a, own)
	case policy.PermissionRequest:
		claudePermission(a, own)
	default:
		if a.act == deny || a.act == end && class == policy.Guard && a.point.may.Has(MayDeny) {
			out["decision"], out["reason"] = "block", a.reason
		}
		if v, ok := a.patch[policy.FieldToolResult]; ok {
			own["updatedToolOutput"] = v
		}
	}
	if a.act == deny && a.point.event == policy.PreSendMessage {
		delete(own, "additionalContext") // a blocked prompt gets none
	}
	if len(own) > 0 {
		own["hookEventName"] = a.point.name
	}
	out.under("hookSpecificOutput", own)
	if a.act == deny && class != policy.Transform && a.point.event != policy.PermissionRequest {
		return out.wire(2, a.reason)
	}
	return out.wire(0, "")
}

// claudeCall writes the decision on a call. When the turn is to end the call
// is refused as well.
func claudeCall(a *answer, own reply) {
	word := a.act.String()
	switch a.act {
	case end:
		word = "deny"
	case allow, ask, deny:
	default:
		word = ""
	}
	if word != "" {
		own["permissionDecision"] = word
		own.text("permissionDecisionReason", a.reason)
	}
	if input, ok := a.patch[policy.FieldToolInput]; ok {
		own["updatedInput"] = input
	}
}

// claudePermission writes the answer to a permission prompt.
func claudePermission(a *answer, own reply) {
	decision := reply{}
	switch a.act {
	case allow:
		decision["behavior"] = "allow"
		if input, ok := a.patch[policy.FieldToolInput]; ok {
			decision["updatedInput"] = input
		}
	case deny, end:
		decision["behavior"], decision["message"] = "deny", a.reason
		decision.flag("interrupt", a.act == end)
	}
	own.under("decision", decision)
}
