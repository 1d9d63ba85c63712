package agent

import "github.com/hookc/hookc/policy"

// jcli is that of LingoJack/j. Its exit status must be 0: any other is a
// failure of the hook, which on_error lets pass by default. `skip` keeps one
// tool call from running, `stop` ends the step; the tool loop passes over a
// `stop`, so a call is refused by `skip` alone.
var _ = register(Agent{
	ID: "jcli", Version: "1", Aliases: []string{"j", "jcli@help", "jcli@agent"},
	Doc:      "LingoJack/j: a HookResult on stdout, exit code 0",
	eventKey: "event", eventEnv: "JCLI_HOOK_EVENT",
	env:    []envKey{{"JCLI_CWD", policy.FieldCwd}},
	points: jcliPoints,
	fits: func(_ *Call, f policy.Field, v any) bool {
		return f == policy.FieldToolResult || f.Spec().Type.Holds(v)
	},
	Profile: jcliProfile,
	join:    "\n\n",
	say:     sayJCLI,
	blind: func(reason string) Wire {
		return reply{"action": "skip", "system_message": reason}.wire(0, "")
	},
})

var jcliPoints = []point{
	{name: "session_start", event: policy.SessionStart, may: MaySystem},
	{name: "session_end", event: policy.SessionEnd, may: MaySystem},
	{name: "pre_send_message", event: policy.PreSendMessage, may: MayStop | MayRetry | MaySystem, writes: []policy.Field{policy.FieldUserInput}},
	{name: "post_send_message", event: policy.PostSendMessage, may: MaySystem},
	{name: "pre_llm_request", event: policy.PreLLMRequest, may: MayStop | MayRetry | MayContext | MayInject | MaySystem,
		writes: []policy.Field{policy.FieldMessages, policy.FieldSystemPrompt}},
	{name: "post_llm_response", event: policy.PostLLMResponse, may: MayStop | MayRetry | MaySystem, writes: []policy.Field{policy.FieldAssistantOutput}},
	{name: "pre_tool_execution", event: policy.PreToolExecution, may: MayDeny | MaySystem, writes: []policy.Field{policy.FieldToolInput}, shape: shapeJCLITool},
	{name: "post_tool_execution", event: policy.PostToolExecution, may: MaySystem, writes: []policy.Field{policy.FieldToolResult}, shape: shapeJCLITool},
	{name: "post_tool_execution_failure", event: policy.PostToolExecutionFailure, may: MayContext | MaySystem,
		writes: []policy.Field{policy.FieldToolError}, shape: shapeJCLITool},
	{name: "stop", event: policy.StopEvent, may: MayDeny | MayStop | MayContext | MaySystem, shape: shapeJCLIStop},
	{name: "pre_micro_compact", event: policy.PreMicroCompact, may: MayStop | MaySystem},
	{name: "post_micro_compact", event: policy.PostMicroCompact, may: MaySystem, writes: []policy.Field{policy.FieldMessages}},
	{name: "pre_auto_compact", event: policy.PreAutoCompact, may: MayStop | MayContext | MaySystem},
	{name: "post_auto_compact", event: policy.PostAutoCompact, may: MaySystem, writes: []policy.Field{policy.FieldMessages}},
}

// shapeJCLITool gives a call without arguments an empty object.
func shapeJCLITool(sent map[string]any) {
	if sent["tool_arguments"] == "" {
		sent["tool_arguments"] = "{}"
	}
}

// shapeJCLIStop names what user_input really carries at the end of a turn:
// the model's last text.
func shapeJCLIStop(sent map[string]any) {
	if _, ok := sent["assistant_output"]; !ok {
		sent["assistant_output"] = sent["user_input"]
	}
}

func sayJCLI(a *answer) Wire {
	out := reply{}
	system := a.system
	switch a.act {
	case deny:
		if a.point.event == policy.StopEvent {
			out["action"], out["retry_feedback"] = "stop", a.reason
			break
		}
		out["action"] = "skip"
		system = append([]string{a.reason}, system...)
	case retry:
		out["action"], out["retry_feedback"] = "stop", a.reason
	case leave:
		out["action"] = "stop"
		system = append([]string{a.reason}, system...)
	}
	out.text("system_message", joinLines(system))
	if a.act.refuses() {
		return out.wire(0, "")
	}
	for f, v := range a.patch {
		switch f {
		case policy.FieldToolInput:
			out["tool_arguments"] = jsonText(v)
		case policy.FieldToolResult:
			out["tool_result"] = jsonText(v)
		default:
			out[f.String()] = v
		}
	}
	if len(a.inject) > 0 {
		out["inject_messages"] = a.inject
	}
	out.text("additional_context", a.contextText())
	return out.wire(0, "")
}
