package laws

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/rollout"
	"github.com/hookc/hookc/tests/depth"
)

// seen is what can be observed of one firing (semantics.md §5.1), as text:
// O1, O2a and O2b.
type seen struct {
	// decision is the whole Decision without times; hooks is its trace, in
	// which what came after the halt is not_started, however far it got.
	decision, hooks, final string
	// writes are the calls of hooks that write the world, in order; order
	// inside one group is erased. Async hooks are among bound only.
	writes []string
	// bound are the calls of hooks that may not be started early, sorted.
	bound []string
}

// unbounded never overrides a gate, so that one firing is like another.
type unbounded struct{}

func (unbounded) Blocked(string, policy.Event) int { return 0 }
func (unbounded) Passed(string, policy.Event)      {}
func (unbounded) NewTurn(string)                   {}

// calm are options under which a firing depends on nothing before it.
var calm = executor.Options{Gates: unbounded{}}

// fire fires through the scheduler; it must run in a synctest bubble.
func (w *world) fire(t *testing.T, prog *dag.Program, in *policy.Context) (seen, *policy.Decision) {
	w.heard = nil
	x := executor.New(prog, calm)
	d := x.Fire(t.Context(), w.fixture.event, in)
	x.Close()
	return w.observe(prog, d, w.heard), d
}

// oracle is the World of the definition: the same bodies, no clock.
type oracle struct {
	w    *world
	late map[*dag.Node]int
}

func (o *oracle) Call(n *dag.Node, in *policy.Context, attempt int) (policy.Result, error) {
	if n.Hook.Async {
		return policy.Result{}, nil
	}
	b := o.w.bodies[n.Hook.Name]
	if !n.Effects.Project {
		in = in.Project(n.Effects.Reads)
	}
	text := jsonOf(in)
	r, err, hangs := o.w.answer(b, in, text, attempt)
	if hangs || b.takes > mockTimeout {
		return policy.Result{}, policy.Failf(policy.ErrTimeout, "timed out after %v", n.Timeout)
	}
	return r, err
}

func (o *oracle) Late(n *dag.Node) int {
	if late, ok := o.late[n]; ok {
		return late
	}
	return -1
}

func (o *oracle) Memo(string) (*executor.Answer, bool) { return nil, false }
func (o *oracle) Store(string, *executor.Answer)       {}

// serial evaluates the definition; late is by node id, nil for no deadline.
func (w *world) serial(prog *dag.Program, in *policy.Context, late map[int]int) (seen, *policy.Decision) {
	plan := prog.Plan(w.fixture.event)
	if plan == nil {
		d := policy.Decide(w.fixture.event.Spec(), in, in, &policy.Result{})
		d.Policy = prog.Hash
		return w.observe(prog, d, nil), d
	}
	o := &oracle{w: w, late: map[*dag.Node]int{}}
	for i, n := range late {
		o.late[&plan.Nodes[i]] = n
	}
	d, calls := executor.Serial(prog, plan, in.Frozen(plan.Event), o)
	var all []heard
	for _, c := range calls {
		all = append(all, heard{c.Node.Hook.Name, c.Attempt, jsonOf(c.In.Project(c.Node.Effects.Reads))})
	}
	return w.observe(prog, d, all), d
}

func (w *world) observe(prog *dag.Program, d *policy.Decision, calls []heard) seen {
	out := *d
	out.Hooks, out.Policy = nil, ""
	text, err := out.MarshalJSON()
	if err != nil {
		panic(err)
	}
	s := seen{decision: string(text) + fmt.Sprint(d.Failed), final: jsonOf(d.Final), hooks: traceText(d.Hooks)}
	nodes := map[string]*dag.Node{}
	if plan := prog.Plan(w.fixture.event); plan != nil {
		for i := range plan.Nodes {
			nodes[plan.Nodes[i].Hook.Name] = &plan.Nodes[i]
		}
	}
	var groups []*policy.Group
	for _, c := range calls {
		n, line := nodes[c.hook], fmt.Sprint(c.hook, " #", c.attempt, " ", c.in)
		if !n.Effects.Spec {
			s.bound = append(s.bound, line)
		}
		if n.Effects.World == policy.WorldWrite && !n.Hook.Async {
			s.writes, groups = append(s.writes, line), append(groups, n.Hook.Group)
		}
	}
	slices.Sort(s.bound)
	eraseOrder(s.writes, groups, prog.Plan(w.fixture.event))
	return s
}

