// Package rego compiles and evaluates Rego hooks (semantics.md §3.2, §3.3):
// entry points, effects inferred from the compiled program, results with the
// line of the rule that fired. It is the only package that imports OPA.
package rego

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// DefaultBudget is the step budget of a rule (semantics.md §5.4).
const DefaultBudget = 100 * time.Millisecond

// Value is a Rego value: what an event looks like to a module.
type Value = ast.Value

// Compiler makes modules of hooks. It remembers the shared files it has read
// for as long as their content stays the same, so that hooks of one policy
// share the parse. The zero Compiler is ready; it is safe for concurrent use.
type Compiler struct {
	// Budget bounds one evaluation of a hook that sets no timeout of its own;
	// 0 is DefaultBudget.
	Budget time.Duration
	Lints  Lints

	mu      sync.Mutex
	files   map[string]*sharedFile
	digests map[*policy.FileConfig]string
}

// Module is one Rego hook, compiled. It is immutable and safe for concurrent
// use; it implements policy.Runner.
type Module struct {
	name string
	code
	ask     ast.Body
	entries []*entry
	input   projection
	effects policy.Effects
	always  policy.Powers
	budget  time.Duration
	where   positions
	names   renaming
	// kin says with which modules this one can be fused; nil is none.
	kin *kin
}

// Effects are what the module was seen to read, write, say and use.
func (m *Module) Effects() policy.Effects { return m.effects }

// Always is what the module says whatever it reads: its facts, when it
// consists of nothing else and so cannot fail.
func (m *Module) Always() policy.Powers { return m.always }

// EntryPoints names the entry points the module defines, in the order their
// results are reported.
func (m *Module) EntryPoints() []string {
	out := make([]string, len(m.entries))
	for i, e := range m.entries {
		out[i] = e.name
	}
	return out
}

// Input is the part of an event the module refers to, as Rego sees it.
func (m *Module) Input(c *policy.Context) Value { return m.input.value(c) }

// unit is the working state of one compilation.
type unit struct {
	hook    *policy.Hook
	spec    *policy.EventSpec
	config  policy.RegoConfig
	version ast.RegoVersion
	forbid  map[string]struct{}
	where   positions
	own     *ast.Module
	modules map[string]*ast.Module
	data    map[string]any
	// files are the shared files by path, ownPath is where the hook's own file
	// would be among them.
	files   map[string]*sharedFile
	ownPath string
	entries []*entry
	names   renaming
	found   diag.List
}

// Compile makes a module of a hook's Rego. Everything wrong with it is
// reported at once, each finding where it is written; with an error among
// them the module is nil.
func (c *Compiler) Compile(h *policy.Hook) (*Module, diag.List) {
	u := &unit{hook: h, spec: h.Event.Spec(), where: positions{}, modules: map[string]*ast.Module{}, data: map[string]any{},
		files: map[string]*sharedFile{}}
	if h.File != nil {
		u.config = h.File.Rego
	}
	u.settings()
	u.parse()
	u.library(c)
	u.findEntryPoints()
	u.checkForbidden()
	if u.found.HasErrors() {
		return u.finish(nil)
	}
	u.lint(c.Lints)
	u.privatise()
	m := u.link()
	if m == nil {
		return u.finish(nil)
	}
	m.budget = c.budget(h)
	return u.finish(m)
}

func (c *Compiler) budget(h *policy.Hook) time.Duration {
	switch {
	case h.Timeout > 0:
		return h.Timeout
	case c.Budget > 0:
		return c.Budget
	}
	return DefaultBudget
}

func (u *unit) finish(m *Module) (*Module, diag.List) {
	u.found.Sort()
	if u.found.HasErrors() {
		return nil, u.found
	}
	return m, u.found
}

// link compiles the modules together and works out what the hook does.
func (u *unit) link() *Module {
	m := &Module{
		name: u.hook.Name, entries: u.entries, where: u.where, names: u.names,
		code: code{builtins: functions().eval,
			store: inmem.NewFromASTObject(toTerm(u.data).Value.(ast.Object))},
	}
	// The transaction is held for the module's life: nothing ever writes.
	txn, err := m.store.NewTransaction(context.Background())
	if err != nil {
		panic("rego: in-memory store refused a transaction: " + err.Error())
	}
	m.txn = txn
	m.compiler = newOPACompiler(u.version, u.forbid).
		WithPathConflictsCheck(storage.NonEmpty(context.Background(), m.store, txn))
	m.compiler.Compile(u.modules)
	if m.compiler.Failed() {
		u.reportCompile(m.compiler.Errors)
		return nil
	}
	for _, e := range m.entries {
		e.attach(m.compiler, u.names.private, u.where)
	}
	m.ask = compileQuery(m.compiler, m.entries)
	m.infer(u)
	return m
}

// newOPACompiler returns an OPA compiler that knows hookc's functions, lacks
// the forbidden ones and never fetches anything.
func newOPACompiler(version ast.RegoVersion, forbid map[string]struct{}) *ast.Compiler {
	capabilities := ast.CapabilitiesForThisVersion(ast.CapabilitiesRegoVersion(version))
	capabilities.Builtins = slices.DeleteFunc(append(capabilities.Builtins, functions().decls...), func(b *ast.Builtin) bool {
		_, bad := forbid[b.Name]
		return bad
	})
	capabilities.AllowNet = []string{}
	return ast.NewCompiler().
		SetErrorLimit(0).
		WithDefaultRegoVersion(version).
		WithCapabilities(capabilities)
}

// compileQuery asks for every entry point at once. A single one is bound
// directly; several are wrapped, because one that is undefined must not make
// the others so.
func compileQuery(c *ast.Compiler, entries []*entry) ast.Body {
	body := ast.NewBody()
	for _, e := range entries {
		value := ast.NewTerm(e.ref)
		if len(entries) > 1 {
			v := ast.VarTerm("hookc_value")
			value = ast.ArrayComprehensionTerm(v, ast.NewBody(ast.Equality.Expr(v, value)))
		}
		body.Append(ast.Equality.Expr(ast.NewTerm(e.variable), value))
	}
	compiled, err := c.QueryCompiler().Compile(body)
	if err != nil {
		panic("rego: the query of entry points does not compile: " + err.Error())
	}
	return compiled
}
