package laws

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/programs"
)

// regoWorld is a random policy most of whose rules are real Rego, evaluated by
// OPA; the other hooks behave as ever.
type regoWorld struct {
	*world
	// faulty is true when rules may fail: conflicts, errors of builtins, values
	// of the wrong type.
	faulty bool
	// runs and errors count fused evaluations and those that failed, alone the
	// members whose answer could not be used.
	runs, errors, alone atomic.Int64
}

func newRegoWorld(seed uint64) *regoWorld {
	w := &regoWorld{world: newWorld(seed), faulty: seed%2 == 0}
	for range 2 + w.rng.IntN(4) { // rules beside rules are what is fused
		w.hook(nil).Kind = policy.KindRego
	}
	for _, h := range w.policy.Hooks {
		if !h.Kind.InProcess() && w.percent(60) || h.Async {
			continue
		}
		h.Kind, h.Declared = policy.KindRego, policy.Declared{}
		w.bodies[h.Name] = &body{key: h.Name}
		text := w.rego()
		source := diag.NewSource(h.Name+".rego", text)
		h.Body.Source = diag.NewText(text, diag.Span{Source: source, End: len(text)}, []diag.Mark{{}})
	}
	return w
}

// compile compiles with the real kind of Rego hooks.
func (w *regoWorld) compile(t testing.TB, without ...string) *dag.Program {
	t.Helper()
	kinds := w.kinds()
	for i, k := range runner.Kinds(runner.Options{}) {
		if k.Name != policy.KindRego {
			continue
		}
		at := slices.IndexFunc(kinds, func(k dag.Kind) bool { return k.Name == policy.KindRego })
		mock := kinds[at].Prepare
		kinds[at] = runner.Kinds(runner.Options{})[i]
		kinds[at].Timeout = ruleBudget
		kinds[at].Prepare = func(h *policy.Hook) (dag.Body, diag.List) {
			if h.Async {
				return mock(h)
			}
			made, found := k.Prepare(h)
			require.NotNil(t, made.Runner, "%s\n%s", found.Render(), h.Body.Source.Value)
			w.bodies[h.Name].fixed = func(in *policy.Context, attempt int) (policy.Result, error) {
				return made.Runner.Run(context.Background(), in, attempt)
			}
			return made, found
		}
		kinds[at].Fuse = w.counting(k.Fuse)
	}
	prog, found := compiler.Compile(w.policy, compiler.Config{Kinds: kinds, Without: without})
	require.NoError(t, found.Err())
	return prog
}

// counting is a kind's Fuse with its evaluations counted.
func (w *regoWorld) counting(fuse func([]dag.FusePart) ([]int, func() dag.FusedRun)) func([]dag.FusePart) ([]int, func() dag.FusedRun) {
	return func(parts []dag.FusePart) ([]int, func() dag.FusedRun) {
		members, fused := fuse(parts)
		return members, func() dag.FusedRun {
			run := fused()
			return func(ctx context.Context, in *policy.Context, chosen dag.Chosen, said []dag.FusedAnswer) error {
				w.runs.Add(1)
				err := run(ctx, in, chosen, said)
				if err != nil {
					w.errors.Add(1)
				}
				for _, s := range said {
					if s.Alone {
						w.alone.Add(1)
					}
				}
				return err
			}
		}
	}
}

// regoText writes the package of one hook.
type regoText struct {
	w      *regoWorld
	b      strings.Builder
	refs   []string // parts of input that hold "0", "1" or "2"
	things []string // objects of such
	// helpers are rules to test, sets and values that other rules give.
	helpers, sets, values []string
}

