package native

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// chance makes random programs of rules whose conditions stand in all places.
type chance struct {
	*maker
	*rand.Rand
	helpers []int32
	next    int32
	// calm programs and events mostly do not bail.
	calm bool
}

// parts are what literals and texts are made of: they overlap, and hold what
// folds.
var parts = []string{"a", "b", "ab", "aba", "ba", "rm", "rm -rf", "x", "é", "K", "\u212a", "\u017f", "k", "S", "\xff", "\ufffd", "日本", " ", "A", "abababab"}

func (c *chance) text(most int) string {
	text := ""
	for range c.IntN(most + 1) {
		text += parts[c.IntN(len(parts))]
	}
	return text
}

// scalar is any value that a rule compares with, or an event holds.
func (c *chance) scalar() Value {
	values := []Value{nil, true, false, 0, 1, 2, 1.0, 1.5, math.Copysign(0, -1), 1 << 53, 1<<53 + 1, float64(1 << 53),
		Number("1.0"), Number("1"), Number("1e400"), Number("10e399"), Number("0.0"), Number("9007199254740993.0"),
		[]Value{}, []Value{1}, []Value{"a", 1}, object{}, object{"a": 1}}
	if c.IntN(2) == 0 {
		return c.short()
	}
	return values[c.IntN(len(values))]
}

// short is a short text.
func (c *chance) short() Value { return c.text(2) }

// anything is a value of an event; some are none that OPA could compare.
func (c *chance) anything() Value {
	if c.calm {
		return c.text(6)
	}
	switch c.IntN(20) {
	case 0:
		return []Value{Number("1e99999999"), math.NaN(), struct{}{}, []Value{Number("1e99999999")}, object{"a": struct{}{}}}[c.IntN(5)]
	case 1, 2:
		return c.scalar()
	}
	return c.text(6)
}

var patterns = []string{"a", "ab+a", "(?i)rm -RF", "(?i)k", "(?i)aS", "^ab", "x|y", "rm|ab", "(rm )?-rf", "[ab]x", "\\bab\\b", "(?i)é", "\xef\xbf\xbd", "(ab){2,}", "(?i:ab)x|ba", "", "a*", "日.?本", "\u017f", "(?i)\u017f|b", "(?i)k+x"}

func (c *chance) local() int32 {
	c.next++
	return c.next
}

// condition is the statements of one test of slot or of a local that holds it.
func (c *chance) condition() []Stmt {
	slot, local := int32(c.IntN(4)), c.local()
	read := in(Local(local), slot)
	switch c.IntN(14) {
	case 0, 1, 2, 3:
		name := []string{"contains", "startswith", "endswith"}[c.IntN(3)]
		args := []Operand{l(local), c.c(c.text(3))}
		if c.IntN(12) == 0 {
			args[0], args[1] = args[1], args[0]
		}
		return append([]Stmt{read}, c.tests(name, args...)...)
	case 4, 5:
		return append([]Stmt{read}, c.tests("regex.match", c.c(patterns[c.IntN(len(patterns))]), l(local))...)
	case 6, 7, 8:
		return []Stmt{read, eq(l(local), c.c(c.scalar()))}
	case 9:
		return []Stmt{read, ne(c.c(c.scalar()), l(local))}
	case 10, 11:
		values := make([]Value, c.IntN(12))
		for i := range values {
			values[i] = c.scalar()
		}
		var all Value = values
		if c.IntN(2) == 0 {
			all = NewSet(values...)
		}
		return append([]Stmt{read}, c.tests("internal.member_2", l(local), c.c(all))...)
	case 12:
		name := []string{"equal", "neq", "lt", "gte"}[c.IntN(4)]
		return append([]Stmt{read}, c.tests(name, l(local), c.c(c.scalar()))...)
	}
	return c.odd(slot, local)
}

