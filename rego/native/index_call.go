package native

import "slices"

// branch is one block of a function that is called: what it begins with and,
// when all of it was read, what it gives.
type branch struct {
	lead     lead
	complete bool
	gift
}

// gift is what a block gives. waits are the locals that are undefined when it
// does, marks those that it sets then.
type gift struct {
	given, known bool
	value        held
	waits, marks []Local
}

// awaits notes that a local is undefined from here on.
func (r *leader) awaits(l Local) {
	if r.depth == 0 {
		r.gives.waits = append(r.gives.waits, l)
	}
}

// give reads how an inner block gives its value, or marks that it did. What is
// given twice must be one and the same.
func (r *leader) give(s *Stmt) int {
	value, known := r.holds(s.A)
	sure := known && len(value.constants) == 1
	switch {
	case !r.inner || r.depth > 0 || r.loops > 0 && !sure:
		return 0
	case s.Target == r.fn.Return:
		if r.gives.given {
			return 0
		}
		r.gives.given, r.gives.value, r.gives.known = true, value, known
	case !sure || !slices.Contains(r.gives.waits, s.Target):
		return 0
	}
	r.gives.marks = append(r.gives.marks, s.Target)
	return 1
}

// call reads the call of a function: its conditions are the caller's, and those
// of several rules together one, that any of theirs holds.
func (r *leader) call(list []Stmt) int {
	s := &list[0]
	if !r.hides(s.Target) {
		return 0
	}
	all, ok := r.branches(s)
	if !ok {
		return 0
	}
	if fn := r.code.funcs[s.Index]; fn.grows {
		return r.grown(all, s.Target, list[1:])
	}
	complete := exclusive(all)
	var wanted []*branch
	for i := range all {
		if b := &all[i]; !r.useless(b, s.Target, list[1:]) || !complete && !slices.Contains(b.waits, r.code.funcs[s.Index].Return) {
			wanted = append(wanted, b)
		}
	}
	if len(all) == 1 && len(wanted) == 1 {
		r.lead.follow(&all[0].lead, r.depth == 0)
	} else {
		for i := range all {
			r.lead.follow(&all[i].lead, false)
		}
		if r.depth == 0 {
			r.anyOf(wanted)
		}
	}
	if !complete {
		return 0
	}
	value, known := valueOf(wanted)
	return r.set(s.Target, value, known)
}

// grown reads the call of a function that gives a set or an object: when nothing
// is in it, there may be nothing more to do.
func (r *leader) grown(all []branch, t Local, rest []Stmt) int {
	if r.depth > 0 || len(rest) == 0 || !r.needs(t, rest) {
		return 0
	}
	var wanted []*branch
	for i := range all {
		r.lead.follow(&all[i].lead, false)
		if !all[i].complete {
			wanted = append(wanted, &all[i])
		}
	}
	r.anyOf(wanted)
	return 0
}

// needs reports whether what follows does nothing when nothing is in a local.
func (r *leader) needs(t Local, rest []Stmt) bool {
	s := &rest[0]
	switch s.Op {
	case OpScan:
		return len(rest) == 1 && !s.A.Const && Local(s.A.N) == t && r.hides(Local(s.B.N))
	case OpDot:
		return !s.A.Const && Local(s.A.N) == t && s.B.Const && r.hides(s.Target)
	case OpCallBuiltin:
		return len(rest) > 1 && r.p.Builtins[s.Index] == "internal.member_2" && len(s.Args) == 2 && s.Args[0].Const &&
			!s.Args[1].Const && Local(s.Args[1].N) == t && r.decides(s, &rest[1])
	}
	return false
}