func (g *regoText) n(n int) int                  { return g.w.rng.IntN(n) }
func (g *regoText) one(list []string) string     { return list[g.n(len(list))] }
func (g *regoText) ref() string                  { return g.one(g.refs) }
func (g *regoText) word() string                 { return fmt.Sprintf("%q", fmt.Sprint(g.n(3))) }
func (g *regoText) line(format string, a ...any) { fmt.Fprintf(&g.b, format+"\n", a...) }
func (g *regoText) faulty(percent int) bool      { return g.w.faulty && g.w.percent(percent) }
func (g *regoText) body() string                 { return strings.Join(g.conditions(1+g.n(2)), "; ") }
func (g *regoText) say(p string) string          { return fmt.Sprintf("%q", fmt.Sprint(p, g.n(3))) }
func (g *regoText) join(before string) string {
	return fmt.Sprintf(`sprintf("%s %%v", [%s])`, before, g.ref())
}
func (g *regoText) pick(choices ...func()) func() { return choices[g.n(len(choices))] }
func (g *regoText) set(name string, value string) {
	g.line("%s contains %s if { %s }", name, value, g.body())
}
func (g *regoText) full(name string, value string) {
	g.line("%s := %s if { %s }", name, value, g.body())
}

// rego draws the text of one hook: helpers, then entry points.
func (w *regoWorld) rego() string {
	g := &regoText{w: w}
	g.line("package hooks.%s", []string{"a", "b"}[w.rng.IntN(2)])
	if w.fixture.event.Spec().CanRead(policy.FieldToolName) {
		g.refs = append(g.refs, "input.tool_name")
	}
	for _, v := range w.fixture.values {
		g.refs = append(g.refs, "input."+v)
	}
	for _, o := range w.fixture.objects {
		g.things = append(g.things, "input."+o)
		g.refs = append(g.refs, "input."+o+".a", "input."+o+".b", "input."+o+".c")
	}
	for i := range g.n(3) {
		g.helper(i)
	}
	if w.percent(8) {
		g.line(`result := {"decision": %s, "reason": %s, "additional_context": %s} if { %s }`,
			g.one([]string{`"deny"`, `"ask"`, `"allow"`}), g.say("r"), g.say("c"), g.body())
		return g.b.String()
	}
	for range 1 + g.n(3) {
		g.entry()
	}
	return g.b.String()
}

func (g *regoText) helper(i int) {
	name := fmt.Sprint("h", i)
	g.pick(
		func() { g.line("%s if { %s }", name, g.body()); g.helpers = append(g.helpers, name) },
		func() { g.set(name, g.ref()); g.sets = append(g.sets, name) },
		func() {
			g.full(name, g.word())
			if g.faulty(70) {
				g.full(name, g.word()) // perhaps a conflict
			}
			g.values = append(g.values, name)
		},
		func() {
			g.line("%s(x) := y if { y := concat(\"\", [x, %s]) }", name, g.ref())
			g.values = append(g.values, fmt.Sprintf("%s(%s)", name, g.word()))
		},
		func() {
			g.line("default %s := %s", name, g.word())
			g.full(name, g.ref())
			g.values = append(g.values, name)
		},
	)()
}

func (g *regoText) conditions(n int) []string {
	var out []string
	for range n {
		out = append(out, g.condition())
	}
	return out
}

