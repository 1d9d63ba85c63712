package compiler

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var (
	guards   = []with{sees("tool_input.command"), says(policy.MayDeny)}
	rewriter = []with{sees("tool_name"), sets("tool_input.command")}
)

func TestRecheck(t *testing.T) {
	b := newBench()
	b.add("g1", expr, append(guards, rechecked)...)
	b.add("plain", expr, guards...)
	b.add("w1", expr, rewriter...)
	b.add("g2", expr, append(guards, rechecked)...)
	b.add("w2", expr, rewriter...)
	b.add("other", expr, sets("tool_input.path"))
	b.add("g3", expr, append(guards, rechecked)...)
	plan := b.plan(t)
	assert.Equal(t, "g1 | plain | w1 | g2 | w2 | g1' | g2' | other | g3", labelled(plan),
		"once, after the last that rewrites, in the order of the originals")
	assert.Equal(t, 0, plan.Nodes[5].RecheckOf)
	assert.Equal(t, []int{2, 4}, plan.Nodes[5].Data)
	assert.Same(t, plan.Nodes[0].Hook, plan.Nodes[5].Hook)
}

func TestRecheckAsksFiltersAndOpaqueHooks(t *testing.T) {
	b := newBench()
	b.add("g", expr, append(guards, rechecked, filter(policy.FilterToolName, "Bash"))...)
	b.add("w", expr, append(rewriter, filter(policy.FilterToolName, "Write"))...)
	assert.Equal(t, "g | w", labelled(b.plan(t)), "never about one call")
	b.policy.Hooks[1].Filter.Conditions[0] = policy.Condition{Key: policy.FilterToolKind, Value: diag.Literal("write")}
	assert.Equal(t, "g | w", labelled(b.plan(t)), "nor is this: Bash is no tool that writes")
	b.add("audit", bash)
	assert.Equal(t, "g | w | audit | g'", labelled(b.plan(t)), "an undeclared process may rewrite")
	b.add("never", bash, filter(policy.FilterToolName, "Bash"), filter(policy.FilterToolName, "Read"))
	assert.Equal(t, "g | w | audit | g'", labelled(b.plan(t)), "what never runs rewrites nothing")
}

func TestRecheckInAndBehindGroups(t *testing.T) {
	g := &policy.Group{Name: "both", Priority: policy.DefaultPriority}
	b := newBench()
	b.add("g", expr, append(guards, rechecked, group(g))...)
	b.add("w", expr, append(rewriter, group(g))...)
	b.add("z", expr)
	plan := b.plan(t)
	assert.Equal(t, "g w | g' | z", labelled(plan), "the guard saw the snapshot")
	assert.Equal(t, dag.Item{Members: []int{2}, MayHalt: true}, plan.Items[1])
}

// TestSessionIsRechecked: whatever an agent registers, a guard of a lower
// tier has the last look.
func TestSessionIsRechecked(t *testing.T) {
	b := newBench()
	b.add("u", expr, append(guards, user)...)
	b.add("p", expr, guards...)
	b.add("watch", expr, sees("tool_input.command"), says(policy.MayAllow), onError(policy.OnErrorSkip))
	b.add("s1", expr, append(rewriter, session)...)
	b.add("s2", expr, append(guards, session)...)
	b.add("s3", expr, append(rewriter, session)...)
	assert.Equal(t, "u | p | watch | s1 | s2 | s3 | u' | p'", labelled(b.plan(t)))

	b.policy.Settings = []policy.Setting{set(policy.PreToolExecution, policy.TierUser, func(s *policy.Setting) { s.Strategy = policy.Parallel })}
	assert.Equal(t, "u p watch | s1 s2 s3 | u' | p'", labelled(b.plan(t)))
}

// TestSessionUnderLast: when the last verdict decides, what an agent
// registers can only deny.
func TestSessionUnderLast(t *testing.T) {
	b := newBench()
	b.policy.Settings = []policy.Setting{set(policy.PreToolExecution, policy.TierUser, func(s *policy.Setting) { s.Strategy = policy.ParallelLast })}
	b.add("s", expr, session, says(policy.AllPowers))
	assert.Equal(t, policy.AllPowers, find(b.plan(t), "s").Effects.May, "alone it is as free as any")
	b.add("u", expr, append(guards, user)...)
	assert.Equal(t, policy.MayDeny|policy.MaySkip|policy.MayStop|policy.MayHalt, find(b.plan(t), "s").Effects.May)
}

