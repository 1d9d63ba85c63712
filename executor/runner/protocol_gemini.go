package runner

import (
	"maps"
	"strconv"
	"strings"

	"github.com/hookc/hookc/policy"
)

var geminiNames = map[policy.Event]string{
	policy.SessionStart: "SessionStart", policy.SessionEnd: "SessionEnd",
	policy.PreSendMessage: "BeforeAgent", policy.StopEvent: "AfterAgent",
	policy.PreLLMRequest: "BeforeModel", policy.ToolSelection: "BeforeToolSelection", policy.PostLLMResponse: "AfterModel",
	policy.PreToolExecution: "BeforeTool", policy.PostToolExecution: "AfterTool", policy.PostToolExecutionFailure: "AfterTool",
	policy.Notify: "Notification", policy.PreAutoCompact: "PreCompress",
}

var (
	geminiPrompted = []policy.Event{policy.PreSendMessage, policy.StopEvent}
	geminiModel    = []policy.Event{policy.PreLLMRequest, policy.ToolSelection, policy.PostLLMResponse}
)

// geminiProtocol is Gemini CLI's. The model's request and reply are objects
// of their own there; shape builds them.
var geminiProtocol = &protocol{
	id: policy.GeminiProtocol, eventKey: "hook_event_name",
	names: geminiNames,
	keys: []key{
		{field: policy.FieldSessionID, name: "session_id"},
		{field: policy.FieldTranscriptPath, name: "transcript_path"},
		{field: policy.FieldCwd, name: "cwd"},
		{field: policy.FieldTimestamp, name: "timestamp"},
		{field: policy.FieldSource, name: "source", at: []policy.Event{policy.SessionStart}},
		{field: policy.FieldReason, name: "reason", at: []policy.Event{policy.SessionEnd}},
		{field: policy.FieldUserInput, name: "prompt", at: geminiPrompted},
		{field: policy.FieldAssistantOutput, name: "prompt_response", at: []policy.Event{policy.StopEvent}},
		{field: policy.FieldStopHookActive, name: "stop_hook_active"},
		{field: policy.FieldModel, name: geminiRequest + "model", at: geminiModel},
		{field: policy.FieldMessages, name: geminiRequest + "messages", at: geminiModel},
		{field: policy.FieldRequestConfig, name: geminiRequest + "config", at: geminiModel},
		{field: policy.FieldAssistantOutput, name: geminiResponse, at: []policy.Event{policy.PostLLMResponse}},
		{field: policy.FieldToolName, name: "tool_name"},
		{field: policy.FieldToolInput, name: "tool_input"},
		{field: policy.FieldMCP, name: "mcp_context"},
		{field: policy.FieldToolResult, name: "tool_response"},
		{field: policy.FieldToolError, name: geminiError},
		{field: policy.FieldNotificationType, name: "notification_type"},
		{field: policy.FieldMessage, name: "message"},
		{field: policy.FieldTrigger, name: "trigger"},
	},
	shape: shapeGemini,
	env: []envKey{
		{"GEMINI_PROJECT_DIR", policy.FieldCwd}, {"GEMINI_CWD", policy.FieldCwd}, {"GEMINI_SESSION_ID", policy.FieldSessionID},
		{"CLAUDE_PROJECT_DIR", policy.FieldCwd},
	},
	anyExit: true,
	read:    readGemini,
	shell:   "bash", expand: expandGemini, maxStdout: 64 << 20,
	native: nativeGemini,
}

// geminiRequest, geminiResponse and geminiError mark values that shape moves
// into the objects of the wire.
const geminiRequest, geminiResponse, geminiError = "llm_request.", "llm_response.", "tool_response.error"

// shapeGemini builds the objects of the wire. What the agent sent and hookc
// has no field for is in them already.
func shapeGemini(out map[string]any) {
	request := map[string]any{}
	sent, _ := out["llm_request"].(map[string]any)
	maps.Copy(request, sent)
	for _, k := range []string{"model", "messages", "config"} {
		if v, ok := out[geminiRequest+k]; ok {
			request[k] = v
			delete(out, geminiRequest+k)
		}
	}
	if len(request) > 0 {
		out["llm_request"] = request
	}
	if text, ok := out[geminiResponse].(string); ok {
		delete(out, geminiResponse)
		given, _ := out["llm_response"].(map[string]any)
		if whole, found := geminiReply(given); !found || whole != text {
			content := map[string]any{"role": "model", "parts": []any{text}}
			out["llm_response"] = map[string]any{"text": text, "candidates": []any{map[string]any{"content": content}}}
		}
	}
	v, failed := out[geminiError]
	delete(out, geminiError)
	response, ok := out["tool_response"]
	m, _ := response.(map[string]any)
	switch {
	case failed && geminiMessage(m["error"]) != v:
		out["tool_response"] = map[string]any{"llmContent": v, "error": map[string]any{"message": v}}
	case ok && m["llmContent"] == nil && m["error"] == nil:
		out["tool_response"] = map[string]any{"llmContent": response}
	}
}

