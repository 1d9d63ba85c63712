package compiler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

var (
	user    = tier(policy.TierUser)
	project = tier(policy.TierProject)
	session = tier(policy.TierSession)
)

// statuses lists what became of each hook, in the order it is listed.
func statuses(p *dag.Program) []string {
	out := []string{}
	for _, e := range p.Hooks {
		out = append(out, origin(e.Hook)+" "+string(e.Status)+" "+e.Reason)
	}
	return out
}

func set(e policy.Event, t policy.Tier, change func(*policy.Setting)) policy.Setting {
	s := policy.Setting{Event: e, Tier: t}
	change(&s)
	return s
}

func TestOrder(t *testing.T) {
	make := func() *bench {
		b := newBench()
		b.add("p-low", expr, project)
		b.add("p-high", expr, project, priority(500))
		b.add("s-high", expr, session, priority(900))
		b.add("u-low", expr, user)
		b.add("u-last", expr, user, priority(1))
		b.add("built", expr, tier(policy.TierBuiltin))
		return b
	}
	b := make()
	assert.Equal(t, "built | u-low | u-last | p-high | p-low | s-high", labelled(b.plan(t)))

	b = make()
	b.policy.Settings = []policy.Setting{set(policy.PreToolExecution, policy.TierUser, func(s *policy.Setting) { s.Order = "priority" })}
	plan := b.plan(t)
	assert.Equal(t, "p-high | built | u-low | p-low | u-last | s-high", labelled(plan), "what an agent registers stays last")
	assert.True(t, plan.ByPriority)
}

func TestGroups(t *testing.T) {
	g := &policy.Group{Name: "review", Priority: 200, Fold: policy.FoldLast, Order: 1}
	b := newBench()
	b.add("a", expr)
	b.add("m1", expr, group(g))
	b.add("m2", bash, group(g))
	b.add("z", expr)
	plan := b.plan(t)
	assert.Equal(t, "m1 m2 | a | z", labelled(plan), "a group has one priority")
	assert.Equal(t, dag.Item{Members: []int{0, 1}, Group: "review", Parallel: true, Fold: policy.FoldLast, MayHalt: true}, plan.Items[0])
	assert.Equal(t, dag.Item{Members: []int{2}, MayHalt: true}, plan.Items[1])
	assert.Empty(t, plan.Nodes[1].Wait, "no edges inside a group")

	b = newBench()
	b.policy.Settings = []policy.Setting{set(policy.PreToolExecution, policy.TierUser, func(s *policy.Setting) { s.Strategy = policy.ParallelLast })}
	b.add("a", expr, user)
	b.add("m1", expr, group(g))
	b.add("z", expr)
	plan = b.plan(t)
	assert.Equal(t, "a m1 z", labelled(plan), "a snapshot strategy is one group")
	assert.Equal(t, dag.Item{Members: []int{0, 1, 2}, Parallel: true, Fold: policy.FoldLast}, plan.Items[0])
}

func TestOverride(t *testing.T) {
	b := newBench()
	b.add("guard", expr, user)
	b.add("other", expr, user)
	b.add("guard", expr, project)
	p := b.compile(t)
	assert.Equal(t, "other | guard", labelled(p.Plans[0]), "the later tier's, at its own place")
	assert.Equal(t, []string{"user/guard overridden overridden by project/guard", "user/other live ", "project/guard live "}, statuses(p))
	assert.Equal(t, []string{"HK130 warning guard"}, codes(p.Diagnostics))
	assert.Empty(t, p.Warnings)
}

func TestOverrideOfLocked(t *testing.T) {
	b := newBench()
	b.add("guard", expr, user, locked)
	b.add("guard", expr, project)
	p, found := b.try()
	assert.Nil(t, p)
	assert.Equal(t, []string{"HK130 error guard"}, codes(found))

	p = b.compile(t, func(c *Config) { c.Runtime = true })
	assert.Equal(t, []string{"user/guard live ", "project/guard rejected override rejected: user/guard is locked"}, statuses(p))
	assert.Equal(t, []policy.Warning{{Code: codeOverride, Hook: "guard", Text: "override of guard rejected: user/guard is locked"}}, p.Warnings)
}

func TestSessionCannotOverride(t *testing.T) {
	b := newBench()
	b.add("guard", expr, user)
	b.add("guard", expr, session)
	p := b.compile(t, func(c *Config) { c.Runtime = true })
	assert.Equal(t, []string{"user/guard live ", "session/guard rejected override rejected: a hook registered by the agent cannot replace user/guard"}, statuses(p))
}

func TestOneNameTwice(t *testing.T) {
	b := newBench()
	b.add("guard", expr, user)
	b.add("guard", expr, user)
	b.add("guard", expr, user, event(policy.StopEvent))
	p, found := b.try()
	assert.Nil(t, p)
	assert.Equal(t, []string{"HK131 error guard"}, codes(found), "another event has its own names")
}

