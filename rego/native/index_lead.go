package native

// lead is what a block begins with: conditions of which each must hold, and
// what may fail between them. It ends at the first statement that may fail
// otherwise, or has an effect outside of the block.
type lead struct {
	keys   []key
	guards []guard
	// length is how many places keys and guards have.
	length int32
}

// key is a condition: one of its handles finds the block, or it is undefined.
// before is how many of the lead's guards stand before or in it, place is where
// it stands itself. equality says that all handles are texts that on is compared
// with, weak that the block is found wherever a field is present.
type key struct {
	on             subject
	equality, weak bool
	before, place  int32
	any            []handle
}

// handle is one value or literal that blocks are found by.
type handle struct {
	on   subject
	kind handleKind
	text string
	bits float64
}

type handleKind uint8

const (
	byContaining handleKind = iota
	byFolded
	byStarting
	byEnding
	byText
	byNumber
	byNull
	byFalse
	byTrue
	byPresence
)

// guard is a test that fails on some values of its subject: a block that comes
// to it is found for those, whatever follows.
type guard struct {
	on    subject
	kind  guardKind
	place int32
}

type guardKind uint8

const (
	// guardText fails on what is no string, guardUnicode on a string with bytes
	// that are no characters too, guardScalar on what is no scalar, guardSound
	// where making the subject of another failed.
	guardText guardKind = iota
	guardUnicode
	guardScalar
	guardSound
	guardKinds = iota
)

// strong reports whether the lead has a condition on what a field holds.
func (l *lead) strong() bool {
	for i := range l.keys {
		if !l.keys[i].weak {
			return true
		}
	}
	return false
}

func (l *lead) guard(on subject, kind guardKind) {
	l.guards = append(l.guards, guard{on, kind, l.length})
	l.length++
}

func (l *lead) key(on subject, equality, weak bool, any []handle) {
	l.keys = append(l.keys, key{on, equality, weak, int32(len(l.guards)), l.length, any})
	l.length++
}

// follow adds the keys, if they are to be, and guards of what comes next.
func (l *lead) follow(next *lead, keys bool) {
	guards, from := int32(len(l.guards)), l.length
	for _, g := range next.guards {
		g.place += from
		l.guards = append(l.guards, g)
	}
	for _, k := range next.keys {
		if keys {
			k.before += guards
			k.place += from
			l.keys = append(l.keys, k)
		}
	}
	l.length += next.length
}

// held is what is known of a local: that it is one of constants, or else a
// subject, or a text that is part of one.
type held struct {
	on        subject
	part      bool
	constants []Value
}

// leader reads the leads of one function's blocks.
type leader struct {
	*linker
	*reading
	// earlier are the locals that the blocks before may have written.
	earlier bits
	from    map[int32]held
	lead    lead
	// depth counts what is no condition when it does not hold: negations, and
	// iterations that something follows.
	depth int
	// loops counts iterations.
	loops int
	// inner says that the function's locals are nobody's business: it is read
	// for the sake of one that calls it.
	inner bool
	// gives is what an inner block gives, of which all was read.
	gives gift
}

// reading is what leaders of one index share.
type reading struct {
	derivation *derivation
	// slots are the numbers that the program's slots have in the index, nil for
	// their own.
	slots []int32
	// callees are the leads of functions that take nothing but input and data,
	// readers what is known of the locals of all.
	callees map[int32][]branch
	readers map[int32]*linker
	// calls is how deep calls are followed, effort how many statements more may
	// be read for one block.
	calls, effort int
}

//go:noinline
func newReading(d *derivation, slots []int32) *reading {
	return &reading{derivation: d, slots: slots, callees: map[int32][]branch{}, readers: map[int32]*linker{}}
}

// maxEffort bounds the statements that are read for one block, with those of
// what it calls, maxCalls how deep calls are followed.
const (
	maxEffort = 1 << 11
	maxCalls  = 6
)

func newLeader(c *Code, fn *function, shared *reading) *leader {
	l := shared.readers[fn.id]
	if l == nil {
		l = &linker{p: c.program, code: c, consts: c.program.Consts, fn: fn, use: newUsage(fn.Func)}
		shared.readers[fn.id] = l
	}
	return &leader{linker: l, reading: shared, earlier: newBits(fn.Locals), from: map[int32]held{}}
}

// read is the lead of the next block.
func (r *leader) read(b *Block) lead {
	r.effort = maxEffort
	clear(r.from)
	for p := int32(2); p < r.fn.Params; p++ {
		r.from[p] = held{on: ^subject(p)}
	}
	r.begin(b)
	r.statements(b.Stmts)
	writes(b, r.earlier)
	return r.lead
}

func (r *leader) begin(b *Block) {
	r.use.enter(b)
	r.lead = lead{}
	r.gives = gift{}
}

