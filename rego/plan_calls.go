package rego

import (
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/rego/native"
)

func (t *translation) call(s *ir.CallStmt) {
	args := t.operands(s.Args)
	t.forget(s.Result)
	f := t.p.funcs[s.Func]
	if f == nil {
		t.callBuiltin(s, args)
		return
	}
	if len(f.Params) != len(s.Args) {
		t.unfit("planner: a function is read as a document")
		return
	}
	at := t.b.function(t.p, f)
	t.calls = append(t.calls, at)
	t.emit(native.Stmt{Op: native.OpCall, Index: at, Args: args, Target: t.to(s.Result)})
}

func (t *translation) callBuiltin(s *ir.CallStmt, args []native.Operand) {
	if why := unfitBuiltin(s.Func); why != "" {
		t.unfit(why)
	}
	t.emit(native.Stmt{Op: native.OpCallBuiltin, Index: t.b.builtin(s.Func), Args: args, Target: t.to(s.Result)})
}

// callDynamic calls a document whose path is known at evaluation only. Those
// it may mean are in the function tree; functions with arguments are not, as
// they are no documents.
func (t *translation) callDynamic(s *ir.CallDynamicStmt) {
	generation := t.value(s.Path[0])
	for _, f := range t.p.dispatched(s) {
		switch {
		case len(f.Params) == contextParams:
			t.calls = append(t.calls, t.b.function(t.p, f))
		case f.Path[0] != firstGeneration:
			t.unfit("planner: a dynamic reference under with")
		}
	}
	keys := t.operands(s.Path)
	if g, ok := generation.(ast.String); ok {
		keys[0] = t.b.constant(ast.String(t.p.generation(string(g))))
	}
	args := make([]native.Operand, len(s.Args))
	for i, a := range s.Args {
		args[i] = t.read(a)
	}
	t.forget(s.Result)
	t.emit(native.Stmt{Op: native.OpCallDynamic, Keys: keys, Args: args, Target: t.to(s.Result)})
}

func (t *translation) scan(s *ir.ScanStmt) {
	if t.excludes(s) {
		t.unfit("planner: rules and documents are iterated together")
	}
	source, base := t.read(s.Source), t.base(ir.Operand{Value: s.Source})
	t.forget(s.Key)
	t.learnBase(s.Value, elements(base, nil))
	key, value := t.to(s.Key), t.to(s.Value)
	t.emitBlocks(native.Stmt{Op: native.OpScan, A: source, B: native.Operand{N: int32(key)}, Target: value}, s)
	t.forget(s.Key, s.Value)
}

// excludes reports whether a scan of base documents leaves out those that
// rules give, which the plan iterates before and topdown after.
func (t *translation) excludes(s *ir.ScanStmt) bool {
	return slices.ContainsFunc(s.Block.Stmts, func(inner ir.Stmt) bool {
		not, ok := inner.(*ir.NotStmt)
		if !ok || len(not.Block.Stmts) != 1 {
			return false
		}
		dot, ok := not.Block.Stmts[0].(*ir.DotStmt)
		return ok && dot.Key.Value == ir.Val(s.Key)
	})
}

// not translates a negation. The plan has a local say whether its block held,
// and leaves it as an earlier element or rule did: here it is undefined first.
func (t *translation) not(s *ir.NotStmt) {
	last := s.Block.Stmts[max(0, len(s.Block.Stmts)-1):]
	if len(last) == 1 {
		if test, ok := last[0].(*ir.IsDefinedStmt); ok && test.Source > ir.Data {
			walkStmts([]*ir.Block{s.Block}, func(inner ir.Stmt) {
				if set, ok := inner.(*ir.AssignVarStmt); ok && set.Target == test.Source {
					t.emit(native.Stmt{Op: native.OpReset, Target: t.to(test.Source)})
				}
			})
		}
	}
	t.emitBlocks(native.Stmt{Op: native.OpNot}, s)
}

// with replaces input or data in its block: what was read of the input before
// says nothing about what is read there.
func (t *translation) with(s *ir.WithStmt) {
	n := native.Stmt{Op: native.OpWith, A: t.operand(s.Value), Target: native.DataLocal}
	for _, c := range s.Path {
		n.Keys = append(n.Keys, t.b.constant(ast.String(t.p.text(c))))
	}
	outer := t.known
	t.known = map[ir.Local]*fact{}
	for l, f := range outer {
		if f.kind != factInput || s.Local == ir.Data {
			t.known[l] = f
		}
	}
	switch s.Local {
	case ir.Input:
		n.Target = native.InputLocal
	case ir.Data:
		if len(s.Path) > 0 && t.there(s.Path) {
			t.unfit("planner: with replaces a part of data that is there")
		}
	default:
		t.unfit("planner: with replaces a variable")
	}
	t.emitBlocks(n, s)
	t.known = outer
	walkStmts(nested(s), func(s ir.Stmt) { t.forget(targets(s)...) })
}

