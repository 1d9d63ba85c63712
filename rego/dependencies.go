package rego

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// dependencies is what a module was compiled with besides its own text: the shared
// files that it can see, whatever they see in turn included, and the data.
type dependencies struct {
	library *library
	// refs are what the module's own text refers to, own is its file among the
	// shared ones.
	refs  []ast.Ref
	own   string
	files map[string]*sharedFile
}

// Fresh reports whether Compile would now make the same of the hook that m was
// made of, as far as that depends on shared files: one that m cannot see may
// have changed.
func (c *Compiler) Fresh(h *policy.Hook, m *Module) bool {
	now := c.libraryOf(h)
	if now == m.dependencies.library {
		return true
	}
	return !now.broken() && now.data == m.dependencies.library.data &&
		maps.Equal(now.dependencies(m.dependencies.refs, m.dependencies.own), m.dependencies.files)
}

// broken reports whether something is wrong with a library, which every hook
// of its policy file reports.
func (l *library) broken() bool {
	return len(l.faults()) > 0 || len(l.forbidden()) > 0 ||
		slices.ContainsFunc(l.items, func(i libraryItem) bool { return len(i.found) > 0 })
}

// dependencies is the files that refs lead to: those whose package is on the way of
// a reference, or below it, with all that share a package with them. It errs
// only towards more.
func (l *library) dependencies(refs []ast.Ref, own string) map[string]*sharedFile {
	out := map[string]*sharedFile{}
	for todo := lists.Copy(refs); len(todo) > 0; {
		ref := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for path, f := range l.modules {
			at := f.module.Package.Path
			if path == own || out[path] != nil || !at.HasPrefix(ref) && !ref.HasPrefix(at) {
				continue
			}
			out[path] = f
			todo = append(append(todo, f.refs...), at) // bare names are looked for in its package
		}
	}
	return out
}

// dataRefs are the references to data in a module, imports included, as far
// as they are constant.
func dataRefs(m *ast.Module) []ast.Ref {
	var out []ast.Ref
	add := func(ref ast.Ref) {
		if !slices.ContainsFunc(out, func(r ast.Ref) bool { return r.Equal(ref) }) {
			out = append(out, ref)
		}
	}
	var vis *ast.GenericVisitor
	vis = ast.NewGenericVisitor(func(x any) bool {
		switch x := x.(type) {
		case *ast.Package:
			return true
		case ast.Var:
			if x.Equal(ast.DefaultRootDocument.Value) {
				add(ast.Ref{ast.DefaultRootDocument})
			}
		case ast.Ref:
			if x[0].Equal(ast.DefaultRootDocument) {
				add(x.GroundPrefix())
			}
			for i, operand := range x {
				if i > 0 || !isVar(operand.Value) {
					vis.Walk(operand)
				}
			}
			return true
		}
		return false
	})
	vis.Walk(m)
	return out
}

// library finds the shared modules and documents of the hook's policy file.
func (u *unit) library(c *Compiler) *library {
	l := c.libraryOf(u.hook)
	for i := range l.items {
		item := &l.items[i]
		if u.isOwn(item) {
			u.ownPath = item.path
			continue
		}
		u.found.Add(item.found...)
	}
	maps.Copy(u.where, l.where)
	u.data = l.data
	return l
}

// isOwn reports whether a file of the library is the hook's own text.
func (u *unit) isOwn(item *libraryItem) bool {
	return u.hook.Body.File != "" && !item.data && filepath.Clean(item.path) == filepath.Clean(u.hook.Body.File)
}

// see reports what is wrong with the library as a whole and picks the modules
// that the hook is compiled with.
func (u *unit) see(l *library) {
	for _, e := range l.faults() {
		if e.Location == nil || e.Location.File != u.ownPath {
			u.found.Add(codeCompile.Report(u.where.span(e.Location), "%s", e.Message).WithHint("%s", compileHint(l.moduleAt(e.Location), e.Message)))
		}
	}
	refs := dataRefs(u.own)
	u.dependencies = dependencies{library: l, refs: refs, own: u.ownPath, files: l.dependencies(refs, u.ownPath)}
	for path, f := range u.dependencies.files {
		u.modules[path] = f.module
	}
}

// moduleAt is the shared module of a location, nil when it is in none.
func (l *library) moduleAt(at *ast.Location) *ast.Module {
	if at == nil || l.modules[at.File] == nil {
		return nil
	}
	return l.modules[at.File].module
}

// sharedCalls reports what shared files call that they may not.
func (u *unit) sharedCalls(l *library) {
	for _, fault := range l.forbidden() {
		if fault.at.File != u.ownPath {
			u.reportForbidden(fault)
		}
	}
}

func (u *unit) reportForbidden(fault libraryFault) {
	u.report(codeForbidden, fault.at, "%s may not be called by a rule", fault.name)
}