// condition draws one test, most of them true of some events only.
func (g *regoText) condition() string {
	a, b := g.ref(), g.ref()
	simple := []string{
		fmt.Sprintf("%s == %s", a, g.word()), fmt.Sprintf("%s == %s", a, g.word()), fmt.Sprintf("%s != %s", a, g.word()),
		fmt.Sprintf("not %s == %s", a, g.word()), fmt.Sprintf("%s in {%s, %s}", a, g.word(), g.word()),
		fmt.Sprintf("startswith(%s, %s)", a, g.word()), fmt.Sprintf("not endswith(%s, %s)", a, g.word()),
		fmt.Sprintf("%s == %s", a, b), fmt.Sprintf("lower(%s) == %s", a, g.word()),
		fmt.Sprintf(`{ k | some k in ["0", "1"]; k == %s } != set()`, a),
		fmt.Sprintf(`every k in [%s] { k != %s }`, g.word(), a),
		fmt.Sprintf(`regex.match("^[0%d]$", %s)`, 1+g.n(2), a), "true", a,
	}
	for _, h := range g.helpers {
		simple = append(simple, h, "not "+h)
	}
	for _, s := range g.sets {
		simple = append(simple, fmt.Sprintf("%s in %s", g.word(), s), fmt.Sprintf("count(%s) > %d", s, g.n(2)), fmt.Sprintf("%s[%s]", s, a))
	}
	for _, v := range g.values {
		simple = append(simple, fmt.Sprintf("%s != %s", v, a), fmt.Sprintf("contains(%s, %s)", v, g.word()))
	}
	for _, o := range g.things {
		simple = append(simple, fmt.Sprintf(`object.get(%s, "a", "none") == %s`, o, g.word()), fmt.Sprintf("count(%s) == %d", o, g.n(4)))
	}
	if g.w.percent(3) {
		simple = append(simple, `object.get(input, "session_id", "") != ""`, `count(input) > 1`)
	}
	if g.w.percent(5) {
		field, _, _ := strings.Cut(strings.TrimPrefix(a, "input."), ".")
		simple = append(simple, fmt.Sprintf("%s == %s with input.%s as %s", a, g.word(), strings.TrimPrefix(a, "input."), g.word()),
			fmt.Sprintf("not input.%s with input as {}", field))
	}
	if g.faulty(20) {
		return fmt.Sprintf("1 / to_number(%s) < 2", a) // an error of a builtin where it is 0, or no number
	}
	return g.one(simple)
}

// entry draws one entry point; a second rule of one that is there already adds
// to it.
func (g *regoText) entry() {
	has := func(name, form string) bool {
		return strings.Contains(g.b.String(), "\n"+name+form) || strings.Contains(g.b.String(), "\ndefault "+name+form)
	}
	verdict := g.one([]string{"deny", "deny", "violation", "deny_more", "ask", "allow", "skip", "stop"})
	text := g.one([]string{"context", "message", "feedback", "warn", "warn_more"})
	name := g.one([]string{verdict, verdict, text})
	complete := func() {
		g.pick(
			func() { g.full(name, g.say(name)) },
			func() { g.full(name, g.say(name)); g.line("else := %s if { %s }", g.say("else"), g.body()) },
			func() { g.full(name, g.join(name)) },
			func() { g.line("default %s := %s", name, g.say("none")); g.full(name, g.say(name)) },
		)()
		if g.faulty(50) {
			g.full(name, g.say(name)) // perhaps a conflict
		}
	}
	switch {
	case g.w.percent(15) && len(g.w.fixture.writes) > 0 && !has("patch", " :="):
		g.patch()
	case has(name, " :="), has(name, " if"):
	case g.w.percent(60):
		g.set(name, g.one([]string{g.say(name), g.join(name), fmt.Sprintf(`{"msg": %s, "at": %s}`, g.say(name), g.ref())}))
		if g.faulty(10) {
			g.set(name, "count("+g.ref()+")") // a number says nothing
		}
	case has(name, " contains"):
	case name == verdict && g.w.percent(30):
		if g.w.percent(40) {
			g.line("default %s := false", name)
		}
		for range 1 + g.n(2) {
			g.line("%s if { %s }", name, g.body())
		}
	default:
		complete()
	}
}

func (g *regoText) patch() {
	path, _ := policy.ParsePath(g.one(g.w.fixture.writes))
	switch {
	case path.Field == policy.FieldToolConfig:
		g.full("patch", `{"tool_config": {"mode": "ANY", "names": ["Bash"]}}`)
	case len(path.Keys) > 0:
		g.full("patch", fmt.Sprintf(`{"%s": {"%s": %s}}`, path.Field, path.Keys[0], g.one([]string{g.word(), g.ref()})))
	default:
		g.full("patch", fmt.Sprintf(`{"%s": %s}`, path.Field, g.word()))
	}
}

