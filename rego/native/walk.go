package native

// contextParams are the parameters of a function for input and data.
const contextParams = 2

// Walk visits every statement of blocks, those inside others too.
func Walk(blocks []Block, visit func(*Stmt)) {
	for i := range blocks {
		for j := range blocks[i].Stmts {
			visit(&blocks[i].Stmts[j])
			Walk(blocks[i].Stmts[j].Blocks, visit)
		}
	}
}

// Operands are the operands a statement reads. Input and data as first
// arguments of a call are not among them: they are only passed on.
func (s *Stmt) Operands() []*Operand {
	switch s.Op {
	case OpReturn, OpLen, OpScan, OpAssign, OpAssignOnce, OpIsArray,
		OpIsObject, OpIsSet, OpIsDefined, OpIsUndefined, OpArrayAppend,
		OpSetAdd:
		return []*Operand{&s.A}
	case OpWith:
		out := []*Operand{&s.A}
		for i := range s.Keys {
			out = append(out, &s.Keys[i])
		}
		return out
	case OpDot, OpEqual, OpNotEqual, OpObjectInsert, OpObjectInsertOnce,
		OpObjectMerge:
		return []*Operand{&s.A, &s.B}
	case OpCall, OpCallDynamic, OpCallBuiltin:
		out := make([]*Operand, 0, len(s.Args)+len(s.Keys))
		for i := range s.Args {
			passed := s.Op != OpCallBuiltin && i < contextParams
			if o := &s.Args[i]; !passed || o.Const || o.N != int32(i) {
				out = append(out, o)
			}
		}
		for i := range s.Keys {
			out = append(out, &s.Keys[i])
		}
		return out
	}
	return nil
}

// HasTarget reports whether a statement sets Target.
func (op Op) HasTarget() bool {
	switch op {
	case OpNop, OpReturn, OpBlock, OpBreak, OpNot, OpEqual,
		OpNotEqual, OpIsArray, OpIsObject, OpIsSet, OpIsDefined,
		OpIsUndefined:
		return false
	}
	return true
}
