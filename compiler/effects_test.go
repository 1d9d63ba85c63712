package compiler

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

func TestDeclarationsOverEffects(t *testing.T) {
	b := newBench()
	b.add("opaque", bash)
	b.add("all", bash, reads("tool_input.a"), writes("tool_input.b"), may("deny"), world(policy.WorldRead))
	b.add("derived", bash, reads("command"), writes(), may())
	b.add("pure", llm, pure)
	b.add("rule", expr, sees("tool_input.a"), sets("tool_input.b"), says(policy.MayDeny|policy.MayStop))
	b.add("timid", expr, sees("tool_name"), body(func(b *dag.Body) { b.Effects.World = policy.WorldRead }), world(policy.WorldWrite))
	plan := b.plan(t)
	pre := policy.PreToolExecution.Spec()
	assert.Equal(t, policy.Effects{Reads: pre.Readable(), Writes: pre.Writable(), May: pre.Powers, World: policy.WorldWrite, MayFail: true},
		find(plan, "opaque").Effects)
	assert.Equal(t, policy.Effects{Reads: paths("tool_input.a"), Sees: paths("tool_input.a"), Writes: paths("tool_input.b"),
		May: policy.MayDeny, World: policy.WorldRead, MayFail: true, Project: true}, find(plan, "all").Effects)
	assert.Equal(t, []string{"tool_name, tool_input, command", "command"},
		[]string{find(plan, "derived").Effects.Reads.String(), find(plan, "derived").Effects.Sees.String()},
		"a derived field depends on its inputs; who declares it does not see them")
	assert.Equal(t, policy.WorldNone, find(plan, "pure").Effects.World)
	assert.True(t, find(plan, "pure").Effects.Spec)
	assert.False(t, find(plan, "rule").Effects.Project, "inferred reads are complete as they are")
	assert.False(t, find(plan, "timid").Effects.Spec, "a rule that is said to write the world is not speculative")
}

func TestObserveEventsHaveNoSay(t *testing.T) {
	b := newBench()
	b.add("h", bash, event(policy.PostSendMessage), writes("user_input"))
	n := b.compile(t).Plans[0].Nodes[0]
	assert.Equal(t, policy.Powers(0), n.Effects.May)
	assert.True(t, n.Effects.Writes.Empty())
	assert.False(t, n.MayHalt)

	b = newBench()
	b.add("h", bash, event(policy.SessionStart), flag(func(h *policy.Hook) { h.Body.Protocol = policy.AgentHooksProtocol }))
	n = b.compile(t).Plans[0].Nodes[0]
	assert.Equal(t, policy.MayDeny, n.Effects.May, "agenthooks can refuse a session")
	assert.True(t, n.MayHalt)
}

func TestPosturesAndTimes(t *testing.T) {
	file := &policy.FileConfig{OnError: map[policy.Kind]policy.Posture{bash: policy.OnErrorDeny, expr: policy.OnErrorSkip}}
	inFile := flag(func(h *policy.Hook) { h.File = file })
	b := newBench()
	b.add("kind", expr)
	b.add("file", expr, inFile)
	b.add("own", expr, inFile, onError(policy.OnErrorAsk))
	b.add("late", bash, inFile, flag(func(h *policy.Hook) { h.OnTimeout = policy.OnErrorSkip; h.Timeout = time.Second; h.Retry = 3 }))
	b.add("model", llm)
	b.add("gate", expr, event(policy.StopEvent))
	b.add("watch", bash, event(policy.PostStop), inFile)
	p := b.compile(t)
	got := map[string][2]policy.Posture{}
	for _, plan := range p.Plans {
		for i := range plan.Nodes {
			n := &plan.Nodes[i]
			got[n.Hook.Name] = [2]policy.Posture{n.OnError, n.OnTimeout}
		}
	}
	assert.Equal(t, map[string][2]policy.Posture{
		"kind":  {policy.OnErrorDeny, policy.OnErrorDeny},
		"file":  {policy.OnErrorSkip, policy.OnErrorSkip},
		"own":   {policy.OnErrorAsk, policy.OnErrorAsk},
		"late":  {policy.OnErrorDeny, policy.OnErrorSkip},
		"model": {policy.OnErrorSkip, policy.OnErrorSkip},
		"gate":  {policy.OnErrorSkip, policy.OnErrorSkip},
		"watch": {policy.OnErrorSkip, policy.OnErrorSkip}, // a file's deny means nothing where nothing is refused
	}, got)
	pre := p.Plan(policy.PreToolExecution)
	late, model := find(pre, "late"), find(pre, "model")
	assert.Equal(t, []any{time.Second, 3, 30 * time.Second, 1}, []any{late.Timeout, late.Retry, model.Timeout, model.Retry})
	assert.Equal(t, []dag.OpenHook{
		{Hook: "late", Why: "on_timeout: skip lets a timeout through"},
		{Hook: "model", Why: "on_error: skip lets a failure and a timeout through"},
	}, pre.Open, "rules that say nothing open nothing")
	assert.Equal(t, "open", pre.Posture())
	assert.Equal(t, "closed", p.Plan(policy.StopEvent).Posture())
	assert.Equal(t, "closed", p.Plan(policy.PostStop).Posture())
}

