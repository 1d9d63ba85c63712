package diff

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hookc/hookc/compiler/solve"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/internal/witness"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/rollout"
)

// Verdict is what is known of a change: whether decisions differ by it.
type Verdict string

// The verdicts. Unchanged is proved; Differs has a witness; nobody knows of
// Unproved.
const (
	Unchanged Verdict = "unchanged"
	Differs   Verdict = "changed"
	Unproved  Verdict = "unknown"
)

// Known is what is known of one change.
type Known struct {
	Verdict Verdict `json:"verdict,omitempty"`
	// Loosens is whether less may be held back by it: Unchanged is that it cannot.
	Loosens Verdict `json:"loosens,omitempty"`
	// Tried says what was tried where something is unknown.
	Tried []string `json:"tried,omitempty"`
}

// suspect is a hook of which it is not proved that it decides as before.
type suspect struct {
	pair
	a, b *dag.Node
	// in and out are plans that differ in this hook alone: the old one with and
	// without its change, or the new one.
	in, out *dag.Plan
	// differs and loosens say that an event was found on which decisions do; searched
	// is how many events were made for it, why what is not proved of it.
	differs, loosens bool
	searched         int
	why              string
}

// prover finds what is known of the changes of one lifecycle point.
type prover struct {
	*trial
	ctx      context.Context
	old, new *dag.Program
	a, b     *dag.Plan
	world    *solve.World
	suspects []*suspect
	pairs    []pair
	// swapped are pairs of hooks that changed places, and may matter to each other.
	swapped [][2]*pair
	// tame says that no order of the hooks changes what is held back.
	tame bool
	// leftOver are differences that no suspect makes: leftLoose those that loosen.
	leftOver, leftLoose bool
	// tool and session are those of the events that are tried, "" for any.
	tool, session string
	// masks are hooks that decided events on which no difference was seen.
	masks map[string]bool
}

// mostWays bounds one search: there may be many.
const mostWays = 150

// nodeOf is the node of a hook, nil for one that can decide nothing.
func nodeOf(plan *dag.Plan, e *dag.Entry) *dag.Node {
	if plan == nil || e == nil || e.Status != dag.Live {
		return nil
	}
	for i := range plan.Nodes {
		if n := &plan.Nodes[i]; n.RecheckOf < 0 && (n.Hook == e.Hook || n.Hook.Name == e.Hook.Name && n.Hook.Span == e.Hook.Span) {
			if n.Hook.Async && n.Hook.Kind.InProcess() {
				return nil
			}
			if d, lazy := n.Runner.(interface{ Made() policy.Runner }); lazy { // of a compiled policy
				made := *n
				made.Runner = d.Made()
				return &made
			}
			return n
		}
	}
	return nil
}

func newProver(ctx context.Context, t *trial, old, new *dag.Program, o *Options) *prover {
	p := &prover{masks: map[string]bool{}, trial: t, ctx: ctx, tool: o.Tool, old: old, new: new, a: old.Plan(t.event), b: new.Plan(t.event)}
	tools := old.Tools
	tools.Known, tools.Open = lists.Concat(old.Tools.Known, new.Tools.Known), lists.Concat(old.Tools.Open, new.Tools.Open)
	if len(old.Tools.Known) == 0 || len(new.Tools.Known) == 0 {
		tools = policy.Catalogue{}
	}
	both := lists.Without(old.Facts, func(f *policy.Fact) bool {
		return !lists.Some(new.Facts, func(g *policy.Fact) bool {
			return f.Name == g.Name && f.Type == g.Type && lists.Equal(f.Words, g.Words)
		})
	})
	p.world = &solve.World{Event: t.event, Tools: tools, Facts: both, Most: mostWays}
	p.pairs = match(entriesOf(old, t.event, o.Tool), entriesOf(new, t.event, o.Tool))
	p.tame = tame(p.a) && tame(p.b) && p.sameStrategy()
	scripts := scriptChanges(old, new)
	for i := range p.pairs {
		q := &p.pairs[i]
		s := &suspect{pair: *q, a: nodeOf(p.a, q.old), b: nodeOf(p.b, q.new)}
		if s.why = p.unlike(s, scripts); s.why != "" {
			p.suspects = append(p.suspects, s)
			p.isolate(s)
		}
	}
	p.swap()
	return p
}

