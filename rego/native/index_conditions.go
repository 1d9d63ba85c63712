package native

import (
	"strings"

	"github.com/hookc/hookc/internal/lists"
)

// equality is that a subject is one of constants. Strings are compared with
// whatever it is; other values with scalars at least.
func (r *leader) equality(on subject, holds bool, values []Value) {
	texts := true
	any := make([]handle, 0, len(values))
	for _, v := range values {
		if _, ok := v.(string); !ok && texts {
			r.guard(on, guardScalar)
			texts = false
		}
		if h, ok := handleOf(on, v); ok {
			any = append(any, h)
		}
	}
	// The test of more is left to the block, lest rules times values be
	// entered.
	if holds && len(any) <= widest {
		r.key(on, texts, any)
	}
}

// handleOf is what finds a value. One that is no scalar is found by its guard
// alone, and a number beyond float64 too.
func handleOf(on subject, v Value) (handle, bool) {
	h := handle{on: on}
	switch x := v.(type) {
	case string:
		h.kind, h.text = byText, x
	case nil:
		h.kind = byNull
	case bool:
		h.kind = byFalse + handleKind(truthIndex(x))
	case []Value, map[string]Value, *Object, *Set:
		return h, false
	default:
		f, ok := numberKey(x)
		h.kind, h.bits = byNumber, f
		return h, ok
	}
	return h, true
}

func (r *leader) comparison(s *Stmt) int {
	if !s.A.Const && s.A.N <= int32(DataLocal) || !s.B.Const && s.B.N <= int32(DataLocal) {
		return 0
	}
	a, knownA := r.holds(s.A)
	b, knownB := r.holds(s.B)
	if a.constants != nil {
		a, b, knownA, knownB = b, a, knownB, knownA
	}
	switch {
	case !knownA && simple(b.constants, true):
		return 1 // whatever it is
	case !knownA || !knownB:
		return 0
	case a.constants == nil && b.constants == nil:
		r.beside(a, guardScalar)
		r.beside(b, guardScalar)
		return 1
	case a.part:
		var any []handle
		for _, v := range b.constants {
			if h, ok := handleOf(a.on, v); ok {
				any = append(any, h)
			}
		}
		if s.Op == OpEqual {
			r.within(a.on, any)
		}
		return 1
	case a.constants == nil:
		r.equality(a.on, s.Op == OpEqual, b.constants)
		return 1
	case simple(a.constants, false) && simple(b.constants, false):
		if sure := len(a.constants) == 1 && len(b.constants) == 1; sure && Equal(a.constants[0], b.constants[0]) != (s.Op == OpEqual) {
			r.never()
		}
		return 1
	}
	return 0
}

// beside is a test of what is not known to be anything.
func (r *leader) beside(h held, kind guardKind) {
	if !h.part {
		r.guard(h.on, kind)
	}
}

// within is the condition that a part of a text is found by any of these: the
// text then holds them. A part is text, whatever else it may be compared with.
func (r *leader) within(on subject, any []handle) {
	var out []handle
	for _, h := range any {
		switch {
		case h.kind > byText:
			continue
		case h.text == "":
			return
		case h.kind != byFolded:
			h.kind = byContaining
		}
		out = append(out, h)
	}
	if len(out) <= widest {
		r.key(on, false, out)
	}
}

// never is a condition that does not hold.
func (r *leader) never() { r.key(0, false, nil) }

// simple reports whether constants can be compared with anything, or with each
// other: texts, and of those that are, null and booleans.
func simple(list []Value, texts bool) bool {
	for _, v := range list {
		switch v.(type) {
		case string:
		case nil, bool:
			if texts {
				return false
			}
		default:
			return false
		}
	}
	return list != nil
}

