package native

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// trace adds a step to the set that is returned.
func (m *maker) trace(text string) Stmt { return put(m.c(text)) }

// stop is a statement that is undefined.
func (m *maker) stop() Stmt { return eq(m.c(1), m.c(2)) }

// TestFlow: where statements go on after blocks, breaks, negations and loops.
func TestFlow(t *testing.T) {
	for _, c := range []struct {
		name string
		want string
		body func(m *maker) []Stmt
	}{
		{"a block goes on after its end", `{"a", "b", "c"}`, func(m *maker) []Stmt {
			return []Stmt{block([]Stmt{m.trace("a")}, []Stmt{m.trace("b")}), m.trace("c")}
		}},
		{"undefined ends one block", `{"b", "c"}`, func(m *maker) []Stmt {
			return []Stmt{block([]Stmt{m.stop(), m.trace("a")}, []Stmt{m.trace("b")}), m.trace("c")}
		}},
		{"break 0 ends one block", `{"b", "c"}`, func(m *maker) []Stmt {
			return []Stmt{block([]Stmt{brk(0), m.trace("a")}, []Stmt{m.trace("b")}), m.trace("c")}
		}},
		{"break 1 ends the block around", `{"x"}`, func(m *maker) []Stmt {
			return []Stmt{m.trace("x"), block([]Stmt{brk(1)}, []Stmt{m.trace("b")}), m.trace("c")}
		}},
		{"break 2 of three", `{"d"}`, func(m *maker) []Stmt {
			inner := block([]Stmt{brk(2), m.trace("a")}, []Stmt{m.trace("b")})
			return []Stmt{block([]Stmt{block([]Stmt{inner, m.trace("c")})}, []Stmt{m.trace("d")})}
		}},
		{"return from within", `"early"`, func(m *maker) []Stmt {
			return []Stmt{set(3, m.c("early")), block([]Stmt{block([]Stmt{{Op: OpReturn, A: l(3), Place: -1}})}), m.trace("a")}
		}},
		{"not of what holds", `{"x"}`, func(m *maker) []Stmt {
			return []Stmt{m.trace("x"), negate(eq(m.c(1), m.c(1))), m.trace("a")}
		}},
		{"not of what does not", `{"a"}`, func(m *maker) []Stmt { return []Stmt{negate(m.stop()), m.trace("a")} }},
		{"not of nothing", `set()`, func(m *maker) []Stmt { return []Stmt{negate(), m.trace("a")} }},
		{"break out of not", `set()`, func(m *maker) []Stmt { return []Stmt{negate(brk(1)), m.trace("a")} }},
		{"not of not", `{"a"}`, func(m *maker) []Stmt { return []Stmt{negate(negate(eq(m.c(1), m.c(1)))), m.trace("a")} }},
		{"a conflict in not bails", `bail`, func(m *maker) []Stmt { return []Stmt{negate(put(l(9)))} }},
		{"a loop goes on when its body ends", `{1, 2, 3, "end"}`, func(m *maker) []Stmt {
			return []Stmt{set(3, m.c([]Value{3, 1, 2})), scanOver(3, put(l(5)), m.stop()), m.trace("end")}
		}},
		{"break 0 in a loop goes on", `{1, 2, 3, "end"}`, func(m *maker) []Stmt {
			return []Stmt{set(3, m.c([]Value{3, 1, 2})), scanOver(3, put(l(5)), brk(0), put(l(3))), m.trace("end")}
		}},
		{"break 1 in a loop leaves it", `{3, "end"}`, func(m *maker) []Stmt {
			return []Stmt{set(3, m.c([]Value{3, 1, 2})), scanOver(3, put(l(5)), brk(1)), m.trace("end")}
		}},
		{"break 2 in a loop leaves the block", `{3}`, func(m *maker) []Stmt {
			return []Stmt{set(3, m.c([]Value{3, 1, 2})), scanOver(3, put(l(5)), brk(2)), m.trace("end")}
		}},
		{"after a loop the key is undefined", `{"undefined"}`, func(m *maker) []Stmt {
			return []Stmt{set(3, m.c([]Value{3})), scanOver(3), is(OpIsUndefined, l(4)), m.trace("undefined")}
		}},
		{"a loop over a string", `{"end"}`, func(m *maker) []Stmt {
			return []Stmt{set(3, m.c("text")), scanOver(3, put(l(5))), m.trace("end")}
		}},
		{"a loop over undefined", `{"end"}`, func(m *maker) []Stmt { return []Stmt{scanOver(3, put(l(5))), m.trace("end")} }},
		{"a dynamic call of nothing", `set()`, func(m *maker) []Stmt {
			return []Stmt{block([]Stmt{block([]Stmt{block([]Stmt{m.dynamic("g0", "none")})})}), brk(0)}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &maker{}
			m.fn("f", 2, []Stmt{{Op: OpMakeSet, Target: out, Place: -1}}, c.body(m))
			assert.Equal(t, c.want, m.eval(t, object{}))
		})
	}
}

