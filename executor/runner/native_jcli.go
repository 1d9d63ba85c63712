package runner

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/policy"
)

// jcliKeys are what jcli itself sends to a hook, by event (docs/dialects, jcli
// §1.1, §1.2). What is unset is left out.
var jcliKeys = []key{
	{field: policy.FieldCwd, name: "cwd"},
	{field: policy.FieldSessionID, name: "session_id"},
	{field: policy.FieldMessages, name: "messages"},
	{field: policy.FieldSystemPrompt, name: "system_prompt", at: []policy.Event{policy.PreLLMRequest, policy.StopEvent, policy.PreAutoCompact}},
	{field: policy.FieldModel, name: "model", at: []policy.Event{policy.PreLLMRequest, policy.PostLLMResponse, policy.StopEvent,
		policy.PreMicroCompact, policy.PreAutoCompact}},
	{field: policy.FieldUserInput, name: "user_input", at: []policy.Event{policy.PreSendMessage, policy.PostSendMessage}},
	// At the end of a turn user_input carries the model's last text.
	{field: policy.FieldAssistantOutput, name: "user_input", at: []policy.Event{policy.StopEvent}},
	{field: policy.FieldAssistantOutput, name: "assistant_output", at: []policy.Event{policy.PostLLMResponse}},
	{field: policy.FieldToolName, name: "tool_name"},
	{field: policy.FieldToolArguments, name: "tool_arguments", at: []policy.Event{policy.PreToolExecution}},
	{field: policy.FieldToolResult, name: "tool_result"},
	{field: policy.FieldToolError, name: "tool_error"},
}

// jcliNames are its events, which hookc calls the same.
var jcliNames = map[policy.Event]string{
	policy.SessionStart: "session_start", policy.SessionEnd: "session_end",
	policy.PreSendMessage: "pre_send_message", policy.PostSendMessage: "post_send_message",
	policy.PreLLMRequest: "pre_llm_request", policy.PostLLMResponse: "post_llm_response",
	policy.PreToolExecution: "pre_tool_execution", policy.PostToolExecution: "post_tool_execution",
	policy.PostToolExecutionFailure: "post_tool_execution_failure", policy.StopEvent: "stop",
	policy.PreMicroCompact: "pre_micro_compact", policy.PostMicroCompact: "post_micro_compact",
	policy.PreAutoCompact: "pre_auto_compact", policy.PostAutoCompact: "post_auto_compact",
}

// jcliShape writes values of other agents as the texts they are in jcli.
func jcliShape(out map[string]any) {
	for _, name := range []string{"tool_arguments", "tool_result", "tool_error"} {
		if v, ok := out[name]; ok {
			out[name] = asText(v)
		}
	}
}

// jcliTexts are the keys of an answer that hold texts, jcliLists those that
// hold messages; beside them there are action and, in older releases, abort.
var (
	jcliTexts = []string{"user_input", "assistant_output", "system_prompt", "tool_arguments", "tool_result", "tool_error",
		"retry_feedback", "additional_context", "system_message"}
	jcliLists = []string{"messages", "inject_messages"}
)

// nativeJCLI reads an answer of a hook of jcli's own configuration: any
// status but 0 is a failure, and so is anything but one object whose known
// keys have the right types.
func nativeJCLI(a answer) (policy.Result, error) {
	if a.signal != "" || a.exit != 0 {
		return policy.Result{}, a.failure()
	}
	text := strings.TrimSpace(a.stdout)
	if text == "" {
		return policy.Result{}, nil
	}
	v, err := policy.DecodeJSON([]byte(text))
	if err != nil {
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not JSON: %w", err)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not a JSON object")
	}
	d := a.draft()
	known := jcliKnown(d, m)
	if len(d.errs) > 0 {
		_, err := d.done()
		return policy.Result{}, err
	}
	broken := jcliBroken(known)
	if broken {
		delete(known, "tool_arguments")
	}
	r, err := policy.ParseHookResult(known, a.by)
	if err != nil {
		return policy.Result{}, err
	}
	r.Warnings = append(d.r.Warnings, r.Warnings...)
	d.r = r
	if broken && r.Control == policy.Go {
		d.warn("tool_arguments is not the text of a JSON object; jcli's tool would refuse it")
		d.r.Control, d.r.ControlBy = policy.Skip, d.by
	}
	jcliForbids(d, m)
	jcliControl(d)
	if a.event == policy.PostToolExecutionFailure {
		jcliError(d, known)
	}
	return d.r, nil
}

