package runner

import (
	"strings"

	"github.com/hookc/hookc/policy"
)

// aiAgentsProtocol is that of ai_agents, a descendant of Claude Code's first
// hooks: it has three events and rewrites nothing.
var aiAgentsProtocol = &protocol{
	id: policy.AIAgentsProtocol, eventKey: "hook_event_name",
	names: map[policy.Event]string{
		policy.PreToolExecution: "PreToolUse", policy.PostToolExecution: "PostToolUse", policy.PreSendMessage: "UserPromptSubmit",
	},
	keys: []key{
		{field: policy.FieldSessionID, name: "session_id"},
		{field: policy.FieldCwd, name: "cwd"},
		{field: policy.FieldToolName, name: "tool_name"},
		{field: policy.FieldToolInput, name: "tool_input"},
		{field: policy.FieldToolResult, name: "tool_response"},
		{field: policy.FieldUserInput, name: "prompt", at: []policy.Event{policy.PreSendMessage}},
	},
	read:      readAIAgents,
	native:    nativeAIAgents,
	shell:     "bash",
	nativeEnv: []envKey{},
}

func readAIAgents(a answer) (policy.Result, error) {
	d := a.draft()
	text := strings.TrimSpace(a.stdout)
	switch {
	case a.exit == 2:
		d.verdict(policy.Deny, a.complaint(""))
		return d.done()
	case a.exit != 0:
		return policy.Result{}, a.failure()
	case !strings.HasPrefix(text, "{"):
		d.system(text)
		return d.done()
	}
	v, err := looseJSON(text)
	if err != nil {
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not JSON: %w", err)
	}
	o := d.object(v.(map[string]any))
	d.universal(o)
	known := words{"block": policy.Deny}
	if a.event == policy.PreToolExecution {
		known = agentHooksWords
	}
	d.decide(known, o.text("decision"), o.text("reason"))
	if a.event == policy.PreSendMessage && d.r.Verdict != policy.Deny {
		d.context(o.text("additionalContext"))
	}
	if nested, ok := o.m["hookSpecificOutput"].(map[string]any); ok {
		word, _ := nested["permissionDecision"].(string)
		d.warn("hookSpecificOutput is not part of the protocol; did you mean protocol: claude?")
		if forbids(word) {
			d.decide(nil, word, d.object(nested).text("permissionDecisionReason"))
		}
	}
	return d.done()
}
