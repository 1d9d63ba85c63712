package native

import "github.com/hookc/hookc/rego/bounds"

// Machine is the memory of evaluations: frames, slots and what was computed
// before. The zero value is ready; it serves one goroutine at a time, and any
// Code after another. Between evaluations it holds no values.
type Machine struct {
	// Stop, when not nil, is asked every few hundred steps.
	Stop Stop
	// Unclocked says that Stop counts and looks at no clock: a pattern is looked for
	// in a long text at once then, and the text is counted.
	Unclocked bool
	// Context is the caller's, for its builtins.
	Context any
	// Path is another number for each path that evaluations take through their
	// code, as far as blocks and slots tell it. Evaluations add to it.
	Path uint64
	// Budget, when not nil, is asked for memory.
	Budget Budget

	code  *Code
	in    Input
	steps int
	// failed is the builtin that ended an evaluation, failedAt where it is called.
	failed   string
	failedAt int32

	epoch   uint64
	slots   []slot
	touched []int32

	frames  []*frame
	depth   int
	deepest int
	locals  int // of all frames in use
	args    []Value
	call    Call

	// index is the code's, nil if there is none; marks, found and region are its memory:
	// blocks that are to be run. due are codes that are worth an index.
	index  *codeIndex
	marks  marks
	found  []int32
	region region
	due    []*Code

	// spare is what Rules builds a function's set in, of which it tells the
	// elements alone.
	spare Set

	// respelled says that a number may have come up that is written as few write it.
	respelled bool

	memory
	account
}

type slot struct {
	epoch uint64
	ok    bool
	v     Value
}

const (
	// stride is how many steps pass between two questions to Stop.
	stride = 256
	// maxDepth bounds calls in calls: OPA forbids recursion, a forged program
	// may try.
	maxDepth = 1000
	// maxLocals bounds the locals of all frames at once.
	maxLocals = 1 << 20
	// kept and keptArgs are what a Machine keeps between evaluations.
	kept     = 1 << 10
	keptArgs = 1 << 8
)

// undefined is what a local holds that has no value; eventInput what local 0
// holds while the input is the event's own.
type (
	undefined  struct{}
	eventInput struct{}
)

var (
	undef    Value = undefined{}
	theInput Value = eventInput{}
)

//go:noinline
func isUndef(v Value) bool {
	_, ok := v.(undefined)
	return ok
}

// Call is what a builtin sees of the evaluation that calls it.
type Call struct {
	m *Machine
	// Name is the builtin's, Place where it is called: an index into the
	// program's Places, -1 if there is none.
	Name  string
	Place int32
}

// Machine is the evaluation's.
func (c *Call) Machine() *Machine { return c.m }

// Program is what is evaluated.
func (c *Call) Program() *Program { return c.m.code.program }

// Epoch is another for each evaluation of a Machine: what a builtin keeps by
// it is the evaluation's own.
func (c *Call) Epoch() uint64 { return c.m.epoch }

// Respelled reports whether a number may have come up that is written as few
// write it, and so may equal one that is written otherwise.
func (c *Call) Respelled() bool { return c.m.respelled }

// Step counts n steps of a builtin's own loop, so that Stop is asked in it.
func (c *Call) Step(n int) {
	c.m.steps -= n
	if c.m.steps < 0 {
		c.m.tick()
	}
}

func (m *Machine) step() {
	if m.steps--; m.steps < 0 {
		m.tick()
	}
}

func (m *Machine) tick() {
	m.steps = stride
	if m.Stop != nil && m.Stop() {
		panic(bailout{})
	}
}

// begin makes the Machine ready for an evaluation of c.
func (m *Machine) begin(c *Code, in Input) {
	if m.code != c {
		m.code = c
		m.slots = sized(m.slots, len(c.program.Paths))
		m.memory.results = sized(m.memory.results, len(c.funcs))
	}
	m.epoch++
	m.generations++
	m.generation = m.generations
	m.in, m.failed, m.respelled = in, "", c.respelled
	m.steps = stride
	m.held, m.roof, m.kept, m.memos = 0, bounds.Memory, 0, 0
	m.call.m = m
	m.search(c)
}

// Cause is the builtin that made the last evaluation bail, and where it is called:
// an index into the program's Places, -1 if there is none. "" when something else did.
func (m *Machine) Cause() (name string, place int32) {
	if m.failed == "" {
		return "", -1
	}
	return m.failed, m.failedAt
}

// sized is a slice of n elements, of which those that were there keep what
// epochs and generations say is old.
func sized[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return append(s[:cap(s)], make([]T, n-cap(s))...)
}

