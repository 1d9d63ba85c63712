package rego

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// listed says of the rules of compiled modules whether each is written in forms
// of the list.
type listed struct {
	c     *ast.Compiler
	rules []listedRule
	// replaced are the paths below data that some with replaces.
	replaced [][]string
	data     ast.Value
}

type listedRule struct {
	*ast.Rule
	// ref is its name, which Rule makes again at each call; name is that as a text,
	// which most are compared by.
	ref  ast.Ref
	name string
	// path is the constant beginning of its name, below data.
	path  []string
	forms forms
	// why says that it is not on the list; "" is on it.
	why string
	// twice says that a comprehension of it hasKeyTwice.
	twice bool
}

// Ref is the rule's name.
func (r *listedRule) Ref() ast.Ref { return r.ref }

// listRules reads all rules.
func listRules(c *ast.Compiler, data ast.Value) *listed {
	l := &listed{c: c, data: data}
	for _, m := range c.Modules {
		for _, r := range m.Rules {
			ref := r.Ref()
			l.rules = append(l.rules, listedRule{Rule: r, ref: ref, name: ref.String(), path: textPath(ref.StringPrefix())})
		}
		ast.WalkExprs(m, func(e *ast.Expr) bool {
			for _, w := range e.With {
				if ref, ok := w.Target.Value.(ast.Ref); ok && ref.HasPrefix(ast.DefaultRootRef) {
					l.replaced = append(l.replaced, textPath(ref.StringPrefix()))
				}
			}
			return false
		})
	}
	for i := range l.rules {
		r := &l.rules[i]
		if r.why = l.head(r); r.why == "" {
			why, forms := l.body(r.Rule)
			r.why, r.forms = why, r.forms|forms
		}
		if r.why == "" {
			r.why = defect(c, r.Rule)
		}
		ast.WalkTerms(r.Rule, func(t *ast.Term) bool {
			r.twice = r.twice || hasKeyTwice(c, t)
			return r.twice
		})
	}
	return l
}

// unfit is why the function at a path, its generation first, is none for
// native; it has the forms of all its rules.
func (l *listed) unfit(path []string) (string, forms) {
	var all forms
	for i := range l.rules {
		if r := &l.rules[i]; overlap(r.path, path[1:]) {
			if r.why != "" {
				return r.why, 0
			}
			all |= r.forms
		}
	}
	return "", all
}

// twice reports whether a rule at a path, its generation first, hasKeyTwice.
func (l *listed) twice(path []string) bool {
	return slices.ContainsFunc(l.rules, func(r listedRule) bool { return r.twice && overlap(r.path, path[1:]) })
}

// query is why a value that is asked for is not on the list.
func (l *listed) query(v ast.Value) (string, forms) {
	b := lister{l: l}
	if ref, ok := v.(ast.Ref); ok {
		b.ref(ref)
		return b.why, b.forms
	}
	body, err := l.c.QueryCompiler().Compile(ast.NewBody(ast.Equality.Expr(ast.VarTerm(resultVar), ast.NewTerm(v).Copy())))
	if err != nil {
		return inWords(err), 0
	}
	b.exprs(body)
	return b.why, b.forms
}

// head is why a rule is not on the list for its name, and those near it.
func (l *listed) head(r *listedRule) string {
	constant := len(r.path) == len(r.Ref())-1
	for i := range l.rules {
		o := &l.rules[i]
		switch {
		case o == r:
		case constant && r.name == o.name:
			if len(r.Head.Args) != len(o.Head.Args) || r.Head.RuleKind() != o.Head.RuleKind() {
				return "planner: rules of different kinds at one path"
			}
		case !overlap(o.path, r.path):
		case r.Default || o.Default || r.Else != nil || o.Else != nil:
			return "planner: a default or else among rules with variables in their names"
		case len(r.Head.Args) != len(o.Head.Args):
			return "planner: functions among rules with variables in their names"
		case len(r.Ref()) != len(o.Ref()) || r.Head.RuleKind() != o.Head.RuleKind():
			return "planner: rules with variables in their names, of different lengths"
		}
	}
	switch {
	case len(r.Head.Args) > 0:
		r.forms.add(formFunction)
	case r.Head.RuleKind() == ast.MultiValue && constant:
		r.forms.add(formSet)
	case r.Head.RuleKind() == ast.MultiValue:
		r.forms.add(formSetsBelow)
	case constant:
		r.forms.add(formComplete)
	default:
		r.forms.add(formPartial)
	}
	return ""
}

