package rego

import (
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"

	"github.com/hookc/hookc/rego/native"
)

// translation makes a native.Func of one function of a plan. On the way it
// folds constants: known says what a local holds where the translation stands,
// and what was folded away is removed at the end, when nothing reads it.
type translation struct {
	b     *assembly
	p     *planned
	w     work
	local map[ir.Local]native.Local
	known map[ir.Local]*fact
	// result is the local that the rule under way puts its value in before it
	// is the function's; -1 is none. waits says that the rule reads it.
	result ir.Local
	waits  bool
	out    []native.Stmt
	at     *ir.Location
	// in is the block under way, made are the blocks in which sets and objects
	// were begun.
	in   *ir.Block
	made map[ir.Local]*ir.Block
	next native.Local
	ret  native.Local

	why   string
	forms forms
	calls []int32
	// twice says that numbers are looked at after each comprehension.
	twice bool
}

// fact is what is known of a local.
type fact struct {
	kind factKind
	// value is the constant; of one under construction it is made of parts when
	// it is read.
	value ast.Value
	parts []*ast.Term
	// path is where in input or data the local was read.
	path []string
	// base are the base documents one of which the local is; nil is not known
	// to be one.
	base []ast.Value
}

type factKind uint8

const (
	factConst factKind = iota
	factArray          // an array, object or set under construction
	factObject
	factSet
	factInput // read from input, by constant keys
	factData  // read from data, by constant keys
	factBase  // one of several base documents
)

func (f *fact) constant() ast.Value {
	if f == nil || f.kind > factSet {
		return nil
	}
	if f.value != nil {
		return f.value
	}
	switch f.kind {
	case factArray:
		f.value = ast.NewArray(f.parts...)
	case factSet:
		f.value = ast.NewSet(f.parts...)
	case factObject:
		o := ast.NewObject()
		for i := 0; i < len(f.parts); i += 2 {
			o.Insert(f.parts[i], f.parts[i+1])
		}
		f.value = o
	}
	return f.value
}

func newTranslation(b *assembly, w work) *translation {
	t := &translation{b: b, p: w.p, w: w, local: map[ir.Local]native.Local{}, result: -1, made: map[ir.Local]*ir.Block{}}
	params := []ir.Local{ir.Input, ir.Data}
	if w.f != nil {
		params = w.f.Params
	}
	for _, p := range params {
		t.to(p)
	}
	if w.f != nil {
		t.ret = t.to(w.f.Return)
	} else {
		t.ret = t.fresh()
	}
	return t
}

//go:noinline
func (t *translation) fresh() native.Local { t.next++; return t.next - 1 }

// to is the program's number for a local: parameters come first.
//
//go:noinline
func (t *translation) to(l ir.Local) native.Local {
	n, ok := t.local[l]
	if !ok {
		n = t.fresh()
		t.local[l] = n
	}
	return n
}

func (t *translation) unfit(reason string) {
	if t.why == "" {
		t.why = reason
	}
}

// value is an operand's value when it is constant, else nil.
func (t *translation) value(o ir.Operand) ast.Value {
	switch v := o.Value.(type) {
	case ir.Bool:
		return ast.Boolean(v)
	case ir.StringIndex:
		return ast.String(t.p.text(int(v)))
	case ir.Local:
		return t.known[v].constant()
	}
	return nil
}

func (t *translation) operand(o ir.Operand) native.Operand {
	if v := t.value(o); v != nil {
		return t.b.constant(v)
	}
	return native.Operand{N: int32(t.to(o.Value.(ir.Local)))}
}

func (t *translation) read(l ir.Local) native.Operand { return t.operand(ir.Operand{Value: l}) }

func (t *translation) operands(list []ir.Operand) []native.Operand {
	out := make([]native.Operand, len(list))
	for i, o := range list {
		out[i] = t.operand(o)
	}
	return out
}

//go:noinline
func (t *translation) emit(s native.Stmt) {
	s.Place = t.b.place(t.p, t.at, false)
	t.out = append(t.out, s)
}

// block translates the statements of a block up to the first that is surely
// undefined.
func (t *translation) block(b *ir.Block) []native.Stmt {
	outer, known, around := t.out, t.known, t.in
	t.out, t.known, t.in = nil, maps.Clone(known), b
	for _, s := range b.Stmts {
		t.at = s.GetLocation()
		if !t.stmt(s) {
			t.emit(native.Stmt{Op: native.OpBreak})
			break
		}
		if _, leaves := s.(*ir.BreakStmt); leaves {
			break
		}
	}
	inner := t.out
	t.out, t.known, t.in = outer, known, around
	return inner
}

// inside translates the blocks of a statement. What they set is unknown from
// now on: in them, for they may run again, and after them.
func (t *translation) inside(s ir.Stmt) []native.Block {
	blocks := nested(s)
	walkStmts(blocks, func(s ir.Stmt) { t.forget(targets(s)...) })
	out := make([]native.Block, len(blocks))
	for i, b := range blocks {
		out[i] = native.Block{Stmts: t.block(b), Place: -1}
	}
	return out
}

func (t *translation) forget(locals ...ir.Local) {
	for _, l := range locals {
		delete(t.known, l)
	}
}

// learn notes what a local holds.
//
//go:noinline
func (t *translation) learn(l ir.Local, f *fact) {
	if f == nil {
		delete(t.known, l)
		return
	}
	t.known[l] = f
}

