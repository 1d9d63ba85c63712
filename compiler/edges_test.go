package compiler

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

const (
	bash = policy.KindBash
	llm  = policy.KindLLM
	expr = policy.KindExpr
)

func declared(w policy.World) []with { return []with{world(w), writes(), may()} }

// TestDefaults is the table of semantics.md §5.3: what a later hook waits for.
func TestDefaults(t *testing.T) {
	rule := []with{sees("tool_input.command"), says(policy.MayDeny)}
	free := []with{sees("tool_name"), says(policy.MayDeny)}
	probe := []with{world(policy.WorldRead), flag(func(h *policy.Hook) { yes := true; h.Declared.Speculative = &yes })}
	for _, c := range []struct {
		name         string
		first, later policy.Kind
		one, two     []with
		want         []string
	}{
		{"rule, rule", expr, expr, rule, rule, []string{}},
		{"rule, bash", expr, bash, rule, nil, []string{"a gate b"}},
		{"rule, llm", expr, llm, rule, nil, []string{"a gate b"}},
		{"rule, probe", expr, bash, rule, probe, []string{}},
		{"bash, free rule", bash, expr, nil, free, []string{}},
		{"bash, rule", bash, expr, nil, rule, []string{"a data b"}},
		{"bash, bash", bash, bash, nil, nil, []string{"a data b", "a gate b", "a order b"}},
		{"bash, llm", bash, llm, nil, nil, []string{"a data b", "a gate b"}},
		{"bash, probe", bash, bash, nil, probe, []string{"a data b", "a order b"}},
		{"bash writes nothing, rule", bash, expr, []with{writes()}, rule, []string{}},
		{"bash writes nothing, bash", bash, bash, []with{writes()}, nil, []string{"a gate b", "a order b"}},
		{"bash writes nothing, llm", bash, llm, []with{writes()}, nil, []string{"a gate b"}},
		{"bash writes nothing, probe", bash, bash, []with{writes()}, probe, []string{"a order b"}},
		{"observer, bash", bash, bash, []with{writes(), may()}, nil, []string{"a order b"}},
		{"observer, llm", bash, llm, []with{writes(), may()}, nil, []string{}},
		{"llm, bash", llm, bash, nil, nil, []string{"a data b", "a gate b"}},
		{"llm writes nothing, bash", llm, bash, []with{writes()}, nil, []string{"a gate b"}},
		{"llm writes nothing, probe", llm, bash, []with{writes()}, probe, []string{}},
		{"llm writes nothing, pure llm", llm, llm, []with{writes()}, []with{pure}, []string{}},
		{"readers", bash, bash, declared(policy.WorldRead), declared(policy.WorldRead), []string{}},
		{"reader, writer", bash, bash, declared(policy.WorldRead), declared(policy.WorldWrite), []string{"a order b"}},
		{"async, bash", bash, bash, []with{async}, nil, []string{"a order(start) b"}},
		{"async, probe", bash, bash, []with{async}, probe, []string{"a order(start) b"}},
	} {
		b := newBench()
		b.add("a", c.first, c.one...)
		b.add("b", c.later, c.two...)
		assert.Equal(t, c.want, edgesOf(b.plan(t)), c.name)
	}
}

func TestReasonsOfEdges(t *testing.T) {
	b := newBench()
	b.add("guard", expr, sees("tool_input.command"), says(policy.MayDeny|policy.MaySkip|policy.MayStop))
	b.add("rewrite", bash, reads("tool_input.command"), writes("tool_input.command"), may())
	b.add("review", llm, writes())
	want := []dag.Edge{
		{From: 0, To: 1, Kind: dag.GateEdge, Why: "rewrite may have side effects; guard may deny, skip or stop"},
		{From: 0, To: 2, Kind: dag.GateEdge, Why: "a model call discloses data; guard may deny, skip or stop"},
		{From: 1, To: 2, Kind: dag.DataEdge, Why: "tool_input.command"},
	}
	assert.Equal(t, want, b.plan(t).Edges)
}

// TestWorldOrder: the recurrence keeps readers beside a writer of their group.
func TestWorldOrder(t *testing.T) {
	g := &policy.Group{Name: "g", Priority: policy.DefaultPriority, Order: 1}
	b := newBench()
	b.add("w1", bash, declared(policy.WorldWrite)...)
	b.add("r2", bash, append(declared(policy.WorldRead), group(g))...)
	b.add("w2", bash, append(declared(policy.WorldWrite), group(g))...)
	b.add("r3", bash, declared(policy.WorldRead)...)
	b.add("w4", bash, declared(policy.WorldWrite)...)
	plan := b.plan(t)
	assert.Equal(t, "w1 | r2 w2 | r3 | w4", labelled(plan))
	assert.Equal(t, []string{"w1 order r2", "w1 order w2", "w2 order r3", "r2 order w4", "w2 order w4", "r3 order w4"}, edgesOf(plan))
}

