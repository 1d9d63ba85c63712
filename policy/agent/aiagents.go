package agent

import (
	"strings"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent/supersede"
	"github.com/hookc/hookc/policy/pattern"
)

// aiagents is that of ai_agents: three events, no rewriting. Exit status 2
// refuses with the reason on stderr; JSON is read at status 0, and plain text
// there is shown to the user.
var aiAgentsAgent, _ = Agent{
	ID: "aiagents", Version: "1", Aliases: []string{"ai-agents", "ai_agents"},
	Doc:      "ai_agents: exit code 2 and stderr, or JSON on stdout",
	eventKey: "hook_event_name",
	keys: lists.Concat(
		[]key{
			{name: "tool_response", field: policy.FieldToolResult},
			{name: "prompt", field: policy.FieldUserInput, at: []policy.Event{policy.PreSendMessage}},
		},
		same(policy.FieldSessionID, policy.FieldCwd, policy.FieldToolName, policy.FieldToolInput),
	),
	points: []point{
		{name: "PreToolUse", event: policy.PreToolExecution, may: aiAgentsSays | MayAllow | MayAsk},
		{name: "PostToolUse", event: policy.PostToolExecution, may: aiAgentsSays, annotates: true},
		{name: "UserPromptSubmit", event: policy.PreSendMessage, may: aiAgentsSays | MayContext},
	},
	Profile: aiAgentsProfile,
	Files: []File{
		{Tier: policy.TierUser, Base: Home, Path: ".ai_agents/settings.json", Install: Writes},
		{Tier: policy.TierProject, Base: Project, Path: ".ai_agents/settings.json", Install: Writes},
		{Tier: policy.TierLocal, Base: Project, Path: ".ai_agents/settings.local.json", Install: Looks},
	},
	protects: []string{".ai_agents", "~/.ai_agents"},
	settings: &Settings{
		Handler: claudeHandler,
		Unit:    time.Second, Standard: time.Minute,
		Matchers: listed("-_|", "|"),
		Reading: Reading{
			Doc: "settings.json of ai_agents", GoesOn: true,
			Matcher: MatcherReading{Flavour: pattern.ECMAScript, Whole: true, Star: true, NotPattern: "%q is no regular expression (%v): its hooks never run",
				Nothing: "a matcher has no effect on %s: these hooks always run"},
			Hook: HookReading{Unset: "EDITED_FILE"},
			Once: OnceCommand,
		},
	},
	deliver:       deliverAIAgents,
	refuseUnknown: exit2,
	noticeExit:    1,
	scripts: scripts{
		read:      readAIAgents,
		native:    readAIAgents,
		shell:     "bash",
		nativeEnv: []envKey{},
	},
}, register(aiAgentsAgent)

const aiAgentsSays = MayDeny | MayEnd | MaySystem | MaySuppress

func deliverAIAgents(a *answer) Wire {
	out := reply{}
	text := a.systemText() // no key holds a message: it joins what the user reads
	switch a.act {
	case deny:
		return exit2(a.reason)
	case allow, ask:
		out["decision"] = a.act.String()
		out.text("reason", joined(a.reason, text))
	case end:
		out["continue"], out["stopReason"] = false, joined(a.reason, text)
	}
	out.text("additionalContext", a.contextText())
	out.flag("suppressOutput", a.suppress)
	w := out.wire(0, "")
	switch {
	case text == "":
	case len(out) == 0 && !strings.HasPrefix(strings.TrimSpace(text), "{"):
		w.Stdout = []byte(text) // text alone is a message
	case a.act == proceed:
		a.lose("system_message", "dropped", "the agent shows no messages beside this")
		a.notes = append(a.notes, a.system...)
	}
	return w
}