// there reports whether there is a base document at a path: topdown merges it
// with what replaces it, when it reads more than that.
func (t *translation) there(path []int) bool {
	v := t.b.data
	for _, c := range path {
		if v = lookUp(v, ast.String(t.p.text(c))); v == nil {
			return false
		}
	}
	return true
}

// solution returns the value that a solution of the query binds.
func (t *translation) solution(s *ir.ResultSetAddStmt) {
	value, found := t.read(s.Value), t.fresh()
	t.emit(native.Stmt{Op: native.OpDot, A: value, B: t.b.constant(ast.String(resultVar)), Target: found})
	t.emit(native.Stmt{Op: native.OpAssignOnce, A: native.Operand{N: int32(found)}, Target: t.ret})
}

// translate makes the function.
func (t *translation) translate() native.Func {
	f := native.Func{Name: "query", Params: contextParams, Return: t.ret, Memo: true}
	if t.w.f == nil {
		f.Blocks = t.queryBlocks()
	} else {
		f.Name, f.Params = t.w.f.Name, int32(len(t.w.f.Params))
		f.Memo = f.Params == contextParams
		if f.Memo {
			f.Path = lists.Copy(t.w.f.Path)
			f.Path[0] = t.p.generation(f.Path[0])
		}
		why, forms := t.b.list.unfit(t.w.f.Path)
		if t.forms = forms; why != "" {
			t.unfit(why)
		}
		t.twice = t.b.list.twice(t.w.f.Path)
		f.Blocks = t.ruleBlocks()
	}
	prune(&f, int32(t.next), t.b.prog.Paths)
	return f
}

func (t *translation) queryBlocks() []native.Block {
	if len(t.p.Plans.Plans) != 1 {
		panic(fmt.Sprintf("rego: a query has %d plans", len(t.p.Plans.Plans)))
	}
	var out []native.Block
	for _, b := range t.p.Plans.Plans[0].Blocks {
		t.known = map[ir.Local]*fact{}
		out = append(out, native.Block{Stmts: t.block(b), Place: -1})
	}
	t.at = &ir.Location{}
	t.out = nil
	t.emit(native.Stmt{Op: native.OpReturn, A: native.Operand{N: int32(t.ret)}})
	return append(out, native.Block{Stmts: t.out, Place: -1})
}

// ruleBlocks translates the blocks of rules, one for each rule and each of its
// else branches: a branch looks whether one before it gave a value.
func (t *translation) ruleBlocks() []native.Block {
	var out []native.Block
	for i := 0; i < len(t.w.f.Blocks); i++ {
		b := t.w.f.Blocks[i]
		branches := []*ir.Block{b}
		t.result, t.waits = -1, false
		if chain := t.chain(b); chain != nil {
			last := len(chain) - 1
			branches, t.waits = chain[:last], true
			t.result = t.handed(chain[last])
		} else if i+1 < len(t.w.f.Blocks) && t.handed(t.w.f.Blocks[i+1]) >= 0 {
			i++
			t.result = t.handed(t.w.f.Blocks[i])
		}
		waiting := t.fresh()
		for _, branch := range branches {
			t.separate(waiting)
			out = append(out, native.Block{Stmts: t.block(branch), Place: t.headPlace(branch)})
		}
	}
	t.result = -1
	return out
}

// separate forgets what locals of rules before were: the plan uses them again.
// Only the one that tells else branches of each other is the same in all of
// them.
func (t *translation) separate(waiting native.Local) {
	t.known = map[ir.Local]*fact{}
	for l := range t.local {
		if l != t.w.f.Return && !lists.Among(t.w.f.Params, l) {
			delete(t.local, l)
		}
	}
	if t.waits {
		t.local[t.result] = waiting
	}
}

// headPlace is where the rule of a block is written: its first statement is
// planned at its head.
func (t *translation) headPlace(b *ir.Block) int32 {
	switch b.Stmts[0].(type) {
	case *ir.ResetLocalStmt, *ir.IsUndefinedStmt:
		return t.b.place(t.p, b.Stmts[0].GetLocation(), true)
	}
	return -1
}

// chain are the blocks of a rule with else branches, the last of which hands
// over its value; nil when the block is no such rule.
func (t *translation) chain(b *ir.Block) []*ir.Block {
	if len(b.Stmts) != 1 {
		return nil
	}
	s, ok := b.Stmts[0].(*ir.BlockStmt)
	if !ok || len(s.Blocks) < 2 || t.handed(s.Blocks[len(s.Blocks)-1]) < 0 {
		return nil
	}
	return s.Blocks
}

// handed is the local whose value a block hands over to the function's, which
// is all it does; -1 when it is another block.
func (t *translation) handed(b *ir.Block) ir.Local {
	if len(b.Stmts) != 2 {
		return -1
	}
	test, ok := b.Stmts[0].(*ir.IsDefinedStmt)
	if !ok {
		return -1
	}
	set, ok := b.Stmts[1].(*ir.AssignVarOnceStmt)
	if !ok || set.Target != t.w.f.Return || set.Source.Value != ir.Val(test.Source) {
		return -1
	}
	return test.Source
}
