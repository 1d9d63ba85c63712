package native

// build links what adds to arrays, objects and sets. It adds only to what the
// function made itself and still owns; anything else bails.
func (l *linker) build(s *Stmt) exec {
	a, b, t := l.arg(s.A), l.arg(s.B), s.Target
	switch s.Op {
	case OpArrayAppend:
		return l.arrayAppend(s)
	case OpSetAdd:
		if s.Index != 0 {
			return func(f *frame) status { return f.addWritten(t, a.get(f)) }
		}
		return func(f *frame) status { return f.setAdd(t, a.get(f)) }
	case OpObjectInsert:
		switch s.Index {
		case 1:
			return func(f *frame) status { return f.insertWritten(t, a.get(f), b.get(f)) }
		case 2:
			return func(f *frame) status { return f.insertPart(t, a.get(f), b.get(f)) }
		}
		return func(f *frame) status { return f.insert(t, a.get(f), b.get(f)) }
	case OpObjectInsertOnce:
		return func(f *frame) status { return f.insertOnce(t, a.get(f), b.get(f)) }
	}
	return func(f *frame) status {
		f.l[t] = merge(a.get(f), b.get(f))
		return done
	}
}

func (f *frame) setAdd(t Local, v Value) status {
	set, ok := f.l[t].(*Set)
	if !ok || isUndef(v) {
		return bailed
	}
	if set.frozen {
		if f.l[t] != emptySet {
			return bailed
		}
		set = f.newSet(t)
		f.l[t] = set
	}
	if !set.Add(v) {
		if have, _ := set.Get(v); !identical(have, v) {
			return bailed
		}
		return done
	}
	f.m.keep(v)
	return done
}

// newSet is an empty set for a local.
func (f *frame) newSet(t Local) *Set {
	if set := f.spare; set != nil && t == f.own {
		f.spare = nil
		return set
	}
	return &Set{}
}

// addWritten adds an element of a set as it is written. Topdown keeps such a
// set as it is, with what its variables are, until it leaves the rule: it goes
// through equal elements twice, and through all of them in the order of their
// terms, which is the order in which they are added here. It looks for an element
// by comparing.
func (f *frame) addWritten(t Local, v Value) status {
	set, _ := f.l[t].(*Set)
	if beyond(v) {
		return bailed
	}
	if set == nil || set.Len() == 0 || isUndef(v) {
		return f.setAdd(t, v)
	}
	if set.frozen {
		return bailed
	}
	set.astray = set.astray || Compare(set.elems[len(set.elems)-1], v) >= 0
	return f.setAdd(t, v)
}

// insertWritten does the same for a key of an object, which is to be a new one:
// topdown has the first value of equal keys until it leaves the rule, and then
// the last.
func (f *frame) insertWritten(t Local, key, v Value) status {
	o, _ := f.l[t].(*Object)
	if beyond(key) {
		return bailed
	}
	if o == nil || o.Len() == 0 || isUndef(key) {
		return f.insert(t, key, v)
	}
	if o.frozen || o.at(key) >= 0 {
		return bailed
	}
	o.astray = o.astray || Compare(o.pairs[len(o.pairs)-1].key, key) > 0
	return f.insert(t, key, v)
}

// insertPart puts in what rules go on adding to.
func (f *frame) insertPart(t Local, key, v Value) status {
	s := f.insert(t, key, v)
	if s == done {
		f.l[t].(*Object).stale = true
	}
	return s
}

// owned is the object in a local, for adding to it.
func (f *frame) owned(t Local) *Object {
	o, ok := f.l[t].(*Object)
	if !ok || !o.frozen {
		return o
	}
	if f.l[t] != emptyObject {
		return nil
	}
	o = &Object{}
	f.l[t] = o
	return o
}

func (f *frame) insert(t Local, key, v Value) status {
	o := f.owned(t)
	if o == nil || isUndef(key) || isUndef(v) {
		return bailed
	}
	o.Put(key, v)
	f.m.keep(v)
	return done
}

func (f *frame) insertOnce(t Local, key, v Value) status {
	o := f.owned(t)
	if o == nil || isUndef(key) || isUndef(v) {
		return bailed
	}
	// The value is a rule's: other rules may not add to it.
	seal(v)
	i := o.at(key)
	if i < 0 {
		o.Put(key, v)
		f.m.keep(v)
		return done
	}
	if have := o.pairs[i]; !Equal(have.value, v) || !identical(have.value, v) || !identical(have.key, key) || clashes(o) {
		return bailed
	}
	return done
}

// merge is b under a: what a has stays, objects that both have are merged.
func merge(a, b Value) Value {
	if isUndef(a) {
		return b
	}
	if isUndef(b) || kindOf(a) != kindObject || kindOf(b) != kindObject {
		return a
	}
	out := copyObject(a)
	Each(b, func(key, v Value) bool {
		if i := out.at(key); i >= 0 {
			out.pairs[i].value = merge(out.pairs[i].value, v)
			return true
		}
		out.Put(key, v)
		return true
	})
	return out
}

func (l *linker) arrayAppend(s *Stmt) exec {
	a, t := l.arg(s.A), s.Target
	// What grows in place has no other owner: nothing but the making of it
	// writes the local.
	own := onlyMade(l.fn.Func.Blocks, t)
	return func(f *frame) status {
		v := a.get(f)
		list, ok := f.l[t].([]Value)
		if !ok || isUndef(v) {
			return bailed
		}
		if !own {
			list = list[:len(list):len(list)]
		}
		f.l[t] = append(list, v)
		f.m.keep(v)
		return done
	}
}

// onlyMade reports whether a local is set by making an array alone.
func onlyMade(blocks []Block, t Local) bool {
	for i := range blocks {
		for j := range blocks[i].Stmts {
			s := &blocks[i].Stmts[j]
			writes := shapes[s.Op].writes && s.Target == t || s.Op == OpScan && Local(s.B.N) == t
			if writes && s.Op != OpMakeArray && s.Op != OpReset || s.Op == OpAssignOnce && s.Target == t {
				return false
			}
			if !onlyMade(s.Blocks, t) {
				return false
			}
		}
	}
	return true
}