// aiAgentsProfile is how ai_agents runs the hooks of its settings: all that
// match at once, folded in the order of the files (docs/reference/dialects, ai_agents
// §3.4, §3.6).
var aiAgentsProfile = &Profile{
	Rules: func(bool) policy.Profile {
		row := func(powers policy.Powers, context bool, sink func(*policy.Context, policy.Result) policy.Result) *policy.StrategySpec {
			return &policy.StrategySpec{Strategy: "aiagents", Snapshot: true, Halt: policy.HaltNever, Fold: policy.FoldMax,
				Doc: "all run on one snapshot, deny over ask over allow",
				Rules: policy.Rules{Supersede: supersede.FirstHalt, Conclude: sink, Row: func(e *policy.EventSpec) {
					e.Powers, e.Writes, e.Retry, e.Refused = powers, nil, false, nil
					e.Context, e.Inject, e.Feedback = context, false, false
				}}}
		}
		return policy.Profile{Flat: true, Strategies: map[policy.Event]*policy.StrategySpec{
			policy.PreToolExecution:  row(policy.MayAllow|policy.MayAsk|policy.MayDeny|policy.MayHalt, false, aiAgentsFirst),
			policy.PostToolExecution: row(policy.MayDeny|policy.MayHalt, false, aiAgentsEnd),
			policy.PreSendMessage:    row(policy.MayDeny|policy.MayHalt, true, aiAgentsPrompt),
		}}
	},
}

// aiAgentsEnd: a refusal of which no hook says why has a text of the agent's own.
func aiAgentsEnd(_ *policy.Context, r policy.Result) policy.Result {
	if r.Verdict == policy.Deny && len(r.Reasons) == 0 {
		r.Reasons = []policy.Reason{{Text: "Blocked by hook", Hook: r.VerdictBy.Name, At: r.VerdictBy.At}}
	}
	return r
}

// aiAgentsFirst keeps the first reason that was given for the verdict that holds.
func aiAgentsFirst(c *policy.Context, r policy.Result) policy.Result {
	if len(r.Reasons) > 1 {
		r.Reasons = r.Reasons[:1]
	}
	return aiAgentsEnd(c, r)
}

// aiAgentsPrompt: a blocked prompt gets no context.
func aiAgentsPrompt(c *policy.Context, r policy.Result) policy.Result {
	if r.Verdict == policy.Deny || r.Control != policy.Go {
		r.Context = nil
	}
	return aiAgentsEnd(c, r)
}

// readAIAgents reads an answer (docs/reference/dialects, ai_agents §3.3): JSON counts at status
// 0 alone. Of a hook of ai_agents' own settings a word or a key the agent does not have
// has no effect, and what cannot be read is text for the user; of others it is a
// failure, and what plainly forbids does.
func readAIAgents(a output) (policy.Result, error) {
	d, own := a.draft(), a.native != ""
	text := strings.TrimSpace(a.Stdout)
	switch {
	case a.Signal != "":
		return policy.Result{}, a.failure()
	case a.Exit == 2:
		d.verdict(policy.Deny, a.complaint(""))
		return d.done()
	case a.Exit != 0 && !own:
		return policy.Result{}, a.failure()
	case a.Exit != 0:
		d.system(strings.TrimSpace(a.Stderr))
		d.warn("%v", a.failure())
		return d.done()
	}
	v, err := looseJSON(text)
	m, ok := v.(map[string]any)
	switch {
	case !strings.HasPrefix(text, "{"), own && (err != nil || !ok):
		d.system(text)
		return d.done()
	case err != nil:
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not JSON: %w", err)
	}
	o := d.object(m)
	d.universal(o)
	known := words{"block": policy.Deny}
	if a.event == policy.PreToolExecution {
		known = agentHooksWords
	}
	word, reason := o.text("decision"), o.text("reason")
	if !own || known[word] != policy.None {
		d.decide(known, word, reason)
	} else if word != "" {
		d.warn("decision %q is not a word of ai_agents at %s; it has no effect", word, d.event)
	}
	if a.event == policy.PreSendMessage && d.r.Verdict != policy.Deny {
		d.context(o.text("additionalContext"))
	}
	nested, object := m["hookSpecificOutput"].(map[string]any)
	switch {
	case own && m["hookSpecificOutput"] != nil:
		d.warn("ai_agents knows no hookSpecificOutput; it has no effect")
	case object:
		word, _ := nested["permissionDecision"].(string)
		d.warn("hookSpecificOutput is not part of the protocol; did you mean protocol: claude?")
		if forbids(word) {
			d.decide(nil, word, d.object(nested).text("permissionDecisionReason"))
		}
	}
	if own {
		return d.lenient(), nil
	}
	return d.done()
}
