package fuzz

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/rego/native"
)

// FuzzNativeProgram: bytes are no program, or one that is written as it was
// read; it is refused, or each of its functions answers or bails. Nothing
// panics, whatever was forged.
func FuzzNativeProgram(f *testing.F) {
	for _, p := range nativeSeeds() {
		f.Add(p.Append(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := native.Decode(data)
		if err != nil {
			return
		}
		again, err := native.Decode(p.Append(nil))
		require.NoError(t, err)
		require.Equal(t, p.Append(nil), again.Append(nil))
		code, err := native.Link(p, func(string) native.Builtin { return firstArgument })
		if err != nil {
			return
		}
		asked := 0
		m := native.Machine{Stop: func() bool { asked++; return asked > 50 }}
		for fn := range p.Funcs {
			_, defined, err := code.Eval(&m, fn, nativeEvent{p})
			require.True(t, err == nil || errors.Is(err, native.ErrBail) && !defined)
			err = code.Rules(&m, fn, nativeEvent{p}, func(block int, _ native.Value) bool { return block < len(p.Funcs[fn].Blocks) })
			require.True(t, err == nil || errors.Is(err, native.ErrBail))
		}
	})
}

func firstArgument(_ *native.Call, args []native.Value) (native.Value, bool, error) {
	if len(args) == 0 {
		return nil, false, nil
	}
	return args[0], true, nil
}

// nativeEvent gives slots of several kinds.
type nativeEvent struct{ p *native.Program }

func (e nativeEvent) Slot(i int) (native.Value, bool) {
	kinds := []native.Value{
		map[string]native.Value{"tool_name": "Bash", "list": []native.Value{1, "a"}}, "Bash", 7, []native.Value{"x", nil, native.Number("1.0")},
		map[string]native.Value{}, native.NewSet(1, "a"),
	}
	return kinds[(i+len(e.p.Paths[i]))%len(kinds)], i%5 != 4
}

// nativeSeeds are programs with every statement.
func nativeSeeds() []*native.Program {
	local := func(n int32) native.Operand { return native.Operand{N: n} }
	con := func(n int32) native.Operand { return native.Operand{Const: true, N: n} }
	args := []native.Operand{local(0), local(1)}
	block := func(stmts ...native.Stmt) []native.Block { return []native.Block{{Stmts: stmts, Place: -1}} }
	inner := block(native.Stmt{Op: native.OpCallDynamic, Target: 6, Args: args, Keys: []native.Operand{con(2), con(0)}})
	for range 3 {
		inner = block(native.Stmt{Op: native.OpBlock, Blocks: inner})
	}
	p := &native.Program{
		Consts: []native.Value{"Bash", 1, "g0", native.NewSet("a", 1), map[string]native.Value{"k": nil}, []native.Value{native.Number("1e400")}, false},
		Paths:  [][]string{nil, {"tool_name"}, {"list"}}, Builtins: []string{"fuzz", "contains"},
		Places: []native.Place{{Row: 1, Col: 1}}, Files: []string{"x.rego"}, Data: map[string]native.Value{"d": 1.5},
	}
	deny := native.Func{Name: "deny", Path: []string{"g0", "Bash"}, Params: 2, Locals: 16, Return: 2, Memo: true, Blocks: append(block(
		native.Stmt{Op: native.OpMakeSet, Target: 2}, native.Stmt{Op: native.OpInput, Index: 1, Target: 3},
		native.Stmt{Op: native.OpEqual, A: local(3), B: con(0)}, native.Stmt{Op: native.OpSetAdd, A: con(1), Target: 2},
		native.Stmt{Op: native.OpDot, A: local(1), B: con(0), Target: 4}), block(native.Stmt{Op: native.OpReturn, A: local(2)})...)}
	rest := native.Func{Name: "rest", Path: []string{"g0", "rest"}, Params: 2, Locals: 16, Return: 2, Blocks: block(
		native.Stmt{Op: native.OpCall, Target: 3, Args: args},
		native.Stmt{Op: native.OpScan, A: local(3), B: local(4), Target: 5, Blocks: block(native.Stmt{Op: native.OpBreak, Index: 1})},
		native.Stmt{Op: native.OpNot, Blocks: block(native.Stmt{Op: native.OpNotEqual, A: con(0), B: con(0)})},
		native.Stmt{Op: native.OpWith, A: con(0), Keys: []native.Operand{con(0), con(2)}, Blocks: block(native.Stmt{Op: native.OpAssign, A: local(0), Target: 9})},
		native.Stmt{Op: native.OpMakeObject, Target: 7}, native.Stmt{Op: native.OpObjectInsertOnce, A: con(1), B: con(5), Target: 7},
		native.Stmt{Op: native.OpObjectInsert, A: con(5), B: con(1), Target: 7}, native.Stmt{Op: native.OpObjectMerge, A: local(7), B: con(4), Target: 8},
		native.Stmt{Op: native.OpMakeArray, Index: 2, Target: 10}, native.Stmt{Op: native.OpArrayAppend, A: local(8), Target: 10},
		native.Stmt{Op: native.OpCallBuiltin, Args: []native.Operand{local(10)}, Target: 11}, native.Stmt{Op: native.OpIsArray, A: local(11)},
		native.Stmt{Op: native.OpLen, A: local(11), Target: 12}, native.Stmt{Op: native.OpReset, Target: 13}, native.Stmt{Op: native.OpIsUndefined, A: local(13)},
		native.Stmt{Op: native.OpAssignOnce, A: local(12), Target: 2}, native.Stmt{Op: native.OpIsDefined, A: local(2)},
		native.Stmt{Op: native.OpInput, Index: 1, Target: 14}, native.Stmt{Op: native.OpCallBuiltin, Index: 1, Args: []native.Operand{local(14), con(0)}, Target: 15},
		native.Stmt{Op: native.OpNotEqual, A: local(15), B: con(6)}, native.Stmt{Op: native.OpReturn, A: local(2)})}
	rest.Blocks = append(rest.Blocks, inner...)
	p.Funcs = []native.Func{deny, rest}
	return []*native.Program{p}
}
