package agent

import (
	"strings"

	"github.com/hookc/hookc/policy"
)

// aiagents is that of ai_agents: three events, no rewriting. Exit status 2
// refuses with the reason on stderr; JSON is read at status 0, and plain text
// there is shown to the user.
var _ = register(Agent{
	ID: "aiagents", Version: "1", Aliases: []string{"ai-agents", "ai_agents"},
	Doc:      "ai_agents: exit code 2 and stderr, or JSON on stdout",
	eventKey: "hook_event_name",
	keys:     map[string]policy.Field{"prompt": policy.FieldUserInput, "tool_response": policy.FieldToolResult},
	points: []point{
		{name: "PreToolUse", event: policy.PreToolExecution, may: aiAgentsSays | MayAllow | MayAsk},
		{name: "PostToolUse", event: policy.PostToolExecution, may: aiAgentsSays},
		{name: "UserPromptSubmit", event: policy.PreSendMessage, may: aiAgentsSays | MayContext},
	},
	Profile:    aiAgentsProfile,
	say:        sayAIAgents,
	blind:      exit2,
	noticeExit: 1,
})

const aiAgentsSays = MayDeny | MayEnd | MaySystem | MaySuppress

func sayAIAgents(a *answer) Wire {
	out := reply{}
	switch a.act {
	case deny:
		return exit2(a.reason)
	case allow, ask:
		out["decision"] = a.act.String()
		out.text("reason", a.reason)
	case end:
		out["continue"], out["stopReason"] = false, a.reason
	}
	out.text("additionalContext", a.contextText())
	out.flag("suppressOutput", a.suppress)
	w := out.wire(0, "")
	text := a.systemText()
	switch {
	case text == "":
	case len(out) == 0 && !strings.HasPrefix(strings.TrimSpace(text), "{"):
		w.Stdout = []byte(text) // no key holds a message; text alone is one
	default:
		a.notes = append(a.notes, a.system...)
	}
	return w
}
