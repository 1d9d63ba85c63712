package build

import (
	"regexp/syntax"
	"sort"
	"strconv"
	"strings"

	"github.com/hookc/hookc/internal/gate/table"
	"github.com/hookc/hookc/internal/lists"
)

const (
	// maxProgram bounds the instructions of an expression, maxStates the states
	// of its automaton, maxAutomata the bytes of all: the gate reads the whole
	// table for each event.
	maxProgram  = 400
	maxStates   = 128
	maxAutomata = 48 << 10
)

// automaton is an unanchored expression of RE2 as an automaton over ASCII; nil
// when it becomes too large.
func (b *builder) automaton(text string) []byte {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil || len(prog.Inst) > maxProgram {
		return nil
	}
	s := &subsets{prog: prog, ids: map[string]int{}}
	s.id(subset{before: -1})
	for i := 0; i < len(s.all); i++ {
		if len(s.all) > maxStates {
			return nil
		}
		s.expand(i)
	}
	out := s.bytes()
	if b.automata+len(out) > maxAutomata {
		return nil
	}
	b.automata += len(out)
	return out
}

// subset is a state: the instructions that are waiting for what the next
// character shows, and the character before, as far as it counts; -1 is the
// beginning of the text.
type subset struct {
	waiting []uint32
	before  rune
}

// subsets makes the states of an expression. Since it may begin anywhere, its
// start is in each of them.
type subsets struct {
	prog *syntax.Prog
	ids  map[string]int
	all  []subset
	rows [][129]int // the last is the end of the text
}

// matched means a match, in rows.
const matched = -1

// before reduces a character to one that looks the same from behind.
func before(c rune) rune {
	switch {
	case c == '\n':
		return '\n'
	case syntax.IsWordChar(c):
		return 'a'
	}
	return ' '
}

func (s *subsets) id(state subset) int {
	var key strings.Builder
	key.WriteString(strconv.Itoa(int(state.before)))
	for _, pc := range state.waiting {
		key.WriteByte(' ')
		key.WriteString(strconv.Itoa(int(pc)))
	}
	if id, ok := s.ids[key.String()]; ok {
		return id
	}
	s.ids[key.String()] = len(s.all)
	s.all = append(s.all, state)
	s.rows = append(s.rows, [129]int{})
	return len(s.all) - 1
}

// expand finds where a state leads.
func (s *subsets) expand(i int) {
	for c := range rune(129) {
		next := c
		if c == 128 {
			next = -1
		}
		ready, match := s.close(s.all[i], next)
		switch {
		case match:
			s.rows[i][c] = matched
		case next >= 0:
			to := s.id(s.step(ready, next)) // which may move the rows
			s.rows[i][c] = to
		}
	}
}

// close follows what needs no character, between the one before and the next;
// match is true when the expression is satisfied.
func (s *subsets) close(state subset, next rune) (ready []uint32, match bool) {
	flags := syntax.EmptyOpContext(state.before, next)
	seen := make([]bool, len(s.prog.Inst))
	todo := append(lists.Copy(state.waiting), uint32(s.prog.Start))
	for len(todo) > 0 {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		switch in := &s.prog.Inst[pc]; in.Op {
		case syntax.InstMatch:
			return nil, true
		case syntax.InstAlt, syntax.InstAltMatch:
			todo = append(todo, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			todo = append(todo, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^flags == 0 {
				todo = append(todo, in.Out)
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			ready = append(ready, pc)
		}
	}
	return ready, false
}

// step reads a character.
func (s *subsets) step(ready []uint32, c rune) subset {
	out := subset{before: before(c)}
	for _, pc := range ready {
		in := &s.prog.Inst[pc]
		ok := true
		switch in.Op {
		case syntax.InstRuneAny:
		case syntax.InstRuneAnyNotNL:
			ok = c != '\n'
		default:
			ok = in.MatchRune(c)
		}
		if ok {
			out.waiting = append(out.waiting, in.Out)
		}
	}
	sort.Slice(out.waiting, func(i, j int) bool { return out.waiting[i] < out.waiting[j] })
	out.waiting = lists.Compact(out.waiting)
	return out
}

// bytes lays the automaton out, with one class for all bytes that lead the same
// way everywhere.
func (s *subsets) bytes() []byte {
	var class [128]byte
	ids := map[string]int{}
	var samples []int
	for c := range 128 {
		var key strings.Builder
		for i := range s.rows {
			key.WriteString(strconv.Itoa(s.rows[i][c]))
			key.WriteByte(' ')
		}
		id, ok := ids[key.String()]
		if !ok {
			id = len(samples)
			ids[key.String()] = id
			samples = append(samples, c)
		}
		class[c] = byte(id)
	}
	rows := make([][]byte, len(s.rows))
	for i := range s.rows {
		for _, c := range samples {
			to := s.rows[i][c]
			if to == matched {
				to = table.Accept
			}
			rows[i] = append(rows[i], byte(to))
		}
		end := byte(0)
		if s.rows[i][128] == matched {
			end = 1
		}
		rows[i] = append(rows[i], end)
	}
	return table.Automaton(len(samples), &class, rows)
}
