package rego

import (
	"regexp"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"

	"github.com/hookc/hookc/rego/bounds"
)

// keepType is a function of one number that says nothing.
var keepType = types.NewFunction([]types.Type{types.N}, nil)

// patterns are compiled expressions that are looked for in long texts.
type patterns struct {
	mu    sync.Mutex
	known map[string]*regexp.Regexp
}

// maxPatterns bounds how many are kept.
const maxPatterns = 256

var longPatterns patterns

func (p *patterns) get(text string) (*regexp.Regexp, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if re := p.known[text]; re != nil {
		return re, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	if p.known == nil || len(p.known) >= maxPatterns {
		p.known = map[string]*regexp.Regexp{}
	}
	p.known[text] = re
	return re, nil
}

// bind gives every rule of the compiler the functions with bounds. It writes into
// the compiled rules, so it comes after the planner and before the first
// evaluation, and once.
func (c *code) bind() {
	c.bound.Do(func() {
		bindModules(c.compiler, boundFunctions().refs)
	})
}

// bindModules has every rule call the functions that names lead to.
func bindModules(c *ast.Compiler, names map[string]*ast.Term) {
	for _, m := range c.Modules {
		for _, r := range m.Rules {
			for ; r != nil; r = r.Else {
				bindRule(r, names)
			}
		}
	}
}

// bindRule binds what a rule calls. One that adds to a set or an object says so.
func bindRule(r *ast.Rule, names map[string]*ast.Term) {
	bindCalls(r.Head, names)
	bindCalls(r.Body, names)
	if !r.Default && (r.Head.RuleKind() == ast.MultiValue || len(r.Head.Ref()) > 1 && !r.Head.Ref().IsGround()) {
		r.Body.Append(keeping(r.Head.Key, r.Head.Value, r.Location))
	}
}

// bindCalls puts the other names in the place of those that are called. A body
// that was bound before stays as it is.
func bindCalls(x any, names map[string]*ast.Term) {
	seen := map[any]bool{}
	rename := func(t *ast.Term) *ast.Term {
		if ref, ok := t.Value.(ast.Ref); ok {
			if other := names[ref.String()]; other != nil {
				return other
			}
		}
		return t
	}
	ast.NewGenericVisitor(func(x any) bool {
		switch x.(type) {
		case *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension:
			if seen[x] {
				return true
			}
			seen[x] = true
		}
		switch x := x.(type) {
		case *ast.Expr:
			if terms, ok := x.Terms.([]*ast.Term); ok && len(terms) > 0 {
				terms[0] = rename(terms[0])
			}
		case *ast.With:
			x.Target, x.Value = rename(x.Target), rename(x.Value)
		case ast.Call:
			if len(x) > 0 {
				x[0] = rename(x[0])
			}
		case *ast.ArrayComprehension:
			x.Body.Append(keeping(nil, x.Term, x.Term.Location))
		case *ast.SetComprehension:
			x.Body.Append(keeping(nil, x.Term, x.Term.Location))
		case *ast.ObjectComprehension:
			x.Body.Append(keeping(x.Key, x.Value, x.Value.Location))
		}
		return false
	}).Walk(x)
}

// keeping is a call that says what is kept of a key and a value, nil if there is none.
func keeping(key, value *ast.Term, at *ast.Location) *ast.Expr {
	size := asWritten(key) + asWritten(value)
	e := ast.NewExpr([]*ast.Term{ast.NewTerm(ast.Ref{ast.VarTerm(keepName)}), ast.IntNumberTerm(int(size))})
	e.Location = at
	return e
}

// asWritten is what an element takes as it is written, with the collections that are
// made for it.
func asWritten(t *ast.Term) int64 {
	if t == nil {
		return 0
	}
	size := int64(bounds.Element)
	switch x := t.Value.(type) {
	case *ast.Array:
		size += bounds.Collection
		x.Foreach(func(e *ast.Term) { size += asWritten(e) })
	case ast.Set:
		size += bounds.Collection
		x.Foreach(func(e *ast.Term) { size += asWritten(e) })
	case ast.Object:
		size += bounds.Collection
		x.Foreach(func(k, e *ast.Term) { size += asWritten(k) + asWritten(e) })
	}
	return size
}