// tame reports whether what a plan holds back does not depend on the order of its
// hooks: none rewrites, none ends the chain with less than a refusal.
func tame(plan *dag.Plan) bool {
	if plan == nil {
		return true
	}
	if plan.Strategy.Fold != policy.FoldMax || plan.Strategy.Halt != policy.HaltDeny && plan.Strategy.Halt != policy.HaltNever {
		return false
	}
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		if !n.Effects.Writes.Empty() || n.Effects.May.Has(policy.MaySkip|policy.MayStop|policy.MayHalt) || n.OnError == policy.OnErrorAbort || n.OnTimeout == policy.OnErrorAbort {
			return false
		}
	}
	return true
}

func (p *prover) sameStrategy() bool {
	return p.a == nil || p.b == nil || p.a.Strategy.Strategy == p.b.Strategy.Strategy
}

// unlike says why a hook may decide otherwise than before; "" is the proof that it
// does not, wherever it stands.
func (p *prover) unlike(s *suspect, scripts map[string]bool) string {
	switch {
	case s.a == nil && s.b == nil:
		return ""
	case s.a == nil:
		return "it was not there"
	case s.b == nil:
		return "it is not there any more"
	}
	filter, body := false, false
	for _, f := range describe(s.old).against(describe(s.new)) {
		switch key, below, _ := spell.Cut(f.Key, "."); key {
		case "filter":
			filter = true
		case "on_error", "on_timeout", "timeout", "retry": // see below
		case "rego":
			body = true
		case "defaults":
			if below == "on_error" {
				continue
			}
			return f.Key + " is not as it was"
		case "source", "when", "deny", "ask", "allow", "defer", "skip", "stop", "halt", "rules", "reason", "set", "context":
			body = true
		case "priority": // where it stands is looked at apart
		default:
			return f.Key + " is not as it was"
		}
	}
	a, b := s.a, s.b
	if a.OnError != b.OnError || a.OnTimeout != b.OnTimeout || a.Timeout != b.Timeout || a.Retry != b.Retry || a.Hook.Kind != b.Hook.Kind {
		return "a failure means something else"
	}
	if !a.Hook.Kind.InProcess() {
		if len(scriptsOf(a.Hook, scripts)) > 0 || p.strays(scripts) {
			return "a file that it uses changed"
		}
	}
	if p.old.Hash == p.new.Hash { // which is of all that rules are made of
		return ""
	}
	f, formed := a.Runner.(solve.Formed)
	g, also := b.Runner.(solve.Formed)
	if formed && also && f.Form() != "" && f.Form() == g.Form() {
		body = false
	} else if formed || also || a.Hook.Kind == policy.KindRego {
		body = true
	}
	if (filter || body) && !p.equivalent(a, b, filter, body) {
		return "its conditions are not as they were"
	}
	return ""
}

// strays reports whether a file changed of which nobody knows what uses it.
func (p *prover) strays(scripts map[string]bool) bool {
	for path := range scripts {
		known := slices.ContainsFunc([]string{".rego", ".json", ".yaml", ".yml", ".md"}, func(ext string) bool { return strings.HasSuffix(path, ext) })
		if known {
			continue
		}
		used := lists.Some(p.old.Hooks, func(e *dag.Entry) bool { return len(scriptsOf(e.Hook, map[string]bool{path: true})) > 0 })
		if !used {
			return true
		}
	}
	return false
}

// speech is when a hook says what, by what it says.
func speech(n *dag.Node) (all []string, when map[string]*solve.Formula, known bool) {
	when = map[string]*solve.Formula{}
	for _, r := range witness.RulesOf(n) {
		if r.Says == "" || !r.Sure {
			return nil, nil, false
		}
		key := r.Name + "\x00" + r.Says
		if when[key] == nil {
			all, when[key] = append(all, key), solve.False
		}
		when[key] = solve.Or(when[key], r.When)
	}
	return all, when, len(all) > 0
}