// scan loops over local 3, with the key in 4 and the value in 5.
func scanOver(n int32, body ...Stmt) Stmt {
	return Stmt{Op: OpScan, A: l(n), B: l(4), Target: 5, Blocks: blocks(body), Place: -1}
}

func (m *maker) dynamic(path ...string) Stmt {
	s := Stmt{Op: OpCallDynamic, Target: 8, Args: []Operand{l(0), l(1)}, Place: -1}
	m.whole()
	for _, name := range path {
		s.Keys = append(s.Keys, m.c(name))
	}
	return s
}

func (m *maker) whole() {
	for _, path := range m.Paths {
		if path == nil {
			return
		}
	}
	m.Paths = append(m.Paths, nil)
}

func (m *maker) call(t Local, fn int32, args ...Operand) Stmt {
	m.whole()
	return Stmt{Op: OpCall, Target: t, Index: fn, Args: append([]Operand{l(0), l(1)}, args...), Place: -1}
}

// TestScanOrder: elements come in OPA's order, with their keys.
func TestScanOrder(t *testing.T) {
	odd := NewObject()
	for _, k := range []Value{"b", 2, nil, []Value{1}, true, "a", NewSet(1), Number("1.0"), -1, 10, 9} {
		odd.Put(k, Text(k))
	}
	big := NewSet()
	for i := range 40 {
		big.Add((i * 7) % 40)
	}
	for _, c := range []struct {
		v    Value
		want string
	}{
		{[]Value{"x", 1}, `[[0, "x"], [1, 1]]`},
		{object{"b": 1, "a": 2}, `[["a", 2], ["b", 1]]`},
		{NewSet(3, "x", nil, 1), `[[null, null], [1, 1], [3, 3], ["x", "x"]]`},
		{odd, `[[null, "null"], [true, "true"], [-1, "-1"], [1.0, "1.0"], [2, "2"], [9, "9"], [10, "10"], ["a", "\"a\""], ["b", "\"b\""], [[1], "[1]"], [{1}, "{1}"]]`},
		{big, listing(40)},
		{7, `[]`},
	} {
		m := &maker{}
		slot := m.path("v")
		pair := m.builtin("test.pair")
		m.fn("f", 2, []Stmt{
			{Op: OpMakeArray, Target: out, Place: -1},
			in(3, slot),
			scanOver(3, Stmt{Op: OpCallBuiltin, Index: pair, Args: []Operand{l(4), l(5)}, Target: 6, Place: -1}, add(6)),
		})
		assert.Equal(t, c.want, m.eval(t, object{"v": c.v}))
	}
}

func listing(n int) string {
	list := []Value{}
	for i := range n {
		list = append(list, []Value{i, i})
	}
	return Text(list)
}

