package solve

import (
	"errors"
	"regexp/syntax"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/hookc/hookc/internal/lists"
)

// Lang is a regular set of texts, as a complete deterministic automaton over
// classes of characters. It is immutable.
type Lang struct {
	// bounds are where classes of characters begin, in order; the first is 0.
	bounds []rune
	// next is the state after a state and a class.
	next   [][]int32
	accept []bool
	// rough is true of a set that holds more than it should: its automaton would be too
	// large. Which texts are not in it is not known.
	rough bool
	// lives is what living gives, once it was asked.
	lives atomic.Pointer[[]bool]
}

// mostStates bounds an automaton. What would be larger is not known.
const mostStates = 4000

// ErrTooLarge is what an automaton of more than the most states comes to.
var ErrTooLarge = errors.New("the pattern makes an automaton that is too large")

// lastRune ends the alphabet.
const lastRune = unicode.MaxRune

//go:noinline
func anyText(is bool) *Lang {
	return &Lang{bounds: []rune{0}, next: [][]int32{{0}}, accept: []bool{is}}
}

// roughly is a set that is known to hold all texts of another one, and may hold more.
func (l *Lang) roughly() *Lang {
	return &Lang{bounds: l.bounds, next: l.next, accept: l.accept, rough: true}
}

// class is the number of the class of a character.
//
//go:noinline
func (l *Lang) class(r rune) int {
	return sort.Search(len(l.bounds), func(i int) bool { return l.bounds[i] > r }) - 1
}

// run is the state after a text.
func (l *Lang) run(state int32, text string) int32 {
	for _, r := range text {
		state = l.next[state][l.class(r)]
	}
	return state
}

// Has reports whether a text is in the set.
func (l *Lang) Has(text string) bool { return l.accept[l.run(0, text)] }

// Not is the set of all other texts.
//
//go:noinline
func (l *Lang) Not() *Lang {
	if l.rough {
		return anyText(true).roughly()
	}
	out := &Lang{bounds: l.bounds, next: l.next, accept: make([]bool, len(l.accept))}
	for i, a := range l.accept {
		out.accept[i] = !a
	}
	return out
}

// subsets makes an automaton of states that are named by texts: first is the
// first, step the one after a character, accept whether one accepts.
func subsets(bounds []rune, first string, step func(state string, r rune) string, accept func(state string) bool) (*Lang, error) {
	lists.Sort(bounds)
	l := &Lang{bounds: lists.Compact(bounds)}
	at := map[string]int32{first: 0}
	states := []string{first}
	for i := 0; i < len(states); i++ {
		if i > mostStates {
			return nil, ErrTooLarge
		}
		row := make([]int32, len(l.bounds))
		for c, r := range l.bounds {
			to := step(states[i], r)
			n, known := at[to]
			if !known {
				n = int32(len(states))
				at[to] = n
				states = append(states, to)
			}
			row[c] = n
		}
		l.next, l.accept = append(l.next, row), append(l.accept, accept(states[i]))
	}
	return l, nil
}

// product walks two automata side by side: for the texts in both, or in either. All
// pairs that come to no text in both are one state.
func product(a, b *Lang, both bool) (*Lang, error) {
	if len(a.next) == 1 && len(b.next) > 1 {
		a, b = b, a // accept is symmetric
	}
	accept := func(a, b bool) bool { return a && b || !both && (a || b) }
	if len(b.next) == 1 {
		out := &Lang{bounds: a.bounds, next: a.next, accept: make([]bool, len(a.accept)), rough: a.rough || b.rough}
		for i, is := range a.accept {
			out.accept[i] = accept(is, b.accept[0])
		}
		return out, nil
	}
	bounds := lists.Concat(a.bounds, b.bounds)
	lists.Sort(bounds)
	out := &Lang{bounds: lists.Compact(bounds), rough: a.rough || b.rough}
	type pair struct{ a, b int32 }
	at, states := numbering(len(a.next), len(b.next)), []pair{{}}
	at(0, 0, 0)
	livesA, livesB, dead := a.living(), b.living(), pair{-1, -1}
	inA, inB := make([]int, len(out.bounds)), make([]int, len(out.bounds))
	for i, r := range out.bounds {
		inA[i], inB[i] = a.class(r), b.class(r)
	}
	for i := 0; i < len(states); i++ {
		if i > mostStates {
			return nil, ErrTooLarge
		}
		s := states[i]
		row := make([]int32, len(out.bounds))
		for c := range out.bounds {
			to := pair{a.next[s.a][inA[c]], b.next[s.b][inB[c]]}
			if both && !(livesA[to.a] && livesB[to.b]) {
				if dead.a < 0 {
					dead = to
				}
				to = dead
			}
			n := at(to.a, to.b, int32(len(states)))
			if int(n) == len(states) {
				states = append(states, to)
			}
			row[c] = n
		}
		out.next, out.accept = append(out.next, row), append(out.accept, accept(a.accept[s.a], b.accept[s.b]))
	}
	return out, nil
}

