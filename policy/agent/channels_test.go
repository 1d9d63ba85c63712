package agent

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/policy"
)

// channel is one way in which an answer can say what it decides: its words, and
// how one of them is written into an answer.
type channel struct {
	name  string
	words []any
	write func(m map[string]any, o *Outcome, word any)
}

// channels are all ways in which some agent's answer decides.
func channels(native string) []channel {
	verdicts := []any{"allow", "approve", "ask", "defer", "deny", "block", "reject"}
	top := func(key string, words ...any) channel {
		return channel{key, words, func(m map[string]any, _ *Outcome, word any) { m[key] = word }}
	}
	own := func(key string, words ...any) channel {
		return channel{"hookSpecificOutput." + key, words, func(m map[string]any, _ *Outcome, word any) {
			inner, _ := m["hookSpecificOutput"].(map[string]any)
			if inner == nil {
				inner = map[string]any{"hookEventName": native}
				m["hookSpecificOutput"] = inner
			}
			inner[key] = word
		}}
	}
	var prompts []any
	for _, word := range []any{"allow", "deny"} {
		prompts = append(prompts, map[string]any{"behavior": word, "message": "why"})
	}
	return []channel{
		{"exit", []any{2}, func(_ map[string]any, o *Outcome, word any) { o.Exit, o.Stderr, o.Head = word.(int), "no", "no" }},
		top("decision", verdicts...), top("permissionDecision", verdicts...), top("permission", verdicts...), top("behavior", verdicts...),
		top("continue", true, false), top("prevent", true, false), top("action", "skip", "stop", "halt"), top("abort", true, false),
		top("interrupt", true, false), top("followup_message", "go on"), top("retry_feedback", "again"),
		own("permissionDecision", verdicts...), own("decision", append(prompts, verdicts...)...), own("continue", true, false), own("prevent", true, false),
	}
}

// restriction is how much an answer keeps from happening.
func restriction(e policy.Event, r policy.Result) int {
	if e.Spec().Class == policy.Quality {
		if r.Verdict == policy.Deny || r.Control != policy.Go {
			return 1 // which of the two is the stricter depends on who asks
		}
		return 0
	}
	if r.Control != policy.Go || r.Verdict == policy.Deny {
		return 4
	}
	return map[policy.Verdict]int{policy.Ask: 1, policy.Defer: 2}[r.Verdict]
}

// TestTheMoreRestrictiveChannelHolds: where two channels of one answer disagree,
// the answer forbids what either alone forbids, for every agent, event and pair
// of channels, of a script in a policy and of a hook in the agent's settings.
func TestTheMoreRestrictiveChannelHolds(t *testing.T) {
	t.Parallel()
	for _, a := range All() {
		for i := range a.allPoints() {
			p := &a.allPoints()[i]
			for _, native := range []string{"", p.name} {
				if strings.HasPrefix(string(p.event), "ext.") && native == "" {
					continue
				}
				t.Run(a.ID+"/"+p.name+"/"+native, func(t *testing.T) { disagree(t, a, p, native) })
			}
		}
	}
}

func disagree(t *testing.T, a *Agent, p *point, native string) {
	h := &policy.Hook{Name: "h", Event: p.event, Body: policy.Body{Agent: policy.AgentBody{Event: native}}}
	in := policy.NewContext(p.event).Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "ls"})
	read := func(write ...func(m map[string]any, o *Outcome)) (policy.Result, string, error) {
		m, o := map[string]any{"reason": "why", "permissionDecisionReason": "why"}, Outcome{}
		for _, w := range write {
			w(m, &o)
		}
		if native != "" || a.ID == "codex" || a.ID == "kimi" { // keys that they do not know
			maps.DeleteFunc(m, func(k string, _ any) bool { return k == "permissionDecisionReason" })
		}
		o.Stdout = JSONText(m)
		r, err := a.Read(h, in, o)
		if len(r.Agent) > 0 { // kept whole for the agent's own merge
			r = a.Profile.Rules(false).Strategies[p.event].Rules.Conclude(in, r)
		}
		return r, o.Stdout, err
	}
	type said struct {
		channel string
		word    any
		write   func(m map[string]any, o *Outcome)
		alone   int
	}
	var all []said
	for _, c := range channels(p.name) {
		for _, word := range c.words {
			write := func(m map[string]any, o *Outcome) { c.write(m, o, word) }
			if r, _, err := read(write); err == nil { // else it says nothing alone
				all = append(all, said{c.name, word, write, restriction(p.event, r)})
			}
		}
	}
	for i, x := range all {
		for _, y := range all[i+1:] {
			least := max(x.alone, y.alone)
			if x.channel == y.channel || least == 0 {
				continue
			}
			both, text, err := read(x.write, y.write)
			got := restriction(p.event, both)
			if err != nil {
				got = 0
			}
			assert.GreaterOrEqual(t, got, least, "%s=%v beside %s=%v: %s (%v)", x.channel, x.word, y.channel, y.word, text, err)
		}
	}
}
