package native

// lead is what a block begins with: conditions of which each must hold, and
// what may fail between them. It ends at the first statement that may fail
// otherwise, or has an effect outside of the block.
type lead struct {
	keys   []key
	guards []guard
}

// key is a condition: one of its handles finds the block, or it is undefined.
// before is how many of the lead's guards stand before or in it; equality says
// that all handles are texts that on is compared with.
type key struct {
	on       subject
	equality bool
	before   int32
	any      []handle
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
)

// guard is a test that fails when its subject is no string, or else, when it
// is no scalar: a block that comes to it is then found, whatever follows.
type guard struct {
	on   subject
	text bool
}

// leader reads the leads of one function's blocks.
type leader struct {
	*linker
	// earlier are the locals that the blocks before may have written.
	earlier bits
	// from tells which subject a local holds.
	from map[int32]subject
	lead lead
	// depth counts negations: what is in one is no condition.
	depth int
}

func newLeader(c *Code, fn *function) *leader {
	l := &linker{p: c.program, code: c, consts: c.program.Consts, fn: fn, use: newUsage(fn.Func)}
	return &leader{linker: l, earlier: newBits(fn.Locals), from: map[int32]subject{}}
}

// read is the lead of the next block.
func (r *leader) read(b *Block) lead {
	r.use.enter(b)
	r.lead = lead{}
	clear(r.from)
	for p := int32(2); p < r.fn.Params; p++ {
		r.from[p] = ^subject(p)
	}
	r.statements(b.Stmts)
	writes(b, r.earlier)
	return r.lead
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
		if n == 0 {
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
	case OpNop, OpIsDefined, OpIsUndefined:
		return 1
	case OpInput:
		return r.set(s.Target, subject(s.Index), true)
	case OpAssign:
		on, known := r.from[s.A.N]
		return r.set(s.Target, on, known && !s.A.Const)
	case OpReset:
		if s.Target > DataLocal && !r.earlier.has(s.Target) && int32(s.Target) >= r.fn.Params {
			// It is undefined already, so that nobody can tell.
			delete(r.from, int32(s.Target))
			return 1
		}
		return r.set(s.Target, 0, false)
	case OpMakeArray, OpMakeObject, OpMakeSet, OpLen:
		return r.set(s.Target, 0, false)
	case OpDot:
		if !s.B.Const || s.A.N <= 0 {
			return 0
		}
		if _, ok := r.consts[s.B.N].(string); !ok {
			return 0
		}
		return r.set(s.Target, 0, false)
	case OpEqual, OpNotEqual:
		return r.comparison(s)
	case OpCallBuiltin:
		return r.call(list)
	case OpNot:
		return r.negation(s)
	}
	return 0
}

// set notes that a local holds a subject, or what is not known. It must be the
// block's own: nobody else sees what it holds.
func (r *leader) set(t Local, on subject, known bool) int {
	if t <= DataLocal || r.use.exposed.has(t) {
		return 0
	}
	delete(r.from, int32(t))
	if known {
		r.from[int32(t)] = on
	}
	return 1
}

func (r *leader) guard(on subject, text bool) {
	r.lead.guards = append(r.lead.guards, guard{on, text})
}

func (r *leader) key(on subject, equality bool, any []handle) {
	if r.depth == 0 {
		r.lead.keys = append(r.lead.keys, key{on, equality, int32(len(r.lead.guards)), any})
	}
}

// equality is that a subject is one of constants. Strings are compared with
// whatever it is; other values with scalars at least.
func (r *leader) equality(on subject, holds bool, values ...Value) {
	texts := true
	any := make([]handle, 0, len(values))
	for _, v := range values {
		if _, ok := v.(string); !ok && texts {
			r.guard(on, false)
			texts = false
		}
		if h, ok := handleOf(on, v); ok {
			any = append(any, h)
		}
	}
	// The test of more is left to the block, lest rules times values be
	// entered.
	if holds && len(any) <= widest {
		r.key(on, texts, any)
	}
}