// jcliKnown takes the keys jcli knows and checks their types.
func jcliKnown(d *draft, m map[string]any) map[string]any {
	known := map[string]any{}
	var unknown []string
	for name, v := range m {
		switch {
		case v == nil:
		case slices.Contains(jcliTexts, name):
			if _, ok := v.(string); !ok {
				d.fail("%s must be a string", name)
			}
			known[name] = v
		case slices.Contains(jcliLists, name):
			if !jcliMessages(v) {
				d.fail("%s must be a list of messages", name)
			}
			known[name] = v
		case name == "action":
			if v != "stop" && v != "skip" {
				d.fail("action must be stop or skip")
			}
			known[name] = v
		case name == "abort":
			known[name] = v
		default:
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		d.warn("jcli knows no key %q", unknown)
	}
	return known
}

// jcliMessages reports whether a value is a list of messages: objects with a
// role.
func jcliMessages(v any) bool {
	list, ok := v.([]any)
	for _, item := range list {
		m, isMap := item.(map[string]any)
		_, role := m["role"].(string)
		_, text := m["content"].(string)
		ok = ok && isMap && role && (text || m["content"] == nil)
	}
	return ok
}

// jcliBroken reports whether the new arguments are no JSON object.
func jcliBroken(known map[string]any) bool {
	text, ok := known["tool_arguments"].(string)
	if !ok {
		return false
	}
	v, err := policy.DecodeJSON([]byte(text))
	_, object := v.(map[string]any)
	return err != nil || !object
}

// jcliForbids hears a refusal in hookc's own words, which jcli itself does
// not know.
func jcliForbids(d *draft, m map[string]any) {
	word, _ := m["decision"].(string)
	if d.faithful || !forbids(word) || !d.event.Spec().Powers.Has(policy.MayDeny) {
		return
	}
	reason, _ := m["reason"].(string)
	d.warn("jcli knows no decision %q; taken as deny", word)
	d.verdict(policy.Deny, reason)
}

// jcliStops are the events at which jcli obeys `stop`.
var jcliStops = []policy.Event{policy.PreSendMessage, policy.PreLLMRequest, policy.PostLLMResponse, policy.StopEvent,
	policy.PreMicroCompact, policy.PreAutoCompact}

// jcliControl: a hook that stops or skips says nothing else but feedback and a
// message. Where its agent obeys neither, the chain ends all the same.
func jcliControl(d *draft) {
	control := d.r.Control
	if control == policy.Go {
		return
	}
	d.r = policy.Result{Feedback: d.r.Feedback, System: d.r.System, Warnings: d.r.Warnings,
		Verdict: d.r.Verdict, VerdictBy: d.r.VerdictBy, Reasons: d.r.Reasons}
	switch call := d.event == policy.PreToolExecution; {
	case call && control == policy.Skip:
		d.r.Control, d.r.ControlBy = policy.Skip, d.by
	case call && !d.faithful:
		d.r.Control, d.r.ControlBy = policy.Skip, d.by
		d.warn("jcli runs the tool when a hook stops here; the call is left out")
	case control == policy.Stop && slices.Contains(jcliStops, d.event):
		d.r.Control, d.r.ControlBy = policy.Stop, d.by
	default:
		d.r.EndChain = true
		d.warn("jcli obeys no %s at %s; it only ends the hooks of the event", control, d.event)
	}
}

// jcliError lets a new text of the error travel as feedback: no hook reads it.
func jcliError(d *draft, known map[string]any) {
	d.r.Feedback, d.r.Patch = nil, policy.Patch{}
	if text, ok := known["tool_error"].(string); ok && !d.r.EndChain {
		d.r.Feedback = []string{text}
	}
}
