package native

import (
	"strconv"
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
	var has bool
	for _, f := range indexed.funcs {
		has = has || f.index != nil
	}
	require.True(t, has)
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
		code := m.linkAll(t)
		leads, found := leadsOf(code, code.funcs[0])
		require.Zero(t, found, "what is compared may fail, and what follows is no condition: %v", leads)
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