// TestCalls: functions see their arguments, undefined ends the block, what
// takes nothing but input and data runs once.
func TestCalls(t *testing.T) {
	m := &maker{}
	counted := 0
	mine := func(name string) Builtin {
		if name == "test.count" {
			return func(*Call, []Value) (Value, bool, error) { counted++; return counted, true, nil }
		}
		return given(name)
	}
	count, pair := m.builtin("test.count"), m.builtin("test.pair")
	once := m.fn("once", 2, []Stmt{{Op: OpCallBuiltin, Index: count, Target: out, Place: -1}})
	nothing := m.fn("nothing", 2)
	both := m.fn("both", 4, []Stmt{{Op: OpCallBuiltin, Index: pair, Args: []Operand{l(3), l(3)}, Target: out, Place: -1}})
	m.Funcs[both].Return = 4
	m.Funcs[both].Blocks = blocks([]Stmt{
		{Op: OpCallBuiltin, Index: pair, Args: []Operand{l(3), l(2)}, Target: 4, Place: -1}, {Op: OpReturn, A: l(4), Place: -1},
	})
	m.fn("f", 2, []Stmt{{Op: OpMakeArray, Target: out, Place: -1}},
		[]Stmt{m.call(3, once), add(3), m.call(4, once), add(4), m.call(5, both, l(3), m.c("x")), add(5)},
		[]Stmt{set(6, m.c("old")), m.call(6, nothing), add(6)},
		[]Stmt{is(OpIsUndefined, l(6)), set(7, m.c("gone")), add(7)},
		[]Stmt{block([]Stmt{block([]Stmt{block([]Stmt{m.dynamic("g0", "once"), add(8), brk(0)})}), m.dynamicMiss(), set(9, m.c("not here")), add(9)})},
		[]Stmt{{Op: OpCallBuiltin, Index: count, Target: None, Place: -1}, m.call(9, once), add(9)},
	)
	code, err := Link(&m.Program, mine)
	require.NoError(t, err)
	assert.Equal(t, `[1, 1, ["x", 1], "gone", 1, 1]`, m.run1(t, code, nil))
	assert.Equal(t, 2, counted)
	assert.Equal(t, []int{int(once), int(both), -1, -1}, []int{code.Func("g0", "once"), code.Func("g0", "both"), code.Func("g0"), code.Func("g1")})
}

// dynamicMiss calls what is there and undefined, which leaves four blocks.
func (m *maker) dynamicMiss() Stmt {
	return block([]Stmt{block([]Stmt{block([]Stmt{m.dynamic("g0", "nothing")}), set(9, m.c("b")), add(9)}), set(9, m.c("c")), add(9)})
}

func (m *maker) run1(t *testing.T, code *Code, input Value) string {
	t.Helper()
	v, ok, err := code.Eval(&Machine{}, len(m.Funcs)-1, &doc{p: code.program, v: input})
	require.NoError(t, err)
	require.True(t, ok)
	return Text(v)
}

