package native

import (
	"errors"
	"strconv"
	"sync/atomic"
)

// ErrBail says that the evaluation is for topdown to do: it would fail, or
// could come out otherwise, or the time is up.
var ErrBail = errors.New("native: topdown decides")

// bailout is what a panic carries from deep inside to Eval.
type bailout struct{}

func (bailout) Error() string { return ErrBail.Error() }
func (bailout) Unwrap() error { return ErrBail }

// Builtin is a function of Rego. args are the caller's: what is kept is
// copied, though values themselves are never changed. ok false is an undefined
// result; any error bails.
type Builtin func(c *Call, args []Value) (v Value, ok bool, err error)

// Functions gives the builtins that native has not itself; nil for a name says
// that it is not to be had, and the program cannot be linked. They look at how
// many arguments there are: a forged program gives any number.
type Functions func(name string) Builtin

// Input is the event by the slots of Program.Paths. A slot that is absent, or
// below something that is no object, is not ok. Slot is asked at most once for
// each slot and evaluation.
type Input interface {
	Slot(i int) (v Value, ok bool)
}

// Stop is asked every few hundred steps; true bails.
type Stop func() bool

// Code is a linked program. It is immutable and safe for concurrent use.
type Code struct {
	program *Program
	funcs   []*function
	paths   functions
	data    Value
	whole   int32 // the slot of the nil path
	// respelled says that a constant, or something in data, holds a number that is.
	respelled bool
	// index finds blocks, nil until it is made; evaluated counts what was
	// evaluated without it.
	index     atomic.Pointer[codeIndex]
	evaluated atomic.Int32
}

// function is a linked Func.
type function struct {
	*Func
	id     int32
	blocks []exec
	// grows says that Return is a set or an object to which blocks add; private,
	// that it is a set, of which they do nothing else.
	grows, private bool
}

// functions finds functions by their Paths, each name of which stands behind
// its length.
type functions map[string]int32

//go:noinline
func appendName(key []byte, name string) []byte {
	return append(append(strconv.AppendInt(key, int64(len(name)), 10), ':'), name...)
}

// add reports whether nothing else is at the path.
func (fs functions) add(path []string, fn int32) bool {
	var room [128]byte
	key := room[:0]
	for _, name := range path {
		key = appendName(key, name)
	}
	if _, taken := fs[string(key)]; taken {
		return false
	}
	fs[string(key)] = fn
	return true
}

// at is the function of a key, -1 if there is none.
func (fs functions) at(key []byte) int32 {
	if fn, ok := fs[string(key)]; ok {
		return fn
	}
	return -1
}

// Func finds a function by its Path, -1 if there is none.
func (c *Code) Func(path ...string) int {
	var room [128]byte
	key := room[:0]
	for _, name := range path {
		key = appendName(key, name)
	}
	return int(c.paths.at(key))
}

// Program is what was linked.
func (c *Code) Program() *Program { return c.program }

// Eval evaluates a function of input and data. An undefined result is not
// defined; err is ErrBail or nil. The value may share memory with input and
// constants, and nobody changes it.
func (c *Code) Eval(m *Machine, fn int, in Input) (v Value, defined bool, err error) {
	m.begin(c, in)
	defer m.finish(&err)
	v = c.funcs[fn].evaluate(m, c.data)
	if isUndef(v) {
		return nil, false, nil
	}
	return v, true, nil
}

// finish ends an evaluation, of which err is the result when it bailed.
func (m *Machine) finish(err *error) {
	r := recover()
	m.end()
	if r == nil {
		return
	}
	m.marks = marks{}
	if _, ok := r.(bailout); !ok {
		panic(r)
	}
	*err = ErrBail
}

// evaluate runs a function on the event's input.
func (fn *function) evaluate(m *Machine, data Value) Value {
	f := m.enter(fn)
	f.l[InputLocal], f.l[DataLocal] = theInput, data
	switch fn.run(f) {
	case returned:
		return f.result
	case bailed:
		panic(bailout{})
	}
	return undef
}

// Rules evaluates a function and yields each value with the block of
// Func.Blocks that gave it: the elements of a set, the pairs of an object as
// arrays of two, or the one value. A value that several give is the first's.
// It ends early when yield returns false; what was yielded before an error
// does not count.
func (c *Code) Rules(m *Machine, fn int, in Input, yield func(block int, v Value) bool) (err error) {
	m.begin(c, in)
	defer m.finish(&err)
	f := m.enter(c.funcs[fn])
	f.l[InputLocal], f.l[DataLocal] = theInput, c.data
	t := teller{fn: c.funcs[fn], yield: yield}
	if t.fn.private {
		f.spare, f.own = &m.spare, t.fn.Return
	}
	if m.index != nil {
		if indexed, err := t.found(f); indexed {
			return err
		}
	}
	for i := range t.fn.blocks {
		if on, err := t.block(i, f); err != nil || !on {
			return err
		}
	}
	return nil
}

// teller tells what a block added to a function's result.
type teller struct {
	fn        *function
	yield     func(block int, v Value) bool
	delivered int
}

// block runs a block and tells whether to go on.
func (t *teller) block(i int, f *frame) (bool, error) {
	s := t.fn.blocks[i](f)
	f.m.trace(i, s)
	if s == bailed {
		return false, ErrBail
	}
	return t.tell(i, f.l[t.fn.Return]) && s != returned, nil
}

func (t *teller) tell(block int, v Value) bool {
	if isUndef(v) {
		return true
	}
	if !t.fn.grows {
		t.delivered++
		return t.delivered > 1 || t.yield(block, v)
	}
	switch x := v.(type) {
	case *Set:
		for ; t.delivered < len(x.elems); t.delivered++ {
			if !t.yield(block, x.elems[t.delivered]) {
				return false
			}
		}
	case *Object:
		for ; t.delivered < len(x.pairs); t.delivered++ {
			p := x.pairs[t.delivered]
			if !t.yield(block, []Value{p.key, p.value}) {
				return false
			}
		}
	}
	return true
}
