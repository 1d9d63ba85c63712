package native

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestVerify: what closures would take for granted is refused by Link.
func TestVerify(t *testing.T) {
	deep := []Stmt{}
	for range 600 {
		deep = []Stmt{block(deep)}
	}
	for want, change := range map[string]func(m *maker){
		"operand in f": func(m *maker) { m.fn("f", 2, []Stmt{set(out, l(24))}) },
		"target in f":  func(m *maker) { m.fn("f", 2, []Stmt{set(24, m.c(1))}) },
		"operands too many in f": func(m *maker) {
			m.fn("f", 2, []Stmt{{Op: OpNop, Args: []Operand{l(3)}, Place: -1}})
		},
		"blocks in f": func(m *maker) { m.fn("f", 2, []Stmt{{Op: OpNot, Place: -1}}) },
		"break in f":  func(m *maker) { m.fn("f", 2, []Stmt{block([]Stmt{brk(2)})}) },
		"key in f": func(m *maker) {
			m.fn("f", 2, []Stmt{{Op: OpScan, A: m.c(1), B: l(5), Target: 5, Blocks: blocks(nil), Place: -1}})
		},
		"slot in f":      func(m *maker) { m.fn("f", 2, []Stmt{in(3, 0)}) },
		"capacity in f":  func(m *maker) { m.fn("f", 2, []Stmt{{Op: OpMakeArray, Target: 3, Index: -1, Place: -1}}) },
		"builtin in f":   func(m *maker) { m.fn("f", 2, []Stmt{{Op: OpCallBuiltin, Target: 3, Place: -1}}) },
		"call in f":      func(m *maker) { m.fn("f", 2, []Stmt{m.call(3, 1)}) },
		"arguments in f": func(m *maker) { m.fn("f", 2, []Stmt{m.call(3, 0, l(4))}) },
		"recursion in f": func(m *maker) { m.fn("f", 2, []Stmt{m.call(3, 0)}) },
		"place in f":     func(m *maker) { m.fn("f", 2, []Stmt{{Op: OpNop, Place: 1}}) },
		"target of with in f": func(m *maker) {
			m.fn("f", 2, []Stmt{{Op: OpWith, Target: 3, A: m.c(1), Blocks: blocks(nil), Place: -1}})
		},
		"path of with in f": func(m *maker) {
			m.fn("f", 2, []Stmt{{Op: OpWith, A: m.c(1), Keys: []Operand{m.c(1)}, Blocks: blocks(nil), Place: -1}})
		},
		"input without a slot in f": func(m *maker) {
			m.fn("f", 2, []Stmt{{Op: OpWith, A: m.c(1), Keys: []Operand{m.c("k")}, Blocks: blocks(nil), Place: -1}})
		},
		"dynamic call in f":         func(m *maker) { m.fn("f", 2, []Stmt{block([]Stmt{block([]Stmt{m.dynamic("g0")})})}) },
		"no such statement":         func(m *maker) { m.fn("f", 2, []Stmt{{Op: numOps}}) },
		"blocks too deep in f":      func(m *maker) { m.fn("f", 2, deep) },
		"locals of f":               func(m *maker) { m.fn("f", 1) },
		"result of f":               func(m *maker) { m.fn("f", 2); m.Funcs[0].Return = 1 },
		"memo of f":                 func(m *maker) { m.fn("f", 3); m.Funcs[0].Memo = true },
		"no place":                  func(m *maker) { m.fn("f", 2); m.Funcs[0].Blocks[0].Place = 1 },
		"no file 1":                 func(m *maker) { m.fn("f", 2); m.Places[0].File = 1 },
		"two functions at one path": func(m *maker) { m.fn("f", 2); m.fn("f", 2) },
		"a constant is no value":    func(m *maker) { m.c(struct{}{}) },
		"data is no object":         func(m *maker) { m.Data = []Value{} },
		"data is no value":          func(m *maker) { m.Data = object{"k": math.NaN()} },
	} {
		m := &maker{}
		change(m)
		_, err := Link(&m.Program, given)
		assert.EqualError(t, err, "native: invalid program: "+want)
		if want == "no such statement" || want == "a constant is no value" || want == "operands too many in f" {
			continue
		}
		if p, err := Decode(m.Append(nil)); err == nil {
			_, err = Link(p, given)
			assert.Error(t, err, want)
		}
	}
	for _, v := range []Value{Number("abc"), Number(""), Number("1e999999"), Number("."), []Value{int64(1)}, NewSet(math.Inf(1)), with("k", math.NaN())} {
		m := &maker{}
		m.c(v)
		_, err := Link(&m.Program, nil)
		assert.EqualError(t, err, "native: invalid program: a constant is no value", "%v", v)
	}
}