// TestWith: input and data are replaced and put back, and what was remembered
// is neither used nor lost.
func TestWith(t *testing.T) {
	m := &maker{}
	a := m.path("o", "a")
	calls := 0
	note := func(_ *Call, args []Value) (Value, bool, error) { calls++; return args[0], true, nil }
	noted := m.builtin("test.note")
	rule := m.fn("rule", 2, []Stmt{in(3, a), {Op: OpCallBuiltin, Index: noted, Args: []Operand{l(3)}, Target: out, Place: -1}})
	base := m.fn("base", 2, []Stmt{dot(out, l(1), m.c("k"))})
	m.whole()
	with := func(t Local, v Operand, keys []Operand, body ...Stmt) Stmt {
		return Stmt{Op: OpWith, Target: t, A: v, Keys: keys, Blocks: blocks(body), Place: -1}
	}
	keys := func(names ...string) (list []Operand) {
		for _, n := range names {
			list = append(list, m.c(n))
		}
		return list
	}
	m.Data = object{"k": "base", "l": 1}
	m.fn("f", 2, []Stmt{{Op: OpMakeArray, Target: out, Place: -1}},
		[]Stmt{m.call(3, rule), add(3)},
		[]Stmt{with(InputLocal, m.c(object{"o": object{"a": "whole"}}), nil, m.call(3, rule), add(3), m.call(3, rule), add(3))},
		[]Stmt{with(InputLocal, m.c("part"), keys("o", "a"), m.call(3, rule), add(3), in(4, a), add(4), set(5, l(0)), add(5),
			with(InputLocal, m.c("deeper"), keys("o", "a"), m.call(3, rule), add(3)), m.call(3, rule), add(3))},
		[]Stmt{with(InputLocal, m.c("new"), keys("o", "a", "b"), in(4, a), add(4)), m.stop()},
		[]Stmt{with(InputLocal, m.c(object{}), nil, m.call(3, rule), add(3)), add(3)},
		[]Stmt{with(DataLocal, m.c("mock"), keys("k"), m.call(3, base), add(3), set(4, l(1)), add(4)), m.call(3, base), add(3)},
		[]Stmt{m.call(3, rule), add(3)},
	)
	code, err := Link(&m.Program, func(string) Builtin { return note })
	require.NoError(t, err)
	assert.Equal(t, `["was", "whole", "whole", "part", "part", {"o": {"a": "part", "z": 1}}, "deeper", "part", {"b": "new"}, `+
		`"mock", {"k": "mock", "l": 1}, "base", "was"]`, m.run1(t, code, object{"o": object{"a": "was", "z": 1}}))
	assert.Equal(t, 4, calls, "each input's rule ran once")
}

// TestWithBails: only an object is changed.
func TestWithBails(t *testing.T) {
	m := &maker{}
	m.whole()
	m.fn("f", 2, []Stmt{{Op: OpWith, Target: InputLocal, A: m.c(1), Keys: []Operand{m.c("k")}, Blocks: blocks([]Stmt{set(out, l(0))}), Place: -1}})
	assert.Equal(t, `{"k": 1}`, m.eval(t, nil))
	assert.Equal(t, `{"a": 2, "k": 1}`, m.eval(t, object{"a": 2, "k": object{}}))
	assert.Equal(t, `bail`, m.eval(t, []Value{1}))
	m = &maker{}
	m.whole()
	m.fn("f", 2, []Stmt{{Op: OpWith, Target: InputLocal, A: m.c(1), Keys: []Operand{m.c("k"), m.c("l")}, Blocks: blocks([]Stmt{set(out, l(0))}), Place: -1}})
	assert.Equal(t, `{"k": {"l": 1}}`, m.eval(t, object{"k": "scalar"}))
	assert.Equal(t, `{"k": {"j": 2, "l": 1}}`, m.eval(t, object{"k": object{"j": 2}}))
}

// TestBuiltins: undefined results end the block, errors and undefined
// arguments bail.
func TestBuiltins(t *testing.T) {
	for want, c := range map[string]struct {
		name string
		arg  func(m *maker) Operand
	}{
		`"x"`:       {"truth", func(m *maker) Operand { return m.c("x") }},
		`undefined`: {"nothing", func(m *maker) Operand { return m.c("x") }},
		`bail`:      {"fails", func(m *maker) Operand { return m.c("x") }},
	} {
		m := &maker{}
		m.fn("f", 2, []Stmt{{Op: OpCallBuiltin, Index: m.builtin("test." + c.name), Args: []Operand{c.arg(m)}, Target: out, Place: -1}})
		assert.Equal(t, want, m.eval(t, nil))
	}
	m := &maker{}
	m.fn("f", 2, []Stmt{{Op: OpCallBuiltin, Index: m.builtin("test.truth"), Args: []Operand{l(9)}, Target: out, Place: -1}})
	assert.Equal(t, `bail`, m.eval(t, nil))
	_, err := Link(&Program{Builtins: []string{"test.none"}}, nil)
	assert.EqualError(t, err, "native: invalid program: no builtin test.none")
}
