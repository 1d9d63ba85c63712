package rego

import (
	"encoding/json"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"

	"github.com/hookc/hookc/rego/native"
)

// base are the base documents one of which an operand is, nil when it is not
// known to be one.
func (t *translation) base(o ir.Operand) []ast.Value {
	l, ok := o.Value.(ir.Local)
	switch {
	case !ok:
	case l == ir.Data:
		return []ast.Value{t.b.data}
	case t.known[l] != nil:
		return t.known[l].base
	}
	return nil
}

// learnBase notes that a local is one of the base documents given, and no
// more.
func (t *translation) learnBase(l ir.Local, base []ast.Value) {
	if len(base) == 0 {
		t.forget(l)
		return
	}
	t.learn(l, &fact{kind: factBase, base: base})
}

// guardKey sees to it that a base document has the element under a key that
// topdown finds: that looks base documents up by paths of text, so that 2 is
// the key "2" of an object, "2" an index of an array, and 2.0 is none. A nil
// key is one not known before the evaluation, which then looks.
func (t *translation) guardKey(s *ir.DotStmt, base []ast.Value, key ast.Value) {
	look := false
	for _, v := range base {
		switch {
		case !ambiguous(v):
		case key == nil:
			look = true
		case !plainKey(v, key):
			t.unfit("planner: data is read by a number as text, or by a text as number")
		}
	}
	if look {
		t.emit(native.Stmt{Op: native.OpCallBuiltin, Index: t.b.builtin(baseKey), Target: native.None,
			Args: []native.Operand{t.operand(s.Source), t.operand(s.Key)}})
	}
}

// baseKey is the function that bails when topdown may find something else in a
// base document (its first argument) than a value has under the second.
const baseKey = "hookc.base_key"

func lookAtKey(_ *native.Call, args []native.Value) (native.Value, bool, error) {
	_, text := args[1].(string)
	_, index := args[1].(int)
	if _, array := args[0].([]native.Value); array && index || !array && text {
		return true, true, nil
	}
	return nil, false, native.ErrBail
}

// ambiguous reports whether a key may mean an element of a base document to
// topdown that it does not mean to a value.
func ambiguous(v ast.Value) bool {
	switch v := v.(type) {
	case *ast.Array:
		return true
	case ast.Object:
		return v.Until(func(k, _ *ast.Term) bool { return isNumber(k.Value) })
	}
	return false
}

// plainKey reports whether a known key means the same to both.
func plainKey(v, key ast.Value) bool {
	if _, array := v.(*ast.Array); !array {
		_, text := key.(ast.String)
		return text
	}
	switch k := key.(type) {
	case ast.String:
		_, err := strconv.Atoi(string(k))
		return err != nil
	case ast.Number:
		_, err := strconv.Atoi(string(k))
		return err == nil
	}
	return true
}

// isNumber reports whether a key is the text of a number.
func isNumber(key ast.Value) bool {
	s, ok := key.(ast.String)
	return ok && s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && json.Valid([]byte(s))
}

// elements are the elements of values under a key, or all when the key is not
// known.
func elements(of []ast.Value, key ast.Value) []ast.Value {
	var out []ast.Value
	for _, v := range of {
		if key != nil {
			if e := lookUp(v, key); e != nil {
				out = append(out, e)
			}
			continue
		}
		switch v := v.(type) {
		case *ast.Array:
			v.Foreach(func(t *ast.Term) { out = append(out, t.Value) })
		case ast.Object:
			v.Foreach(func(_, t *ast.Term) { out = append(out, t.Value) })
		}
	}
	return out
}
