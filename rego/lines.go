package rego

import (
	"context"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/hookc/hookc/policy/diag"
)

// source is one rule of an entry point, its else branches included: where it
// is written, and how to ask what it alone gives.
type source struct {
	rule     *ast.Rule
	branches []branch
}

// branch is a rule or one of its else branches.
type branch struct {
	at diag.Span
	// constant is the value when it does not depend on anything, else nil.
	constant ast.Value
	// body is the rule's body, binding lineVar to the value.
	body ast.Body
}

const lineVar = ast.Var("hookc_line")

// attach finds the entry point's rules in the compiled program.
func (e *entry) attach(c *ast.Compiler, private ast.Ref, where positions) {
	e.ref = private.Append(ast.StringTerm(e.name))
	e.index = c.RuleIndex(e.ref)
	for _, r := range c.Modules[ownFile].Rules {
		if name, ok := r.Head.Ref()[0].Value.(ast.Var); !ok || string(name) != e.name {
			continue
		}
		s := &source{rule: r}
		for b := r; b != nil; b = b.Else {
			s.branches = append(s.branches, newBranch(b, where))
		}
		e.sources = append(e.sources, s)
	}
	// A default gives the value only when no other rule does.
	slices.SortStableFunc(e.sources, func(a, b *source) int { return compareBool(a.rule.Default, b.rule.Default) })
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func newBranch(r *ast.Rule, where positions) branch {
	b := branch{at: where.span(r.Location)}
	value := r.Head.Value
	if r.Head.RuleKind() == ast.MultiValue {
		value = r.Head.Key
	}
	if ast.IsConstant(value.Value) {
		b.constant = value.Value
	}
	exprs := make([]*ast.Expr, 0, len(r.Body)+1)
	for _, x := range r.Body {
		copied := *x // NewBody numbers its expressions; those of the rule stay as they are.
		exprs = append(exprs, &copied)
	}
	b.body = ast.NewBody(append(exprs, ast.Equality.Expr(ast.NewTerm(lineVar), value))...)
	return b
}

// lines says, for each thing an entry point said, which rule said it: the
// first in the text of those that did. It is asked only after something fired
// and costs nothing where one rule alone can have said it. An entry point of
// one object is not taken apart.
func (m *Module) lines(ctx context.Context, steps *stepBudget, e *entry, input *ast.Term, value ast.Value, list []contribution) []diag.Span {
	out := make([]diag.Span, len(list))
	_, set := value.(ast.Set)
	set = set && e.rules[0].Head.RuleKind() == ast.MultiValue
	t := tracer{m: m, ctx: ctx, steps: steps, input: input, gave: map[*source]given{}}
	candidates := t.possible(e)
	for i, s := range list {
		wanted := value
		if set {
			wanted = s.value
		}
		out[i] = t.find(candidates, wanted)
	}
	return out
}

// given is what one rule alone gives, by branch.
type given struct {
	values []ast.Value
	at     []diag.Span
}

// tracer finds rules by value, evaluating each at most once.
type tracer struct {
	m     *Module
	ctx   context.Context
	steps *stepBudget
	input *ast.Term
	gave  map[*source]given
}

// possible are the rules that the index does not exclude for this input.
func (t *tracer) possible(e *entry) []*source {
	if e.index == nil || len(e.sources) < 2 {
		return e.sources
	}
	hit, err := e.index.Lookup(inputResolver{t.input})
	if err != nil {
		return e.sources
	}
	defer ast.IndexResultPool.Put(hit)
	matched := make(map[*ast.Rule]bool, len(hit.Rules))
	for _, r := range hit.Rules {
		matched[r] = true
	}
	out := make([]*source, 0, len(hit.Rules))
	for _, s := range e.sources {
		for r := s.rule; r != nil; r = r.Else {
			if matched[r] || r.Default {
				out = append(out, s)
				break
			}
		}
	}
	return out
}

// find is where the rule that gives the value is written; when no single rule
// gives it, where the first candidate is.
func (t *tracer) find(candidates []*source, wanted ast.Value) diag.Span {
	var able []*source
	for _, s := range candidates {
		if s.can(wanted) {
			able = append(able, s)
		}
	}
	if len(able) == 0 {
		able = candidates
	}
	if len(able) == 1 && len(able[0].branches) == 1 {
		return able[0].branches[0].at
	}
	for _, s := range able {
		g := t.evaluate(s)
		for i, v := range g.values {
			if v.Compare(wanted) == 0 {
				return g.at[i]
			}
		}
	}
	if len(able) == 0 {
		return diag.Span{}
	}
	return able[0].branches[0].at
}

func (s *source) can(wanted ast.Value) bool {
	for _, b := range s.branches {
		if b.constant == nil || b.constant.Compare(wanted) == 0 {
			return true
		}
	}
	return false
}

// evaluate runs one rule alone: its branches in order until one holds.
func (t *tracer) evaluate(s *source) given {
	if g, ok := t.gave[s]; ok {
		return g
	}
	var g given
	for _, b := range s.branches {
		err := t.m.query(b.body, t.input, t.steps).Iter(t.ctx, func(r topdown.QueryResult) error {
			g.values = append(g.values, r[lineVar].Value)
			g.at = append(g.at, b.at)
			return nil
		})
		if err != nil || len(g.values) > 0 {
			break // The whole has been evaluated without an error: this is the budget's end.
		}
	}
	t.gave[s] = g
	return g
}

// inputResolver answers the rule index from the input alone.
type inputResolver struct{ input *ast.Term }

// Resolve finds the value of a reference, nil for undefined.
func (r inputResolver) Resolve(ref ast.Ref) (ast.Value, error) {
	if !ref[0].Equal(ast.InputRootDocument) {
		return nil, ast.UnknownValueErr{}
	}
	v, err := r.input.Value.Find(ref[1:])
	if err != nil {
		return nil, nil
	}
	return v, nil
}
