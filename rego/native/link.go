package native

import "github.com/hookc/hookc/internal/lists"

// status is how a statement ended: done, or by leaving that many blocks (1 is
// the one it stands in), or the function.
type status int32

const (
	done     status = 0
	ended    status = 1
	returned status = -1
	bailed   status = -2
)

// exec is a linked statement or block.
type exec func(f *frame) status

// Link verifies a program and makes closures of it: what is out of bounds, and
// a builtin nobody has, is an error. extra may be nil.
func Link(p *Program, extra Functions) (*Code, error) {
	v := verifier{p: p}
	if err := v.program(); err != nil {
		return nil, err
	}
	l := linker{p: p, code: &Code{program: p, paths: v.paths, whole: -1}}
	if err := l.builtins(v.own, extra); err != nil {
		return nil, err
	}
	l.prepare()
	l.code.funcs = make([]*function, len(p.Funcs))
	for i := range p.Funcs {
		l.code.funcs[i] = &function{Func: &p.Funcs[i], id: int32(i)}
	}
	for _, fn := range l.code.funcs {
		l.function(fn)
	}
	return l.code, nil
}

// linker links one program.
type linker struct {
	p       *Program
	code    *Code
	natives []Builtin
	consts  []Value
	fn      *function
	use     usage
}

func (l *linker) builtins(own []*own, extra Functions) error {
	l.natives = make([]Builtin, len(l.p.Builtins))
	for i, name := range l.p.Builtins {
		var host Builtin
		if extra != nil {
			host = extra(name)
		}
		b := bounded(name, own[i].call(), host)
		if b == nil {
			return invalid("no builtin " + name)
		}
		l.natives[i] = b
	}
	return nil
}

// orHost asks the host where native's own builtin bails: it has the corners
// that native leaves out, and the error when there is one.
func orHost(own, host Builtin) Builtin {
	if own == nil || host == nil {
		if own == nil {
			return host
		}
		return own
	}
	return func(c *Call, args []Value) (Value, bool, error) {
		v, ok, err := own(c, args)
		if err != nil {
			return host(c, args)
		}
		return v, ok, err
	}
}

// prepare freezes constants and data, which several goroutines read at once.
func (l *linker) prepare() {
	l.consts = l.p.Consts
	for _, v := range l.consts {
		freeze(v)
		l.code.respelled = l.code.respelled || respelled(v)
	}
	l.code.data = l.p.Data
	if l.code.data == nil {
		l.code.data = map[string]Value{}
	}
	freeze(l.code.data)
	l.code.respelled = l.code.respelled || respelled(l.code.data)
	for i, path := range l.p.Paths {
		if path == nil && l.code.whole < 0 {
			l.code.whole = int32(i)
		}
	}
}

func (l *linker) function(fn *function) {
	l.fn = fn
	l.use = newUsage(fn.Func)
	fn.blocks = make([]exec, len(fn.Blocks))
	for i := range fn.Blocks {
		l.use.enter(&fn.Blocks[i])
		fn.blocks[i] = l.block(&fn.Blocks[i])
	}
	fn.grows, fn.private = fn.building()
}

// building reports whether a function's blocks add to its result, and whether
// that is a set that they make and add to, and do nothing else with.
func (fn *Func) building() (grows, private bool) {
	for i := range fn.Blocks {
		for j := range fn.Blocks[i].Stmts {
			s := &fn.Blocks[i].Stmts[j]
			if s.Target == fn.Return && (s.Op == OpMakeSet || s.Op == OpMakeObject) {
				grows, private = true, s.Op == OpMakeSet
			}
		}
	}
	return grows, private && onlyAdded(fn.Blocks, fn.Return)
}

// onlyAdded reports whether a local is only made a set, added to and returned.
func onlyAdded(blocks []Block, t Local) bool {
	for i := range blocks {
		for j := range blocks[i].Stmts {
			s := &blocks[i].Stmts[j]
			shape := &shapes[s.Op]
			touched := shape.target && s.Target == t || s.Op == OpScan && Local(s.B.N) == t
			if touched && s.Op != OpMakeSet && s.Op != OpSetAdd {
				return false
			}
			read := int32(0)
			reads(s, func(n int32) {
				if n == int32(t) {
					read++
				}
			})
			if read > 0 && s.Op != OpReturn && (read > 1 || s.Op != OpSetAdd || s.Target != t) || !onlyAdded(s.Blocks, t) {
				return false
			}
		}
	}
	return true
}

// block links a block: its status counts from inside it.
func (l *linker) block(b *Block) exec {
	var room [8]exec
	list := room[:0]
	for rest := b.Stmts; len(rest) > 0; {
		run, n := l.fuse(rest)
		if n == 0 {
			run, n = l.stmt(&rest[0]), 1
		}
		if run != nil {
			list = append(list, run)
		}
		rest = rest[n:]
	}
	return sequence(list)
}

// sequence runs statements until one leaves.
func sequence(list []exec) exec {
	switch len(list) {
	case 0:
		return func(*frame) status { return done }
	case 1:
		return list[0]
	case 2:
		a, b := list[0], list[1]
		return func(f *frame) status {
			if s := a(f); s != done {
				return s
			}
			return b(f)
		}
	case 3:
		a, b, c := list[0], list[1], list[2]
		return func(f *frame) status {
			if s := a(f); s != done {
				return s
			}
			if s := b(f); s != done {
				return s
			}
			return c(f)
		}
	}
	if len(list) == 4 {
		a, b, c, d := list[0], list[1], list[2], list[3]
		return func(f *frame) status {
			if s := a(f); s != done {
				return s
			}
			if s := b(f); s != done {
				return s
			}
			if s := c(f); s != done {
				return s
			}
			return d(f)
		}
	}
	list = lists.Copy(list)
	return func(f *frame) status {
		for _, run := range list {
			if s := run(f); s != done {
				return s
			}
		}
		return done
	}
}

// arg is an operand: a local, or a constant when local is -1.
type arg struct {
	local int32
	v     Value
}

func (a arg) get(f *frame) Value {
	if a.local > 0 {
		return f.l[a.local]
	}
	return a.rare(f)
}

func (a arg) rare(f *frame) Value {
	if a.local == 0 {
		return f.input()
	}
	return a.v
}

func (a arg) constant() bool { return a.local < 0 }

//go:noinline
func (l *linker) arg(o Operand) arg {
	if o.Const {
		return arg{-1, l.consts[o.N]}
	}
	return arg{local: o.N}
}

func (l *linker) args(list []Operand) []arg {
	out := make([]arg, len(list))
	for i, o := range list {
		out[i] = l.arg(o)
	}
	return out
}

// freeze sorts a value through and through, after which it is only read.
func freeze(v Value) {
	switch x := v.(type) {
	case []Value:
		for _, e := range x {
			freeze(e)
		}
	case map[string]Value:
		for _, e := range x {
			freeze(e)
		}
	case *Object:
		if x.frozen {
			return
		}
		for i := range x.pairs {
			freeze(x.pairs[i].key)
			freeze(x.pairs[i].value)
		}
		x.sort()
		x.frozen = true
	case *Set:
		if x.frozen {
			return
		}
		for _, e := range x.elems {
			freeze(e)
		}
		x.Elems()
		x.frozen = true
	}
}