// builtin reads a builtin that tests a subject, or makes another of it.
func (r *leader) builtin(list []Stmt) int {
	s := &list[0]
	name := r.p.Builtins[s.Index]
	at, also := -1, -1
	options := make([][]Value, len(s.Args))
	var on [2]held
	for i, o := range s.Args {
		h, known := r.holds(o)
		switch {
		case !known || also >= 0 && h.constants == nil:
			return 0
		case h.constants != nil:
			options[i] = h.constants
		case at < 0:
			at, on[0] = i, h
		default:
			also, on[1] = i, h
		}
	}
	if also >= 0 {
		if len(list) > 1 && r.decides(s, &list[1]) && r.between(name, len(s.Args), on) {
			return 2
		}
		return 0
	}
	if at >= 0 && len(list) > 1 && r.decides(s, &list[1]) && (r.among(name, options, at, on[0]) || r.tests(name, options, at, on[0])) {
		return 2
	}
	if !changers[name] || s.Target == None {
		return 0
	}
	return r.change(s, name, options, at, on[0])
}

// among reads whether constants are among the parts of a text.
func (r *leader) among(name string, options [][]Value, at int, h held) bool {
	of, ok := r.parts(h, true)
	if !ok || name != "internal.member_2" || at != 1 {
		return false
	}
	var any []handle
	for _, v := range options[0] {
		if h, ok := handleOf(of.on, v); ok {
			any = append(any, h)
		}
	}
	r.within(of.on, any)
	return true
}

// change reads a builtin that makes a value of another.
func (r *leader) change(s *Stmt, name string, options [][]Value, at int, h held) int {
	if at < 0 {
		made, ok := madeOf(name, options)
		if !ok {
			return 0
		}
		return r.set(s.Target, held{constants: made}, true)
	}
	args := make([]Value, len(options))
	for i, list := range options {
		if i == at {
			continue
		}
		if len(list) != 1 {
			return 0
		}
		args[i] = list[0]
	}
	if h.part {
		if !textual[name] || at > 0 || !allTexts(args[1:]) {
			return 0
		}
		return r.set(s.Target, h, strings.HasPrefix(name, "trim"))
	}
	made := r.derivation.call(h.on, name, args, at)
	if at == 0 && allTexts(args[1:]) && (textual[name] || name == "split" || name == "replace") {
		r.guard(h.on, guardText) // what need not be made for its own sake
	} else {
		r.guard(made, guardSound)
	}
	return r.set(s.Target, held{on: made}, true)
}

// textual are the changers that give a text for any, when what they are given
// besides is one.
var textual = map[string]bool{
	"lower": true, "upper": true, "trim_space": true, "trim": true, "trim_left": true, "trim_right": true,
	"trim_prefix": true, "trim_suffix": true,
}

// madeOf is what a builtin makes of one list of constants, with constants.
func madeOf(name string, options [][]Value) (out []Value, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			out, ok = nil, false
		}
	}()
	out = []Value{}
	call := ownBuiltin(name).call()
	ok = each(options, -1, func(args []Value) bool {
		v, defined, err := call(&Call{Place: -1}, args)
		if err != nil || !defined {
			return false
		}
		freeze(v)
		out = append(out, v)
		return true
	})
	return out, ok
}

// each yields the arguments that options allow, unless they are many; it
// reports whether there were not too many and yield was content with all.
func each(options [][]Value, at int, yield func(args []Value) bool) bool {
	total := 1
	for i, list := range options {
		if i != at {
			if total *= len(list); total > widest {
				return false
			}
		}
	}
	args := make([]Value, len(options))
	for n := range total {
		for i, list := range options {
			if i == at {
				args[i] = undef
				continue
			}
			args[i] = list[n%len(list)]
			n /= len(list)
		}
		if !yield(lists.Copy(args)) {
			return false
		}
	}
	return true
}

// between reads a test of two subjects, which nothing is found by.
func (r *leader) between(name string, args int, on [2]held) bool {
	kind := guardScalar
	switch name {
	case "contains", "startswith", "endswith":
		kind = guardText
	case "equal", "neq", "lt", "lte", "gt", "gte":
	default:
		return false
	}
	if args != 2 {
		return false
	}
	r.beside(on[0], kind)
	r.beside(on[1], kind)
	return true
}
