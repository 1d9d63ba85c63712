package agent

import (
	"maps"
	"strings"

	"github.com/hookc/hookc/policy"
)

// gemini is that of Gemini CLI. It takes JSON on stdout at any exit status and
// standard error for the answer when stdout is empty, so nothing is written
// there but a reason. An `allow` is never written: before the model it would
// erase another hook's deny.
var _ = register(Agent{
	ID: "gemini", Version: "0.61.0", Aliases: []string{"gemini-cli"},
	Doc:      "Gemini CLI: JSON on stdout, a refusal also by exit code 2 and stderr",
	eventKey: "hook_event_name",
	keys:     geminiKeys,
	env: []envKey{
		// Both folders are the working directory, not the project's root.
		{"GEMINI_CWD", policy.FieldCwd}, {"GEMINI_PROJECT_DIR", policy.FieldCwd}, {"GEMINI_SESSION_ID", policy.FieldSessionID},
	},
	points:  geminiPoints,
	Profile: geminiProfile,
	fits:    fitsGemini,
	say:     sayGemini,
	blind: func(reason string) Wire {
		return reply{"decision": "deny", "reason": reason}.wire(2, reason)
	},
	noticeExit: 1, spoken: true,
})

var geminiKeys = map[string]policy.Field{
	"prompt": policy.FieldUserInput, "prompt_response": policy.FieldAssistantOutput,
	"tool_response": policy.FieldToolResult, "tool_response.error": policy.FieldToolError, "mcp_context": policy.FieldMCP,
}

const geminiSays = MaySystem | MaySuppress

var geminiPoints = []point{
	{name: "SessionStart", event: policy.SessionStart, may: geminiSays | MayContext},
	{name: "SessionEnd", event: policy.SessionEnd},
	{name: "BeforeAgent", event: policy.PreSendMessage, may: geminiSays | MayDeny | MayEnd | MayContext},
	{name: "AfterAgent", event: policy.StopEvent, may: geminiSays | MayDeny | MayEnd},
	{name: "BeforeModel", event: policy.PreLLMRequest, may: geminiSays | MayDeny | MayEnd, shape: shapeGemini(policy.PreLLMRequest),
		writes: []policy.Field{policy.FieldModel, policy.FieldMessages, policy.FieldRequestConfig}},
	// Whatever is said here, {} included, sets the offer of tools.
	{name: "BeforeToolSelection", event: policy.ToolSelection, shape: shapeGemini(policy.ToolSelection),
		writes: []policy.Field{policy.FieldToolConfig}, mute: true},
	{name: "AfterModel", event: policy.PostLLMResponse, may: geminiSays | MayDeny | MayEnd, shape: shapeGemini(policy.PostLLMResponse),
		writes: []policy.Field{policy.FieldAssistantOutput}},
	{name: "BeforeTool", event: policy.PreToolExecution, may: geminiSays | MayDeny | MayAsk | MayEnd,
		writes: []policy.Field{policy.FieldToolInput}, askKeepsInput: true},
	{name: "AfterTool", event: policy.PostToolExecutionFailure, may: geminiSays | MayDeny | MayEnd | MayContext,
		// The rest of the result has no field at this event.
		keys: map[string]policy.Field{"tool_response": policy.FieldRaw},
		when: geminiFailed, shape: shapeGeminiFailure},
	{name: "AfterTool", event: policy.PostToolExecution, may: geminiSays | MayDeny | MayEnd | MayContext},
	{name: "Notification", event: policy.Notify},
	{name: "PreCompress", event: policy.PreAutoCompact},
}

// geminiFailed tells a failed call from one that succeeded.
func geminiFailed(sent map[string]any) bool {
	response, _ := sent["tool_response"].(map[string]any)
	return response["error"] != nil
}

// shapeGeminiFailure makes the message of a failed call's error tool_error.
func shapeGeminiFailure(sent map[string]any) {
	response, _ := sent["tool_response"].(map[string]any)
	failure := response["error"]
	if m, ok := failure.(map[string]any); ok && m["message"] != nil {
		failure = m["message"]
	}
	sent["tool_response.error"] = jsonText(failure)
}

