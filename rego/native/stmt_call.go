package native

func (l *linker) call(s *Stmt) exec {
	fn, t := l.code.funcs[s.Index], s.Target
	args := l.args(s.Args[2:])
	if fn.Memo {
		return func(f *frame) status { return f.memoized(fn, t) }
	}
	return func(f *frame) status {
		kept := f.m.kept
		callee := f.m.enter(fn)
		callee.l[InputLocal], callee.l[DataLocal] = f.l[InputLocal], f.l[DataLocal]
		for i := range args {
			v := args[i].get(f)
			// Topdown knows a call by equal arguments, however they are written.
			if f.m.respelled && respelled(v) {
				return bailed
			}
			callee.l[2+i] = v
		}
		s := fn.run(callee)
		f.l[t] = callee.result
		f.m.leave(fn)
		f.m.kept = kept // what it gave is the caller's to keep
		if s == bailed {
			return bailed
		}
		return holds(!isUndef(f.l[t]))
	}
}

// run runs a function's blocks: what it returned is the frame's result.
func (fn *function) run(f *frame) status {
	if f.m.index != nil {
		if s, ok := fn.runFound(f); ok {
			return s
		}
	}
	for i, run := range fn.blocks {
		s := run(f)
		if f.m.trace(i, s); s < 0 {
			return s
		}
	}
	return done
}

// memoized calls a function of nothing but input and data.
func (f *frame) memoized(fn *function, t Local) status {
	m := f.m
	v, ok := m.recall(fn.id)
	if !ok {
		callee := m.enter(fn)
		callee.l[InputLocal], callee.l[DataLocal] = f.l[InputLocal], f.l[DataLocal]
		s := fn.run(callee)
		v = callee.result
		m.leave(fn)
		if s == bailed {
			return bailed
		}
		m.memory.keep(fn.id, v)
		m.memos++
	}
	f.l[t] = v
	return holds(!isUndef(v))
}

// callDynamic breaks out by 3 when the function that is there is undefined,
// which only OPA's own plan of such references expects.
func (l *linker) callDynamic(s *Stmt) exec {
	path, t := l.args(s.Keys), s.Target
	return func(f *frame) status {
		var room [128]byte
		key := room[:0]
		for i := range path {
			name, ok := path[i].get(f).(string)
			if !ok {
				return ended
			}
			key = appendName(key, name)
		}
		at := f.m.code.paths.at(key)
		if at < 0 {
			return ended
		}
		fn := f.m.code.funcs[at]
		if fn.Params != 2 {
			return bailed
		}
		if s := f.memoized(fn, t); s != ended {
			return s
		}
		return 4
	}
}

func (l *linker) callBuiltin(s *Stmt) exec {
	call, t := l.builtin(s), s.Target
	if t == None {
		return func(f *frame) status {
			_, _, s := call(f)
			return s
		}
	}
	return func(f *frame) status {
		v, ok, s := call(f)
		if s != done {
			return s
		}
		if !ok {
			v = undef
		}
		f.l[t] = v
		return holds(ok)
	}
}

// builtin links the call of a builtin: its result, whether it has one, and
// done or bailed.
func (l *linker) builtin(s *Stmt) func(f *frame) (Value, bool, status) {
	name, place := l.p.Builtins[s.Index], s.Place
	fn, args := l.natives[s.Index], l.args(s.Args)
	reads := !Has(name) || name == "json.unmarshal" // numbers that nobody wrote before
	return func(f *frame) (Value, bool, status) {
		m := f.m
		base := len(m.args)
		for i := range args {
			v := args[i].get(f)
			if isUndef(v) {
				return nil, false, bailed
			}
			m.weigh(v)
			m.args = append(m.args, v)
		}
		m.call.Name, m.call.Place = name, place
		m.step()
		v, ok, err := fn(&m.call, m.args[base:len(m.args):len(m.args)])
		m.args = m.args[:base]
		if err != nil {
			m.failed, m.failedAt = name, place
			return nil, false, bailed
		}
		if _, number := v.(Number); number || reads && ok {
			m.respelled = m.respelled || respelled(v)
		}
		return v, ok, done
	}
}