// branches are the blocks of what is called, but the one that returns.
func (r *leader) branches(s *Stmt) ([]branch, bool) {
	fn := r.code.funcs[s.Index]
	last := len(fn.Blocks) - 1
	if r.calls >= maxCalls || len(s.Args) != int(fn.Params) || last < 0 {
		return nil, false
	}
	if end := fn.Blocks[last].Stmts; len(end) != 1 || end[0].Op != OpReturn || end[0].A.Const || Local(end[0].A.N) != fn.Return {
		return nil, false
	}
	if known, ok := r.callees[fn.id]; ok {
		return known, true
	}
	inner := newLeader(r.code, fn, r.reading)
	inner.inner = true
	r.calls++
	out := make([]branch, last)
	for i := range out {
		clear(inner.from)
		for p := 2; p < len(s.Args); p++ {
			if h, ok := r.holds(s.Args[p]); ok {
				inner.from[int32(p)] = h
			}
		}
		inner.begin(&fn.Blocks[i])
		complete := inner.statements(fn.Blocks[i].Stmts)
		out[i] = branch{inner.lead, complete, inner.gives}
		writes(&fn.Blocks[i], inner.earlier)
	}
	r.calls--
	if fn.Params == 2 {
		r.callees[fn.id] = out
	}
	return out, true
}

// exclusive reports whether no two branches can give different values: each
// waits for those before, or all give the same constant.
func exclusive(all []branch) bool {
	var before []*branch
	for i := range all {
		b := &all[i]
		if !b.complete {
			return false
		}
		if !b.given {
			continue
		}
		for _, other := range before {
			if !b.behind(other) && !b.same(other) {
				return false
			}
		}
		before = append(before, b)
	}
	return true
}

// behind reports whether b gives nothing where another gave something: it waits
// for what that one sets.
func (b *branch) behind(other *branch) bool {
	return slices.ContainsFunc(b.waits, func(l Local) bool { return slices.Contains(other.marks, l) })
}

func (b *branch) same(other *branch) bool {
	x, y := b.value.constants, other.value.constants
	return b.known && other.known && len(x) == 1 && len(y) == 1 && simple(x, false) && simple(y, false) && x[0] == y[0]
}

// useless reports whether a branch of which all was read gives nothing that the
// statement behind the call, which may be a test of it, lets through.
func (r *leader) useless(b *branch, t Local, rest []Stmt) bool {
	switch {
	case !b.complete:
		return false
	case !b.given:
		return true
	case len(rest) == 0 || !b.known || !simple(b.value.constants, false):
		return false
	}
	next := &rest[0]
	x, y := next.A, next.B
	if x.Const {
		x, y = y, x
	}
	if x.Const || !y.Const || Local(x.N) != t || next.Op != OpEqual && next.Op != OpNotEqual {
		return false
	}
	want := r.consts[y.N]
	if !simple([]Value{want}, false) {
		return false
	}
	return !slices.ContainsFunc(b.value.constants, func(v Value) bool { return (v == want) == (next.Op == OpEqual) })
}

// anyOf is the condition that some key of any branch holds.
func (r *leader) anyOf(wanted []*branch) {
	if len(wanted) == 1 {
		for _, k := range wanted[0].lead.keys {
			r.lead.key(k.on, k.equality, k.weak, k.any)
		}
		return
	}
	var any []handle
	equality, weak := true, false
	on := subject(0)
	for i, b := range wanted {
		k := b.lead.best()
		if k == nil {
			return
		}
		if i == 0 {
			on = k.on
		}
		equality = equality && k.equality && k.on == on
		weak = weak || k.weak
		any = append(any, k.any...)
	}
	if len(any) <= widest {
		r.lead.key(on, equality, weak, any)
	}
}

// best is the key that says the most on its own, nil if there is none: rather what a
// field is than what it holds, rather that than that there is one.
func (l *lead) best() *key {
	var best *key
	for i := range l.keys {
		if k := &l.keys[i]; best == nil || best.weak && !k.weak || k.equality && !best.equality {
			best = k
		}
	}
	return best
}

// valueOf is what a call gives, as far as it is known.
func valueOf(wanted []*branch) (held, bool) {
	if len(wanted) == 1 {
		return wanted[0].value, wanted[0].known
	}
	out := held{constants: []Value{}}
	for _, b := range wanted {
		if !b.known || b.value.constants == nil {
			return held{}, false
		}
		out.constants = append(out.constants, b.value.constants...)
	}
	return out, true
}
