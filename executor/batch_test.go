package executor

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// batchWorld is a random plan of rules of which many are fused.
type batchWorld struct {
	*rand.Rand
	seed uint64
	plan *dag.Plan
	// counted is how often what became of each node was counted, told what was in
	// traces.
	counted, delivered map[outcome]int
	strokes            int
	// stale is true once a fusion was given what was said in another firing.
	stale bool
}

type outcome struct {
	node   int
	status policy.Status
}

func newBatchWorld(t *testing.T, seed uint64) *batchWorld {
	w := &batchWorld{Rand: rand.New(rand.NewPCG(seed, 1)), seed: seed, counted: map[outcome]int{}, delivered: map[outcome]int{}}
	tools := []string{"", "Bash", "Edit"}
	if w.IntN(4) == 0 {
		tools = tools[:1]
	}
	loud := w.IntN(3) * 5
	hooks := make([]hook, 2+w.IntN(60))
	for i := range hooks {
		h := &hooks[i]
		*h = hook{name: fmt.Sprint("h", i), kind: policy.KindExpr, writes: []string{}, tool: tools[w.IntN(len(tools))], timeout: time.Hour,
			onError: []policy.Posture{policy.OnErrorSkip, policy.OnErrorDeny}[w.IntN(2)]}
		if w.IntN(6) == 0 {
			h.group = fmt.Sprint("g", i/3)
		}
		if w.IntN(20) == 0 {
			h.writes = []string{"tool_input"}
		}
		h.run = w.body(h.name, loud, len(h.writes) > 0)
	}
	strategy := []policy.Strategy{policy.Chain, policy.Chain, policy.Parallel}[w.IntN(3)]
	w.plan = planOf(t, policy.PreToolExecution, strategy, hooks...)
	for i := range w.plan.Nodes {
		if n := &w.plan.Nodes[i]; w.IntN(10) == 0 {
			n.Matcher.Atoms = append(n.Matcher.Atoms, policy.Atom{Field: policy.FieldCommand, Reads: []policy.Field{policy.FieldCommand},
				Test: func(c *policy.Context) bool { return w.hash("filter", n.Hook.Name, w.text(c))%2 == 0 }})
		}
	}
	w.fuse()
	return w
}

func (w *batchWorld) hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p + "\x00"))
	}
	return rand.New(rand.NewPCG(w.seed, h.Sum64())).Uint64()
}

// text is what bodies look at.
func (w *batchWorld) text(c *policy.Context) string {
	v, _ := c.Get(policy.FieldToolInput)
	return fmt.Sprint(v)
}

func (w *batchWorld) body(name string, loud int, writes bool) bodyFunc {
	return func(_ context.Context, in *policy.Context, _ int) (policy.Result, error) {
		x := w.hash("body", name, w.text(in))
		if int(x%100) >= loud {
			return policy.Result{}, nil
		}
		r := policy.Result{Reasons: []policy.Reason{{Text: name}}}
		switch x >> 8 % 8 {
		case 0, 1:
			r.Verdict = policy.Deny
		case 2:
			r.Verdict = policy.Ask
		case 3:
			return r, errors.New("failed")
		case 4:
			panic("here")
		case 5:
			r.Context = []string{name}
		default:
			if writes {
				r = rewrite(name)
			}
		}
		return r, nil
	}
}

// fuse makes fusions of nodes that see the same data.
func (w *batchWorld) fuse() {
	by := map[string][]int{}
	var keys []string
	for i := range w.plan.Nodes {
		if w.IntN(10) == 0 {
			continue
		}
		key := fmt.Sprint(w.plan.Nodes[i].Data, w.IntN(2)*w.IntN(2))
		if by[key] == nil {
			keys = append(keys, key)
		}
		by[key] = append(by[key], i)
	}
	for _, key := range keys {
		if nodes := by[key]; len(nodes) > 1 {
			w.plan.Fused = append(w.plan.Fused, dag.Fusion{Kind: policy.KindExpr, Nodes: nodes, Run: w.run(key, nodes)})
		}
	}
}

