package laws

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// unordered is a Decision whose lists are sets and which does not say who
// decided: what is left when two hooks change places.
func unordered(d *policy.Decision) string {
	set := func(list []string) []string {
		list = slices.Clone(list)
		slices.Sort(list)
		return list
	}
	var inject, failed, warnings []string
	for _, m := range d.Inject {
		text, _ := json.Marshal(m)
		inject = append(inject, string(text))
	}
	for _, f := range d.Failed {
		failed = append(failed, fmt.Sprint(f))
	}
	for _, w := range d.Warnings {
		warnings = append(warnings, w.Text)
	}
	return fmt.Sprint(d.Action, d.Verdict, d.Control, d.SuppressOutput, d.Scope, d.Patch,
		set(d.Reasons), set(d.Feedback), set(d.Context), set(d.SystemMessages), set(inject), set(failed), set(warnings))
}

// couple inserts two neighbours, x and y: x can only allow, and writes what y
// does not read; y is a process or a rule, too.
func (w *world) couple(x, y body) int {
	at := w.anyStart()
	kinds := []policy.Kind{policy.KindExpr, policy.KindLLM, policy.KindBash}
	for i, b := range []body{x, y} {
		h := w.insert(at+i, []string{"x", "y"}[i], kinds[w.rng.IntN(3)], b)
		if b.failing > 0 {
			h.OnError = policy.OnErrorSkip
		}
		if !h.Kind.InProcess() {
			h.Declared.Reads, h.Declared.Writes = texts(b.reads.Names()), texts(b.writes.Names())
			h.Declared.May = texts(b.may.Names())
			h.Declared.World = policy.WorldRead
		}
	}
	return at
}

var orderLaws = []law{
	{11, "neighbours that cannot halt and do not meet commute", "a version held the patches of one producer only", 600, 200, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed, policy.PreToolExecution).flat()
		if s := w.strategyOf(); s.Snapshot || s.Fold != policy.FoldMax {
			return false
		}
		at := w.couple(body{reads: pathSet([]string{"tool_input.c"}), writes: pathSet([]string{"tool_input.a"}), may: policy.MayAllow, failing: 10},
			body{reads: pathSet([]string{"tool_input.c", "tool_name"}), writes: pathSet([]string{"tool_input.b"}), may: policy.MayAllow, failing: 10})
		in := w.context(0)
		_, want := w.result(t, in)
		v := w.clone()
		v.policy.Hooks[at], v.policy.Hooks[at+1] = v.policy.Hooks[at+1], v.policy.Hooks[at]
		v.number()
		_, got := v.result(t, in)
		require.Equal(t, unordered(want), unordered(got))
		require.Equal(t, jsonOf(want.Final), jsonOf(got.Final))
		return true
	}},
	{12, "a group of one is its hook", "a group's fold replaced the strategy's", 500, 150, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed).flat()
		i := w.rng.IntN(len(w.policy.Hooks))
		if w.policy.Hooks[i].Group != nil {
			return false
		}
		in := w.context(0)
		want, _ := w.result(t, in)
		v := w.clone()
		v.policy.Hooks[i].Group = &policy.Group{Name: "alone", Priority: policy.DefaultPriority}
		v.number()
		got, _ := v.result(t, in)
		require.Equal(t, want, got)
		return true
	}},
	{13, "neighbours of which the first cannot halt or reach the second are a group", "a group took its first verdict", 600, 200, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed, policy.PreToolExecution).flat()
		if s := w.strategyOf(); s.Snapshot || s.Fold != policy.FoldMax {
			return false
		}
		at := w.couple(body{reads: pathSet([]string{"tool_input.c"}), writes: pathSet([]string{"tool_input.a"}), may: policy.MayAllow, failing: 10},
			body{reads: pathSet([]string{"tool_input.b", "tool_input.c"}), writes: pathSet([]string{"tool_input.a", "tool_input.b"}), may: policy.AllPowers &^ policy.MayHalt})
		in := w.context(0)
		want, _ := w.result(t, in)
		v := w.clone()
		g := &policy.Group{Name: "both", Priority: policy.DefaultPriority}
		v.policy.Hooks[at].Group, v.policy.Hooks[at+1].Group = g, g
		v.number()
		got, _ := v.result(t, in)
		sameResult(t, want, got)
		require.Equal(t, want.bound, got.bound)
		return true
	}},
	{16, "the final context differs only where some hook may write", "Mask let patches outside writes through", 1500, 300, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed, policy.PreToolExecution, policy.PermissionRequest, policy.PostToolExecution, policy.ToolSelection)
		in := w.context(0)
		prog := w.compile(t)
		_, d := w.fire(t, prog, in)
		before, after := in, d.Final
		if plan := prog.Plan(w.fixture.event); plan != nil {
			for i := range plan.Nodes {
				for _, p := range plan.Nodes[i].Effects.Writes.All() {
					before, after = before.With(policy.Remove(p)), after.With(policy.Remove(p))
				}
			}
		}
		require.Equal(t, jsonOf(before.Frozen(w.fixture.event)), jsonOf(after))
		return len(d.Patch) > 0
	}},
	{17, "a chain splits where its first part does not halt", "the second part saw the entry context", 1500, 150, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed, toolEvents...).flat()
		at := w.anyStart()
		if w.strategyOf().Snapshot || at == 0 || at == len(w.policy.Hooks) {
			return false
		}
		in := w.context(0)
		_, whole := w.result(t, in)
		a, b := w.clone(), w.clone()
		a.policy.Hooks, b.policy.Hooks = a.policy.Hooks[:at], b.policy.Hooks[at:]
		b.number()
		first := b.policy.Hooks[0].Name
		reached := slices.ContainsFunc(whole.Hooks, func(h policy.HookTrace) bool {
			return h.Name == first && h.Status != policy.StatusNotStarted && h.Status != policy.StatusSquashed
		})
		if !reached {
			return false
		}
		_, left := a.result(t, in)
		_, right := b.result(t, left.Final)
		require.Equal(t, max(left.Verdict, right.Verdict), whole.Verdict)
		require.Equal(t, max(left.Control, right.Control), whole.Control)
		require.Equal(t, slices.Concat(left.Reasons, right.Reasons), slices.Clip(whole.Reasons))
		require.Equal(t, slices.Concat(left.Context, right.Context), whole.Context)
		require.Equal(t, slices.Concat(left.SystemMessages, right.SystemMessages), whole.SystemMessages)
		require.Equal(t, slices.Concat(left.Failed, right.Failed), whole.Failed)
		require.Equal(t, jsonOf(right.Final), jsonOf(whole.Final))
		return true
	}},
}

