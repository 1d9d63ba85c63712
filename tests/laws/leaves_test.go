package laws

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/tests/depth"
)

// leaf is an optimisation that is no pass, and how a firing goes without it:
// by a change of the plan, of the executor's options, or of how it is asked.
type leaf struct {
	name    string
	plan    func(*dag.Plan)
	options func(*executor.Options)
}

const (
	reused    = "reused memory"
	projected = "projected decoding"
)

// leaves can each be off.
var leaves = []leaf{
	{name: reused}, {name: projected},
	{name: "dispatch index and memo", plan: func(p *dag.Plan) { p.Index = dag.Index{} }},
	{name: "bodies that tell", plan: func(p *dag.Plan) {
		for i := range p.Nodes {
			p.Nodes[i].Runner = policy.RunnerFunc(p.Nodes[i].Runner.Run)
		}
	}},
	{name: "brief timing", plan: func(p *dag.Plan) {
		for i := range p.Nodes {
			p.Nodes[i].Brief = false
		}
	}},
	{name: "silence together", plan: func(p *dag.Plan) {
		p.Fused = slices.Clone(p.Fused)
		for i := range p.Fused {
			if run := p.Fused[i].Run; run != nil {
				p.Fused[i].Run = sayingNothing(run)
			}
		}
	}},
	{name: "fused evaluation", plan: func(p *dag.Plan) { p.Fused = nil }},
	{name: "events nobody observes", options: func(o *executor.Options) { o.Observe = func(executor.Run) {} }},
	{name: "counting together", options: func(o *executor.Options) {
		o.Count = func(*dag.Node) func(policy.Status, int, time.Duration) {
			return func(policy.Status, int, time.Duration) {}
		}
	}},
}

// sayingNothing is run with members that say so when they have nothing to say.
func sayingNothing(run dag.FusedRun) dag.FusedRun {
	return func(ctx context.Context, in *policy.Context, chosen dag.Chosen, said []dag.FusedAnswer) error {
		err := run(ctx, in, chosen, said)
		for k := range said {
			if !said[k].Alone && said[k].Result == nil {
				said[k].Result = &policy.Result{}
			}
		}
		return err
	}
}

// telling makes the bodies of rules such that every leaf has something to do.
func telling(p *dag.Plan) {
	for i := range p.Nodes {
		if n := &p.Nodes[i]; n.Hook.Kind.InProcess() && !n.Hook.Async {
			n.Brief, n.Runner = true, teller{n.Runner}
		}
	}
}

// teller is a body that makes no Result when it has nothing to say.
type teller struct{ policy.Runner }

func (b teller) Tell(ctx context.Context, in *policy.Context, attempt int) (*policy.Result, error) {
	r, err := b.Run(ctx, in, attempt)
	if err != nil || r.Quiet() {
		return nil, err
	}
	return &r, nil
}

// leafWorld is a random policy with mock bodies, or with real Rego; most of the
// former have rules alone, which are decided on the caller's goroutine.
type leafWorld struct {
	*world
	compiled func(without ...string) *dag.Program
}

func newLeafWorld(t *testing.T, seed uint64) *leafWorld {
	if seed%3 == 0 {
		w := newRegoWorld(seed)
		return &leafWorld{w.world, func(without ...string) *dag.Program { return w.compile(t, without...) }}
	}
	w := newWorld(seed)
	for _, h := range w.policy.Hooks {
		h.Body.Context = diag.Literal("x")
		if seed%3 == 1 {
			h.Kind, h.Async, h.Declared = policy.KindExpr, false, policy.Declared{}
			w.bodies[h.Name].process, w.bodies[h.Name].world = false, policy.WorldNone
		}
	}
	return &leafWorld{w, func(without ...string) *dag.Program { return w.compile(t, without...) }}
}

// TestLeavesChangeNothing: with every optimisation on, with every one off, and
// with any of them off, passes and leaves alike, a firing is that of the
// definition. Events go out as text and come in decoded whole or for their
// plan.
// Killed by an index without lists of names, and by a memo whose names were
// told apart by their length.
func TestLeavesChangeNothing(t *testing.T) {
	fired := map[string]int{}
	synctest.Test(t, func(t *testing.T) {
		memory := new(executor.Reused)
		for seed := range depth.Judged(uint64(400)) {
			w := newLeafWorld(t, seed+7<<32)
			with := w.compiled()
			var without []string
			off := map[string]bool{}
			for i := range leaves {
				off[leaves[i].name] = seed%4 == 1 || seed%4 > 1 && w.percent(50)
			}
			if seed%4 == 1 {
				without = optionalPasses
			} else if seed%4 > 1 {
				without = w.some(optionalPasses, 40)
			}
			fire := w.firing(with, w.compiled(without...), off, memory)
			for n := range 4 {
				fired[string(fire(t, n).Action)]++
			}
			for name, is := range off {
				fired[name+map[bool]string{true: " off", false: " on"}[is]]++
			}
		}
	})
	for _, l := range leaves {
		assert.Greater(t, fired[l.name+" on"], depth.Least(100), l.name)
		assert.Greater(t, fired[l.name+" off"], depth.Least(100), l.name)
	}
	for _, action := range []policy.Action{policy.Proceed, policy.Block, policy.Abort} {
		assert.Greater(t, fired[string(action)], depth.Least(30), action)
	}
}

// firing is an engine of prog without some leaves. What it returns fires the
// n-th event and compares that with the definition of whole.
func (w *leafWorld) firing(whole, prog *dag.Program, off map[string]bool, memory *executor.Reused) func(t *testing.T, n int) *policy.Decision {
	options := calm
	if w.percent(50) {
		options.Filtered = func(*dag.Plan) (func([]int), func()) { return func([]int) {}, func() {} }
		options.Together = func(*dag.Plan, []int) (func(int, time.Duration, bool), func()) {
			return func(int, time.Duration, bool) {}, func() {}
		}
	}
	prog = changed(prog, telling)
	for _, l := range leaves {
		if off[l.name] && l.plan != nil {
			prog = changed(prog, l.plan)
		}
		if off[l.name] && l.options != nil {
			l.options(&options)
		}
	}
	return func(t *testing.T, n int) *policy.Decision {
		data := padded(t, w.world, w.context(n))
		in, _, err := policy.DecodeContext(data)
		require.NoError(t, err)
		want, _ := w.serial(whole, in, nil)
		if !off[projected] {
			in, _, err = prog.Projection(w.fixture.event).DecodeFor(w.fixture.event, data, nil)
			require.NoError(t, err)
		}
		w.heard = nil
		w.clock++
		x := executor.New(prog, options)
		for _, tool := range []string{"Bash", "Edit", "Read"} { // from now on it remembers the names
			x.Concerns(w.fixture.event, tool)
		}
		var d *policy.Decision
		if off[reused] {
			d = x.Fire(t.Context(), w.fixture.event, in)
		} else {
			d = x.FireInto(t.Context(), w.fixture.event, in, memory)
		}
		x.Close()
		got := w.observe(prog, d, w.heard)
		want.final, got.final = "", "" // of which decoding for a plan leaves out what nobody reads
		want.hooks, got.hooks = "", "" // dead hooks are not in it
		require.Equal(t, want, got, "seed %d event %d without %v", w.seed, n, off)
		return d
	}
}
