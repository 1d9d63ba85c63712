package rego

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// kin are modules that can be one query: they were compiled for one version
// of Rego, with the same functions forbidden, beside the same files.
type kin struct {
	version ast.RegoVersion
	forbid  map[string]struct{}
	// settings says what the modules must agree on; files are the shared ones
	// by path. own is the module's own file among them, which its library
	// leaves out.
	settings string
	data     *documents
	files    map[string]*sharedFile
	own      string
	// parsed is the hook's module as it was parsed, named its rules that others
	// refer to.
	parsed *ast.Module
	named  map[string]bool
	where  string

	members []int
}

// newKin is a kin for a module to be the first of.
func newKin(m *Module) *kin {
	k := *m.kin
	k.files = maps.Clone(k.files)
	return &k
}

// takes reports whether m can join: both name the same library, and a file that
// both see is the same. What the one does not see of the other's files cannot
// make a difference to it.
func (k *kin) takes(m *Module) bool {
	o := m.kin
	if k.settings != o.settings || k.data != o.data {
		return false
	}
	for path, f := range o.files {
		if have := k.files[path]; have != nil && have != f {
			return false
		}
	}
	return true
}

func (k *kin) add(i int, m *Module) {
	k.members = append(k.members, i)
	maps.Copy(k.files, m.kin.files)
}

// fuse compiles the members to one query.
func (k *kin) fuse(parts []Part) *Fused {
	f := &Fused{Members: k.members}
	modules := map[string]*ast.Module{}
	for path, file := range k.files {
		if file.module != nil {
			modules[path] = file.module
		}
	}
	b := builder{f: f, modules: modules, done: map[*Module]bool{}, guards: map[*ast.Location]policy.Field{}}
	for place, i := range k.members {
		b.member(place, &parts[i])
	}
	f.code = parts[k.members[0]].Module.code // all see the same documents
	f.bound = new(sync.Once)
	f.compiler = newOPACompiler(k.version, k.forbid).
		WithPathConflictsCheck(storage.NonEmpty(context.Background(), f.store, f.txn))
	modules[fusedRoot] = b.dispatcher(k.version)
	f.compiler.Compile(modules)
	if f.compiler.Failed() {
		f.Fault = f.compiler.Errors.Error()
		return f
	}
	b.settle(f.compiler)
	f.input = newProjection(b.paths)
	f.input.whole = b.whole
	f.ask = fusedQuery(f.compiler)
	return f
}

// fusedQuery asks for the whole set.
func fusedQuery(c *ast.Compiler) ast.Body {
	set := ast.NewTerm(ast.Ref{ast.DefaultRootDocument, ast.StringTerm(fusedRoot), ast.StringTerm(fusedSet)})
	compiled, err := c.QueryCompiler().Compile(ast.NewBody(ast.Equality.Expr(ast.NewTerm(fusedVar), set)))
	if err != nil {
		panic("rego: the query of a fusion does not compile: " + err.Error())
	}
	return compiled
}

// builder writes the dispatcher.
type builder struct {
	f       *Fused
	modules map[string]*ast.Module
	done    map[*Module]bool
	rules   []*ast.Rule
	// guards are the fields that the conditions of filters test, by where each
	// is said to be written.
	guards map[*ast.Location]policy.Field
	paths  []policy.Path
	whole  bool
}

// member adds the rules of one part.
func (b *builder) member(place int, p *Part) {
	m, f := p.Module, b.f
	mem := member{m: m}
	if inexact(p.Filter) {
		mem.asked = ast.StringTerm(strconv.Itoa(place))
	}
	guards := b.guard(p.Filter, mem.asked)
	wanted := map[string]bool{}
	for name := range m.kin.named {
		wanted[name] = true
	}
	for _, e := range m.entries {
		number := ast.IntNumberTerm(len(f.entries))
		rules, set := hoisted(e)
		for _, r := range rules {
			b.rule(number, r.Location, guards, r.Body, ruleValue(r))
		}
		if rules == nil {
			wanted[e.name] = true
			b.rule(number, e.rules[0].Location, guards, nil, ast.NewTerm(e.ref))
		}
		f.entries = append(f.entries, fusedEntry{member: place, entry: e, set: set})
	}
	b.helpers(m, wanted)
	f.members = append(f.members, mem)
	f.budget = max(f.budget, m.budget)
	b.paths = append(b.paths, m.effects.Reads.All()...)
	b.whole = b.whole || m.input.whole
}

// sentry is a condition that keeps a rule from being evaluated for a hook that
// was not chosen. field is the one it tests, if the rule index may know it.
type sentry struct {
	test    *ast.Expr
	field   policy.Field
	indexed bool
}

// guard is the filter as far as the rule index understands it, and for the
// rest the test whether the member was chosen.
func (b *builder) guard(filter *policy.Matcher, asked *ast.Term) []sentry {
	var out []sentry
	if filter != nil {
		for i := range filter.Atoms {
			a := &filter.Atoms[i]
			if a.Op != policy.AtomIn {
				continue
			}
			b.paths = append(b.paths, policy.Path{Field: a.Field})
			out = append(out, sentry{oneOf(a.Field, a.Values), a.Field, true})
		}
	}
	if asked != nil {
		ref := ast.Ref{ast.InputRootDocument, ast.StringTerm(chosenKey), asked}
		out = append(out, sentry{test: ast.NewExpr(ast.NewTerm(ref))})
	}
	return out
}

