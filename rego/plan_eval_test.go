package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/rego/native"
)

// eval evaluates an entry point. An undefined value is nil. The error is
// native.ErrBail: topdown decides.
func (p *plan) eval(m *native.Machine, entry int, input ast.Value) (ast.Value, error) {
	in := valueInput{paths: p.program.Paths, defined: input != nil}
	if in.defined {
		in.whole = toNative(input)
	}
	v, ok, err := p.code.Eval(m, p.entries[entry].fn, &in)
	if err != nil || !ok {
		return nil, err
	}
	return fromNative(v), nil
}

// valueInput is a whole input's slots.
type valueInput struct {
	paths   [][]string
	whole   native.Value
	defined bool
}

// Slot is the value of a path, looked up as Rego's references are.
func (in *valueInput) Slot(i int) (native.Value, bool) {
	v, ok := in.whole, in.defined
	for _, key := range in.paths[i] {
		if !ok {
			break
		}
		v, ok = native.Get(v, key)
	}
	return v, ok
}
