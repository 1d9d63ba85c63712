package hookc_test

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
)

func in(session string, c hookc.Call) hookc.Call {
	c.SessionID = session
	return c
}

func register(t *testing.T, s *hookc.Session, h hookc.Hook) int {
	t.Helper()
	index, err := s.Register(h)
	require.NoError(t, err)
	return index
}

func TestSessionHooksAreOnlyTheirSessionsAndEvents(t *testing.T) {
	eng := engine(t, `pre_tool_execution: [{name: base, context: '"base"'}]`)
	register(t, eng.Session("s1"), hookc.Hook{Event: "pre_tool_execution", Name: "own", Deny: "true"})
	for session, want := range map[string]policy.Action{"s1": policy.Block, "s2": policy.Proceed, "": policy.Proceed} {
		d, err := eng.PreTool(t.Context(), in(session, bash("ls")))
		require.NoError(t, err)
		assert.Equal(t, want, d.Action, "session %q", session)
		assert.Equal(t, []string{"base"}, d.Context, "session %q", session)
	}
	d, err := eng.Permission(t.Context(), in("s1", bash("ls")))
	require.NoError(t, err)
	assert.Equal(t, policy.Proceed, d.Action)
}

func TestSessionHooksRunInPipelines(t *testing.T) {
	eng := engine(t, `post_tool_execution: [{name: base, context: '"base"'}]`)
	register(t, eng.Session("s1"), hookc.Hook{Event: "pre_tool_execution", Name: "own", Deny: `command == "rm"`})
	for session, runs := range map[string]bool{"s1": false, "s2": true} {
		ran := false
		tool := func(context.Context, *policy.Context) (map[string]any, error) {
			ran = true
			return nil, nil
		}
		_, err := eng.Run(t.Context(), "tool", hookc.Actions{"tool": tool},
			policy.NewContext("").
				Set(policy.FieldSessionID, session).
				Set(policy.FieldToolName, "Bash").
				Set(policy.FieldToolInput, map[string]any{"command": "rm"}))
		require.NoError(t, err)
		assert.Equal(t, runs, ran, session)
	}
}

func TestSessionCannotOverride(t *testing.T) {
	for name, policyText := range map[string]string{
		"locked":   `pre_tool_execution: [{name: guard, locked: true, deny: 'command == "rm"'}]`,
		"unlocked": `pre_tool_execution: [{name: guard, deny: 'command == "rm"'}]`,
	} {
		t.Run(name, func(t *testing.T) {
			eng := engine(t, policyText)
			_, err := eng.Session("s").Register(hookc.Hook{Event: "pre_tool_execution", Name: "guard", Allow: "true"})
			var list diag.ListError
			require.ErrorAs(t, err, &list)
			require.Len(t, list.List, 1)
			assert.Equal(t, "HK130", list.List[0].Code.ID)
			assert.Empty(t, eng.Session("s").List())
			d, err := eng.PreTool(t.Context(), in("s", bash("rm")))
			require.NoError(t, err)
			assert.Equal(t, policy.Block, d.Action)
			assert.Equal(t, "guard", d.By)
			d, err = eng.PreTool(t.Context(), in("s", bash("ls")))
			require.NoError(t, err)
			assert.Equal(t, policy.None, d.Verdict, "the refused hook never speaks")
		})
	}
}

func TestSessionAllowDoesNotPreemptUnderFirst(t *testing.T) {
	eng := engine(t, `permission_request:
  order: priority
  hooks: [{name: guard, priority: 1, deny: 'command == "rm"'}]
`)
	own := eng.Session("s")
	register(t, own, hookc.Hook{Event: "permission_request", Name: "yes", Allow: "true"})
	d, err := eng.Permission(t.Context(), in("s", bash("rm")))
	require.NoError(t, err)
	assert.Equal(t, policy.Block, d.Action)
	assert.Equal(t, "guard", d.By)
}

// A later verdict must not decide against an earlier guard where the last
// verdict decides.
func TestSessionAllowDoesNotWinWhereTheLastVerdictDecides(t *testing.T) {
	eng := engine(t, `pre_tool_execution:
  strategy: parallel-last
  hooks: [{name: guard, deny: 'command == "rm"'}]
`)
	register(t, eng.Session("s"), hookc.Hook{Event: "pre_tool_execution", Name: "yes", Allow: "true"})
	d, err := eng.PreTool(t.Context(), in("s", bash("rm")))
	require.NoError(t, err)
	assert.False(t, d.Permits())
	assert.Equal(t, "guard", d.By)
}