// end forgets every value, and memory that one big evaluation took.
func (m *Machine) end() {
	m.in = nil
	for _, i := range m.touched {
		m.slots[i].v = nil
	}
	m.touched = m.touched[:0]
	m.memory.forget()
	for _, f := range m.frames[:m.deepest] {
		f.result, f.entered, f.spare = nil, false, nil
		if cap(f.l) > kept {
			f.l = nil
			continue
		}
		reset(f.l)
		f.l = f.l[:0]
	}
	m.spare.empty()
	if m.deepest > 0 && m.deepest > kept/16 {
		m.frames = nil
	}
	m.depth, m.deepest, m.locals = 0, 0, 0
	m.found = m.found[:0]
	if cap(m.args) > keptArgs {
		m.args = nil
	}
	m.args = m.args[:cap(m.args)]
	clear(m.args)
	m.args = m.args[:0]
}

// ask asks the input for a slot.
func (m *Machine) ask(s *slot, i int32) (Value, bool) {
	s.v, s.ok = m.in.Slot(int(i))
	s.epoch = m.epoch
	m.touched = append(m.touched, i)
	if _, text := s.v.(string); text && s.ok {
		m.Path = advance(m.Path, uint64(i)<<3)
		return s.v, true
	}
	m.respelled = m.respelled || s.ok && respelled(s.v)
	m.Path = advance(m.Path, uint64(i)<<3|s.sort())
	return s.v, s.ok
}

// sort is another number for each type of what a slot holds, 0 for a text and 1
// for nothing.
func (s *slot) sort() uint64 {
	if !s.ok {
		return 1
	}
	switch s.v.(type) {
	case string:
		return 0
	case int, float64, Number:
		return 2
	case bool:
		return 3
	case nil:
		return 4
	case []Value:
		return 5
	}
	return 6
}

// advance adds a step to a path.
func advance(path, step uint64) uint64 { return (path ^ step) * 0x9E3779B97F4A7C15 }

// trace adds what a block came to.
func (m *Machine) trace(block int, s status) {
	m.Path = advance(m.Path, uint64(block)<<8|uint64(uint8(s)))
}

// frame is a function's locals while it runs. All that l has room for is
// undefined when an evaluation begins.
type frame struct {
	m       *Machine
	l       []Value
	result  Value
	entered bool
	// spare, when not nil, is the set to build the result in, the local own.
	spare *Set
	own   Local
}

// blank is what locals are when a function begins.
var blank = func() (b [64]Value) {
	for i := range b {
		b[i] = undef
	}
	return b
}()

// reset makes locals undefined.
func reset(locals []Value) {
	for len(locals) > 0 {
		locals = locals[copy(locals, blank[:]):]
	}
}

// enter makes the frame of a call; its parameters are the caller's to set.
func (m *Machine) enter(fn *function) *frame {
	m.step()
	n := int(fn.Locals)
	if m.depth >= maxDepth || m.locals+n > maxLocals {
		panic(bailout{})
	}
	if m.depth == len(m.frames) {
		m.frames = append(m.frames, &frame{m: m})
	}
	f := m.frames[m.depth]
	m.depth++
	m.deepest = max(m.deepest, m.depth)
	m.locals += n
	if cap(f.l) < n {
		f.l = make([]Value, n+n/4)
		reset(f.l)
	} else if f.entered {
		reset(f.l[:n])
	}
	// What an earlier call of this depth left is forgotten when all ends: the
	// length never shrinks before.
	f.l = f.l[:max(n, len(f.l))]
	f.result, f.entered = undef, true
	return f
}

func (m *Machine) leave(fn *function) {
	m.depth--
	m.locals -= int(fn.Locals)
}

// input is the whole input, as the frame has it.
func (f *frame) input() Value {
	if _, ok := f.l[InputLocal].(eventInput); !ok {
		return f.l[InputLocal]
	}
	if v, ok := f.slot(f.m.code.whole); ok {
		return v
	}
	return undef
}

// slot is a slot of the frame's input: the event's, or below what a with
// statement put in its place.
func (f *frame) slot(i int32) (Value, bool) {
	if _, ok := f.l[InputLocal].(eventInput); ok {
		s := &f.m.slots[i]
		if s.epoch == f.m.epoch {
			return s.v, s.ok
		}
		return f.m.ask(s, i)
	}
	return f.below(i)
}

// below is a slot of an input that a with statement changed.
func (f *frame) below(i int32) (Value, bool) {
	v := f.l[InputLocal]
	for _, key := range f.m.code.program.Paths[i] {
		var ok bool
		if v, ok = member(v, key); !ok {
			return nil, false
		}
	}
	return v, !isUndef(v)
}

// member is Get of a constant key, which is not boxed.
func member(v Value, key string) (Value, bool) {
	switch x := v.(type) {
	case map[string]Value:
		e, ok := x[key]
		return e, ok
	case *Object:
		return x.Get(key)
	case *Set:
		return x.Get(key)
	}
	return nil, false
}
