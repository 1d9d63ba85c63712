package rego

import (
	"encoding/json"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"

	"github.com/hookc/hookc/rego/native"
)

// assignment translates the statements that set or build a local.
func (t *translation) assignment(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.MakeNullStmt:
		t.set(s.Target, ast.Null{}, nil)
	case *ir.MakeNumberIntStmt:
		t.set(s.Target, ast.Number(strconv.FormatInt(s.Value, 10)), nil)
	case *ir.AssignIntStmt:
		t.set(s.Target, ast.Number(strconv.FormatInt(s.Value, 10)), nil)
	case *ir.MakeNumberRefStmt:
		t.set(s.Target, ast.Number(json.Number(t.p.text(s.Index))), nil)
	case *ir.AssignVarStmt:
		t.assign(s)
	case *ir.AssignVarOnceStmt:
		t.assignOnce(s)
	case *ir.ResetLocalStmt:
		t.forget(s.Target)
		t.emit(native.Stmt{Op: native.OpReset, Target: t.to(s.Target)})
	case *ir.LenStmt:
		t.length(s)
	case *ir.MakeArrayStmt:
		t.make(native.OpMakeArray, s.Target, factArray, s.Capacity)
	case *ir.MakeObjectStmt:
		t.make(native.OpMakeObject, s.Target, factObject, 0)
	case *ir.MakeSetStmt:
		t.make(native.OpMakeSet, s.Target, factSet, 0)
	case *ir.ArrayAppendStmt:
		t.grow(native.OpArrayAppend, s.Array, factArray, s.Value)
	case *ir.SetAddStmt:
		t.grow(native.OpSetAdd, s.Set, factSet, s.Value)
	case *ir.ObjectInsertStmt:
		t.grow(native.OpObjectInsert, s.Object, factObject, s.Key, s.Value)
	case *ir.ObjectInsertOnceStmt:
		t.grow(native.OpObjectInsertOnce, s.Object, factConst, s.Key, s.Value)
	case *ir.ObjectMergeStmt:
		a, b := t.read(s.A), t.read(s.B)
		t.forget(s.Target)
		t.emit(native.Stmt{Op: native.OpObjectMerge, A: a, B: b, Target: t.to(s.Target)})
	default:
		t.unfit("planner: a statement hookc does not know")
	}
}

// set makes a local a constant, which is one of the base documents given.
func (t *translation) set(l ir.Local, v ast.Value, base []ast.Value) {
	t.learn(l, &fact{value: v, base: base})
	t.emit(native.Stmt{Op: native.OpAssign, A: t.b.constant(v), Target: t.to(l)})
}

func (t *translation) assign(s *ir.AssignVarStmt) {
	a := t.operand(s.Source)
	var f *fact
	if v := t.value(s.Source); v != nil {
		f = &fact{value: v}
	} else if l, ok := s.Source.Value.(ir.Local); ok {
		f = t.known[l]
	}
	t.learn(s.Target, f)
	t.emit(native.Stmt{Op: native.OpAssign, A: a, Target: t.to(s.Target)})
}

// assignOnce gives the function its value straight away where the plan has it
// wait in a local of the rule: a second value is a conflict either way, and
// so each value is known by the block that gave it.
func (t *translation) assignOnce(s *ir.AssignVarOnceStmt) {
	a := t.operand(s.Source)
	t.forget(s.Target)
	if s.Target == t.result {
		t.emit(native.Stmt{Op: native.OpAssignOnce, A: a, Target: t.ret})
		if !t.waits {
			return
		}
	}
	t.emit(native.Stmt{Op: native.OpAssignOnce, A: a, Target: t.to(s.Target)})
}

func (t *translation) length(s *ir.LenStmt) {
	switch v := t.value(s.Source).(type) {
	case *ast.Array:
		t.set(s.Target, ast.Number(strconv.Itoa(v.Len())), nil)
		return
	case ast.Object:
		t.set(s.Target, ast.Number(strconv.Itoa(v.Len())), nil)
		return
	}
	a := t.operand(s.Source)
	t.forget(s.Target)
	t.emit(native.Stmt{Op: native.OpLen, A: a, Target: t.to(s.Target)})
}

func (t *translation) make(op native.Op, l ir.Local, kind factKind, room int32) {
	t.learn(l, &fact{kind: kind})
	t.made[l] = t.in
	t.emit(native.Stmt{Op: op, Index: room, Target: t.to(l)})
}

// grow adds to an array, object or set. It stays a constant while nothing has
// read it and all that is added is constant.
func (t *translation) grow(op native.Op, l ir.Local, kind factKind, parts ...ir.Operand) {
	s := native.Stmt{Op: op, Target: t.to(l), A: t.operand(parts[0])}
	if len(parts) > 1 {
		s.B = t.operand(parts[1])
	}
	f := t.known[l]
	if f == nil || f.kind != kind || f.value != nil {
		f = nil
	}
	if op == native.OpObjectInsert && t.made[l] != t.in {
		s.Index = 2
	}
	if t.written(op, l, parts[0]) {
		s.Index = 1
		if f != nil && !follows(f, t.value(parts[0])) {
			f = nil
		}
	}
	for _, o := range parts {
		v := t.value(o)
		if v == nil {
			f = nil
		}
		if f != nil {
			f.parts = append(f.parts, ast.NewTerm(v))
		}
	}
	t.learn(l, f)
	t.emit(s)
}

// written reports whether an element or key is one of a set or object as it is
// written: what goes through a body adds in a block of that. A constant key is
// as written, and none that others could be.
func (t *translation) written(op native.Op, l ir.Local, part ir.Operand) bool {
	_, open := part.Value.(ir.Local)
	return t.made[l] == t.in && (op == native.OpSetAdd || op == native.OpObjectInsert && open)
}

// follows reports whether a constant is after the elements or keys of what is
// under construction, as those of a ground term are.
func follows(f *fact, v ast.Value) bool {
	step := 1
	if f.kind == factObject {
		step = 2
	}
	return len(f.parts) == 0 || v == nil || ast.Compare(f.parts[len(f.parts)-step].Value, v) < 0
}
