package native

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestStatements: each statement does what its Op says.
func TestStatements(t *testing.T) {
	whole := object{"s": "text", "n": 3, "list": []Value{"a", "b", 2}, "o": object{"k": "v", "j": nil}, "yes": true, "no": false}
	for _, c := range []struct {
		name string
		want string
		body func(m *maker) [][]Stmt
	}{
		{"a constant", `"x"`, one(func(m *maker) []Stmt { return []Stmt{set(out, m.c("x"))} })},
		{"nothing", `undefined`, one(func(*maker) []Stmt { return []Stmt{{Op: OpNop}} })},
		{"an input", `3`, one(func(m *maker) []Stmt { return []Stmt{in(out, m.path("n"))} })},
		{"a null input is defined", `null`, one(func(m *maker) []Stmt { return []Stmt{in(out, m.path("o", "j"))} })},
		{"no input ends the block", `1`, func(m *maker) [][]Stmt {
			return [][]Stmt{{in(3, m.path("absent")), set(out, m.c(0))}, {set(out, m.c(1))}}
		}},
		{"no input of a dead local ends too", `undefined`, one(func(m *maker) []Stmt {
			return []Stmt{in(9, m.path("s", "x")), set(out, m.c(0))}
		})},
		{"the whole input", `"v"`, one(func(m *maker) []Stmt {
			m.path()
			return []Stmt{dot(3, l(0), m.c("o")), dot(out, l(3), m.c("k"))}
		})},
		{"an element", `"b"`, one(func(m *maker) []Stmt { return []Stmt{in(3, m.path("list")), dot(out, l(3), m.c(1))} })},
		{"an element by 1.0", `"b"`, one(func(m *maker) []Stmt {
			return []Stmt{in(3, m.path("list")), dot(out, l(3), m.c(Number("1.0")))}
		})},
		{"no element", `undefined`, one(func(m *maker) []Stmt { return []Stmt{in(3, m.path("list")), dot(out, l(3), m.c(3))} })},
		{"no element before the first", `undefined`, one(func(m *maker) []Stmt {
			return []Stmt{in(3, m.path("list")), dot(out, l(3), m.c(-1))}
		})},
		{"a member of a set", `"m"`, one(func(m *maker) []Stmt {
			return []Stmt{set(3, m.c(NewSet("m"))), dot(out, l(3), m.c("m"))}
		})},
		{"a key that is no string", `2`, one(func(m *maker) []Stmt {
			o := NewObject()
			o.Put(1, 2)
			return []Stmt{dot(out, m.c(o), m.c(1))}
		})},
		{"a key that is written apart", `bail`, one(func(m *maker) []Stmt {
			o := NewObject()
			o.Put(1, 2)
			return []Stmt{dot(out, m.c(o), m.c(Number("1.0")))}
		})},
		{"below a string", `undefined`, one(func(m *maker) []Stmt { return []Stmt{in(3, m.path("s")), dot(out, l(3), m.c(0))} })},
		{"below undefined", `undefined`, one(func(m *maker) []Stmt { return []Stmt{dot(out, l(3), m.c("x"))} })},
		{"by undefined", `undefined`, one(func(m *maker) []Stmt { return []Stmt{in(3, m.path("list")), dot(out, l(3), l(4))} })},
		{"a failed dot leaves nothing", `true`, func(m *maker) [][]Stmt {
			return [][]Stmt{{set(3, m.c("old")), dot(3, m.c(object{}), m.c("x"))}, {is(OpIsUndefined, l(3)), set(out, m.c(true))}}
		}},
		{"lengths", `[3, 2, 4, 0, 1]`, one(func(m *maker) []Stmt {
			return []Stmt{
				in(3, m.path("list")), in(4, m.path("o")), in(5, m.path("s")), in(6, m.path("n")),
				{Op: OpLen, A: l(3), Target: 7}, {Op: OpLen, A: l(4), Target: 8}, {Op: OpLen, A: l(5), Target: 9},
				{Op: OpLen, A: l(6), Target: 10}, {Op: OpLen, A: m.c(NewSet(1)), Target: 11},
				{Op: OpMakeArray, Target: out, Index: 5}, add(7), add(8), add(9), add(10), add(11),
			}
		})},
		{"equal numbers", `1`, one(func(m *maker) []Stmt {
			return []Stmt{eq(m.c(1), m.c(Number("1.0"))), set(out, m.c(1))}
		})},
		{"equal undefined", `1`, one(func(m *maker) []Stmt { return []Stmt{eq(l(3), l(4)), set(out, m.c(1))} })},
		{"not equal undefined", `undefined`, one(func(m *maker) []Stmt { return []Stmt{eq(l(3), m.c(nil)), set(out, m.c(1))} })},
		{"different", `1`, one(func(m *maker) []Stmt {
			return []Stmt{in(3, m.path("s")), ne(l(3), m.c("texts")), set(out, m.c(1))}
		})},
		{"not different", `undefined`, one(func(m *maker) []Stmt {
			return []Stmt{in(3, m.path("s")), ne(l(3), m.c("text")), set(out, m.c(1))}
		})},
		{"types", `{"a", "d", "o", "s", "u"}`, func(m *maker) [][]Stmt {
			return [][]Stmt{
				{{Op: OpMakeSet, Target: out}},
				{in(3, m.path("list")), is(OpIsArray, l(3)), put(m.c("a"))},
				{in(3, m.path("o")), is(OpIsObject, l(3)), put(m.c("o"))},
				{set(3, m.c(NewSet())), is(OpIsSet, l(3)), put(m.c("s"))},
				{set(3, m.c(nil)), is(OpIsDefined, l(3)), put(m.c("d"))},
				{is(OpIsUndefined, l(9)), put(m.c("u"))},
				{in(3, m.path("list")), is(OpIsObject, l(3)), put(m.c("no"))},
				{in(3, m.path("o")), is(OpIsSet, l(3)), put(m.c("no"))},
				{is(OpIsArray, l(9)), put(m.c("no"))},
				{is(OpIsDefined, l(9)), put(m.c("no"))},
				{is(OpIsUndefined, m.c(nil)), put(m.c("no"))},
			}
		}},
		{"once, twice the same", `"x"`, one(func(m *maker) []Stmt { return []Stmt{once(m.c("x")), once(m.c("x"))} })},
		{"a conflict", `bail`, one(func(m *maker) []Stmt { return []Stmt{once(m.c("x")), once(m.c("y"))} })},
		{"equal but written apart", `bail`, one(func(m *maker) []Stmt { return []Stmt{once(m.c(1)), once(m.c(Number("1.0")))} })},
		{"reset", `"y"`, one(func(m *maker) []Stmt {
			return []Stmt{once(m.c("x")), {Op: OpReset, Target: out}, once(m.c("y"))}
		})},
		{"undefined is assigned", `undefined`, one(func(m *maker) []Stmt { return []Stmt{set(out, m.c("x")), set(out, l(9))} })},
		{"a set", `{1, 2, "a"}`, one(func(m *maker) []Stmt {
			return []Stmt{{Op: OpMakeSet, Target: out}, put(m.c("a")), put(m.c(2)), put(m.c(1)), put(m.c("a"))}
		})},
		{"an element written apart", `bail`, one(func(m *maker) []Stmt {
			return []Stmt{{Op: OpMakeSet, Target: out}, put(m.c(1)), put(m.c(Number("1.0")))}
		})},
		{"an empty set", `set()`, one(func(*maker) []Stmt { return []Stmt{{Op: OpMakeSet, Target: out}} })},
		{"add to a constant", `bail`, one(func(m *maker) []Stmt { return []Stmt{set(out, m.c(NewSet(1))), put(m.c(2))} })},
		{"add to no set", `bail`, one(func(m *maker) []Stmt { return []Stmt{set(out, m.c("x")), put(m.c(2))} })},
		{"add undefined", `bail`, one(func(*maker) []Stmt { return []Stmt{{Op: OpMakeSet, Target: out}, put(l(9))} })},
		{"an object", `{"a": 2, "b": 1}`, one(func(m *maker) []Stmt {
			return []Stmt{{Op: OpMakeObject, Target: out}, insert(m.c("b"), m.c(1)), insert(m.c("a"), m.c(1)), insert(m.c("a"), m.c(2))}
		})},
		{"an object once", `{"a": 1}`, one(func(m *maker) []Stmt {
			return []Stmt{{Op: OpMakeObject, Target: out}, insertOnce(m.c("a"), m.c(1)), insertOnce(m.c("a"), m.c(1))}
		})},
		{"an object's conflict", `bail`, one(func(m *maker) []Stmt {
			return []Stmt{{Op: OpMakeObject, Target: out}, insertOnce(m.c("a"), m.c(1)), insertOnce(m.c("a"), m.c(2))}
		})},
		{"insert in the input", `bail`, one(func(m *maker) []Stmt { return []Stmt{in(out, m.path("o")), insert(m.c("a"), m.c(1))} })},
		{"insert undefined", `bail`, one(func(m *maker) []Stmt { return []Stmt{{Op: OpMakeObject, Target: out}, insert(m.c("a"), l(9))} })},
		{"insert in what a rule gave", `bail`, one(func(m *maker) []Stmt {
			return []Stmt{
				{Op: OpMakeObject, Target: 3}, {Op: OpObjectInsert, A: m.c("x"), B: m.c(1), Target: 3},
				{Op: OpMakeObject, Target: out}, insertOnce(m.c("k"), l(3)),
				{Op: OpObjectInsert, A: m.c("y"), B: m.c(1), Target: 3},
			}
		})},
		{"append to the input", `["a", "b", 2, 9]`, one(func(m *maker) []Stmt {
			return []Stmt{in(out, m.path("list")), {Op: OpArrayAppend, A: m.c(9), Target: out}}
		})},
		{"append to no array", `bail`, one(func(m *maker) []Stmt { return []Stmt{{Op: OpArrayAppend, A: m.c(9), Target: out}} })},
		{"arrays that part", `[[1, 2], [1, 3]]`, one(func(m *maker) []Stmt {
			return []Stmt{
				{Op: OpMakeArray, Target: 3, Index: 4}, {Op: OpArrayAppend, A: m.c(1), Target: 3}, set(4, l(3)),
				{Op: OpArrayAppend, A: m.c(2), Target: 3}, {Op: OpArrayAppend, A: m.c(3), Target: 4},
				{Op: OpMakeArray, Target: out}, add(3), add(4),
			}
		})},
		{"merge", `{"a": {"x": 1, "y": 2}, "b": 1, "c": 2}`, one(func(m *maker) []Stmt {
			return []Stmt{{
				Op: OpObjectMerge, Target: out,
				A: m.c(object{"a": object{"x": 1}, "b": 1}), B: m.c(object{"a": object{"x": 5, "y": 2}, "b": object{}, "c": 2}),
			}}
		})},
		{"merge with undefined", `{"b": 1}`, one(func(m *maker) []Stmt {
			return []Stmt{{Op: OpObjectMerge, Target: out, A: l(9), B: m.c(object{"b": 1})}}
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &maker{}
			m.fn("f", 2, c.body(m)...)
			assert.Equal(t, c.want, m.eval(t, whole))
		})
	}
}

func one(body func(m *maker) []Stmt) func(m *maker) [][]Stmt {
	return func(m *maker) [][]Stmt { return [][]Stmt{body(m)} }
}

func set(t Local, a Operand) Stmt    { return Stmt{Op: OpAssign, Target: t, A: a, Place: -1} }
func in(t Local, slot int32) Stmt    { return Stmt{Op: OpInput, Target: t, Index: slot, Place: -1} }
func dot(t Local, a, b Operand) Stmt { return Stmt{Op: OpDot, Target: t, A: a, B: b, Place: -1} }
func eq(a, b Operand) Stmt           { return Stmt{Op: OpEqual, A: a, B: b, Place: -1} }
func ne(a, b Operand) Stmt           { return Stmt{Op: OpNotEqual, A: a, B: b, Place: -1} }
func is(op Op, a Operand) Stmt       { return Stmt{Op: op, A: a, Place: -1} }
func once(a Operand) Stmt            { return Stmt{Op: OpAssignOnce, Target: out, A: a, Place: -1} }
func put(a Operand) Stmt             { return Stmt{Op: OpSetAdd, Target: out, A: a, Place: -1} }
func add(n int32) Stmt               { return Stmt{Op: OpArrayAppend, Target: out, A: l(n), Place: -1} }
func insert(key, value Operand) Stmt {
	return Stmt{Op: OpObjectInsert, Target: out, A: key, B: value, Place: -1}
}
func insertOnce(key, value Operand) Stmt {
	return Stmt{Op: OpObjectInsertOnce, Target: out, A: key, B: value, Place: -1}
}
func brk(n int32) Stmt           { return Stmt{Op: OpBreak, Index: n, Place: -1} }
func block(lists ...[]Stmt) Stmt { return Stmt{Op: OpBlock, Blocks: blocks(lists...), Place: -1} }
func negate(stmts ...Stmt) Stmt  { return Stmt{Op: OpNot, Blocks: blocks(stmts), Place: -1} }