// numbering gives pairs of states numbers: the one it has, or next.
func numbering(a, b int) func(x, y, next int32) int32 {
	if a*b > 1<<20 {
		of := map[[2]int32]int32{}
		return func(x, y, next int32) int32 {
			n, known := of[[2]int32{x, y}]
			if !known {
				of[[2]int32{x, y}], n = next, next
			}
			return n
		}
	}
	of := make([]int32, a*b) // one more than the number
	return func(x, y, next int32) int32 {
		n := &of[int(x)*b+int(y)]
		if *n == 0 {
			*n = next + 1
		}
		return *n - 1
	}
}

// And is the set of texts in both; when that is too large, the smaller of the
// two, which holds more.
func (l *Lang) And(m *Lang) *Lang {
	if l == m {
		return l
	}
	key := [2]*Lang{l, m}
	meets.Lock()
	out := meets.of[key]
	meets.Unlock()
	if out == nil {
		out = l.meet(m)
		meets.Lock()
		if len(meets.of) > mostKept {
			clear(meets.of)
		}
		meets.of[key] = out
		meets.Unlock()
	}
	return out
}

// meets keeps what And made: the languages of fields meet those of tools again and
// again.
var meets = struct {
	sync.Mutex
	of map[[2]*Lang]*Lang
}{of: map[[2]*Lang]*Lang{}}

func (l *Lang) meet(m *Lang) *Lang {
	out, err := product(l, m, true)
	switch {
	case err == nil:
		return out
	case len(l.next) < len(m.next):
		return l.roughly()
	}
	return m.roughly()
}

// Or is the set of texts in either.
func (l *Lang) Or(m *Lang) *Lang {
	out, err := product(l, m, false)
	if err != nil {
		return anyText(true).roughly()
	}
	return out
}

// Empty reports whether the set has no texts.
func (l *Lang) Empty() bool { return !l.living()[0] }

// Words is the set of some texts.
func Words(words ...string) *Lang {
	bounds := []rune{0}
	for _, w := range words {
		for _, r := range w {
			bounds = append(bounds, r, min(r+1, lastRune))
		}
	}
	lists.Sort(bounds)
	l := &Lang{bounds: lists.Compact(bounds)}
	// A state is what was read, while it begins a word; the second is all else.
	const begin, other = 0, 1
	state := func() int32 {
		row := make([]int32, len(l.bounds))
		for c := range row {
			row[c] = other
		}
		l.next, l.accept = append(l.next, row), append(l.accept, false)
		return int32(len(l.next) - 1)
	}
	state()
	state()
	for _, w := range words {
		at := int32(begin)
		for _, r := range w {
			to := &l.next[at][l.class(r)]
			if *to == other {
				*to = state()
			}
			at = *to
		}
		l.accept[at] = true
		if len(l.next) > mostStates {
			return anyText(true).roughly()
		}
	}
	return l
}

// After is the texts of which the rest behind a prefix, before a suffix, is in
// the set: left and right quotients.
func (l *Lang) After(prefix, suffix string) *Lang {
	out := &Lang{bounds: l.bounds, accept: make([]bool, len(l.next)), next: l.next, rough: l.rough}
	for i := range l.next {
		out.accept[i] = l.accept[l.run(int32(i), suffix)]
	}
	return out.from(l.run(0, prefix))
}

// from makes a state the first.
func (l *Lang) from(state int32) *Lang {
	if state == 0 {
		return l
	}
	swap := func(n int32) int32 {
		switch n {
		case 0:
			return state
		case state:
			return 0
		}
		return n
	}
	out := &Lang{bounds: l.bounds, next: make([][]int32, len(l.next)), accept: make([]bool, len(l.next)), rough: l.rough}
	for i, row := range l.next {
		to := make([]int32, len(row))
		for c, n := range row {
			to[c] = swap(n)
		}
		out.next[swap(int32(i))], out.accept[swap(int32(i))] = to, l.accept[i]
	}
	return out
}

