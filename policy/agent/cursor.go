package agent

import (
	"strings"

	"github.com/hookc/hookc/policy"
)

// cursor is that of Cursor. An answer is always JSON: with failClosed an empty
// one is a failure. Saying nothing is {}, not an approval. Exit status 2
// refuses too, but without a message, so refusals go as JSON.
var _ = register(Agent{
	ID: "cursor", Version: "3.9", Aliases: []string{"cursor-agent"},
	Doc:      "Cursor: JSON on stdout, exit code 0",
	eventKey: "hook_event_name",
	keys: map[string]policy.Field{
		"conversation_id": policy.FieldSessionID, "prompt": policy.FieldUserInput, "transcript_path": policy.FieldTranscriptPath,
		"tool_output": policy.FieldToolResult, "error_message": policy.FieldToolError, "error": policy.FieldToolError,
		"task": policy.FieldTaskDescription,
	},
	env:     []envKey{{"CURSOR_PROJECT_DIR", policy.FieldProjectRoot}, {"CLAUDE_PROJECT_DIR", policy.FieldProjectRoot}},
	points:  cursorPoints(),
	Profile: cursorProfile,
	// The replacement of a result is taken from MCP tools alone.
	fits: func(c *Call, f policy.Field, v any) bool {
		return f != policy.FieldToolResult && f.Spec().Type.Holds(v) || strings.HasPrefix(c.Context.Text(policy.FieldToolName), "MCP:")
	},
	say: sayCursor,
	blind: func(reason string) Wire {
		return reply{"permission": "deny", "continue": false, "user_message": reason}.wire(2, reason)
	},
})

// cursorPoints lists the events. What is sent is marked with the agent's own
// name of the event, since several are one of ours and a hook is configured
// for one of them.
func cursorPoints() []point {
	out := []point{
		{name: "preToolUse", event: policy.PreToolExecution, may: MayAllow | MayDeny, writes: []policy.Field{policy.FieldToolInput}, shape: shapeCursor},
		// A question acts as a refusal where a command runs, and is passed over
		// before other tools.
		{name: "beforeShellExecution", event: policy.PreToolExecution, may: MayAllow | MayAsk | MayDeny, shape: shapeCursorShell},
		{name: "beforeMCPExecution", event: policy.PreToolExecution, may: MayAllow | MayAsk | MayDeny, shape: shapeCursorMCP},
		{name: "beforeReadFile", event: policy.PreToolExecution, may: MayAllow | MayDeny, shape: shapeCursorRead},
		{name: "beforeTabFileRead", event: policy.PreToolExecution, may: MayAllow | MayDeny, shape: shapeCursorRead},
		{name: "postToolUse", event: policy.PostToolExecution, may: MayContext, writes: []policy.Field{policy.FieldToolResult}, shape: shapeCursor},
		{name: "afterShellExecution", event: policy.PostToolExecution, shape: shapeCursorShell},
		{name: "afterMCPExecution", event: policy.PostToolExecution, shape: shapeCursorMCP},
		{name: "afterFileEdit", event: policy.PostToolExecution, shape: shapeCursorEdit},
		{name: "afterTabFileEdit", event: policy.PostToolExecution, shape: shapeCursorEdit},
		{name: "postToolUseFailure", event: policy.PostToolExecutionFailure, may: MayContext, shape: shapeCursor},
		{name: "beforeSubmitPrompt", event: policy.PreSendMessage, may: MayDeny, shape: shapeCursor},
		{name: "stop", event: policy.StopEvent, may: MayDeny, shape: shapeCursorStop},
		{name: "subagentStop", event: policy.SubagentStop, may: MayDeny, shape: shapeCursorStop},
		{name: "subagentStart", event: policy.SubagentStart, may: MayDeny, shape: shapeCursor},
		{name: "sessionStart", event: policy.SessionStart, may: MayContext, shape: shapeCursor},
		{name: "sessionEnd", event: policy.SessionEnd, shape: shapeCursor},
		{name: "preCompact", event: policy.PreAutoCompact, may: MaySystem, shape: shapeCursor},
		{name: "afterAgentResponse", event: policy.PostLLMResponse, shape: shapeCursor, keys: map[string]policy.Field{"text": policy.FieldAssistantOutput}},
		{name: "afterAgentThought", event: "ext.afterAgentThought", shape: shapeCursor},
		{name: "workspaceOpen", event: "ext.workspaceOpen", shape: shapeCursor},
	}
	for i := range out {
		name, shape := out[i].name, out[i].shape
		out[i].shape = func(sent map[string]any) {
			shape(sent)
			sent["cursor_event"] = name
		}
	}
	return out
}

