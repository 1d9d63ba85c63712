// Package rego compiles and evaluates Rego hooks (semantics.md §3.2, §3.3):
// entry points, effects inferred from the compiled program, results with the
// line of the rule that fired. Only packages below it import OPA besides.
package rego

import (
	"context"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/disk"
)

// DefaultBudget is the step budget of a rule (semantics.md §5.4).
const DefaultBudget = 100 * time.Millisecond

// Value is a Rego value: what an event looks like to a module.
type Value = ast.Value

// Compiler makes modules of hooks. Hooks of one policy file share what it has
// read of their library, as it was when the compilation began: one that is used
// for several is told of each by Begin. The zero Compiler is ready for its
// first; it is safe for concurrent use.
type Compiler struct {
	// Budget bounds one evaluation of a hook that sets no timeout of its own;
	// 0 is DefaultBudget.
	Budget time.Duration
	Lints  Lints
	// Shared, when set, is read instead of the disk.
	Shared *Shared
	// Draft, when set, gives the text of a file that is not written to the disk yet.
	Draft func(path string) (string, bool)
	// Eyes, when set, look at what native code says; Cover, when set, at what OPA
	// evaluates.
	Eyes  *Eyes
	Cover dag.Cover

	mu                        sync.Mutex
	read                      disk.Files
	files, olderFiles         map[fileKey]*sharedFile
	libraries, olderLibraries map[libraryKey]*library
}

// Module is one Rego hook, compiled. It is immutable and safe for concurrent
// use; it implements policy.Runner.
type Module struct {
	name string
	code
	ask          ast.Body
	entries      []*entry
	input        projection
	effects      policy.Effects
	always       policy.Powers
	budget       time.Duration
	where        positions
	names        renaming
	dependencies dependencies
	documents    *documents
	native       natively
	inert        diag.List
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
	data    *documents
	// ownPath is where the hook's own file would be among the shared ones.
	ownPath      string
	dependencies dependencies
	entries      []*entry
	names        renaming
	found        diag.List
	// inert is what check says besides.
	inert diag.List
}

// Compile makes a module of a hook's Rego. Everything wrong with it is
// reported at once, each finding where it is written; with an error among
// them the module is nil.
func (c *Compiler) Compile(h *policy.Hook) (*Module, diag.List) {
	u := newUnit(h)
	u.parse()
	l := u.library(c)
	u.findEntryPoints()
	u.sharedCalls(l)
	u.ownCalls()
	if u.found.HasErrors() {
		return u.finish(nil)
	}
	u.lint(c.Lints)
	u.aside(func() {
		u.lintAllow()
		u.lintSays()
	})
	u.see(l)
	u.privatise()
	m := u.link()
	if m == nil {
		return u.finish(nil)
	}
	m.inert = u.inert
	u.lintTopdown(m.compiler)
	m.budget = c.budget(h)
	if c.Cover != nil {
		m.cover = covered(c.Cover, u.where, u.modules)
	}
	return u.finish(m)
}

func newUnit(h *policy.Hook) *unit {
	u := &unit{hook: h, where: positions{}, modules: map[string]*ast.Module{}}
	if h.Event != "" {
		u.spec = h.Event.Spec()
	}
	if h.File != nil {
		u.config = h.File.Rego
	}
	u.settings()
	return u
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
		name: u.hook.Name, entries: u.entries, where: u.where, names: u.names, dependencies: u.dependencies, documents: u.data,
		code: code{store: u.data.store, txn: u.data.txn, bound: new(sync.Once)},
	}
	m.compiler = newOPACompiler(u.version, u.forbid).
		WithPathConflictsCheck(storage.NonEmpty(context.Background(), m.store, m.txn))
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
	capabilities.Builtins = lists.DeleteFunc(append(capabilities.Builtins, functions().decls...), func(b *ast.Builtin) bool {
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
