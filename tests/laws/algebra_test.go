package laws

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/policy"
)

// someResult is a random result of a hook called by a random name.
func someResult(w *world) policy.Result {
	key := fmt.Sprint("h", w.rng.IntN(3))
	r := w.said(w.rng, &body{key: key})
	if r.Verdict != policy.None {
		r.VerdictBy = policy.By{Name: key}
	}
	if r.Control != policy.Go {
		r.ControlBy = policy.By{Name: key}
	}
	return r
}

// somePatch is a random patch of nested and whole objects.
func somePatch(rng *rand.Rand) policy.Patch {
	var p policy.Patch
	for range rng.IntN(4) {
		path := policy.Path{Field: policy.FieldToolInput}
		for range rng.IntN(3) {
			path.Keys = append(path.Keys, string(rune('a'+rng.IntN(2))))
		}
		switch rng.IntN(4) {
		case 0:
			p = p.Then(policy.Remove(path))
		case 1:
			p = p.Then(policy.Replace(path, map[string]any{"a": fmt.Sprint(rng.IntN(3))}))
		default:
			p = p.Then(policy.Replace(path, fmt.Sprint(rng.IntN(3))))
		}
	}
	return p
}

var folds = []policy.Fold{policy.FoldMax, policy.FoldFirst, policy.FoldLast, policy.FoldNone}

var algebraLaws = []law{
	{18, "folds are associative, have a unit, are idempotent, and max commutes", "max took the later verdict", 2000, 2000, func(t *testing.T, seed uint64) bool {
		w := emptyWorld(seed, policy.PreToolExecution)
		f := folds[w.rng.IntN(len(folds))]
		x, y, z := someResult(w), someResult(w), someResult(w)
		require.Equal(t, policy.Join(f, policy.Join(f, x, y), z), policy.Join(f, x, policy.Join(f, y, z)))
		require.Equal(t, x, policy.Join(f, x, policy.Result{}))
		if f != policy.FoldNone {
			require.Equal(t, x, policy.Join(f, policy.Result{}, x))
		}
		twice := policy.Join(f, x, x)
		require.Equal(t, []any{x.Verdict, x.VerdictBy, x.Control, x.ControlBy}, []any{twice.Verdict, twice.VerdictBy, twice.Control, twice.ControlBy})
		in := w.context(0)
		require.Equal(t, jsonOf(in.With(x.Patch)), jsonOf(in.With(twice.Patch)))
		xy, yx := policy.Join(policy.FoldMax, x, y), policy.Join(policy.FoldMax, y, x)
		require.Equal(t, []any{xy.Verdict, xy.Control, xy.Suppress}, []any{yx.Verdict, yx.Control, yx.Suppress})
		return true
	}},
	{19, "applying two patches is applying their composition", "Then dropped a set that a delete follows", 3000, 3000, func(t *testing.T, seed uint64) bool {
		w := emptyWorld(seed, policy.PreToolExecution)
		in := w.context(0)
		p, q, r := somePatch(w.rng), somePatch(w.rng), somePatch(w.rng)
		require.Equal(t, jsonOf(in.With(p).With(q)), jsonOf(in.With(p.Then(q))))
		require.Equal(t, jsonOf(in.With(p.Then(q).Then(r))), jsonOf(in.With(p.Then(q.Then(r)))))
		return true
	}},
	{20, "the index lists every node whose filter matches", "the index left out half of the names of a filter; a prefix was cut from an alternative that is not anchored", 500, 300, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed, policy.PreToolExecution, policy.PermissionRequest, policy.PostToolExecution)
		for _, h := range w.policy.Hooks {
			if w.percent(60) {
				h.Filter.Conditions = append(h.Filter.Conditions[:len(h.Filter.Conditions):len(h.Filter.Conditions)],
					condition(policy.FilterToolRegexp, toolPatterns[w.rng.IntN(len(toolPatterns))]))
			}
		}
		prog := w.compile(t, "dead") // a hook that never matches is there, filtered
		plan := prog.Plan(w.fixture.event)
		if plan == nil {
			return false
		}
		x := executor.New(prog, calm)
		defer x.Close()
		for _, tool := range toolNames {
			in := w.context(0).Set(policy.FieldToolName, tool).Frozen(w.fixture.event)
			for i := range plan.Nodes {
				if plan.Nodes[i].Matcher.Match(in) {
					require.True(t, slices.Contains(plan.Index.Nodes(tool), i), tool)
					require.True(t, x.Concerns(plan.Event, tool), tool)
				}
			}
			got, _ := w.fire(t, prog, in)
			want, _ := w.serial(prog, in, nil)
			require.Equal(t, want, got, tool)
		}
		return true
	}},
}