// equivalent reports whether two hooks say the same of every event, by what their
// filters and rules test.
func (p *prover) equivalent(a, b *dag.Node, filter, body bool) bool {
	fa, fb := witness.FilterOf(a), witness.FilterOf(b)
	if !filter {
		fb = solve.True
	}
	if !body {
		return p.implies(fa, fb) && p.implies(fb, fa)
	}
	x, was, known := speech(a)
	y, is, also := speech(b)
	if !known || !also {
		return false
	}
	for _, key := range append(x, y...) {
		f, g := was[key], is[key]
		if f == nil {
			f = solve.False
		}
		if g == nil {
			g = solve.False
		}
		if !filter { // one filter for both
			if !p.implies(solve.And(fa, f), g) || !p.implies(solve.And(fa, g), f) {
				return false
			}
		} else if !p.implies(solve.And(fa, f), solve.And(fb, g)) || !p.implies(solve.And(fb, g), solve.And(fa, f)) {
			return false
		}
	}
	return true
}

// implies reports whether it is proved that every event that fulfils f fulfils g.
func (p *prover) implies(f, g *solve.Formula) bool {
	if g == solve.True || f == solve.False {
		return true
	}
	return g.Closed() && p.never(solve.And(f, solve.Not(g)))
}

func (p *prover) never(f *solve.Formula) bool {
	a := p.world.Search(f, func(map[string]any) bool { return false })
	return a.Proof != nil && !a.Proof.Unusual
}

// swap finds hooks that changed places and may matter to each other.
func (p *prover) swap() {
	type standing struct {
		pair         *pair
		old, new     *dag.Node
		oldAt, newAt int
	}
	var all []standing // each node is looked for once: there are as many as hooks
	for i := range p.pairs {
		x := &p.pairs[i]
		if a, c := nodeOf(p.a, x.old), nodeOf(p.b, x.new); a != nil && c != nil {
			all = append(all, standing{x, a, c, place(p.a, a), place(p.b, c)})
		}
	}
	for i, y := range all {
		for _, x := range all[:i] {
			if (x.oldAt < y.oldAt) != (x.newAt < y.newAt) && (!p.commute(x.old, y.old) || !p.commute(x.new, y.new)) {
				p.swapped = append(p.swapped, [2]*pair{x.pair, y.pair})
			}
		}
	}
}

//go:noinline
func place(plan *dag.Plan, n *dag.Node) int {
	return lists.At(plan.Nodes, func(m *dag.Node) bool { return m.Hook == n.Hook && m.RecheckOf < 0 })
}

// commute reports whether it is proved that the order of two hooks does not matter:
// neither rewrites, and no event makes both speak.
func (p *prover) commute(a, b *dag.Node) bool {
	return a.Effects.Writes.Empty() && b.Effects.Writes.Empty() && a.Effects.World != policy.WorldWrite && b.Effects.World != policy.WorldWrite &&
		p.never(solve.And(p.speaks(a), p.speaks(b)))
}

// speaks is when a hook may say something.
func (p *prover) speaks(n *dag.Node) *solve.Formula {
	filter := witness.FilterOf(n)
	if !sure(n) {
		return filter
	}
	var any []*solve.Formula
	for _, r := range witness.RulesOf(n) {
		any = append(any, r.When)
	}
	return solve.And(filter, solve.Or(any...))
}

// sure reports whether the rules of a hook are all that it says, and none can fail.
func sure(n *dag.Node) bool {
	rules := witness.RulesOf(n)
	return len(rules) > 0 && !lists.Some(rules, func(r *solve.Rule) bool { return !r.Sure })
}

// says is what a rule says, of its name: deny_shell denies.
func says(name string) string {
	word, _, _ := spell.Cut(name, "_")
	if name == "violation" {
		return "deny"
	}
	return word
}

