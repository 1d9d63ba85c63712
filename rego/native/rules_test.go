package native

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFused: a test that is one closure says what its statements say one by
// one, wherever the values come from and whatever they are.
func TestFused(t *testing.T) {
	names := NewSet()
	for _, n := range strings.Fields("a b c d e f g h i j Bash Read") {
		names.Add(n)
	}
	mixed := NewSet("Bash", 1, []Value{2}, 3, 4, 5, 6, 7, 8, 9, 10)
	tests := []struct {
		builtin string
		known   Value
		first   bool // the constant comes first
	}{
		{"contains", "as", false}, {"contains", "Bash Read", true}, {"startswith", "Ba", false}, {"endswith", "sh", false},
		{"regex.match", "^B.sh$", true}, {"internal.member_2", names, false}, {"internal.member_2", mixed, false},
		{"internal.member_2", NewSet("Bash", 1), false}, {"internal.member_2", "Bash", true}, {"internal.member_2", 1, true},
		{"internal.member_2", []Value{"x", Number("1.0"), "Bash"}, false}, {"internal.member_2", object{"k": "Bash", "l": 1}, false},
		{"lt", "C", false}, {"gt", "C", true}, {"lte", 1, false}, {"gte", 1, false}, {"neq", "Bash", false}, {"equal", 1, false},
	}
	values := []Value{
		"Bash", "Read", "", "as", nil, true, false, 1, Number("1.0"), 1.5, []Value{2}, []Value{"Bash"}, object{"x": "Bash"},
		object{}, NewSet("Bash"), NewSet(1), "C", "Ba", "sh",
	}
	for _, c := range tests {
		for _, v := range append(values, absent) {
			var got []string
			for form := range 4 {
				got = append(got, fusedForm(t, form, c.builtin, c.known, c.first, v))
			}
			for _, g := range got[1:] {
				assert.Equal(t, got[0], g, "%s of %v and %v: %q", c.builtin, c.known, v, got)
			}
		}
	}
}

var absent Value = undefined{}

// fusedForm evaluates one condition: 0 by statements that cannot be fused, 1
// on a slot, 2 on a local, 3 negated on a slot.
func fusedForm(t *testing.T, form int, name string, known Value, first bool, v Value) string {
	t.Helper()
	m := &maker{}
	slot, fn := m.path("v"), m.builtin(name)
	args := []Operand{l(3), m.c(known)}
	if first {
		args[0], args[1] = args[1], args[0]
	}
	test := []Stmt{{Op: OpCallBuiltin, Index: fn, Args: args, Target: 4, Place: -1}, ne(l(4), m.c(false))}
	read := []Stmt{in(3, slot)}
	yes, nope := set(out, m.c("yes")), set(out, m.c("no"))
	after := []Stmt{is(OpIsUndefined, l(int32(out))), nope}
	switch form {
	case 0:
		test = append(test, set(5, l(4)), set(6, l(3)), set(7, l(5)), set(8, l(6)), is(OpIsDefined, l(7)), is(OpIsDefined, l(8)))
		m.fn("f", 2, append(append(read, test...), yes), after)
	case 1:
		m.fn("f", 2, append(append(read, test...), yes), after)
	case 2:
		m.fn("f", 2, append(append(append(read, is(OpIsDefined, l(3))), test...), yes), after)
	case 3:
		m.fn("f", 2, []Stmt{negate(append(read, test...)...), nope}, []Stmt{is(OpIsUndefined, l(int32(out))), yes})
	}
	input := object{"v": v}
	if v == absent {
		input = object{}
	}
	code, err := Link(&m.Program, func(string) Builtin {
		return func(_ *Call, args []Value) (Value, bool, error) {
			at := 0
			if first {
				at = 1
			}
			known := []Value{args[0], args[1]}
			known[at] = undef
			switch testerOf(name)(known, at)(args[at]) {
			case yesVerdict:
				return true, true, nil
			case no:
				return false, true, nil
			}
			return nil, false, ErrBail
		}
	})
	require.NoError(t, err)
	return m.run(t, code, input)
}

const yesVerdict = yes

