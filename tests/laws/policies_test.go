package laws

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// The generator of semantics.md §7.2: small domains, so that hooks interact;
// bodies that answer as a pseudo-random function of what they are given, so
// that a wrong input shows in the answer. Policies go through the real
// compiler; only the bodies are mocks.

const (
	// mockTimeout is the timeout of the mock process kinds, ruleBudget that of
	// rules; no mock body that answers takes that long.
	mockTimeout = 20 * time.Millisecond
	ruleBudget  = 100 * time.Millisecond
)

// fixture is what policies on one event are drawn from.
type fixture struct {
	event           policy.Event
	weight          int
	reads, writes   []string
	filters         []policy.Condition
	values, objects []string // fields of the event that hold text, and objects with a, b and c
}

func condition(key policy.FilterKey, value string) policy.Condition {
	return policy.Condition{Key: key, Value: diag.Literal(value)}
}

var toolFilters = []policy.Condition{
	condition(policy.FilterToolName, "Bash"), condition(policy.FilterToolName, "Edit"),
	condition(policy.FilterToolMatcher, "Bash|Edit"), condition(policy.FilterPattern, "^[12]$"),
	condition(policy.FilterPermissionMode, "1|2"),
}

var fixtures = []fixture{
	{event: policy.PreToolExecution, weight: 10, filters: toolFilters, values: []string{"permission_mode"}, objects: []string{"tool_input"},
		reads:  []string{"tool_input.a", "tool_input.b", "tool_input.c", "tool_name", "permission_mode", "tool_input"},
		writes: []string{"tool_input.a", "tool_input.b", "tool_input.c"}},
	{event: policy.PermissionRequest, weight: 2, filters: toolFilters, values: []string{"permission_mode"}, objects: []string{"tool_input"},
		reads:  []string{"tool_input.a", "tool_input.b", "tool_name"},
		writes: []string{"tool_input.a", "tool_input.b"}},
	{event: policy.PreLLMRequest, weight: 3, filters: []policy.Condition{condition(policy.FilterModelPrefix, "1")},
		values: []string{"model", "system_prompt"}, objects: []string{"request_config"},
		reads:  []string{"model", "system_prompt", "request_config.a", "request_config"},
		writes: []string{"model", "system_prompt", "request_config.a", "request_config.b"}},
	{event: policy.PostToolExecution, weight: 2, filters: toolFilters, values: []string{"tool_result"}, objects: []string{"tool_input"},
		reads: []string{"tool_result", "tool_input.a", "tool_name"}, writes: []string{"tool_result"}},
	{event: policy.StopEvent, weight: 2, values: []string{"assistant_output"}, reads: []string{"assistant_output", "stop_reason"}, writes: []string{}},
	{event: policy.ToolSelection, weight: 1, values: []string{"model"}, reads: []string{"model", "tool_config"}, writes: []string{"tool_config"}},
	{event: policy.Notify, weight: 1, values: []string{"message"}, reads: []string{"message"}, writes: []string{}},
}

// strategies that an author may write for any event.
var strategies = []policy.Strategy{policy.Chain, policy.Chain, policy.Chain, policy.Decisive, policy.First, policy.ChainAll,
	policy.Parallel, policy.ParallelLast, policy.Concat}

// body is the behaviour of one hook.
type body struct {
	// key stands for the hook in the pseudo-random function: hooks with one
	// key behave alike, whatever they are called.
	key           string
	reads, writes policy.Paths
	may           policy.Powers
	world         policy.World
	// failing is the failure rate in percent.
	failing int
	process bool
	// fixed, when set, is what the hook does instead.
	fixed func(in *policy.Context, attempt int) (policy.Result, error)
	// takes, when set, is how long it takes.
	takes time.Duration
}

// world is a random policy with the behaviour of its hooks and of time.
type world struct {
	rng *rand.Rand
	// seed decides what hooks answer, clock how long they take.
	seed, clock uint64
	fixture     *fixture
	policy      *policy.Policy
	bodies      map[string]*body

	mu    sync.Mutex
	heard []heard
}

// heard is one call of a body.
type heard struct {
	hook    string
	attempt int
	in      string
}

