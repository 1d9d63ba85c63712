package native

import (
	"slices"
	"strings"
)

// Member is a Code and those of its functions that are asked: entry points,
// which take input and data alone.
type Member struct {
	Code    *Code
	Entries []int
}

// Fused is many Codes evaluated on one event with one index over the rules of
// all of their entry points: what an event costs is what it makes true, not
// how many there are. Each has its own answers, and a member that bails bails
// alone. It is immutable and safe for concurrent use.
type Fused struct {
	members []fusedMember
	entries []fusedEntry // by member, then as asked
	// owner is the entry of each item of the index, place the block; whole
	// for an entry that is evaluated whatever the event is.
	owner, place []int32
	paths        [][]string
	index        *index
}

type fusedMember struct {
	code *Code
	// first is the member's first entry, slots are its slots among paths.
	first int32
	slots []int32
}

type fusedEntry struct {
	member, number int32
	fn             *function
	// frame are the blocks that run whichever rules are found.
	frame []int32
	quiet quiet
}

// quiet is what an entry says when none of its rules is found.
type quiet struct {
	known   bool
	defined bool
	v       Value
}

const whole int32 = -1

// Answer is what one entry point of a member says: as Eval does, with Bailed
// for ErrBail.
type Answer struct {
	Member, Entry int
	Value         Value
	Defined       bool
	Bailed        bool
}

// FusedMachine is the memory of evaluations of a Fused, as a Machine is of a
// Code's. The zero value is ready; it serves one goroutine at a time.
type FusedMachine struct {
	// Machine evaluates the members, one after the other. Its Stop and Context
	// are the caller's.
	Machine Machine
	// Yield, when not nil, is told each value of an answer with the block that
	// gave it, as Code.Rules tells them. What a bailed answer gave before does
	// not count.
	Yield func(member, entry, block int, v Value)

	fused   *Fused
	in      Input
	slots   []slot
	touched []int32
	epoch   uint64
	marks   marks
	found   []int32
	answers []Answer
	input   memberInput
	// teller tells Yield of the entry point that is evaluated.
	teller teller
	entry  *fusedEntry
	// whole are the blocks of an entry point of which all are evaluated.
	whole []int32
}

// memberInput is the event as one member's program numbers its slots.
type memberInput struct {
	m      *FusedMachine
	member *fusedMember
}

func (in *memberInput) Slot(i int) (Value, bool) { return in.m.subject(subject(in.member.slots[i])) }

// subject is a slot of the event, which is asked for once.
func (m *FusedMachine) subject(on subject) (Value, bool) {
	s := &m.slots[on]
	if s.epoch != m.epoch {
		s.v, s.ok = m.in.Slot(int(on))
		s.epoch = m.epoch
		m.touched = append(m.touched, int32(on))
	}
	return s.v, s.ok
}

// NewFused makes one index over members. It does not change them: a member of
// many rules that call helpers of many rules is Indexed as well.
func NewFused(members []Member) *Fused {
	f := &Fused{}
	slots := map[string]int32{}
	var leads []lead
	d := &derivation{}
	for i, m := range members {
		own := fusedMember{code: m.Code, first: int32(len(f.entries))}
		for _, path := range m.Code.program.Paths {
			own.slots = append(own.slots, f.slot(slots, path))
		}
		f.members = append(f.members, own)
		shared := newReading(d, own.slots)
		for j, fn := range m.Entries {
			e := fusedEntry{member: int32(i), number: int32(j), fn: m.Code.funcs[fn]}
			leads = f.enter(e, leadsOf(m.Code, e.fn, shared), leads)
		}
	}
	f.index = newIndex(leads, d)
	return f
}

// slot is the number that a path has for all members.
func (f *Fused) slot(known map[string]int32, path []string) int32 {
	var name strings.Builder
	if path == nil {
		name.WriteByte(1)
	}
	for _, key := range path {
		name.WriteByte(0)
		name.WriteString(strings.ReplaceAll(key, "\x00", "\x00\x00"))
		name.WriteString("\x00.")
	}
	i, ok := known[name.String()]
	if !ok {
		i = int32(len(f.paths))
		known[name.String()] = i
		f.paths = append(f.paths, path)
	}
	return i
}

// enter adds an entry point: an item for each rule that has a condition when
// nothing is to be done without them, else one for all of it.
func (f *Fused) enter(e fusedEntry, own, leads []lead) []lead {
	entry := int32(len(f.entries))
	for i := range own {
		if len(own[i].keys) == 0 {
			e.frame = append(e.frame, int32(i))
		}
	}
	if e.quiet = e.fn.quiet(f.members[e.member].code, e.frame); !e.quiet.known {
		e.frame = nil
		f.entries = append(f.entries, e)
		f.owner, f.place = append(f.owner, entry), append(f.place, whole)
		return append(leads, lead{})
	}
	f.entries = append(f.entries, e)
	for i := range own {
		if len(own[i].keys) > 0 {
			f.owner, f.place = append(f.owner, entry), append(f.place, int32(i))
			leads = append(leads, own[i])
		}
	}
	return leads
}

// quiet evaluates the blocks that run whichever rules are found, when they
// read nothing of the event, call nothing and come to an end.
func (fn *function) quiet(c *Code, frame []int32) (q quiet) {
	for _, i := range frame {
		if !still(&fn.Blocks[i]) {
			return quiet{}
		}
	}
	var m Machine
	var err error
	v := undef
	func() {
		m.begin(c, nothing{})
		defer m.finish(&err)
		v = fn.these(&m, c.data, frame, nil, nil)
	}()
	if err != nil {
		return quiet{}
	}
	if isUndef(v) {
		return quiet{known: true}
	}
	freeze(v)
	return quiet{true, true, v}
}

