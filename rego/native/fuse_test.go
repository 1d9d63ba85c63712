package native

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestConditions: a builtin whose result is only tested, and what may not be
// left unwritten because somebody reads it.
func TestConditions(t *testing.T) {
	for _, c := range []struct {
		name string
		want string
		body func(m *maker) [][]Stmt
	}{
		{"true", `1`, condition("test.truth", true)},
		{"false", `undefined`, condition("test.truth", false)},
		{"any value", `1`, condition("test.truth", []Value{})},
		{"undefined", `undefined`, condition("test.nothing", true)},
		{"an error", `bail`, condition("test.fails", true)},
		{"a number's slot", `1`, func(m *maker) [][]Stmt {
			return [][]Stmt{{in(3, m.path("n")), eq(m.c(Number("7.0")), l(3)), set(out, m.c(1))}}
		}},
		{"another number's slot", `undefined`, func(m *maker) [][]Stmt {
			return [][]Stmt{{in(3, m.path("n")), eq(l(3), m.c(8)), set(out, m.c(1))}}
		}},
		{"a slot that differs", `1`, func(m *maker) [][]Stmt {
			return [][]Stmt{{in(3, m.path("s")), ne(m.c("x"), l(3)), set(out, m.c(1))}}
		}},
		{"a slot that does not differ", `undefined`, func(m *maker) [][]Stmt {
			return [][]Stmt{{in(3, m.path("s")), ne(l(3), m.c("Bash")), set(out, m.c(1))}}
		}},
		{"the text first", `1`, func(m *maker) [][]Stmt {
			return [][]Stmt{{in(3, m.path("s")), eq(m.c("Bash"), l(3)), set(out, m.c(1))}}
		}},
		{"a slot compared with a local", `1`, func(m *maker) [][]Stmt {
			return [][]Stmt{{set(4, m.c("Bash")), in(3, m.path("s")), eq(l(4), l(3)), set(out, m.c(1))}}
		}},
		{"read again in the block", `"Bash"`, func(m *maker) [][]Stmt {
			return [][]Stmt{{in(3, m.path("s")), eq(l(3), m.c("Bash")), set(out, l(3))}}
		}},
		{"read in a later block", `"Bash"`, func(m *maker) [][]Stmt {
			return [][]Stmt{{in(3, m.path("s")), eq(l(3), m.c("Bash"))}, {is(OpIsDefined, l(3)), set(out, l(3))}}
		}},
		{"written again in a later block", `7`, func(m *maker) [][]Stmt {
			s, n := m.path("s"), m.path("n")
			return [][]Stmt{{in(3, s), eq(l(3), m.c("Bash"))}, {in(3, n), set(out, l(3))}}
		}},
		{"read after a loop that may not run", `"Bash"`, func(m *maker) [][]Stmt {
			return [][]Stmt{{in(3, m.path("s")), eq(l(3), m.c("Bash"))}, {
				set(6, m.c([]Value{})), {Op: OpScan, A: l(6), B: l(4), Target: 5, Blocks: blocks([]Stmt{set(3, m.c("loop"))}), Place: -1}, set(out, l(3)),
			}}
		}},
		{"read after a block that ends early", `"Bash"`, func(m *maker) [][]Stmt {
			return [][]Stmt{{in(3, m.path("s")), eq(l(3), m.c("Bash"))}, {block([]Stmt{m.stop(), set(3, m.c("block"))}), set(out, l(3))}}
		}},
		{"what is returned", `"Bash"`, func(m *maker) [][]Stmt {
			return [][]Stmt{{in(out, m.path("s")), eq(l(int32(out)), m.c("Bash"))}}
		}},
		{"a result that is read again", `true`, func(m *maker) [][]Stmt {
			call := Stmt{Op: OpCallBuiltin, Index: m.builtin("test.truth"), Args: []Operand{m.c(true)}, Target: 4, Place: -1}
			return [][]Stmt{{call, ne(l(4), m.c(false)), set(out, l(4))}}
		}},
		{"a result that is not something", `undefined`, func(m *maker) [][]Stmt {
			call := Stmt{Op: OpCallBuiltin, Index: m.builtin("test.truth"), Args: []Operand{m.c("x")}, Target: 4, Place: -1}
			return [][]Stmt{{call, ne(l(4), m.c("x")), set(out, m.c(1))}}
		}},
		{"a constant compared with a constant", `1`, func(m *maker) [][]Stmt {
			return [][]Stmt{{eq(m.c("a"), m.c("a")), ne(m.c("a"), m.c(NewSet())), set(out, m.c(1))}}
		}},
		{"an undefined local bails in a test", `bail`, func(m *maker) [][]Stmt {
			call := Stmt{Op: OpCallBuiltin, Index: m.builtin("contains"), Args: []Operand{l(9), m.c("a")}, Target: 4, Place: -1}
			return [][]Stmt{{call, ne(l(4), m.c(false)), set(out, m.c(1))}}
		}},
		{"one value twice", `1`, func(m *maker) [][]Stmt {
			call := Stmt{Op: OpCallBuiltin, Index: m.builtin("test.pair"), Args: []Operand{l(3), l(3)}, Target: 4, Place: -1}
			return [][]Stmt{{in(3, m.path("s")), call, ne(l(4), m.c(false)), set(out, m.c(1))}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &maker{}
			m.fn("f", 2, c.body(m)...)
			assert.Equal(t, c.want, m.eval(t, object{"s": "Bash", "n": 7}))
		})
	}
}

func condition(name string, arg Value) func(m *maker) [][]Stmt {
	return func(m *maker) [][]Stmt {
		call := Stmt{Op: OpCallBuiltin, Index: m.builtin(name), Args: []Operand{m.c(arg)}, Target: 4, Place: -1}
		return [][]Stmt{{call, ne(l(4), m.c(false)), set(out, m.c(1))}}
	}
}
