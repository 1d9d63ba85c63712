package native

import (
	"github.com/hookc/hookc/rego/bounds"
)

// Budget is what an evaluation may use beside time.
type Budget interface {
	// Roof is how much memory it may hold, as package bounds counts it.
	Roof() int64
	// Overrun says that it takes more than it may: digits, or else memory. The
	// evaluation bails.
	Overrun(digits bool)
}

// account is the memory that an evaluation holds. kept counts what was added to
// collections, memos what functions without arguments gave: as long as neither
// counts on, what was made is garbage when its loop goes on.
type account struct {
	held, roof  int64
	kept, memos int
	asked       valueArgs
}

// charge takes memory.
func (m *Machine) charge(size int64) {
	if m.held += size; m.held > m.roof {
		m.overrun()
	}
}

// keep takes memory for an element of a collection.
func (m *Machine) keep(v Value) {
	m.kept++
	size := int64(bounds.Element)
	if list, ok := v.([]Value); ok {
		size += bounds.Collection + bounds.Element*int64(len(list))
	}
	m.charge(size)
}

// overrun ends the evaluation unless it may hold more than it was thought.
func (m *Machine) overrun() {
	if m.Budget != nil {
		if m.roof = m.Budget.Roof(); m.held <= m.roof {
			return
		}
		m.Budget.Overrun(false)
	}
	panic(bailout{})
}

// heavy is the length of a text from which on what looks at it is worth steps:
// one for each so many bytes.
const (
	heavy  = 1 << 12
	weight = 1 << 7
)

// weigh counts what is done with a text.
func (m *Machine) weigh(v Value) {
	if s, ok := v.(string); ok && len(s) >= heavy {
		m.carry(len(s))
	}
}

// carry counts what is done with a text that is heavy.
func (m *Machine) carry(size int) {
	if m.steps -= size / weight; m.steps < 0 {
		m.tick()
	}
}

// bounded is a builtin that is native's own, the host's or both, with its bounds.
func bounded(name string, own, host Builtin) Builtin {
	b, known := bounds.Of(name)
	if host != nil {
		host = watched(host)
	}
	var f Builtin
	switch {
	case b.Need == nil:
		f = orHost(own, host)
	case b.Class == bounds.Numbers && own != nil:
		f = orHost(own, guarded(b, host)) // its own never have many digits
	default:
		f = guarded(b, orHost(own, host))
	}
	switch {
	case f == nil:
		return nil
	case b.Kept() || !known && own == nil:
		return charged(f)
	case b.Class == bounds.Picks:
		return picked(f)
	}
	return f
}

// watched looks at the clock after each call.
func watched(f Builtin) Builtin {
	return func(c *Call, args []Value) (Value, bool, error) {
		v, ok, err := f(c, args)
		if c != nil && c.m != nil {
			c.m.tick()
		}
		return v, ok, err
	}
}

// guarded asks before a call what it needs.
func guarded(b bounds.Bound, f Builtin) Builtin {
	if f == nil {
		return nil
	}
	return func(c *Call, args []Value) (Value, bool, error) {
		if c == nil || c.m == nil {
			return f(c, args)
		}
		m := c.m
		m.asked = args // in the Machine's memory, for a call of an interface needs some
		need := b.Need(&m.asked)
		m.asked = nil
		if need <= 0 {
			return f(c, args)
		}
		if need >= bounds.Never && m.Budget != nil {
			m.Budget.Overrun(b.Class == bounds.Numbers)
			return bail()
		}
		before := m.held
		m.charge(need)
		m.held = before
		return f(c, args)
	}
}

// charged takes memory for what a builtin made, picked for the collection that it
// put parts in.
func charged(f Builtin) Builtin {
	return func(c *Call, args []Value) (Value, bool, error) {
		v, ok, err := f(c, args)
		if err == nil && ok && c != nil && c.m != nil {
			if s, text := v.(string); text {
				c.m.charge(bounds.String + int64(len(s)))
				c.m.weigh(v)
			} else {
				c.m.charge(sizeOf(v))
			}
		}
		return v, ok, err
	}
}