// everyValue has each kind of value.
func everyValue() []Value {
	o := NewObject()
	for i := range 12 {
		o.Put(i, NewSet(i, Text(i)))
	}
	o.Put(nil, []Value{})
	return []Value{
		nil, true, false, 0, -1, math.MaxInt64, math.MinInt64, 1.5, -0.25, 1e-7, Number("1.0"), Number("1e400"), "", "text \xff é",
		[]Value{1, []Value{}, "x"}, object{}, object{"b": nil, "a": object{"c": 1}}, NewSet(), NewSet(1, "a", NewSet(nil)), o, NewObject(),
	}
}

// TestCodec: a program is read as it was written, and nothing else is read.
func TestCodec(t *testing.T) {
	m := guardrails(3)
	m.whole()
	for _, v := range everyValue() {
		m.c(v)
	}
	m.Paths = append(m.Paths, []string{})
	m.Data = object{"k": []Value{1, 2.5}}
	m.fn("g", 3, []Stmt{m.call(3, 0), scanOver(3, negate(brk(1))), {Op: OpWith, A: m.c(1), Keys: []Operand{m.c("k")}, Blocks: blocks([]Stmt{{Op: OpNop, Place: 0}}), Place: 0}})
	m.Places = []Place{{0, 3, 7}, {1, 400, 2}}
	m.Files = []string{"a.rego", "b.rego"}
	written := m.Append([]byte("before"))[6:]
	p, err := Decode(written)
	require.NoError(t, err)
	for i, v := range m.Consts {
		assert.Equal(t, Text(v), Text(p.Consts[i]))
		assert.IsType(t, v, p.Consts[i])
	}
	got, want := *p, m.Program
	got.Consts, want.Consts = nil, nil
	assert.Equal(t, want, got)
	assert.Equal(t, written, p.Append(nil))
	for i := range written {
		_, err := Decode(written[:i])
		assert.Error(t, err, "%d bytes of %d", i, len(written))
	}
	_, err = Decode(append(written, 0))
	assert.Error(t, err)
	_, err = Decode(append([]byte{version + 1}, written[1:]...))
	assert.Error(t, err)
}

// TestForged: every changed byte is an error or a program that links or does
// not, and answers or bails.
func TestForged(t *testing.T) {
	m := guardrails(2)
	for _, v := range everyValue() {
		m.c(v)
	}
	m.fn("g", 2, []Stmt{m.call(3, 0), scanOver(3, put(l(5))), negate(brk(1)), block([]Stmt{brk(1)})})
	written := m.Append(nil)
	linked := 0
	for i := range written {
		for _, c := range []byte{0, 1, 2, 0x7f, 0x80, 0xff, written[i] + 1, written[i] - 1} {
			forged := append([]byte(nil), written...)
			forged[i] = c
			p, err := Decode(forged)
			if err != nil {
				continue
			}
			code, err := Link(p, given)
			if err != nil {
				continue
			}
			linked++
			var machine Machine
			for fn := range p.Funcs {
				_, _, err := code.Eval(&machine, fn, &doc{p: p, v: object{"tool_name": "Bash"}})
				assert.True(t, err == nil || errors.Is(err, ErrBail))
			}
		}
	}
	assert.NotZero(t, linked)
	for _, b := range [][]byte{
		{version, 1, tagSet, 2, tagTrue, tagTrue}, {version, 1, tagObject, 2, tagTrue, tagTrue, tagTrue, tagTrue}, {version, 1, tagNumber, 1, 'x'},
		{version, 1, tagMap, 2, 1, 'a', 0, 1, 'a', 0}, {version, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
		{version, 1, tagFloat, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f}, {version, 1, 99}, {version, 0xff, 0xff, 0xff, 0xff, 0x7f}, nil,
	} {
		_, err := Decode(b)
		assert.Error(t, err, "%v", b)
	}
}
