package laws

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/rollout"
	"github.com/hookc/hookc/tests/depth"
)

// law is one law of semantics.md §7.3 as a property of random policies.
type law struct {
	number int
	text   string
	// killed is the mutation of the engine made by hand that this law caught.
	killed string
	// cases are drawn; of them at least applied must meet the law's condition.
	cases, applied uint64
	// holds checks one case and reports whether the law says anything about it.
	holds func(t *testing.T, seed uint64) bool
}

// Elsewhere: 5, 6, 7, 22, 33, 34 and 35 are TestOracle, TestOptionalPasses…,
// TestDeadlineRun… and TestMutants…; 21, and 22 for real Rego, are in
// fuse_test.go; 31 and 32 are in pipelines_test.go, print and reload of 3
// in print_test.go, 36 and 37 (diff and always-deny) in diff_test.go.
var laws = slices.Concat(insertionLaws, orderLaws, failureLaws, algebraLaws, programLaws, enforcementLaws)

func TestLaws(t *testing.T) {
	for _, l := range laws {
		t.Run(fmt.Sprintf("%02d %s", l.number, l.text), func(t *testing.T) {
			var applied uint64
			synctest.Test(t, func(t *testing.T) {
				for seed := range depth.Of(l.cases) {
					if l.holds(t, uint64(l.number)<<40+seed) {
						applied++
					}
					if t.Failed() {
						t.Logf("seed %d", seed)
						return
					}
				}
			})
			assert.GreaterOrEqual(t, applied, depth.Least(l.applied), "the law says too little")
			assert.NotEmpty(t, l.killed)
		})
	}
}

// clone is a copy of the world whose policy can be changed.
func (w *world) clone() *world {
	out := &world{rng: w.rng, seed: w.seed, clock: w.clock + 1, fixture: w.fixture, bodies: map[string]*body{}}
	p := *w.policy
	p.Hooks, p.Settings = nil, slices.Clone(p.Settings)
	groups := map[*policy.Group]*policy.Group{}
	for _, h := range w.policy.Hooks {
		c := *h
		if h.Group != nil {
			if groups[h.Group] == nil {
				g := *h.Group
				groups[h.Group] = &g
			}
			c.Group = groups[h.Group]
		}
		p.Hooks = append(p.Hooks, &c)
		b := *w.bodies[h.Name]
		out.bodies[h.Name] = &b
	}
	out.policy = &p
	return out
}

// flat makes the declared order the chain's order: one tier, no rechecks.
func (w *world) flat() *world {
	for _, h := range w.policy.Hooks {
		h.Tier, h.Recheck = policy.TierProject, false
	}
	return w
}

// starts are the places at which an item begins, and the end.
func (w *world) starts() []int {
	var out []int
	for i, h := range w.policy.Hooks {
		if i == 0 || h.Group == nil || h.Group != w.policy.Hooks[i-1].Group {
			out = append(out, i)
		}
	}
	return append(out, len(w.policy.Hooks))
}

// number makes the order of the slice the order of the chain.
func (w *world) number() {
	for i, h := range w.policy.Hooks {
		h.Order = i
		if h.Group != nil && (i == 0 || w.policy.Hooks[i-1].Group != h.Group) {
			h.Group.Order = i
		}
	}
}

// insert adds a hook of the given behaviour before place i.
func (w *world) insert(i int, name string, kind policy.Kind, b body) *policy.Hook {
	h := w.plain(name, kind)
	b.key, b.process = name, !kind.InProcess()
	if b.world == policy.WorldUnset {
		b.world = w.bodies[name].world
	}
	w.bodies[name] = &b
	hooks := w.policy.Hooks[:len(w.policy.Hooks)-1]
	w.policy.Hooks = slices.Insert(slices.Clone(hooks), i, h)
	w.number()
	return h
}

func (w *world) anyStart() int {
	s := w.starts()
	return s[w.rng.IntN(len(s))]
}

// result runs the world's policy and returns what can be observed, without the
// trace, which names hooks.
func (w *world) result(t *testing.T, in *policy.Context) (seen, *policy.Decision) {
	s, d := w.fire(t, w.compile(t), in)
	s.hooks = ""
	return s, d
}

// sameResult demands equal Decisions and final contexts.
func sameResult(t *testing.T, want, got seen) {
	t.Helper()
	require.Equal(t, []string{want.decision, want.final}, []string{got.decision, got.final})
}

// strategyOf is the strategy in force.
func (w *world) strategyOf() *policy.StrategySpec {
	for _, s := range w.policy.Settings {
		return s.Strategy.Spec()
	}
	return w.fixture.event.Spec().Strategy.Spec()
}

func says(r policy.Result) func(*policy.Context, int) (policy.Result, error) {
	return func(*policy.Context, int) (policy.Result, error) { return r, nil }
}

// sometimes says r on half of what it is given.
func (w *world) sometimes(name string, r policy.Result) func(*policy.Context, int) (policy.Result, error) {
	return func(in *policy.Context, _ int) (policy.Result, error) {
		if draw(w.seed, name, jsonOf(in)).IntN(2) == 0 {
			return policy.Result{}, nil
		}
		return r, nil
	}
}

var denies = policy.Result{Verdict: policy.Deny, Reasons: []policy.Reason{{Text: "new"}}}

// toolEvents carry no field that outputs are added to at the sink.
var toolEvents = []policy.Event{policy.PreToolExecution, policy.PermissionRequest, policy.PostToolExecution}

// without is the calls of all hooks but one.
func without(calls []string, hook string) []string {
	var out []string
	for _, c := range calls {
		if !strings.HasPrefix(c, hook+" ") {
			out = append(out, c)
		}
	}
	return out
}