// TestGates: one edge to the last item that may halt stands for all of them.
func TestGates(t *testing.T) {
	b := newBench()
	b.add("g1", expr, says(policy.MayDeny))
	b.add("g2", expr, says(policy.MayAllow), onError(policy.OnErrorSkip))
	b.add("g3", expr, says(policy.MayAllow))
	b.add("x", bash, declared(policy.WorldRead)...)
	b.add("y", bash, declared(policy.WorldRead)...)
	plan := b.plan(t)
	assert.Equal(t, []bool{true, false, true, false, false}, []bool{plan.Items[0].MayHalt, plan.Items[1].MayHalt,
		plan.Items[2].MayHalt, plan.Items[3].MayHalt, plan.Items[4].MayHalt}, "g3 halts by failing: rules deny")
	assert.Equal(t, []string{"g3 gate x", "g3 gate y"}, edgesOf(plan))
	assert.Equal(t, 2, find(plan, "y").Gate)
	assert.Equal(t, -1, find(plan, "g3").Gate)

	gated := b.plan(t, func(c *Config) { c.Without = []string{"speculate"} })
	assert.Equal(t, 0, find(gated, "g3").Gate, "without speculate every node is behind its gate")
	assert.Equal(t, 0, find(gated, "g2").Gate)
}

func TestStrategiesHalt(t *testing.T) {
	halts := func(s policy.Strategy, kind policy.Kind, p policy.Powers, changes ...with) bool {
		b := newBench()
		b.policy.Settings = []policy.Setting{{Event: policy.PreToolExecution, Tier: policy.TierProject, Strategy: s}}
		b.add("h", kind, append(changes, says(p))...)
		return b.plan(t).Items[0].MayHalt
	}
	skip := onError(policy.OnErrorSkip)
	assert.False(t, halts(policy.Chain, expr, policy.MayAsk, skip))
	assert.True(t, halts(policy.Decisive, expr, policy.MayAsk, skip))
	assert.False(t, halts(policy.Decisive, expr, policy.MayAllow, skip))
	assert.True(t, halts(policy.First, expr, policy.MayAllow, skip))
	assert.True(t, halts(policy.Chain, expr, policy.MayStop, skip))
	assert.False(t, halts(policy.ChainAll, expr, policy.AllPowers, skip))
	assert.False(t, halts(policy.Parallel, expr, policy.AllPowers, skip))
	assert.True(t, halts(policy.Chain, expr, 0), "the built-in posture of a rule at a guard is deny")
	assert.True(t, halts(policy.Chain, expr, 0, onError(policy.OnErrorAbort)))
	assert.False(t, halts(policy.Chain, expr, 0, onError(policy.OnErrorAsk)))
	assert.True(t, halts(policy.Decisive, expr, 0, onError(policy.OnErrorAsk)))
	assert.False(t, halts(policy.Chain, bash, 0, may()))
	assert.False(t, halts(policy.Chain, bash, 0, async))
}

func TestSlots(t *testing.T) {
	b := newBench()
	b.add("r0", expr, sees("tool_input.command"), says(policy.MayDeny))
	b.add("p1", bash, reads("tool_input"), writes("tool_input.command"), may(), world(policy.WorldRead))
	b.add("r1", expr, sees("tool_input.command"), sets("tool_input.path"), says(policy.MayDeny))
	b.add("p2", bash, reads("tool_input"), writes("tool_input.mode"), may(), world(policy.WorldRead), pure)
	b.add("r2", expr, sees("tool_input.path"), says(policy.MayDeny))
	b.add("r3", expr, sees("tool_input.mode"), says(policy.MayDeny))
	b.add("r4", expr, sees("tool_input.other"), says(policy.MayDeny))
	slots := func(plan *dag.Plan) string {
		out := ""
		for i := range plan.Nodes {
			out += fmt.Sprintf("%s:%d ", plan.Label(i), plan.Nodes[i].Slot)
		}
		return out + fmt.Sprint(plan.Slots)
	}
	assert.Equal(t, "r0:0 p1:-1 r1:1 p2:-1 r2:1 r3:2 r4:0 3", slots(b.plan(t)))
	assert.Equal(t, "r0:0 p1:-1 r1:1 p2:-1 r2:2 r3:2 r4:2 3", slots(b.plan(t, func(c *Config) { c.Without = []string{"hoist"} })))
	gated := b.plan(t, func(c *Config) { c.Without = []string{"speculate"} })
	assert.Equal(t, "r0:0 p1:-1 r1:1 p2:-1 r2:1 r3:2 r4:2 3", slots(gated), "each rule behind the one before")

	b = newBench()
	b.add("log", bash, async)
	b.add("look", expr, sees("tool_name"), body(func(b *dag.Body) { b.Effects.World = policy.WorldRead }))
	assert.Equal(t, "log:-1 look:1 2", slots(b.plan(t)), "slot 0 is the entry, before any start")
}

