package solve

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
)

// Bounds of one search.
const (
	mostLeaves = 2000
	mostTries  = 60
	// triesOf is how many events one way through a formula gives.
	triesOf = 6
)

// Answer is what a search came to: an event that was accepted; or a proof that
// there is none; or neither, and then what stopped it.
type Answer struct {
	Event map[string]any
	// Proof is why no event fulfils the formula, nil where one may.
	Proof *Proof
	// Unknown says what was left out or gave up.
	Unknown []string
	// Tried is how many events were made.
	Tried int
}

// Proof is the contradiction that every way through a formula comes to: of each
// way the tests and facts that cannot hold together.
type Proof struct {
	Ways []Contradiction
	// Unusual is true where there are such events, but not as agents send them.
	Unusual bool
}

// Contradiction is tests of one term, and what is known of it.
type Contradiction struct {
	Term  *Term
	Atoms []*Atom
	Holds []bool
	Facts []string
}

// search is one search.
type search struct {
	w      *World
	accept func(map[string]any) bool
	usual  bool
	// turn is how often the search began again, with the choices in another order.
	turn   int
	order  *rand.Rand
	tried  int
	leaves int
	gaveUp bool
	ways   []Contradiction
	answer Answer
}

// literal is a test that is to hold, or not.
type literal struct {
	f     *Formula
	holds bool
}

// Search looks for an event that fulfils a formula and that accept takes.
func (w *World) Search(f *Formula, accept func(map[string]any) bool) Answer {
	s := w.search(f, accept, !w.Open)
	if s.answer.Event != nil {
		return s.answer
	}
	if s.usual {
		usual := s
		s = w.search(f, accept, false)
		if usual.leaves == 0 && !usual.gaveUp && (s.leaves > 0 || s.gaveUp) {
			s.answer.Proof = &Proof{Ways: usual.contradictions(), Unusual: true}
			return s.answer
		}
		if s.answer.Event != nil {
			return s.answer
		}
	}
	if s.leaves == 0 && !s.gaveUp {
		s.answer = Answer{Proof: &Proof{Ways: s.contradictions()}}
	}
	if s.gaveUp {
		s.answer.Unknown = append(s.answer.Unknown, "there are too many ways in which it may hold")
	}
	s.answer.Unknown = lists.Distinct(s.answer.Unknown)
	return s.answer
}

// mostTurns bounds how often a search that gave up begins again.
const mostTurns = 10

// search walks a formula, and again in other orders where there is too much of it.
func (w *World) search(f *Formula, accept func(map[string]any) bool, usual bool) *search {
	s := &search{w: w, accept: accept, usual: usual}
	for s.walk(newState(s), []literal{{f, true}}, nil); s.gaveUp && s.answer.Event == nil && s.turn < mostTurns && w.Most == 0; s.turn++ {
		s.order = rand.New(rand.NewPCG(uint64(s.turn), 17))
		s.tried, s.ways = 0, nil
		s.walk(newState(s), []literal{{f, true}}, nil)
	}
	return s
}

