package rego

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"

	"github.com/hookc/hookc/compiler/solve"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/rego/conditions"
)

// Rules are the rules of the module's entry points and their else branches, in the
// order of their names and of the text: when each holds, and whether it did.
func (m *Module) Rules() []solve.Rule {
	m.bind() // Nobody writes into the rules while they are read.
	reader := conditions.Reader{Compiler: m.compiler, Document: m.document, Open: m.documents.open, Span: m.where.span}
	var out []solve.Rule
	helpers := m.helpers()
	for _, e := range m.entries {
		for _, s := range e.sources {
			if s.rule.Default || e.part == partUnallowed {
				continue
			}
			for i := range s.branches {
				r := solve.Rule{Name: e.name, At: s.branches[i].at, When: reader.Else(s.rule, i),
					Fires: func(in *policy.Context) bool { return m.gives(s, i, in) }}
				r.Form = fmt.Sprint(i, m.ruleForm(s.rule, helpers))
				if v := s.branches[i].constant; v != nil {
					r.Says = v.String()
				}
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
	for _, ref := range lists.Keys(refs) {
		path := strings.Split(ref, ".")
		found := solve.Missing{Ref: ref, At: m.where.span(refs[ref])}
		for n := len(path) - 1; n > 0; n-- {
			if v, ok := m.document(path[1:n]); ok {
				if have, object := v.(map[string]any); object {
					found.Meant = diag.Suggest(path[n], lists.Keys(have))
				}
				break
			}
		}
		out = append(out, found)
	}
	return out
}

// Form is the module's.
func (n *Native) Form() string { return n.text((*Module).Form) }

// Written is all that Rules reads: the rules as compiled, in order, and the documents.
func (m *Module) Written() string {
	var b strings.Builder
	for _, name := range lists.Keys(m.compiler.Modules) {
		for _, r := range m.compiler.Modules[name].Rules {
			fmt.Fprintln(&b, r.Ref(), r)
		}
	}
	if documents := m.form(func(*ast.Rule) bool { return false }); documents != "" {
		return b.String() + documents
	}
	return ""
}

// Written is the module's.
func (n *Native) Written() string { return n.text((*Module).Written) }

func (n *Native) text(of func(*Module) string) string {
	m, err := n.module()
	if err != nil {
		return ""
	}
	return of(m)
}

var localName = regexp.MustCompile(`__local[0-9]+__`)

// formOf is a rule as compiled, whatever the names of its variables.
func formOf(r *ast.Rule) string {
	names := map[string]string{}
	return r.Ref().String() + " " + localName.ReplaceAllStringFunc(r.String(), func(name string) string {
		if names[name] == "" {
			names[name] = fmt.Sprintf("$%d", len(names))
		}
		return names[name]
	})
}

// Form is the rules as compiled, whatever their order and the names of variables, and
// the documents.
func (m *Module) Form() string { return m.form(func(*ast.Rule) bool { return true }) }

func (m *Module) form(of func(*ast.Rule) bool) string {
	var rules []string
	for _, module := range m.compiler.Modules {
		for _, r := range module.Rules {
			if of(r) {
				rules = append(rules, formOf(r))
			}
		}
	}
	lists.Sort(rules)
	documents, _ := m.document(nil)
	text, err := policy.EncodeJSON(documents)
	if err != nil {
		return ""
	}
	return strings.Join(append(rules, string(text)), "\n")
}

// helpers is the form of what the rules of entry points may use.
func (m *Module) helpers() string {
	return m.form(func(r *ast.Rule) bool {
		return !slices.ContainsFunc(m.entries, func(e *entry) bool { return r.Ref().HasPrefix(e.ref) })
	})
}

// ruleForm is the form of a rule of an entry point with all that it uses.
func (m *Module) ruleForm(r *ast.Rule, helpers string) string {
	form := formOf(r)
	for _, e := range m.entries {
		if strings.Contains(r.Body.String(), e.ref.String()) {
			return ""
		}
	}
	return form + "\n" + helpers
}
