package native

import (
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// ruled makes n rules of slots a, b and c, each of which adds its number.
func ruled(n int, rule func(m *maker, a, b, c int32, literal Operand, i int) []Stmt) *maker {
	m := &maker{}
	a, b, c := m.path("a"), m.path("b"), m.path("c")
	list := [][]Stmt{{{Op: OpMakeSet, Target: out, Place: -1}}}
	for i := range n {
		list = append(list, append(rule(m, a, b, c, m.c("lit"+strconv.Itoa(i)), i), put(m.c(i))))
	}
	m.fn("deny", 2, list...)
	return m
}

// tested is a builtin of two arguments of which the result is only tested.
func (m *maker) tested(name string, t Local, x, y Operand) []Stmt {
	return []Stmt{
		{Op: OpCallBuiltin, Target: t, Index: m.builtin(name), Args: []Operand{x, y}, Place: -1},
		ne(l(int32(t)), m.c(false)),
	}
}

// both is what a program says with an index, which it must have, as without.
func both(t *testing.T, m *maker, event Value) string {
	t.Helper()
	fn := len(m.Funcs) - 1
	plain, indexed := m.linkAll(t), m.linkAll(t).Index()
	require.NotEmpty(t, indexed.searched())
	var p, x Machine
	want := outcome(&p, plain, fn, event)
	require.Equal(t, want, outcome(&x, indexed, fn, event), "%#v", event)
	require.Empty(t, x.found)
	return want
}

func TestIndexScalars(t *testing.T) {
	values := []Value{nil, true, false, 0, 1, 2.5, "text", Number("3.0"), []Value{1}, Number("1e400")}
	m := ruled(len(values), func(m *maker, a, _, _ int32, _ Operand, i int) []Stmt {
		return []Stmt{in(4, a), eq(l(4), m.c(values[i]))}
	})
	for i, v := range values {
		require.Equal(t, "{"+strconv.Itoa(i)+"}", both(t, m, object{"a": v}))
	}
	require.Equal(t, "{4}", both(t, m, object{"a": 1.0}))
	require.Equal(t, "{7}", both(t, m, object{"a": 3}))
	require.Equal(t, "set()", both(t, m, object{"a": 7}))
	require.Equal(t, "set()", both(t, m, object{}))
	require.Equal(t, "bail", both(t, m, object{"a": Number("1e99999999")}))
}

// TestIndexFailures: what may fail before a condition, or in it, is evaluated
// whatever the condition.
func TestIndexFailures(t *testing.T) {
	odd := Number("1e99999999")
	t.Run("between what is looked for and the tool", func(t *testing.T) {
		m := ruled(8, func(m *maker, a, b, c int32, literal Operand, _ int) []Stmt {
			list := append([]Stmt{in(4, a)}, m.tested("contains", 5, l(4), literal)...)
			return append(list, in(6, b), eq(l(6), m.c(1)), in(7, c), eq(l(7), m.c("Bash")))
		})
		require.Equal(t, "bail", both(t, m, object{"a": "lit3", "b": odd, "c": "Read"}))
		require.Equal(t, "set()", both(t, m, object{"a": "lit3", "b": 1, "c": "Read"}))
		require.Equal(t, "{3}", both(t, m, object{"a": "lit3", "b": 1, "c": "Bash"}))
	})
	t.Run("equal", func(t *testing.T) {
		m := ruled(8, func(m *maker, a, _, _ int32, literal Operand, _ int) []Stmt {
			return append([]Stmt{in(4, a)}, m.tested("equal", 5, l(4), literal)...)
		})
		require.Equal(t, "bail", both(t, m, object{"a": struct{}{}}))
		require.Equal(t, "{3}", both(t, m, object{"a": "lit3"}))
	})
	t.Run("a part of a slot", func(t *testing.T) {
		m := ruled(8, func(m *maker, a, b, _ int32, literal Operand, _ int) []Stmt {
			return append([]Stmt{in(4, a), dot(5, l(4), m.c("k")), eq(l(5), m.c(1)), in(6, b)}, m.tested("contains", 7, l(6), literal)...)
		})
		require.Equal(t, "bail", both(t, m, object{"a": object{"k": odd}, "b": "nothing"}))
		require.Equal(t, "set()", both(t, m, object{"a": object{"k": 2}, "b": 7}))
		require.Equal(t, "set()", both(t, m, object{"a": "k", "b": "lit2"}))
		require.Equal(t, "{2}", both(t, m, object{"a": object{"k": 1.0}, "b": "lit2"}))
	})
	t.Run("a local that a negation writes", func(t *testing.T) {
		m := ruled(8, func(m *maker, a, b, _ int32, literal Operand, _ int) []Stmt {
			list := []Stmt{in(6, b), eq(l(6), m.c("go")), in(4, a), negate(dot(4, l(4), m.c("k")), eq(l(4), m.c("x")))}
			return append(list, m.tested("contains", 5, l(4), literal)...)
		})
		require.Equal(t, "bail", both(t, m, object{"a": "nothing", "b": "go"}))
		require.Equal(t, "{2}", both(t, m, object{"a": object{"k": "lit2"}, "b": "go"}))
	})
	t.Run("an undefined parameter", func(t *testing.T) {
		m := &maker{}
		a := m.path("a")
		var list [][]Stmt
		for i := range 8 {
			list = append(list, append(m.tested("internal.member_2", 5, l(2), m.c([]Value{"x" + strconv.Itoa(i)})), set(3, m.c(i))))
		}
		m.fn("helper", 3, list...)
		m.Funcs[0].Return = 3
		m.Funcs[0].Blocks[8].Stmts[0].A = l(3)
		m.fn("p", 2, []Stmt{m.call(4, 0, l(9)), set(out, l(4))})
		require.Equal(t, "bail", both(t, m, object{}))
		m.fn("q", 2, []Stmt{in(9, a), m.call(4, 0, l(9)), set(out, l(4))})
		require.Equal(t, "5", both(t, m, object{"a": "x5"}))
		require.Equal(t, "undefined", both(t, m, object{"a": "y"}))
	})
}

// TestIndexGate: a string is looked through when the tool is any of those that
// rules on it name, however they begin.
func TestIndexGate(t *testing.T) {
	m := ruled(16, func(m *maker, a, b, c int32, literal Operand, i int) []Stmt {
		list := []Stmt{in(4, a), eq(l(4), m.c("Read"))}
		if i%2 == 1 {
			list = []Stmt{in(5, b), eq(l(5), m.c("o")), in(4, a), eq(l(4), m.c("Bash"))}
		}
		return append(append(list, in(6, c)), m.tested("contains", 7, l(6), literal)...)
	})
	require.Equal(t, "{5}", both(t, m, object{"a": "Bash", "b": "o", "c": "lit5 lit4"}))
	require.Equal(t, "{4}", both(t, m, object{"a": "Read", "b": "o", "c": "lit5 lit4"}))
	require.Equal(t, "set()", both(t, m, object{"a": "Edit", "b": "o", "c": "lit5 lit4"}))
}

// TestIndexCalls: what a call may fail in, or leave behind, is not left out
// with the rule that calls.
func TestIndexCalls(t *testing.T) {
	called := func(helper func(m *maker, a int32) [][]Stmt, rule func(m *maker, c int32, literal Operand) []Stmt, last ...Stmt) *maker {
		m := &maker{}
		a, c := m.path("a"), m.path("c")
		m.fn("helper", 2, helper(m, a)...)
		list := [][]Stmt{{{Op: OpMakeSet, Target: out, Place: -1}, set(20, m.c(1))}}
		for i := range 16 {
			list = append(list, append(rule(m, c, m.c("lit"+strconv.Itoa(i))), put(m.c(i))))
		}
		if len(last) > 0 {
			list = append(list, append(last, put(m.c("last"))))
		}
		m.fn("deny", 2, list...)
		return m
	}
	is := func(m *maker, a int32) [][]Stmt {
		return [][]Stmt{{in(4, a), eq(l(4), m.c("Bash")), {Op: OpAssignOnce, Target: out, A: m.c(true), Place: -1}}}
	}
	t.Run("a test behind a helper", func(t *testing.T) {
		m := called(is, func(m *maker, c int32, literal Operand) []Stmt {
			return append([]Stmt{m.call(5, 0), ne(l(5), m.c(false)), in(6, c)}, m.tested("contains", 7, l(6), literal)...)
		})
		require.Equal(t, "{3}", both(t, m, object{"a": "Bash", "c": "lit3"}))
		require.Equal(t, "set()", both(t, m, object{"a": "Read", "c": "lit3"}))
		require.Equal(t, "bail", both(t, m, object{"a": "Bash", "c": 3}))
		code := m.linkAll(t).Index()
		var machine Machine
		in := &slots{"Bash", harmless}
		require.Zero(t, testing.AllocsPerRun(20, func() { _, _, _ = code.Eval(&machine, 1, in) }))
		require.Empty(t, machine.due)
	})
	t.Run("a local that another rule reads", func(t *testing.T) {
		m := called(is, func(m *maker, _ int32, _ Operand) []Stmt {
			return []Stmt{m.call(20, 0), ne(l(20), m.c(false))}
		}, Stmt{Op: OpIsUndefined, A: l(20), Place: -1})
		code := m.linkAll(t).Index()
		require.NotContains(t, code.Findable(1), true)
		var machine Machine
		require.Equal(t, `{"last"}`, outcome(&machine, code, 1, object{"a": "Read"}))
	})
	t.Run("two values of one rule", func(t *testing.T) {
		m := called(func(m *maker, a int32) [][]Stmt {
			inner := append([]Stmt{in(6, a)}, m.tested("contains", 7, l(6), l(5))...)
			inner = append(inner, Stmt{Op: OpAssignOnce, Target: out, A: l(5), Place: -1})
			return [][]Stmt{{{Op: OpScan, A: m.c([]Value{"x", "y"}), B: l(4), Target: 5, Blocks: blocks(inner), Place: -1}}}
		}, func(m *maker, _ int32, _ Operand) []Stmt {
			return []Stmt{m.call(5, 0), eq(l(5), m.c("z"))}
		})
		require.Equal(t, "bail", both(t, m, object{"a": "xy"}))
		require.Equal(t, "set()", both(t, m, object{"a": "x"}))
	})
	t.Run("a gate of more than texts", func(t *testing.T) {
		m := ruled(16, func(m *maker, a, _, c int32, literal Operand, _ int) []Stmt {
			list := append([]Stmt{in(4, a)}, m.tested("internal.member_2", 5, l(4), m.c([]Value{"Bash", 1}))...)
			return append(append(list, in(6, c)), m.tested("contains", 7, l(6), literal)...)
		})
		require.Equal(t, "{3}", both(t, m, object{"a": 1, "c": "lit3"}))
	})
}

// TestIndexIsLearned: an index is made when so many evaluations have shown that
// it is worth it, and of a code of few rules none is.
func TestIndexIsLearned(t *testing.T) {
	many, few := guardrails(100).link(t), guardrails(2).link(t)
	var m Machine
	for range breakEven {
		require.Nil(t, many.index.Load())
		for _, code := range []*Code{many, few} {
			_, _, err := code.Eval(&m, 0, &slots{"Bash", harmless})
			require.NoError(t, err)
			m.Learn()
		}
	}
	require.NotEmpty(t, many.searched())
	require.Same(t, &unindexed, few.index.Load())
	v, _, err := many.Eval(&m, 0, &slots{"Bash", "forbidden-7"})
	require.NoError(t, err)
	w, _, err := guardrails(100).link(t).Eval(&m, 0, &slots{"Bash", "forbidden-7"})
	require.NoError(t, err)
	require.Equal(t, Text(w), Text(v))
}

// TestIndexWhileOthersEvaluate: an index may be made at any time.
func TestIndexWhileOthersEvaluate(t *testing.T) {
	code := guardrails(100).link(t)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			var m Machine
			for range 4 * breakEven {
				v, _, err := code.Eval(&m, 0, &slots{"Bash", "has bad" + strconv.Itoa(10+i)})
				m.Learn()
				if err != nil || Len(v) != 2 {
					t.Errorf("%v %v", v, err)
				}
			}
		})
	}
	wg.Wait()
	require.NotEmpty(t, code.searched())
}