// odd is a statement of another kind: one that fails, calls, hides, or writes
// what others see.
func (c *chance) odd(slot, local int32) []Stmt {
	switch c.IntN(9) {
	case 0:
		if c.calm {
			return nil
		}
		return c.tests("test.fails", c.c(1))
	case 1:
		return []Stmt{negate(c.condition()...)}
	case 2:
		return []Stmt{{Op: OpReset, Target: 20, Place: -1}, is(OpIsUndefined, l(20))}
	case 3:
		return []Stmt{in(20, slot)}
	case 4:
		return []Stmt{is(OpIsUndefined, l(20))}
	case 5:
		return []Stmt{in(Local(local), slot), set(Local(c.local()), l(local)), {Op: OpLen, A: l(local), Target: Local(c.local()), Place: -1}}
	case 6:
		return []Stmt{in(Local(local), slot), dot(Local(c.local()), l(local), c.c("a"))}
	case 7:
		return []Stmt{block(c.condition())}
	}
	if len(c.helpers) == 0 {
		return nil
	}
	return c.calls(slot, local)
}

func (c *chance) calls(slot, local int32) []Stmt {
	fn := c.helpers[c.IntN(len(c.helpers))]
	call := Stmt{Op: OpCall, Index: fn, Args: []Operand{l(0), l(1)}, Target: Local(c.local()), Place: -1}
	if c.Funcs[fn].Params == 3 {
		call.Args = append(call.Args, l(local))
		if c.IntN(8) == 0 && !c.calm {
			return []Stmt{call} // of what is undefined
		}
		return []Stmt{in(Local(local), slot), call}
	}
	if c.IntN(2) == 0 {
		return []Stmt{call}
	}
	with := Stmt{Op: OpWith, Target: InputLocal, A: c.c(object{"a": c.text(3), "b": c.scalar()}), Place: -1}
	with.Blocks = blocks([]Stmt{call})
	return []Stmt{with}
}

// tests is a call of which the result is only tested, but for some that is
// written down or compared otherwise.
func (c *chance) tests(name string, args ...Operand) []Stmt {
	at := int32(len(c.Builtins))
	for i, have := range c.Builtins {
		if have == name {
			at = int32(i)
		}
	}
	if int(at) == len(c.Builtins) {
		c.builtin(name)
	}
	target := c.local()
	out := []Stmt{{Op: OpCallBuiltin, Index: at, Args: args, Target: Local(target), Place: -1}}
	switch c.IntN(10) {
	case 0:
		return append(out, eq(l(target), c.c(false)))
	case 1:
		return append(out, ne(l(target), c.c(false)), set(20, l(target)))
	}
	return append(out, ne(l(target), c.c(false)))
}

// rules are the blocks of a function: a set's, an object's, or a value's.
func (c *chance) rules(params int32) [][]Stmt {
	kind := c.IntN(4)
	if c.calm && kind == 3 {
		kind = 2
	}
	var out [][]Stmt
	switch kind {
	case 0:
		out = append(out, []Stmt{{Op: OpMakeSet, Target: 3, Place: -1}})
	case 1:
		out = append(out, []Stmt{{Op: OpMakeObject, Target: 3, Place: -1}})
	}
	for i := range 6 + c.IntN(24) {
		c.next = 3
		rule := []Stmt{}
		if params == 3 && c.IntN(2) == 0 {
			rule = append(rule, c.tests("contains", l(2), c.c(c.text(2)))...)
		}
		for range c.IntN(4) {
			if c.next < 14 {
				rule = append(rule, c.condition()...)
			}
		}
		switch value := c.c(i % 5); kind {
		case 0:
			rule = append(rule, Stmt{Op: OpSetAdd, Target: 3, A: value, Place: -1})
		case 1:
			rule = append(rule, Stmt{Op: OpObjectInsertOnce, Target: 3, A: c.c(i % 35), B: value, Place: -1})
		case 2:
			rule = append(rule, Stmt{Op: OpAssignOnce, Target: 3, A: c.c(1), Place: -1})
		default:
			rule = append(rule, Stmt{Op: OpAssignOnce, Target: 3, A: value, Place: -1})
		}
		out = append(out, rule)
	}
	if kind > 1 && c.IntN(2) == 0 {
		out = append(out, []Stmt{is(OpIsUndefined, l(3)), {Op: OpAssignOnce, Target: 3, A: c.c("default"), Place: -1}})
	}
	return append(out, []Stmt{{Op: OpReturn, A: l(3), Place: -1}})
}

