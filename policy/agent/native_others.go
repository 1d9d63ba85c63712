package agent

import (
	"strings"

	"github.com/hookc/hookc/policy"
)

// nativeAIAgents reads an answer of a hook of ai_agents' own settings
// (docs/dialects, ai_agents §3.3): JSON counts at status 0 alone, a word or a
// key the agent does not have has no effect, and what cannot be read is text
// for the user.
func nativeAIAgents(a output) (policy.Result, error) {
	d := a.draft()
	text := strings.TrimSpace(a.Stdout)
	switch {
	case a.Signal != "":
		return policy.Result{}, a.failure()
	case a.Exit == 2:
		d.verdict(policy.Deny, a.complaint("Blocked by hook"))
		return d.r, nil
	case a.Exit != 0:
		d.system(strings.TrimSpace(a.Stderr))
		d.warn("%v", a.failure())
		return d.r, nil
	}
	v, err := looseJSON(text)
	m, ok := v.(map[string]any)
	if err != nil || !ok || !strings.HasPrefix(text, "{") {
		d.system(text)
		return d.r, nil
	}
	o := d.object(m)
	d.universal(o)
	reason := o.text("reason")
	known := words{"block": policy.Deny}
	if a.event == policy.PreToolExecution {
		known = agentHooksWords
	}
	switch word := o.text("decision"); {
	case word == "":
	case known[word] != policy.None:
		if reason == "" && known[word] == policy.Deny {
			reason = "Blocked by hook"
		}
		d.verdict(known[word], reason)
	default:
		d.warn("decision %q is not a word of ai_agents at %s; it has no effect", word, d.event)
	}
	if a.event == policy.PreSendMessage && d.r.Verdict != policy.Deny {
		d.context(o.text("additionalContext"))
	}
	if _, nested := m["hookSpecificOutput"]; nested {
		d.warn("ai_agents knows no hookSpecificOutput; it has no effect")
	}
	for _, err := range d.errs {
		d.warn("%v; it has no effect", err)
	}
	return d.r, nil
}

// agentHooksAfter are the events at which nothing can be blocked any more: a
// block is feedback, and no later hook runs.
var agentHooksAfter = map[policy.Event]bool{
	policy.SessionEnd: true, policy.TurnEnd: true, policy.PostStop: true, policy.SubagentStop: true, policy.PostAutoCompact: true,
}

// nativeAgentHooks reads an answer of a HOOK.md folder under the profile
// (docs/dialects, agenthooks §2.3, §2.9).
func nativeAgentHooks(a output) (policy.Result, error) {
	if a.Signal != "" {
		return policy.Result{}, a.failure()
	}
	r, err := readAgentHooks(a)
	if err != nil {
		if !a.faithful && r.Verdict > policy.Allow {
			r.Patch = policy.Patch{}
			r.Warnings = append(r.Warnings, misread(a.by, "%v; what it forbids holds", err))
			return r, nil
		}
		return policy.Result{}, err
	}
	switch {
	case r.Verdict == policy.Ask && a.event != policy.PreToolExecution:
		r.Verdict, r.VerdictBy, r.Reasons = policy.None, policy.By{}, nil
		r.Warnings = append(r.Warnings, misread(a.by, "a question has no effect at %s", a.event))
	case r.Verdict == policy.Deny && agentHooksAfter[a.event]:
		for _, reason := range r.Reasons {
			r.Feedback = append(r.Feedback, reason.Text)
		}
		r.Verdict, r.VerdictBy, r.Reasons, r.EndChain = policy.None, policy.By{}, nil, true
	case r.Verdict == policy.Deny && len(r.Reasons) == 0:
		r.Reasons = []policy.Reason{{Text: "Blocked by hook", At: a.by.At}}
	}
	return r, nil
}