// Then is the set of texts of l followed by one of m; all texts when that is too
// large.
func (l *Lang) Then(m *Lang) *Lang {
	enter := func(s string, state int32) string {
		if !l.accept[state] {
			return s
		}
		return addState(s, 0)
	}
	// A state is that of l and a set of states of m.
	out, err := subsets(lists.Concat(l.bounds, m.bounds), enter(string(rune(1)), 0), func(s string, r rune) string {
		runes := []rune(s)
		at := l.next[runes[0]-1][l.class(r)]
		out := string(at + 1)
		for _, n := range runes[1:] {
			out = addState(out, m.next[n-1][m.class(r)])
		}
		return enter(out, at)
	}, func(s string) bool {
		return slices.ContainsFunc([]rune(s)[1:], func(n rune) bool { return m.accept[n-1] })
	})
	if err != nil {
		return anyText(true).roughly()
	}
	out.rough = l.rough || m.rough
	return out
}

// addState puts a state into the sorted set behind the first character.
func addState(s string, state int32) string {
	runes := []rune(s)
	i, there := slices.BinarySearch(runes[1:], state+1)
	if there {
		return s
	}
	return string(lists.Insert(runes, i+1, state+1))
}

// Before is the set of texts that change, character by character, into one of the
// set: those that lower or upper takes there.
func (l *Lang) Before(change func(rune) rune) *Lang {
	bounds := lists.Copy(l.bounds)
	for _, rng := range unicode.CaseRanges {
		for r := rune(rng.Lo); r <= rune(rng.Hi); r++ {
			if to := change(r); to != r && l.class(to) != l.class(r) {
				bounds = append(bounds, r, r+1)
			}
		}
	}
	lists.Sort(bounds)
	out := &Lang{bounds: lists.Compact(bounds), accept: l.accept, rough: l.rough}
	for _, row := range l.next {
		to := make([]int32, len(out.bounds))
		for c, r := range out.bounds {
			to[c] = row[l.class(change(r))]
		}
		out.next = append(out.next, to)
	}
	return out
}

// Examples are up to n texts of the set, the shortest first, of characters that
// can be read where there are any.
func (l *Lang) Examples(n int) []string {
	alphabet := l.readable()
	lives := l.living()
	if !lives[0] {
		return nil
	}
	type node struct {
		state int32
		text  string
	}
	var out []string
	queue := []node{{0, ""}}
	visits := make([]int, len(l.next))
	for i := 0; i < len(queue) && len(out) < n && i < 4*mostStates; i++ {
		at := queue[i]
		if l.accept[at.state] {
			out = append(out, at.text)
		}
		for _, c := range alphabet {
			to := l.next[at.state][l.class(c)]
			if !lives[to] || visits[to] >= n {
				continue
			}
			visits[to]++
			queue = append(queue, node{to, at.text + string(c)})
		}
	}
	return out
}

// readable is a character of each class, those that are easily read first.
func (l *Lang) readable() []rune {
	var out, rest []rune
	for i, from := range l.bounds {
		to := rune(lastRune)
		if i+1 < len(l.bounds) {
			to = l.bounds[i+1] - 1
		}
		found := false
		for _, want := range [][2]rune{{'x', 'z'}, {'a', 'w'}, {'A', 'Z'}, {'0', '9'}, {'/', '/'}, {' ', '~'}} {
			if r := max(from, want[0]); r <= to && r <= want[1] && !found {
				out, found = append(out, r), true
			}
		}
		if !found && !(from >= 0xD800 && to <= 0xDFFF) {
			if from >= 0xD800 && from <= 0xDFFF {
				from = 0xE000
			}
			rest = append(rest, from)
		}
	}
	return append(out, rest...)
}

// living are the states from which one comes to a state that accepts.
func (l *Lang) living() []bool {
	if known := l.lives.Load(); known != nil {
		return *known
	}
	out := lists.Copy(l.accept)
	for more := true; more; {
		more = false
		for i, row := range slices.Backward(l.next) { // what follows mostly has a higher number
			if !out[i] && slices.ContainsFunc(row, func(to int32) bool { return out[to] }) {
				out[i], more = true, true
			}
		}
	}
	l.lives.Store(&out)
	return out
}