// eraseOrder sorts the calls of one group, and all calls of an event whose
// hooks see one snapshot.
func eraseOrder(lines []string, groups []*policy.Group, plan *dag.Plan) {
	if plan != nil && plan.Strategy.Snapshot {
		slices.Sort(lines)
		return
	}
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && groups[to] != nil && groups[to] == groups[from] {
			to++
		}
		slices.Sort(lines[from:to])
		from = to
	}
}

// traceText is the trace without times. What a clock can tell of a hook after
// the halt is not observable: how far it got, or how often it was tried.
func traceText(hooks []policy.HookTrace) string {
	type line struct {
		policy.HookTrace
		Why []string
		At  string
		ID  int
	}
	var out []line
	for _, h := range hooks {
		h.Micros = 0
		if h.Status == policy.StatusSquashed {
			h.Status, h.Attempts = policy.StatusNotStarted, 0
		}
		out = append(out, line{h, h.Reasons, h.At.String(), h.Node})
	}
	text, err := json.Marshal(out)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// policies is how many policies the oracle draws; the long run takes a
// million: go test ./tests/laws -run TestOracle$ -policies 1000000 -timeout 2h.
var policies = flag.Uint64("policies", 0, "policies that TestOracle draws; 0 is 20,000 or the part of them that the depth says")

// The theorem of semantics.md §5.2 (T1): at every width, for random durations,
// whole Decisions, traces and calls equal those of the definition. Each policy
// is fired at two widths, a narrow one and a wide one.
func TestOracle(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // half the time went into collecting a small heap
	shards := uint64(runtime.GOMAXPROCS(0))
	drawn := cmp.Or(*policies, depth.Of(uint64(20_000)))
	stats := make([]map[string]int, shards)
	t.Run("shard", func(t *testing.T) {
		for n := range shards {
			stats[n] = map[string]int{}
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					for seed := n; seed < drawn; seed += shards {
						againstDefinition(t, seed, stats[n])
					}
				})
			})
		}
	})
	all := map[string]int{}
	for _, s := range stats {
		for k, n := range s {
			all[k] += n
		}
	}
	t.Logf("%d policies, %d firings compared", drawn, all["firings"])
	// The generator must reach everything the theorem is about.
	for _, k := range []string{"proceed", "block", "abort", "ask", "defer", "end_turn", "keep_working", "hide",
		"ran", "filtered", "failed", "squashed", "async", "not_started", "recheck", "patched"} {
		assert.Greater(t, all[k], depth.Least(20), k)
	}
}

// againstDefinition fires one random policy and demands what the definition
// says.
func againstDefinition(t *testing.T, seed uint64, stats map[string]int) {
	w := newWorld(seed)
	prog := w.compile(t)
	in := w.context(0)
	want, d := w.serial(prog, in, nil)
	for i, width := range [][]int{{1, 4}, {2, 8}, {1, 8}, {2, 4}}[seed/4%4] {
		w.clock = seed*4 + uint64(i)
		got, fired := w.fire(t, widened(prog, width), in)
		require.Equal(t, want, got, "seed %d width %d", seed, width)
		count(stats, fired)
		stats["firings"]++
	}
	stats[string(d.Action)]++
}

func count(stats map[string]int, d *policy.Decision) {
	for _, h := range d.Hooks {
		stats[string(h.Status)]++
		if h.Recheck {
			stats["recheck"]++
		}
	}
	if len(d.Patch) > 0 {
		stats["patched"]++
	}
}

// widened is prog with another bound on processes and model calls.
func widened(prog *dag.Program, width int) *dag.Program {
	return changed(prog, func(p *dag.Plan) { p.MaxConcurrent, p.MaxModels = width, width })
}

// changed is prog with a change made to each plan.
func changed(prog *dag.Program, change func(*dag.Plan)) *dag.Program {
	out := *prog
	out.Plans = nil
	for _, p := range prog.Plans {
		plan := *p
		plan.Nodes = slices.Clone(p.Nodes)
		change(&plan)
		out.Plans = append(out.Plans, &plan)
	}
	out.Seal()
	return &out
}

