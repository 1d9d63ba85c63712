package native

// stmt links one statement; nil does nothing.
func (l *linker) stmt(s *Stmt) exec {
	switch s.Op {
	case OpReturn:
		return l.ret(s)
	case OpCall:
		return l.call(s)
	case OpCallBuiltin:
		return l.callBuiltin(s)
	case OpCallDynamic:
		return l.callDynamic(s)
	case OpBlock:
		return l.nested(s)
	case OpBreak:
		leave := status(s.Index) + 1
		return func(*frame) status { return leave }
	case OpDot:
		return l.dot(s)
	case OpLen:
		return l.length(s)
	case OpScan:
		return l.scan(s)
	case OpNot:
		return not(l.block(&s.Blocks[0]))
	case OpAssign, OpAssignOnce, OpReset, OpMakeArray, OpMakeObject, OpMakeSet:
		return l.assign(s)
	case OpEqual, OpNotEqual:
		return l.equal(s)
	case OpIsArray, OpIsObject, OpIsSet, OpIsDefined, OpIsUndefined:
		return l.is(s)
	case OpArrayAppend, OpObjectInsert, OpObjectInsertOnce, OpObjectMerge, OpSetAdd:
		return l.build(s)
	case OpWith:
		return l.with(s)
	case OpInput:
		return l.input(s)
	}
	return nil // OpNop
}

func (l *linker) ret(s *Stmt) exec {
	a := l.arg(s.A)
	return func(f *frame) status {
		f.result = a.get(f)
		seal(f.result)
		return returned
	}
}

// seal makes what a rule built everybody's: it is not added to any more.
func seal(v Value) {
	switch x := v.(type) {
	case *Set:
		if !x.frozen {
			x.frozen = true
		}
	case *Object:
		if !x.frozen {
			x.frozen = true
		}
	}
}

func (l *linker) nested(s *Stmt) exec {
	blocks := make([]exec, len(s.Blocks))
	for i := range s.Blocks {
		blocks[i] = l.block(&s.Blocks[i])
	}
	if len(blocks) == 1 {
		run := blocks[0]
		return func(f *frame) status { return leave(run(f)) }
	}
	return func(f *frame) status {
		for _, run := range blocks {
			if s := leave(run(f)); s != done {
				return s
			}
		}
		return done
	}
}

// leave is a status as it counts outside the block it came from.
func leave(s status) status {
	if s > 0 {
		return s - 1
	}
	return s
}

func not(run exec) exec {
	return func(f *frame) status {
		s := run(f)
		if s == done {
			return ended
		}
		return leave(s)
	}
}

func (l *linker) input(s *Stmt) exec {
	i, t := s.Index, s.Target
	if l.use.dead(t) {
		return func(f *frame) status {
			if _, ok := f.slot(i); !ok {
				return ended
			}
			return done
		}
	}
	return func(f *frame) status {
		v, ok := f.slot(i)
		if !ok {
			f.l[t] = undef
			return ended
		}
		f.l[t] = v
		return done
	}
}

func (l *linker) dot(s *Stmt) exec {
	a, b, t := l.arg(s.A), l.arg(s.B), s.Target
	if key, ok := b.v.(string); ok && b.constant() && a.local > 0 {
		return func(f *frame) status {
			v, ok := member(f.l[a.local], key)
			if !ok {
				f.l[t] = undef
				return ended
			}
			f.l[t] = v
			return done
		}
	}
	return func(f *frame) status {
		key := b.get(f)
		if !isUndef(key) {
			of := a.get(f)
			if v, ok := Get(of, key); ok {
				if _, text := key.(string); !text && !asWritten(of, key) {
					return bailed
				}
				f.l[t] = v
				return done
			}
		}
		f.l[t] = undef
		return ended
	}
}

// asWritten reports whether a key that is there is also written as it is there. To
// topdown, which evaluates rules by the key, it is the one that was asked for, now
// or before.
func asWritten(of, key Value) bool {
	var have Value
	switch x := of.(type) {
	case *Object:
		have = x.pairs[x.at(key)].key
	case *Set:
		have, _ = x.Get(key)
	default:
		return true
	}
	return identical(have, key)
}

func (l *linker) length(s *Stmt) exec {
	a, t := l.arg(s.A), s.Target
	return func(f *frame) status {
		v := a.get(f)
		if text, ok := v.(string); ok {
			f.l[t] = len(text)
			return done
		}
		f.l[t] = Len(v)
		return done
	}
}

func (l *linker) assign(s *Stmt) exec {
	t := s.Target
	if s.Op != OpAssignOnce && l.use.dead(t) {
		return nil
	}
	a := arg{-1, undef}
	switch s.Op {
	case OpAssignOnce:
		return l.assignOnce(s)
	case OpAssign:
		a = l.arg(s.A)
	case OpMakeArray:
		if s.Index > 0 {
			return makeArray(t, int(min(s.Index, kept)))
		}
		a.v = emptyArray
	case OpMakeObject:
		a.v = emptyObject
	case OpMakeSet:
		a.v = emptySet
	}
	if a.constant() {
		return func(f *frame) status { f.l[t] = a.v; return done }
	}
	return func(f *frame) status { f.l[t] = a.get(f); return done }
}

// What is made is shared until something is added to it: rules that do not
// fire allocate nothing.
var (
	emptyArray  Value = []Value{}
	emptyObject Value = &Object{sorted: true, frozen: true}
	emptySet    Value = &Set{sorted: true, frozen: true}
)

func makeArray(t Local, room int) exec {
	return func(f *frame) status {
		f.l[t] = make([]Value, 0, room)
		return done
	}
}

func (l *linker) assignOnce(s *Stmt) exec {
	a, t := l.arg(s.A), s.Target
	return func(f *frame) status {
		v, have := a.get(f), f.l[t]
		if isUndef(have) {
			f.l[t] = v
			f.m.kept++
			return done
		}
		if isUndef(v) || !Equal(have, v) || !identical(have, v) {
			return bailed
		}
		return done
	}
}

func (l *linker) equal(s *Stmt) exec {
	a, b := l.arg(s.A), l.arg(s.B)
	if a.constant() {
		a, b = b, a
	}
	want := s.Op == OpEqual
	if text, ok := b.v.(string); ok && b.constant() && a.local > 0 {
		return func(f *frame) status {
			v, ok := f.l[a.local].(string)
			return holds((ok && v == text) == want)
		}
	}
	return func(f *frame) status { return holds(alike(a.get(f), b.get(f)) == want) }
}

func holds(ok bool) status {
	if ok {
		return done
	}
	return ended
}

// alike is Equal, of undefined too.
func alike(a, b Value) bool {
	if isUndef(a) || isUndef(b) {
		return isUndef(a) && isUndef(b)
	}
	return Equal(a, b)
}

func (l *linker) is(s *Stmt) exec {
	a := l.arg(s.A)
	switch s.Op {
	case OpIsDefined:
		return func(f *frame) status { return holds(!isUndef(a.get(f))) }
	case OpIsUndefined:
		return func(f *frame) status { return holds(isUndef(a.get(f))) }
	}
	want := map[Op]kind{OpIsArray: kindArray, OpIsObject: kindObject, OpIsSet: kindSet}[s.Op]
	return func(f *frame) status {
		v := a.get(f)
		return holds(!isUndef(v) && kindOf(v) == want)
	}
}
