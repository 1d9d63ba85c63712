package hookc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
)

// TestARefusalIsObeyedOrFound: at every event of every agent a refusal either
// keeps the step from happening, there or with the call that begins it, or is
// found by check --dialect.
func TestARefusalIsObeyedOrFound(t *testing.T) {
	t.Parallel()
	for _, d := range agent.All() {
		for _, event := range policy.Events() {
			if event.Spec().Class != policy.Guard {
				continue
			}
			text := fmt.Sprintf("%s:\n  - {name: no, deny: 'true', reason: never}\n", event)
			_, found := Compile(Text("hooks.yaml", text), Agent(d.ID), SkipVerify())
			delivered := false
			for _, f := range found {
				delivered = delivered || f.Code == codeNotObeyed
			}
			obeyed := d.RefusedBefore(event) || refusesEverywhere(t, d, event)
			assert.Equal(t, obeyed, !delivered, "%s %s: %s", d.ID, event, found.Render())
		}
	}
}

// refusesEverywhere reports whether a Decision that refuses is told as one at
// each of the agent's events of a name.
func refusesEverywhere(t *testing.T, d *agent.Agent, event policy.Event) bool {
	rows := d.Can(event)
	for _, row := range rows {
		call, err := d.Decode(d.Sample(row.Native, "Bash", "/"), row.Native, func(string) string { return "" })
		if err != nil { // a sample of another point of the same name
			continue
		}
		decision := &policy.Decision{Event: event, Action: policy.Block, Verdict: policy.Deny, Reasons: []string{"never"}, By: "no"}
		w := call.Encode(decision)
		for _, lost := range []string{"deny → none", "deny → context"} {
			if strings.Contains(decision.Degraded, lost) {
				return false
			}
		}
		assert.Contains(t, string(w.Stdout)+w.Stderr, "never", "%s %s", d.ID, row.Native)
	}
	return len(rows) > 0
}

// TestSecretsInFailuresAreFound: secret-guard at an event where an agent shows
// the model the secret all the same is a finding.
func TestSecretsInFailuresAreFound(t *testing.T) {
	t.Parallel()
	const guard = "%s:\n  - {name: secrets, type: builtin, use: secret-guard}\n"
	for id, want := range map[string]map[policy.Event]bool{
		"claude": {policy.PostToolExecution: false, policy.PostToolExecutionFailure: true, policy.PreToolExecution: false},
		"qwen":   {policy.PostToolExecution: true, policy.PostToolExecutionFailure: true},
		"gemini": {policy.PostToolExecution: false, policy.PostToolExecutionFailure: false},
		"jcli":   {policy.PostToolExecution: false, policy.PostToolExecutionFailure: false},
		"cursor": {policy.PostToolExecutionFailure: true},
		"kimi":   {policy.PostToolExecution: true},
	} {
		for event, delivered := range want {
			_, found := Compile(Text("hooks.yaml", fmt.Sprintf(guard, event)), Agent(id), SkipVerify())
			var codes diag.List
			for _, f := range found {
				if f.Code == codeNotObeyed {
					codes.Add(f)
				}
			}
			assert.Equal(t, delivered, len(codes) > 0, "%s %s: %s", id, event, found.Render())
		}
	}
}