func oneOf(f policy.Field, values []string) *ast.Expr {
	field := ast.NewTerm(ast.Ref{ast.InputRootDocument, ast.StringTerm(f.String())})
	if len(values) == 1 {
		return ast.Equal.Expr(field, ast.StringTerm(values[0]))
	}
	terms := make([]*ast.Term, len(values))
	for i, v := range values {
		terms[i] = ast.StringTerm(v)
	}
	return ast.Member.Expr(field, ast.SetTerm(terms...))
}

// rule adds one rule: out contains [number, value] if { guard; body }.
func (b *builder) rule(number *ast.Term, at *ast.Location, guards []sentry, body ast.Body, value *ast.Term) {
	exprs := make([]*ast.Expr, 0, len(guards)+len(body)+1)
	for _, g := range guards {
		test, where := g.test.Copy(), at
		if g.indexed {
			own := *at
			where = &own
			b.guards[where] = g.field
			for _, t := range test.Operands() {
				t.SetLocation(where) // what the compiler makes of an operand is found by it
			}
		}
		exprs = append(exprs, test.SetLocation(where))
	}
	for _, x := range body {
		exprs = append(exprs, x.Copy())
	}
	if len(exprs) == 0 {
		exprs = append(exprs, ast.NewExpr(ast.InternedTerm(true)).SetLocation(at))
	}
	head := ast.NewHead(fusedSet, ast.ArrayTerm(number, value.Copy()))
	head.Location = at
	b.rules = append(b.rules, &ast.Rule{Head: head, Body: ast.NewBody(exprs...), Location: at})
}

// hoisted are the rules of an entry point that can be the dispatcher's own,
// nil when it must be asked as a whole; set tells whether each gives one
// member of a set. A complete rule can, if all its rules give the same
// constant: then there is nothing to be in conflict.
func hoisted(e *entry) (rules []*ast.Rule, set bool) {
	var same ast.Value
	for _, s := range e.sources {
		r := s.rule
		constant := s.branches[0].constant
		switch {
		case len(r.Head.Ref()) > 1 || len(s.branches) > 1:
			return nil, false
		case r.Head.RuleKind() == ast.MultiValue:
			set = true
		case r.Default:
			if !e.part.verdict() || constant == nil || constant.Compare(ast.Boolean(false)) != 0 {
				return nil, false
			}
			continue // false says what undefined says
		case constant == nil || same != nil && same.Compare(constant) != 0:
			return nil, false
		default:
			same = constant
		}
		rules = append(rules, r)
	}
	return rules, set
}

func ruleValue(r *ast.Rule) *ast.Term {
	if r.Head.RuleKind() == ast.MultiValue {
		return r.Head.Key
	}
	return r.Head.Value
}

// helpers adds the rules of a module that rules refer to, as they were parsed.
func (b *builder) helpers(m *Module, wanted map[string]bool) {
	if b.done[m] || len(wanted) == 0 {
		return
	}
	b.done[m] = true
	pruned := *m.kin.parsed
	pruned.Annotations, pruned.Comments, pruned.Rules = nil, nil, nil
	for _, r := range m.kin.parsed.Rules {
		if wanted[string(r.Head.Ref()[0].Value.(ast.Var))] {
			pruned.Rules = append(pruned.Rules, r)
		}
	}
	b.modules[m.kin.where] = &pruned
}

func (b *builder) dispatcher(version ast.RegoVersion) *ast.Module {
	out := &ast.Module{Rules: b.rules, Package: &ast.Package{
		Path:     ast.Ref{ast.DefaultRootDocument, ast.StringTerm(fusedRoot)},
		Location: b.rules[0].Location,
	}}
	out.SetRegoVersionSpan(ast.RegoVersionSpanOf(version))
	for _, r := range out.Rules {
		r.Module = out
	}
	return out
}

// kinship works out with whom a module can be fused, nil for one that looks
// at what it would share with others.
func (u *unit) kinship(reached map[*ast.Rule]bool) *kin {
	k := &kin{version: u.version, forbid: u.forbid, files: u.island.files, own: u.ownPath, data: u.data,
		parsed: u.own, named: map[string]bool{}, where: u.names.private.String()}
	k.settings = strings.Join(slices.Concat([]string{u.version.String()}, slices.Sorted(maps.Keys(u.forbid)),
		[]string{""}, texts(u.config.Paths), []string{""}, texts(u.config.Data)), "\n")
	apart := false
	for r := range reached {
		ast.WalkRefs(r, func(ref ast.Ref) bool {
			apart = apart || ref[0].Equal(ast.DefaultRootDocument) && !u.note(k, ref.GroundPrefix())
			return false
		})
	}
	if apart {
		return nil
	}
	return k
}

func texts(list []diag.Text) []string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = t.Value
	}
	return out
}

// note notes a reference to data; false when it sees more than the module may
// be told apart by: the packages of all hooks, or its own among the shared.
func (u *unit) note(k *kin, ref ast.Ref) bool {
	private := u.names.private
	switch {
	case ref.HasPrefix(private) && len(ref) > len(private):
		if name, ok := ref[len(private)].Value.(ast.String); ok {
			k.named[string(name)] = true
		}
	case ref.HasPrefix(private):
		for _, r := range u.own.Rules {
			k.named[string(r.Head.Ref()[0].Value.(ast.Var))] = true
		}
	case private.HasPrefix(ref), len(ref) > 1 && ref[1].Equal(private[1]):
		return false
	case k.own != "":
		return !ref.HasPrefix(u.names.original) && !u.names.original.HasPrefix(ref)
	}
	return true
}