// cannotLoosen reports whether it is proved that what was refused before a change is
// refused after it, and what was asked about asked about or refused, on events on which
// no rule fails.
func (p *prover) cannotLoosen(s *suspect) bool {
	const refuses = policy.AllPowers &^ policy.MayAllow
	a, b := s.a, s.b
	for _, plan := range []*dag.Plan{p.a, p.b} {
		if plan != nil && (plan.Strategy.Fold != policy.FoldMax || plan.Strategy.Halt != policy.HaltDeny && plan.Strategy.Halt != policy.HaltNever) {
			return false
		}
	}
	if !p.sameStrategy() || a != nil && !a.Effects.Writes.Empty() || b != nil && !b.Effects.Writes.Empty() {
		return false
	}
	switch {
	case a == nil:
		return !b.Effects.May.Has(policy.MayAllow)
	case b == nil:
		return !a.Effects.May.Has(refuses) && (!a.Effects.MayFail || a.OnError == policy.OnErrorSkip && a.OnTimeout == policy.OnErrorSkip)
	case a.OnError != b.OnError || a.OnTimeout != b.OnTimeout || a.Timeout != b.Timeout:
		return false
	case !a.Hook.Kind.InProcess() || !b.Hook.Kind.InProcess() || b.Hook.Group != nil || rollout.Text(b.Hook) != "" || b.Hook.Async:
		return false
	}
	ra, rb := witness.RulesOf(a), witness.RulesOf(b)
	for _, list := range [][]solve.Rule{ra, rb} {
		if len(list) == 0 || lists.Some(list, func(r *solve.Rule) bool { return !lists.Has([]string{"deny", "ask", "allow"}, says(r.Name)) }) {
			return false
		}
	}
	return p.stricter(ra, rb, a, b)
}

// stricter reports whether it is proved that the rules of b hold back what those of a
// do. A rule that both have needs no proof.
func (p *prover) stricter(ra, rb []solve.Rule, a, b *dag.Node) bool {
	fa, fb := witness.FilterOf(a), witness.FilterOf(b)
	same := writtenFilter(a) == writtenFilter(b)
	new := func(x, y []solve.Rule, name string) *solve.Formula {
		var out []*solve.Formula
		for _, r := range x {
			both := same && lists.Some(y, func(q *solve.Rule) bool {
				return q.Name == r.Name && (r.Form != "" && q.Form == r.Form || r.When.Closed() && q.When.Key() == r.When.Key())
			})
			if says(r.Name) == name && !both {
				out = append(out, r.When)
			}
		}
		return solve.Or(out...)
	}
	holds := func(in *solve.Formula, rules []solve.Rule, names ...string) *solve.Formula {
		var out []*solve.Formula
		for _, r := range rules {
			if lists.Has(names, says(r.Name)) && r.When.Closed() { // of others nobody knows
				out = append(out, r.When)
			}
		}
		if same { // then both sides are asked of the events of one filter
			return solve.Or(out...)
		}
		return solve.And(in, solve.Or(out...))
	}
	return p.implies(solve.And(fa, new(ra, rb, "deny")), holds(fb, rb, "deny")) &&
		p.implies(solve.And(fa, new(ra, rb, "ask")), holds(fb, rb, "deny", "ask")) &&
		p.implies(solve.And(fb, new(rb, ra, "allow")), holds(fa, ra, "allow"))
}

func writtenFilter(n *dag.Node) string {
	var b strings.Builder
	for _, c := range n.Hook.Filter.Conditions {
		fmt.Fprintf(&b, "%s\x00%s\x00", c.Key, c.Value.Value)
	}
	return b.String()
}

// proved reports whether no decision can differ.
func (p *prover) proved() bool {
	return len(p.suspects)+len(p.swapped) == 0 && p.sameStrategy() && p.sameDeadline()
}

// sameDeadline reports whether the time that a chain has cannot matter.
func (p *prover) sameDeadline() bool {
	return p.a == nil || p.b == nil || p.a.Deadline == p.b.Deadline || p.a.Inline && p.b.Inline
}

// settle says of every change of the lifecycle point what is known.
func (p *prover) settle(r *Report) {
	known := map[pair]bool{}
	for i := range r.Hooks {
		if c := &r.Hooks[i]; c.Event == p.event {
			known[c.of] = true
			c.Known = p.known(c.of)
		}
	}
	for _, s := range p.suspects {
		if !known[s.pair] { // what it uses is not as it was
			c, _ := s.pair.change(p.event, false, nil)
			c.Change, c.Known = Changed, p.known(s.pair)
			r.Hooks = append(r.Hooks, c)
		}
	}
	for i := range r.Settings {
		c := &r.Settings[i]
		if c.Event != p.event {
			continue
		}
		c.Known = Known{Verdict: Unchanged, Loosens: Unchanged}
		if c.Key == "strategy" || c.Key == "chain_timeout" && !p.sameDeadline() {
			c.Known = p.leftKnown()
			c.Tried = []string{p.triedInAll()}
		}
	}
}

