package agent

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/policy"
)

// TestRepeatedKeysForbid: of a key that an answer repeats the value that forbids most
// holds, whatever its place, with every agent's words, and it is said. A hook of an
// agent's own configuration is read as the program does, by the last.
func TestRepeatedKeysForbid(t *testing.T) {
	tried := 0
	for _, a := range All() {
		for _, event := range []string{"", a.EventName(policy.PreToolExecution)} {
			h := &policy.Hook{Name: "h", Event: policy.PreToolExecution, Body: policy.Body{Agent: policy.AgentBody{Event: event}}}
			read := func(text string) (policy.Verdict, policy.Control, []policy.Warning) {
				r, err := a.Read(h, policy.NewContext(h.Event), Outcome{Stdout: text})
				if err != nil {
					return policy.Deny + 1, policy.Go, nil // fails, which on_error decides
				}
				v, c := r.Alone()
				return v, c, r.Warnings
			}
			for _, pair := range []struct{ around, forbids, other string }{
				{"{@}", `"decision":"deny","reason":"r"`, `"decision":"allow"`},
				{"{@}", `"decision":"block","reason":"r"`, `"decision":"approve"`},
				{"{@}", `"decision":"deny"`, `"decision":null`},
				{"{@}", `"permission":"deny"`, `"permission":"allow"`},
				{"{@}", `"action":"deny"`, `"\u0061ction":"allow"`},
				{"{@}", `"continue":false`, `"continue":true`},
				{`{"hookSpecificOutput":{"hookEventName":"PreToolUse",@}}`, `"permissionDecision":"deny"`, `"permissionDecision":"allow"`},
				{`{@}`, `"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}`, `"hookSpecificOutput":{}`},
			} {
				text := func(parts ...string) string { return strings.Replace(pair.around, "@", strings.Join(parts, ","), 1) }
				v, c, _ := read(text(pair.forbids))
				if v <= policy.Allow && c == policy.Go || v > policy.Deny {
					continue // it does not forbid here
				}
				tried++
				if event != "" {
					gotV, gotC, _ := read(text(pair.forbids, pair.other))
					wantV, wantC, _ := read(text(pair.other))
					if gotV <= policy.Deny { // jcli's answer is none
						assert.Equal(t, []any{wantV, wantC}, []any{gotV, gotC}, "%s as %q: %s", a.ID, event, text(pair.forbids, pair.other))
					}
					continue
				}
				for _, order := range [][]string{{pair.forbids, pair.other}, {pair.other, pair.forbids}, {pair.other, pair.forbids, pair.other}, {pair.forbids, pair.forbids, pair.other, pair.other}} {
					gotV, gotC, warned := read(text(order...))
					assert.Equal(t, []any{v, c}, []any{gotV, gotC}, "%s as %q: %s", a.ID, event, text(order...))
					if order[len(order)-1] != pair.forbids {
						assert.NotEmpty(t, warned, "%s: %s", a.ID, text(order...))
					}
				}
				many := text(append(strings.Split(strings.Repeat(pair.other+"\n", 40), "\n")[:40], pair.forbids)...)
				gotV, gotC, _ := read(many)
				assert.Equal(t, []any{v, c}, []any{gotV, gotC}, "%s as %q: at the end of many", a.ID, event)
				many = text(append(append(strings.Split(strings.Repeat(pair.other+"\n", 20), "\n")[:20], pair.forbids), strings.Split(strings.Repeat(pair.other+"\n", 20), "\n")[:20]...)...)
				gotV, gotC, _ = read(many)
				assert.True(t, gotV > policy.Allow || gotC > policy.Go, "%s as %q: amid many is no approval", a.ID, event)
			}
		}
	}
	assert.Greater(t, tried, 20)
}