// shapeCursor names the folders of the workspace, the first of which is the
// project.
func shapeCursor(sent map[string]any) {
	roots, _ := sent["workspace_roots"].([]any)
	if len(roots) == 0 {
		return
	}
	if root, ok := roots[0].(string); ok && root != "" {
		sent["project_root"] = root
		if sent["cwd"] == nil || sent["cwd"] == "" {
			sent["cwd"] = root
		}
	}
}

// move gives a key of the event a place in the call's input.
func move(sent map[string]any, input map[string]any, keys ...string) {
	for _, k := range keys {
		if v, ok := sent[k]; ok {
			input[k] = v
			delete(sent, k)
		}
	}
}

func shapeCursorShell(sent map[string]any) {
	input := map[string]any{}
	move(sent, input, "command")
	if len(input) > 0 {
		sent["tool_name"], sent["tool_input"] = "Shell", input
	}
	if v, ok := sent["output"]; ok {
		sent["tool_output"] = v
		delete(sent, "output")
	}
	shapeCursor(sent)
}

// shapeCursorMCP reads the input of an MCP call from its text.
func shapeCursorMCP(sent map[string]any) {
	if text, ok := sent["tool_input"].(string); ok {
		sent["tool_input"] = objectIn(text)
	}
	if name, ok := sent["tool_name"].(string); ok && name != "" && !strings.HasPrefix(name, "MCP:") {
		sent["tool_name"] = "MCP:" + name
	}
	server := map[string]any{}
	move(sent, server, "url", "command")
	if len(server) > 0 {
		sent["mcp"] = server
	}
	if v, ok := sent["result_json"]; ok {
		sent["tool_output"] = v
		delete(sent, "result_json")
	}
	shapeCursor(sent)
}

// objectIn is the object that text holds; text that holds none stays text,
// which no call has as its input.
func objectIn(text string) any {
	if text == "" {
		return map[string]any{}
	}
	if v, err := policy.DecodeJSON([]byte(text)); err == nil {
		return v
	}
	return text
}

func shapeCursorRead(sent map[string]any) {
	input := map[string]any{}
	move(sent, input, "file_path", "content", "attachments")
	if len(input) > 0 {
		sent["tool_name"], sent["tool_input"] = "Read", input
	}
	shapeCursor(sent)
}

func shapeCursorEdit(sent map[string]any) {
	input := map[string]any{}
	move(sent, input, "file_path", "edits")
	sent["tool_name"], sent["tool_input"] = "Edit", input
	shapeCursor(sent)
}

// shapeCursorStop: the agent counts how often it was kept going.
func shapeCursorStop(sent map[string]any) {
	n, _ := sent["loop_count"].(int)
	sent["stop_hook_active"] = n > 0
	if v, ok := sent["status"]; ok {
		sent["stop_reason"] = v
	}
	shapeCursor(sent)
}

func sayCursor(a *answer) Wire {
	out := reply{}
	switch a.point.event {
	case policy.PreToolExecution, policy.SubagentStart:
		switch a.act {
		case allow, ask, deny:
			out["permission"] = a.act.String()
		}
		out.text("user_message", a.reason)
		out.text("agent_message", a.reason)
	case policy.PreSendMessage:
		if a.act == deny {
			out["continue"], out["user_message"] = false, a.reason
		}
	case policy.StopEvent, policy.SubagentStop:
		if a.act == deny {
			out["followup_message"] = a.reason
		}
	case policy.PreAutoCompact:
		out.text("user_message", a.systemText())
	}
	if input, ok := a.patch[policy.FieldToolInput]; ok {
		out["updated_input"] = input
	}
	if v, ok := a.patch[policy.FieldToolResult]; ok {
		out["updated_mcp_tool_output"] = v
	}
	out.text("additional_context", a.contextText())
	if len(out) == 0 {
		return Wire{Stdout: []byte("{}\n")}
	}
	return out.wire(0, "")
}
