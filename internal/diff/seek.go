package diff

import (
	"context"
	"encoding/json"
	"maps"
	"strconv"

	"github.com/hookc/hookc/compiler/solve"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/witness"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/rollout"
)

// onlyRules is a world in which rules are run, and what is no rule answers what an event
// supposes, or nothing.
type onlyRules struct {
	executor.Timeless
	ctx     context.Context
	answers map[string]any
}

func (w *onlyRules) Call(n *dag.Node, in *policy.Context, attempt int) (policy.Result, error) {
	if n.Hook.Kind.InProcess() {
		return n.Runner.Run(w.ctx, in, attempt)
	}
	return supposed(w.ctx, w.answers, n, in, attempt)
}

// fails is the answer of a hook that fails.
const fails = "fails"

// supposed is what an event supposes that a hook answers.
func supposed(ctx context.Context, answers map[string]any, n *dag.Node, in *policy.Context, attempt int) (policy.Result, error) {
	switch a := answers[n.Hook.Name].(type) {
	case map[string]any:
		return policy.ParseHookResult(a, policy.By{Name: n.Hook.Name, At: n.Hook.Span})
	case answered:
		return n.Runner.Run(runner.WithAnswers(ctx, a.all), in, attempt)
	case string:
		return policy.Result{}, policy.Failf(policy.ErrExit, "it failed")
	}
	return policy.Result{}, nil
}

// isolate makes two plans that differ in one hook alone.
func (p *prover) isolate(s *suspect) {
	swap := func(plan *dag.Plan, from, to *dag.Node) *dag.Plan {
		out := *plan
		out.Nodes = lists.Copy(plan.Nodes)
		at := place(plan, from)
		for i := range out.Nodes {
			n := &out.Nodes[i]
			if i != at && n.RecheckOf != at {
				continue
			}
			item, recheck, slot := n.Item, n.RecheckOf, n.Slot
			if to != nil {
				*n = *to
			} else {
				n.Matcher = &policy.Matcher{Atoms: []policy.Atom{{Test: func(*policy.Context) bool { return false }}}}
			}
			n.Item, n.RecheckOf, n.Slot = item, recheck, slot
		}
		return &out
	}
	switch {
	case s.a != nil:
		s.out, s.in = p.a, swap(p.a, s.a, s.b)
	case s.b != nil:
		s.out, s.in = swap(p.b, s.b, nil), p.b
	}
}

// blame finds of a difference which hooks make it.
func (p *prover) blame(in made, how Direction) {
	blamed := false
	for _, s := range p.suspects {
		if s.in == nil {
			continue
		}
		w := &onlyRules{ctx: p.ctx, answers: in.answers}
		a, _ := executor.Serial(p.old, s.out, in.context, w)
		b, _ := executor.Serial(p.new, s.in, in.context, w)
		if p.ctx.Err() != nil || !Differ(a, b) {
			continue
		}
		blamed, s.differs = true, true
		s.loosens = s.loosens || how == Loosened && Directed(a, b) == Loosened

	}
	if !blamed {
		p.leftOver = true
		p.leftLoose = p.leftLoose || how == Loosened
	}
}

// seek tries events that are made for the changes.
func (p *prover) seek() error {
	for _, s := range p.suspects {
		p.session = sessionOf(s.a, s.b)
		for _, f := range p.formulas(s) {
			p.search(f, s, nil)
			if err := p.ctx.Err(); err != nil {
				return err
			}
		}
		p.warp(s)
	}
	p.session = ""
	for _, w := range p.swapped {
		for _, of := range [][2]*dag.Node{{nodeOf(p.a, w[0].old), nodeOf(p.a, w[1].old)}, {nodeOf(p.b, w[0].new), nodeOf(p.b, w[1].new)}} {
			x, y := of[0], of[1]
			rx, ry := rulesOrAny(x), rulesOrAny(y)
			for i := range min(len(rx)*len(ry), mostRules) {
				f := solve.And(witness.FilterOf(x), rx[i/len(ry)], witness.FilterOf(y), ry[i%len(ry)])
				p.search(f, nil, []*dag.Node{x, y})
			}
		}
	}
	return p.ctx.Err()
}

