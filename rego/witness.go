package rego

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"

	"github.com/hookc/hookc/compiler/solve"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/rego/conditions"
)

// Rules are the rules of the module's entry points and their else branches, in the
// order of their names and of the text: when each holds, and whether it did.
func (m *Module) Rules() []solve.Rule {
	reader := conditions.Reader{Compiler: m.compiler, Document: m.document, Open: func([]string) bool { return false }, Span: m.where.span}
	var out []solve.Rule
	for _, e := range m.entries {
		for _, s := range e.sources {
			if s.rule.Default || e.part == partUnallowed {
				continue
			}
			for i := range s.branches {
				r := solve.Rule{Name: e.name, At: s.branches[i].at, When: reader.Else(s.rule, i),
					Fires: func(in *policy.Context) bool { return m.gives(s, i, in) }}
				r.Missing = m.missingDocuments(reader.Missing)
				out = append(out, r)
			}
		}
	}
	return out
}

// Rules are the module's.
func (n *Native) Rules() []solve.Rule {
	m, err := n.module()
	if err != nil {
		return nil
	}
	return m.Rules()
}

// gives reports whether a branch of a rule gives something on an event, and none
// before it.
func (m *Module) gives(s *source, branch int, in *policy.Context) bool {
	t := tracer{m: m, ctx: context.Background(), steps: newStepBudget(context.Background(), m.budget), input: ast.NewTerm(m.Input(in)), gave: map[*source]given{}}
	g := t.evaluate(s)
	for i, at := range g.at {
		if at == s.branches[branch].at && g.values[i].Compare(ast.Boolean(false)) != 0 {
			return true
		}
	}
	return false
}

// document is what the documents have at a path.
func (m *Module) document(path []string) (any, bool) {
	v, err := m.store.Read(context.Background(), m.txn, storage.Path(path))
	if of, is := v.(ast.Value); is && err == nil {
		return toJSON(of), true
	}
	return v, err == nil
}

// missingDocuments says of references to documents what is not there.
func (m *Module) missingDocuments(refs map[string]*ast.Location) []solve.Missing {
	var out []solve.Missing
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		path := strings.Split(ref, ".")
		found := solve.Missing{Ref: ref, At: m.where.span(refs[ref])}
		for n := len(path) - 1; n > 0; n-- {
			if v, ok := m.document(path[1:n]); ok {
				if have, object := v.(map[string]any); object {
					found.Meant = diag.Suggest(path[n], slices.Sorted(maps.Keys(have)))
				}
				break
			}
		}
		out = append(out, found)
	}
	return out
}