func draw(seed uint64, more ...string) *rand.Rand {
	h := fnv.New64a()
	for _, s := range more {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// newWorld draws a policy.
func newWorld(seed uint64, events ...policy.Event) *world {
	w := emptyWorld(seed, events...)
	w.policy.MaxConcurrent = []int{1, 2, 4, 8}[w.rng.IntN(4)]
	w.policy.MaxModels = []int{1, 2, 4, 8}[w.rng.IntN(4)]
	if w.rng.IntN(2) == 0 && w.fixture.event != policy.ToolSelection {
		w.strategy(strategies[w.rng.IntN(len(strategies))])
	}
	for range 1 + w.rng.IntN(7) {
		if w.rng.IntN(5) > 0 {
			w.hook(nil)
			continue
		}
		g := &policy.Group{Name: fmt.Sprint("g", len(w.policy.Hooks)), Priority: policy.DefaultPriority, Order: len(w.policy.Hooks)}
		g.Fold = []policy.Fold{policy.FoldMax, policy.FoldLast}[w.rng.IntN(2)]
		for range 1 + w.rng.IntN(3) {
			w.hook(g)
		}
	}
	return w
}

func emptyWorld(seed uint64, events ...policy.Event) *world {
	w := &world{rng: draw(seed, "policy"), seed: seed, clock: seed, policy: &policy.Policy{}, bodies: map[string]*body{}}
	var choice []*fixture
	for i := range fixtures {
		f := &fixtures[i]
		if len(events) > 0 && !slices.Contains(events, f.event) {
			continue
		}
		for range f.weight {
			choice = append(choice, f)
		}
	}
	w.fixture = choice[w.rng.IntN(len(choice))]
	return w
}

func (w *world) strategy(s policy.Strategy) {
	w.policy.Settings = append(w.policy.Settings, policy.Setting{Event: w.fixture.event, Tier: policy.TierUser, Strategy: s})
}

func (w *world) some(of []string, percent int) []string {
	out := []string{}
	for _, s := range of {
		if w.rng.IntN(100) < percent {
			out = append(out, s)
		}
	}
	return out
}

func (w *world) percent(p int) bool { return w.rng.IntN(100) < p }

func texts(list []string) []diag.Text {
	out := []diag.Text{}
	for _, s := range list {
		out = append(out, diag.Literal(s))
	}
	return out
}

func pathSet(names []string) policy.Paths {
	var out []policy.Path
	for _, n := range names {
		p, err := policy.ParsePath(n)
		if err != nil {
			panic(err)
		}
		out = append(out, p)
	}
	return policy.NewPaths(out...)
}

func (w *world) powers() policy.Powers {
	var p policy.Powers
	for bit := policy.MayAllow; bit <= policy.MayHalt; bit <<= 1 {
		if w.percent(25) {
			p |= bit
		}
	}
	return p
}

var kindsDrawn = []policy.Kind{policy.KindExpr, policy.KindExpr, policy.KindRego, policy.KindBash, policy.KindBash, policy.KindBash, policy.KindLLM}

// hook draws one hook, or a member of a group, and adds it.
func (w *world) hook(g *policy.Group) *policy.Hook {
	h := w.plain(fmt.Sprint("h", len(w.policy.Hooks)), kindsDrawn[w.rng.IntN(len(kindsDrawn))])
	h.Group = g
	if g == nil && w.percent(10) {
		h.Tier = policy.TierSession
	}
	b := w.bodies[h.Name]
	b.failing = []int{5, 25, 60}[w.rng.IntN(3)]
	b.reads = pathSet(w.some(w.fixture.reads, 35))
	b.may = w.powers()
	if w.percent(30) {
		b.writes = pathSet(w.some(w.fixture.writes, 35))
	}
	if b.process && w.percent(60) {
		w.declare(h)
	}
	if n := len(w.fixture.filters); n > 0 && w.percent(40) {
		h.Filter.Conditions = []policy.Condition{w.fixture.filters[w.rng.IntN(n)]}
	}
	h.OnError = policy.Posture(w.rng.IntN(5))
	if w.percent(30) {
		h.OnTimeout = policy.Posture(w.rng.IntN(5))
	}
	h.Retry = w.rng.IntN(3)
	switch {
	case w.percent(7):
		h.Async, h.Declared.May, h.Declared.Writes, h.Declared.Speculative, h.Declared.Pure = true, nil, nil, nil, false
		h.OnError, h.OnTimeout = policy.PostureUnset, policy.PostureUnset
	case g == nil && w.percent(20):
		h.Recheck = true
	}
	w.enforce(h)
	return h
}

// enforce draws whether what the hook says counts, and in how many sessions.
func (w *world) enforce(h *policy.Hook) {
	if w.percent(15) {
		h.Enforcement = []policy.Enforcement{policy.EnforceWarn, policy.EnforceDryRun}[w.rng.IntN(2)]
	}
	if w.percent(15) {
		h.Spared = uint16(w.rng.IntN(10_001))
	}
}

// declare draws declarations; what is left out keeps its default.
func (w *world) declare(h *policy.Hook) {
	d := &h.Declared
	if w.percent(80) {
		d.Reads = texts(w.some(w.fixture.reads, 35))
	}
	if w.percent(80) {
		d.Writes = texts(w.some(w.fixture.writes, 35))
	}
	if w.percent(80) {
		d.May = texts((w.powers() & w.fixture.event.Spec().Powers).Names())
	}
	d.World = policy.World(w.rng.IntN(4))
	if spec := w.percent(30); spec && (d.World == policy.WorldNone || d.World == policy.WorldRead) {
		d.Speculative = &spec
	}
}

// plain adds a hook at the end that says nothing yet.
func (w *world) plain(name string, kind policy.Kind) *policy.Hook {
	h := &policy.Hook{Name: name, Event: w.fixture.event, Kind: kind, Tier: policy.TierProject,
		Priority: policy.DefaultPriority, Retry: 0, Order: len(w.policy.Hooks)}
	w.bodies[name] = &body{key: name, process: !kind.InProcess(), world: policy.WorldNone}
	if kind == policy.KindBash {
		w.bodies[name].world = policy.WorldWrite
	}
	w.policy.Hooks = append(w.policy.Hooks, h)
	return h
}

// kinds are the five kinds over the world's bodies.
func (w *world) kinds() []dag.Kind {
	prepare := func(h *policy.Hook) (dag.Body, diag.List) {
		b, spec := w.bodies[h.Name], h.Event.Spec()
		eff := policy.Effects{Reads: b.reads, Writes: b.writes, May: b.may, World: b.world, Spec: !b.process, MayFail: b.failing > 0 || b.fixed != nil}
		switch h.Kind {
		case policy.KindBash:
			eff.Reads, eff.Writes, eff.May = spec.Readable(), spec.Writable(), policy.AllPowers
		case policy.KindLLM:
			eff.Writes, eff.May = spec.Writable(), policy.AllPowers
		}
		declared := h.Declared.Reads != nil
		return dag.Body{Effects: eff, Runner: policy.RunnerFunc(func(ctx context.Context, in *policy.Context, attempt int) (policy.Result, error) {
			if !declared { // a body with inferred reads looks at nothing else by itself
				in = in.Project(eff.Reads)
			}
			return w.run(ctx, h.Name, b, in, attempt)
		})}, nil
	}
	var out []dag.Kind
	for _, name := range []policy.Kind{policy.KindBash, policy.KindLLM, policy.KindExpr, policy.KindRego, policy.KindBuiltin} {
		k := dag.Kind{Name: name, Timeout: mockTimeout, OnGuard: policy.OnErrorSkip, OnOther: policy.OnErrorSkip, Prepare: prepare}
		if name.InProcess() {
			k.Timeout, k.OnGuard, k.Fuse = ruleBudget, policy.OnErrorDeny, w.mockFuse
		}
		out = append(out, k)
	}
	return out
}

// compile compiles the policy and demands success.
func (w *world) compile(t testing.TB, without ...string) *dag.Program {
	t.Helper()
	prog, found := compiler.Compile(w.policy, compiler.Config{Kinds: w.kinds(), Without: without})
	require.NoError(t, found.Err())
	return prog
}

// context draws an event.
func (w *world) context(n int) *policy.Context {
	rng := draw(w.seed, "context", fmt.Sprint(n))
	c := policy.NewContext(w.fixture.event).Set(policy.FieldSessionID, "s")
	if w.fixture.event.Spec().CanRead(policy.FieldToolName) {
		c.Set(policy.FieldToolName, []string{"Bash", "Edit", "Read"}[rng.IntN(3)])
	}
	for _, name := range w.fixture.values {
		f, _ := policy.ParseField(name)
		if rng.IntN(4) > 0 {
			c.Set(f, fmt.Sprint(rng.IntN(3)))
		}
	}
	for _, name := range w.fixture.objects {
		f, _ := policy.ParseField(name)
		m := map[string]any{}
		for _, k := range []string{"a", "b", "c"} {
			if rng.IntN(4) > 0 {
				m[k] = fmt.Sprint(rng.IntN(3))
			}
		}
		c.Set(f, m)
	}
	return c
}