// toolPatterns are expressions on the tool's name, and toolNames names that
// fall on both sides of each.
var (
	toolPatterns = []string{"^mcp__", "^mcp__git__.*$", "__push$", "^(Bash|Edit)$", "^Multi", "Edit", "^(?:Multi)?Edit$", "(?i)^bash$", "^B|E.*t$", "^Tool[0-9]$", "sh$|^Wri", ".*", "^$"}
	toolNames    = []string{"Bash", "bash", "Edit", "MultiEdit", "Write", "mcp__git__push", "mcp__git__pull", "mcp__x__push", "Tool7", "ToolX", "", "é", "\xffEdit"}
)

var programLaws = []law{
	{3, "compiling again, or from shuffled hooks, gives the same hash", "resolve did not sort", 200, 200, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed)
		want := w.compile(t).Hash
		require.Equal(t, want, w.compile(t).Hash)
		v := w.clone()
		v.rng.Shuffle(len(v.policy.Hooks), func(i, j int) {
			v.policy.Hooks[i], v.policy.Hooks[j] = v.policy.Hooks[j], v.policy.Hooks[i]
		})
		require.Equal(t, want, v.compile(t).Hash)
		return true
	}},
	{4, "explain lists every loaded hook exactly once", "seal dropped dead entries; explain left overridden hooks out", 300, 300, eachExplained},
	{23, "consistent renaming changes only names", "hooks were ordered by name", 350, 100, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed)
		in := w.context(0)
		want, _ := w.result(t, in)
		v := w.clone()
		v.bodies = map[string]*body{}
		if slices.ContainsFunc(w.policy.Hooks, func(h *policy.Hook) bool { return h.Spared > 0 }) {
			return false // which sessions a hook spares depends on its name
		}
		var names []string
		for i, h := range v.policy.Hooks {
			name := fmt.Sprintf("zz%c", 'z'-i)
			v.bodies[name] = w.bodies[h.Name]
			names = append(names, name, h.Name)
			h.Name = name
		}
		got, _ := v.result(t, in)
		back := strings.NewReplacer(names...)
		require.Equal(t, want.decision, back.Replace(got.decision))
		require.Equal(t, want.final, back.Replace(got.final))
		return true
	}},
	{24, "a native event name is the canonical one", "PreToolUse was an alias of post_tool_execution; aliases were not known", 1, 1, byAnyName},
	{25, "overriding a hook is deleting it; a locked one cannot be", "the overridden hook kept its place", 200, 200, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed).flat()
		in := w.context(0)
		i := w.rng.IntN(len(w.policy.Hooks))
		w.policy.Hooks[i].Group = nil
		w.number()
		later := func(v *world) {
			h := v.insert(len(v.policy.Hooks), "later", policy.KindBash, body{fixed: v.sometimes("later", denies)})
			h.Tier = policy.TierLocal
		}
		deleted := w.clone()
		deleted.policy.Hooks = slices.Delete(deleted.policy.Hooks, i, i+1)
		later(deleted)
		want, _ := deleted.result(t, in)

		over := w.clone()
		later(over)
		old := over.policy.Hooks[i].Name
		over.bodies["later"].key = old
		over.policy.Hooks[len(over.policy.Hooks)-1].Name, over.bodies[old] = old, over.bodies["later"]
		got, _ := over.result(t, in)
		back := regexp.MustCompile(`\b` + old + `\b`)
		require.Equal(t, want.decision, back.ReplaceAllString(got.decision, "later"))
		require.Equal(t, want.final, got.final)

		over.policy.Hooks[i].Locked = true
		_, found := compiler.Compile(over.policy, compiler.Config{Kinds: over.kinds()})
		require.True(t, found.HasErrors())
		require.Equal(t, "HK130", found[0].Code.ID)
		return true
	}},
	{28, "a repeated call gets the same answer and runs nothing", "the answer was not remembered", 400, 100, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed, toolEvents...)
		prog := w.compile(t)
		in := w.context(0).With(policy.Replace(policy.Path{Field: policy.FieldToolUseID}, "t1"))
		x := executor.New(prog, calm)
		defer x.Close()
		first := x.Fire(t.Context(), w.fixture.event, in)
		if plan := prog.Plan(w.fixture.event); plan == nil || plan.Inline || len(first.Failed) > 0 {
			return false
		}
		x.Close()
		w.heard = nil
		again := x.Fire(t.Context(), w.fixture.event, in)
		require.Equal(t, w.observe(prog, first, nil), w.observe(prog, again, nil))
		require.Empty(t, w.heard)
		return true
	}},
}
