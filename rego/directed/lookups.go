package directed

import (
	"slices"

	"github.com/hookc/hookc/rego/native"
)

// formula is how a local of a block is computed of an event: op says of what.
type formula struct {
	op formulaOp
	at origin       // ofInput
	v  native.Value // ofConst
	// meant are what a constant may be meant to be.
	meant []native.Value
	name  string     // ofCall
	of    []*formula // ofCall, ofArray; the collection and the key, ofLookup
}

type formulaOp uint8

const (
	ofInput formulaOp = iota
	ofConst
	ofCall
	ofArray
	ofLookup  // of[0][of[1]]
	ofElement // an element of of[0]
)

// mostFound bounds the lookups that one block is tried with.
const mostFound = 512

// lookups are values of an event for each key of each constant table that a block
// reads by what it computes of the event, and for one that is missing; and for
// each value that is found what it is compared with, the same and beside it.
func (t *Tries) lookups(b *native.Block) [][]chosen {
	f := formulas{p: t.p, most: t.most, of: map[int32]*formula{}, orphans: t.orphans}
	native.Walk([]native.Block{*b}, f.statement)
	out := make([][]chosen, len(f.out))
	for i, list := range f.out {
		for _, c := range list {
			out[i] = append(out[i], chosen{c.slot, c.steps, t.plain(c.value)})
		}
	}
	return out
}

// formulas reads a block.
type formulas struct {
	p       *native.Program
	orphans []native.Value
	of      map[int32]*formula
	out     [][]chosen
	depth   int
	most    int
	given   *formula // what the function gives
}

//go:noinline
func (f *formulas) operand(o native.Operand) *formula {
	if o.Const {
		made := &formula{op: ofConst, v: f.p.Consts[o.N]}
		if Collection(made.v) {
			made.meant = f.orphans
		}
		return made
	}
	return f.of[o.N]
}

func (f *formulas) operands(list []native.Operand) []*formula {
	out := make([]*formula, len(list))
	for i, o := range list {
		out[i] = f.operand(o)
	}
	return out
}

func (f *formulas) statement(s *native.Stmt) {
	at := int32(s.Target)
	switch s.Op {
	case native.OpInput:
		f.of[at] = &formula{op: ofInput, at: origin{slot: s.Index}}
	case native.OpAssign:
		f.of[at] = f.operand(s.A)
	case native.OpAssignOnce, native.OpReturn:
		if f.given == nil {
			f.given = f.operand(s.A)
		}
	case native.OpScan:
		f.of[at] = &formula{op: ofElement, of: []*formula{f.operand(s.A)}}
	case native.OpDot:
		f.of[at] = f.lookup(f.operand(s.A), f.operand(s.B))
	case native.OpMakeArray:
		f.of[at] = &formula{op: ofArray}
	case native.OpArrayAppend:
		if list := f.of[at]; list != nil && list.op == ofArray {
			f.of[at] = &formula{op: ofArray, of: append(slices.Clip(list.of), f.operand(s.A))}
		}
	case native.OpEqual, native.OpNotEqual:
		f.compared(f.operand(s.A), f.operand(s.B))
	case native.OpCallBuiltin:
		f.builtin(s)
	case native.OpCall:
		f.call(s)
	}
}

func (f *formulas) builtin(s *native.Stmt) {
	made := &formula{op: ofCall, name: f.p.Builtins[s.Index], of: f.operands(s.Args)}
	if made.name == "object.get" && len(made.of) == 3 {
		made = f.lookup(made.of[0], made.of[1])
	} else if len(made.of) == 2 {
		f.compared(made.of[0], made.of[1])
	}
	if s.Target != native.None {
		f.of[int32(s.Target)] = made
	}
}

// call follows a call into the function, of which the first value that it gives is
// taken for its result.
func (f *formulas) call(s *native.Stmt) {
	if f.depth >= deepestCall {
		return
	}
	inner := formulas{p: f.p, most: f.most, orphans: f.orphans, of: map[int32]*formula{}, out: f.out, depth: f.depth + 1}
	for i := contextParams; i < len(s.Args); i++ {
		inner.of[int32(i)] = f.operand(s.Args[i])
	}
	native.Walk(f.p.Funcs[s.Index].Blocks, inner.statement)
	f.out = inner.out
	f.of[int32(s.Target)] = inner.given
}

// lookup is in[key], tried with each key where in is constant, or found in what is.
func (f *formulas) lookup(in, key *formula) *formula {
	if in == nil || key == nil {
		return nil
	}
	if in.op == ofInput && key.op == ofConst {
		text, ok := key.v.(string)
		if !ok {
			return nil
		}
		return &formula{op: ofInput, at: in.at.below(text)}
	}
	made := &formula{op: ofLookup, of: []*formula{in, key}}
	if key.op == ofConst {
		return made
	}
	for _, c := range casesOf(made) {
		f.try(c.chosen)
	}
	for _, c := range casesOf(in) {
		for _, missing := range []native.Value{"another", len(native.Keys(c.v)), -1} {
			if with, ok := solve(key, missing); ok {
				f.try(append(slices.Clip(c.chosen), with...))
			}
		}
	}
	return made
}

// compared tries what is found on one side of a comparison with the other at it, and
// on both sides of it.
func (f *formulas) compared(a, b *formula) {
	for _, pair := range [][2]*formula{{a, b}, {b, a}} {
		found, other := pair[0], pair[1]
		if found == nil || other == nil || found.op != ofLookup || other.op == ofConst {
			continue
		}
		for _, c := range casesOf(found) {
			values := []native.Value{c.v}
			if n, ok := c.v.(int); ok {
				values = append(values, n-1, n+1)
			}
			for _, v := range values {
				if with, ok := solve(other, v); ok {
					f.try(append(slices.Clip(c.chosen), with...))
				}
			}
		}
	}
}

//go:noinline
func (f *formulas) try(c []chosen) {
	if len(c) > 0 && len(f.out) < f.most {
		f.out = append(f.out, c)
	}
}

// found is a value, and what of an event it is found by.
type found struct {
	v      native.Value
	chosen []chosen
}

// casesOf are the values that a constant, or what is looked up in one, may have.
func casesOf(f *formula) []found {
	switch {
	case f == nil:
		return nil
	case f.op == ofConst && Collection(f.v):
		out := []found{{v: f.v}}
		for _, v := range f.meant {
			out = append(out, found{v: v})
		}
		return out
	case f.op != ofLookup:
		return nil
	}
	var out []found
	for _, in := range casesOf(f.of[0]) {
		if !Collection(in.v) {
			continue
		}
		if key := f.of[1]; key.op == ofConst {
			if v, ok := native.Get(in.v, key.v); ok {
				out = append(out, found{v, in.chosen})
			}
			continue
		}
		native.Each(in.v, func(key, v native.Value) bool {
			if with, ok := solve(f.of[1], key); ok {
				out = append(out, found{v, append(slices.Clip(in.chosen), with...)})
			}
			return len(out) < mostLiterals
		})
	}
	return out
}

// Collection reports whether a value has elements.
//
//go:noinline
func Collection(v native.Value) bool {
	switch v.(type) {
	case []native.Value, map[string]native.Value, *native.Object, *native.Set:
		return true
	}
	return false
}
