package native

func (l *linker) scan(s *Stmt) exec {
	a, run := l.arg(s.A), l.block(&s.Blocks[0])
	sc := scanner{key: Local(s.B.N), value: s.Target, run: run}
	sc.keyed = !l.use.dead(sc.key)
	return func(f *frame) status {
		var s status
		switch x := a.get(f).(type) {
		case []Value:
			s = sc.array(f, x)
		case *Set:
			if x.astray {
				return bailed
			}
			s = sc.set(f, x.Elems())
		case map[string]Value:
			s = sc.object(f, x)
		case *Object:
			if x.astray {
				return bailed
			}
			x.sort()
			s = sc.pairs(f, x.pairs)
		}
		f.l[sc.key] = undef
		return s
	}
}

// scanner runs a block for each element of something.
type scanner struct {
	key, value Local
	keyed      bool // the key is read
	run        exec
}

// next runs the block for one element: whether to go on, and if not, the
// status of the whole.
func (sc *scanner) next(f *frame, v Value) (bool, status) {
	m := f.m
	m.step()
	held, kept, memos := m.held, m.kept, m.memos
	f.l[sc.value] = v
	s := sc.run(f)
	if m.kept == kept && m.memos == memos {
		m.held = held
	}
	if s == done || s == ended {
		return true, done
	}
	return false, leave(leave(s))
}

func (sc *scanner) array(f *frame, list []Value) status {
	for i, v := range list {
		if sc.keyed {
			f.l[sc.key] = i
		}
		if on, s := sc.next(f, v); !on {
			return s
		}
	}
	return done
}

func (sc *scanner) set(f *frame, list []Value) status {
	for _, v := range list {
		f.l[sc.key] = v
		if on, s := sc.next(f, v); !on {
			return s
		}
	}
	return done
}

func (sc *scanner) object(f *frame, m map[string]Value) status {
	for _, k := range sortedKeys(m) {
		if sc.keyed {
			f.l[sc.key] = k
		}
		if on, s := sc.next(f, m[k]); !on {
			return s
		}
	}
	return done
}

func (sc *scanner) pairs(f *frame, list []pair) status {
	for i := range list {
		f.l[sc.key] = list[i].key
		if on, s := sc.next(f, list[i].value); !on {
			return s
		}
	}
	return done
}

func (l *linker) with(s *Stmt) exec {
	a, t, run := l.arg(s.A), s.Target, l.block(&s.Blocks[0])
	path := make([]string, len(s.Keys))
	for i, k := range s.Keys {
		path[i] = l.consts[k.N].(string)
	}
	return func(f *frame) status {
		v := a.get(f)
		if len(path) > 0 {
			var ok bool
			if v, ok = upsert(f.current(t), path, v); !ok {
				return bailed
			}
		}
		saved := f.l[t]
		generation, mark := f.m.push()
		f.l[t] = v
		s := run(f)
		f.l[t] = saved
		f.m.pop(generation, mark)
		if s == ended {
			return ended
		}
		return leave(s)
	}
}

func (f *frame) current(t Local) Value {
	if t == InputLocal {
		return f.input()
	}
	return f.l[t]
}

// upsert is a copy of an object with v at path; what is on the way and no
// object is replaced by one. Only an object or nothing can be changed.
func upsert(doc Value, path []string, v Value) (Value, bool) {
	if isUndef(v) {
		return nil, false
	}
	top := &Object{}
	if !isUndef(doc) {
		if kindOf(doc) != kindObject {
			return nil, false
		}
		top = copyObject(doc)
	}
	o := top
	for _, key := range path[:len(path)-1] {
		inner := &Object{}
		if i := o.at(key); i >= 0 && kindOf(o.pairs[i].value) == kindObject {
			inner = copyObject(o.pairs[i].value)
		}
		o.Put(key, inner)
		o = inner
	}
	o.Put(path[len(path)-1], v)
	return top, true
}
