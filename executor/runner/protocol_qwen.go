package runner

import (
	"strings"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

var (
	qwenTools    = []policy.Event{policy.PreToolExecution, policy.PermissionRequest, policy.PostToolExecution, policy.PostToolExecutionFailure}
	qwenEndings  = []policy.Event{policy.StopEvent, policy.SubagentStop}
	qwenAgents   = []policy.Event{policy.SubagentStart, policy.SubagentStop}
	qwenStarting = []policy.Event{policy.SessionStart}
	qwenCompacts = []policy.Event{policy.PreAutoCompact, policy.PostAutoCompact}
)

// qwenProtocol is Qwen Code's: Gemini CLI's runner under Claude Code's names,
// except that exit status 2 listens to standard error alone and no other
// status denies by itself.
var qwenProtocol = &protocol{
	id: policy.QwenProtocol, eventKey: "hook_event_name",
	names: map[policy.Event]string{
		policy.SessionStart: "SessionStart", policy.SessionEnd: "SessionEnd", policy.PreSendMessage: "UserPromptSubmit",
		policy.PreToolExecution: "PreToolUse", policy.PermissionRequest: "PermissionRequest", policy.PostToolExecution: "PostToolUse",
		policy.PostToolExecutionFailure: "PostToolUseFailure", policy.StopEvent: "Stop", policy.StopFailure: "StopFailure",
		policy.SubagentStart: "SubagentStart", policy.SubagentStop: "SubagentStop", policy.Notify: "Notification",
		policy.PreAutoCompact: "PreCompact", policy.PostAutoCompact: "PostCompact",
	},
	keys: []key{
		{field: policy.FieldSessionID, name: "session_id"},
		{field: policy.FieldTranscriptPath, name: "transcript_path"},
		{field: policy.FieldCwd, name: "cwd"},
		{field: policy.FieldTimestamp, name: "timestamp"},
		{field: policy.FieldPermissionMode, name: "permission_mode"},
		{field: policy.FieldSource, name: "source", at: qwenStarting},
		{field: policy.FieldModel, name: "model", at: qwenStarting},
		{field: policy.FieldReason, name: "reason", at: []policy.Event{policy.SessionEnd}},
		{field: policy.FieldUserInput, name: "prompt", at: []policy.Event{policy.PreSendMessage}},
		{field: policy.FieldToolName, name: "tool_name", at: qwenTools},
		{field: policy.FieldToolInput, name: "tool_input", at: qwenTools},
		{field: policy.FieldToolUseID, name: "tool_use_id", at: qwenTools},
		{field: policy.FieldMCP, name: "mcp_context", at: qwenTools},
		{field: policy.FieldToolResult, name: "tool_response", at: []policy.Event{policy.PostToolExecution}},
		{field: policy.FieldToolError, name: "error", at: []policy.Event{policy.PostToolExecutionFailure}},
		{field: policy.FieldErrorType, name: "error", at: []policy.Event{policy.StopFailure}},
		{field: policy.FieldStopHookActive, name: "stop_hook_active", at: qwenEndings},
		{field: policy.FieldAssistantOutput, name: "last_assistant_message", at: append([]policy.Event{policy.StopFailure}, qwenEndings...)},
		{field: policy.FieldAgentID, name: "agent_id"},
		{field: policy.FieldAgentType, name: "agent_type"},
		{field: policy.FieldSubagentType, name: "agent_type", at: qwenAgents},
		{field: policy.FieldNotificationType, name: "notification_type"},
		{field: policy.FieldMessage, name: "message", at: []policy.Event{policy.Notify}},
		{field: policy.FieldTitle, name: "title", at: []policy.Event{policy.Notify}},
		{field: policy.FieldTrigger, name: "trigger", at: qwenCompacts},
	},
	env: []envKey{
		{"GEMINI_PROJECT_DIR", policy.FieldCwd}, {"CLAUDE_PROJECT_DIR", policy.FieldCwd}, {"QWEN_PROJECT_DIR", policy.FieldCwd},
	},
	anyExit: true,
	read:    readQwen, native: nativeQwen,
	shell: "bash", expand: expandQwen, cut: true,
}

// readQwen reads one answer: what Qwen Code makes of a hook that is alone, on
// the safe side.
func readQwen(a answer) (policy.Result, error) {
	a.faithful = false
	r, err := nativeQwen(a)
	if err != nil || len(r.Native) == 0 {
		return r, err
	}
	out := agent.QwenAnswer(a.event, r.Native, false)
	out.Warnings = append(r.Warnings, out.Warnings...)
	if out.Verdict == policy.None && out.Control == policy.Go {
		out.Reasons = nil
	}
	return out, nil
}

// nativeQwen reads an answer as Qwen Code's runner does (docs/dialects, qwen
// §4.2). Unless it is followed faithfully, exit status 2 always denies where
// anything can be denied, as does a word that plainly forbids.
func nativeQwen(a answer) (policy.Result, error) {
	d := a.draft()
	text := jsTrim(a.stdout)
	blocks := a.signal == "" && a.exit == 2
	if text == "" || blocks {
		text = jsTrim(a.stderr.tail)
	}
	said, _ := readNative(text, func(text string) map[string]any {
		switch {
		case blocks:
			return map[string]any{"decision": "deny", "reason": text}
		case a.signal == "" && a.exit == 0:
			return map[string]any{"decision": "allow", "reason": "Hook executed successfully", "systemMessage": text}
		}
		return map[string]any{"decision": "allow", "reason": "Non-blocking error: " + text, "systemMessage": "Warning: " + text}
	})
	if !a.faithful {
		said = d.qwenSafe(said, blocks)
	}
	if a.signal != "" {
		d.warn("ended by signal %s; Qwen Code takes what it said all the same", a.signal)
	}
	if said == nil {
		return d.r, nil
	}
	d.keep(said)
	own, _ := said["hookSpecificOutput"].(map[string]any)
	if v, ok := own["permissionDecision"].(string); ok && d.event == policy.PreToolExecution {
		d.r.Native[0].Verdict = map[string]policy.Verdict{"allow": policy.Allow, "ask": policy.Ask, "deny": policy.Deny}[v]
	}
	if a.inTurn && a.exit == 0 && a.signal == "" {
		d.r.Patch = geminiPipe(a, said)
	}
	return d.r, nil
}

// qwenGuards are the events at which Qwen Code obeys a decision.
func qwenGuards(e policy.Event) bool {
	switch e {
	case policy.PreToolExecution, policy.PermissionRequest, policy.PostToolExecution, policy.PreSendMessage, policy.StopEvent, policy.SubagentStop:
		return true
	}
	return false
}

func (d *draft) qwenSafe(said map[string]any, blocks bool) map[string]any {
	if !qwenGuards(d.event) {
		return said
	}
	word, _ := said["decision"].(string)
	own, _ := said["hookSpecificOutput"].(map[string]any)
	denies := word == "deny" || word == "block" || own["permissionDecision"] == "deny"
	if d.event == policy.PermissionRequest {
		decision, _ := own["decision"].(map[string]any)
		denies = decision != nil && decision["behavior"] != "allow"
	}
	switch {
	case denies:
		return said
	case d.event == policy.PermissionRequest && forbids(word):
		d.warn("decision %q is not heard at a permission prompt; taken as deny", word)
	case forbids(word):
		d.warn("decision %q is not a word of the protocol; taken as deny", word)
	case blocks:
		d.warn("exit status 2 with an answer that does not deny; taken as deny")
	default:
		return said
	}
	out := agent.JSSpread(said, map[string]any{"decision": "deny"})
	if d.event == policy.PermissionRequest {
		out["hookSpecificOutput"] = map[string]any{"decision": map[string]any{"behavior": "deny", "message": said["reason"]}}
		return out
	}
	if own["permissionDecision"] != nil {
		out["hookSpecificOutput"] = agent.JSSpread(own, map[string]any{"permissionDecision": "deny"})
	}
	return out
}

// expandQwen writes two names into a command's text, as Qwen Code does before
// the shell reads it.
func expandQwen(command string, in *policy.Context) string {
	dir := jsShellQuote(in.Text(policy.FieldCwd))
	return strings.NewReplacer("$GEMINI_PROJECT_DIR", dir, "$CLAUDE_PROJECT_DIR", dir).Replace(command)
}