// writes adds the locals that a block may write.
func writes(b *Block, to bits) {
	for i := range b.Stmts {
		s := &b.Stmts[i]
		if shape := &shapes[s.Op]; shape.target && s.Target > DataLocal && (shape.writes || shape.changes) {
			to.set(s.Target)
		}
		if s.Op == OpScan {
			to.set(Local(s.B.N))
		}
		for j := range s.Blocks {
			writes(&s.Blocks[j], to)
		}
	}
}

// statements reports whether all of the list was read.
func (r *leader) statements(list []Stmt) bool {
	for len(list) > 0 {
		n := r.statement(list)
		if r.effort--; n == 0 || r.effort < 0 {
			return false
		}
		list = list[n:]
	}
	return true
}

// statement reads what a list begins with and tells how many statements that
// is, 0 when the lead ends here.
func (r *leader) statement(list []Stmt) int {
	s := &list[0]
	switch s.Op {
	case OpNop, OpIsDefined, OpIsArray, OpIsObject, OpIsSet:
		return 1
	case OpIsUndefined:
		r.awaits(Local(s.A.N))
		return 1
	case OpInput:
		return r.input(s)
	case OpAssign:
		h, known := r.holds(s.A)
		return r.set(s.Target, h, known)
	case OpReset:
		r.awaits(s.Target)
		if s.Target > DataLocal && !r.earlier.has(s.Target) && int32(s.Target) >= r.fn.Params {
			// It is undefined already, so that nobody can tell.
			delete(r.from, int32(s.Target))
			return 1
		}
		return r.set(s.Target, held{}, false)
	case OpMakeArray, OpMakeObject, OpMakeSet, OpLen:
		return r.set(s.Target, held{}, false)
	case OpDot:
		return r.dot(s)
	case OpEqual, OpNotEqual:
		return r.comparison(s)
	case OpCallBuiltin:
		return r.builtin(list)
	case OpCall:
		return r.call(list)
	case OpNot:
		return r.negation(s)
	case OpScan:
		return r.scan(list)
	case OpAssignOnce:
		return r.give(s)
	}
	return 0
}

// holds is what is known of an operand.
//
//go:noinline
func (r *leader) holds(o Operand) (held, bool) {
	if o.Const {
		return held{constants: []Value{r.consts[o.N]}}, true
	}
	h, known := r.from[o.N]
	return h, known
}

// hides reports whether nobody but the block sees what a local holds.
//
//go:noinline
func (r *leader) hides(t Local) bool {
	return t > DataLocal && (r.inner || !r.use.exposed.has(t))
}

// set notes what a local holds, if that is known. It must be the block's own:
// nobody else sees what it holds.
//
//go:noinline
func (r *leader) set(t Local, h held, known bool) int {
	if !r.hides(t) {
		return 0
	}
	delete(r.from, int32(t))
	if known {
		r.from[int32(t)] = h
	}
	return 1
}

//go:noinline
func (r *leader) guard(on subject, kind guardKind) { r.lead.guard(on, kind) }

// key adds a condition that holds wherever the block comes past it.
//
//go:noinline
func (r *leader) key(on subject, equality bool, any []handle) {
	if r.depth == 0 {
		r.lead.key(on, equality, false, any)
	}
}

// input reads a slot, which is a condition that there is something. The whole
// of the input is nothing to find by.
func (r *leader) input(s *Stmt) int {
	if r.p.Paths[s.Index] == nil {
		return r.set(s.Target, held{}, false)
	}
	on := subject(s.Index)
	if r.slots != nil {
		on = subject(r.slots[s.Index])
	}
	if r.set(s.Target, held{on: on}, true) == 0 {
		return 0
	}
	if r.depth == 0 {
		r.lead.key(on, false, true, []handle{{on: on, kind: byPresence}})
	}
	return 1
}

// dot reads a part of something. What is at a key that is no text takes
// comparing, which may fail.
func (r *leader) dot(s *Stmt) int {
	if !s.A.Const && s.A.N <= int32(DataLocal) {
		return 0
	}
	h, known := r.holds(s.A)
	if !s.B.Const {
		of, parts := r.parts(h, known)
		if !parts {
			return 0
		}
		return r.set(s.Target, of, true)
	}
	key := r.consts[s.B.N]
	_, text := key.(string)
	switch {
	case known && h.constants == nil && !h.part:
		on := r.derivation.key(h.on, key)
		if !text || h.on < 0 {
			r.guard(on, guardSound)
		}
		return r.set(s.Target, held{on: on}, true)
	case text:
		return r.set(s.Target, held{}, false)
	}
	return 0
}

// parts is what the elements are of a local that holds parts of a text.
func (r *leader) parts(h held, known bool) (held, bool) {
	if !known || h.constants != nil || h.part {
		return held{}, false
	}
	of, ok := r.derivation.whole(h.on)
	return held{on: of, part: true}, ok
}
