package laws

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/rollout"
)

// untold is a Decision without what one hook is said to have done.
func untold(d *policy.Decision, hook string) *policy.Decision {
	out := *d
	out.Policy, out.Hooks = "", nil
	out.Warnings = slices.DeleteFunc(slices.Clone(d.Warnings), func(w policy.Warning) bool { return w.Hook == hook })
	out.Failed = slices.DeleteFunc(slices.Clone(d.Failed), func(f policy.Failure) bool { return f.Hook == hook })
	return &out
}

func marshalled(t *testing.T, d *policy.Decision) string {
	t.Helper()
	text, err := d.MarshalJSON()
	require.NoError(t, err)
	return string(text)
}

// anyBody draws the behaviour of a hook that does nothing to the world.
func (w *world) anyBody() body {
	b := body{world: policy.WorldNone, failing: []int{0, 25, 60}[w.rng.IntN(3)], may: policy.AllPowers, reads: pathSet(w.some(w.fixture.reads, 35))}
	if w.percent(50) {
		b.writes = pathSet(w.fixture.writes)
	}
	return b
}

var enforcementLaws = []law{
	{39, "a hook under dryrun changes nothing and calls nobody else", "withheld results kept their context", 600, 600, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed).flat()
		in := w.context(0)
		want, d := w.result(t, in)
		v := w.clone()
		h := v.insert(v.anyStart(), "dry", kindsDrawn[v.rng.IntN(len(kindsDrawn))], v.anyBody())
		h.Enforcement, h.OnError, h.Recheck = policy.EnforceDryRun, policy.Posture(v.rng.IntN(5)), v.percent(30)
		got, is := v.result(t, in)
		require.Equal(t, marshalled(t, untold(d, "dry")), marshalled(t, untold(is, "dry")))
		require.Equal(t, want.final, got.final)
		require.Equal(t, want.writes, without(got.writes, "dry"))
		require.Equal(t, want.bound, without(got.bound, "dry"))
		return true
	}},
	{40, "a hook of a share is in force, or as under dryrun", "the share was asked of the hook's tier", 400, 400, func(t *testing.T, seed uint64) bool {
		w := newWorld(seed).flat()
		in := w.context(0)
		v := w.clone()
		i := v.rng.IntN(len(v.policy.Hooks))
		h := v.policy.Hooks[i]
		h.Spared, h.Enforcement = uint16(v.rng.IntN(10_001)), ""
		got, is := v.result(t, in)
		alike := w.clone()
		alike.policy.Hooks[i].Spared, alike.policy.Hooks[i].Enforcement = 0, rollout.In(h, in)
		want, d := alike.result(t, in)
		require.Equal(t, marshalled(t, untold(d, h.Name)), marshalled(t, untold(is, h.Name)))
		require.Equal(t, want.final, got.final)
		require.Equal(t, want.writes, got.writes)
		require.Len(t, is.Would(), len(d.Would()))
		return true
	}},
	{41, "what a hook would have said is what it says", "what it would have said was not reduced to what the event obeys", 600, 200, func(t *testing.T, seed uint64) bool {
		w := emptyWorld(seed)
		b := w.anyBody()
		h := w.insert(0, "alone", kindsDrawn[w.rng.IntN(len(kindsDrawn))], b)
		h.OnError = policy.Posture(w.rng.IntN(5))
		in := w.context(0)
		_, d := w.result(t, in)
		h.Enforcement = []policy.Enforcement{policy.EnforceDryRun, policy.EnforceWarn}[w.rng.IntN(2)]
		_, is := w.result(t, in)
		require.Equal(t, policy.Proceed, is.Action)
		require.Equal(t, []any{policy.None, policy.Go, "", 0, 0, 0}, []any{is.Verdict, is.Control, is.By, len(is.Patch), len(is.Context), len(is.Reasons)})
		would := is.Would()
		if len(would) == 0 {
			require.Equal(t, policy.Proceed, d.Action)
			require.Empty(t, d.Patch)
			require.Empty(t, d.Context)
			require.Empty(t, d.Failed)
			return false
		}
		said := would[0]
		require.Len(t, would, 1)
		require.Equal(t, d.Action, said.Action)
		require.Equal(t, d.Context, said.Context)
		if len(d.Failed) > 0 {
			require.Equal(t, []any{"failed", []string{d.Failed[0].Error}, 1}, []any{said.Says, said.Reasons, len(is.Failed)})
			require.Equal(t, policy.OnErrorSkip, is.Failed[0].OnError)
			return true
		}
		require.Equal(t, slices.Concat(d.Reasons, d.Feedback), said.Reasons)
		if len(d.Patch) > 0 {
			require.NotEmpty(t, said.Patch)
		}
		return d.Action != policy.Proceed
	}},
}