// TestAbortThatEndsOnlyTheChain: where the event obeys neither skip nor stop,
// abort lets the action through.
func TestAbortThatEndsOnlyTheChain(t *testing.T) {
	b := newBench()
	b.add("h", bash, event(policy.PermissionRequest), onError(policy.OnErrorAbort))
	assert.Equal(t, []dag.OpenHook{{Hook: "h", Why: "on_error: abort lets a failure and a timeout through"}}, b.compile(t).Plans[0].Open)
}

func TestValidate(t *testing.T) {
	for name, c := range map[string]struct {
		kind policy.Kind
		with []with
		code string
		hint string
	}{
		"unknown read":     {bash, []with{reads("tool_inptu.x")}, "HK118 error h", `did you mean "tool_input"?`},
		"unknown write":    {bash, []with{writes("usr_input"), event(policy.PreSendMessage)}, "HK118 error h", `did you mean "user_input"?`},
		"output in writes": {bash, []with{writes("additional_context")}, "HK118 error h", "additional_context is an output, always allowed: leave it out"},
		"read not carried": {bash, []with{reads("tool_input"), event(policy.Notify)}, "HK119 error h",
			"it carries event, session_id, cwd, project_root, timestamp, transcript_path, permission_mode, agent_id, agent_type, hook_execution_id, source, reason, trigger, error_type, notification_type, stop_reason, stop_hook_active, step_count, message, level, title, raw, facts"},
		"write not allowed":   {bash, []with{writes("user_input"), event(policy.StopEvent), onError(policy.OnErrorDeny)}, "HK119 error h", "no hook can change anything there"},
		"unknown power":       {bash, []with{may("refuse")}, "HK124 error h", "choose among allow, ask, defer, deny, skip, stop, halt"},
		"power not obeyed":    {bash, []with{may("skip"), event(policy.PreSendMessage)}, "HK124 warning h", "it obeys: deny, stop, halt"},
		"async that decides":  {bash, []with{async, may("deny")}, "HK128 error h", "take out async: true, or the declaration"},
		"async that denies":   {bash, []with{async, onError(policy.OnErrorDeny)}, "HK128 error h", "take out async: true, or the declaration"},
		"async rechecked":     {bash, []with{async, rechecked}, "HK128 error h", "take out async: true, or the declaration"},
		"posture in vain":     {bash, []with{onError(policy.OnErrorDeny), event(policy.PostStop)}, "HK129 warning h", ""},
		"speculative effects": {bash, []with{flag(func(h *policy.Hook) { yes := true; h.Declared.Speculative = &yes })}, "HK132 error h", "declare world: read or none if it changes nothing"},
	} {
		b := newBench()
		b.add("h", c.kind, c.with...)
		_, found := b.try(func(cfg *Config) { cfg.Without = []string{"lint"} })
		require.Equal(t, []string{c.code}, codes(found), name)
		assert.Equal(t, c.hint, found[0].Hint, name)
	}
}

func TestErrorsOfOnePassTogether(t *testing.T) {
	b := newBench()
	b.add("a", bash, reads("nothing"), may("refuse"))
	b.add("b", bash, filter(policy.FilterCommand, "("))
	_, found := b.try()
	assert.Equal(t, []string{"HK118 error a", "HK124 error a"}, codes(found), "the pass after is not reached")
}

func TestStrict(t *testing.T) {
	b := newBench()
	b.add("guard", bash)
	assert.Equal(t, []string{"HK141 warning guard"}, codes(b.compile(t).Diagnostics))
	p, found := b.try(func(c *Config) { c.Strict = true })
	assert.Nil(t, p)
	assert.Equal(t, []string{"HK141 warning guard"}, codes(found))
}

// TestLoad: a body left on disk is read when its event is compiled, and only
// then.
func TestLoad(t *testing.T) {
	loaded := 0
	lazy := flag(func(h *policy.Hook) {
		h.Body.Load = func() (policy.Body, diag.List) {
			loaded++
			return policy.Body{Command: diag.Literal("true")}, nil
		}
	})
	b := newBench()
	h := b.add("h", bash, lazy)
	b.add("other", bash, lazy, event(policy.StopEvent))
	p := b.compile(t, func(c *Config) { c.Event = policy.PreToolExecution })
	assert.Equal(t, 1, loaded)
	assert.Equal(t, "true", p.Plans[0].Nodes[0].Hook.Body.Command.Value)
	assert.Same(t, p.Plans[0].Nodes[0].Hook, p.Hooks[0].Hook, "the entry is of the hook in the plan")
	assert.NotNil(t, h.Body.Load, "the hook as loaded is not changed")
}

