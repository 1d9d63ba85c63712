package runner

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/policy"
)

var claudeNames = map[policy.Event]string{
	policy.SessionStart: "SessionStart", policy.SessionEnd: "SessionEnd",
	policy.PreSendMessage: "UserPromptSubmit", policy.PreToolExecution: "PreToolUse",
	policy.PermissionRequest: "PermissionRequest", policy.PostToolExecution: "PostToolUse",
	policy.PostToolExecutionFailure: "PostToolUseFailure", policy.StopEvent: "Stop",
	policy.StopFailure: "StopFailure", policy.SubagentStart: "SubagentStart", policy.SubagentStop: "SubagentStop",
	policy.Notify: "Notification", policy.PreAutoCompact: "PreCompact", policy.PostAutoCompact: "PostCompact",
}

const claudeExpansion policy.Event = "ext.UserPromptExpansion"

// claudeProtocol is Claude Code's, as of 2.1.296.
var claudeProtocol = &protocol{
	id: policy.ClaudeProtocol, eventKey: "hook_event_name",
	names: claudeNames,
	keys: []key{
		{field: policy.FieldSessionID, name: "session_id"},
		{field: policy.FieldTranscriptPath, name: "transcript_path"},
		{field: policy.FieldCwd, name: "cwd"},
		{field: policy.FieldPermissionMode, name: "permission_mode"},
		{field: policy.FieldAgentID, name: "agent_id"},
		{field: policy.FieldSubagentType, name: "agent_type"},
		{field: policy.FieldAgentType, name: "agent_type"},
		{field: policy.FieldModel, name: "model", at: []policy.Event{policy.SessionStart}},
		{field: policy.FieldSource, name: "source", at: []policy.Event{policy.SessionStart}},
		{field: policy.FieldReason, name: "reason", at: []policy.Event{policy.SessionEnd}},
		{field: policy.FieldTrigger, name: "trigger"},
		{field: policy.FieldUserInput, name: "prompt", at: []policy.Event{policy.PreSendMessage, claudeExpansion}},
		{field: policy.FieldToolName, name: "tool_name"},
		{field: policy.FieldToolInput, name: "tool_input"},
		{field: policy.FieldToolUseID, name: "tool_use_id"},
		{field: policy.FieldToolResult, name: "tool_response"},
		{field: policy.FieldToolError, name: "error"},
		{field: policy.FieldErrorType, name: "error", at: []policy.Event{policy.StopFailure}},
		{field: policy.FieldStopHookActive, name: "stop_hook_active"},
		{field: policy.FieldAssistantOutput, name: "last_assistant_message",
			at: []policy.Event{policy.StopEvent, policy.SubagentStop, policy.StopFailure}},
		{field: policy.FieldMessage, name: "message"},
		{field: policy.FieldTitle, name: "title"},
		{field: policy.FieldNotificationType, name: "notification_type"},
	},
	hides:   "OTEL_",
	anyExit: true,
	read:    readClaude,
	native:  func(a answer) (policy.Result, error) { return readClaudeNative(a, false) },
}

// readClaude follows the classification of the reference: exit 2 blocks, an
// object on stdout counts at every other status, and text is context where
// the model would read it.
func readClaude(a answer) (policy.Result, error) {
	text := strings.TrimSpace(a.stdout)
	var object map[string]any
	var bad error
	if strings.HasPrefix(text, "{") {
		v, err := looseJSON(text)
		object, _ = v.(map[string]any)
		bad = err
	}
	speaks := a.event == policy.PreSendMessage || a.event == policy.SessionStart
	switch {
	case a.exit == 2:
		return claudeBlock(a, object, text)
	case object != nil:
		return claudeObject(a, object).done()
	case bad != nil && !jsonLines(text) && (!speaks || strings.HasSuffix(text, "}")):
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not JSON: %w", bad)
	case a.exit != 0:
		return policy.Result{}, a.failure()
	}
	d := a.draft()
	if speaks {
		d.context(text)
	}
	return d.done()
}

// jsonLines reports whether text is two or more JSON values, one a line, none
// of which is an answer: then it is a log and not a broken answer.
func jsonLines(text string) bool {
	lines := strings.Split(text, "\n")
	return len(lines) > 1 && !slices.ContainsFunc(lines, func(line string) bool {
		v, err := looseJSON(line)
		if err != nil {
			return true
		}
		m, _ := v.(map[string]any)
		for _, k := range []string{"continue", "decision", "hookSpecificOutput", "systemMessage", "stopReason", "suppressOutput"} {
			if m[k] != nil {
				return true
			}
		}
		return false
	})
}