var insertionLaws = []law{
	{1, "a hook that never matches changes nothing", "mismatching filters evaluated as matches", 300, 300, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed).flat()
		in := w.context(0)
		want, _ := w.result(t, in)
		v := w.clone()
		h := v.insert(v.anyStart(), "never", policy.KindBash, body{fixed: says(denies)})
		h.Filter.Conditions = []policy.Condition{condition(policy.FilterToolName, "Nope")}
		got, _ := v.result(t, in)
		require.Equal(t, want, got)
		return true
	}},
	{2, "a disabled hook is an absent one", "resolve kept disabled hooks", 200, 200, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed)
		in := w.context(0)
		want, _ := w.result(t, in)
		v := w.clone()
		v.insert(v.anyStart(), "off", policy.KindBash, body{fixed: says(denies)}).Disabled = true
		got, _ := v.result(t, in)
		require.Equal(t, want, got)
		return true
	}},
	{8, "a deny rule never turns a refusal into a permission", "Join kept the lesser verdict", 600, 150, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed).flat()
		in := w.context(0)
		_, before := w.result(t, in)
		if before.Permits() {
			return false
		}
		v := w.clone()
		v.insert(v.anyStart(), "new", policy.KindExpr, body{may: policy.MayDeny, reads: pathSet(v.fixture.reads), fixed: v.sometimes("new", denies)})
		_, after := v.result(t, in)
		require.False(t, after.Permits(), "%s then %s", before.Action, after.Action)
		return true
	}},
	{9, "an allow rule never permits more where the most restrictive wins", "Join took the later verdict", 800, 150, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed).flat()
		in := w.context(0)
		_, before := w.result(t, in)
		if before.Permits() || w.strategyOf().Fold != policy.FoldMax {
			return false
		}
		v := w.clone()
		v.insert(v.anyStart(), "new", policy.KindExpr, body{may: policy.MayAllow, fixed: v.sometimes("new", policy.Result{Verdict: policy.Allow})})
		_, after := v.result(t, in)
		require.False(t, after.Permits())
		return true
	}},
	{10, "what comes after a constant halt is irrelevant", "known halt did not stop later items", 600, 150, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed).flat()
		if !w.fixture.event.Spec().Powers.Has(policy.MayDeny) || w.strategyOf().Halt == policy.HaltNever {
			return false
		}
		in := w.context(0)
		at := w.anyStart()
		w.insert(at, "wall", policy.KindExpr, body{may: policy.MayDeny, fixed: says(denies)})
		want, _ := w.result(t, in)
		v := w.clone()
		v.policy.Hooks = v.policy.Hooks[:at+1]
		got, _ := v.result(t, in)
		require.Equal(t, want, got)
		return true
	}},
	{14, "duplicating a pure rule changes neither verdict, control, by nor context", "Join let an equal verdict take by", 900, 100, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed, toolEvents...).flat()
		in := w.context(0)
		plan := w.compile(t, "dead").Plan(w.fixture.event)
		i := w.rng.IntN(len(w.policy.Hooks))
		h, n := w.policy.Hooks[i], &plan.Nodes[i]
		if !h.Kind.InProcess() || h.Async || h.Group != nil || rollout.In(h, in) != "" || n.Effects.Writes.Overlaps(n.Reads) || plan.Strategy.Fold == policy.FoldLast {
			return false
		}
		_, want := w.result(t, in)
		v := w.clone()
		b := *v.bodies[h.Name]
		twin := v.insert(i+1, "twin", h.Kind, b)
		v.bodies["twin"].key = h.Name
		twin.Filter, twin.OnError, twin.OnTimeout, twin.Retry = h.Filter, h.OnError, h.OnTimeout, h.Retry
		_, got := v.result(t, in)
		require.Equal(t, []any{want.Verdict, want.Control, want.By, jsonOf(want.Final)}, []any{got.Verdict, got.Control, got.By, jsonOf(got.Final)})
		return true
	}},
	{15, "a field nobody reads changes no result", "projection dropped, bodies given everything", 800, 100, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed)
		in := w.context(0)
		prog := w.compile(t)
		field := policy.Path{Field: policy.FieldTranscriptPath}
		if plan := prog.Plan(w.fixture.event); plan == nil || plan.Reads.Overlaps(policy.NewPaths(field)) {
			return false
		}
		want, _ := w.fire(t, prog, in)
		got, _ := w.fire(t, prog, in.With(policy.Replace(field, "elsewhere")))
		require.Equal(t, []any{want.decision, want.bound}, []any{got.decision, got.bound})
		return true
	}},
	{29, "an async hook changes no result", "an async answer was joined", 300, 300, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed).flat()
		in := w.context(0)
		want, _ := w.result(t, in)
		v := w.clone()
		v.insert(v.anyStart(), "new", policy.KindBash, body{fixed: says(denies)}).Async = true
		got, _ := v.result(t, in)
		sameResult(t, want, got)
		require.Equal(t, want.bound, without(got.bound, "new"))
		return true
	}},
	{38, "a squashed hook leaves no trace in the result", "results joined when they arrive, not when they retire", 2500, 100, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed)
		got, d := w.fire(t, w.compile(t), w.context(0))
		status := map[string][]policy.Status{}
		for _, h := range d.Hooks {
			status[h.Name] = append(status[h.Name], h.Status)
		}
		applied := false
		for name, all := range status {
			if !slices.Contains(all, policy.StatusSquashed) || slices.ContainsFunc(all, func(s policy.Status) bool { return s == policy.StatusRan || s == policy.StatusFailed }) {
				continue
			}
			applied = true
			require.NotContains(t, got.decision, `"`+name+`:`)
			require.NotContains(t, got.decision, `"hook":"`+name+`"`)
		}
		return applied
	}},
}