func TestSessionOrderPriorityKeepsTheGuardFirst(t *testing.T) {
	eng := engine(t, `pre_tool_execution:
  order: priority
  hooks: [{name: guard, priority: -5, context: '"guard"'}]
`)
	register(t, eng.Session("s"), hookc.Hook{Event: "pre_tool_execution", Name: "own", Context: `"own"`})
	d, err := eng.PreTool(t.Context(), in("s", bash("ls")))
	require.NoError(t, err)
	assert.Equal(t, []string{"guard", "own"}, d.Context)
}

// A session hook rewrites the command after the guard has looked at it: the
// guard looks again.
func TestGuardIsRecheckedAfterASessionRewrite(t *testing.T) {
	for kind, guard := range map[string]string{
		"expr": `{name: guard, deny: 'command contains "rm -rf"'}`,
		"rego": `{name: guard, source: 'package g

deny if contains(input.tool_input.command, "rm -rf")'}`,
		"bash": `{name: guard, recheck: true, world: read, writes: [], on_error: deny, command: 'if grep -q "rm -rf"; then echo "{\"decision\": \"deny\"}"; fi'}`,
	} {
		t.Run(kind, func(t *testing.T) {
			eng := engine(t, "pre_tool_execution: ["+guard+"]")
			d, err := eng.PreTool(t.Context(), in("s", bash("ls")))
			require.NoError(t, err)
			require.True(t, d.Permits())

			register(t, eng.Session("s"), hookc.Hook{Event: "pre_tool_execution", Name: "sly",
				Command: `echo '{"tool_input": {"command": "rm -rf /"}}'`})
			d, err = eng.PreTool(t.Context(), in("s", bash("ls")))
			require.NoError(t, err)
			assert.Equal(t, policy.Block, d.Action)
			assert.Equal(t, "guard", d.By)
		})
	}
}

func TestIndexIsStable(t *testing.T) {
	own := engine(t, "{}").Session("s")
	for want := range 3 {
		assert.Equal(t, want, register(t, own, hookc.Hook{Event: "pre_tool_execution", Context: `"x"`}))
	}
	require.NoError(t, own.Remove(1))
	require.Error(t, own.Remove(1))
	assert.Equal(t, 3, register(t, own, hookc.Hook{Event: "pre_tool_execution", Context: `"x"`}))
	var indices []int
	for _, l := range own.List() {
		indices = append(indices, l.Index)
	}
	assert.Equal(t, []int{0, 2, 3}, indices)
}

// The name that counters and reasons use is the hook's own as long as it is
// registered.
func TestUnnamedHookKeepsItsName(t *testing.T) {
	eng := engine(t, "{}")
	own := eng.Session("s")
	register(t, own, hookc.Hook{Event: "pre_tool_execution", Deny: `command == "a"`})
	register(t, own, hookc.Hook{Event: "PreToolUse", Deny: `command == "b"`})
	by := func() string {
		d, err := eng.PreTool(t.Context(), in("s", bash("b")))
		require.NoError(t, err)
		return d.By
	}
	before := by()
	require.NoError(t, own.Remove(0))
	assert.Equal(t, before, by())
	assert.Equal(t, "session/pre_tool_execution#1", before)
}

func TestRemoveRestoresThePolicy(t *testing.T) {
	eng := engine(t, `pre_tool_execution: [{name: base, context: '"base"'}]`)
	before, err := eng.PreTool(t.Context(), in("s", bash("ls")))
	require.NoError(t, err)
	own := eng.Session("s")
	require.NoError(t, own.Remove(register(t, own, hookc.Hook{Event: "pre_tool_execution", Deny: "true"})))
	after, err := eng.PreTool(t.Context(), in("s", bash("ls")))
	require.NoError(t, err)
	assert.Equal(t, before.Policy, after.Policy)
	assert.Equal(t, before.Action, after.Action)
	assert.Empty(t, own.List())
}

