package runner

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/policy"
)

// claudeInstruction ends the prompt of a hook in Claude Code's settings: its
// model answers ok or not.
const claudeInstruction = `

Answer with exactly one JSON object and no other text: {"ok": true} if nothing speaks against it, else {"ok": false, "reason": "why"}.
At the end of a turn "impossible": true beside it says that what is missing cannot be done.`

// claudeAsks reports whether a hook is one of a prompt in Claude Code's own
// settings.
func claudeAsks(h *policy.Hook) bool {
	p := h.Body.Protocol
	return h.Kind == policy.KindLLM && h.Body.Native != "" && (p == policy.ClaudeProtocol || p == policy.Claude240Protocol)
}

// claudePrompt is the prompt of such a hook with the event, as a script would
// read it, in the place of $ARGUMENTS or behind it; \$ is a dollar sign.
func claudePrompt(h *policy.Hook, in *policy.Context) (string, error) {
	event, err := claudeProtocol.input(h.Event, h.Body.Native, in)
	if err != nil {
		return "", policy.Failf(policy.ErrParse, "the event cannot be written as JSON: %w", err)
	}
	prompt := h.Body.Prompt.Value
	if !strings.Contains(strings.ReplaceAll(prompt, `\$`, ""), "$ARGUMENTS") {
		prompt += "\n\n$ARGUMENTS"
	}
	return strings.NewReplacer(`\$`, "$", "$ARGUMENTS", string(event)).Replace(prompt) + claudeInstruction, nil
}

// claudeEndsTurn are the events at which a model that says no ends the turn
// too; claudeAnyway those of them at which continueOnBlock keeps it going.
var (
	claudeEndsTurn = []string{"PreToolUse", "PostToolUse", "TeammateIdle", "PostToolBatch", "UserPromptSubmit", "UserPromptExpansion"}
	claudeAnyway   = claudeEndsTurn[:3]
)

// readClaudeReply reads {ok, reason, impossible} from the first { to the last }
// of a reply (reference §4.3). A reply without one is a failure.
func readClaudeReply(h *policy.Hook, reply string) (policy.Result, error) {
	first, last := strings.IndexByte(reply, '{'), strings.LastIndexByte(reply, '}')
	if first < 0 || last < first {
		return policy.Result{}, policy.Failf(policy.ErrParse, "the model's reply holds no JSON object")
	}
	v, err := looseJSON(reply[first : last+1])
	m, _ := v.(map[string]any)
	ok, told := m["ok"].(bool)
	if err != nil || !told {
		return policy.Result{}, policy.Failf(policy.ErrParse, "the model's reply does not say whether it is ok")
	}
	if ok || h.Event == policy.PermissionRequest || h.Body.Native == "PermissionDenied" {
		return policy.Result{}, nil
	}
	if impossible, _ := m["impossible"].(bool); impossible && (h.Event == policy.StopEvent || h.Event == policy.SubagentStop) {
		return policy.Result{}, nil
	}
	by := policy.By{Name: h.Name, At: h.Span}
	reason, _ := m["reason"].(string)
	r := policy.Result{Verdict: policy.Deny, VerdictBy: by}
	if reason != "" {
		r.Reasons = []policy.Reason{{Text: reason, At: h.Span}}
	}
	if slices.Contains(claudeEndsTurn, h.Body.Native) && !(h.Body.Onward && slices.Contains(claudeAnyway, h.Body.Native)) {
		r.Control, r.ControlBy = policy.Halt, by
		if reason != "" {
			r.StopReasons = []string{reason}
		}
	}
	return r, nil
}