// nothing is an event without slots.
type nothing struct{}

func (nothing) Slot(int) (Value, bool) { return nil, false }

// still reports whether a block reads and calls nothing but its own locals.
func still(b *Block) bool {
	for i := range b.Stmts {
		s := &b.Stmts[i]
		switch s.Op {
		case OpNop, OpReturn, OpAssign, OpAssignOnce, OpReset, OpMakeArray, OpMakeObject, OpMakeSet,
			OpIsDefined, OpIsUndefined:
		default:
			return false
		}
		fromEvent := false
		reads(s, func(n int32) { fromEvent = fromEvent || n <= int32(DataLocal) })
		if fromEvent {
			return false
		}
	}
	return true
}

// these runs blocks of a function, those of two ascending lists in order, and
// tells of each unless t is nil.
func (fn *function) these(m *Machine, data Value, a, b []int32, t *teller) Value {
	f := m.enter(fn)
	f.l[InputLocal], f.l[DataLocal] = theInput, data
	for len(a) > 0 || len(b) > 0 {
		list := &a
		if len(a) == 0 || len(b) > 0 && b[0] < a[0] {
			list = &b
		}
		i := (*list)[0]
		*list = (*list)[1:]
		s := fn.blocks[i](f)
		m.trace(int(i), s)
		if s == bailed {
			panic(bailout{})
		}
		if t != nil {
			t.tell(int(i), f.l[fn.Return])
		}
		if s == returned {
			return f.result
		}
	}
	return undef
}

// Paths are the slots of the Input that Eval takes: those of all members, each
// once.
func (f *Fused) Paths() [][]string { return f.paths }

// Quiet is what an entry point says when Eval has no answer of it.
func (f *Fused) Quiet(member, entry int) (v Value, defined bool) {
	q := &f.entries[int(f.members[member].first)+entry].quiet
	return q.v, q.defined
}

// Eval evaluates the chosen members, which are ascending; nil is all. There is
// an answer, in the order of members and entries, of every entry point that
// may say something else than Quiet. When one bails the member's others are
// the caller's to look at. Answers are the Machine's until its next Eval.
func (f *Fused) Eval(m *FusedMachine, in Input, chosen []int) []Answer {
	m.begin(f, in)
	defer m.end()
	m.found = f.index.find(m, &m.marks, m.found[:0])
	for _, i := range m.found {
		m.Machine.Path = advance(m.Machine.Path, uint64(i)+1)
	}
	for rest := m.found; len(rest) > 0; {
		member := f.entries[f.owner[rest[0]]].member
		n := 1
		for n < len(rest) && f.entries[f.owner[rest[n]]].member == member {
			n++
		}
		if among(chosen, int(member)) {
			f.member(m, member, rest[:n])
		}
		rest = rest[n:]
	}
	return m.answers
}

func among(chosen []int, member int) bool {
	if chosen == nil {
		return true
	}
	_, ok := slices.BinarySearch(chosen, member)
	return ok
}

// member evaluates those entry points of a member that items belong to.
func (f *Fused) member(m *FusedMachine, member int32, items []int32) {
	own := &f.members[member]
	m.input.member = own
	var err error
	at := -1
	defer func() {
		if err != nil {
			m.answers[at] = Answer{Member: int(member), Entry: m.answers[at].Entry, Bailed: true}
		}
	}()
	m.Machine.begin(own.code, &m.input)
	defer m.Machine.finish(&err)
	for len(items) > 0 {
		e := &f.entries[f.owner[items[0]]]
		n := 0
		for n < len(items) && f.entries[f.owner[items[n]]].number == e.number {
			items[n] = f.place[items[n]]
			n++
		}
		at = len(m.answers)
		m.answers = append(m.answers, Answer{Member: int(member), Entry: int(e.number)})
		if v := m.one(e, own.code.data, items[:n]); !isUndef(v) {
			m.answers[at].Value, m.answers[at].Defined = v, true
		}
		m.Machine.leave(e.fn)
		items = items[n:]
	}
}

// tell is the teller's yield.
func (m *FusedMachine) tell(block int, v Value) bool {
	m.Yield(int(m.entry.member), int(m.entry.number), block, v)
	return true
}

// one evaluates one entry point: the blocks found, or all.
func (m *FusedMachine) one(e *fusedEntry, data Value, found []int32) Value {
	frame := e.frame
	var t *teller
	if m.Yield != nil {
		t, m.entry = &m.teller, e
		t.fn, t.delivered = e.fn, 0
		if t.yield == nil {
			t.yield = m.tell
		}
	}
	switch {
	case found[0] != whole:
	case t == nil:
		return e.fn.evaluate(&m.Machine, data)
	default:
		m.whole = m.whole[:0]
		for i := range e.fn.blocks {
			m.whole = append(m.whole, int32(i))
		}
		found = m.whole
	}
	return e.fn.these(&m.Machine, data, frame, found, t)
}

func (m *FusedMachine) begin(f *Fused, in Input) {
	if m.fused != f {
		m.fused = f
		m.slots = sized(m.slots, len(f.paths))
	}
	m.in = in
	m.epoch++
	m.input.m = m
	clear(m.answers)
	m.answers = m.answers[:0]
}

// end forgets the event; answers stay.
func (m *FusedMachine) end() {
	m.in = nil
	for _, i := range m.touched {
		m.slots[i].v = nil
	}
	m.touched = m.touched[:0]
	m.teller.fn, m.entry = nil, nil
}