// program is one with helpers; its entry points are its last functions.
func randomProgram(r *rand.Rand) *maker {
	c := &chance{maker: &maker{}, Rand: r, calm: r.IntN(3) > 0}
	for _, name := range []string{"a", "b", "c", "d"} {
		c.path(name)
	}
	c.Paths = append(c.Paths, nil)
	c.Files, c.Places = []string{"test.rego"}, []Place{{0, 1, 1}}
	for i := range 4 {
		fn := Func{Name: fmt.Sprint(i), Path: []string{"g0", fmt.Sprint(i)}, Params: 2, Locals: 48, Return: 3, Memo: true}
		if i == 1 {
			fn.Params, fn.Memo = 3, false
		}
		for _, stmts := range c.rules(fn.Params) {
			fn.Blocks = append(fn.Blocks, Block{Stmts: stmts, Place: -1})
		}
		c.Funcs = append(c.Funcs, fn)
		c.helpers = append(c.helpers, int32(i))
	}
	return c.maker
}

func (c *chance) event() object {
	out := object{}
	for _, key := range []string{"a", "b", "c", "d"} {
		if c.IntN(8) > 0 {
			out[key] = c.anything()
		}
	}
	return out
}

// linkAll links with what testers stand for.
func (m *maker) linkAll(t testing.TB) *Code {
	t.Helper()
	code, err := Link(&m.Program, func(name string) Builtin {
		if testerOf(name) == nil {
			return given(name)
		}
		return func(_ *Call, args []Value) (Value, bool, error) {
			rest := []Value{undef, args[1]}
			at := 0
			if name == "regex.match" {
				rest, at = []Value{args[0], undef}, 1
			}
			test := testerOf(name)(rest, at)
			if test == nil {
				return nil, false, ErrBail
			}
			v := test(args[at])
			if v == strange {
				return nil, false, ErrBail
			}
			return v == yes, true, nil
		}
	})
	require.NoError(t, err)
	return code
}

// searched are the functions whose blocks an index finds.
func (c *Code) searched() []int {
	var out []int
	x := c.index.Load()
	for fn := range x.first {
		if x.first[fn] >= 0 || x.own[fn] != nil {
			out = append(out, fn)
		}
	}
	return out
}

// outcome is all that can be told of an evaluation.
func outcome(m *Machine, code *Code, fn int, event Value) string {
	v, ok, err := code.Eval(m, fn, &doc{p: code.program, v: event})
	return said(v, ok, err != nil)
}

func said(v Value, defined, bailed bool) string {
	switch {
	case bailed:
		return "bail"
	case !defined:
		return "undefined"
	}
	return Text(v)
}

func delivered(m *Machine, code *Code, fn int, event Value) string {
	out := ""
	err := code.Rules(m, fn, &doc{p: code.program, v: event}, func(block int, v Value) bool {
		out += fmt.Sprint(block, " ", Text(v), "\n")
		return true
	})
	if err != nil {
		return "bail"
	}
	return out
}

// TestIndexChangesNothing: whatever blocks are left out, answers and bails are
// those of evaluating all of them.
func TestIndexChangesNothing(t *testing.T) {
	count := map[string]int{}
	for seed := range fewer(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		m := randomProgram(r)
		plain, indexed := m.linkAll(t), m.linkAll(t).Index()
		c := &chance{maker: m, Rand: r}
		var p, x Machine
		for range 40 {
			c.calm = r.IntN(3) > 0
			event := c.event()
			for fn := range m.Funcs {
				if m.Funcs[fn].Params != 2 {
					continue
				}
				want := outcome(&p, plain, fn, event)
				require.Equal(t, want, outcome(&x, indexed, fn, event), "seed %d, function %d, event %#v", seed, fn, event)
				require.Equal(t, delivered(&p, plain, fn, event), delivered(&x, indexed, fn, event), "seed %d, function %d, event %#v", seed, fn, event)
				count[want]++
			}
		}
		count["indexes"] += len(indexed.searched())
	}
	require.Greater(t, count["indexes"], int(fewer(1000)))
	require.Greater(t, count["bail"], int(fewer(1000)))
	require.Greater(t, count["undefined"], int(fewer(fewer(100))))
	require.Greater(t, len(count), 50, "answers differ")
}