// geminiMessage is the text of a failed call's error.
func geminiMessage(failure any) any {
	if m, ok := failure.(map[string]any); ok && m["message"] != nil {
		failure = m["message"]
	}
	if failure == nil {
		return nil
	}
	return asText(failure)
}

// readGemini takes what the script printed, or else what it complained: JSON
// counts whatever the status, text by it. Exit 2 always blocks, as the
// documents say; the program itself lets a silent one pass.
func readGemini(a answer) (policy.Result, error) {
	text := strings.Trim(a.stdout, " \t\r\n\v\f\uFEFF")
	if text == "" {
		text = strings.Trim(a.stderr.tail, " \t\r\n\v\f\uFEFF")
	}
	d := a.draft()
	v, err := geminiJSON(text)
	if m, ok := v.(map[string]any); ok && err == nil {
		geminiObject(d, m)
		if a.exit == 2 && d.r.Verdict != policy.Deny {
			reasons := d.r.Reasons
			d.verdict(policy.Deny, "")
			d.r.Reasons, d.r.Patch = reasons, policy.Patch{}
			d.warn("exit status 2 with an answer that does not deny; taken as deny")
		}
		return d.done()
	}
	switch {
	case a.exit == 2, a.exit > 2 && text != "" && err != nil:
		d.verdict(policy.Deny, text)
		return d.done()
	case a.exit != 0:
		return policy.Result{}, a.failure()
	case text != "" && err == nil:
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not a JSON object")
	case strings.HasPrefix(text, "{") && !strings.Contains(text, "\n"):
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not JSON: %w", err)
	}
	d.system(text)
	return d.done()
}

// geminiJSON reads JSON, and JSON inside a JSON string.
func geminiJSON(text string) (any, error) {
	v, err := looseJSON(text)
	if s, ok := v.(string); ok && err == nil {
		return looseJSON(s)
	}
	return v, err
}

var geminiWords = words{"allow": policy.Allow, "deny": policy.Deny, "block": policy.Deny}

func geminiObject(d *draft, m map[string]any) {
	o := d.object(m)
	reason, numeric := o.m["reason"].(int)
	text := strconv.Itoa(reason)
	if !numeric {
		text = o.text("reason")
	}
	known := geminiWords
	if d.event == policy.PreToolExecution {
		known = words{"allow": policy.Allow, "ask": policy.Ask, "deny": policy.Deny, "block": policy.Deny}
	}
	d.decide(known, o.text("decision"), text)
	d.universal(o)
	d.system(o.text("systemMessage"))
	own := o.sub("hookSpecificOutput")
	d.context(own.text("additionalContext"))
	switch d.event {
	case policy.PreToolExecution:
		if input := own.sub("tool_input"); input.m != nil {
			d.patch(policy.Merge(policy.FieldToolInput, input.m))
		}
	case policy.PreLLMRequest:
		geminiOverride(d, own.sub("llm_request"))
	case policy.PostLLMResponse:
		if text, ok := geminiReply(own.sub("llm_response").m); ok {
			d.replace(policy.FieldAssistantOutput, text)
		}
	case policy.ToolSelection:
		geminiTools(d, own.sub("toolConfig"))
	}
}

// geminiOverride changes the request: the i-th message replaces the text of
// the i-th one that has text, more are added, missing ones change nothing.
func geminiOverride(d *draft, request fields) {
	if model := request.text("model"); model != "" {
		d.replace(policy.FieldModel, model)
	}
	if config := request.sub("config"); config.m != nil {
		d.patch(policy.Merge(policy.FieldRequestConfig, config.m))
	}
	given, _ := take[[]any](request, "messages", "list")
	if len(given) == 0 {
		return
	}
	base, _ := d.in.Get(policy.FieldMessages)
	old, _ := base.([]any)
	var out []any
	for _, message := range old {
		m, _ := message.(map[string]any)
		if text, _ := m["content"].(string); text != "" && len(given) > 0 {
			message, given = given[0], given[1:]
		}
		out = append(out, message)
	}
	d.replace(policy.FieldMessages, append(out, given...))
}

// geminiReply is the text of a reply's first candidate.
func geminiReply(response map[string]any) (string, bool) {
	candidates, _ := response["candidates"].([]any)
	if len(candidates) == 0 {
		return "", false
	}
	first, _ := candidates[0].(map[string]any)
	content, _ := first["content"].(map[string]any)
	parts, _ := content["parts"].([]any)
	var text strings.Builder
	for _, part := range parts {
		switch p := part.(type) {
		case string:
			text.WriteString(p)
		case map[string]any:
			s, _ := p["text"].(string)
			text.WriteString(s)
		}
	}
	return text.String(), len(parts) > 0
}

// geminiTools reads toolConfig; the canonical reader checks the values.
func geminiTools(d *draft, config fields) {
	if config.m == nil {
		return
	}
	canonical := map[string]any{"mode": config.m["mode"], "names": config.m["allowedFunctionNames"]}
	r, err := policy.ParseHookResult(map[string]any{"tool_config": canonical}, d.by)
	if err != nil {
		d.fail("toolConfig: %w", err)
		return
	}
	d.r.ToolConfig = r.ToolConfig
}
