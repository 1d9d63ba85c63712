package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/rego/bounds"
)

// virtuals remembers, for one query, the values of rules that were evaluated,
// as OPA's own cache does, in a flat list instead of a tree of tables: a hook
// has few rules, and most of what OPA's cache costs is making it. It is a
// topdown.VirtualCache.
type virtuals struct {
	frames []virtualFrame
	// ground is where the first frames, rules and keys are kept.
	ground struct {
		frames [2]virtualFrame
		rules  [6]virtual
		terms  [24]*ast.Term
	}
	// terms are what keys are cut from.
	terms []*ast.Term
	// steps is told what is kept.
	steps *stepBudget
}

// virtualFrame is what was evaluated under one set of `with`.
type virtualFrame struct {
	rules []virtual
	// byHash leads to the last rule of a hash, once there are many.
	byHash map[int]int
}

// virtual is one rule's value, nil for undefined.
type virtual struct {
	key   ast.Ref
	value *ast.Term
	// before is the rule of the same hash before this one, or -1.
	before int
}

// manyVirtuals is how many rules are looked through one by one.
const manyVirtuals = 12

// newVirtuals has one frame.
func newVirtuals(steps *stepBudget) *virtuals {
	v := &virtuals{steps: steps}
	v.frames, v.terms = v.ground.frames[:0], v.ground.terms[:0]
	v.Push()
	v.frames[0].rules = v.ground.rules[:0]
	return v
}

// Push begins a frame.
func (v *virtuals) Push() { v.frames = append(v.frames, virtualFrame{}) }

// Pop ends the last frame.
func (v *virtuals) Pop() { v.frames = v.frames[:len(v.frames)-1] }

// Get returns the value of a rule and whether it is known to be undefined.
func (v *virtuals) Get(ref ast.Ref) (*ast.Term, bool) {
	if r := v.frames[len(v.frames)-1].find(ref); r != nil {
		return r.value, r.value == nil
	}
	return nil, false
}

// Put notes the value of a rule, nil for undefined.
func (v *virtuals) Put(ref ast.Ref, value *ast.Term) {
	f := &v.frames[len(v.frames)-1]
	if r := f.find(ref); r != nil {
		if value != nil || r.value == nil {
			r.value = value
		}
		return
	}
	r := virtual{key: v.keep(ref), value: value, before: -1}
	v.steps.keep(bounds.Collection + int64(len(ref))*8) // the next step ends an evaluation that holds too much
	f.rules = append(f.rules, r)
	if len(f.rules) <= manyVirtuals {
		return
	}
	if f.byHash == nil {
		f.byHash = make(map[int]int, 4*manyVirtuals)
		for i := range f.rules {
			f.index(i)
		}
		return
	}
	f.index(len(f.rules) - 1)
}

// Keys lists the rules of the last frame that have a value.
func (v *virtuals) Keys() []ast.Ref {
	var out []ast.Ref
	for _, r := range v.frames[len(v.frames)-1].rules {
		if r.value != nil {
			out = append(out, r.key)
		}
	}
	return out
}

// keep copies a reference, which the evaluator goes on to change.
func (v *virtuals) keep(ref ast.Ref) ast.Ref {
	if len(v.terms)+len(ref) > cap(v.terms) {
		v.terms = make([]*ast.Term, 0, max(len(ref), 4*len(v.ground.terms)))
	}
	start := len(v.terms)
	v.terms = append(v.terms, ref...)
	return v.terms[start:len(v.terms):len(v.terms)]
}

func (f *virtualFrame) index(i int) {
	h := f.rules[i].key.Hash()
	if last, ok := f.byHash[h]; ok {
		f.rules[i].before = last
	}
	f.byHash[h] = i
}

func (f *virtualFrame) find(ref ast.Ref) *virtual {
	if f.byHash == nil {
		for i := range f.rules {
			if sameRef(f.rules[i].key, ref) {
				return &f.rules[i]
			}
		}
		return nil
	}
	i, ok := f.byHash[ref.Hash()]
	for ok && i >= 0 {
		if sameRef(f.rules[i].key, ref) {
			return &f.rules[i]
		}
		i = f.rules[i].before
	}
	return nil
}

// sameRef compares from the end, where references of one package differ.
func sameRef(a, b ast.Ref) bool {
	if len(a) != len(b) {
		return false
	}
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] != b[i] && !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}