// turns are the choices of a formula in the order in which they are tried: first
// those of which all is understood, and later by chance.
func (s *search) turns(of []*Formula) []*Formula {
	out := lists.Copy(of)
	if s.order == nil {
		sort.SliceStable(out, func(i, j int) bool { return out[i].Exact() && !out[j].Exact() })
	} else {
		s.order.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	return out
}

// mostShrunk bounds the contradictions that a proof shows.
const mostShrunk = 12

// contradictions are those of a search, each without what it does not need.
func (s *search) contradictions() []Contradiction {
	out := s.ways[:min(len(s.ways), mostShrunk)]
	for i, w := range out {
		out[i] = w.shrunk(s, w.Term)
	}
	return out
}

// walk takes the tests of todo to a state, branches at choices, and tries events at
// the end of each way. It is true when the search is over.
func (s *search) walk(st *state, todo, choices []literal) bool {
	for len(todo) > 0 {
		l := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch f := l.f; {
		case f.op == isNot:
			todo = append(todo, literal{f.parts[0], !l.holds})
		case f.op == isUnknown:
			st.notes = append(st.notes, f.why)
			if l.holds {
				st.hints = append(st.hints, f.parts...)
			}
		case f.op == isSome && l.holds:
			todo = append(todo, literal{f.parts[0], true})
		case f.op == isSome:
			st.notes = append(st.notes, "that something holds for no element")
		case f.op == isAtom:
			if !st.test(f.atom, l.holds) {
				return false
			}
		case (f.op == isAnd) == l.holds:
			for _, p := range slices.Backward(f.parts) {
				todo = append(todo, literal{p, l.holds})
			}
		default:
			choices = append(choices, l)
		}
	}
	if len(choices) == 0 {
		return s.leaf(st)
	}
	sort.SliceStable(choices, func(i, j int) bool { return len(choices[i].f.parts) < len(choices[j].f.parts) })
	first, rest := choices[0], choices[1:]
	for _, p := range s.turns(first.f.parts) {
		if s.walk(st.clone(), []literal{{p, first.holds}}, lists.Copy(rest)) {
			return true
		}
		if len(s.ways)+s.tried > lists.First(s.w.Most, mostLeaves) {
			s.gaveUp = true
			return true
		}
	}
	return false
}

// leaf tries events of a state in which all tests are.
func (s *search) leaf(st *state) bool {
	if !st.propagate(false) {
		return false
	}
	s.leaves++
	s.answer.Unknown = append(s.answer.Unknown, st.notes...)
	st.hint()
	st.propagate(true)
	st.settle()
	for i := range triesOf {
		e := st.event(i)
		if e == nil {
			continue
		}
		s.answer.Tried++
		s.tried++
		if s.accept(e) {
			s.answer.Event = e
			return true
		}
	}
	if s.tried >= mostTries {
		s.gaveUp = true
	}
	return s.tried >= mostTries
}

// state is what is known of terms on one way through a formula.
type state struct {
	s     *search
	cells map[string]*cell
	links []*Atom
	// orders are tests that one term is less than another.
	orders []*Atom
	notes  []string
	// hints are what is tried though nothing says that it holds.
	hints []*Formula
	// long are terms that are longer than automata can say.
	long map[string]int
}

// cell is what a term may be, and why. It is immutable.
type cell struct {
	t   *Term
	d   domain
	why Contradiction
}

func newState(s *search) *state {
	return &state{s: s, cells: map[string]*cell{}, long: map[string]int{}}
}

func (st *state) clone() *state {
	return &state{s: st.s, cells: maps.Clone(st.cells), links: lists.Copy(st.links), orders: lists.Copy(st.orders), notes: lists.Copy(st.notes), hints: lists.Copy(st.hints), long: maps.Clone(st.long)}
}

// cell is what is known of a term.
func (st *state) cell(t *Term) *cell {
	c := st.cells[t.id]
	if c == nil {
		c = &cell{t: t, why: Contradiction{Term: t}}
		var fact string
		if c.d, fact = st.s.base(t); fact != "" {
			c.why.Facts = []string{fact}
		}
		st.cells[t.id] = c
	}
	return c
}

// test takes a test; false is a contradiction.
func (st *state) test(a *Atom, holds bool) bool {
	why := Contradiction{Atoms: []*Atom{a}, Holds: []bool{holds}}
	d, single := st.s.tested(a, holds)
	if !single {
		if a.a.id == a.b.id {
			return a.op == isEqual && st.meet(a.a, presence(holds), why) || a.op != isEqual && !holds
		}
		if !holds {
			st.notes = append(st.notes, "a comparison of "+a.a.String()+" with "+a.b.String())
			return true
		}
		if a.op == isEqual {
			st.links = append(st.links, a)
		} else {
			st.orders = append(st.orders, a)
			st.notes = append(st.notes, "a comparison of "+a.a.String()+" with "+a.b.String())
		}
		return st.meet(a.a, ofKinds(Present), why) && st.meet(a.b, ofKinds(Present), why)
	}
	if holds && a.usual != nil && st.s.usual {
		why.Facts = []string{absolutePaths}
	}
	return st.meet(a.term(), d, why)
}

// hint takes the hints that contradict nothing.
func (st *state) hint() {
	for i := 0; i < len(st.hints); i++ {
		switch h := st.hints[i]; h.op {
		case isAtom:
			if d, single := h.atom.domain(true); single {
				st.carry(h.atom.term(), d, Contradiction{}, true)
			} else if h.atom.op == isEqual {
				st.links = append(st.links, h.atom)
			}
		case isOr:
			if len(h.parts) > 0 {
				st.hints = append(st.hints, h.parts[0])
			}
		case isAnd, isSome:
			st.hints = append(st.hints, h.parts...)
		}
	}
}

func presence(is bool) domain {
	if is {
		return ofKinds(Present)
	}
	return ofKinds(Absent)
}

// meet keeps of a term what is in a domain.
func (st *state) meet(t *Term, d domain, why Contradiction) bool {
	c := st.cell(t)
	left := st.s.whole(t, c.d.and(d))
	if !left.empty() {
		st.cells[t.id] = &cell{t, left, c.why.with(why)}
		return true
	}
	why = c.why.with(why)
	why.Term = t
	st.s.ways = append(st.s.ways, why)
	return false
}

// with is the reasons of both.
func (c Contradiction) with(o Contradiction) Contradiction {
	out := Contradiction{Term: c.Term, Atoms: slices.Clip(c.Atoms), Holds: slices.Clip(c.Holds), Facts: slices.Clip(c.Facts)}
	for i, a := range o.Atoms {
		if !lists.Among(out.Atoms, a) {
			out.Atoms, out.Holds = append(out.Atoms, a), append(out.Holds, o.Holds[i])
		}
	}
	for _, f := range o.Facts {
		if !lists.Has(out.Facts, f) {
			out.Facts = append(out.Facts, f)
		}
	}
	return out
}

// tested is what a test leaves of its term, where that is all it is about.
func (s *search) tested(a *Atom, holds bool) (d domain, single bool) {
	d, single = a.domain(holds)
	if single && holds && s.usual && a.usual != nil {
		d = d.and(ofTexts(a.usual))
	}
	return d, single
}

// What is known of the texts that agents send.
const (
	absolutePaths = "agents send absolute paths"
	noBackspace   = "agents send no backspace"
)

var withoutBackspace = lazy.Value(func() domain {
	return domain{kinds: Anything, text: expression("\b").Not()}
})

// shrunk is the contradiction without the tests and facts that it does not need, as
// far as they are all of one term.
func (c Contradiction) shrunk(s *search, t *Term) Contradiction {
	c.Term = t
	base, fact := s.base(t)
	empty := func(atoms []*Atom, holds []bool, s *search) bool {
		d := base
		for i, a := range atoms {
			e, ok := s.tested(a, holds[i])
			if !ok || a.term().id != t.id {
				return false
			}
			d = d.and(e)
		}
		return d.empty()
	}
	if !empty(c.Atoms, c.Holds, s) {
		c.Facts = lists.DeleteFunc(lists.Copy(c.Facts), func(fact string) bool { return fact == noBackspace && !c.backspace() })
		return c
	}
	for i := 0; i < len(c.Atoms) && len(c.Atoms) > 1; {
		atoms, holds := slices.Delete(lists.Copy(c.Atoms), i, i+1), slices.Delete(lists.Copy(c.Holds), i, i+1)
		if empty(atoms, holds, s) {
			c.Atoms, c.Holds = atoms, holds
			continue
		}
		i++
	}
	c.Facts = nil
	if any := (search{w: s.w}); !empty(c.Atoms, c.Holds, &any) && slices.ContainsFunc(c.Atoms, func(a *Atom) bool { return a.usual != nil }) {
		c.Facts = []string{absolutePaths}
	}
	if base = everything; !empty(c.Atoms, c.Holds, s) && fact != "" {
		c.Facts = append(c.Facts, fact)
	}
	return c
}

// backspace reports whether a test holds of no text without one.
func (c Contradiction) backspace() bool {
	for i, a := range c.Atoms {
		if d, single := a.domain(c.Holds[i]); single && d.and(withoutBackspace()).empty() {
			return true
		}
	}
	return false
}

// propagate carries what is known of what was computed to what it was computed of.
// Soft is for what only some events show, and contradicts nothing.
func (st *state) propagate(soft bool) bool {
	for range 2 {
		for _, a := range st.links {
			x, y := st.cell(a.a), st.cell(a.b)
			link := Contradiction{Atoms: []*Atom{a}, Holds: []bool{true}}
			if !st.carry(a.a, y.d, y.why.with(link), soft) || !st.carry(a.b, x.d, x.why.with(link), soft) {
				return false
			}
		}
		done := map[string]bool{}
		for {
			c := st.deepest(done)
			if c == nil {
				break
			}
			done[c.t.id] = true
			if c.d.kinds&Absent == 0 && !st.back(c, soft) {
				return false
			}
		}
		for _, a := range st.orders {
			if !st.ordered(a, soft) {
				return false
			}
		}
		if !soft && !st.tools() {
			return false
		}
	}
	return true
}

// ordered carries the bounds of two numbers of which one is less to the other. In no
// order is each of two values less than the other.
func (st *state) ordered(a *Atom, soft bool) bool {
	x, y := st.cell(a.a), st.cell(a.b)
	why := Contradiction{Atoms: []*Atom{a}, Holds: []bool{true}}
	for _, b := range st.orders {
		if a.a.id == b.b.id && a.b.id == b.a.id {
			return st.carry(a.a, domain{}, why.with(Contradiction{Atoms: []*Atom{b}, Holds: []bool{true}}), soft)
		}
	}
	if soft && x.d.kinds&y.d.kinds&Number != 0 {
		most := interval{from: math.Inf(-1), to: math.Inf(1)}
		if n := len(y.d.num); n > 0 {
			most.to, most.toOpen = y.d.num[n-1].to, true
		}
		n := pick(x.d.and(ofNumbers(most)).num, 0)
		more := y.d.and(ofNumbers(interval{from: n, fromOpen: true, to: math.Inf(1)}))
		return st.carry(a.a, ofValue(n), why, soft) && st.carry(a.b, ofValue(pick(more.num, 0)), why, soft)
	}
	if x.d.kinds != Number || y.d.kinds != Number {
		return true
	}
	below, above := interval{from: math.Inf(-1), to: math.Inf(1), toOpen: true}, interval{from: math.Inf(-1), to: math.Inf(1), fromOpen: true}
	if n := len(y.d.num); n > 0 {
		below.to = y.d.num[n-1].to
	}
	if len(x.d.num) > 0 {
		above.from = x.d.num[0].from
	}
	return st.carry(a.a, ofNumbers(below), y.why.with(why), soft) && st.carry(a.b, ofNumbers(above), x.why.with(why), soft)
}

// settle gives two terms that are to be equal one value.
func (st *state) settle() {
	for _, a := range st.links {
		both := st.cell(a.a).d.and(st.cell(a.b).d)
		if v, ok := st.value(&node{c: &cell{t: a.a, d: both}}, 1); ok && !both.empty() {
			st.carry(a.a, ofValue(v), Contradiction{}, true)
			st.carry(a.b, ofValue(v), Contradiction{}, true)
		}
	}
	documents := false
	for _, c := range slices.Collect(maps.Values(st.cells)) {
		if c.t.op == isCall && c.t.name == "json.unmarshal" {
			root := st.tree(c.t)
			root.c = c
			if v, ok := st.value(root, 1); ok {
				documents = st.carry(c.t.args[0], ofValue(textOf(v)), Contradiction{}, true) || documents
			}
		}
	}
	if len(st.links) > 0 || documents {
		st.propagate(true)
	}
}

// carry is meet; what is soft is left where it contradicts.
func (st *state) carry(t *Term, d domain, why Contradiction, soft bool) bool {
	if soft && st.cell(t).d.and(d).empty() {
		return true
	}
	return st.meet(t, d, why)
}

// deepest is the deepest term that is not done.
func (st *state) deepest(done map[string]bool) *cell {
	var out *cell
	for id, c := range st.cells {
		if !done[id] && (out == nil || c.t.deep > out.t.deep || c.t.deep == out.t.deep && id < out.t.id) {
			out = c
		}
	}
	return out
}