func TestBrokenHookChangesNothing(t *testing.T) {
	eng := engine(t, `pre_tool_execution: [{name: base, context: '"base"'}]`)
	own := eng.Session("s")
	register(t, own, hookc.Hook{Event: "pre_tool_execution", Name: "kept", Context: `"kept"`})
	listed := own.List()
	for name, h := range map[string]hookc.Hook{
		"unknown field":  {Event: "pre_tool_execution", Deny: `tool_nam == "Bash"`},
		"unknown event":  {Event: "pre_tool", Deny: "true"},
		"syntax":         {Event: "pre_tool_execution", Deny: "("},
		"rego":           {Event: "pre_tool_execution", Source: "package p\n\ndeny if x"},
		"no body":        {Event: "pre_tool_execution", Name: "empty"},
		"filter":         {Event: "pre_tool_execution", Deny: "true", Filter: map[string]any{"tool_nam": "Bash"}},
		"timeout":        {Event: "pre_tool_execution", Command: "cat", Timeout: "soon"},
		"not JSON":       {Event: "pre_tool_execution", Command: "cat", Timeout: math.NaN()},
		"name taken":     {Event: "pre_tool_execution", Name: "kept", Deny: "true"},
		"on_error":       {Event: "pre_tool_execution", Command: "cat", OnError: "ignore"},
		"two kinds":      {Event: "pre_tool_execution", Command: "cat", Deny: "true"},
		"negative retry": {Event: "pre_tool_execution", Command: "cat", Retry: new(-1)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := own.Register(h)
			require.Error(t, err)
			assert.Equal(t, listed, own.List())
			d, err := eng.PreTool(t.Context(), in("s", bash("ls")))
			require.NoError(t, err)
			assert.Equal(t, []string{"base", "kept"}, d.Context)
		})
	}
	assert.Equal(t, 1, register(t, own, hookc.Hook{Event: "notify", Command: "cat"}), "a refused hook takes no index")
}

func TestRegisterFindingsHavePlaces(t *testing.T) {
	_, err := engine(t, "{}").Session("s").Register(hookc.Hook{Event: "pre_tool_execution", Deny: `tool_nam == "Bash"`})
	var list diag.ListError
	require.ErrorAs(t, err, &list)
	require.Len(t, list.List, 1)
	assert.Equal(t, "session-s.yaml", list.List[0].Span.File())
	assert.Equal(t, `did you mean "tool_name"?`, list.List[0].Hint)
}

func TestSessionHooksSurviveReload(t *testing.T) {
	eng := engine(t, `pre_tool_execution: [{name: base, context: '"base"'}]`)
	own := eng.Session("s")
	register(t, own, hookc.Hook{Event: "pre_tool_execution", Name: "own", Context: `"own"`})
	require.NoError(t, eng.Reload(t.Context()))
	d, err := eng.PreTool(t.Context(), in("s", bash("ls")))
	require.NoError(t, err)
	assert.Equal(t, []string{"base", "own"}, d.Context)
}

// The cap on consecutive blocks counts per session, whatever plan an event is
// on: a new turn, which is another event's plan, starts it anew.
func TestGateCountIsOneForAllPlans(t *testing.T) {
	eng := engine(t, "{}")
	own := eng.Session("s")
	register(t, own, hookc.Hook{Event: "stop", Name: "never", Deny: "true"})
	turn := hookc.Turn{Where: hookc.Where{SessionID: "s"}}
	block := func() policy.Action {
		d, err := eng.Stop(t.Context(), turn)
		require.NoError(t, err)
		return d.Action
	}
	for range 5 {
		assert.Equal(t, policy.KeepWorking, block())
	}
	_, err := eng.PreSend(t.Context(), turn)
	require.NoError(t, err)
	for i := range 8 {
		assert.Equal(t, policy.KeepWorking, block(), "block %d", i)
		if i == 3 {
			register(t, own, hookc.Hook{Event: "stop", Name: "more", Context: `"x"`})
		}
	}
	assert.Equal(t, policy.Proceed, block())
}

func TestToolIsAJSONSchemaForEveryEvent(t *testing.T) {
	text, err := json.Marshal(engine(t, "{}").Session("s").Tool())
	require.NoError(t, err)
	var tool struct {
		Name        string `json:"name"`
		InputSchema struct {
			Type       string   `json:"type"`
			Required   []string `json:"required"`
			Properties map[string]struct {
				Type string   `json:"type"`
				Enum []string `json:"enum"`
			} `json:"properties"`
		} `json:"input_schema"`
	}
	require.NoError(t, json.Unmarshal(text, &tool))
	assert.Equal(t, "object", tool.InputSchema.Type)
	assert.Equal(t, []string{"action"}, tool.InputSchema.Required)
	var events []string
	for _, e := range policy.Events() {
		events = append(events, string(e))
	}
	assert.Equal(t, events, tool.InputSchema.Properties["event"].Enum)
	known := map[string]bool{"action": true, "index": true, "event": true, "options": true}
	for _, k := range source.Schema() {
		known[k.Name] = known[k.Name] || k.Place == source.InHook
	}
	for name, p := range tool.InputSchema.Properties {
		assert.True(t, known[name], "%s is no key of a hook", name)
		assert.NotEmpty(t, p.Type, name)
	}
}