// TestAbsent: a disabled or untrusted hook is as if absent: it overrides
// nothing and its name is free; but it is listed.
func TestAbsent(t *testing.T) {
	b := newBench()
	b.add("guard", expr, user, locked)
	b.add("guard", expr, project, disabled)
	b.add("guard", expr, tier(policy.TierLocal), flag(func(h *policy.Hook) { h.Untrusted = "run hookc trust" }))
	b.policy.Sources = []policy.SourceFile{{Name: "b.yaml", Untrusted: "changed"}, {Name: "a.yaml"}}
	p := b.compile(t)
	assert.Equal(t, []string{"user/guard live ", "project/guard disabled enabled: false", "local/guard untrusted run hookc trust"}, statuses(p))
	assert.Equal(t, []policy.Warning{{Code: codeUntrusted, Text: "b.yaml: changed"}}, p.Warnings)
	assert.Equal(t, []string{"HK165 warning "}, codes(p.Diagnostics))

	b = newBench()
	b.add("off", expr, disabled)
	p = b.compile(t)
	require.Len(t, p.Plans, 1, "an event with a loaded hook has a plan")
	assert.Empty(t, p.Plans[0].Nodes)
}

func TestSettings(t *testing.T) {
	const e = policy.PreToolExecution
	timeout := func(d time.Duration) func(*policy.Setting) { return func(s *policy.Setting) { s.ChainTimeout = d } }
	b := newBench()
	b.add("a", expr)
	b.policy.Settings = []policy.Setting{
		set(e, policy.TierProject, timeout(9*time.Second)),
		set(e, policy.TierUser, timeout(5*time.Second)),
		set(e, policy.TierSession, timeout(time.Second)),
		set(policy.StopEvent, policy.TierUser, timeout(time.Hour)),
	}
	p := b.compile(t)
	assert.Equal(t, 5*time.Second, p.Plans[0].Deadline, "the most trusted tier that sets it")
	assert.Equal(t, []string{"HK121 warning ", "HK121 warning "}, codes(p.Diagnostics))

	b.policy.Settings = []policy.Setting{set(e, policy.TierUser, timeout(9*time.Second)), set(e, policy.TierUser, timeout(5*time.Second))}
	_, found := b.try()
	assert.Equal(t, []string{"HK121 error "}, codes(found))
	b.policy.Settings[1].ChainTimeout = 9 * time.Second
	assert.Empty(t, b.compile(t).Diagnostics, "saying the same twice is no conflict")
}

func TestDeadline(t *testing.T) {
	of := func(change func(b *bench)) time.Duration {
		b := newBench()
		change(b)
		return b.plan(t).Deadline
	}
	slow := flag(func(h *policy.Hook) { h.Timeout = 2 * time.Minute })
	foreign := flag(func(h *policy.Hook) { h.Body.Protocol = policy.AgentHooksProtocol })
	assert.Equal(t, 30*time.Second, of(func(b *bench) { b.add("a", bash, slow) }), "jcli chains")
	assert.Equal(t, 2*time.Minute, of(func(b *bench) { b.add("a", bash, slow, foreign) }))
	assert.Equal(t, 30*time.Second, of(func(b *bench) { b.add("a", bash, slow, foreign, async) }))
	assert.Equal(t, time.Minute, of(func(b *bench) { b.policy.ChainTimeout = time.Minute; b.add("a", bash, slow, foreign) }))
}

func TestNarrow(t *testing.T) {
	b := newBench()
	b.add("a", expr)
	b.add("b", expr, event(policy.StopEvent))
	whole := b.compile(t)
	assert.Len(t, whole.Plans, 2)
	p := b.compile(t, func(c *Config) { c.Event = policy.StopEvent })
	assert.Equal(t, []string{"project/b live "}, statuses(p))
	assert.Nil(t, p.Plan(policy.PreToolExecution))
	assert.Equal(t, "b", labelled(p.Plan(policy.StopEvent)))
	assert.Len(t, p.Pipelines, 4)
}

func TestHash(t *testing.T) {
	b := newBench()
	h := b.add("a", expr, sees("tool_input.command"), says(policy.MayDeny))
	before := b.compile(t).Hash
	h.Locked = true
	assert.NotEqual(t, before, b.compile(t).Hash)
	h.Locked = false
	h.Span.Start = 7
	assert.Equal(t, before, b.compile(t).Hash, "where it is written does not count")
	h.Declared.Writes = words(nil)
	assert.NotEqual(t, before, b.compile(t).Hash, "empty is not unwritten")
	h.Declared.Writes = nil
	other := func(cfg *Config) {
		for i := range cfg.Kinds {
			cfg.Kinds[i].Digest = func(*policy.Hook) string { return "another data file" }
		}
	}
	assert.NotEqual(t, before, b.compile(t, other).Hash)
	b.add("b", expr, event(policy.StopEvent), sees("cwd"), says(policy.MayDeny))
	both := b.compile(t).Hash
	assert.NotEqual(t, before, both)
	assert.Equal(t, both, b.compile(t, func(cfg *Config) { cfg.Event = policy.StopEvent }).Hash, "a narrowed program is of the same policy")
}

func TestPassTable(t *testing.T) {
	require.NoError(t, checkOrder())
	assert.EqualError(t, CheckWithout([]string{"hoits"}), `no pass is called hoits: did you mean "hoist"?`)
	assert.EqualError(t, CheckWithout([]string{"edges"}), "pass edges is required: without it there is no program")
	assert.NoError(t, CheckWithout([]string{"dead", "reduce"}))
	old := passes
	defer func() { passes = old }()
	passes = append([]pass{old[8]}, old...)
	assert.EqualError(t, checkOrder(), "pass validate must come before effects: declarations are parsed where they are known to be right")
}