// stmt translates a statement and reports whether it can be defined.
func (t *translation) stmt(s ir.Stmt) bool {
	switch s := s.(type) {
	case *ir.NopStmt:
	case *ir.ReturnLocalStmt:
		t.emit(native.Stmt{Op: native.OpReturn, A: t.read(s.Source)})
	case *ir.CallStmt:
		t.call(s)
	case *ir.CallDynamicStmt:
		t.callDynamic(s)
	case *ir.BlockStmt:
		t.emitBlocks(native.Stmt{Op: native.OpBlock}, s)
		if t.twice {
			t.emit(native.Stmt{Op: native.OpCallBuiltin, Index: t.b.builtin(writtenKey), Target: native.None})
		}
	case *ir.BreakStmt:
		t.emit(native.Stmt{Op: native.OpBreak, Index: int32(s.Index)})
	case *ir.DotStmt:
		return t.dot(s)
	case *ir.ScanStmt:
		t.scan(s)
	case *ir.NotStmt:
		t.not(s)
	case *ir.WithStmt:
		t.with(s)
	case *ir.ResultSetAddStmt:
		t.solution(s)
	case *ir.EqualStmt:
		return t.compare(native.OpEqual, s.A, s.B)
	case *ir.NotEqualStmt:
		return t.compare(native.OpNotEqual, s.A, s.B)
	case *ir.IsArrayStmt:
		return t.test(native.OpIsArray, s.Source)
	case *ir.IsObjectStmt:
		return t.test(native.OpIsObject, s.Source)
	case *ir.IsSetStmt:
		return t.test(native.OpIsSet, s.Source)
	case *ir.IsDefinedStmt:
		return t.test(native.OpIsDefined, ir.Operand{Value: s.Source})
	case *ir.IsUndefinedStmt:
		return t.test(native.OpIsUndefined, ir.Operand{Value: s.Source})
	default:
		t.assignment(s)
	}
	return true
}

// emitBlocks emits a statement with the blocks of s. Place is the statement's
// own: translating its blocks moves on.
func (t *translation) emitBlocks(n native.Stmt, s ir.Stmt) {
	at := t.at
	n.Blocks = t.inside(s)
	t.at = at
	t.emit(n)
}

func (t *translation) dot(s *ir.DotStmt) bool {
	key, base := t.value(s.Key), t.base(s.Source)
	t.guardKey(s, base, key)
	base = elements(base, key)
	if source := t.value(s.Source); source != nil && key != nil {
		found := lookUp(source, key)
		if found == nil {
			return false
		}
		t.set(s.Target, found, base)
		return true
	}
	if name, ok := key.(ast.String); ok {
		if f := t.below(s.Source, string(name)); f != nil {
			f.base = base
			return t.document(s, f)
		}
	}
	a, b := t.operand(s.Source), t.operand(s.Key)
	t.learnBase(s.Target, base)
	t.emit(native.Stmt{Op: native.OpDot, A: a, B: b, Target: t.to(s.Target)})
	return true
}

// below is the place in input or data one key below a local that was read
// there, nil when it was not.
func (t *translation) below(source ir.Operand, name string) *fact {
	l, _ := source.Value.(ir.Local)
	switch {
	case source.Value == ir.Val(ir.Input):
		return &fact{kind: factInput, path: []string{name}}
	case source.Value == ir.Val(ir.Data):
		return &fact{kind: factData, path: []string{name}}
	case t.known[l] != nil && (t.known[l].kind == factInput || t.known[l].kind == factData):
		f := t.known[l]
		return &fact{kind: f.kind, path: append(slices.Clip(f.path), name)}
	}
	return nil
}

// document reads a place in input or data: a slot of the input, a constant of
// data, or else what it was.
func (t *translation) document(s *ir.DotStmt, f *fact) bool {
	if f.kind == factData {
		v, known := t.b.base(f.path)
		switch {
		case known && v == nil:
			return false
		case known:
			t.set(s.Target, v, f.base)
			return true
		}
		a, b := t.operand(s.Source), t.operand(s.Key)
		t.learn(s.Target, f)
		t.emit(native.Stmt{Op: native.OpDot, A: a, B: b, Target: t.to(s.Target)})
		return true
	}
	t.learn(s.Target, f)
	t.emit(native.Stmt{Op: native.OpInput, Index: t.b.path(f.path), Target: t.to(s.Target)})
	return true
}

func (t *translation) compare(op native.Op, a, b ir.Operand) bool {
	x, y := t.value(a), t.value(b)
	if x != nil && y != nil {
		return (ast.Compare(x, y) == 0) == (op == native.OpEqual)
	}
	t.emit(native.Stmt{Op: op, A: t.operand(a), B: t.operand(b)})
	return true
}

// test translates a test of a local's type or definedness.
func (t *translation) test(op native.Op, o ir.Operand) bool {
	v := t.value(o)
	if v == nil {
		t.emit(native.Stmt{Op: op, A: t.operand(o)})
		return true
	}
	switch op {
	case native.OpIsArray:
		_, ok := v.(*ast.Array)
		return ok
	case native.OpIsObject:
		_, ok := v.(ast.Object)
		return ok
	case native.OpIsSet:
		_, ok := v.(ast.Set)
		return ok
	}
	return op == native.OpIsDefined
}
