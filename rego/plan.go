package rego

import (
	"context"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/rego/native"
)

// plan is a module as native code, as far as it can be. It is immutable and
// safe for concurrent use.
type plan struct {
	program *native.Program
	code    *native.Code
	// entries are the module's, in its order.
	entries []plannedEntry
	// bridged are the functions that only the resident engine has: a module
	// that calls one is not cold-native.
	bridged []string
	// why says why nothing of the module is native; "" when some of it is.
	why string
}

// plannedEntry is an entry point's function, or why topdown evaluates it.
type plannedEntry struct {
	fn  int
	why string
	// forms are those that it and all it calls are written in.
	forms forms
}

// planModule plans a module's entry points. Nothing else may use the module
// meanwhile. It does not fail: what cannot be native says why.
func planModule(m *Module) *plan {
	c := m.compiler
	wants := make([]ast.Value, len(m.entries))
	for i, e := range m.entries {
		wants[i] = e.ref
	}
	data, err := m.store.Read(context.Background(), m.txn, storage.Path{})
	if err != nil {
		panic("rego: in-memory store is not readable: " + err.Error())
	}
	return planValues(c, wants, toTerm(data).Value)
}

// planValues plans terms, mostly documents, over compiled modules and constant
// data.
func planValues(c *ast.Compiler, wants []ast.Value, data ast.Value) *plan {
	out := &plan{entries: make([]plannedEntry, len(wants))}
	if hides(c.RuleTree) || lookUp(data, ast.SystemDocumentKey) != nil {
		out.why = "planner: data.system"
		return out
	}
	list := listRules(c, data)
	sources := make([]rooted, len(wants))
	for i, want := range wants {
		if out.entries[i].why, out.entries[i].forms = list.query(want); out.entries[i].why == "" {
			sources[i], out.entries[i].why = planValue(c, want, i)
		}
	}
	for { // What turns out unfit is left out of the program that is kept.
		b := newAssembly(c, list, data)
		for _, s := range sources {
			if s.p != nil {
				b.take(s.p)
			}
		}
		for i := range wants {
			if out.entries[i].why == "" {
				out.entries[i].fn = int(sources[i].reach(b))
			}
		}
		b.finish()
		again := false
		for i := range out.entries {
			e := &out.entries[i]
			if e.why == "" {
				var forms forms
				e.why, forms = b.reason(int32(e.fn))
				e.forms |= forms
				again = again || e.why != ""
			}
		}
		if !again {
			out.program = b.prog
			break
		}
	}
	out.link()
	return out
}

// link makes code of the program, if any entry point is native.
func (p *plan) link() {
	if !lists.Some(p.entries, func(e *plannedEntry) bool { return e.why == "" }) {
		if len(p.entries) > 0 {
			p.why = p.entries[0].why
		}
		return
	}
	var err error
	p.code, err = native.Link(p.program, func(name string) native.Builtin {
		if !native.Has(name) {
			p.bridged = append(p.bridged, name)
		}
		return bridge(name)
	})
	if err != nil {
		p.code, p.why = nil, "native: "+err.Error()
	}
}

// rooted is a value's plan.
type rooted struct {
	p    *planned
	want ast.Value
}

// resultVar is what the query of a value calls it.
const resultVar = "hookc_value"

// planValue plans one value, or says why it cannot be.
func planValue(c *ast.Compiler, want ast.Value, i int) (rooted, string) {
	term := ast.NewTerm(want).Copy()
	p, err := planQuery(c, ast.NewBody(ast.Equality.Expr(ast.VarTerm(resultVar), term)))
	if err != nil {
		return rooted{}, inWords(err)
	}
	suffix := ""
	if i > 0 {
		suffix = "." + strconv.Itoa(i)
	}
	return rooted{p: newPlanned(p, suffix), want: want}, ""
}

// reach is the function of a value: a document's own or, when it is made of
// several rules, the query.
func (r rooted) reach(b *assembly) int32 {
	if ref, ok := r.want.(ast.Ref); ok {
		if f := r.p.document(ref); f != nil {
			return b.function(r.p, f)
		}
	}
	return b.query(r.p)
}