// claudeBlock reads an answer with exit 2: a block, whose reason is that of a
// blocking answer or else standard error. What would loosen it is dropped.
func claudeBlock(a answer, object map[string]any, text string) (policy.Result, error) {
	gate := a.event == policy.StopEvent || a.event == policy.SubagentStop
	if gate && text == "" && strings.Contains(strings.ToLower(a.stderr.tail), "no such file or directory") {
		// The script is missing; a shell reports that with 2 as well.
		return policy.Result{}, a.failure()
	}
	d := claudeObject(a, object)
	if len(d.errs) > 0 {
		d = a.draft()
	}
	if a.event == policy.PermissionRequest {
		// Claude Code shows its prompt as usual; so does the host here.
		d = a.draft()
		d.warn("exit status 2 says nothing at %s; answer with a decision", a.event)
		return d.done()
	}
	if d.r.Verdict != policy.Deny || len(d.r.Reasons) == 0 {
		d.r.Reasons = nil
		d.verdict(policy.Deny, a.complaint(""))
	}
	d.r.Patch, d.r.Feedback = policy.Patch{}, nil
	if d.r.Control != policy.Halt {
		d.r.Control, d.r.ControlBy = policy.Go, policy.By{}
	}
	if a.event == policy.PreSendMessage {
		d.r.Context = nil
	}
	return d.done()
}

// claudeObject reads an object. Keys of hookSpecificOutput are also taken at
// the top level, where Claude Code would pass them over.
func claudeObject(a answer, m map[string]any) *draft {
	d := a.draft()
	top := d.object(m)
	own := top.sub("hookSpecificOutput")
	native, known := claudeNames[a.event]
	if name := own.text("hookEventName"); own.m != nil && known && name != native {
		d.fail("hookSpecificOutput.hookEventName must be %q, not %q", native, name)
	}
	d.universal(top)
	d.system(top.text("systemMessage"))
	d.context(either("additionalContext", own, top).text("additionalContext"))
	if a.event == policy.PermissionRequest {
		claudePermission(d, own)
		return d
	}
	switch word := top.text("decision"); word {
	case "":
		d.reason(top.text("reason"))
	case "block":
		d.verdict(policy.Deny, top.text("reason"))
	case "approve":
		d.verdict(policy.Allow, top.text("reason"))
	default:
		d.fail("decision must be approve or block, not %q", word)
	}
	switch a.event {
	case policy.PreToolExecution:
		claudeToolUse(d, own, top)
	case policy.PostToolExecution:
		for _, k := range []string{"updatedMCPToolOutput", "updatedToolOutput"} {
			if o := either(k, own, top); o.has(k) {
				d.replace(policy.FieldToolResult, o.m[k])
			}
		}
	case policy.PreSendMessage:
		if d.r.Verdict == policy.Deny {
			d.r.Context = nil
		}
	case policy.StopEvent, policy.SubagentStop:
		claudeGoOn(d)
	}
	return d
}

var claudeVerdicts = words{"allow": policy.Allow, "ask": policy.Ask, "defer": policy.Defer, "deny": policy.Deny}

// claudeToolUse reads what PreToolUse alone says. Its own decision wins over
// the older top-level one; a deferred call keeps its input.
func claudeToolUse(d *draft, own, top fields) {
	word := either("permissionDecision", own, top).text("permissionDecision")
	if v, ok := claudeVerdicts[word]; ok {
		d.r.Reasons = nil
		d.verdict(v, either("permissionDecisionReason", own, top).text("permissionDecisionReason"))
	} else if word != "" {
		d.fail("permissionDecision must be allow, deny, ask or defer, not %q", word)
	}
	if input := either("updatedInput", own, top).sub("updatedInput"); input.m != nil && d.r.Verdict != policy.Defer {
		d.replace(policy.FieldToolInput, input.m)
	}
	if d.r.Verdict == policy.Defer {
		d.r.Context = nil
	}
}

// claudePermission reads the answer to a permission prompt.
func claudePermission(d *draft, own fields) {
	decision := own.sub("decision")
	switch word := decision.text("behavior"); word {
	case "":
	case "allow":
		d.verdict(policy.Allow, "")
		if input := decision.sub("updatedInput"); input.m != nil {
			d.replace(policy.FieldToolInput, input.m)
		}
	case "deny":
		d.verdict(policy.Deny, decision.text("message"))
		if on, _ := decision.flag("interrupt"); on {
			d.halt(decision.text("message"))
		}
	default:
		d.fail("decision.behavior must be allow or deny, not %q", word)
	}
}

// claudeGoOn gives context at the end of a turn its meaning there: the agent
// goes on, with the context as feedback.
func claudeGoOn(d *draft) {
	if len(d.r.Context) == 0 || d.r.Verdict == policy.Deny || d.r.Control == policy.Halt {
		return
	}
	d.r.Control, d.r.ControlBy = policy.Stop, d.by
	d.r.Feedback, d.r.Context = d.r.Context, nil
}
