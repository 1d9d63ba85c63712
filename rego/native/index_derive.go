package native

// firstDerived is the first subject that is no slot but made of another.
const firstDerived subject = 1 << 24

// step makes a subject of another: what is at a key of it, or what a builtin
// makes of it and constants.
type step struct {
	of   subject
	key  Value
	call Builtin // nil for a key
	args []Value // the subject stands at place at
	at   int
	// parts says that it makes an array of parts of a text.
	parts bool
}

// changers are the builtins that a condition may look through: what they give
// depends on their arguments alone, and costs no more than a pass over them.
var changers = map[string]bool{
	"lower": true, "upper": true, "trim_space": true,
	"trim": true, "trim_left": true, "trim_right": true, "trim_prefix": true, "trim_suffix": true,
	"split": true, "replace": true, "substring": true, "object.get": true, "count": true, "abs": true,
	"to_number": true, "minus": true,
}

// derivation numbers the subjects that leads of one index look at: what is made
// alike is one.
type derivation struct {
	steps []step
	known map[string]subject
}

// key is what is at a constant key of a subject.
func (d *derivation) key(of subject, key Value) subject {
	return d.step(step{of: of, key: key}, "", []Value{key})
}

// call is what a builtin makes of args, of which the one at is the subject.
func (d *derivation) call(of subject, name string, args []Value, at int) subject {
	args = append([]Value(nil), args...)
	args[at] = nil
	return d.step(step{of: of, call: ownBuiltin(name).call(), args: args, at: at, parts: name == "split" && at == 0}, name, args)
}

// whole is the text of which a subject is an array of parts.
func (d *derivation) whole(on subject) (of subject, ok bool) {
	if on < firstDerived {
		return 0, false
	}
	s := &d.steps[on-firstDerived]
	return s.of, s.parts
}

func (d *derivation) step(s step, name string, args []Value) subject {
	var w writer
	w.Int(int64(s.of))
	w.Int(int64(s.at))
	w.Text(name)
	w.list(len(args), func(i int) { w.value(args[i]) })
	on, ok := d.known[string(w.B)]
	if !ok {
		if d.known == nil {
			d.known = map[string]subject{}
		}
		on = firstDerived + subject(len(d.steps))
		d.steps = append(d.steps, s)
		d.known[string(w.B)] = on
	}
	return on
}

// state is whether a subject has a value; it is odd where the blocks that
// look at it may fail.
type state uint8

const (
	unasked state = iota
	missing
	present
	odd
)

// derived is a subject's value while items are found.
type derived struct {
	v Value
	state
}

// value is a subject's, computed at most once while items are found.
func (x *index) value(s subjects, k *marks, on subject) (Value, state) {
	if on < firstDerived {
		v, ok := s.subject(on)
		switch {
		case !ok:
			return nil, missing
		case isUndef(v):
			return nil, odd
		}
		return v, present
	}
	d := &k.derived[on-firstDerived]
	if d.state == unasked {
		step := &x.steps[on-firstDerived]
		v, is := x.value(s, k, step.of)
		if is == present {
			v, is = step.make(k, v)
		}
		*d = derived{v, is}
	}
	return d.v, d.state
}

// make takes the step from a value.
func (t *step) make(k *marks, of Value) (v Value, is state) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(bailout); !ok {
				panic(r)
			}
			v, is = nil, odd
		}
		clear(k.args)
		k.args = k.args[:0]
	}()
	var ok bool
	if t.call == nil {
		v, ok = Get(of, t.key)
	} else {
		var err error
		k.args = append(k.args[:0], t.args...)
		k.args[t.at] = of
		if v, ok, err = t.call(&k.call, k.args); err != nil {
			return nil, odd
		}
	}
	if !ok {
		return nil, missing
	}
	return v, present
}