func TestReduce(t *testing.T) {
	b := newBench()
	for _, name := range []string{"a", "b", "c"} {
		b.add(name, llm)
	}
	assert.Equal(t, []string{"a data b", "a gate b", "b data c", "b gate c"}, edgesOf(b.plan(t)))
	full := b.plan(t, func(c *Config) { c.Without = []string{"reduce"} })
	assert.Equal(t, []string{"a data b", "a gate b", "a data c", "b data c", "b gate c"}, edgesOf(full))
	assert.Equal(t, []int{0, 1}, find(b.plan(t), "c").Data, "c sees the patches of both either way")
}

// TestRandomPlans compiles random policies with passes on and off; the
// invariants, with the naive recomputation of what must wait, are checked by
// the compiler itself.
func TestRandomPlans(t *testing.T) {
	optional := []string{}
	for _, p := range Passes() {
		if !p.Required {
			optional = append(optional, p.Name)
		}
	}
	for seed := range 400 {
		r := rand.New(rand.NewSource(int64(seed)))
		b := randomBench(r)
		first := b.compile(t)
		var without []string
		for _, name := range optional {
			if r.Intn(2) == 0 {
				without = append(without, name)
			}
		}
		second := b.compile(t, func(c *Config) { c.Without = without })
		assert.Equal(t, first.Hash, second.Hash, "without %v", without)
		r.Shuffle(len(b.policy.Hooks), func(i, j int) {
			b.policy.Hooks[i], b.policy.Hooks[j] = b.policy.Hooks[j], b.policy.Hooks[i]
		})
		third := b.compile(t)
		require.Equal(t, shape(first), shape(third), "seed %d", seed)
		assert.Equal(t, first.Hash, third.Hash)
		assert.Equal(t, first.Diagnostics, third.Diagnostics)
	}
}

// shape is all of a program that can be compared.
func shape(p *dag.Program) string {
	u := unit{plans: p.Plans, entries: p.Hooks, pipelines: p.Pipelines, program: p,
		done: map[string]bool{"effects": true, "edges": true, "posture": true, "estimate": true}}
	return u.dump()
}

func randomBench(r *rand.Rand) *bench {
	b := newBench()
	fields := []string{"tool_input.a", "tool_input.b", "tool_input", "tool_name", "cwd"}
	writable := []string{"tool_input.a", "tool_input.b", "tool_input"}
	pick := func(from []string, p float64) []string {
		out := []string{}
		for _, s := range from {
			if r.Float64() < p {
				out = append(out, s)
			}
		}
		return out
	}
	strategies := policy.StrategyNames()
	b.policy.Settings = []policy.Setting{{Event: policy.PreToolExecution, Tier: policy.TierUser, Strategy: policy.Strategy(strategies[r.Intn(len(strategies))])}}
	var g *policy.Group
	for i := range 1 + r.Intn(12) {
		kind := []policy.Kind{expr, bash, llm}[r.Intn(3)]
		changes := []with{tier([]policy.Tier{policy.TierUser, policy.TierProject, policy.TierSession}[r.Intn(3)]), onError(policy.Posture(1 + r.Intn(4)))}
		if r.Intn(3) == 0 {
			changes = append(changes, filter(policy.FilterToolName, []string{"A", "B"}[r.Intn(2)]))
		}
		powers := policy.Powers(r.Intn(int(policy.AllPowers) + 1))
		switch {
		case kind == expr:
			changes = append(changes, sees(pick(fields, .4)...), sets(pick(writable, .2)...), says(powers))
			if r.Intn(5) == 0 {
				changes = append(changes, always(policy.MayDeny))
			}
		case r.Intn(8) == 0:
			changes = append(changes, async, onError(policy.PostureUnset))
		case r.Intn(3) > 0:
			changes = append(changes, reads(pick(fields, .4)...), writes(pick(writable, .3)...), may(powers.Names()...), world(policy.World(1+r.Intn(3))))
		}
		h := b.add(fmt.Sprintf("h%d", i), kind, changes...)
		if !h.Async && r.Intn(4) == 0 {
			h.Recheck = true
		}
		switch {
		case g != nil && r.Intn(2) == 0 && b.policy.Hooks[i-1].Tier == h.Tier:
			h.Group = g
		case r.Intn(5) == 0:
			g = &policy.Group{Name: "g", Priority: policy.DefaultPriority, Order: h.Order}
			h.Group = g
		default:
			g = nil
		}
	}
	return b
}

// A group of an async writer and an async reader before a writer: the writer
// waits for both to have started, in ascending order whatever their roles.
func TestStartedIsSorted(t *testing.T) {
	for _, order := range [][2]policy.World{{policy.WorldRead, policy.WorldWrite}, {policy.WorldWrite, policy.WorldRead}} {
		b := newBench()
		g := &policy.Group{Name: "g", Priority: policy.DefaultPriority}
		b.add("a", bash, async, world(order[0]), group(g))
		b.add("b", bash, async, world(order[1]), group(g))
		b.add("c", bash, declared(policy.WorldWrite)...)
		assert.Equal(t, []int{0, 1}, find(b.plan(t), "c").Started)
	}
}