// TestTests: the tests that native has itself.
func TestTests(t *testing.T) {
	mixed := NewSet("a", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	for _, c := range []struct {
		name  string
		known Value
		at    int
		v     Value
		want  verdict
	}{
		{"contains", "b", 0, "abc", yes}, {"contains", "x", 0, "abc", no}, {"contains", "abc", 1, "b", yes}, {"contains", "b", 0, 1, strange},
		{"contains", "abc", 1, nil, strange}, {"startswith", "a", 0, "abc", yes}, {"startswith", "b", 0, "abc", no}, {"endswith", "c", 0, "abc", yes},
		{"endswith", "abc", 1, "bc", yes}, {"regex.match", "^a+$", 1, "aaa", yes}, {"regex.match", "^a+$", 1, "ab", no}, {"regex.match", "a", 1, 1, strange},
		{"lt", 2, 0, 1, yes}, {"lt", 1, 0, 1, no}, {"lte", 1, 0, 1, yes}, {"gt", 1, 0, 2, yes}, {"gte", 2, 0, 1, no}, {"gt", 2, 1, 1, yes}, {"lt", 2, 1, 1, no},
		{"equal", 1, 0, Number("1.0"), yes}, {"neq", 1, 0, Number("1.0"), no}, {"lt", "a", 0, nil, yes},
		{"internal.member_2", NewSet(1), 0, Number("1.0"), yes}, {"internal.member_2", NewSet("a"), 0, "b", no}, {"internal.member_2", "a", 1, "a", no},
		{"internal.member_2", "a", 1, object{"a": "b"}, no}, {"internal.member_2", "b", 1, object{"a": "b"}, yes}, {"internal.member_2", 1, 1, []Value{0, 1}, yes},
		{"internal.member_2", mixed, 0, 1, yes}, {"internal.member_2", mixed, 0, "a", yes}, {"internal.member_2", mixed, 0, "b", no},
	} {
		args := []Value{c.known, c.known}
		args[c.at] = undef
		assert.Equal(t, c.want, testerOf(c.name)(args, c.at)(c.v), "%s %v at %d of %v", c.name, c.known, c.at, c.v)
	}
	for _, args := range [][]Value{{"(", undef}, {1, undef}, {undef, "x"}, {"x", undef, "y"}} {
		at := 1
		if args[0] == undef {
			at = 0
		}
		assert.Nil(t, testerOf("regex.match")(args, at))
	}
	assert.Nil(t, testerOf("contains")([]Value{undef, 1}, 0))
}

// TestRules: each value comes with the block that gave it.
func TestRules(t *testing.T) {
	type delivered struct {
		block int
		v     string
	}
	tell := func(m *maker, most int) (list []delivered, err error) {
		code := m.link(t)
		err = code.Rules(&Machine{}, len(m.Funcs)-1, &doc{p: &m.Program, v: object{"x": 1}}, func(block int, v Value) bool {
			list = append(list, delivered{block, Text(v)})
			return len(list) < most
		})
		return list, err
	}
	m := &maker{}
	x := m.path("x")
	m.fn("deny", 2, []Stmt{{Op: OpMakeSet, Target: out, Place: -1}}, []Stmt{put(m.c("b")), put(m.c("a"))}, []Stmt{m.stop(), put(m.c("c"))},
		[]Stmt{put(m.c("a")), in(3, x), put(l(3))})
	got, err := tell(m, 10)
	require.NoError(t, err)
	assert.Equal(t, []delivered{{1, `"b"`}, {1, `"a"`}, {3, `1`}}, got)
	got, err = tell(m, 2)
	require.NoError(t, err)
	assert.Equal(t, []delivered{{1, `"b"`}, {1, `"a"`}}, got)

	m = &maker{}
	m.fn("o", 2, []Stmt{{Op: OpMakeObject, Target: out, Place: -1}}, []Stmt{m.stop()}, []Stmt{insertOnce(m.c("k"), m.c(1))})
	got, err = tell(m, 10)
	require.NoError(t, err)
	assert.Equal(t, []delivered{{2, `["k", 1]`}}, got)

	m = &maker{}
	m.fn("allow", 2, []Stmt{m.stop()}, []Stmt{once(m.c(NewSet(1)))}, []Stmt{once(m.c(NewSet(1)))})
	got, err = tell(m, 10)
	require.NoError(t, err)
	assert.Equal(t, []delivered{{1, `{1}`}}, got)

	m = &maker{}
	m.fn("conflict", 2, []Stmt{once(m.c(1))}, []Stmt{once(m.c(2))})
	_, err = tell(m, 10)
	assert.Equal(t, ErrBail, err)

	m = &maker{}
	m.fn("nothing", 2)
	got, err = tell(m, 10)
	require.NoError(t, err)
	assert.Empty(t, got)
}

// TestStop: loops, calls and builtins' own loops ask whether time is up.
func TestStop(t *testing.T) {
	m := &maker{}
	list := make([]Value, 2000)
	for i := range list {
		list[i] = i
	}
	m.fn("f", 2, []Stmt{set(3, m.c(list)), {Op: OpScan, A: l(3), B: l(4), Target: 5, Blocks: blocks([]Stmt{set(out, l(5))}), Place: -1}})
	code := m.link(t)
	asked := 0
	machine := Machine{Stop: func() bool { asked++; return asked == 5 }}
	_, _, err := code.Eval(&machine, 0, &doc{p: &m.Program})
	assert.Equal(t, []any{ErrBail, 5}, []any{err, asked})
	machine.Stop = nil
	v, ok, err := code.Eval(&machine, 0, &doc{p: &m.Program})
	assert.Equal(t, []any{1999, true, nil}, []any{v, ok, err})

	m = &maker{}
	m.fn("f", 2, []Stmt{{Op: OpCallBuiltin, Index: m.builtin("test.steps"), Target: out, Place: -1}})
	code, err = Link(&m.Program, func(string) Builtin {
		return func(c *Call, _ []Value) (Value, bool, error) {
			for range 10 {
				c.Step(100)
			}
			return c.Name, true, nil
		}
	})
	require.NoError(t, err)
	asked = 0
	machine.Stop = func() bool { asked++; return false }
	v, _, err = code.Eval(&machine, 0, &doc{p: &m.Program})
	assert.Equal(t, []any{"test.steps", nil, 4}, []any{v, err, asked})
}

// TestMachine: slots are asked for once, nothing is left behind, and memory of
// one big evaluation is given back.
func TestMachine(t *testing.T) {
	m := guardrails(50)
	code := m.link(t)
	var machine Machine
	event := &doc{p: &m.Program, v: object{"tool_name": "Bash", "tool_input": object{"command": "rm -rf"}}}
	v, ok, err := code.Eval(&machine, 0, event)
	require.NoError(t, err)
	assert.Equal(t, []any{`{"no"}`, true, 2}, []any{Text(v), ok, event.asked})
	clean(t, &machine)
	in := &slots{"Bash", harmless}
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _, _ = code.Eval(&machine, 0, in) }))

	memo := &maker{}
	memo.fn("f", 2, []Stmt{memo.call(out, memo.fn("rule", 2, []Stmt{set(out, memo.c("kept"))}))})
	_, _, err = memo.link(t).Eval(&machine, 1, &doc{p: &memo.Program})
	require.NoError(t, err)
	clean(t, &machine)

	big := &maker{}
	big.whole()
	fn := big.fn("leaf", 3, []Stmt{set(out, l(2))})
	big.Funcs[fn].Locals = 5000
	for range 200 {
		next := big.fn("next", 3, []Stmt{big.call(3, fn, l(2)), {Op: OpReturn, A: l(3), Place: -1}})
		big.Funcs[next].Return = 4
		big.Funcs[next].Path = nil
		big.Funcs[next].Locals = 2000
		fn = next
	}
	big.fn("f", 2, []Stmt{big.call(out, fn, big.c("deep"))})
	assert.Equal(t, `"deep"`, big.run(t, big.link(t), nil))
	_, _, err = big.link(t).Eval(&machine, len(big.Funcs)-1, &doc{p: &big.Program})
	require.NoError(t, err)
	clean(t, &machine)
	assert.Nil(t, machine.frames)
	_, _, err = code.Eval(&machine, 0, event)
	require.NoError(t, err)
	clean(t, &machine)
}