// leftKnown is what is known of what no single hook explains.
func (p *prover) leftKnown() Known {
	k := Known{Verdict: Unproved, Loosens: Unproved}
	if p.leftOver {
		k.Verdict = Differs
	}
	if p.leftLoose {
		k.Loosens = Differs
	}
	return k
}

func (p *prover) triedInAll() string {
	return fmt.Sprintf("%s made for the changes", spell.Count(p.solved, "event"))
}

// known is what is known of a pair of hooks.
func (p *prover) known(of pair) Known {
	k := Known{Verdict: Unchanged, Loosens: Unchanged}
	for _, w := range p.swapped {
		if *w[0] != of && *w[1] != of {
			continue
		}
		if k = p.leftKnown(); p.tame {
			k.Loosens = Unchanged
		}
		other := w[0]
		if *other == of {
			other = w[1]
		}
		if k.Verdict == Unproved {
			k.Tried = append(k.Tried, "its place beside "+other.new.Hook.Name+" is another, and both may speak of one event", p.triedInAll())
		}
	}
	for _, s := range p.suspects {
		if s.pair != of {
			continue
		}
		switch {
		case s.differs:
			k.Verdict = Differs
		case k.Verdict == Unchanged:
			k.Verdict = Unproved
		}
		switch {
		case s.loosens:
			k.Loosens = Differs
		case k.Loosens == Unchanged && !p.cannotLoosen(s):
			k.Loosens = Unproved
		}
		if k.Verdict == Unproved || k.Loosens == Unproved {
			k.Tried = append(k.Tried, s.why, fmt.Sprintf("%s made for it, of %d", spell.Count(s.searched, "event"), p.solved))
			if s.opaqueBody() {
				k.Tried = append(k.Tried, "it is no rule, and was not run")
			}
		}
	}
	return k
}

// opaqueBody reports whether a side is a process or a model.
func (s *suspect) opaqueBody() bool {
	return s.a != nil && !s.a.Hook.Kind.InProcess() || s.b != nil && !s.b.Hook.Kind.InProcess()
}

// rest says what is known of what is no lifecycle point's, and of what is not there
// on either side.
func (r *Report) rest() {
	for i := range r.Hooks {
		if c := &r.Hooks[i]; c.Verdict == "" { // neither policy has a plan for it
			c.Known = Known{Verdict: Unchanged, Loosens: Unchanged}
		}
	}
	for i := range r.Settings {
		if c := &r.Settings[i]; c.Verdict == "" {
			c.Known = Known{Verdict: Unchanged, Loosens: Unchanged}
		}
	}
	if !r.Same && len(r.Hooks)+len(r.Settings)+len(r.Files) == 0 {
		r.Unproved = append(r.Unproved, "the programs are not the same, and no hook, setting or file says why")
	}
}

// Proved reports whether no decision can differ.
func (r *Report) Proved() bool { return len(r.Decisions) == 0 && len(r.Unknown(false)) == 0 }

// Unknown lists what may change a decision, or hold less back, as far as is known;
// a line each.
func (r *Report) Unknown(loosens bool) []string {
	out := lists.Copy(r.Unproved)
	add := func(what string, k *Known) {
		if v := k.Verdict; loosens && k.Loosens == Unproved || !loosens && v == Unproved {
			out = append(out, what+": "+strings.Join(k.Tried, "; "))
		}
	}
	for i := range r.Hooks {
		add(string(r.Hooks[i].Event)+" "+r.Hooks[i].Hook, &r.Hooks[i].Known)
	}
	for i := range r.Settings {
		add(strings.TrimSpace(string(r.Settings[i].Event)+" "+r.Settings[i].Key), &r.Settings[i].Known)
	}
	return out
}
