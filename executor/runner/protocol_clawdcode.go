package runner

import (
	"strings"

	"github.com/hookc/hookc/policy"
)

// clawdProtocol is ClawdCode's. `continue: true` means "keep working" at the
// end of a turn there, and `prevent: true` keeps a compaction from happening.
var clawdProtocol = &protocol{
	id: policy.ClawdCodeProtocol, eventKey: "hook_event_name",
	names: map[policy.Event]string{
		policy.SessionStart: "SessionStart", policy.SessionEnd: "SessionEnd",
		policy.PreSendMessage: "UserPromptSubmit", policy.PreToolExecution: "PreToolUse",
		policy.PermissionRequest: "PermissionRequest", policy.PostToolExecution: "PostToolUse",
		policy.PostToolExecutionFailure: "PostToolUseFailure", policy.StopEvent: "Stop",
		policy.SubagentStop: "SubagentStop", policy.Notify: "Notification", policy.PreAutoCompact: "Compaction",
	},
	keys: []key{
		{field: policy.FieldHookExecutionID, name: "hook_execution_id"},
		{field: policy.FieldTimestamp, name: "timestamp"},
		{field: policy.FieldSessionID, name: "session_id"},
		{field: policy.FieldCwd, name: "project_dir"},
		{field: policy.FieldPermissionMode, name: "permission_mode", at: []policy.Event{policy.PreToolExecution}},
		{field: policy.FieldToolName, name: "tool_name"},
		{field: policy.FieldToolUseID, name: "tool_use_id"},
		{field: policy.FieldToolInput, name: "tool_input"},
		{field: policy.FieldToolResult, name: "tool_output"},
		{field: policy.FieldToolError, name: "error"},
		{field: policy.FieldUserInput, name: "prompt_content", at: []policy.Event{policy.PreSendMessage}},
		{field: policy.FieldStopReason, name: "stop_reason"},
		{field: policy.FieldAgentID, name: "subagent_id", at: []policy.Event{policy.SubagentStop}},
		{field: policy.FieldMessage, name: "message"},
		{field: policy.FieldLevel, name: "level"},
		{field: policy.FieldPreTokens, name: "pre_tokens"},
		{field: policy.FieldMessageCount, name: "message_count"},
	},
	env:     clawdEnv,
	anyExit: true,
	read:    readClawd,
	native:  nativeClawd,

	nativeEnv: clawdEnv,
}

var clawdEnv = []envKey{{"SESSION_ID", policy.FieldSessionID}, {"PROJECT_DIR", policy.FieldCwd}}

// readClawd reads stdout at every status but 1 and 2. ClawdCode passes over
// a status beyond 2 and over broken JSON; here they are failures.
func readClawd(a answer) (policy.Result, error) {
	text := strings.TrimSpace(a.stdout)
	d := a.draft()
	if a.exit == 2 && a.event.Spec().Guarded() {
		clawdBlock(d)
		return d.done()
	}
	// After the fact exit 2 blocks nothing: what was printed counts.
	if a.exit != 0 && (a.exit != 2 || text == "") {
		return policy.Result{}, a.failure()
	}
	if text == "" {
		return policy.Result{}, nil
	}
	v, err := looseJSON(text)
	m, ok := v.(map[string]any)
	switch {
	case err == nil && ok:
		clawdObject(d, m, text)
	case a.event == policy.PostToolExecution, a.event == policy.PreSendMessage:
		d.context(text)
	case err == nil:
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not a JSON object")
	case strings.HasPrefix(text, "{"):
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not JSON: %w", err)
	}
	return d.done()
}

// clawdBlock is exit 2 where something can still be prevented. The reason is
// standard error as it is, line break included.
func clawdBlock(d *draft) {
	reason := d.stderr.tail
	if reason == "" {
		reason = "Blocking error"
	}
	d.verdict(policy.Deny, reason)
	if d.event != policy.PreToolExecution {
		d.warn("ClawdCode itself passes over exit status 2 at %s; taken as deny", d.event)
	}
}

// clawdObject reads an object; hookSpecificOutput, where there is one, hides
// the top level.
func clawdObject(d *draft, m map[string]any, text string) {
	o := d.object(m)
	if truthy(m["hookSpecificOutput"]) {
		o = o.sub("hookSpecificOutput")
	}
	switch d.event {
	case policy.PreToolExecution:
		d.decide(words{"allow": policy.Allow, "ask": policy.Ask, "deny": policy.Deny},
			o.text("permissionDecision"), o.text("permissionDecisionReason"))
		if input := o.sub("updatedInput"); input.m != nil {
			d.patch(policy.Merge(policy.FieldToolInput, input.m))
			if !o.has("permissionDecision") {
				d.warn("ClawdCode itself passes over updatedInput without permissionDecision; it is applied")
			}
		}
	case policy.PermissionRequest:
		d.decide(words{"approve": policy.Allow, "deny": policy.Deny, "ask": policy.None}, o.text("decision"), o.text("reason"))
	case policy.StopEvent, policy.SubagentStop:
		if truthy(o.m["continue"]) {
			d.verdict(policy.Deny, o.text("reason"))
		}
	case policy.PreAutoCompact:
		if truthy(o.m["prevent"]) {
			d.verdict(policy.Deny, o.text("reason"))
		}
	case policy.PostToolExecution:
		d.context(o.text("additionalContext"))
		if o.has("updatedOutput") {
			d.replace(policy.FieldToolResult, o.m["updatedOutput"])
		}
	case policy.PreSendMessage:
		clawdPrompt(d, o, text)
	}
}

// clawdPrompt reads an object at the prompt, where ClawdCode reads none: it
// is text for the model, unless it carries context or plainly forbids.
func clawdPrompt(d *draft, o fields, text string) {
	if word := o.text("decision"); forbids(word) {
		d.decide(nil, word, o.text("reason"))
		return
	}
	if o.has("additionalContext") {
		text = o.text("additionalContext")
	}
	d.context(text)
}

// truthy is JavaScript's opinion of a JSON value.
func truthy(v any) bool {
	switch x := v.(type) {
	case nil:
		return false
	case bool:
		return x
	case string:
		return x != ""
	case int:
		return x != 0
	case float64:
		return x != 0
	}
	return true
}