// clean checks that a Machine holds no values.
func clean(t *testing.T, m *Machine) {
	t.Helper()
	assert.Nil(t, m.in)
	for _, s := range m.slots[:cap(m.slots)] {
		assert.Nil(t, s.v)
	}
	for _, f := range m.frames {
		assert.Nil(t, f.result)
		assert.LessOrEqual(t, cap(f.l), kept)
		for _, v := range f.l[:cap(f.l)] {
			assert.Equal(t, undef, v)
		}
		assert.Nil(t, f.spare)
	}
	assert.Zero(t, m.spare.Len())
	for _, v := range m.spare.elems[:cap(m.spare.elems)] {
		assert.Nil(t, v)
	}
	for _, r := range m.results[:cap(m.results)] {
		assert.Nil(t, r.v)
	}
	for _, v := range m.args[:cap(m.args)] {
		assert.Nil(t, v)
	}
	assert.Equal(t, make([]int, 6), []int{m.depth, m.deepest, m.locals, m.nested, len(m.undo), len(m.known)})
}

// TestSealed: what a function returned is nobody's to add to.
func TestSealed(t *testing.T) {
	for _, c := range []struct {
		op   Op
		grow Stmt
	}{
		{OpMakeObject, Stmt{Op: OpObjectInsert, Target: 3, Place: -1}},
		{OpMakeSet, Stmt{Op: OpSetAdd, Target: 3, Place: -1}},
	} {
		m := &maker{}
		one := m.c(1)
		grow := c.grow
		grow.A, grow.B = one, one
		made := grow
		made.Target = out
		rule := m.fn("rule", 2, []Stmt{{Op: c.op, Target: out, Place: -1}, made})
		m.fn("f", 2, []Stmt{m.call(3, rule), grow, set(out, one)})
		assert.Equal(t, "bail", m.eval(t, nil))
	}
}

