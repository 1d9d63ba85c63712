package native

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// shaped makes programs as people write guardrails: tests behind helpers,
// aliases and functions, of what builtins make of a field, over constants, and
// of the parts of a text.
type shaped struct{ *chance }

// value reads a slot, or makes something of one, in a local.
func (c *shaped) value() (list []Stmt, local int32) {
	local = c.local()
	list = []Stmt{in(Local(local), int32(c.IntN(4)))}
	switch c.IntN(12) {
	case 0, 1:
		return c.made(list, []string{"lower", "upper", "trim_space"}[c.IntN(3)], l(local))
	case 2:
		return c.made(list, []string{"trim_prefix", "trim", "trim_suffix"}[c.IntN(3)], l(local), c.c(c.text(1)))
	case 3:
		return c.made(list, "replace", l(local), c.c(c.text(1)), c.c(c.text(1)))
	case 4:
		return c.made(list, "object.get", l(local), c.c("a"), c.c(c.text(2)))
	case 5:
		to := c.local()
		return append(list, dot(Local(to), l(local), c.c([]Value{"a", "b", 0}[c.IntN(3)]))), to
	case 6:
		list, parts := c.made(list, "split", l(local), c.c("b"))
		to := c.local()
		return append(list, dot(Local(to), l(parts), c.c(c.IntN(3)))), to
	case 7:
		return c.made(list, "count", l(local))
	}
	return list, local
}

func (c *shaped) made(list []Stmt, name string, args ...Operand) ([]Stmt, int32) {
	to := c.local()
	return append(list, Stmt{Op: OpCallBuiltin, Index: c.named(name), Args: args, Target: Local(to), Place: -1}), to
}

// named is the number of a builtin.
func (c *shaped) named(name string) int32 {
	if i := slices.Index(c.Builtins, name); i >= 0 {
		return int32(i)
	}
	return c.builtin(name)
}

// test is a test of a value against a constant, or what may be several.
func (c *shaped) test(v, constant Operand) []Stmt {
	switch c.IntN(8) {
	case 0, 1:
		return []Stmt{eq(v, constant)}
	case 2:
		return []Stmt{ne(constant, v)}
	case 3:
		return []Stmt{negate(c.tests("contains", v, constant)...)}
	}
	return c.tests([]string{"contains", "startswith", "endswith"}[c.IntN(3)], v, constant)
}

// fixed are tests that only constants are written in.
func (c *shaped) fixed(v Operand) []Stmt {
	globs := []string{"a*", "**ab*", "ab", "*", "{rm,a}*b", "a?b**", "é*"}
	switch c.IntN(4) {
	case 0:
		delimiters := []Value{nil, []Value{}, []Value{"/"}}[c.IntN(3)]
		return c.tests("glob.match", c.c(globs[c.IntN(len(globs))]), c.c(delimiters), v)
	case 1:
		return c.tests("strings.any_prefix_match", v, c.c([]Value{c.text(2), c.text(2)}))
	case 2:
		return c.tests("internal.member_2", v, c.c([]Value{c.text(2), c.scalar()}))
	}
	return c.tests("regex.match", c.c(patterns[c.IntN(len(patterns))]), v)
}

// shape is one condition of a rule.
func (c *shaped) shape() []Stmt {
	switch c.IntN(9) {
	case 0:
		return c.condition()
	case 1, 2, 3:
		return c.asked()
	case 4:
		list, a := c.value()
		more, b := c.value()
		return append(append(list, more...), c.tests("startswith", l(a), l(b))...)
	case 5:
		list, v := c.value()
		return append(list, c.fixed(l(v))...)
	case 6:
		list, v := c.value()
		list, parts := c.made(list, "split", l(v), c.c([]string{" ", "b"}[c.IntN(2)]))
		return append(list, c.tests("internal.member_2", c.c(c.scalar()), l(parts))...)
	}
	list, v := c.value()
	return append(list, c.test(l(v), c.c(c.text(3)))...)
}

// asked is the call of a helper, and mostly a test of what it gives.
func (c *shaped) asked() []Stmt {
	if len(c.helpers) == 0 {
		return nil
	}
	fn := c.helpers[c.IntN(len(c.helpers))]
	to := c.local()
	call := Stmt{Op: OpCall, Index: fn, Args: []Operand{l(0), l(1)}, Target: Local(to), Place: -1}
	var list []Stmt
	if c.Funcs[fn].Params == 3 {
		v := c.c(c.text(2))
		if c.IntN(3) > 0 {
			var local int32
			list, local = c.value()
			v = l(local)
		}
		call.Args = append(call.Args, v)
	}
	list = append(list, call)
	switch c.IntN(7) {
	case 0:
		return list
	case 1:
		return []Stmt{negate(append(list, ne(l(to), c.c(false)))...)}
	case 2:
		return append(list, eq(l(to), c.c([]Value{"yes", "no", true, false}[c.IntN(4)])))
	case 3:
		return append(list, c.test(l(to), c.c(c.text(2)))...)
	case 4:
		return append(list, dot(Local(c.local()), l(to), c.c([]Value{"yes", 1}[c.IntN(2)])))
	}
	return append(list, ne(l(to), c.c(false)))
}