// run evaluates members: some ask to be evaluated alone, and now and then all.
func (w *batchWorld) run(key string, nodes []int) dag.FusedRun {
	failing, slow := w.IntN(4) == 0, w.IntN(3) == 0
	return func(ctx context.Context, in *policy.Context, chosen dag.Chosen, contributed []dag.FusedAnswer) error {
		if slow {
			time.Sleep(time.Duration(w.hash("slow", key, w.text(in))%200) * time.Microsecond)
		}
		for k, place := range chosen.Places {
			w.stale = w.stale || contributed[k] != (dag.FusedAnswer{})
			out, err := protect(ctx, &w.plan.Nodes[nodes[place]], in, 0)
			switch x := w.hash("said", key, fmt.Sprint(place), w.text(in)); {
			case err != nil || x%200 == 0:
				contributed[k].Alone = true
			case out == nil && x%50 == 1:
				contributed[k].Result = &policy.Result{}
			default:
				contributed[k].Result = out
			}
		}
		if failing && w.hash("fused", key, w.text(in))%4 == 0 {
			panic("all")
		}
		return nil
	}
}

// options count each node by itself, or many with one counter where it is asked to.
func (w *batchWorld) options(together bool) Options {
	o := Options{Count: func(n *dag.Node) func(policy.Status, int, time.Duration) {
		i := slices.IndexFunc(w.plan.Nodes, func(o dag.Node) bool { return o.Hook.Name == n.Hook.Name })
		return func(s policy.Status, _ int, _ time.Duration) { w.counted[outcome{i, s}]++ }
	}}
	if !together {
		return o
	}
	o.Filtered = func(p *dag.Plan) (func([]int), func()) {
		return func(but []int) {
			for i := range p.Nodes {
				w.counted[outcome{i, policy.StatusFiltered}]++
			}
			for _, i := range but {
				w.counted[outcome{i, policy.StatusFiltered}]--
			}
		}, func() {}
	}
	o.Together = func(_ *dag.Plan, nodes []int) (func(int, time.Duration, bool), func()) {
		return func(first int, _ time.Duration, others bool) {
			w.strokes++
			for _, i := range nodes[:first] {
				w.counted[outcome{i, policy.StatusRan}]++
			}
			for _, i := range nodes {
				if others {
					w.counted[outcome{i, policy.StatusFiltered}]--
				}
			}
		}, func() {}
	}
	return o
}

// settled checks that what was counted is what the traces say.
func (w *batchWorld) settled(t *testing.T) {
	for _, counts := range []map[outcome]int{w.counted, w.delivered} {
		for o, n := range counts {
			if n == 0 || o.status == policy.StatusNotStarted {
				delete(counts, o)
			}
		}
	}
	require.Equal(t, w.delivered, w.counted, "seed %d", w.seed)
}

// TestBatchesAsIfSerial: nodes that are evaluated together and pass in silence
// leave what the definition leaves, in memory that other plans and other picks
// of the same have used, and are counted as if one by one.
// Killed by a trace of which the nodes after a halt were not looked at again, by
// a counter that counted nodes evaluated alone, and by a walk that went on behind
// what answered.
func TestBatchesAsIfSerial(t *testing.T) {
	actions, strokes, passed := map[policy.Action]int{}, 0, 0
	synctest.Test(t, func(t *testing.T) {
		memory := new(Reused)
		for seed := range uint64(500) {
			w := newBatchWorld(t, seed)
			x := New(programOf(w.plan), w.options(seed%3 > 0))
			each := New(programOf(w.plan), Options{Observe: func(Run) {}})
			for range 12 {
				in := policy.NewContext("").
					Set(policy.FieldSessionID, "s").
					Set(policy.FieldToolName, []string{"Bash", "Edit", "Read", ""}[w.IntN(4)]).
					Set(policy.FieldToolInput, map[string]any{"command": fmt.Sprint(w.IntN(6))})
				want := each.FireSerial(t.Context(), w.plan.Event, in)
				got := x.FireInto(t.Context(), w.plan.Event, in, memory)
				require.NoError(t, sameDecision(want, got), "seed %d", seed)
				one := each.FireInto(t.Context(), w.plan.Event, in, new(Reused))
				require.Equal(t, one.Hooks, got.Hooks, "seed %d: times and all", seed)
				for i, h := range got.Hooks {
					w.delivered[outcome{i, h.Status}]++
				}
				actions[got.Action]++
				if b := x.schedules[w.plan.Event].picks.pick(in.Frozen(w.plan.Event)).batch; b != nil {
					passed += len(b.runs)
				}
			}
			x.Close()
			each.Close()
			w.settled(t)
			require.False(t, w.stale, "seed %d", seed)
			strokes += w.strokes
		}
	})
	assert.Greater(t, actions[policy.Proceed], 500)
	assert.Greater(t, actions[policy.Block], 500)
	assert.Greater(t, strokes, 500)
	assert.Greater(t, passed, 500)
}