func picked(f Builtin) Builtin {
	return func(c *Call, args []Value) (Value, bool, error) {
		v, ok, err := f(c, args)
		if err == nil && ok && c != nil && c.m != nil {
			if n := Len(v); n > 0 {
				c.m.charge(bounds.Collection + bounds.Element*int64(n))
				if c.m.steps -= n / 8; c.m.steps < 0 {
					c.m.tick()
				}
			}
		}
		return v, ok, err
	}
}

// Size is how much memory a value takes, as package bounds counts it.
func Size(v Value) int64 { return measure(v).Size }

// sizeOf is the size of a list of texts, which most functions give, or of
// anything else.
func sizeOf(v Value) int64 {
	list, ok := v.([]Value)
	if !ok {
		return scalarSize(v)
	}
	size := bounds.Collection + bounds.Element*int64(len(list))
	for _, e := range list {
		if s, ok := e.(string); ok {
			size += bounds.String + int64(len(s))
			continue
		}
		size += scalarSize(e)
	}
	return size
}

func scalarSize(v Value) int64 {
	switch v.(type) {
	case nil, bool, int:
		return bounds.Scalar
	}
	return measure(v).Size
}

func measure(v Value) bounds.Measure {
	var m bounds.Measure
	measureInto(&m, v, 0)
	return m
}

func measureInto(m *bounds.Measure, v Value, depth int64) {
	switch x := v.(type) {
	case string:
		m.Text(x)
	case int:
		m.Plain()
	case []Value:
		m.Enter(len(x), depth)
		for _, e := range x {
			measureInto(m, e, depth+1)
		}
	case *Set:
		m.Enter(x.Len(), depth)
		for _, e := range x.elems {
			measureInto(m, e, depth+1)
		}
	case map[string]Value, *Object:
		m.Enter(2*Len(x), depth)
		Each(x, func(k, e Value) bool {
			measureInto(m, k, depth+1)
			measureInto(m, e, depth+1)
			return true
		})
	default:
		if kindOf(v) == kindNumber {
			m.Num(numberText(v))
			return
		}
		m.Plain()
	}
}

// valueArgs are the arguments of a call.
type valueArgs []Value

// Text is a bounds.Args'.
func (a *valueArgs) Text(i int) (string, bool) {
	if i >= len(*a) {
		return "", false
	}
	s, ok := (*a)[i].(string)
	return s, ok
}

// Number is a bounds.Args'.
func (a *valueArgs) Number(i int) (string, bool) {
	if i >= len(*a) || kindOf((*a)[i]) != kindNumber {
		return "", false
	}
	return numberText((*a)[i]), true
}

// Count is a bounds.Args'.
func (a *valueArgs) Count(i int) int {
	if i >= len(*a) {
		return 0
	}
	return Len((*a)[i])
}

// Deep is a bounds.Args'.
func (a *valueArgs) Deep(i int) bounds.Measure {
	if i >= len(*a) {
		return bounds.Measure{}
	}
	return measure((*a)[i])
}

// Pairs is a bounds.Args'.
func (a *valueArgs) Pairs(i int, yield func(key, value string, ok bool)) {
	if i < len(*a) {
		eachValue((*a)[i], func(key string, v Value) {
			s, ok := v.(string)
			yield(key, s, ok)
		})
	}
}

// Lists is a bounds.Args'.
func (a *valueArgs) Lists(i int, yield func(key string, list []string)) {
	if i >= len(*a) {
		return
	}
	eachValue((*a)[i], func(key string, v Value) {
		var list []string
		eachValue(v, func(_ string, e Value) {
			if s, ok := e.(string); ok {
				list = append(list, s)
			}
		})
		yield(key, list)
	})
}

// eachValue goes through a collection: only objects have keys.
func eachValue(v Value, yield func(key string, v Value)) {
	switch x := v.(type) {
	case []Value:
		for _, e := range x {
			yield("", e)
		}
	case *Set:
		for _, e := range x.elems {
			yield("", e)
		}
	case map[string]Value, *Object:
		Each(x, func(k, e Value) bool {
			key, _ := k.(string)
			yield(key, e)
			return true
		})
	}
}