// FireSerial is the definition with real time in it.
func TestOracleRealWorld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for seed := range depth.Of(uint64(300)) {
			w := newWorld(seed + 1<<32)
			prog := w.compile(t)
			in := w.context(0)
			want, _ := w.serial(prog, in, nil)
			x := executor.New(prog, calm)
			d := x.FireSerial(context.Background(), w.fixture.event, in)
			x.Close()
			require.Equal(t, want, w.observe(prog, d, w.heard), "seed %d", seed)
		}
	})
}

// One Executor serves many firings at a time, each as if it were alone.
func TestOracleConcurrentFirings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for seed := range depth.Of(uint64(150)) {
			w := newWorld(seed + 4<<32)
			prog := w.compile(t)
			var want, got [16]seen
			for i := range want {
				want[i], _ = w.serial(prog, w.context(i), nil)
				want[i].writes, want[i].bound = nil, nil
			}
			x := executor.New(prog, executor.Options{Gates: unbounded{}, MaxAsync: 1 << 10})
			var wg sync.WaitGroup
			for i := range got {
				wg.Go(func() {
					got[i] = w.observe(prog, x.Fire(t.Context(), w.fixture.event, w.context(i)), nil)
				})
			}
			wg.Wait()
			x.Close()
			require.Equal(t, want, got, "seed %d", seed)
		}
	})
}

// optionalPasses are those that may be left out.
var optionalPasses = []string{"native", "dead", "speculate", "hoist", "fuse", "reduce", "project", "estimate", "posture", "lint"}

// Law 22: no subset of the optional passes changes what can be observed. The
// trace is left out: dead hooks are not in it.
func TestOptionalPassesChangeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for seed := range depth.Of(uint64(500)) {
			w := newWorld(seed + 2<<32)
			in := w.context(0)
			prog := w.compile(t)
			want, _ := w.fire(t, prog, in)
			without := w.some(optionalPasses, 40)
			other := w.compile(t, without...)
			w.clock++
			got, _ := w.fire(t, other, in)
			want.hooks, got.hooks = "", ""
			require.Equal(t, want, got, "seed %d without %q", seed, without)
		}
	})
}

// deadlines are short enough to strike mock bodies, and never when something
// else happens.
var deadlines = []time.Duration{2 * ms, 4 * ms, 7 * ms, 11 * ms, 18 * ms, 26 * ms, 45 * ms, 70 * ms, 120 * ms}

const ms = time.Millisecond

// struck lists the nodes that the chain deadline struck and in which attempt.
// Failures are listed in the order of the trace, one for each failed node.
func struck(d *policy.Decision) map[int]int {
	out, failed := map[int]int{}, 0
	for _, h := range d.Hooks {
		if h.Status != policy.StatusFailed {
			continue
		}
		if d.Failed[failed].Kind == policy.ErrDeadline {
			out[h.Node] = h.Attempts
		}
		failed++
	}
	return out
}

// refuses reports whether one of the hooks struck denies on timeout where the
// most restrictive verdict wins and the event obeys it.
func refuses(plan *dag.Plan, in *policy.Context, strikes map[int]int) bool {
	for i := range strikes {
		n := &plan.Nodes[i]
		if rollout.In(n.Hook, in) == "" && n.OnTimeout == policy.OnErrorDeny && plan.Spec.Powers.Has(policy.MayDeny) &&
			plan.Strategy.Fold == policy.FoldMax && plan.Items[n.Item].Fold == policy.FoldMax {
			return true
		}
	}
	return false
}

// T2 and law 33: whatever the chain deadline does to a run, the definition
// does the same when it strikes the same hooks in the same attempts. Law 34: a
// late hook that denies on timeout does not permit.
func TestDeadlineRunIsSerialWithItsLate(t *testing.T) {
	late, denied := 0, 0
	synctest.Test(t, func(t *testing.T) {
		for seed := range depth.Of(uint64(1500)) {
			w := newWorld(seed + 3<<32)
			w.policy.ChainTimeout = deadlines[w.rng.IntN(len(deadlines))]
			prog := w.compile(t)
			in := w.context(0)
			got, d := w.fire(t, prog, in)
			strikes := struck(d)
			if len(strikes) == 0 {
				continue
			}
			late++
			want, _ := w.serial(prog, in, strikes)
			require.Equal(t, want, got, "seed %d", seed)
			if refuses(prog.Plan(d.Event), in, strikes) {
				denied++
				require.False(t, d.Permits(), "seed %d", seed)
			}
		}
	})
	assert.Greater(t, late, depth.Least(200))
	assert.Greater(t, denied, depth.Least(20))
}