// body is why a rule and its else branches are not on the list for what they
// consist of.
func (l *listed) body(r *ast.Rule) (string, forms) {
	b := lister{l: l}
	if r.Default {
		b.forms.add(formDefault)
	}
	for ; r != nil; r = r.Else {
		if r.Else != nil {
			b.forms.add(formElse)
		}
		for _, t := range r.Ref()[1:] {
			b.term(t)
		}
		for _, t := range r.Head.Args {
			b.term(t)
		}
		b.term(r.Head.Key)
		b.term(r.Head.Value)
		b.exprs(r.Body)
	}
	return b.why, b.forms
}

// at are the rules whose constant beginnings are at a path or above it, below
// are those farther down.
func (l *listed) at(path []string) (above, below []*listedRule) {
	for i := range l.rules {
		r := &l.rules[i]
		switch {
		case !overlap(r.path, path):
		case len(r.path) <= len(path):
			above = append(above, r)
		default:
			below = append(below, r)
		}
	}
	return above, below
}

// lister reads what a rule consists of.
type lister struct {
	l     *listed
	forms forms
	why   string
	// negated says that the reading is inside a negation, outside of
	// comprehensions and bodies.
	negated bool
}

func (b *lister) not(why string) {
	if b.why == "" {
		b.why = why
	}
}

func (b *lister) exprs(body ast.Body) {
	outer := b.negated
	b.negated = false
	for _, e := range body {
		b.expr(e)
	}
	b.negated = outer
}

func (b *lister) expr(e *ast.Expr) {
	for _, w := range e.With {
		b.with(w)
	}
	outer := b.negated
	if e.Negated {
		b.forms.add(formNegation)
		b.negated = true
	}
	switch terms := e.Terms.(type) {
	case *ast.Term:
		b.forms.add(formTerm)
		b.term(terms)
	case []*ast.Term:
		b.call(e)
	case *ast.Every:
		b.forms.add(formEvery)
		b.term(terms.Key)
		b.term(terms.Value)
		b.term(terms.Domain)
		b.exprs(terms.Body)
	case *ast.Not:
		b.forms.add(formNotBody)
		b.exprs(terms.Body)
	case *ast.LogicalAnd:
		b.forms.add(formAndOr)
		b.exprs(terms.Lhs)
		b.exprs(terms.Rhs)
	case *ast.LogicalOr:
		b.forms.add(formAndOr)
		b.exprs(terms.Lhs)
		b.exprs(terms.Rhs)
	default:
		b.not("planner: an expression hookc does not know")
	}
	b.negated = outer
}

func (b *lister) call(e *ast.Expr) {
	operator := e.Operator()
	for _, t := range e.Operands() {
		b.term(t)
	}
	switch {
	case e.IsEquality():
		b.forms.add(formUnify)
	case operator.HasPrefix(ast.DefaultRootRef):
		above, below := b.l.at(textPath(operator.StringPrefix()))
		if len(above) == 0 || len(below) > 0 || slices.ContainsFunc(above, func(r *listedRule) bool { return !r.Ref().Equal(operator) }) {
			b.not("planner: a call of what is not at its path alone")
		}
		b.forms.add(formCall)
	default:
		decl, _ := builtinNamed(operator.String())
		if decl != nil && decl.Relation {
			if b.negated {
				b.not("planner: a relation in a negation")
			}
			b.forms.add(formRelation)
			return
		}
		b.forms.add(formBuiltin)
	}
}

func (b *lister) term(t *ast.Term) {
	if t != nil {
		b.value(t.Value)
	}
}

func (b *lister) value(v ast.Value) {
	switch v := v.(type) {
	case ast.Null, ast.Boolean, ast.Number, ast.String, ast.Var:
		b.forms.add(formValue)
	case ast.Ref:
		b.ref(v)
	case *ast.Array:
		b.forms.add(formValue)
		v.Foreach(b.term)
	case ast.Set:
		b.forms.add(formValue)
		v.Foreach(b.term)
	case ast.Object:
		b.forms.add(formValue)
		v.Foreach(func(k, v *ast.Term) { b.term(k); b.term(v) })
	case *ast.ArrayComprehension:
		b.comprehension(v.Body, v.Term)
	case *ast.SetComprehension:
		b.comprehension(v.Body, v.Term)
	case *ast.ObjectComprehension:
		b.comprehension(v.Body, v.Key, v.Value)
	default:
		b.not("planner: a term hookc does not know")
	}
}