// handleOf is what finds a value. One that is no scalar is found by its guard
// alone, and a number beyond float64 too.
func handleOf(on subject, v Value) (handle, bool) {
	h := handle{on: on}
	switch x := v.(type) {
	case string:
		h.kind, h.text = byText, x
	case nil:
		h.kind = byNull
	case bool:
		h.kind = byFalse + handleKind(truthIndex(x))
	case []Value, map[string]Value, *Object, *Set:
		return h, false
	default:
		f, ok := numberKey(x)
		h.kind, h.bits = byNumber, f
		return h, ok
	}
	return h, true
}

func (r *leader) comparison(s *Stmt) int {
	a, b := s.A, s.B
	if a.Const {
		a, b = b, a
	}
	if a.Const || !b.Const || a.N <= int32(DataLocal) {
		return 0
	}
	want := r.consts[b.N]
	on, known := r.from[a.N]
	if known {
		r.equality(on, s.Op == OpEqual, want)
		return 1
	}
	if _, ok := want.(string); ok {
		return 1
	}
	return 0
}

// call reads a builtin that tests a subject.
func (r *leader) call(list []Stmt) int {
	s := &list[0]
	if len(list) < 2 || !r.decides(s, &list[1]) {
		return 0
	}
	for _, o := range s.Args {
		on, known := r.from[o.N]
		if o.Const || !known {
			continue
		}
		args, at := r.around(s.Args, Local(o.N))
		if at >= 0 && len(args) == 2 && r.test(r.p.Builtins[s.Index], args, at, on) {
			return 2
		}
		return 0
	}
	return 0
}

// test reads the test of one subject against a constant; they are as their
// testers have them.
func (r *leader) test(name string, args []Value, at int, on subject) bool {
	known := args[1-at]
	switch name {
	case "contains", "startswith", "endswith":
		return r.text(name, known, at, on)
	case "regex.match":
		return at == 1 && r.pattern(known, on)
	case "internal.member_2":
		if at == 1 {
			r.guard(on, false)
			return true
		}
		if on < 0 {
			r.guard(on, false) // A parameter may be undefined.
		}
		r.equality(on, true, membersOf(known)...)
		return true
	case "equal":
		r.guard(on, false)
		r.equality(on, true, known)
		return true
	case "neq", "lt", "lte", "gt", "gte":
		r.guard(on, false)
		return true
	}
	return false
}

func (r *leader) text(name string, known Value, at int, on subject) bool {
	text, ok := known.(string)
	if !ok {
		return false
	}
	r.guard(on, true)
	if at != 0 || text == "" {
		return true
	}
	h := handle{on: on, kind: byContaining, text: text}
	switch name {
	case "startswith":
		h.kind = byStarting
	case "endswith":
		h.kind = byEnding
	}
	r.key(on, false, []handle{h})
	return true
}

func (r *leader) pattern(known Value, on subject) bool {
	text, ok := known.(string)
	if !ok || matches([]Value{known, undef}, 1) == nil {
		return false
	}
	r.guard(on, true)
	need := neededBy(text)
	if len(need.texts) == 0 {
		return true
	}
	kind := byContaining
	if need.fold {
		kind = byFolded
	}
	any := make([]handle, len(need.texts))
	for i, part := range need.texts {
		any[i] = handle{on: on, kind: kind, text: part}
	}
	r.key(on, false, any)
	return true
}

// membersOf are what is in a constant.
func membersOf(v Value) []Value {
	var out []Value
	Each(v, func(_, e Value) bool {
		out = append(out, e)
		return true
	})
	return out
}

// negation reads a block that is no condition itself but lets those behind it
// be some, when nothing in it may fail.
func (r *leader) negation(s *Stmt) int {
	from := r.from
	r.from = map[int32]subject{}
	for local, on := range from {
		r.from[local] = on
	}
	r.depth++
	read := r.statements(s.Blocks[0].Stmts)
	r.depth--
	r.from = from
	written := newBits(r.fn.Locals)
	writes(&s.Blocks[0], written)
	for local := range from {
		if written.has(Local(local)) {
			delete(from, local)
		}
	}
	if !read {
		return 0
	}
	return 1
}
