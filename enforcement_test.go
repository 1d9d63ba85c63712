package hookc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// TestEnforcement: a hook of every kind, however it says no or fails, decides and
// changes nothing under warn and dryrun, and the Decision has what it would have said.
func TestEnforcement(t *testing.T) {
	model := func(context.Context, policy.ModelRequest) (string, error) {
		return `{"decision":"deny","reason":"too bad"}`, nil
	}
	for kind, body := range map[string]string{
		"expr":    `deny: 'command == "ls"', reason: too bad`,
		"sets":    `deny: 'command == "ls"', reason: too bad, set: {tool_input.command: '"x"'}`,
		"rego":    "source: \"package g\\n\\ndeny contains \\\"too bad\\\" if input.command == \\\"ls\\\"\"",
		"bash":    `command: 'echo "{\"decision\":\"deny\",\"reason\":\"too bad\",\"tool_input\":{\"command\":\"x\"}}"'`,
		"claude":  `protocol: claude, command: 'echo too bad >&2; exit 2'`,
		"llm":     `prompt: "is {{tool_arguments}} fine?"`,
		"builtin": `type: builtin, use: say, result: '{"decision":"deny","reason":"too bad"}'`,
	} {
		for _, word := range []string{"enforce", "warn", "dryrun"} {
			t.Run(kind+" "+word, func(t *testing.T) {
				eng := engine(t, "pre_tool_execution: [{name: g, on_error: deny, enforcement: "+word+", "+body+"}]", hookc.Model(model))
				for range 2 { // the second answer is remembered
					call := bash("ls")
					call.ID = "1"
					d, err := eng.PreTool(t.Context(), call)
					require.NoError(t, err)
					text := string(must(json.Marshal(d)))
					if word == "enforce" {
						require.Equal(t, policy.Block, d.Action)
						require.Empty(t, d.Would())
						assert.NotContains(t, text, `"would"`)
						continue
					}
					require.Equal(t, policy.Proceed, d.Action)
					assert.Equal(t, policy.None, d.Verdict)
					assert.Empty(t, d.Patch)
					patch := ""
					if kind == "sets" || kind == "bash" {
						patch = `"patch":{"tool_input":{"command":"x"}},`
					}
					assert.Contains(t, text, `"would":[{"action":"block","hook":"g",`+patch+`"reasons":["too bad"],"says":"deny"}]`)
					assert.Equal(t, "HK111", d.Warnings[0].Code.ID)
					assert.Contains(t, d.Warnings[0].Text, "it would have said deny: too bad")
					if word == "warn" {
						assert.Equal(t, []string{"g would have said deny: too bad"}, d.SystemMessages)
					} else {
						assert.Empty(t, d.SystemMessages)
					}
				}
			})
		}
	}
}

// TestEnforcementOfControlsAndFailures: what ends the turn is told, and a failure lets through.
func TestEnforcementOfControlsAndFailures(t *testing.T) {
	eng := engine(t, `pre_tool_execution:
  - {name: ends, enforcement: dryrun, halt: "true", reason: enough}
  - {name: fails, enforcement: warn, on_error: deny, command: "exit 3"}
  - {name: late, enforcement: dryrun, on_timeout: abort, timeout: 10ms, command: "sleep 5"}
`)
	d, err := eng.PreTool(t.Context(), bash("ls"))
	require.NoError(t, err)
	assert.Equal(t, policy.Proceed, d.Action)
	assert.Len(t, d.Failed, 2)
	require.Len(t, d.Would(), 3)
	assert.Equal(t, &policy.Would{Action: policy.EndTurn, Hook: "ends", Reasons: []string{"enough"}, Says: "halt"}, d.Would()[0])
	assert.Equal(t, &policy.Would{Action: policy.Block, Hook: "fails", Reasons: []string{"exit status 3"}, Says: "failed"}, d.Would()[1])
	assert.Equal(t, policy.Block, d.Would()[2].Action)
	assert.Equal(t, []string{"fails failed, which would have come to block: exit status 3"}, d.SystemMessages)
}

// TestEnforcementIsPartOfTheProgram: another enforcement is another policy.
func TestEnforcementIsPartOfTheProgram(t *testing.T) {
	seen := map[string]bool{}
	for _, word := range []string{"", ", enforcement: warn", ", enforcement: dryrun"} {
		d, err := engine(t, "pre_tool_execution: [{name: g, deny: 'true'"+word+"}]").PreTool(t.Context(), bash("ls"))
		require.NoError(t, err)
		seen[d.Policy] = true
	}
	assert.Len(t, seen, 3)
	_, err := hookc.Open(t.Context(), hookc.Text("hooks.yaml", "pre_tool_execution: [{name: g, deny: 'true', enforcement: loud}]"))
	require.Error(t, err)
	assert.True(t, strings.Contains(err.Error(), "dryrun"), err)
}

// TestEnforcementWhereARefusalIsFeedback: under the profile of an agent, at every
// event, what a hook under warn and dryrun refuses has no
// effect, and the user is told of the one alone.
func TestEnforcementWhereARefusalIsFeedback(t *testing.T) {
	said := 0
	for _, word := range []string{"warn", "dryrun"} {
		for _, id := range []string{"agenthooks", "clawdcode", "gemini"} {
			d := must(agent.FindProfile(id))
			text, events := "", map[policy.Event]bool{}
			for _, e := range d.Events() {
				if !strings.HasPrefix(string(e), "ext.") && !events[e] {
					events[e] = true
					text += fmt.Sprintf("%s: [{name: g, enforcement: %s, protocol: %s, native_event: %s, command: 'printf too-bad >&2; exit 2'}, {name: h, message: '\"later\"'}]\n", e, word, d.ID, d.Can(e)[0].Native)
				}
			}
			eng := engine(t, text, hookc.Profile(d.ID, false))
			for e := range events {
				got, err := eng.FireJSON(t.Context(), e, []byte(`{"tool_name":"Bash","tool_input":{"command":"ls"}}`))
				require.NoError(t, err)
				what := fmt.Sprintf("%s %s: %s", d.ID, e, must(json.Marshal(got)))
				assert.Equal(t, policy.Proceed, got.Action, what)
				assert.Empty(t, slices.Concat(got.Feedback, got.Reasons, got.Context), what)
				said += len(got.Would())
				told := slices.Contains(got.SystemMessages, "g would have said deny: too-bad")
				assert.Equal(t, len(got.Would()) > 0 && word == "warn", told, what)
			}
		}
	}
	assert.Greater(t, said, 40)
}

// TestEnforcementIsShownAndRegistered: what a session hook would have said is told by
// both roads of registering, and the explanation of a plan has the word.
func TestEnforcementIsShownAndRegistered(t *testing.T) {
	eng := engine(t, "pre_tool_execution: [{name: a, deny: 'false', enforcement: dryrun}]")
	register(t, eng.Session("s"), hookc.Hook{Event: "pre_tool_execution", Name: "go", Deny: "true", Enforcement: "warn"})
	reply := eng.Session("s").Call(t.Context(), []byte(`{"action":"register","event":"pre_tool_execution","name":"tool","deny":"true","enforcement":"warn"}`))
	require.Contains(t, string(reply), "session_idx")
	d, err := eng.PreTool(t.Context(), in("s", bash("ls")))
	require.NoError(t, err)
	assert.Equal(t, []string{"go would have said deny", "tool would have said deny"}, d.SystemMessages)
	_, err = eng.Session("s").Register(hookc.Hook{Event: "pre_tool_execution", Deny: "true", Enforcement: "loud"})
	require.ErrorContains(t, err, "dryrun")
}
