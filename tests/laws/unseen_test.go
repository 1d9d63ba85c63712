package laws

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/rollout"
	"github.com/hookc/hookc/tests/depth"
)

// TestGuardsHaveSeenWhatIsDone: in random chains in which only session hooks rewrite,
// no declared guard of a lower tier that was asked has seen another input than the one that
// goes on, nor was one passed over that this input would have asked. The order
// of completion changes nothing of it.
func TestGuardsHaveSeenWhatIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		went, held := 0, 0
		for seed := range depth.Of(uint64(6_000)) {
			w := sessionWorld(seed)
			prog := w.compile(t)
			plan := prog.Plan(w.fixture.event)
			in := w.context(0).Frozen(plan.Event)
			want, _ := w.serial(prog, in, nil)
			got, _ := w.fire(t, widened(prog, 4), in)
			require.Equal(t, want, got, "seed %d", seed)
			d, calls := executor.Serial(prog, plan, in, &oracle{w: w, late: map[*dag.Node]int{}})
			if !d.Permits() {
				held += len(d.Patch)
				continue
			}
			saw, free := map[string][]*policy.Context{}, map[int]bool{}
			for i := range plan.Nodes { // asked again, its filter passes over what goes on
				if n := &plan.Nodes[i]; n.RecheckOf >= 0 && d.Hooks[i].Status == policy.StatusFiltered {
					free[n.RecheckOf] = true
				}
			}
			for _, c := range calls {
				saw[c.Node.Hook.Name] = append(saw[c.Node.Hook.Name], c.In)
			}
			for i := range plan.Nodes {
				n := &plan.Nodes[i]
				if rollout.In(n.Hook, in) != "" || n.Hook.Tier == policy.TierSession || n.Hook.Async || n.RecheckOf >= 0 || !n.Declared() || free[i] || d.Hooks[i].Status == policy.StatusFailed {
					continue
				}
				looks := saw[n.Hook.Name]
				if looks == nil {
					require.False(t, d.Hooks[i].Status == policy.StatusFiltered && n.Matcher != nil && n.Matcher.Match(d.Final),
						"seed %d: %s was not asked about what goes on", seed, n.Hook.Name)
					continue
				}
				require.True(t, slices.ContainsFunc(looks, func(saw *policy.Context) bool { return sameTo(n, saw, d.Final) }),
					"seed %d: %s never saw %v", seed, n.Hook.Name, d.Final.Map())
				went++
			}
		}
		t.Logf("%d guards saw what went on, %d changed events were held", went, held)
		assert.Greater(t, went, depth.Least(20))
		assert.Greater(t, held, depth.Least(20))
	})
}

// sameTo reports whether two contexts have the same of what a hook may rewrite and the
// guard reads.
func sameTo(n *dag.Node, saw, final *policy.Context) bool {
	return !slices.ContainsFunc(n.Effects.Reads.Within(n.Hook.Event.Spec().Writable()).All(), func(p policy.Path) bool {
		was, _ := saw.At(p)
		is, _ := final.At(p)
		return !policy.SameValue(was, is)
	})
}

// sessionWorld draws a chain in which only hooks of the session tier rewrite and
// guards mostly let through.
func sessionWorld(seed uint64) *world {
	w := emptyWorld(seed, policy.PreToolExecution, policy.PreSendMessage)
	for range 1 + w.rng.IntN(4) {
		h := w.hook(nil)
		h.Tier, h.Declared.Writes, w.bodies[h.Name].writes = policy.TierProject, texts([]string{}), policy.Paths{}
		if h.Async {
			h.Declared.Writes = nil
		}
	}
	for range 1 + w.rng.IntN(2) {
		h := w.hook(nil)
		h.Tier, w.bodies[h.Name].writes = policy.TierSession, pathSet(w.some(w.fixture.writes, 60))
	}
	return w
}
