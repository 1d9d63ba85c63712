package runner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookc/hookc/policy"
)

// codexProtocol is Codex's. It is strict: what it does not expect makes the
// hook "failed", and then nothing of the answer counts. Without `faithful`
// what plainly forbids holds all the same (docs/dialects, codex §4.1).
var codexProtocol = &protocol{
	id: policy.CodexProtocol, eventKey: "hook_event_name",
	names: codexNames,
	keys: []key{
		{field: policy.FieldSessionID, name: "session_id"},
		{field: policy.FieldTranscriptPath, name: "transcript_path"},
		{field: policy.FieldCwd, name: "cwd"},
		{field: policy.FieldModel, name: "model"},
		{field: policy.FieldPermissionMode, name: "permission_mode"},
		{field: policy.FieldAgentID, name: "agent_id"},
		{field: policy.FieldAgentType, name: "agent_type"},
		{field: policy.FieldSubagentType, name: "agent_type"},
		{field: policy.FieldSource, name: "source", at: []policy.Event{policy.SessionStart}},
		{field: policy.FieldReason, name: "reason", at: []policy.Event{policy.SessionEnd}},
		{field: policy.FieldTrigger, name: "trigger"},
		{field: policy.FieldUserInput, name: "prompt", at: []policy.Event{policy.PreSendMessage}},
		{field: policy.FieldToolName, name: "tool_name"},
		{field: policy.FieldToolInput, name: "tool_input"},
		{field: policy.FieldToolUseID, name: "tool_use_id"},
		{field: policy.FieldToolResult, name: "tool_response"},
		{field: policy.FieldStopHookActive, name: "stop_hook_active"},
		{field: policy.FieldAssistantOutput, name: "last_assistant_message", at: []policy.Event{policy.StopEvent, policy.SubagentStop}},
	},
	// Codex sends the transcript's path always, null when there is none.
	shape: func(out map[string]any) {
		if _, ok := out["transcript_path"]; !ok {
			out["transcript_path"] = nil
		}
	},
	read: readCodex,
}

var codexNames = map[policy.Event]string{
	policy.SessionStart: "SessionStart", policy.SessionEnd: "SessionEnd", policy.PreSendMessage: "UserPromptSubmit",
	policy.PreToolExecution: "PreToolUse", policy.PermissionRequest: "PermissionRequest", policy.PostToolExecution: "PostToolUse",
	policy.StopEvent: "Stop", policy.SubagentStart: "SubagentStart", policy.SubagentStop: "SubagentStop",
	policy.PreAutoCompact: "PreCompact", policy.PostAutoCompact: "PostCompact", "ext.Interrupt": "Interrupt",
}

// codexBlocks are the events at which status 2 and `decision: block` refuse.
var codexBlocks = []policy.Event{policy.PreSendMessage, policy.PreToolExecution, policy.PostToolExecution, policy.StopEvent, policy.SubagentStop}

func readCodex(a answer) (policy.Result, error) {
	text := strings.TrimSpace(a.stdout)
	d := a.draft()
	switch {
	case a.exit == 2 && (slices.Contains(codexBlocks, a.event) || a.event == policy.PermissionRequest):
		reason := a.complaint("")
		if reason == "" {
			d.codexFlaw("exit status 2 needs a reason on standard error")
		}
		d.verdict(policy.Deny, reason)
		return d.codex()
	case a.exit != 0:
		return policy.Result{}, a.failure()
	case text == "":
		return policy.Result{}, nil
	case text[0] == '{' || text[0] == '[':
		v, err := looseJSON(text)
		m, ok := v.(map[string]any)
		if err != nil || !ok {
			return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not a JSON object")
		}
		d.codexObject(m)
		return d.codex()
	}
	switch a.event {
	case policy.PreSendMessage, policy.SessionStart:
		d.context(text)
	case policy.StopEvent, policy.SubagentStop:
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is text; %s takes JSON", a.event)
	}
	return d.done()
}

// codexFlaw notes what makes Codex pass over the whole answer.
func (d *draft) codexFlaw(format string, args ...any) {
	d.errs = append(d.errs, fmt.Errorf("codex passes over the whole answer: "+format, args...))
}

// codex is done; a faithful reader keeps nothing of a flawed answer.
func (d *draft) codex() (policy.Result, error) {
	r, err := d.done()
	if err != nil && d.faithful {
		return policy.Result{}, err
	}
	return r, err
}