var failureLaws = []law{
	{26, "a hook that always fails is absent, or denies, as its posture says", "skip recorded no failure; deny lost its reason", 500, 200, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed).flat()
		if !w.fixture.event.Spec().Powers.Has(policy.MayDeny) {
			return false
		}
		in := w.context(0)
		at := w.anyStart()
		boom := body{fixed: func(*policy.Context, int) (policy.Result, error) {
			return policy.Result{}, policy.Failf(policy.ErrExit, "boom")
		}}
		fails := func(p policy.Posture) (seen, *policy.Decision) {
			v := w.clone()
			v.insert(at, "new", policy.KindBash, boom).OnError = p
			got, d := v.result(t, in)
			d.Failed = slices.DeleteFunc(d.Failed, func(f policy.Failure) bool { return f.Hook == "new" })
			again := v.observe(v.compile(t), d, nil)
			got.decision, got.bound = again.decision, without(got.bound, "new")
			return got, d
		}
		absent, _ := w.result(t, in)
		got, _ := fails(policy.OnErrorSkip)
		sameResult(t, absent, got)
		require.Equal(t, absent.bound, got.bound)

		v := w.clone()
		v.insert(at, "new", policy.KindBash, body{fixed: says(policy.Result{Verdict: policy.Deny, Reasons: []policy.Reason{{Text: "new: boom"}}})})
		constant, _ := v.result(t, in)
		got, _ = fails(policy.OnErrorDeny)
		sameResult(t, constant, got)
		require.Equal(t, without(constant.bound, "new"), got.bound)
		return true
	}},
	{27, "failing no more often than it may is succeeding at once", "the last attempt was not made", 300, 300, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed).flat()
		in := w.context(0)
		at, fail := w.anyStart(), w.rng.IntN(3)
		run := func(fail int) seen {
			v := w.clone()
			says := v.sometimes("new", denies)
			h := v.insert(at, "new", policy.KindBash, body{fixed: func(in *policy.Context, a int) (policy.Result, error) {
				if a < fail {
					return policy.Result{}, policy.Failf(policy.ErrExit, "boom")
				}
				return says(in, a)
			}})
			h.Retry, h.OnError = fail, policy.OnErrorAbort
			got, _ := v.result(t, in)
			got.bound, got.writes = without(got.bound, "new"), without(got.writes, "new")
			return got
		}
		require.Equal(t, run(0), run(fail))
		return true
	}},
	{30, "recheck changes nothing when nothing later writes what the guard reads", "a copy was made behind every hook", 1500, 150, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed)
		for _, h := range w.policy.Hooks {
			h.Tier, h.Recheck = policy.TierProject, false
		}
		plan := w.compile(t, "dead").Plan(w.fixture.event)
		i := w.rng.IntN(len(w.policy.Hooks))
		n := &plan.Nodes[i]
		if n.Hook.Async || n.Hook.Group != nil {
			return false
		}
		for k := range plan.Nodes {
			if o := &plan.Nodes[k]; k != i && o.Item >= n.Item && o.Effects.Writes.Overlaps(n.Reads) {
				return false
			}
		}
		in := w.context(0)
		want, _ := w.fire(t, w.compile(t), in)
		v := w.clone()
		v.policy.Hooks[i].Recheck = true
		got, _ := v.fire(t, v.compile(t), in)
		require.Equal(t, want, got)
		return true
	}},
}