func TestCallNeverFailsTheHost(t *testing.T) {
	own := engine(t, "{}").Session("s")
	for name, request := range map[string]string{
		"not JSON":         `{"action": `,
		"empty":            ``,
		"array":            `[]`,
		"two objects":      `{"action": "list"} {"action": "list"}`,
		"rubbish after":    `{"action": "list"}}`,
		"no action":        `{}`,
		"unknown action":   `{"action": "forget"}`,
		"unknown event":    `{"action": "register", "event": "pre_tool", "deny": "true"}`,
		"no event":         `{"action": "register", "deny": "true"}`,
		"unknown key":      `{"action": "register", "event": "notify", "command": "cat", "locked": true}`,
		"broken hook":      `{"action": "register", "event": "notify", "deny": "("}`,
		"remove, no index": `{"action": "remove"}`,
		"remove, unknown":  `{"action": "remove", "index": 7}`,
		"wrong type":       `{"action": "remove", "index": "0"}`,
	} {
		t.Run(name, func(t *testing.T) {
			var reply map[string]any
			require.NoError(t, json.Unmarshal(own.Call(t.Context(), []byte(request)), &reply))
			assert.Len(t, reply, 1)
			assert.NotEmpty(t, reply["error"])
			assert.Empty(t, own.List())
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.JSONEq(t, `{"error": "context canceled"}`, string(own.Call(ctx, []byte(`{"action": "list"}`))))
}

// What holds a turn or a result back must not be undone by a later session
// hook where no halt keeps it from being heard.
func TestSessionCannotLoosenWhereNothingHalts(t *testing.T) {
	for _, strategy := range []string{"parallel", "chain-all", "parallel-last"} {
		eng := engine(t, "stop: {strategy: "+strategy+", hooks: [{name: gate, deny: 'true', reason: tests}]}\n"+
			"post_tool_execution: {strategy: "+strategy+`, hooks: [{name: mask, set: {tool_result: '"***"'}}]}
tool_selection: [{name: offer, use: say, result: {tool_config: {mode: ANY, names: [Read]}}}]
`)
		own := eng.Session("s")
		register(t, own, hookc.Hook{Event: "stop", Name: "out", Stop: "true"})
		d, err := eng.Stop(t.Context(), hookc.Turn{Where: hookc.Where{SessionID: "s"}})
		require.NoError(t, err)
		assert.Equal(t, policy.KeepWorking, d.Action, strategy)
		assert.Equal(t, "gate", d.By, strategy)

		register(t, own, hookc.Hook{Event: "post_tool_execution", Name: "echo", Command: `sed 's/.*"tool_result":"\([^"]*\)".*/{"tool_result":"seen \1"}/'`})
		call := in("s", bash("env"))
		call.Result = "secret"
		d, err = eng.PostTool(t.Context(), call)
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"tool_result": "seen ***"}, d.Patch, strategy)

		register(t, own, hookc.Hook{Event: "tool_selection", Name: "more", Command: `echo '{"tool_config": {"names": ["Bash"]}}'`})
		d, err = eng.SelectTools(t.Context(), hookc.Turn{Where: hookc.Where{SessionID: "s"}})
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"mode": "ANY", "names": []any{"Read"}}, d.Patch["tool_config"], strategy)
	}
}

// The model cannot approve its own calls with a hook it registers.
func TestModelCannotRegisterAnApproval(t *testing.T) {
	eng := engine(t, "notify: []\n")
	own := eng.Session("s")
	refused := own.Call(t.Context(), []byte(`{"action":"register","event":"permission_request","allow":"true"}`))
	assert.JSONEq(t, `{"error":"a hook registered here cannot allow: approval is not the agent's to give"}`, string(refused))
	reply := own.Call(t.Context(), []byte(`{"action":"register","event":"permission_request","name":"yes","command":"echo '{\"decision\":\"allow\"}'"}`))
	assert.JSONEq(t, `{"session_idx":0}`, string(reply))
	d, err := eng.Permission(t.Context(), in("s", bash("rm")))
	require.NoError(t, err)
	assert.Equal(t, policy.None, d.Verdict)
	require.Len(t, d.Warnings, 1)
	assert.Equal(t, "HK111", d.Warnings[0].Code.ID)
}

func TestClosedSessionIsForgotten(t *testing.T) {
	eng := engine(t, "notify: []\n")
	own := eng.Session("s")
	register(t, own, hookc.Hook{Event: "pre_tool_execution", Name: "no", Deny: "true"})
	own.Close()
	assert.Empty(t, own.List())
	d, err := eng.PreTool(t.Context(), in("s", bash("ls")))
	require.NoError(t, err)
	assert.True(t, d.Permits())
	assert.NotSame(t, own, eng.Session("s"))
}