func rulesOrAny(n *dag.Node) []*solve.Formula {
	var out []*solve.Formula
	for _, r := range witness.RulesOf(n) {
		out = append(out, r.When)
	}
	if len(out) == 0 {
		out = append(out, solve.True)
	}
	return out
}

// mostRules bounds the rules of one hook that events are made for.
const mostRules = 120

// formulas are what events of a difference may fulfil, likely ones first: what one
// side says and the other does not, and what each says.
func (p *prover) formulas(s *suspect) []*solve.Formula {
	var out, alone []*solve.Formula
	side := func(n, other *dag.Node) {
		if n == nil {
			return
		}
		filter, there := witness.FilterOf(n), solve.False
		theirs := map[string]*solve.Formula{}
		keys := map[string]bool{}
		if other != nil && n.Hook.Spared == other.Hook.Spared { // else in some sessions there is no other
			there = witness.FilterOf(other)
			for _, r := range witness.RulesOf(other) {
				if theirs[r.Name] == nil {
					theirs[r.Name] = solve.False
				}
				theirs[r.Name] = solve.Or(theirs[r.Name], r.When)
				keys[r.Name+r.Form+r.Says] = r.Form != ""
			}
		}
		rules := witness.RulesOf(n)
		if len(rules) == 0 {
			rules = []solve.Rule{{When: solve.True}}
		}
		for i, r := range rules {
			if i >= mostRules {
				break
			}
			f := solve.And(filter, r.When)
			if there != solve.False {
				out = append(out, solve.And(f, solve.Not(there)))
			}
			if keys[r.Name+r.Form+r.Says] {
				continue
			}
			if g := theirs[r.Name]; g != nil {
				out = append(out, solve.And(f, solve.Not(g)))
			}
			alone = append(alone, f)
		}
	}
	side(s.a, s.b)
	side(s.b, s.a)
	return append(out, alone...)
}

// search looks for an event that shows a difference, first any, then one on which
// those hooks say nothing that had decided the first ones.
func (p *prover) search(f *solve.Formula, s *suspect, order []*dag.Node) {
	clear(p.masks)
	for range 2 {
		a := p.world.Search(f, func(doc map[string]any) bool { return p.tryAll(doc, s, order) && (s == nil || s.differs) })
		if s != nil {
			s.searched += a.Tried
		}
		if a.Event != nil || a.Proof != nil || len(p.masks) == 0 || p.ctx.Err() != nil {
			return
		}
		f = solve.And(f, p.quiet(s))
	}
}

// quiet is that the hooks say nothing that decided instead.
func (p *prover) quiet(s *suspect) *solve.Formula {
	var out []*solve.Formula
	for _, q := range p.pairs {
		if s != nil && s.old == q.old && s.new == q.new {
			continue
		}
		for _, n := range []*dag.Node{nodeOf(p.a, q.old), nodeOf(p.b, q.new)} {
			if n == nil || !p.masks[n.Hook.Name] {
				continue
			}
			for _, r := range witness.RulesOf(n) {
				out = append(out, solve.Not(solve.And(witness.FilterOf(n), r.When)))
			}
			break
		}
	}
	return solve.And(out...)
}

// answersOf are what a hook that is not run may answer: nothing, where it is not the
// same on both sides.
func answersOf(n *dag.Node) []any {
	out := []any{}
	for _, word := range []string{"deny", "ask", "allow"} {
		if power, ok := policy.ParsePower(word); ok && n.Effects.May.Has(power) {
			out = append(out, map[string]any{"decision": word, "reason": "so it answered"})
		}
	}
	if !n.Effects.Writes.Empty() {
		out = append(out, map[string]any{"modified_input": map[string]any{"command": "true"}})
	}
	return append(out, fails)
}

