package runner

import (
	"maps"
	"strings"

	"github.com/hookc/hookc/policy"
)

// cursorProtocol is Cursor's: at 0 a JSON object, at 2 a refusal. Several of
// its events are one canonical event, so what a script is sent goes by the
// name its hook is configured under (docs/dialects, cursor §4.3).
var cursorProtocol = &protocol{
	id: policy.CursorProtocol, eventKey: "hook_event_name",
	names: map[policy.Event]string{
		policy.SessionStart: "sessionStart", policy.SessionEnd: "sessionEnd", policy.PreSendMessage: "beforeSubmitPrompt",
		policy.PreToolExecution: "preToolUse", policy.PostToolExecution: "postToolUse",
		policy.PostToolExecutionFailure: "postToolUseFailure", policy.PostLLMResponse: "afterAgentResponse",
		policy.StopEvent: "stop", policy.SubagentStart: "subagentStart", policy.SubagentStop: "subagentStop",
		policy.PreAutoCompact: "preCompact", "ext.afterAgentThought": "afterAgentThought", "ext.workspaceOpen": "workspaceOpen",
	},
	keys: []key{
		{field: policy.FieldSessionID, name: "conversation_id"},
		{field: policy.FieldCwd, name: "cwd"},
		{field: policy.FieldTranscriptPath, name: "transcript_path"},
		{field: policy.FieldModel, name: "model"},
		{field: policy.FieldUserInput, name: "prompt", at: []policy.Event{policy.PreSendMessage}},
		{field: policy.FieldToolName, name: "tool_name"},
		{field: policy.FieldToolInput, name: "tool_input"},
		{field: policy.FieldToolUseID, name: "tool_use_id"},
		{field: policy.FieldToolResult, name: "tool_output"},
		{field: policy.FieldToolError, name: "error_message"},
		{field: policy.FieldMCP, name: cursorServer},
		{field: policy.FieldAssistantOutput, name: "text", at: []policy.Event{policy.PostLLMResponse}},
		{field: policy.FieldTaskDescription, name: "task"},
		{field: policy.FieldSubagentType, name: "subagent_type"},
		{field: policy.FieldStopReason, name: "status", at: []policy.Event{policy.StopEvent, policy.SubagentStop}},
		{field: policy.FieldProjectRoot, name: cursorRoot},
	},
	shape: shapeCursor,
	env:   []envKey{{"CURSOR_PROJECT_DIR", policy.FieldProjectRoot}, {"CURSOR_TRANSCRIPT_PATH", policy.FieldTranscriptPath}},
	read:  readCursor,
}

// cursorServer and cursorRoot mark values that shape puts in their places.
const cursorServer, cursorRoot = "mcp.server", "project.root"

// shapeCursor turns a call into the shape of the event of its kind.
func shapeCursor(out map[string]any) {
	if id, ok := out["conversation_id"]; ok {
		out["session_id"] = id
	}
	if _, ok := out["workspace_roots"]; !ok && out[cursorRoot] != nil {
		out["workspace_roots"] = []any{out[cursorRoot]}
	}
	server, _ := out[cursorServer].(map[string]any)
	delete(out, cursorServer)
	delete(out, cursorRoot)
	delete(out, "cursor_event")
	input, _ := out["tool_input"].(map[string]any)
	flat := func(result string) {
		delete(out, "tool_input")
		delete(out, "tool_name")
		maps.Copy(out, input)
		if v, ok := out["tool_output"]; ok && result != "" {
			out[result] = asText(v)
			delete(out, "tool_output")
		}
	}
	switch out["hook_event_name"] {
	case "beforeShellExecution", "afterShellExecution":
		flat("output")
	case "beforeReadFile", "beforeTabFileRead", "afterFileEdit", "afterTabFileEdit":
		flat("")
	case "beforeMCPExecution", "afterMCPExecution":
		if name, ok := out["tool_name"].(string); ok {
			out["tool_name"] = strings.TrimPrefix(name, "MCP:")
		}
		out["tool_input"] = asText(out["tool_input"])
		maps.Copy(out, server)
		if v, ok := out["tool_output"]; ok {
			out["result_json"] = asText(v)
			delete(out, "tool_output")
		}
	}
}

// readCursor takes an object at status 0. Every other status but 2, and what
// is not JSON, is a failure, which failClosed makes a refusal.
func readCursor(a answer) (policy.Result, error) {
	d := a.draft()
	text := strings.TrimSpace(a.stdout)
	switch {
	case a.exit == 2:
		d.verdict(policy.Deny, a.complaint("blocked by "+a.by.Name+" (exit status 2)"))
		return d.done()
	case a.exit != 0:
		return policy.Result{}, a.failure()
	case text == "" && !a.strict:
		return policy.Result{}, nil
	}
	v, err := looseJSON(text)
	m, ok := v.(map[string]any)
	if err != nil || !ok {
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not a JSON object")
	}
	d.cursorObject(d.object(m))
	return d.done()
}

func (d *draft) cursorObject(o fields) {
	reason := o.text("agent_message")
	if reason == "" {
		reason = o.text("user_message")
	}
	switch d.event {
	case policy.PreToolExecution, policy.SubagentStart:
		d.cursorPermission(o.text("permission"), reason)
	case policy.PreSendMessage:
		if on, ok := o.flag("continue"); ok && !on {
			d.verdict(policy.Deny, reason)
		}
	case policy.StopEvent, policy.SubagentStop:
		if text := o.text("followup_message"); text != "" {
			d.verdict(policy.Deny, text)
		}
	case policy.PreAutoCompact:
		d.system(o.text("user_message"))
	}
	if input := o.sub("updated_input"); input.m != nil {
		if d.event == policy.PreToolExecution && (d.native == "" || d.native == "preToolUse") {
			d.replace(policy.FieldToolInput, input.m)
		} else {
			d.warn("updated_input is taken at preToolUse alone")
		}
	}
	if o.has("updated_mcp_tool_output") {
		if strings.HasPrefix(d.in.Text(policy.FieldToolName), "MCP:") {
			d.replace(policy.FieldToolResult, o.m["updated_mcp_tool_output"])
		} else {
			d.warn("updated_mcp_tool_output is taken of MCP tools alone")
		}
	}
	d.context(o.text("additional_context"))
	if o.has("env") {
		d.warn("env of a hook does not reach the session through hookc")
	}
}

// cursorPermission reads a decision. Cursor documents ask everywhere, but
// passes over it before tools in general and refuses a command.
func (d *draft) cursorPermission(word, reason string) {
	switch {
	case word == "ask" && d.faithful && d.native == "preToolUse":
		d.warn("Cursor passes over ask at preToolUse")
	case word == "ask" && d.faithful && d.native == "beforeShellExecution", word == "ask" && d.event == policy.SubagentStart:
		d.verdict(policy.Deny, reason)
	default:
		d.decide(words{"allow": policy.Allow, "ask": policy.Ask, "deny": policy.Deny}, word, reason)
	}
}
