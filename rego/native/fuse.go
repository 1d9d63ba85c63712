package native

// verdict is what a test says of a value; strange is for the builtin itself,
// and so for topdown, to say.
type verdict uint8

const (
	no verdict = iota
	yes
	strange
)

// test tests one value against constants.
type test func(v Value) verdict

// tester makes a test of a builtin whose arguments are constants but for the
// one at, which is undefined in args. nil: there is none.
type tester func(args []Value, at int) test

// fuse links the statements at the head of a block that are one test: what is
// read only by the next statement is not written at all. It tells how many
// statements it took, 0 if there is none.
func (l *linker) fuse(list []Stmt) (exec, int) {
	if s := &list[0]; s.Op == OpInput && l.use.once(s.Target) && len(list) > 1 {
		if text, ok := l.text(&list[1], s.Target); ok {
			return slotIs(s.Index, text), 2
		}
		t, n := l.test(list[1:], s.Target)
		if n == 0 {
			return nil, 0
		}
		return onSlot(s.Index, t), n + 1
	}
	for i := range list[0].Args {
		o := list[0].Args[i]
		if o.Const || o.N == 0 || list[0].Op != OpCallBuiltin {
			continue
		}
		if t, n := l.test(list, Local(o.N)); n > 0 {
			return onLocal(o.N, t), n
		}
	}
	return l.condition(list)
}

// text is the constant string that a local must be equal to.
func (l *linker) text(s *Stmt, subject Local) (string, bool) {
	if s.Op != OpEqual {
		return "", false
	}
	a, b := l.arg(s.A), l.arg(s.B)
	if a.constant() {
		a, b = b, a
	}
	text, ok := b.v.(string)
	return text, ok && b.constant() && a.local == int32(subject)
}

// slotIs is what rules mostly begin with.
func slotIs(i int32, text string) exec {
	return func(f *frame) status {
		v, ok := f.slot(i)
		if !ok {
			return ended
		}
		if s, ok := v.(string); ok && s == text {
			return done
		}
		return ended
	}
}

func onSlot(i int32, t test) exec {
	return func(f *frame) status {
		v, ok := f.slot(i)
		if !ok {
			return ended
		}
		f.m.weigh(v)
		switch t(v) {
		case yes:
			return done
		case no:
			return ended
		}
		return f.m.strange(t, v)
	}
}

func onLocal(i int32, t test) exec {
	return func(f *frame) status {
		v := f.l[i]
		if isUndef(v) {
			return bailed
		}
		f.m.weigh(v)
		switch t(v) {
		case yes:
			return done
		case no:
			return ended
		}
		return f.m.strange(t, v)
	}
}

// longText is a long text that a pattern is looked for in at once.
type longText string

// strange is how a test ends that takes more than the value: what takes a clock is
// done without one where there is none.
func (m *Machine) strange(t test, v Value) status {
	if s, ok := v.(string); ok && m.Unclocked {
		switch t(longText(s)) {
		case yes:
			return done
		case no:
			return ended
		}
	}
	return bailed
}

// test makes a test of a local out of the statements that read it: a
// comparison with a constant, or a builtin of which the result is only tested.
func (l *linker) test(list []Stmt, subject Local) (test, int) {
	s := &list[0]
	switch s.Op {
	case OpEqual, OpNotEqual:
		a, b := l.arg(s.A), l.arg(s.B)
		if a.constant() {
			a, b = b, a
		}
		if a.local == int32(subject) && b.constant() {
			return equals(b.v, s.Op == OpEqual), 1
		}
	case OpCallBuiltin:
		if len(list) < 2 || !l.decides(s, &list[1]) {
			return nil, 0
		}
		make := testerOf(l.p.Builtins[s.Index])
		args, at := l.around(s.Args, subject)
		if make == nil || at < 0 {
			return nil, 0
		}
		if t := make(args, at); t != nil {
			return t, 2
		}
	}
	return nil, 0
}

// decides reports whether next only asks that the result of call is not false.
func (l *linker) decides(call, next *Stmt) bool {
	if next.Op != OpNotEqual || call.Target == None || !l.use.once(call.Target) {
		return false
	}
	a, b := l.arg(next.A), l.arg(next.B)
	if a.constant() {
		a, b = b, a
	}
	return a.local == int32(call.Target) && b.constant() && b.v == false
}

// around are a call's arguments when all but one are constants, and where the
// one is that is subject; else -1.
func (l *linker) around(operands []Operand, subject Local) ([]Value, int) {
	at := -1
	args := make([]Value, len(operands))
	for i, o := range operands {
		switch {
		case o.Const:
			args[i] = l.consts[o.N]
		case o.N != int32(subject) || at >= 0:
			return nil, -1
		default:
			args[i], at = undef, i
		}
	}
	return args, at
}

// condition links a builtin of which the result is only tested.
func (l *linker) condition(list []Stmt) (exec, int) {
	if len(list) < 2 || list[0].Op != OpCallBuiltin || !l.decides(&list[0], &list[1]) {
		return nil, 0
	}
	call := l.builtin(&list[0])
	return func(f *frame) status {
		v, ok, s := call(f)
		if s != done {
			return s
		}
		return holds(ok && v != false)
	}, 2
}

// equals tests for a constant.
func equals(want Value, same bool) test {
	hit, miss := yes, no
	if !same {
		hit, miss = no, yes
	}
	if text, ok := want.(string); ok {
		return func(v Value) verdict {
			if s, ok := v.(string); ok && s == text {
				return hit
			}
			return miss
		}
	}
	return func(v Value) verdict {
		if Equal(v, want) {
			return hit
		}
		return miss
	}
}
