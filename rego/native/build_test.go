package native

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// maker makes programs by hand.
type maker struct{ Program }

func (m *maker) c(v Value) Operand {
	m.Consts = append(m.Consts, v)
	return Operand{Const: true, N: int32(len(m.Consts) - 1)}
}

func l(n int32) Operand { return Operand{N: n} }

func (m *maker) path(keys ...string) int32 {
	m.Paths = append(m.Paths, keys)
	return int32(len(m.Paths) - 1)
}

func (m *maker) builtin(name string) int32 {
	m.Builtins = append(m.Builtins, name)
	return int32(len(m.Builtins) - 1)
}

// out is the local that functions of these tests build and return.
const out Local = 2

// fn adds a function of locals enough, whose last block returns out.
func (m *maker) fn(name string, params int32, blocks ...[]Stmt) int32 {
	m.Files, m.Places = []string{"test.rego"}, []Place{{0, 1, 1}}
	fn := Func{Name: name, Path: []string{"g0", name}, Params: params, Locals: 24, Return: out, Memo: params == 2}
	for _, stmts := range blocks {
		fn.Blocks = append(fn.Blocks, Block{Stmts: stmts, Place: -1})
	}
	fn.Blocks = append(fn.Blocks, Block{Stmts: []Stmt{{Op: OpReturn, A: l(int32(out)), Place: -1}}, Place: -1})
	m.Funcs = append(m.Funcs, fn)
	return int32(len(m.Funcs) - 1)
}

func blocks(lists ...[]Stmt) []Block {
	var out []Block
	for _, stmts := range lists {
		out = append(out, Block{Stmts: stmts, Place: -1})
	}
	return out
}

// doc is an Input of one document. asked counts questions.
type doc struct {
	p     *Program
	v     Value
	asked int
}

func (d *doc) Slot(i int) (Value, bool) {
	d.asked++
	v, ok := d.v, d.v != nil
	for _, key := range d.p.Paths[i] {
		o, is := v.(map[string]Value)
		if !is {
			return nil, false
		}
		if v, ok = o[key]; !ok {
			return nil, false
		}
	}
	return v, ok
}

// given has the builtins of these tests.
func given(name string) Builtin {
	switch name {
	case "test.pair":
		return func(_ *Call, args []Value) (Value, bool, error) { return append([]Value(nil), args...), true, nil }
	case "test.nothing":
		return func(*Call, []Value) (Value, bool, error) { return nil, false, nil }
	case "test.fails":
		return func(*Call, []Value) (Value, bool, error) { return nil, false, ErrBail }
	case "test.truth":
		return func(_ *Call, args []Value) (Value, bool, error) { return args[0], true, nil }
	case "contains":
		return testBuiltin("contains")
	case "internal.member_2":
		return testBuiltin("internal.member_2")
	}
	return nil
}

// testBuiltin is the builtin that a tester stands for.
func testBuiltin(name string) Builtin {
	return func(_ *Call, args []Value) (Value, bool, error) {
		if len(args) != 2 {
			return nil, false, ErrBail
		}
		test := testerOf(name)([]Value{undef, args[1]}, 0)
		if test == nil {
			return nil, false, ErrBail
		}
		switch test(args[0]) {
		case yes:
			return true, true, nil
		case no:
			return false, true, nil
		}
		return nil, false, ErrBail
	}
}

func (m *maker) link(t testing.TB) *Code {
	t.Helper()
	code, err := Link(&m.Program, given)
	require.NoError(t, err)
	return code
}

// eval is what the last function gives: its text, "undefined" or "bail". The
// program is written and read on the way.
func (m *maker) eval(t testing.TB, input Value) string {
	t.Helper()
	text := m.run(t, m.link(t), input)
	again, err := Decode(m.Append(nil))
	require.NoError(t, err)
	require.Equal(t, m.Program.Append(nil), again.Append(nil))
	code, err := Link(again, given)
	require.NoError(t, err)
	require.Equal(t, text, m.run(t, code, input))
	return text
}

func (m *maker) run(t testing.TB, code *Code, input Value) string {
	t.Helper()
	var machine Machine
	first := ""
	for range 2 {
		v, ok, err := code.Eval(&machine, len(m.Funcs)-1, &doc{p: code.program, v: input})
		text := "undefined"
		switch {
		case err != nil:
			require.Equal(t, ErrBail, err)
			text = "bail"
		case ok:
			text = Text(v)
		}
		if first == "" {
			first = text
		}
		require.Equal(t, first, text)
	}
	return first
}

type object = map[string]Value