// Law 21: fused is as unfused, and as the definition, also with rules that
// fail. Mutations by hand that it killed: nodes that take different data in one
// fusion; a member that bails, or is to be asked alone, taken for silence; one's
// values taken for another's; a filter not tested at its hook's turn.
func TestFusedIsAsUnfused(t *testing.T) {
	var fusions, runs, errors, alone int64
	synctest.Test(t, func(t *testing.T) {
		for seed := range depth.Of(uint64(500)) {
			w := newRegoWorld(21<<40 + seed)
			// Rules that always speak would take out what is after them.
			fused, unfused := w.compile(t, "dead"), w.compile(t, "dead", "fuse")
			for n := range 4 {
				in := w.context(n)
				got, _ := w.fire(t, fused, in)
				want, _ := w.fire(t, unfused, in)
				require.Equal(t, want, got, "seed %d event %d", seed, n)
				serial, _ := w.serial(fused, in, nil)
				require.Equal(t, serial, got, "seed %d event %d", seed, n)
			}
			for _, plan := range fused.Plans {
				fusions += int64(len(plan.Fused))
			}
			runs, errors, alone = runs+w.runs.Load(), errors+w.errors.Load(), alone+w.alone.Load()
		}
	})
	t.Logf("%d fusions, %d evaluations, %d failed, %d members alone", fusions, runs, errors, alone)
	if !programs.Native {
		assert.Zero(t, fusions)
		return
	}
	assert.Greater(t, fusions, depth.Least(int64(400)))
	assert.Greater(t, runs-errors, depth.Least(int64(800)))
	assert.Greater(t, alone, depth.Least(int64(30)))
}

// Native code is as OPA, and as the definition, which asks OPA.
func TestNativeIsAsTopdown(t *testing.T) {
	native := 0
	synctest.Test(t, func(t *testing.T) {
		for seed := range depth.Of(uint64(300)) {
			w := newRegoWorld(23<<40 + seed)
			with, without := w.compile(t, "dead"), w.compile(t, "dead", "native", "fuse")
			for n := range 4 {
				in := w.context(n)
				got, _ := w.fire(t, with, in)
				want, _ := w.fire(t, without, in)
				require.Equal(t, want, got, "seed %d event %d", seed, n)
			}
			for _, plan := range with.Plans {
				for i := range plan.Nodes {
					if strings.HasPrefix(plan.Nodes[i].Engine, "rego(") && !strings.Contains(plan.Nodes[i].Engine, "topdown") {
						native++
					}
				}
			}
		}
	})
	t.Logf("%d hooks native", native)
	if !programs.Native {
		assert.Zero(t, native)
		return
	}
	assert.Greater(t, native, depth.Least(600))
}

// Law 22 with real Rego: no subset of the optional passes changes what can be
// observed. The mutations above were killed here too.
func TestOptionalPassesChangeNothingOfRego(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for seed := range depth.Of(uint64(200)) {
			w := newRegoWorld(22<<40 + seed)
			in := w.context(0)
			want, _ := w.fire(t, w.compile(t), in)
			without := w.some(optionalPasses, 40)
			w.clock++
			got, _ := w.fire(t, w.compile(t, without...), in)
			want.hooks, got.hooks = "", ""
			require.Equal(t, want, got, "seed %d without %q", seed, without)
		}
	})
}

// mockFuse is how mock rules are fused: an error of one is that of all, and
// now and then one must be asked alone.
func (w *world) mockFuse(parts []dag.FusePart) (members []int, fuse func() dag.FusedRun) {
	rng := rand.New(rand.NewPCG(w.seed, uint64(len(parts))))
	for i := range parts {
		if rng.IntN(8) > 0 {
			members = append(members, i)
		}
	}
	return members, func() dag.FusedRun {
		return func(ctx context.Context, in *policy.Context, chosen dag.Chosen, said []dag.FusedAnswer) error {
			for k, place := range chosen.Places {
				r, err := parts[members[place]].Runner.Run(ctx, in, 0)
				if err != nil {
					return err
				}
				said[k].Result = &r
			}
			if w.seed%5 == 0 {
				said[0] = dag.FusedAnswer{Alone: true}
			}
			return nil
		}
	}
}
