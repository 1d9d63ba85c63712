package casetest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"sort"
	"strings"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/diff"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/rego"
)

// Mutation is how many mistakes in a policy its tests notice.
type Mutation struct {
	// Score is the percentage of the mistakes that change a decision, as far as is
	// known, that the tests noticed.
	Score    float64 `json:"score"`
	Noticed  int     `json:"noticed"`
	Survived int     `json:"survived"`
	// Unknown are those that no test notices and no event that was tried shows: the
	// policy may mean the same with them.
	Unknown int `json:"unknown"`
	// Same are those that compile to the same program, Invalid those that do not
	// compile, LeftOut those that were too many.
	Same      int        `json:"same"`
	Invalid   int        `json:"invalid"`
	LeftOut   int        `json:"left_out"`
	Survivors []Survivor `json:"survivors"`
}

// Survivor is a mistake that no test notices.
type Survivor struct {
	mutant
	// Event tells it from the policy, which does From on it; with the mistake it
	// does To. Without one, Tried events were the same.
	Event json.RawMessage `json:"event,omitempty"`
	From  policy.Action   `json:"from,omitempty"`
	To    policy.Action   `json:"to,omitempty"`
	Tried int             `json:"tried,omitempty"`
}

// DefaultMutants is how many mistakes are tried at most, and survivorEvents how many
// events of one that no test noticed.
const (
	DefaultMutants = 300
	survivorEvents = 200
	mostShown      = 300 // bytes of an event in a text
)

// mutate tries mistakes in the policies under test.
func (t *tester) mutate(ctx context.Context, rules []string) error {
	t.report.Mutation = &Mutation{Survivors: []Survivor{}}
	groups := map[string]*mutation{"": {t: t, key: "", rules: rules}}
	order := []string{""}
	for _, a := range t.asked {
		g := groups[a.bench.key]
		if g == nil {
			g = &mutation{t: t, key: a.bench.key}
			groups[g.key] = g
			order = append(order, g.key)
		}
		g.asked = append(g.asked, a)
	}
	for _, key := range order {
		if err := groups[key].run(ctx); err != nil {
			return err
		}
	}
	m := t.report.Mutation
	m.Score = 100
	if of := m.Noticed + m.Survived; of > 0 {
		m.Score = float64(m.Noticed*1000/of) / 10
	}
	return nil
}

// mutation tries the mistakes of one policy with its cases.
type mutation struct {
	t     *tester
	key   string
	asked []*asked
	rules []string
	// bases are engines of the policy without a mistake, as each bench has it.
	bases map[*bench]*hookc.Engine
	// kept is what each case of a snapshot says without a mistake.
	kept map[*asked]map[string]any
}

func (g *mutation) run(ctx context.Context) error {
	if len(g.asked) == 0 && len(g.rules) == 0 {
		return nil
	}
	defer func() {
		for _, eng := range g.bases {
			eng.Close()
		}
	}()
	plain, err := g.open(ctx)
	if err != nil {
		return err
	}
	if err := g.steady(ctx); err != nil {
		return err
	}
	list := mutants(plain.Policy())
	if most := g.t.Mutants; most > 0 && len(list) > most {
		rng := rand.New(rand.NewPCG(g.t.Seed, 0x6d7574))
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		g.t.report.Mutation.LeftOut += len(list) - most
		list = list[:most]
		sort.SliceStable(list, func(i, j int) bool { return list[i].hook < list[j].hook })
	}
	for i, m := range list {
		g.t.Say(fmt.Sprintf("mistake %d of %d", i+1, len(list)))
		if err := g.try(ctx, plain, m); err != nil {
			return err
		}
	}
	return nil
}

// open compiles the policy once for each bench of the cases. plain is the one that answers for
// nothing.
func (g *mutation) open(ctx context.Context) (plain *hookc.Engine, err error) {
	g.bases = map[*bench]*hookc.Engine{}
	options := g.t.Options
	if len(g.asked) > 0 {
		options = g.asked[0].bench.options
	}
	b, err := g.t.open(ctx, g.key, options, nil)
	if err != nil {
		return nil, err
	}
	for _, b := range append([]*bench{b}, benches(g.asked)...) {
		if g.bases[b] != nil {
			continue
		}
		eng, err := hookc.Open(ctx, b.options...)
		if err != nil {
			return nil, err
		}
		g.bases[b] = eng
	}
	return g.bases[b], nil
}

func benches(list []*asked) []*bench {
	var out []*bench
	for _, a := range list {
		out = append(out, a.bench)
	}
	return out
}

// steady leaves out the cases that do not pass when nothing is run: there is no
// telling what a mistake changes in them.
func (g *mutation) steady(ctx context.Context) error {
	g.kept = map[*asked]map[string]any{}
	var kept []*asked
	for _, a := range g.asked {
		d, err := g.decide(ctx, g.bases[a.bench], a)
		if err != nil {
			return err
		}
		if a.Snapshot {
			g.kept[a] = delivered(d)
		}
		if len(g.notices(a, d)) == 0 {
			kept = append(kept, a)
		}
	}
	g.asked = kept
	return nil
}