func (b *lister) comprehension(body ast.Body, terms ...*ast.Term) {
	b.forms.add(formComprehension)
	outer := b.negated
	b.negated = false
	for _, t := range terms {
		b.term(t)
	}
	b.exprs(body)
	b.negated = outer
}

// ref reads a reference: into a value, to a rule by its constant path, to a base
// document, or to a whole package. Names computed among rules are topdown's.
func (b *lister) ref(ref ast.Ref) {
	for _, t := range ref[1:] {
		b.term(t)
	}
	if _, ok := ref[0].Value.(ast.Var); !ok {
		b.not("planner: a reference into what is no document and no variable")
		return
	}
	if !ref[0].Equal(ast.DefaultRootDocument) {
		b.forms.add(formLocal)
		return
	}
	path := textPath(ref.StringPrefix())
	above, below := b.l.at(path)
	switch {
	case len(above) > 0:
		b.forms.add(formRule)
	case len(above) == 0 && len(below) == 0:
		b.forms.add(formBase)
	case len(path) == len(ref)-1:
		b.whole(path, below)
	default:
		b.table(path, below)
	}
}

// table reads a rule by a computed name: of complete rules with names of one
// length, and not in a negation, where the plan takes each choice among rules
// for one that holds.
func (b *lister) table(path []string, rules []*listedRule) {
	other := func(r *listedRule) bool {
		return len(r.path) != len(path)+1 || len(r.Ref()) != len(path)+2 || len(r.Head.Args) > 0
	}
	switch {
	case b.negated:
		b.not("planner: rules are looked up by a computed name in a negation")
	case slices.ContainsFunc(rules, other):
		b.not("planner: rules of several kinds are looked up by a computed name")
	case b.l.document(path) != nil || b.l.replacedAt(path):
		b.not("planner: rules and documents are looked up by a computed name")
	}
	b.forms.add(formTable)
}

func (l *listed) replacedAt(path []string) bool {
	return slices.ContainsFunc(l.replaced, func(p []string) bool { return overlap(p, path) })
}

// whole reads a package as a value, of which these are the rules.
func (b *lister) whole(path []string, rules []*listedRule) {
	switch {
	case b.l.replacedAt(path):
		b.not("planner: a package is read as a value, and with replaces some of it")
	case slices.ContainsFunc(rules, func(r *listedRule) bool { return len(r.path) < len(r.Ref())-1 }):
		b.not("planner: a package with variables in names of its rules is read as a value")
	case b.l.document(path) != nil:
		b.not("planner: a package is read as a value, and documents are at its path")
	}
	b.forms.add(formPackage)
}

// document is the base document at a path, nil if there is none.
func (l *listed) document(path []string) ast.Value {
	v := l.data
	for _, key := range path {
		if v = lookUp(v, ast.String(key)); v == nil {
			return nil
		}
	}
	return v
}

// with reads what with replaces: the input, a base document with no rules on its
// path, the complete rules of one path, or a function.
func (b *lister) with(w *ast.With) {
	b.term(w.Value)
	target, ok := w.Target.Value.(ast.Ref)
	switch {
	case !ok:
		b.not("planner: with replaces what is no reference")
	case target.HasPrefix(ast.InputRootRef):
		b.forms.add(formWithInput)
	case !target.HasPrefix(ast.DefaultRootRef):
		b.forms.add(formWithFunction)
	default:
		above, below := b.l.at(textPath(target.StringPrefix()))
		other := func(r *listedRule) bool { return !r.Ref().Equal(target) || r.Head.RuleKind() == ast.MultiValue }
		switch {
		case len(above)+len(below) == 0:
			b.forms.add(formWithData)
		case len(below) > 0 || slices.ContainsFunc(above, other):
			b.not("planner: with replaces what is not at its path alone")
		case len(above[0].Head.Args) > 0:
			b.forms.add(formWithFunction)
		default:
			b.forms.add(formWithRule)
		}
	}
}