func TestRecheckOfSideEffects(t *testing.T) {
	b := newBench()
	b.add("g", bash, rechecked, writes(), onError(policy.OnErrorDeny))
	b.add("w", expr, rewriter...)
	p := b.compile(t)
	assert.Equal(t, "g | w", labelled(p.Plans[0]), "a process that may write the world is not asked again")
	assert.Equal(t, []string{"HK127 warning g"}, codes(p.Diagnostics))
	b.policy.Hooks[0].Declared.World = policy.WorldRead
	p = b.compile(t)
	assert.Equal(t, "g | w | g'", labelled(p.Plans[0]))
	assert.Empty(t, codes(p.Diagnostics))

	b = newBench()
	b.add("g", bash, declared(policy.WorldNone)...)
	b.add("m", llm, guards...)
	b.add("set", expr, append(guards, sets("tool_input.command"))...)
	b.add("rule", expr, guards...)
	b.add("s", bash, session)
	assert.Equal(t, "g | m | set | rule | s | rule'", labelled(b.plan(t)), "a session hook repeats rules without patches")
}

func TestDead(t *testing.T) {
	b := newBench()
	b.add("never", bash, filter(policy.FilterToolName, "A"), filter(policy.FilterToolName, "B"))
	b.add("wall", expr, always(policy.MayDeny), filter(policy.FilterToolMatcher, "A|B"))
	b.add("behind", bash, filter(policy.FilterToolName, "A"), onError(policy.OnErrorDeny))
	b.add("beside", bash, filter(policy.FilterToolName, "C"), onError(policy.OnErrorDeny))
	b.add("wide", bash, onError(policy.OnErrorDeny))
	b.add("late", expr, filter(policy.FilterModelPrefix, "gpt"), event(policy.Notify))
	p := b.compile(t)
	assert.Equal(t, "wall | beside | wide", labelled(p.Plan(policy.PreToolExecution)))
	assert.Empty(t, p.Plan(policy.Notify).Nodes)
	assert.Equal(t, []string{
		`project/never dead no call satisfies both tool_name "B" and tool_name "A"`,
		"project/wall live ",
		"project/behind dead wall, earlier, ends the chain whenever this filter matches",
		"project/beside live ", "project/wide live ",
		"project/late dead notify never carries model, so the filter never matches",
	}, statuses(p))
	assert.Equal(t, "wall", p.Hooks[2].By)
	assert.Equal(t, []string{"HK150 warning never", "HK151 warning behind", "HK151 warning late"}, sortedCodes(p))

	kept := b.compile(t, func(c *Config) { c.Without = []string{"dead"} })
	assert.Equal(t, "never | wall | behind | beside | wide", labelled(kept.Plan(policy.PreToolExecution)))
	assert.Equal(t, []string{"HK150 warning never", "HK151 warning behind", "HK151 warning late"}, sortedCodes(kept), "lint reports what dead does not take out")
	assert.Equal(t, p.Hash, kept.Hash)
}

// sortedCodes leaves out HK141, of which every opaque hook has one.
func sortedCodes(p *dag.Program) []string {
	out := []string{}
	for _, c := range codes(p.Diagnostics) {
		if c[:5] != "HK141" {
			out = append(out, c)
		}
	}
	return out
}

// TestNotDead: what is not proved stays.
func TestNotDead(t *testing.T) {
	for name, change := range map[string]func(b *bench){
		"a wall that may fail": func(b *bench) {
			b.add("wall", expr, always(policy.MayDeny), body(func(b *dag.Body) { b.Effects.MayFail = true }))
		},
		"a wall that only asks":    func(b *bench) { b.add("wall", expr, always(policy.MayAsk)) },
		"a wall in the same group": func(b *bench) { b.add("wall", expr, always(policy.MayDeny), group(together)) },
		"a filter that may change": func(b *bench) {
			b.add("wall", expr, always(policy.MayDeny), filter(policy.FilterCommand, "rm"))
		},
	} {
		b := newBench()
		change(b)
		last := b.add("x", expr, filter(policy.FilterCommand, "rm"))
		if b.policy.Hooks[0].Group != nil {
			last.Group = together
		}
		assert.Len(t, b.plan(t).Nodes, 2, name)
	}
}

var together = &policy.Group{Name: "g", Priority: policy.DefaultPriority}

// TestDeadKeepsOrder: a hook taken out takes no order with it.
func TestDeadKeepsOrder(t *testing.T) {
	b := newBench()
	b.add("a", bash, declared(policy.WorldWrite)...)
	b.add("never", bash, append(declared(policy.WorldWrite), filter(policy.FilterToolMatcher, "|"))...)
	b.add("c", bash, declared(policy.WorldWrite)...)
	assert.Equal(t, []string{"a order c"}, edgesOf(b.plan(t)))
}

func TestDeadTakesCopies(t *testing.T) {
	b := newBench()
	b.add("g", expr, append(guards, rechecked, filter(policy.FilterToolMatcher, "|"))...)
	b.add("w", expr, rewriter...)
	assert.Equal(t, "w", labelled(b.plan(t)))
}