// TestDepth: calls that only show when they run are bounded.
func TestDepth(t *testing.T) {
	m := &maker{}
	m.fn("f", 2, []Stmt{block([]Stmt{block([]Stmt{block([]Stmt{m.dynamic("g0", "f")})})})})
	assert.Equal(t, "bail", m.eval(t, nil))
}

// TestRulesSpare: what a rule's set is built in is used again, and tells of one
// evaluation alone; a set that rules look at themselves is not.
func TestRulesSpare(t *testing.T) {
	m := &maker{}
	slot := m.path("list")
	add := func(t Local, v Operand) Stmt { return Stmt{Op: OpSetAdd, Target: t, A: v, Place: -1} }
	empty := Stmt{Op: OpMakeSet, Target: out, Place: -1}
	each := Stmt{Op: OpScan, A: l(3), B: l(4), Target: 5, Place: -1, Blocks: blocks([]Stmt{add(out, l(5))})}
	m.fn("all", 2, []Stmt{empty}, []Stmt{in(3, slot), each}, []Stmt{add(out, m.c("last"))})
	m.fn("itself", 2, []Stmt{empty}, []Stmt{in(3, slot), each}, []Stmt{set(6, l(int32(out))), {Op: OpLen, A: l(6), Target: 7, Place: -1}, add(out, l(7))})
	code := m.link(t)
	assert.Equal(t, []bool{true, false}, []bool{code.funcs[0].private, code.funcs[1].private})
	var machine Machine
	var delivered []Value
	tell := func(_ int, v Value) bool { delivered = append(delivered, v); return true }
	for _, list := range [][]Value{{1, 2, 1}, {}, {"x"}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, "a", "b"}, {3}, {2, Number("2.0")}, {4}} {
		event := &doc{p: &m.Program, v: object{"list": list}}
		for fn, last := range []Value{"last", NewSet(list...).Len()} {
			delivered = nil
			err := code.Rules(&machine, fn, event, tell)
			if len(list) == 2 && list[1] == Number("2.0") {
				require.ErrorIs(t, err, ErrBail)
				continue
			}
			require.NoError(t, err)
			want := NewSet(append(slices.Clone(list), last)...)
			assert.Equal(t, want.elems, delivered)
			v, _, err := code.Eval(&machine, fn, event)
			require.NoError(t, err)
			assert.True(t, Equal(want, v))
			clean(t, &machine)
		}
	}
	event := &doc{p: &m.Program, v: object{"list": []Value{"x", "y"}}}
	ignore := func(int, Value) bool { return true }
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { _ = code.Rules(&machine, 0, event, ignore) }), 0.0)
}