// tryAll tries an event, with all answers of the hooks at issue that are not run.
func (p *prover) tryAll(doc map[string]any, s *suspect, order []*dag.Node) bool {
	if p.tryOne(doc, nil) {
		return true
	}
	if s != nil {
		n := s.a
		if n == nil {
			n = s.b
		}
		if s.a != nil && s.b != nil && s.opaque() {
			return false
		}
		order = []*dag.Node{n}
	}
	for _, n := range order {
		if n.Hook.Kind.InProcess() {
			continue
		}
		for _, answer := range answersOf(n) {
			if p.tryOne(doc, map[string]any{n.Hook.Name: answer}) {
				return true
			}
		}
	}
	return false
}

// opaque reports whether what a hook that is not run answers may be another thing
// than before.
func (s *suspect) opaque() bool {
	for _, f := range describe(s.old).against(describe(s.new)) {
		if lists.Has([]string{"type", "command", "args", "prompt", "model", "protocol", "use"}, f.Key) || len(f.Key) > 4 && f.Key[:4] == "env." {
			return true
		}
	}
	return s.old.Hook.Name != s.new.Hook.Name
}

// tryOne tries an event: it reports whether both really decide otherwise.
func (p *prover) tryOne(doc map[string]any, answers map[string]any) bool {
	doc = complete(p.event, doc)
	if p.tool != "" {
		doc[policy.FieldToolName.String()] = p.tool
	}
	if p.session != "" {
		doc[policy.FieldSessionID.String()] = p.session
	}
	in, ok := eventOf(p.event, doc)
	if !ok {
		return false
	}
	in.answers = answers
	p.solved++
	before := p.differences
	if err := p.one(p.ctx, in, false); err != nil {
		return false
	}
	return p.differences > before
}

// sessionOf is a session in which the rollout of a hook is in force on one side alone,
// the first where there is one, else on both; "" where it spares none.
func sessionOf(a, b *dag.Node) string {
	spares := func(n *dag.Node) bool { return n != nil && n.Hook.Spared > 0 }
	if !spares(a) && !spares(b) {
		return ""
	}
	found := [2]string{}
	for i := range 100_000 {
		id := "s" + strconv.Itoa(i)
		in := policy.NewContext("").Set(policy.FieldSessionID, id)
		was, is := a != nil && rollout.In(a.Hook, in) == "", b != nil && rollout.In(b.Hook, in) == ""
		switch {
		case was && !is:
			return id
		case is && !was && found[0] == "":
			found[0] = id
		case is && found[1] == "":
			found[1] = id
		}
	}
	return lists.First(found[0], found[1])
}

// complete is an event with the place where it happens.
func complete(event policy.Event, doc map[string]any) map[string]any {
	out := maps.Clone(doc)
	for _, f := range []policy.Field{policy.FieldCwd, policy.FieldProjectRoot} {
		if out[f.String()] == nil && event.Spec().CanRead(f) {
			out[f.String()] = "/repo"
		}
	}
	return out
}

// warp tries values of types that nobody sends, where what a failure means changed.
func (p *prover) warp(s *suspect) {
	if s.a == nil || s.b == nil || s.a.OnError == s.b.OnError && s.a.OnTimeout == s.b.OnTimeout || !s.a.Hook.Kind.InProcess() {
		return
	}
	for _, f := range p.formulas(&suspect{a: s.a}) {
		p.world.Search(f, func(doc map[string]any) bool {
			text, err := policy.EncodeJSON(complete(p.event, doc))
			if err != nil {
				return false
			}
			paths := partsOf(text)
			for _, r := range s.a.Effects.Reads.All() {
				r = sent(r)
				paths = append(paths, append([]string{r.Field.String()}, r.Keys...))
			}
			for _, path := range paths {
				for _, v := range []any{json.Number("7"), []any{}, map[string]any{}, true, nil} {
					changed := decoded(text)
					put(changed, path, v)
					s.searched++
					if p.tryOne(changed, nil) && s.loosens {
						return true
					}
				}
			}
			return s.differs
		})
		if s.differs || p.ctx.Err() != nil {
			return
		}
	}
}
