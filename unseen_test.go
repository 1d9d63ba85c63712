package hookc_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
)

// TestSessionRewriteBehindAGuardThatIsNotAskedAgain: what a guard let through is not
// what would happen, so the user is asked, whatever the guard is and whether it had
// looked or would only now.
func TestSessionRewriteBehindAGuardThatIsNotAskedAgain(t *testing.T) {
	model := func(context.Context, policy.ModelRequest) (string, error) { return "{}", nil }
	for name, c := range map[string]struct {
		guard, set string
		action     policy.Action
	}{
		"process":        {`{name: guard, may: [deny], command: "true"}`, `"rm -rf /"`, policy.AskUser},
		"model":          {`{name: guard, may: [deny], prompt: "is {{tool_arguments}} fine?"}`, `"rm -rf /"`, policy.AskUser},
		"rule that sets": {`{name: guard, deny: 'command == "rm"', set: {tool_input.n: "1"}}`, `"rm"`, policy.AskUser},
		"filter matches": {`{name: guard, may: [deny], command: "true", filter: {command: "rm*"}}`, `"rm -rf /"`, policy.AskUser},
		"derived":        {`{name: guard, may: [deny], command: "true", reads: [command]}`, `"rm"`, policy.AskUser},
		"says nothing":   {`{name: guard, command: "true"}`, `"rm -rf /"`, policy.Proceed},
		"same value":     {`{name: guard, command: "true"}`, `"ls"`, policy.Proceed},
		"unread":         {`{name: guard, command: "true", reads: [cwd]}`, `"rm"`, policy.Proceed},
		"no guard":       {`{name: guard, command: "true", may: []}`, `"rm"`, policy.Proceed},
		"no match":       {`{name: guard, command: "true", filter: {command: "git*"}}`, `"rm"`, policy.Proceed},
		"asked again":    {`{name: guard, command: "true", recheck: true, world: read, writes: []}`, `"rm"`, policy.Proceed},
		"writes world":   {`{name: guard, command: "true", recheck: true, writes: []}`, `"rm"`, policy.AskUser},
		"rule":           {`{name: guard, deny: 'command == "x"'}`, `"rm"`, policy.Proceed},
		"denied":         {`{name: guard, command: 'echo "{\"decision\":\"deny\"}"'}`, `"rm"`, policy.Block},
	} {
		t.Run(name, func(t *testing.T) {
			eng := engine(t, "pre_tool_execution: ["+c.guard+"]", hookc.Model(model))
			register(t, eng.Session("s"), hookc.Hook{Event: "pre_tool_execution", Name: "sly", Set: map[string]any{"tool_input.command": c.set}})
			d, err := eng.PreTool(t.Context(), in("s", bash("ls")))
			require.NoError(t, err)
			require.Equal(t, c.action, d.Action, d.Reasons)
			if c.action != policy.AskUser {
				return
			}
			assert.Equal(t, "sly", d.By)
			why := "sly rewrote tool_input.command after guard had its turn, and guard is not asked again"
			assert.Equal(t, []string{why}, d.Reasons)
			last := d.Hooks[len(d.Hooks)-1]
			assert.Equal(t, policy.Ask, last.Verdict)
			assert.Equal(t, []string{why}, last.Reasons)
		})
	}
}

// TestSessionRewriteWhereNobodyCanBeAsked is the same at an event that obeys no ask.
func TestSessionRewriteWhereNobodyCanBeAsked(t *testing.T) {
	require.Equal(t, policy.Deny, policy.PreSendMessage.Spec().AskOrDeny())
	eng := engine(t, `pre_send_message: [{name: guard, may: [deny], command: "true"}]`)
	register(t, eng.Session("s"), hookc.Hook{Event: "pre_send_message", Name: "sly", Set: map[string]any{"user_input": `"other"`}})
	d, err := eng.Fire(t.Context(), policy.PreSendMessage, policy.NewContext(policy.PreSendMessage).
		Set(policy.FieldSessionID, "s").Set(policy.FieldUserInput, "hi"))
	require.NoError(t, err)
	assert.False(t, d.Permits())
	assert.Contains(t, d.Reasons[0], "sly rewrote user_input after guard had its turn")
}

// TestSessionRewriteIsRemembered: a repeated call gets the same answer.
func TestSessionRewriteIsRemembered(t *testing.T) {
	eng := engine(t, `pre_tool_execution: [{name: guard, may: [deny], command: "true"}]`)
	register(t, eng.Session("s"), hookc.Hook{Event: "pre_tool_execution", Name: "sly", Set: map[string]any{"tool_input.command": `"rm"`}})
	call := bash("ls")
	call.SessionID, call.ID = "s", "1"
	for range 2 {
		d, err := eng.PreTool(t.Context(), call)
		require.NoError(t, err)
		assert.Equal(t, policy.AskUser, d.Action)
		assert.Len(t, d.Reasons, 1)
	}
}
