package rego

import (
	"maps"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/rego/native"
)

// usage is what statements read.
type usage struct {
	// reads counts reads by local; input and data say whether the whole of
	// them is read other than to hand it to a function.
	reads       map[native.Local]int
	input, data bool
}

// look counts what blocks read.
func (u *usage) look(blocks []native.Block) {
	for i := range blocks {
		for j := range blocks[i].Stmts {
			s := &blocks[i].Stmts[j]
			for _, o := range s.Operands() {
				u.read(*o)
			}
			if s.Op == native.OpWith && len(s.Keys) > 0 {
				u.read(native.Operand{N: int32(s.Target)})
			}
			u.look(s.Blocks)
		}
	}
}

func (u *usage) read(o native.Operand) {
	if o.Const {
		return
	}
	if u.reads != nil {
		u.reads[native.Local(o.N)]++
	}
	u.input = u.input || native.Local(o.N) == native.InputLocal
	u.data = u.data || native.Local(o.N) == native.DataLocal
}

// prune removes from a function what was folded away, namely statements that
// do nothing but set what nobody reads, and numbers the locals that are left.
func prune(f *native.Func, locals int32, paths [][]string) {
	f.Locals = locals
	for {
		u := usage{reads: map[native.Local]int{f.Return: 1}}
		u.look(f.Blocks)
		// What is inserted once and compared is a read of what is there.
		if !sweep(f.Blocks, &u, paths) {
			break
		}
	}
	renumber(f)
}

// sweep removes statements and reports whether it did.
func sweep(blocks []native.Block, u *usage, paths [][]string) bool {
	removed := false
	for i := range blocks {
		list := blocks[i].Stmts
		kept := list[:0:0]
		for j := range list {
			s := &list[j]
			if sweep(s.Blocks, u, paths) {
				removed = true
			}
			if last := len(kept) - 1; last >= 0 && passesOn(&kept[last], s, u) {
				kept[last].Target = s.Target
				removed = true
				continue
			}
			if idle(s, u) || j+1 < len(list) && onTheWay(s, &list[j+1], u, paths) {
				removed = true
				continue
			}
			kept = append(kept, *s)
		}
		blocks[i].Stmts = kept
	}
	return removed
}

// idle reports whether a statement cannot be undefined, and nobody reads what
// it sets.
func idle(s *native.Stmt, u *usage) bool {
	switch s.Op {
	case native.OpNop:
		return true
	case native.OpAssign, native.OpReset, native.OpMakeArray, native.OpMakeObject, native.OpMakeSet,
		native.OpArrayAppend, native.OpObjectInsert, native.OpSetAdd:
		return s.Target > native.DataLocal && u.reads[s.Target] == 0
	}
	return false
}

// passesOn reports whether a statement only gives another local what the one
// before set, and nobody else reads.
func passesOn(before, s *native.Stmt, u *usage) bool {
	return s.Op == native.OpAssign && !s.A.Const && writes(before.Op) &&
		int32(before.Target) == s.A.N && u.reads[before.Target] == 1
}

// writes reports whether a statement sets its target to what it did not hold
// before.
func writes(op native.Op) bool {
	switch op {
	case native.OpInput, native.OpDot, native.OpLen, native.OpCall, native.OpCallBuiltin, native.OpCallDynamic:
		return true
	}
	return false
}

// onTheWay reports whether a statement reads a slot that the next reads a part
// of: where the part is, so is the whole.
func onTheWay(s, next *native.Stmt, u *usage, paths [][]string) bool {
	if s.Op != native.OpInput || next.Op != native.OpInput || u.reads[s.Target] > 0 {
		return false
	}
	whole, part := paths[s.Index], paths[next.Index]
	return len(whole) < len(part) && lists.Equal(whole, part[:len(whole)])
}

// renumber gives the locals in use the lowest numbers. Those of one rule alone
// have the numbers that another's have.
func renumber(f *native.Func) {
	rules := map[native.Local]int{}
	for i := range f.Blocks {
		here := map[native.Local]bool{}
		renumberBlocks(f.Blocks[i:i+1], func(l native.Local) native.Local { here[l] = true; return l })
		for l := range here {
			rules[l]++
		}
	}
	shared := numbering{to: map[native.Local]native.Local{native.None: native.None}}
	for l := range native.Local(f.Params) {
		shared.name(l)
	}
	f.Return = shared.name(f.Return)
	for i := range f.Blocks {
		renumberBlocks(f.Blocks[i:i+1], func(l native.Local) native.Local {
			if rules[l] > 1 {
				shared.name(l)
			}
			return l
		})
	}
	f.Locals = int32(shared.next)
	for i := range f.Blocks {
		own := numbering{to: maps.Clone(shared.to), next: shared.next}
		renumberBlocks(f.Blocks[i:i+1], own.name)
		f.Locals = max(f.Locals, int32(own.next))
	}
}

// numbering gives locals numbers in the order in which they are named.
type numbering struct {
	to   map[native.Local]native.Local
	next native.Local
}

func (n *numbering) name(l native.Local) native.Local {
	to, ok := n.to[l]
	if !ok {
		to = n.next
		n.next++
		n.to[l] = to
	}
	return to
}

func renumberBlocks(blocks []native.Block, name func(native.Local) native.Local) {
	rename := func(o *native.Operand) {
		if !o.Const {
			o.N = int32(name(native.Local(o.N)))
		}
	}
	for i := range blocks {
		for j := range blocks[i].Stmts {
			s := &blocks[i].Stmts[j]
			for _, o := range s.Operands() {
				rename(o)
			}
			if s.Op.HasTarget() {
				s.Target = name(s.Target)
			}
			if s.Op == native.OpScan {
				rename(&s.B)
			}
			renumberBlocks(s.Blocks, name)
		}
	}
}
