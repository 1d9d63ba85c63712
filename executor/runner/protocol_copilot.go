package runner

import (
	"strings"
	"time"

	"github.com/hookc/hookc/policy"
)

// copilotProtocol is Copilot CLI's: a flat JSON object. Before a tool any
// status but 0 refuses, whatever was printed; elsewhere it is a failure. Under
// a PascalCase name of its event a script is sent snake_case keys and Claude
// Code's names of the tools (docs/dialects, copilot §4.4).
var copilotProtocol = &protocol{
	id: policy.CopilotProtocol, eventKey: copilotEvent,
	names: map[policy.Event]string{
		policy.SessionStart: "sessionStart", policy.SessionEnd: "sessionEnd", policy.PreSendMessage: "userPromptSubmitted",
		policy.PostSendMessage: "userPromptTransformed", policy.PreToolExecution: "preToolUse",
		policy.PermissionRequest: "permissionRequest", policy.PostToolExecution: "postToolUse",
		policy.PostToolExecutionFailure: "postToolUseFailure", policy.StopEvent: "agentStop",
		policy.SubagentStart: "subagentStart", policy.SubagentStop: "subagentStop", policy.StopFailure: "errorOccurred",
		policy.PreAutoCompact: "preCompact", policy.Notify: "notification",
	},
	keys: []key{
		{field: policy.FieldSessionID, name: "sessionId"},
		{field: policy.FieldTimestamp, name: "timestamp"},
		{field: policy.FieldCwd, name: "cwd"},
		{field: policy.FieldTranscriptPath, name: "transcriptPath"},
		{field: policy.FieldToolName, name: "toolName"},
		{field: policy.FieldToolInput, name: "toolArgs"},
		{field: policy.FieldToolResult, name: "toolResult"},
		{field: policy.FieldToolError, name: "error"},
		{field: policy.FieldUserInput, name: "prompt"},
		{field: policy.FieldSource, name: "source"},
		{field: policy.FieldReason, name: "reason"},
		{field: policy.FieldTrigger, name: "trigger"},
		{field: policy.FieldStopReason, name: "stopReason"},
		{field: policy.FieldSubagentName, name: "agentName"},
		{field: policy.FieldMessage, name: "message"},
		{field: policy.FieldTitle, name: "title"},
		{field: policy.FieldNotificationType, name: "notificationType"},
	},
	shape:     shapeCopilot,
	read:      readCopilot,
	maxStdout: 10 << 20,
}

// copilotEvent holds the event's name for shape; camelCase input names none.
const copilotEvent = "hook.event"

// copilotSnake are the keys of input under PascalCase names.
var copilotSnake = map[string]string{
	"sessionId": "session_id", "transcriptPath": "transcript_path", "toolName": "tool_name", "toolArgs": "tool_input",
	"toolResult": "tool_result", "stopReason": "stop_reason", "agentName": "agent_name", "notificationType": "notification_type",
}

// copilotTools are Claude Code's names of Copilot's tools.
var copilotTools = map[string]string{
	"bash": "Bash", "view": "Read", "create": "Write", "edit": "Edit", "grep": "Grep", "glob": "Glob", "web_fetch": "WebFetch", "task": "Task",
}

func shapeCopilot(out map[string]any) {
	name, _ := out[copilotEvent].(string)
	delete(out, copilotEvent)
	if name != "" && name[0] >= 'A' && name[0] <= 'Z' {
		out["hook_event_name"] = name
		for from, to := range copilotSnake {
			if v, ok := out[from]; ok {
				out[to] = v
				delete(out, from)
			}
		}
		tool, _ := out["tool_name"].(string)
		if claude, ok := copilotTools[tool]; ok {
			out["tool_name"] = claude
		}
		return
	}
	text, _ := out["timestamp"].(string)
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		out["timestamp"] = int(at.UnixMilli())
	}
}

func readCopilot(a answer) (policy.Result, error) {
	d := a.draft()
	text := strings.TrimSpace(a.stdout)
	switch {
	case a.exit != 0 && a.event == policy.PreToolExecution:
		d.verdict(policy.Deny, a.complaint(a.by.Name+": "+a.failure().Error()))
		return d.done()
	case a.exit != 0:
		return policy.Result{}, a.failure()
	case text == "":
		return policy.Result{}, nil
	}
	v, err := looseJSON(text)
	m, ok := v.(map[string]any)
	if err != nil || !ok {
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not a JSON object")
	}
	o := d.object(m)
	switch a.event {
	case policy.PreToolExecution:
		d.decide(words{"allow": policy.Allow, "ask": policy.Ask, "deny": policy.Deny},
			o.text("permissionDecision"), o.text("permissionDecisionReason"))
		if input := o.sub("modifiedArgs"); input.m != nil {
			d.replace(policy.FieldToolInput, input.m)
		}
	case policy.PermissionRequest:
		d.decide(words{"allow": policy.Allow, "deny": policy.Deny}, o.text("behavior"), o.text("message"))
		if on, _ := o.flag("interrupt"); on && d.r.Verdict == policy.Deny {
			d.halt(o.text("message"))
		}
	case policy.StopEvent:
		d.decide(words{"block": policy.Deny}, o.text("decision"), o.text("reason"))
	case policy.PostToolExecution:
		if o.has("modifiedResult") {
			d.replace(policy.FieldToolResult, o.m["modifiedResult"])
		}
		d.context(o.text("additionalContext"))
	}
	return d.done()
}
