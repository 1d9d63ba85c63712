package native

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
	if err := verify(p); err != nil {
		return nil, err
	}
	l := linker{p: p, code: &Code{program: p, tree: node{fn: -1}, whole: -1}}
	if err := l.builtins(extra); err != nil {
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

func (l *linker) builtins(extra Functions) error {
	l.natives = make([]Builtin, len(l.p.Builtins))
	for i, name := range l.p.Builtins {
		b := builtins[name].call
		if extra != nil {
			b = orHost(b, extra(name))
		}
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
	}
	l.code.data = l.p.Data
	if l.code.data == nil {
		l.code.data = map[string]Value{}
	}
	freeze(l.code.data)
	for i, path := range l.p.Paths {
		if path == nil && l.code.whole < 0 {
			l.code.whole = int32(i)
		}
	}
	for i := range l.p.Funcs {
		if path := l.p.Funcs[i].Path; len(path) > 0 {
			l.code.tree.insert(path, int32(i))
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
	for i := range fn.Blocks {
		for j := range fn.Blocks[i].Stmts {
			s := &fn.Blocks[i].Stmts[j]
			if s.Target == fn.Return && (s.Op == OpMakeSet || s.Op == OpMakeObject) {
				fn.grows = true
			}
		}
	}
}

// block links a block: its status counts from inside it.
func (l *linker) block(b *Block) exec {
	list := make([]exec, 0, len(b.Stmts))
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

func (a *arg) get(f *frame) Value {
	if a.local > 0 {
		return f.l[a.local]
	}
	return a.rare(f)
}

func (a *arg) rare(f *frame) Value {
	if a.local == 0 {
		return f.input()
	}
	return a.v
}

func (a *arg) constant() bool { return a.local < 0 }

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