// Matching is the set of texts in which a regular expression of RE2 matches
// somewhere.
func Matching(pattern string) (*Lang, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return nil, err
	}
	if len(prog.Inst) > mostStates {
		return nil, ErrTooLarge
	}
	return searching(prog)
}

// What stood before the place that a state is at.
const (
	atBegin rune = iota + 1
	afterWord
	afterLine
	afterOther
	// found is the state in which the expression has matched.
	found
)

// searching makes the automaton of a search. A state is what stood before, and the
// instructions that are next, before what has no width is looked at.
func searching(prog *syntax.Prog) (*Lang, error) {
	bounds := []rune{0, '\n', '\n' + 1, '0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1}
	for i := range prog.Inst {
		bounds = append(bounds, edges(&prog.Inst[i])...)
	}
	width := slices.ContainsFunc(prog.Inst, func(i syntax.Inst) bool { return i.Op == syntax.InstEmptyWidth })
	if !width {
		bounds = append([]rune{0}, bounds[11:]...)
	}
	s := closer{prog: prog, seen: make([]bool, len(prog.Inst))}
	begin := string([]rune{atBegin})
	l, err := subsets(bounds, begin, func(state string, r rune) string {
		if state == string(found) {
			return state
		}
		before := []rune(state)
		matched := s.close(before, r)
		if matched {
			return string(found)
		}
		out := []rune{after(r, width)}
		for _, pc := range s.list {
			if in := &prog.Inst[pc]; consumes(in) && in.MatchRune(r) {
				if n := rune(in.Out) + 1; !lists.Among(out[1:], n) {
					out = append(out, n)
				}
			}
		}
		lists.Sort(out[1:])
		return string(out)
	}, func(state string) bool { return state == string(found) || s.close([]rune(state), -1) })
	return l, err
}

func consumes(in *syntax.Inst) bool {
	switch in.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	return false
}

func after(r rune, width bool) rune {
	switch {
	case !width:
		return afterOther
	case r == '\n':
		return afterLine
	case syntax.IsWordChar(r):
		return afterWord
	}
	return afterOther
}

// closer closes sets of instructions over what has no width.
type closer struct {
	prog *syntax.Prog
	seen []bool
	list []uint32
}

// close finds the instructions that are reached without reading, where r is next,
// -1 for the end; true when the expression has matched.
func (s *closer) close(state []rune, r rune) bool {
	clear(s.seen)
	s.list = s.list[:0]
	last := map[rune]rune{atBegin: -1, afterWord: 'a', afterLine: '\n', afterOther: ' '}[state[0]]
	flags := syntax.EmptyOpContext(last, r)
	matched := false
	var visit func(pc uint32)
	visit = func(pc uint32) {
		if s.seen[pc] {
			return
		}
		s.seen[pc] = true
		switch in := &s.prog.Inst[pc]; in.Op {
		case syntax.InstMatch:
			matched = true
		case syntax.InstAlt, syntax.InstAltMatch:
			visit(in.Out)
			visit(in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			visit(in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^flags == 0 {
				visit(in.Out)
			}
		case syntax.InstFail:
		default:
			s.list = append(s.list, pc)
		}
	}
	for _, n := range state[1:] {
		visit(uint32(n - 1))
	}
	visit(uint32(s.prog.Start)) // A match may begin anywhere.
	return matched
}

// edges are where what an instruction reads begins and ends.
func edges(in *syntax.Inst) []rune {
	switch in.Op {
	case syntax.InstRuneAnyNotNL:
		return []rune{'\n', '\n' + 1}
	case syntax.InstRune, syntax.InstRune1:
	default:
		return nil
	}
	var out []rune
	one := func(r rune) { out = append(out, r, min(r+1, lastRune)) }
	if len(in.Rune) == 1 {
		one(in.Rune[0])
		if syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
			for r := unicode.SimpleFold(in.Rune[0]); r != in.Rune[0]; r = unicode.SimpleFold(r) {
				one(r)
			}
		}
		return out
	}
	for i := 0; i+1 < len(in.Rune); i += 2 {
		out = append(out, in.Rune[i], min(in.Rune[i+1]+1, lastRune))
	}
	return out
}