// decide decides a case by an engine that has decided nothing before.
func (g *mutation) decide(ctx context.Context, eng *hookc.Engine, a *asked) (*policy.Decision, error) {
	own, err := eng.Variant(nil)
	if err != nil {
		return nil, err
	}
	defer own.Close()
	return own.FireSerial(a.again(ctx), a.event, a.Event)
}

// notices say what a case expects otherwise. Where something is written moves with a
// mistake in it.
func (g *mutation) notices(a *asked, d *policy.Decision) []string {
	c := a.Test
	c.Expect = without(c.Expect, "at")
	c.Hooks = map[string]map[string]any{}
	for name, want := range a.Hooks {
		c.Hooks[name] = without(want, "at")
	}
	lines := missed(&c, d)
	if a.Snapshot {
		lines = append(lines, Whole("", g.kept[a], delivered(d))...)
	}
	return lines
}

func without(m map[string]any, key string) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		if k != key {
			out[k] = v
		}
	}
	return out
}

// try tries one mistake.
func (g *mutation) try(ctx context.Context, plain *hookc.Engine, m *mutant) error {
	out := g.t.report.Mutation
	variant, err := plain.Variant(m.of(plain.Policy()))
	if err != nil {
		out.Invalid++
		return ctx.Err()
	}
	defer variant.Close()
	if variant.Program().Hash == plain.Program().Hash {
		out.Same++
		return nil
	}
	noticed, err := g.noticed(ctx, plain, variant, m)
	switch {
	case err != nil:
		return err
	case noticed:
		out.Noticed++
		return nil
	}
	s := Survivor{mutant: *m, Tried: survivorEvents}
	var asked []*policy.Context
	for _, a := range g.asked {
		if a.event == m.event {
			asked = append(asked, a.Event)
		}
	}
	r, err := diff.Compare(ctx, plain.Program(), variant.Program(), diff.Options{Event: m.event, Events: survivorEvents, Cases: asked})
	switch {
	case err != nil:
		return err
	case len(r.Decisions) > 0:
		c := r.Decisions[0]
		s.Event, s.From, s.To, s.Tried = c.Witness, c.From, c.To, 0
		out.Survived++
	default:
		out.Unknown++
	}
	out.Survivors = append(out.Survivors, s)
	return nil
}

// noticed reports whether a test fails with a mistake.
func (g *mutation) noticed(ctx context.Context, plain, variant *hookc.Engine, m *mutant) (bool, error) {
	for _, a := range g.asked {
		if a.event != m.event {
			continue
		}
		eng := variant
		if base := g.bases[a.bench]; base != plain {
			own, err := base.Variant(m.of(base.Policy()))
			if err != nil {
				continue
			}
			defer own.Close()
			eng = own
		}
		d, err := g.decide(ctx, eng, a)
		if err != nil {
			return false, err
		}
		if len(g.notices(a, d)) > 0 {
			return true, nil
		}
	}
	if len(g.rules) == 0 || plain.Policy().Hooks[m.hook].Kind != policy.KindRego {
		return false, ctx.Err()
	}
	for _, set := range g.t.sets(variant.Policy(), g.rules) {
		set.Only = g.t.Run
		results, found := rego.RunTests(ctx, set)
		if found.HasErrors() || lists.Some(results, func(r *rego.TestResult) bool { return !r.Pass && !r.Skip }) {
			return true, ctx.Err()
		}
	}
	return false, ctx.Err()
}

// WriteText writes the score and the mistakes that no test notices.
func (m *Mutation) WriteText(w io.Writer) {
	fmt.Fprintf(w, "mutation score %.1f%%: the tests notice %d of %d mistakes that change a decision\n", m.Score, m.Noticed, m.Noticed+m.Survived)
	for _, s := range m.Survivors {
		if len(s.Event) > 0 {
			event := string(s.Event)
			if len(event) > mostShown {
				event = strings.ToValidUTF8(event[:mostShown], "") + "…"
			}
			fmt.Fprintf(w, "  %s  %s\n     %s → %s: %s\n", s.At, s.What, s.From, s.To, event)
		}
	}
	if m.Unknown > 0 {
		fmt.Fprintf(w, "%d more are not noticed, and no event was found that tells them from the policy:\n", m.Unknown)
	}
	for _, s := range m.Survivors {
		if len(s.Event) == 0 {
			fmt.Fprintf(w, "  %s  %s\n", s.At, s.What)
		}
	}
	if m.Same+m.Invalid+m.LeftOut > 0 {
		fmt.Fprintf(w, "not counted: %d that change nothing, %d that do not compile, %d that were too many\n", m.Same, m.Invalid, m.LeftOut)
	}
}