var (
	codexKeys = []string{"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"}
	// codexOwn are the keys of hookSpecificOutput beside the event's name.
	codexOwn = map[policy.Event][]string{
		policy.SessionStart: {"additionalContext"}, policy.PreSendMessage: {"additionalContext"},
		policy.SubagentStart: {"additionalContext"}, policy.PermissionRequest: {"decision"},
		policy.PostToolExecution: {"additionalContext", "updatedMCPToolOutput"},
		policy.PreToolExecution:  {"permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"},
	}
)

func (d *draft) codexUnknown(m map[string]any, where string, known ...string) {
	var extra []string
	for k := range m {
		if !slices.Contains(known, k) {
			extra = append(extra, k)
		}
	}
	slices.Sort(extra)
	for _, k := range extra {
		d.codexFlaw("%s has no key %q", where, k)
	}
}

// codexObject reads an object. Nothing of it is lost to a flaw beside it until
// codex decides what a flaw costs.
func (d *draft) codexObject(m map[string]any) {
	d.codexUnknown(m, "an answer", codexKeys...)
	top := d.object(m)
	own := top.sub("hookSpecificOutput")
	if own.m != nil {
		native := codexNames[d.event]
		d.codexUnknown(own.m, "hookSpecificOutput", append([]string{"hookEventName"}, codexOwn[d.event]...)...)
		if name := own.text("hookEventName"); name != native {
			d.codexFlaw("hookSpecificOutput.hookEventName must be %q", native)
		}
	}
	d.system(top.text("systemMessage"))
	d.r.Suppress, _ = top.flag("suppressOutput")
	d.context(own.text("additionalContext"))
	if on, ok := top.flag("continue"); ok && !on {
		d.codexStop(top.text("stopReason"))
	}
	d.codexDecision(top.text("decision"), top.text("reason"))
	switch d.event {
	case policy.PreToolExecution:
		d.codexCall(own)
	case policy.PermissionRequest:
		d.codexPermission(own.sub("decision"))
	}
}

// codexStop reads `continue: false`.
func (d *draft) codexStop(reason string) {
	switch d.event {
	case policy.PreToolExecution, policy.PermissionRequest:
		d.codexFlaw("continue is not heard at %s", codexNames[d.event])
		d.halt(reason)
	case policy.PostToolExecution:
		// The result becomes the reason; the turn goes on.
		if reason == "" {
			reason = "stopped by " + d.by.Name
		}
		d.verdict(policy.Deny, reason)
	case policy.PreAutoCompact:
		d.verdict(policy.Deny, reason)
	default:
		d.halt(reason)
	}
}

// codexDecision reads the top-level decision.
func (d *draft) codexDecision(word, reason string) {
	switch {
	case word == "":
	case word != "block":
		d.codexFlaw("decision must be block, not %q", word)
		if forbids(word) {
			d.verdict(policy.Deny, reason)
		}
	case !slices.Contains(codexBlocks, d.event):
		d.codexFlaw("%s blocks nothing", codexNames[d.event])
	default:
		if strings.TrimSpace(reason) == "" {
			d.codexFlaw("a block needs a reason")
		}
		d.verdict(policy.Deny, reason)
	}
}

// codexCall reads the decision on a call. Allow is a word that only carries a
// rewrite: it approves nothing.
func (d *draft) codexCall(own fields) {
	word, reason := own.text("permissionDecision"), own.text("permissionDecisionReason")
	input := own.sub("updatedInput")
	switch word {
	case "deny":
		if strings.TrimSpace(reason) == "" {
			d.codexFlaw("a denial needs permissionDecisionReason")
		}
		d.verdict(policy.Deny, reason)
		return
	case "ask":
		d.codexFlaw("permissionDecision ask is not heard")
		d.verdict(policy.Ask, reason)
		return
	case "allow":
		if input.m == nil {
			d.codexFlaw("permissionDecision allow needs updatedInput")
		}
	case "":
		if input.m != nil {
			d.codexFlaw("updatedInput needs permissionDecision allow")
		}
	default:
		d.codexFlaw("permissionDecision must be allow or deny, not %q", word)
	}
	if input.m != nil {
		d.replace(policy.FieldToolInput, input.m)
	}
}

func (d *draft) codexPermission(decision fields) {
	switch word := decision.text("behavior"); word {
	case "":
	case "allow":
		d.verdict(policy.Allow, "")
	case "deny":
		d.verdict(policy.Deny, decision.text("message"))
	default:
		d.codexFlaw("decision.behavior must be allow or deny, not %q", word)
	}
}