func TestEstimate(t *testing.T) {
	b := newBench()
	b.add("rule", expr, guards...)
	b.add("a", bash, declared(policy.WorldRead)...)
	b.add("b", llm, writes(), may())
	measured := func(c *Config) {
		c.Costs = func(e policy.Event, hook string) (time.Duration, bool) { return 7 * time.Millisecond, hook == "a" }
	}
	plan := b.plan(t, measured)
	a := find(plan, "a")
	assert.Equal(t, []any{7 * time.Millisecond, true, false}, []any{a.Cost, a.Measured, find(plan, "b").Measured})
	assert.Equal(t, time.Second+7*time.Millisecond+100*time.Nanosecond, plan.Estimate.Serial)
	assert.Equal(t, time.Second+100*time.Nanosecond, plan.Estimate.Critical)
}

func TestValidateHook(t *testing.T) {
	b := newBench()
	b.add("a", expr)
	asked := []policy.Event{}
	b.compile(t, func(c *Config) {
		c.Validate = func(p *dag.Program, plan *dag.Plan) error {
			asked = append(asked, plan.Event)
			assert.Same(t, plan, p.Plan(plan.Event))
			return nil
		}
	})
	assert.Equal(t, []policy.Event{policy.PreToolExecution}, asked)
	assert.PanicsWithValue(t, "compiler: pass verify: the plan of pre_tool_execution is not what its policy means: assert.AnError general error for testing",
		func() {
			b.try(func(c *Config) { c.Validate = func(*dag.Program, *dag.Plan) error { return assert.AnError } })
		})
}

// TestInvariantsCatch: a pass that breaks a promise is named.
func TestInvariantsCatch(t *testing.T) {
	old := passes
	defer func() { passes = old }()
	sabotage := func(after string, do func(*dag.Plan)) func() {
		return func() {
			passes = nil
			for _, p := range old {
				if p.Name == after {
					run := p.run
					p.run = func(u *unit) { run(u); do(u.plans[0]) }
				}
				passes = append(passes, p)
			}
			b := newBench()
			b.add("w", bash)
			b.add("r", bash)
			b.add("z", bash)
			b.try()
		}
	}
	const broken = "compiler: after pass edges: pre_tool_execution: "
	assert.PanicsWithValue(t, broken+"node 2 (z) does not wait for what semantics.md §4.2 says",
		sabotage("edges", func(p *dag.Plan) { p.Nodes[2].Wait, p.Nodes[2].Data, p.Nodes[2].Gate, p.Edges = nil, nil, -1, nil }))
	assert.PanicsWithValue(t, broken+"node 2 (z) takes data of [1], not of [0 1]",
		sabotage("edges", func(p *dag.Plan) { p.Nodes[2].Data = []int{1} }))
	assert.PanicsWithValue(t, broken+"node 0 waits for node 2, which is not earlier",
		sabotage("edges", func(p *dag.Plan) { p.Nodes[0].Wait = []int{2} }))
	assert.PanicsWithValue(t, "compiler: after pass resolve: hook z is live, in a plan: false",
		sabotage("resolve", func(p *dag.Plan) { p.Nodes, p.Items = p.Nodes[:2], p.Items[:2] }))
	assert.PanicsWithValue(t, "compiler: after pass filters: pre_tool_execution: node 1 has no matcher",
		sabotage("filters", func(p *dag.Plan) { p.Nodes[1].Matcher = nil }))
}

func TestTrace(t *testing.T) {
	var out bytes.Buffer
	b := newBench()
	b.add("guard", expr, guards...)
	b.compile(t, func(c *Config) { c.Trace = &out })
	text := out.String()
	for _, p := range Passes() {
		assert.Contains(t, text, "== "+p.Name+": "+p.Doc+"\n")
	}
	assert.Contains(t, text, "== narrow: keeps one event, for a process that serves one\nno change\n")
	assert.Equal(t, len(Passes()), strings.Count(text, "== "))
}

// TestBodiesTogether: bodies are made ready at once, each once; what is found comes in
// the hooks' order, and a kind that panics does so in Compile.
func TestBodiesTogether(t *testing.T) {
	b := newBench()
	for i := range 100 {
		b.add(fmt.Sprintf("h%02d", i), policy.KindExpr)
	}
	var made atomic.Int64
	wrong := false
	preparing := func(c *Config) {
		c.Kinds[2].Prepare = func(h *policy.Hook) (dag.Body, diag.List) {
			made.Add(1)
			if wrong && h.Name == "h50" {
				panic("broken")
			}
			return dag.Body{Runner: quiet, Effects: policy.Effects{World: policy.WorldNone}}, diag.List{codeUnseen.Report(diag.Span{}, "said of all")}
		}
	}
	_, found := b.try(preparing)
	assert.EqualValues(t, 100, made.Load())
	for range 10 {
		_, again := b.try(preparing)
		assert.Equal(t, codes(found), codes(again))
	}
	wrong = true
	assert.PanicsWithValue(t, "broken", func() { b.try(preparing) })
}
