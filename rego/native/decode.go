package native

import (
	"errors"
	"math"

	"github.com/hookc/hookc/internal/binary"
)

var errForged = errors.New("native: these bytes are no program of this version")

// Decode reads what Append wrote, all of it. Bytes that are anything else are
// an error; what the program would do out of bounds is Link's to refuse. The
// program keeps no reference to b.
func Decode(b []byte) (*Program, error) {
	r := newReader(b)
	if r.Byte() != version {
		return nil, errForged
	}
	p := &Program{}
	p.Consts = listOf(r, func() Value { return r.value(0) })
	p.Paths = listOf(r, r.path)
	p.Builtins = r.texts()
	p.Funcs = listOf(r, r.function)
	p.Places = listOf(r, func() Place { return Place{r.small(), r.small(), r.small()} })
	p.Files = r.texts()
	p.Data = r.value(0)
	if r.Bad() || !r.Done() {
		return nil, errForged
	}
	return p, nil
}

// reader reads what a writer wrote. Texts are parts of one copy of the bytes, and
// short lists of one room: a program is small, and read for one event.
type reader struct {
	binary.Reader
	stmts    room[Stmt]
	operands room[Operand]
	lists    room[Block]
}

func newReader(b []byte) *reader {
	r := &reader{Reader: *binary.NewTextReader(b)}
	// A statement of a rule takes some ten bytes, most have one operand.
	n := min(len(b)/10+1, chunk/4)
	r.stmts.size, r.operands.size, r.lists.size = n, n, n/4+1
	return r
}

// room is what lists are parts of, size elements at a time.
type room[T any] struct {
	free []T
	size int
}

// take is n elements that nobody has.
func (r *room[T]) take(n int) []T {
	if n > len(r.free) {
		r.free = make([]T, max(n, r.size))
	}
	list := r.free[:n:n]
	r.free = r.free[n:]
	return list
}

// small is a number of 32 bits.
func (r *reader) small() int32 {
	v := r.Int()
	if v != int64(int32(v)) {
		r.Fail()
		return 0
	}
	return int32(v)
}

// length counts what takes a byte each at least.
func (r *reader) length() int { return r.Count(math.MaxInt) }

// chunk bounds what is allocated before it was read.
const chunk = 1 << 10

func listOf[T any](r *reader, one func() T) []T {
	n := r.length()
	if n == 0 {
		return nil
	}
	return listOfLength(r, n, one)
}

func listOfLength[T any](r *reader, n int, one func() T) []T {
	list := make([]T, 0, min(n, chunk))
	for range n {
		list = append(list, one())
		if r.Bad() {
			return nil
		}
	}
	return list
}

// listIn is listOf, of a room when the list is short.
func listIn[T any](r *reader, in *room[T], one func() T) []T {
	n := r.length()
	switch {
	case n == 0:
		return nil
	case n > chunk:
		return listOfLength(r, n, one)
	}
	list := in.take(n)
	for i := range list {
		if list[i] = one(); r.Bad() {
			return nil
		}
	}
	return list
}

func (r *reader) texts() []string { return listOf(r, r.Text) }

func (r *reader) path() []string {
	n := r.Uint()
	if n == 0 {
		return nil
	}
	if n--; n > uint64(len(r.Rest())) {
		r.Fail()
		return nil
	}
	path := make([]string, 0, min(n, chunk))
	for range n {
		path = append(path, r.Text())
	}
	return path
}

func (r *reader) function() Func {
	fn := Func{Name: r.Text(), Path: r.texts(), Params: r.small(), Locals: r.small(), Return: Local(r.small())}
	fn.Memo = r.Bool()
	fn.Blocks = r.blocks(0)
	return fn
}

func (r *reader) blocks(depth int) []Block {
	if depth > maxNesting {
		r.Fail()
		return nil
	}
	return listIn(r, &r.lists, func() Block {
		return Block{Place: r.small(), Stmts: listIn(r, &r.stmts, func() Stmt { return r.stmt(depth) })}
	})
}

func (r *reader) stmt(depth int) Stmt {
	op := r.Uint()
	if op >= uint64(numOps) {
		r.Fail()
		return Stmt{}
	}
	s := Stmt{Op: Op(op), Place: r.small()}
	shape := &shapes[s.Op]
	if shape.a {
		s.A = r.operand()
	}
	if shape.b || s.Op == OpScan {
		s.B = r.operand()
	}
	if shape.target || s.Op == OpWith {
		s.Target = Local(r.small())
	}
	if shape.index {
		s.Index = r.small()
	}
	if shape.args {
		s.Args = listIn(r, &r.operands, r.operand)
	}
	if shape.keys {
		s.Keys = listIn(r, &r.operands, r.operand)
	}
	if shape.blocks != 0 {
		s.Blocks = r.blocks(depth + 1)
	}
	return s
}

func (r *reader) operand() Operand {
	n := r.Int()
	if n>>1 != int64(int32(n>>1)) {
		r.Fail()
		return Operand{}
	}
	return Operand{Const: n&1 == 1, N: int32(n >> 1)}
}

func (r *reader) value(depth int) Value {
	if depth > maxNesting {
		r.Fail()
		return nil
	}
	switch tag := r.Byte(); tag {
	case tagNull:
		return nil
	case tagFalse:
		return false
	case tagTrue:
		return true
	case tagInt:
		v := r.Int()
		if v != int64(int(v)) {
			r.Fail()
		}
		return int(v)
	case tagFloat:
		f := r.Float()
		if f-f != 0 {
			r.Fail()
		}
		return f
	case tagNumber:
		text := r.Text()
		if r.Bad() || !wellFormed(text) {
			r.Fail()
			return nil
		}
		return Number(text)
	case tagString:
		return r.Text()
	default:
		return r.composite(tag, depth)
	}
}

func (r *reader) composite(tag byte, depth int) Value {
	inner := func() Value { return r.value(depth + 1) }
	switch tag {
	case tagArray:
		if list := listOf(r, inner); list != nil {
			return list
		}
		return []Value{}
	case tagMap:
		m := map[string]Value{}
		r.each(func() bool {
			key := r.Text()
			_, twice := m[key]
			m[key] = inner()
			return !twice
		})
		return m
	case tagObject:
		o := &Object{}
		r.each(func() bool {
			key, v := inner(), inner()
			if r.Bad() || o.at(key) >= 0 {
				return false
			}
			o.Put(key, v)
			return true
		})
		return o
	case tagSet:
		s := &Set{}
		r.each(func() bool {
			e := inner()
			return !r.Bad() && s.Add(e)
		})
		return s
	}
	r.Fail()
	return nil
}

// each reads a list until one of it is wrong.
func (r *reader) each(one func() bool) {
	for n := r.length(); n > 0; n-- {
		if !one() || r.Bad() {
			r.Fail()
			return
		}
	}
}