// shapeGemini lifts the parts of the model's request and reply that the event
// has fields for; the others stay in the request, as the agent sent them.
func shapeGemini(event policy.Event) func(sent map[string]any) {
	parts := map[string]policy.Field{"model": policy.FieldModel, "messages": policy.FieldMessages, "config": policy.FieldRequestConfig}
	maps.DeleteFunc(parts, func(_ string, f policy.Field) bool { return !event.Spec().CanRead(f) })
	return func(sent map[string]any) {
		if request, ok := sent["llm_request"].(map[string]any); ok {
			rest := maps.Clone(request)
			for name, f := range parts {
				if v := request[name]; v != nil {
					sent[f.String()] = v
				}
				delete(rest, name)
			}
			delete(sent, "llm_request")
			if len(rest) > 0 {
				sent["llm_request"] = rest
			}
		}
		if response, ok := sent["llm_response"].(map[string]any); ok {
			sent[policy.FieldAssistantOutput.String()] = geminiReply(response)
		}
	}
}

// geminiReply is the text of a reply: its text, else its first candidate's.
func geminiReply(response map[string]any) string {
	candidates, _ := response["candidates"].([]any)
	if len(candidates) > 0 {
		first, _ := candidates[0].(map[string]any)
		content, _ := first["content"].(map[string]any)
		parts, _ := content["parts"].([]any)
		var text strings.Builder
		for _, part := range parts {
			if m, ok := part.(map[string]any); ok {
				part = m["text"]
			}
			s, _ := part.(string)
			text.WriteString(s)
		}
		if len(parts) > 0 {
			return text.String()
		}
	}
	s, _ := response["text"].(string)
	return s
}

// fitsGemini: messages are written over those that were sent, one by one, so
// none can be taken away; of the configuration four numbers can be set.
func fitsGemini(c *Call, f policy.Field, v any) bool {
	old, _ := c.Context.Get(f)
	switch f {
	case policy.FieldMessages:
		before, _ := old.([]any)
		after, ok := v.([]any)
		for _, m := range after {
			message, _ := m.(map[string]any)
			_, role := message["role"].(string)
			_, content := message["content"].(string)
			ok = ok && role && content
		}
		return ok && len(after) >= len(before)
	case policy.FieldRequestConfig:
		before, _ := old.(map[string]any)
		after, ok := v.(map[string]any)
		for k := range after {
			ok = ok && (k == "temperature" || k == "maxOutputTokens" || k == "topP" || k == "topK")
		}
		return ok && keeps(before, after)
	}
	return f.Spec().Type.Holds(v)
}

// keeps reports whether no key is taken away.
func keeps(before, after map[string]any) bool {
	for k := range before {
		if _, ok := after[k]; !ok {
			return false
		}
	}
	return true
}

func sayGemini(a *answer) Wire {
	out, own := reply{}, reply{}
	system := a.system
	switch a.act {
	case deny:
		out["decision"], out["reason"] = "deny", a.reason
	case ask:
		out["decision"] = "ask"
		out.text("reason", a.reason)
		if a.reason != "" {
			system = append([]string{a.reason}, system...) // what the user is shown
		}
	case end:
		out["continue"], out["stopReason"] = false, a.reason
	}
	out.text("systemMessage", joinLines(system))
	out.flag("suppressOutput", a.suppress)
	own.text("additionalContext", a.contextText())
	if !a.act.refuses() {
		geminiChanges(a.patch, own)
	}
	if len(own) > 0 {
		own["hookEventName"] = a.point.name
	}
	out.under("hookSpecificOutput", own)
	if a.act == deny {
		return out.wire(2, a.reason)
	}
	return out.wire(0, "")
}

func geminiChanges(patch map[policy.Field]any, own reply) {
	request := reply{}
	for f, v := range patch {
		switch f {
		case policy.FieldToolInput:
			own["tool_input"] = v
		case policy.FieldModel:
			request["model"] = v
		case policy.FieldMessages:
			request["messages"] = v
		case policy.FieldRequestConfig:
			request["config"] = v
		case policy.FieldAssistantOutput:
			content := map[string]any{"role": "model", "parts": []any{v}}
			own["llm_response"] = map[string]any{"candidates": []any{map[string]any{"content": content}}}
		case policy.FieldToolConfig:
			offer, _ := v.(map[string]any)
			config := reply{}
			if mode := offer["mode"]; mode != nil {
				config["mode"] = mode
			}
			if names := offer["names"]; names != nil {
				config["allowedFunctionNames"] = names
			}
			own.under("toolConfig", config)
		}
	}
	own.under("llm_request", request)
}