// iterated puts the end of a rule into an iteration: over constants, the parts
// of a text, or what a helper gives.
func (c *shaped) iterated(end []Stmt) []Stmt {
	var list []Stmt
	var source Operand
	key, element := c.local(), c.local()
	switch c.IntN(6) {
	case 0, 1:
		source = c.c([]Value{c.text(2), c.text(2), c.short()})
	case 2:
		source = c.c(object{c.text(2): c.text(2), "rm": "ab"})
	case 3:
		list = []Stmt{{Op: OpCall, Index: c.helpers[0], Args: []Operand{l(0), l(1)}, Target: Local(c.local()), Place: -1}}
		source = l(int32(list[0].Target))
	default:
		v, local := c.value()
		v, parts := c.made(v, "split", l(local), c.c("b"))
		list, source = v, l(parts)
	}
	inner, v := c.value()
	switch c.IntN(5) {
	case 0:
		inner = c.test(l(element), c.c(c.text(2)))
	case 1:
		trimmed, to := c.made(nil, "trim_space", l(element))
		inner = append(trimmed, c.test(l(to), c.c(c.text(2)))...)
	case 2:
		inner = c.fixed(l(element))
	case 3:
		inner = append(inner, c.test(l(v), l(key))...)
	default:
		inner = append(inner, c.test(l(v), l(element))...)
	}
	scan := Stmt{Op: OpScan, A: source, B: l(key), Target: Local(element), Blocks: blocks(append(inner, end...)), Place: -1}
	list = append(list, scan)
	if c.IntN(8) == 0 { // something follows
		list = append(list, c.shape()...)
		list = append(list, end...)
	}
	return list
}

func (c *shaped) body(end ...Stmt) []Stmt {
	var list []Stmt
	for range c.IntN(4) {
		if c.next < 24 {
			list = append(list, c.shape()...)
		}
	}
	if len(c.helpers) > 0 && c.IntN(4) == 0 {
		return append(list, c.iterated(end)...)
	}
	return append(list, end...)
}

// helper is a function as guardrails have them: of a rule or a few, a chain of
// else, an alias, with a default, with an argument, or a set.
func (c *shaped) helper(set bool, params int32) [][]Stmt {
	give := func(v Operand) Stmt { return Stmt{Op: OpAssignOnce, Target: 3, A: v, Place: -1} }
	var out [][]Stmt
	marker := int32(30)
	kind := c.IntN(6)
	if set {
		kind = 6
		out = append(out, []Stmt{{Op: OpMakeSet, Target: 3, Place: -1}})
	}
	for i := range 1 + c.IntN(3) {
		c.next = 3
		var list []Stmt
		if params == 3 && c.IntN(2) == 0 {
			list = c.test(l(2), c.c(c.text(2)))
		}
		switch kind {
		case 0, 1:
			list = append(list, c.body(give(c.c(true)))...)
		case 2:
			more, v := c.value()
			list = append(append(list, more...), give(l(v)))
		case 3, 4:
			first := is(OpIsUndefined, l(marker))
			if i == 0 {
				first = Stmt{Op: OpReset, Target: Local(marker), Place: -1}
			}
			v := c.c([]Value{"yes", "no", false, 7}[c.IntN(4)])
			list = append(append([]Stmt{first}, list...), c.body(give(v), Stmt{Op: OpAssignOnce, Target: Local(marker), A: v, Place: -1})...)
		case 5:
			list = append(list, c.body(give(c.c([]Value{"yes", "no", false}[c.IntN(3)])))...)
		default:
			list = append(list, c.body(put2(c.c([]Value{"yes", "ab", 1}[c.IntN(3)])))...)
		}
		out = append(out, list)
		if kind == 2 && c.IntN(2) == 0 {
			break
		}
	}
	if !set && c.IntN(3) == 0 {
		out = append(out, []Stmt{is(OpIsUndefined, l(3)), give(c.c([]Value{false, "no"}[c.IntN(2)]))})
	}
	return append(out, []Stmt{{Op: OpReturn, A: l(3), Place: -1}})
}

func put2(v Operand) Stmt { return Stmt{Op: OpSetAdd, Target: 3, A: v, Place: -1} }

// shapedProgram is one of helpers, the first of which gives a set, and three
// entry points that are its last functions.
func shapedProgram(r *rand.Rand) *maker {
	c := &shaped{&chance{maker: &maker{}, Rand: r, calm: r.IntN(4) > 0}}
	for _, name := range []string{"a", "b", "c", "d"} {
		c.path(name)
	}
	c.Paths = append(c.Paths, nil)
	c.Files, c.Places = []string{"test.rego"}, []Place{{0, 1, 1}}
	add := func(params int32, lists [][]Stmt) {
		i := len(c.Funcs)
		fn := Func{Name: fmt.Sprint(i), Path: []string{"g0", fmt.Sprint(i)}, Params: params, Locals: 64, Return: 3, Memo: params == 2}
		fn.Blocks = blocks(lists...)
		c.Funcs = append(c.Funcs, fn)
	}
	for i := range 6 {
		params := int32(2)
		if i > 0 && c.IntN(3) == 0 {
			params = 3
		}
		add(params, c.helper(i == 0, params))
		c.helpers = append(c.helpers, int32(i))
	}
	for range 3 {
		lists := [][]Stmt{{{Op: OpMakeSet, Target: 3, Place: -1}}}
		for i := range 6 + c.IntN(10) {
			c.next = 3
			lists = append(lists, c.body(put2(c.c(i%7))))
		}
		add(2, append(lists, []Stmt{{Op: OpReturn, A: l(3), Place: -1}}))
	}
	return c.maker
}
